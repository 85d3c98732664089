"""BLAST's tabular format, ``-outfmt 6``: one line a pair, no header."""

from __future__ import annotations

from typing import ClassVar

from pairalign.alignments.fields import BLAST6, FIELDS
from pairalign.formats.name_rules import NO_COMMENT
from pairalign.formats.pair_lines import PairLines
from pairalign.formats.writer import TextWriter
from pairalign.pairs.want import Detail


class Blast6Writer(TextWriter):
    """BLAST's twelve columns, or others that were chosen, see `pairalign.alignments.fields`.

    ``qseqid sseqid pident length mismatch gapopen qstart qend sstart send evalue bitscore``:
    positions count from 1 and include the last residue; ``pident`` is 100 matches by columns, with
    3 decimals; ``evalue`` has three digits, and is 0.0 where a double holds fewer, ``bitscore`` one
    decimal; both are ``nan`` where statistics are not known, as in modes other than local.
    Pairs of which nothing is aligned are left out. On strand - ``sstart`` is larger than ``send``.
    """

    name = "blast6"
    lines: ClassVar[PairLines | None] = PairLines()
    shows_residues = False
    suffixes: ClassVar[tuple[str, ...]] = (".blast6", ".b6", ".m8", ".outfmt6")
    needs = Detail.STATS
    of_block = True
    takes_both_ways = True
    either_strand = True
    name_rules = (NO_COMMENT, NO_COMMENT)
    default_fields = tuple(FIELDS[name] for name in BLAST6)
