"""Copies: sequences that are the same, and the pairs of a window whose sequences are the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Int32s, Int64s, UInt8s, first_of_each
from pairalign.base.native import library
from pairalign.pairs.positions import positions_of_mask
from pairalign.pairs.windows import Window, mask_pairs
from pairalign.sequences.block_set import BlockSet
from pairalign.sequences.row_order import Sorted, find_row_ranks
from pairalign.sequences.sets import SequenceSet

_MOST_BLOCKS = 1 << 23
"""A number is held for each pair of groups of a window."""

_MOST_SORTED, _FEWEST_SORTED = 1 << 20, 1 / 4096
"""Pairs of a list that are sorted where groups are more: 0.4 s; a share of those of the window, as
all places of a mask are looked at."""

WORTH_GROUPING = 0.95
"""Share of distinct sequences up to which a set is made of these alone."""

_choose = library.pairalign_choose_copies
_spread = library.pairalign_spread_copies


class Copies(NamedTuple):
    """Which sequences of a set, or of two, are the same; they are neighbours in the sorted order.

    Attributes
    ----------
    rows, columns : ndarray of int32, shape (sequences,)
        A number for each sorted position, ascending: the same for the same codes.
    row_inputs, column_inputs : ndarray of int32, shape (sequences,)
        Input indices by sorted position.
    by_side : bool
        Whether pairs are so alike only if the same one of their sequences is the query.
    """

    rows: Int32s
    columns: Int32s
    row_inputs: Int32s
    column_inputs: Int32s
    by_side: bool = False

    def of_inputs(self) -> tuple[Int64s, Int64s]:
        """Return a number for each sequence of either set: the same for the same codes."""
        return _by_input(self.rows, self.row_inputs), _by_input(self.columns, self.column_inputs)

    def blocks_of(self, window: Window, pair_mask: Bools | None) -> Blocks | None:
        """Return the groups of a window's rows and columns; None where they are too many.

        `pair_mask`: of few pairs, which may be sorted; else None.
        """
        rows, row_count = _grouped(self.rows[window.row_start : window.row_stop])
        columns, column_count = _grouped(self.columns[window.column_start : window.column_stop])
        pairs, blocks = len(rows) * len(columns), row_count * column_count * (1 + self.by_side)
        if blocks > pairs - pairs // 8:
            return None
        kind = Blocks
        if blocks > _MOST_BLOCKS:
            listed = 0 if pair_mask is None else int(np.count_nonzero(pair_mask))
            if not _FEWEST_SORTED * pairs <= listed <= _MOST_SORTED:
                return None
            kind = ListedBlocks
        inputs = (
            self.row_inputs[window.row_start : window.row_stop],
            self.column_inputs[window.column_start : window.column_stop],
        )
        return kind(window, rows, columns, inputs, (row_count, column_count), self.by_side)


@dataclass
class Blocks:
    """The pairs of a window as blocks: all pairs of two groups of sequences that are the same.

    Attributes
    ----------
    rows, columns : ndarray of int32
        The groups of the window's rows and columns, from 0 on.
    inputs : two ndarrays of int32
        Their input indices.
    shape : (int, int)
        How many groups of rows and of columns there are.
    by_side : bool
        Whether pairs whose query is that of the row are other blocks than those where it is that of
        the column.
    table : ndarray of int32, shape `shape`, or (*shape, 2) with `by_side`
        A number for each block, -1: it has no pair.
    """

    window: Window
    rows: Int32s
    columns: Int32s
    inputs: tuple[Int32s, Int32s]
    shape: tuple[int, int]
    by_side: bool = False
    table: Int32s = field(init=False)

    def __post_init__(self) -> None:
        self.table = np.full((*self.shape, 2) if self.by_side else self.shape, -1, np.int32)

    def choose(self, pair_mask: Bools | None) -> tuple[Bools, int]:
        """Return which pairs are the first of their blocks, and how many they are.

        Parameters
        ----------
        pair_mask : ndarray of bool, shape (pairs,), or None
            Which pairs count; None: all.
        """
        chosen = np.zeros(self.window.pairs, np.bool_)
        count = _choose(*self._given(pair_mask), chosen)
        return chosen, int(count)

    def number(self, rows: Int32s, columns: Int32s, turned: Bools) -> None:
        """Give blocks the numbers of pairs of theirs, by sorted positions; others have none.

        `turned` says of which pairs the query is that of the column.
        """
        self.table.fill(-1)
        groups: tuple[npt.NDArray[Any], ...] = (
            self.rows[rows - self.window.row_start],
            self.columns[columns - self.window.column_start],
            *([turned.astype(np.intp)] if self.by_side else []),
        )
        self.table[groups] = np.arange(len(rows), dtype=np.int32)

    def spread(self, pair_mask: Bools | None, reversed_from: int) -> tuple[Int64s, Int32s, Int32s]:
        """Return the pairs of all blocks that have a number, in the order of the window.

        Parameters
        ----------
        pair_mask : ndarray of bool, shape (pairs,), or None
            Which pairs count; None: all.
        reversed_from : int
            What is added to the number of a pair whose query is that of the column.

        Returns
        -------
        numbers : ndarray of int64, shape (n,)
        query, target : ndarray of int32, shape (n,)
            Input indices.
        """
        most = self.window.pairs if pair_mask is None else int(np.count_nonzero(pair_mask))
        numbers = np.empty(most, np.int64)
        ends = np.empty(most, np.int32), np.empty(most, np.int32)
        written = _spread(
            *self._given(pair_mask), 0 if self.by_side else reversed_from, *(numbers, *ends)
        )
        return numbers[:written], ends[0][:written], ends[1][:written]

    def _given(self, pair_mask: Bools | None) -> tuple[object, ...]:
        return (
            *self.window.bounds,
            *(self.rows, self.columns, self.shape[1], pair_mask, self.by_side),
            *(*self.inputs, self.table),
        )


class ListedBlocks(Blocks):
    """The same for few pairs of a window: they are sorted, and numbers are of their blocks alone.

    `choose` is called first, once.
    """

    def __post_init__(self) -> None:
        """Hold no table of all blocks."""

    def choose(self, pair_mask: Bools | None) -> tuple[Bools, int]:
        """Return which pairs are the first of their blocks, and how many they are."""
        assert pair_mask is not None
        window = self.window
        rows, columns = positions_of_mask(window.bounds, pair_mask)
        of_row, of_column = rows - window.row_start, columns - window.column_start
        self._ends = self.inputs[0][of_row], self.inputs[1][of_column]
        self._turned = np.logical_and(window.triangular, self._ends[1] < self._ends[0])
        keys = self.rows[of_row].astype(np.int64) * self.shape[1] + self.columns[of_column]
        if self.by_side:
            keys = 2 * keys + self._turned
        firsts, self._blocks = first_of_each(keys)
        rows, columns = rows[firsts], columns[firsts]
        self._firsts = _in_order(rows, columns)
        return mask_pairs(window, rows, columns), len(firsts)

    def number(self, rows: Int32s, columns: Int32s, turned: Bools) -> None:
        """Give blocks the numbers of first pairs of theirs; others have none."""
        self.table = np.full(len(self._firsts), -1, np.int32)
        places = np.searchsorted(self._firsts, _in_order(rows, columns))
        self.table[places] = np.arange(len(rows), dtype=np.int32)

    def spread(self, pair_mask: Bools | None, reversed_from: int) -> tuple[Int64s, Int32s, Int32s]:
        """Return the pairs of all blocks that have a number; `pair_mask` is that of `choose`."""
        numbers = self.table[self._blocks]
        kept = numbers >= 0
        turned = self._turned[kept]
        query, target = (
            np.where(turned, other[kept], own[kept])
            for own, other in (self._ends, self._ends[::-1])
        )
        return numbers[kept] + (0 if self.by_side else reversed_from) * turned, query, target


def _in_order(rows: Int32s, columns: Int32s) -> Int64s:
    """Return numbers of pairs that ascend row by row."""
    return rows.astype(np.int64) << 32 | columns


def find_copies(
    queries: SequenceSet, targets: SequenceSet | None, *, by_side: bool = False
) -> Copies | None:
    """Find the sequences of a set, or of each of two, that are the same; None: there are none."""
    first = _sorted(queries)
    second = first if targets is None else _sorted(targets)
    rows, columns = find_row_ranks(first, second)
    if not (_has_equal(rows) or _has_equal(columns)):
        return None
    others = queries if targets is None else targets
    first_inputs, second_inputs = (
        np.ascontiguousarray(sequences.order, np.int32) for sequences in (queries, others)
    )
    return Copies(rows, columns, first_inputs, second_inputs, by_side)


def group_copies(sequences: SequenceSet) -> Int32s | None:
    """Find the sequences of a set that are the same; None where few are.

    Returns
    -------
    ndarray of int32, shape (n,)
        A number for each sorted position, from 0 on, ascending.
    """
    groups, count = _grouped(find_row_ranks(sequences, sequences)[0])
    return groups if count <= WORTH_GROUPING * len(groups) else None


@dataclass
class _ByLength:
    """The codes of a set in its sorted order."""

    codes: UInt8s
    offsets: Int64s
    order: Int32s

    @property
    def positions(self) -> Int32s:
        """The same places."""
        return self.order

    def __len__(self) -> int:
        return len(self.order)


def _sorted(sequences: SequenceSet) -> Sorted:
    """Return where to read codes: those of a block are there by length."""
    if not isinstance(sequences, BlockSet):
        return sequences
    codes, starts = sequences.code_arrays
    ends = np.append(starts, sequences.total_residues)
    return _ByLength(codes, ends, np.arange(len(starts), dtype=np.int32))


def _has_equal(numbers: Int32s) -> bool:
    return bool((numbers[1:] == numbers[:-1]).any())


def _by_input(numbers: Int32s, inputs: Int32s) -> Int64s:
    by_input = np.empty(len(numbers), np.int64)
    by_input[inputs] = numbers
    return by_input


def _grouped(numbers: Int32s) -> tuple[Int32s, int]:
    """Return the groups of ascending numbers, from 0 on, and how many they are."""
    is_new = numbers[1:] != numbers[:-1]
    groups = np.concatenate((np.zeros(1, np.int32), np.cumsum(is_new, dtype=np.int32)))
    return groups, int(groups[-1]) + 1
