"""What is computed of alignments when asked for: how sure columns are, and ties."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.tie_counts import TieCounter
from pairalign.base.cores import usable_cores
from pairalign.base.free_memory import default_bytes


def mark_confidence(alignments: Alignments) -> list[str]:
    """Return how sure each column is; see `Alignments.confidence`."""
    from pairalign.engines.pair_posteriors import ColumnConfidence

    if not alignments.has_cigar:
        raise ValueError("how sure columns are needs CIGARs: align with detail='cigar'")
    if alignments.strand is not None and (alignments.strand < 0).any():
        raise ValueError("how sure columns are is known of alignments on strand plus")
    marks, offsets = ColumnConfidence("auto", usable_cores(), default_bytes()).marks(alignments)
    text, bounds = marks.tobytes().decode(), offsets.tolist()
    return [text[start:stop] for start, stop in itertools.pairwise(bounds)]


def count_ties(alignments: Alignments) -> npt.NDArray[np.uint32]:
    """Return how many optimal alignments each pair has; see `Alignments.ties`."""
    sets = alignments.queries, alignments.targets
    return TieCounter(*sets, alignments.scoring, usable_cores()).count(alignments)
