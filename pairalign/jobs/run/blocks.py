"""Blocks of the pair matrix: windows in an order in which neighbours share rows and columns.

Rows are cut into bands of whole windows; in a band windows come column by column. A shard is a
contiguous part of that order, so it touches the rows of a band, or of two, and some columns. What
it writes is in the order of output all the same, in *pieces*: pairs that follow one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import isqrt
from typing import NamedTuple

import numpy as np

from pairalign.base.arguments import Shard
from pairalign.jobs.run.shards import shard_range
from pairalign.pairs.windows import Lengths, Window, restrict_windows


class Pairs(NamedTuple):
    """Pairs that follow one another in the order of output.

    Attributes
    ----------
    start, pairs : int
    """

    start: int
    pairs: int


def in_blocks(
    windows: Sequence[Window], rows: Lengths, columns: Lengths, shards: int
) -> list[Window]:
    """Return windows band by band, in a band column by column.

    Parameters
    ----------
    windows : sequence of Window
        All of the pair matrix, see `pairalign.pairs.windows.plan_windows`.
    rows, columns : ndarray of int, shape (sequences,)
        Lengths by sorted position; the same array for one set.
    shards : int
        Bands are about as high as the block of a shard is wide, in residues.

    Notes
    -----
    The first window stays the first and the last one the last.
    """
    ends = np.concatenate(([0], np.cumsum(rows, dtype=np.int64))).tolist()
    letters, others = ends[-1], int(columns.sum(dtype=np.int64))
    bands = isqrt(2 * shards if windows[0].triangular else shards * letters // others) or 1

    def place(window: Window) -> tuple[int, int, int]:
        band = ends[window.row_start] * bands // letters
        return band, window.column_start, window.row_start

    return sorted(windows, key=place)


def cut_shard(
    windows: Sequence[Window], rows: Lengths, columns: Lengths, shard: Shard
) -> tuple[list[Window], list[Pairs]]:
    """Find the pairs of a shard.

    Parameters
    ----------
    windows, rows, columns
        As for `in_blocks`.
    shard : (int, int)

    Returns
    -------
    windows : list of Window
        In the order of output, some of them cut.
    pieces : list of Pairs
        Which pairs of all these are.
    """
    blocked = in_blocks(windows, rows, columns, shard[1])
    start, stop = shard_range(blocked, rows, columns, shard)
    own = sorted(
        restrict_windows(blocked, start, stop),
        key=lambda one: (one.index, one.row_start, one.column_start),
    )
    return own, _pieces(windows, own)


def _pieces(windows: Sequence[Window], own: Iterable[Window]) -> list[Pairs]:
    before = [0, *accumulate(window.pairs for window in windows)]
    pieces: list[Pairs] = []
    for part in own:
        whole = windows[part.index]
        row = part.row_start
        inside = int(whole.row_offsets[row - whole.row_start])
        inside += part.first_column(row) - whole.first_column(row)
        start = before[part.index] + inside
        if pieces and sum(pieces[-1]) == start:
            pieces[-1] = Pairs(pieces[-1].start, pieces[-1].pairs + part.pairs)
        else:
            pieces.append(Pairs(start, part.pairs))
    return pieces
