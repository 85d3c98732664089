"""What to compute for the pairs of a window: `Detail`, how much of each, and `Want`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Detail(IntEnum):
    """How much of an alignment is wanted; each level includes the ones before it."""

    SCORE = 0
    STATS = 1
    CIGAR = 2


@dataclass(frozen=True)
class Want:
    """What an engine computes for the pairs of a window.

    Attributes
    ----------
    detail : Detail
        SCORE, STATS (spans, matches, columns) or CIGAR.
    min_raw_score : int or None
        Only pairs with at least this raw (scaled) score are traced and returned.
    """

    detail: Detail = Detail.CIGAR
    min_raw_score: int | None = None
