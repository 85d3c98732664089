"""What options and arguments may be: words and numbers that many modules know.

Nothing is imported here, so that the help of a command is there at once.
"""

from __future__ import annotations

MODES = ("global", "semiglobal", "local")
END_GAPS = "end-gaps"
"""The mode of a global alignment whose end gaps have costs of their own."""
ALL_MODES = (*MODES, END_GAPS)
"""Those, and what `make_scoring` makes of global where end gaps have costs of their own."""

TIES = ("usual", "vsearch")
"""Which of equally good alignments is taken: docs/conventions.md has both rules."""

IDENTITIES = {
    "columns": "matches by alignment columns (vsearch --iddef 1)",
    "aligned": "matches by columns without gaps",
    "shorter": "matches by letters of the shorter sequence (CD-HIT, vsearch --iddef 0)",
    "internal": "matches by columns, the gaps at both ends left out (vsearch --iddef 2)",
    "mbl": "1 - mismatches and gaps by letters of the longer sequence (vsearch --iddef 3)",
}
"""What an identity can be, and a line about each; numbered in this order in native code."""

COVERAGES = {
    "query": "of the query, from the start to the end of its aligned span",
    "target": "of the target, likewise",
    "both": "of each of the two",
    "shorter": "of the shorter sequence; of two of equal lengths, the query",
    "aligned": "letters that are aligned with a letter, by those of the longer sequence",
}
"""What a coverage can be; numbered in this order in native code."""

DEFAULT_WINDOW = 1024
LIST_WINDOW = 65536
"""Rows and columns of a window for pairs of a list: so many that a row has some pairs."""
