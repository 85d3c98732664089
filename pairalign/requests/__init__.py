"""The requests of pairalign: a frozen one a job, in which each option is declared once.

Here are what several jobs ask, and the requests of alignments, distances and files; the others lie
in the folders of their jobs. See `pairalign.base.declaration` for what is made of a declaration,
and docs/architecture.md for how an option is added. Nothing heavy is imported here.
"""
