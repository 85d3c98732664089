"""What can be asked of pairalign: a frozen request a job, in which each option is declared once.

A module a command; `pairalign.requests.shared` has what several of them ask. See
`pairalign.base.declaration` for what is made of a declaration, and docs/architecture.md for how an
option is added. Nothing heavy is imported here.
"""
