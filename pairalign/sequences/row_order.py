"""Which of two sequences runs along the rows of their matrix (``cpu/row_order.h``).

The longer one; of equally long ones the one whose codes come first, code by code. A set is sorted
so, and sequences of two sets are compared by their ranks. So an alignment, ties included, depends
on the two sequences and not on the order of the input.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pairalign.base.arrays import Int32s, Int64s, UInt8s
from pairalign.base.native import library


class Sorted(Protocol):
    """What is needed of a `SequenceSet`."""

    order: Int32s
    offsets: Int64s
    codes: UInt8s

    @property
    def positions(self) -> Int32s:
        """Sorted position of each input index."""

    def __len__(self) -> int:
        """Return the number of sequences."""


_order = library.pairalign_order_rows
_ranks = library.pairalign_row_ranks


def order_rows(offsets: Int64s, codes: UInt8s) -> Int32s:
    """Return the input index at each sorted position, int32 of shape (n,).

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Where each sequence starts in `codes`.
    codes : ndarray of uint8
    """
    order = np.empty(len(offsets) - 1, np.int32)
    _order(len(order), offsets, codes, order)
    return order


def find_row_ranks(queries: Sorted, targets: Sorted) -> tuple[Int32s, Int32s]:
    """Return a number for each sorted position of two sets, int32 of shapes (n,) and (m,).

    Of a query and a target the one with the smaller number runs along the rows; they have the same
    number if they are the same, and then it is the query.
    """
    ranks = tuple(np.empty(len(sequences), np.int32) for sequences in (queries, targets))
    first, second = ((len(s), s.order, s.offsets, s.codes) for s in (queries, targets))
    _ranks(*first, *second, *ranks)
    return ranks[0], ranks[1]


def rank_rows(queries: Sorted, targets: Sorted) -> tuple[Int32s, Int32s]:
    """Return as `find_row_ranks` a number for each *input index* of two sets."""
    ranks = find_row_ranks(queries, targets)
    return ranks[0][queries.positions], ranks[1][targets.positions]
