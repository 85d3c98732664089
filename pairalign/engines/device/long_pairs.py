"""Which pairs of a window leave most of a GPU idle, and putting results of parts in order again.

What the rule in `long_pairs` follows from is in ``docs/long-pairs.md``.
"""

from __future__ import annotations

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.base.arrays import Bools, Doubles, Int32s, Int64s
from pairalign.pairs.windows import Window, count_cells

Lengths = Int32s

LEAST_RESIDUES = 1000
"""Least residues of the shorter sequence of a pair for block diagonals."""

RESIDUES_A_PAIR = 800
"""Residues of a pair that keeps a multiprocessor busy; of longer pairs it needs
more, with the square of their length."""


def may_have_long(window: Window, rows: Lengths, columns: Lengths) -> bool:
    """Whether a window has any pair of sequences of `LEAST_RESIDUES` and more.

    Parameters
    ----------
    rows, columns : ndarray of int32
        As for `long_pairs`.
    """
    return window.pairs > 0 and bool(
        min(rows[window.row_start], columns[window.column_start]) >= LEAST_RESIDUES
    )


def long_pairs(
    window: Window, pair_mask: Bools | None, rows: Lengths, columns: Lengths, multiprocessors: int
) -> Bools | None:
    """Choose the pairs that would leave most of a GPU idle if a warp or a thread aligned each.

    A pair is such a pair when its shorter sequence has at least `LEAST_RESIDUES`, and the window's
    others have fewer cells than pairs of its size would need to have to keep the device busy: for
    each multiprocessor one pair of `RESIDUES_A_PAIR`, four of twice as many residues, and so on.

    Parameters
    ----------
    pair_mask : ndarray of bool or None
        The pairs that are aligned at all; None: all.
    rows, columns : ndarray of int32
        Lengths by sorted position, longest first, of the first and the second set.

    Returns
    -------
    ndarray of bool, shape (pairs,), or None
        Which pairs those are; None: no pair.
    """
    if not may_have_long(window, rows, columns):
        return None  # most windows end here
    longest = int(rows[window.row_start]), int(columns[window.column_start])
    all_cells = 0 if pair_mask is not None else count_cells(window, rows, columns)
    if longest[0] * longest[1] * _busy(min(longest), multiprocessors) <= all_cells:
        return None  # and nearly all others here
    numbers = None if pair_mask is None else np.flatnonzero(pair_mask)
    of_row, of_column = window.positions() if numbers is None else window.positions_of(numbers)
    m, n = rows[of_row].astype(np.int64), columns[of_column].astype(np.int64)
    cells = m * n
    shorter = np.minimum(m, n)
    work = np.where(shorter >= LEAST_RESIDUES, cells * _busy(shorter, multiprocessors), 0)
    long: Bools = np.zeros(len(cells), np.bool_)
    while True:  # without the long ones the others keep the device less busy
        longer = work > int(cells[~long].sum())
        if longer.sum() == long.sum():
            break
        long = longer
    if not long.any():
        return None
    if numbers is None:
        return long
    long_mask = np.zeros(window.pairs, np.bool_)
    long_mask[numbers[long]] = True
    return long_mask


def _busy(residues: int | Int64s, multiprocessors: int) -> float | Doubles:
    """Return how many pairs of a given length keep a device busy, float."""
    return multiprocessors * (residues / RESIDUES_A_PAIR) ** 2


def merge(window: Window, parts: list[Alignments], orders: tuple[Int32s, ...]) -> Alignments:
    """Join alignments of different pairs of a window, each part in its order, to the window's.

    Parameters
    ----------
    orders : two ndarrays of int32
        Input index of each sorted position, of the first and the second set.
    """
    alignments = concatenate(parts)
    first, second = (
        np.argsort(order)[indices]
        for order, indices in zip(orders, (alignments.query, alignments.target), strict=True)
    )
    if window.triangular:
        first, second = np.minimum(first, second), np.maximum(first, second)
    return alignments.take(np.lexsort((second, first)))
