"""Whether the pairs of a window look alike: what `auto` asks before it prunes on a GPU."""

from __future__ import annotations

import numpy as np

from pairalign.base.arrays import Bools, Int32s, UInt8s
from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.engines.device.device_sets import DeviceSet
from pairalign.pairs.windows import Window
from pairalign.sequences.residues import SIMILAR, WORD, WORDS, words_in_place

LEAST_RESIDUES = 2000
"""Of the shorter sequence of a pair; a GPU fills the matrices of others too soon."""

_LEAST_CELLS = 10**11
"""Of the window's matrices: less than a tenth of a second's work for a GPU that fills them all."""

_PAIRS, _SIMILAR = 32, 4
"""Share of a sample of pairs that must look similar."""

_WARP_CELLS = 1e8
"""Of a band that a warp fills a second. It fills ten times as many where the band is as
wide as expected; long gaps, which words do not show, can make it as much wider."""

_PRUNED_CELLS, _FULL_CELLS = 1e9, 8e9
"""That a multiprocessor fills a second: all its warps, of bands a third as wide as they may be;
block diagonals, traced."""

_WINDOW_LANES = 64
"""Of a band without differences."""


class Sampler:
    """Looks at some pairs of each window. What it says decides about time alone."""

    def __init__(self, context: DeviceContext) -> None:
        self._context = context

    def pays(self, window: Window, pair_mask: Bools | None) -> bool:
        """Tell whether a window has many cells, and its similar pairs are faster pruned."""
        context = self._context
        rows, columns = context.queries.lengths, context.targets.lengths
        if not window.pairs or window.strand < 0:
            return False
        if min(rows[window.row_start], columns[window.column_start]) < LEAST_RESIDUES:
            return False
        positions = (
            window.positions()
            if pair_mask is None
            else window.positions_of(np.flatnonzero(pair_mask))
        )
        of_row, of_column = rows[positions[0]], columns[positions[1]]
        eligible = np.flatnonzero(np.minimum(of_row, of_column) >= LEAST_RESIDUES)
        cells = of_row[eligible].astype(np.float64) @ of_column[eligible]
        if cells < _LEAST_CELLS:
            return False
        sample = eligible[np.linspace(0, len(eligible) - 1, _PAIRS).astype(np.int64)]
        words = np.array(
            [self._words(int(positions[0][k]), int(positions[1][k])) for k in sample], np.int32
        )
        similar = words >= SIMILAR
        if similar.sum() < _SIMILAR:
            return False
        pruned, full = expected_seconds(
            of_row[sample[similar]],
            of_column[sample[similar]],
            words[similar],
            len(eligible) * float(similar.mean()),
            context.multiprocessors,
        )
        return pruned < full

    def _words(self, row: int, column: int) -> int:
        context = self._context
        return words_in_place(_codes(context.queries, row), _codes(context.targets, column))


def expected_seconds(
    rows: Int32s, columns: Int32s, words: Int32s, pairs: float, multiprocessors: int
) -> tuple[float, float]:
    """Return about how long similar pairs take, pruned and in full.

    Of few pairs the longest decides: a warp has one, and the rest of the device nothing to do,
    while block diagonals give each pair the whole device.

    Parameters
    ----------
    rows, columns, words : ndarray of int, shape (sample,)
        Lengths of pairs of a sample, and how many of their words are in place.
    pairs : float
        How many pairs are like these.

    Notes
    -----
    A word of eight is in place where none of its residues differs. The median of the sample counts:
    behind long gaps words are displaced, and the fewest words of a sample say little of a pair. A
    difference costs a band 5 of the 6 that a diagonal does; it is a triangle, half as wide on
    average. A beam fills about as much as the band.
    """
    m, n = np.asarray(rows, np.float64), np.asarray(columns, np.float64)
    differing = -np.log(np.median(words) / WORDS) / WORD
    lanes = _WINDOW_LANES + np.abs(m - n) / 2 + differing * np.minimum(m, n) * 5 / 12
    cells = 2 * (m + n) * lanes
    of_all = float(cells.mean()) * pairs / (_PRUNED_CELLS * multiprocessors)
    pruned = max(float(cells.max()) / _WARP_CELLS, of_all)
    return pruned, float((m * n).mean()) * pairs / (_FULL_CELLS * multiprocessors)


def _codes(device_set: DeviceSet, position: int) -> UInt8s:
    return device_set.sequences.codes_of(int(device_set.sequences.order[position]))
