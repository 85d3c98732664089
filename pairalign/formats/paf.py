"""PAF, the pairwise mapping format of minimap2: one line a pair, 12 columns and tags."""

from __future__ import annotations

from pairalign.alignments import Alignments
from pairalign.formats import text
from pairalign.formats.output import Output
from pairalign.formats.text import PairText
from pairalign.formats.writer import Content, TextWriter
from pairalign.overlap_kinds import classify
from pairalign.want import Detail


class PafWriter(TextWriter):
    """PAF.

    Columns: query name, length, start, end; strand; target name, length, start, end; matches;
    columns of the alignment; mapping quality, always 255 (not computed). Tags: ``NM:i:`` mismatches
    and gap letters, ``AS:i:`` score (``AS:f:`` and exact decimals when costs or matrix have
    decimals), ``cg:Z:`` CIGAR with ``=``, ``X``, ``I`` and ``D``, where computed. Pairs of which
    nothing is aligned are left out. Where the strand is ``-``, positions are still those of the
    sequences as they were read, and the CIGAR runs along the target.
    """

    name = "paf"
    suffixes = (".paf",)
    needs = Detail.STATS
    format_code = text.PAF
    either_strand = True


class OverlapPafWriter(PafWriter):
    """PAF of overlaps, with a tag ``ov:Z:`` before the CIGAR.

    Its value is ``dovetail``, ``contained`` (the query in the target), ``contains`` (the target in
    the query) or ``internal``, see `pairalign.overlap_kinds`.

    Parameters
    ----------
    output, content, threads
        As for every writer.
    dual : bool
        Write each pair a second time with query and target exchanged, as racon -f wants it.
    max_overhang : int
        See `pairalign.overlap_kinds.classify`.
    """

    def __init__(
        self,
        output: Output,
        content: Content,
        threads: int = 1,
        *,
        dual: bool = False,
        max_overhang: int = 0,
    ) -> None:
        super().__init__(output, content, threads)
        self._dual = dual
        self._max_overhang = max_overhang

    def _text(self, alignments: Alignments) -> PairText:
        kinds = classify(alignments, self._max_overhang)
        return PairText(alignments, *self._sets, self.format_code, kinds=kinds, dual=self._dual)
