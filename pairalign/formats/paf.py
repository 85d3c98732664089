"""PAF, the pairwise mapping format of minimap2: one line a pair, 12 columns and tags."""

from __future__ import annotations

from pairalign.formats.writer import PLAIN_CIGAR, PairLines, TextWriter
from pairalign.pairs.want import Detail


class PafWriter(TextWriter):
    """PAF.

    Columns: query name, length, start, end; strand; target name, length, start, end; matches;
    columns of the alignment; mapping quality, always 255 (not computed). Tags: ``NM:i:`` mismatches
    and gap columns, ``AS:i:`` score (``AS:f:`` and exact decimals when costs or matrix have
    decimals), ``cg:Z:`` CIGAR with ``=``, ``X``, ``I`` and ``D``, where computed. Pairs of which
    nothing is aligned are left out. Where the strand is ``-``, positions are still those of the
    sequences as they were read, and the CIGAR runs along the target.

    Overlaps have a tag ``ov:Z:`` before the CIGAR: ``dovetail``, ``contained`` (the query in the
    target), ``contains`` (the target in the query) or ``internal``, see
    `pairalign.reads.overlap_kinds`; racon -f wants each of them both ways.

    If they are wanted, ``tp:A:P`` comes before the CIGAR and ``cs:Z:`` after it, minimap2's
    short form: ``:6*ag+tc-a``, which runs along the target as the CIGAR does; ``pp:Z:`` has a mark
    for each column: 0 to 9 and ``*``, as HMMER shows posteriors, and ``.`` for gaps.
    """

    name = "paf"
    lines = PairLines(names=(0, 5))
    shows_residues = False
    suffixes = (".paf",)
    needs = Detail.STATS
    of_block = True
    either_strand = True
    takes_both_ways = True
    known_tags = ("tp", "cs", "pp", PLAIN_CIGAR)

    @property
    def native_name(self) -> str:
        """What native code calls it: another name where there are more tags."""
        return "paf_tags" if self._content.shown.tags else "paf"
