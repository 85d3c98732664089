"""Thresholds of numbers and texts, as functions take them."""

from typing import Any

from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.declaration import make


def make_pair_thresholds(
    min_identity: Any = None,
    identity_of: str = "columns",
    min_coverage: Any = None,
    coverage_of: str = "both",
    max_length_ratio: Any = None,
) -> PairThresholds:
    return make(PairThresholds, locals())
