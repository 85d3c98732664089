"""How a window becomes launches of the packed kernels; see ``cuda/packed.cuh``. Pure functions.

The kernels align one row sequence with two neighbouring columns at a time, each pair in a half of
a 32-bit word, where 16 bits are sure to do, else with one column in whole words. What a block does
is an *item*: a word of columns with a range of *places*, which are the batch's rows, or, where
pairs were chosen, rows that have a chosen pair in that word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pairalign.engines.cuda_packed_batches import Batch, Chosen, Kind, Launch, Work
from pairalign.engines.cuda_packed_costs import Costs
from pairalign.engines.cuda_packed_tilings import (
    FILL_THREADS,
    TILINGS,
    Ints,
    Longs,
    bands_of,
    choose_tilings,
    tiling_of,
)
from pairalign.engines.cuda_plan import Rectangle

BLOCKS_PER_MULTIPROCESSOR = 2
_HALF_LIMIT = 65535 - 64
_WORD_LIMIT = 2**31 - 2**24
_GROUPS = (8, 16, 32)


@dataclass(frozen=True)
class _Words:
    """Columns of a batch, one or two a word, and the places of each."""

    columns: Longs
    numbers: Longs  # columns of each: 1 or 2
    wide: npt.NDArray[np.bool_]
    starts: Longs
    stops: Longs


class PackedPlanner:
    """Plans parts of the pair matrix.

    Parameters
    ----------
    row_lengths, column_lengths : int32 arrays
        By sorted position.
    column_worth : int64 array
        Largest score that each column sequence could reach with the table: the sum over its letters
        of the best score of the letter or 0.
    costs : Costs
    mode : str
    multiprocessors : int
    shared_bytes : int
        Shared memory of a multiprocessor.
    """

    def __init__(
        self,
        row_lengths: Ints,
        column_lengths: Ints,
        column_worth: Longs,
        costs: Costs,
        mode: str,
        multiprocessors: int,
        shared_bytes: int = 227 << 10,
    ) -> None:
        self._rows = row_lengths
        self._columns = column_lengths
        self._worth = column_worth
        self._costs = costs
        self._mode = mode
        self._multiprocessors = multiprocessors
        self._shared_bytes = shared_bytes

    def fits_words(self, rectangle: Rectangle) -> bool:
        """Whether 32 bits do for every pair."""
        return bool((self._largest(rectangle) < _WORD_LIMIT).all())

    def _largest(self, rectangle: Rectangle) -> Longs:
        """Largest value that may be stored for each column."""
        columns = slice(rectangle.column_start, rectangle.column_stop)
        largest = self._worth[columns] + self._costs.bias
        if self._mode == "semiglobal":
            rows = int(self._rows[rectangle.row_start : rectangle.row_stop].max())
            width = self._columns[columns].astype(np.int64) + 2 * TILINGS[-1].width
            largest = largest + (rows + width) * self._costs.shift
        return largest

    def _narrow(self, rectangle: Rectangle, traced: bool) -> npt.NDArray[np.bool_]:
        """Which columns may share a word with a neighbour."""
        narrow = self._largest(rectangle) <= _HALF_LIMIT
        if traced and not self._costs.fits_tiles:
            narrow[:] = False
        return narrow

    def plan(self, work: Work, traced: bool) -> Batch:
        """Plan some pairs as one batch."""
        if isinstance(work, Chosen):
            return self._plan_chosen(work, traced)
        rectangle = work
        rows = self._rows[rectangle.row_start : rectangle.row_stop]
        narrow = self._narrow(rectangle, traced)
        columns, numbers = _pair_up(narrow, rectangle.column_start)
        if rectangle.triangular:
            used = columns + numbers - 1 > rectangle.row_start
            columns, numbers = columns[used], numbers[used]
        stops = np.full(len(columns), len(rows), np.int64)
        if rectangle.triangular:
            stops = np.minimum(stops, columns + numbers - 1 - rectangle.row_start)
        wide = ~narrow[columns - rectangle.column_start]
        words = _Words(columns, numbers, wide, 0 * stops, stops)
        launches, tables = self._launches(words, rows, traced)
        lengths = self._columns[rectangle.column_start : rectangle.column_stop]
        tables["pair_of_row"] = rectangle.pair_base().astype(np.int64)
        longest = int(lengths.max(initial=0))
        pairs_of_row = rectangle.column_stop - rectangle.first_columns()
        tables["first_pair_of_row"] = _before(pairs_of_row)
        tables["moves_of_row"] = _before(pairs_of_row * move_words(rows, longest))
        words_of_moves = int(tables["moves_of_row"][-1])
        return Batch(work, rectangle, launches, tables, longest, words_of_moves)

    def _plan_chosen(self, work: Chosen, traced: bool) -> Batch:
        rectangle = work.part(0, work.pairs).rectangle
        narrow = self._narrow(rectangle, traced)
        columns, numbers = _pair_up(narrow, rectangle.column_start)
        word_of_column = np.repeat(np.arange(len(columns)), numbers)
        word = word_of_column[work.columns - rectangle.column_start]
        # A place is a row of a word; those of a word follow one another.
        height = rectangle.row_stop - rectangle.row_start
        keys, place = np.unique(
            word * height + work.rows - rectangle.row_start, return_inverse=True
        )
        row_of_place = (keys % height + rectangle.row_start).astype(np.int32)
        pair_of_place = np.full((len(keys), 2), -1, np.int32)
        pair_of_place[place.ravel(), work.columns - columns[word]] = np.arange(work.pairs)
        used, starts = np.unique(keys // height, return_index=True)
        columns, numbers = columns[used], numbers[used]
        wide = ~narrow[columns - rectangle.column_start]
        stops = np.append(starts[1:], len(keys)).astype(np.int64)
        words = _Words(columns, numbers, wide, starts.astype(np.int64), stops)
        launches, tables = self._launches(words, self._rows[row_of_place], traced)
        lengths = self._columns[work.columns]
        moves_before = _before(move_words(self._rows[work.rows], lengths))
        tables["rows"] = row_of_place
        tables["pair_of_place"] = pair_of_place
        tables["moves_of_pair"] = moves_before
        longest = int(lengths.max(initial=0))
        return Batch(work, rectangle, launches, tables, longest, int(moves_before[-1]))

    def _launches(
        self, words: _Words, lengths: Ints, traced: bool
    ) -> tuple[list[Launch], dict[str, npt.NDArray[np.integer]]]:
        """Sort words by what kernels they need; `lengths`: of each place's row."""
        bands_before = {group: _before(bands_of(lengths, group)) for group in _GROUPS}
        letters_before = _before(lengths)
        kinds, _ = choose_tilings(self._columns[words.columns])
        keys = 2 * kinds + words.wide
        pairs = int((words.stops - words.starts).sum())
        launches = []
        for key in np.unique(keys)[::-1].tolist():  # wide ones first: they take longest
            tiling = tiling_of(key // 2)
            kind = Kind(tiling, bool(key % 2), key // 2 >= len(TILINGS))
            of_kind = np.flatnonzero(keys == key)
            launches.append(
                self._launch(
                    kind,
                    _Words(*(getattr(words, name)[of_kind] for name in words.__match_args__)),
                    pairs,
                    bands_before[tiling.group],
                    letters_before,
                    traced,
                )
            )
        tables: dict[str, npt.NDArray[np.integer]] = {"letters_before": letters_before}
        for group, before in bands_before.items():
            tables[f"bands_before_{group}"] = before.astype(np.int32)
        return launches, tables

    def _launch(
        self,
        kind: Kind,
        words: _Words,
        all_rows: int,
        bands_before: Longs,
        letters_before: Longs,
        traced: bool,
    ) -> Launch:
        # Enough blocks to even out their ends, enough rows to be worth a profile.
        blocks = self._multiprocessors * BLOCKS_PER_MULTIPROCESSOR * 8
        groups = FILL_THREADS // kind.tiling.group
        height = int(np.clip(all_rows // blocks, 2 * groups, 512))
        sizes = words.stops - words.starts
        of_word, starts, ends, first_items = _cut(words, np.full(len(sizes), height))
        items = np.stack((words.columns[of_word], starts, ends, words.numbers[of_word]), 1)
        width = kind.tiling.width
        strips = -(-self._columns[items[:, 0]].astype(np.int64) // width)
        bands = (bands_before[ends] - bands_before[starts]) * strips
        entries = letters_before[ends] - letters_before[starts] if kind.strips else 0 * strips
        profiles = 0 * strips
        profile_bytes = int(kind.tiling.profile_bytes(self._costs.letters))
        if kind.strips:
            profiles = kind.tiling.profile_bytes(self._costs.letters, strips)
            profile_bytes = 0
        chunks = np.zeros((0, 4), np.int32)
        threads = kind.tiling.traceback_threads(profile_bytes, self._shared_bytes, self._mode)
        if traced:
            # The tiles of a word's items follow one another: any of its rows may go together.
            # Several rows a thread even out paths' lengths, but there must be blocks enough.
            several = all_rows // (256 * self._multiprocessors * 3)
            paths = 1 if kind.wide else 2  # of a row
            most = threads // paths * int(np.clip(several, 1, 8))
            shares = -(-sizes // -(-sizes // most))
            of_chunk, starts, ends, _ = _cut(words, -(-shares // 32) * 32)
            chunks = np.stack((first_items[of_chunk], starts, ends, 0 * starts), 1)
        return Launch(
            kind, items.astype(np.int32), bands, entries, profiles, chunks.astype(np.int32), threads
        )

    def batches(self, work: Work, traced: bool, limit: int) -> Iterator[Batch]:
        """Cut work into batches, in the order of its pairs.

        `limit` is what a batch may take in bytes, unless it is a single item.
        """
        if isinstance(work, Chosen):
            first = 0
            before = _before(self._pair_bytes(work, traced).astype(np.int64))
            while first < work.pairs:
                stop = int(np.searchsorted(before, before[first] + limit, side="right")) - 1
                stop = max(stop, first + 1)
                yield self.plan(work.part(first, stop), traced)
                first = stop
            return
        rows = work.row_stop - work.row_start
        cost = self._row_bytes(work, traced)
        first = 0
        while first < rows:
            total = np.cumsum(cost[first:])
            number = max(1, int(np.searchsorted(total, limit, side="right")))
            part = replace(
                work, row_start=work.row_start + first, row_stop=work.row_start + first + number
            )
            first += number
            if number > 1 or total[0] <= limit:
                if part.pairs:
                    yield self.plan(part, traced)
                continue
            yield from self._cut_row(part, traced, limit)

    def _cut_row(self, row: Rectangle, traced: bool, limit: int) -> Iterator[Batch]:
        if row.pairs == 0:
            return
        if row.pairs <= 2 or self._row_bytes(row, traced)[0] <= limit:
            yield self.plan(row, traced)
            return
        for half in row.halves(1):
            yield from self._cut_row(half, traced, limit)

    def _row_bytes(self, rectangle: Rectangle, traced: bool) -> npt.NDArray[np.float64]:
        """Device bytes that each row takes, about."""
        rows = self._rows[rectangle.row_start : rectangle.row_stop]
        lengths = self._columns[rectangle.column_start : rectangle.column_stop]
        first = rectangle.first_columns() - rectangle.column_start
        cost = (80.0 * (len(lengths) - first) + 64).astype(np.float64)
        kinds, strips = choose_tilings(lengths)
        cost += _after(np.where(strips > 1, 8.0, 0.0))[first] * rows
        if not traced:
            return cost
        share = np.where(self._narrow(rectangle, traced), 0.5, 1.0) * strips
        for kind in np.unique(kinds).tolist():
            tiling = tiling_of(kind)
            # A word that half a pair of columns needs is needed whole.
            of_row = _after(np.where(kinds == kind, share, 0.0))[first] + 0.5
            cost += of_row * bands_of(rows, tiling.group) * tiling.band_bytes
        cost += 8.0 * (len(lengths) - first) * move_words(rows, int(lengths.max(initial=0)))
        return cost

    def _pair_bytes(self, work: Chosen, traced: bool) -> npt.NDArray[np.float64]:
        """Device bytes that each chosen pair takes at most, in a word of its own."""
        rows, lengths = self._rows[work.rows], self._columns[work.columns]
        kinds, strips = choose_tilings(lengths)
        cost = (160.0 + np.where(strips > 1, 8.0, 0.0) * rows).astype(np.float64)
        if not traced:
            return cost
        for kind in np.unique(kinds).tolist():
            tiling = tiling_of(kind)
            bands = bands_of(rows, tiling.group) * strips * tiling.band_bytes
            cost += np.where(kinds == kind, bands, 0)
        cost += 8.0 * move_words(rows, lengths)
        return cost


def move_words(rows: Ints, columns: Ints | int) -> Longs:
    """Words of 8 bytes that moves of such pairs take: as in ``cuda/packed_moves.cuh``."""
    words: Longs = (rows.astype(np.int64) + columns + 31) // 32 + 1
    return words


def _pair_up(narrow: npt.NDArray[np.bool_], first: int) -> tuple[Longs, Longs]:
    """Put two neighbouring columns into a word where both are narrow.

    Returns
    -------
    columns, numbers : int64 arrays
        First column of each word, and how many columns it holds.
    """
    if narrow.all():
        columns = np.arange(0, len(narrow), 2)
        return columns + first, np.minimum(2, len(narrow) - columns)
    found = []
    column = 0
    while column < len(narrow):
        number = 2 if column + 1 < len(narrow) and narrow[column : column + 2].all() else 1
        found.append((first + column, number))
        column += number
    both = np.array(found, np.int64)
    return both[:, 0], both[:, 1]


def _cut(words: _Words, heights: Longs) -> tuple[Longs, Longs, Longs, Longs]:
    """Cut the places of each word into pieces of at most a height.

    Returns
    -------
    which, starts, ends : int64 arrays
        Of each piece: its word's index, first place and place after the last.
    first_pieces : int64 array
        Of each word: its first piece.
    """
    counts = -(-(words.stops - words.starts) // heights)
    first_pieces = np.cumsum(counts) - counts
    which = np.repeat(np.arange(len(counts)), counts)
    starts = words.starts[which] + (np.arange(len(which)) - first_pieces[which]) * heights[which]
    return which, starts, np.minimum(starts + heights[which], words.stops[which]), first_pieces


def _before(values: npt.NDArray[np.integer]) -> Longs:
    """Return the sums of the values before each, and of all."""
    return np.concatenate(([0], np.cumsum(values, dtype=np.int64)))


def _after(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sums of each value and those after it, and 0."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))
