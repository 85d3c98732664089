"""Whether the pairs of a window look alike: what `auto` asks before it prunes on a GPU."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.base.words import SIMILAR, words_in_place
from pairalign.engines.cuda.family import DeviceContext
from pairalign.engines.device.sets import DeviceSet
from pairalign.pairs.windows import Window

LEAST_LETTERS = 2000
"""Of the shorter sequence of a pair; a GPU fills the matrices of others too soon."""

_LEAST_CELLS = 5 * 10**11
"""Of the window's matrices: a third of a second's work for a GPU that fills them all."""

_PAIRS, _SIMILAR = 32, 4
"""Share of a sample of pairs that must look similar."""


class Sampler:
    """Looks at some pairs of each window. What it says decides about time alone.

    Parameters
    ----------
    context : DeviceContext
    """

    def __init__(self, context: DeviceContext) -> None:
        self._context = context

    def pays(self, window: Window, pair_mask: npt.NDArray[np.bool_] | None) -> bool:
        """Tell whether a window has many cells, and of a sample of its pairs some look similar."""
        context = self._context
        rows, columns = context.queries.lengths, context.targets.lengths
        if not window.pairs or window.strand < 0:
            return False
        if min(rows[window.row_start], columns[window.column_start]) < LEAST_LETTERS:
            return False
        positions = (
            window.positions()
            if pair_mask is None
            else window.positions_of(np.flatnonzero(pair_mask))
        )
        of_row, of_column = rows[positions[0]], columns[positions[1]]
        eligible = np.flatnonzero(np.minimum(of_row, of_column) >= LEAST_LETTERS)
        cells = of_row[eligible].astype(np.float64) @ of_column[eligible]
        if cells < _LEAST_CELLS:
            return False
        chosen = eligible[np.linspace(0, len(eligible) - 1, _PAIRS).astype(np.int64)]
        similar = 0
        for k in chosen:
            similar += looks_similar(
                _codes(context.queries, int(positions[0][k])),
                _codes(context.targets, int(positions[1][k])),
            )
            if similar == _SIMILAR:
                return True
        return False


def looks_similar(row: npt.NDArray[np.uint8], column: npt.NDArray[np.uint8]) -> bool:
    """Tell whether a quarter of 32 words of one are in the other where they should be, or near."""
    return words_in_place(row, column) >= SIMILAR


def _codes(one: DeviceSet, position: int) -> npt.NDArray[np.uint8]:
    return one.sequences.codes_of(int(one.sequences.order[position]))
