"""PAF, the pairwise mapping format of minimap2: one line a pair, 12 columns and tags."""

from __future__ import annotations

from pairalign.formats.writer import TextWriter
from pairalign.pairs.want import Detail


class PafWriter(TextWriter):
    """PAF.

    Columns: query name, length, start, end; strand; target name, length, start, end; matches;
    columns of the alignment; mapping quality, always 255 (not computed). Tags: ``NM:i:`` mismatches
    and gap letters, ``AS:i:`` score (``AS:f:`` and exact decimals when costs or matrix have
    decimals), ``cg:Z:`` CIGAR with ``=``, ``X``, ``I`` and ``D``, where computed. Pairs of which
    nothing is aligned are left out. Where the strand is ``-``, positions are still those of the
    sequences as they were read, and the CIGAR runs along the target.

    Overlaps have a tag ``ov:Z:`` before the CIGAR: ``dovetail``, ``contained`` (the query in the
    target), ``contains`` (the target in the query) or ``internal``, see `pairalign.reads.kinds`;
    racon -f wants each of them both ways.
    """

    name = "paf"
    suffixes = (".paf",)
    needs = Detail.STATS
    either_strand = True
    of_overlaps = True
    both_ways = True
