"""PAF, the pairwise mapping format of minimap2: one line a pair, 12 columns and tags."""

from __future__ import annotations

from pairalign.engines import Detail
from pairalign.formats import _text
from pairalign.formats._base import TextWriter


class PafWriter(TextWriter):
    """PAF.

    Columns: query name, length, start, end; strand, always ``+``; target name, length, start,
    end; matches; columns of the alignment; mapping quality, always 255 (not computed). Tags:
    ``NM:i:`` mismatches and gap letters, ``AS:i:`` score (``AS:f:`` and exact decimals when costs
    or matrix have decimals), ``cg:Z:`` CIGAR with ``=``, ``X``, ``I`` and ``D``, where computed.
    Pairs of which nothing is aligned are left out.
    """

    name = "paf"
    suffixes = (".paf",)
    needs = Detail.STATS
    format_code = _text.PAF
