"""The lengths of a set, some at a time: of a store no more are in memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.sequences.sets import SequenceSet

_AT_A_TIME = 1 << 14


def distinct_lengths(sequences: SequenceSet) -> npt.NDArray[np.int32]:
    """Return the lengths that sequences of a set have, each once, longest first, int32."""
    starts = range(0, len(sequences), _AT_A_TIME)
    pieces = (sequences.lengths_between(at, min(at + _AT_A_TIME, len(sequences))) for at in starts)
    lengths = np.unique(np.concatenate([np.unique(piece) for piece in pieces]))
    return np.ascontiguousarray(lengths[::-1], np.int32)
