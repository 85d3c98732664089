"""FASTA pairs: the two rows of each alignment as two records with gap columns."""

from __future__ import annotations

import re

from pairalign.formats.names import FASTA
from pairalign.formats.writer import Amender, TextWriter, renumber
from pairalign.pairs.want import Detail

_NUMBER = re.compile(rb"^(>\S+ pair=)(\d+)", re.MULTILINE)


class FastaWriter(TextWriter):
    """Two records a pair, query and then target, each on one line whatever its length.

    Headers: ``>NAME pair=1 start=0 end=46 score=112``: the number of the pair in the file,
    counted from 1, the aligned part (residues from 0, half-open) and the score. Four lines a pair
    are easy to take apart (``paste - - - -``), and the two rows stand one above the other. Modes
    global and semiglobal show whole sequences, free end gaps as gap columns; mode local the
    aligned parts. Residues keep their case. Pairs of which nothing is aligned are left out.
    """

    name = "fasta"
    suffixes = (".fasta", ".fa", ".fas", ".afa")
    needs = Detail.CIGAR
    of_block = True
    name_rules = (FASTA, FASTA)

    @classmethod
    def amender(cls) -> Amender:
        """Return what numbers pairs: a part does not know how many come before it."""
        return renumber(_NUMBER, lines=2)
