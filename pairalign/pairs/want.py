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

    @property
    def least_raw_score(self) -> int:
        """`min_raw_score` for native code: without one, or below it, the least of 32 bits."""
        least = -(1 << 31)
        return least if self.min_raw_score is None else max(self.min_raw_score, least)
