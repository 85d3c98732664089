"""What pairs cost as a run is cut into shards that take about the same time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.pairs.windows import Lengths

PAIR_CELLS = 3000
"""Cells that a pair costs beside its own: finding it, its columns, its text."""

_LONG, _LONGEST, _TWICE = 20_000, 36_000, 5_000
"""A cell of the CPU engine takes longer where sequences are so long that scores need more bits, and
so fewer pairs fit a vector. Human proteins in all modes, relative to those of usual lengths: about
1.3 times with 22,152 residues, 3.8 times with the 34,350 of titin."""


def weigh_letters(lengths: Lengths) -> npt.NDArray[np.int64]:
    """Return the lengths that sequences count with: the product of two is what their pair takes.

    Parameters
    ----------
    lengths : ndarray of int, shape (sequences,)

    Returns
    -------
    ndarray of int64, shape (sequences,)
        Up to 20,000 residues the lengths, then more, up to 4.2 times as much.
    """
    letters = np.asarray(lengths, np.int64)
    return letters + letters * (np.clip(letters, _LONG, _LONGEST) - _LONG) // _TWICE
