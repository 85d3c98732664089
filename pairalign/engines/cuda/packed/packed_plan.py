"""How a window becomes launches of the packed kernels, see ``cuda/packed/packed.cuh``; pure.

The kernels align one row sequence with two neighbouring columns at a time, each pair in a half of
a 32-bit word, where 16 bits are sure to do, else with one column in whole words. What a block does
is an *item*: a word of columns with a range of *places*, which are the batch's rows, or, where
pairs were chosen, rows that have a chosen pair in that word. The traceback goes by *chunks*: places
of a word of which each thread of a block takes some.

What follows from the sets alone is computed once; the rest takes native code some microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Doubles, Int32s, Int64s, Structs, UInt8s, distinct
from pairalign.engines.cuda.packed.batches import (
    GROUPS,
    KIND,
    MOST_LAUNCHES,
    WORD,
    Chosen,
    Kind,
    Launch,
    NativeChosenPairs,
    NativeLaunch,
    NativePlan,
    PackedBatch,
    Work,
    cut_natively,
    place_natively,
    plan_natively,
)
from pairalign.engines.cuda.packed.parameters import SHIFTED_MODES, Costs
from pairalign.engines.cuda.packed.tilings import (
    FILL_THREADS,
    KINDS,
    TILINGS,
    choose_tilings,
    move_words,
    tiers_of,
    tiling_of,
)
from pairalign.engines.device.tile_plan import Rectangle


class MemoryEstimate:
    """Bytes that rows and pairs take; what columns add is summed up once.

    Parameters
    ----------
    row_lengths, column_lengths : int32 arrays
        By sorted position, longest first.
    tiers : dict of int to int32 arrays
        Of each row, by lanes of a group.
    tilings : two int64 arrays
        Kind and strips of each column, see `choose_tilings`.
    wide : bool array
        Which columns need a word of their own beside the longest row; beside others more columns
        may share a word.
    """

    def __init__(
        self,
        row_lengths: Int32s,
        column_lengths: Int32s,
        tiers: dict[int, Int32s],
        tilings: tuple[Int64s, Int64s],
        costs: Costs,
        wide: Bools,
    ) -> None:
        self._rows, self._columns = row_lengths, column_lengths
        self._tiers = tiers
        # Where values do not fit the tiles that a word of two is traced in, all are wide there.
        self._traced_share = 1.0 if costs.fits_tiles else 2.0
        self._kinds, self._strips = kinds, strips = tilings
        tier_bytes = np.array([tiling_of(kind).tier_bytes for kind in KINDS])
        group = np.array([tiling_of(kind).group for kind in KINDS])
        # A narrow column before a wide one may have no other to share a word with.
        shares = np.append(~wide[:-1] & ~wide[1:], not wide[-1])
        weight = np.where(shares, 0.5, 1.0) * strips * tier_bytes[kinds]
        self._tier_bytes_before = {
            group_size: _fractions_before(np.where(group[kinds] == group_size, weight, 0.0))
            for group_size in GROUPS
        }
        # Of a kind's first and last word half may be needed, or half be of another kind.
        self._spare_bytes_before = {
            group_size: _fractions_before(np.where(group == group_size, tier_bytes, 0.0))
            for group_size in GROUPS
        }
        self._far_before = sums_before(strips > 1)
        # The profiles of those, one an item; it has that number of rows or more.
        profile_bytes = np.array([tiling_of(kind).profile_bytes(costs.letters) for kind in KINDS])
        of_row = strips * profile_bytes[kinds] / (2 * FILL_THREADS // group[kinds])
        self._profile_bytes_before = _fractions_before(np.where(strips > 1, of_row, 0.0))

    def of_first_row(self, rectangle: Rectangle, traced: bool) -> float:
        """Device bytes that the first row takes, about; none takes more."""
        row, first = rectangle.row_start, rectangle.column_start
        if rectangle.triangular:
            first = min(max(first, row + 1), rectangle.column_stop)
        return float(self._bytes_of(row, first, first, rectangle.column_stop, traced))

    def of_rows(self, rectangle: Rectangle, traced: bool) -> Doubles:
        """Device bytes that each row takes, about."""
        first = rectangle.first_columns()
        rows = slice(rectangle.row_start, rectangle.row_stop)
        cost: Doubles
        cost = self._bytes_of(rows, first, int(first[0]), rectangle.column_stop, traced)
        return cost

    def _bytes_of(
        self, row: int | slice, first: int | Int64s, least_first: int, stop: int, traced: bool
    ) -> Any:
        """Device bytes of a row with the columns from `first` on, or of each of some rows.

        `row` and `first` are of one row or of several; of all these the first takes the most.
        """
        length, pairs = self._rows[row], stop - first
        cost = 80.0 * pairs + 64
        if least_first == stop:
            return cost
        if self._far_before[stop] > self._far_before[least_first]:
            cost += 8.0 * length * (self._far_before[stop] - self._far_before[first])
        if not traced:
            return cost
        cost += self._profile_bytes_before[stop] - self._profile_bytes_before[first]
        cost += 8.0 * pairs * move_words(length, int(self._columns[least_first]))
        least, most = self._kinds[stop - 1], self._kinds[least_first]
        strips = 1
        if most >= len(TILINGS):  # any of those in strips may come, and one strip more
            most, strips = KINDS[-1], int(self._strips[least_first]) + 1
        for group in GROUPS:
            before, spare = self._tier_bytes_before[group], self._spare_bytes_before[group]
            if before[stop] > before[least_first]:
                word_bytes = self._traced_share * (before[stop] - before[first])
                word_bytes += strips * (spare[most + 1] - spare[least])
                cost += word_bytes * self._tiers[group][row]
        return cost


def sums_before(values: npt.NDArray[np.integer] | Bools) -> Int64s:
    """Return the sums of the values before each, and of all."""
    return np.concatenate(([0], np.cumsum(values, dtype=np.int64)))


def _fractions_before(values: Doubles) -> Doubles:
    """Return the sums of the values before each, and of all."""
    return np.concatenate(([0.0], np.cumsum(values)))


_HALF_LIMIT = 65535 - 64
_WORD_LIMIT = 2**31 - 2**24
_PAIRS_OF_MULTIPROCESSOR = 32  # that are filled at a time: two in each of 16 warps

Mask = UInt8s


@dataclass(frozen=True)
class _Placed:
    """Words of chosen pairs, and what the kernels look up, by its name in ``Params``."""

    words: Structs
    arrays: dict[str, npt.NDArray[np.integer]]
    longest: int


def _fresh(size_bytes: int) -> UInt8s:
    return np.empty(size_bytes, np.uint8)


class PackedPlanner:
    """Plans parts of the pair matrix.

    Parameters
    ----------
    row_lengths, column_lengths : int32 arrays
        By sorted position, longest first.
    column_worth : int64 array
        Largest score that each column sequence could reach with the table: the sum over its
        residues of the best score of the residue or 0.
    shared_bytes : int
        Shared memory of a multiprocessor.
    take : callable (bytes) -> ndarray of uint8
        Makes memory for arrays of chosen pairs: best such that the device copies from.

    Attributes
    ----------
    tiers_before : dict of int to int32 arrays
        By lanes of a group: tiers of all rows before each, and of all. They may go round.
    residues_before : int64 array
        Residues of all rows before each, and of all.
    """

    def __init__(
        self,
        row_lengths: Int32s,
        column_lengths: Int32s,
        column_worth: Int64s,
        costs: Costs,
        mode: str,
        multiprocessors: int,
        shared_bytes: int = 227 << 10,
        take: Callable[[int], UInt8s] = _fresh,
    ) -> None:
        self._take = take
        self._rows = np.ascontiguousarray(row_lengths, np.int32)
        self._columns = np.ascontiguousarray(column_lengths, np.int32)
        self._costs = costs
        self._tiers = {group: tiers_of(self._rows, group, mode) for group in GROUPS}
        self.tiers_before = {group: _tiers_before(tiers) for group, tiers in self._tiers.items()}
        self.residues_before = sums_before(self._rows)
        self._column_residues_before = sums_before(self._columns)

        # The largest value that may be stored for a column, less `_row_shift` a row residue.
        self._largest = column_worth + costs.bias
        self._row_shift = costs.shift if mode in SHIFTED_MODES else 0
        width = self._columns.astype(np.int64) + 2 * TILINGS[-1].width
        self._largest += width * self._row_shift
        self._greatest = int(self._largest.max(initial=0))

        tilings = kinds, strips = choose_tilings(self._columns)
        self._kind_of_column = kinds.astype(np.uint8)
        self._strips_of_column = strips.astype(np.int32)
        self._all_wide = np.ones(len(kinds), np.uint8)
        self._wide_alone = self._wide_with(0)
        self._kinds = self._describe_kinds(mode, shared_bytes)
        longest = int(self._rows.max(initial=0))
        wide = self._wide_with(longest).view(np.bool_)
        self._memory = MemoryEstimate(self._rows, self._columns, self._tiers, tilings, costs, wide)
        self._native = NativePlan(
            row_lengths=self._rows,
            column_lengths=self._columns,
            strips_of_column=self._strips_of_column,
            kind_of_column=self._kind_of_column,
            kinds=self._kinds,
            kind_count=len(KINDS),
            letters=costs.letters,
            multiprocessors=multiprocessors,
        )
        self._bytes = 1 << 16  # that tables of a batch have taken so far

    def _describe_kinds(self, mode: str, shared_bytes: int) -> Structs:
        assert 2 * len(KINDS) <= MOST_LAUNCHES
        described = np.zeros(len(KINDS), KIND)
        for kind in KINDS:
            tiling, far = tiling_of(kind), kind >= len(TILINGS)
            profile_bytes = 0 if far else tiling.profile_bytes(self._costs.letters)
            described[kind] = (
                GROUPS.index(tiling.group),
                FILL_THREADS // tiling.group,
                tiling.width,
                tiling.tier_bytes // 16,
                tiling.traceback_threads(profile_bytes, shared_bytes, mode),
                far,
            )
        return described

    def _wide_with(self, rows: int, columns: slice = slice(None)) -> Mask:
        """Which columns need a word of their own beside row sequences of at most a given length."""
        limit = _HALF_LIMIT - rows * self._row_shift
        wide: Mask = (self._largest[columns] > limit).view(np.uint8)
        return wide

    def kinds(self, traced: bool, columns: Bools | None = None) -> set[Kind]:
        """Return the kinds of items that batches of these sets are likely to have.

        `columns`: which ones there will be pairs of; default: all.
        """
        if traced and not self._costs.fits_tiles:
            wide = [self._all_wide]
        else:
            longest = int(self._rows.max(initial=0))
            wide = [self._wide_alone, self._wide_with(longest)]
        which = slice(None) if columns is None else columns
        kinds = 2 * self._kind_of_column[which].astype(np.int64)
        codes = np.concatenate([kinds + some[which] for some in wide])
        return {
            Kind(tiling_of(code >> 1), bool(code & 1), code >> 1 >= len(TILINGS))
            for code in distinct(codes).tolist()
        }

    def _wide(self, rectangle: Rectangle, traced: bool) -> Mask:
        """Which columns of a rectangle need a word of their own."""
        columns = slice(rectangle.column_start, rectangle.column_stop)
        if traced and not self._costs.fits_tiles:
            return self._all_wide[columns]
        rows = int(self._rows[rectangle.row_start])
        if not self._row_shift or self._greatest + rows * self._row_shift <= _HALF_LIMIT:
            return self._wide_alone[columns]
        return self._wide_with(rows, columns)

    def fits_words(self, rectangle: Rectangle) -> bool:
        """Whether 32 bits do for every pair."""
        if rectangle.pairs == 0:
            return True
        limit = _WORD_LIMIT - int(self._rows[rectangle.row_start]) * self._row_shift
        if self._greatest < limit:
            return True
        return bool((self._largest[rectangle.column_start : rectangle.column_stop] < limit).all())

    def plan(self, work: Work, traced: bool) -> PackedBatch:
        """Plan some pairs as one batch."""
        if isinstance(work, Chosen):
            return self._plan_chosen(work, traced)
        native, row = self._native, work.row_start
        native.tiers_before = tuple(tiers[row:] for tiers in self.tiers_before.values())
        native.residues_before = self.residues_before[row:]
        native.words = None
        return self._batch(work, work, self._wide(work, traced), traced)

    def _plan_chosen(self, work: Chosen, traced: bool) -> PackedBatch:
        rectangle = work.part(0, work.pairs).rectangle
        wide = self._wide(rectangle, traced)
        placed = self._place(work, rectangle, wide)
        native = self._native
        native.tiers_before = tuple(placed.arrays.get(f"tiers_before_{group}") for group in GROUPS)
        native.residues_before = placed.arrays["residues_before"]
        native.words, native.word_count = placed.words, len(placed.words)
        native.longest = placed.longest
        batch = self._batch(work, rectangle, wide, traced)
        moves = int(placed.arrays["moves_of_pair"][-1])
        return replace(batch, arrays=placed.arrays, move_words=moves)

    def _place(self, work: Chosen, rectangle: Rectangle, wide: Mask) -> _Placed:
        """Put chosen pairs into words, and their rows into places."""
        pairs, wide = work.pairs, np.ascontiguousarray(wide)
        words = np.empty(pairs, WORD)
        groups = self._groups_of(rectangle)
        room = self._take(8 * (2 * (pairs + 1) + pairs) + 4 * (pairs + len(groups) * (pairs + 1)))
        longs = room[: 16 * (pairs + 1)].view(np.int64)
        moves_before, residues_before = longs.reshape(2, pairs + 1)
        ints = room[longs.nbytes :].view(np.int32)
        pair_of_place, row_of_place = ints[: 2 * pairs].reshape(pairs, 2), ints[2 * pairs :]
        tiers = list(ints[3 * pairs :].reshape(len(groups), pairs + 1))
        chosen = self._native_pairs(work)
        chosen.row_start, chosen.row_stop = rectangle.row_start, rectangle.row_stop
        chosen.column_start, chosen.column_stop = rectangle.column_start, rectangle.column_stop
        chosen.wide = wide
        chosen.words = words
        chosen.row_of_place = row_of_place
        chosen.pair_of_place = pair_of_place
        chosen.moves_before = moves_before
        chosen.residues_before = residues_before
        tiers_of_group = dict(zip(groups, tiers, strict=True))
        chosen.place_tiers = tuple(map(tiers_of_group.get, GROUPS))
        place_natively(chosen)
        places = chosen.places
        arrays: dict[str, npt.NDArray[np.integer]] = {
            "rows": row_of_place[:places],
            "pair_of_place": pair_of_place[:places],
            "moves_of_pair": moves_before,
            "residues_before": residues_before[: places + 1],
        }
        for group, of_group in tiers_of_group.items():
            arrays[f"tiers_before_{group}"] = of_group[: places + 1]
        return _Placed(words[: chosen.word_count], arrays, chosen.longest)

    def _groups_of(self, rectangle: Rectangle) -> list[int]:
        """Lanes of the groups that the columns of a rectangle need."""
        columns = slice(rectangle.column_start, rectangle.column_stop)
        numbers = self._kinds["group"][self._kind_of_column[columns]]
        return [group for number, group in enumerate(GROUPS) if (numbers == number).any()]

    def _native_pairs(self, work: Chosen) -> NativeChosenPairs:
        """Chosen pairs as native code reads them; they stay where they are."""
        chosen = NativeChosenPairs(
            rows=work.rows,
            columns=work.columns,
            tiers_before=tuple(self.tiers_before.values()),
            pairs=work.pairs,
            column_start=work.rectangle.column_start,
            row_lengths=self._rows,
            column_lengths=self._columns,
            kind_of_column=self._kind_of_column,
            strips_of_column=self._strips_of_column,
            kinds=self._kinds,
        )
        return chosen

    def _batch(self, work: Work, rectangle: Rectangle, wide: Mask, traced: bool) -> PackedBatch:
        """Plan a batch whose places the native plan knows."""
        native = self._native
        native.row_start, native.row_stop = rectangle.row_start, rectangle.row_stop
        native.column_start, native.column_stop = rectangle.column_start, rectangle.column_stop
        native.triangular, native.traced = rectangle.triangular, traced
        native.wide = wide
        while True:
            tables = np.empty(self._bytes, np.uint8)
            native.tables, native.capacity = tables, len(tables)
            plan_natively(native)
            if native.needed <= len(tables):
                break
            self._bytes = native.needed * 5 // 4
        native_launches = native.launches
        launches = [self._launch(native_launches[number]) for number in range(native.launch_count)]
        places = {}
        if not isinstance(work, Chosen):
            places = {
                "pair_of_row": native.pair_of_row_at,
                "first_pair_of_row": native.first_pair_of_row_at,
                "moves_of_row": native.moves_of_row_at,
            }
        return PackedBatch(
            work=work,
            rectangle=rectangle,
            launches=launches,
            tables=tables[: native.needed],
            places=places,
            arrays={},
            longest=native.longest,
            move_words=native.move_words,
            tile_bytes=16 * native.tile_units,
            is_uneven=self._is_uneven(rectangle, work.pairs),
            border_entries=native.border_entries,
            profile_bytes=16 * native.profile_units,
        )

    def _is_uneven(self, rectangle: Rectangle, pairs: int) -> bool:
        """Whether the longest pair takes longer than a device that is busy needs for all."""
        rows, columns = rectangle.bounds[:2], rectangle.bounds[2:4]
        longest = int(self._rows[rows[0]]) * int(self._columns[columns[0]])
        means = _mean(self.residues_before, *rows), _mean(self._column_residues_before, *columns)
        cells = pairs * means[0] * means[1]  # about
        return longest * int(self._native.multiprocessors) * _PAIRS_OF_MULTIPROCESSOR > cells

    def _launch(self, native: NativeLaunch) -> Launch:
        tiling, far = tiling_of(native.kind), native.kind >= len(TILINGS)
        return Launch(
            kind=Kind(tiling, bool(native.wide), far),
            items=native.items,
            chunks=native.chunks,
            traceback_threads=native.traceback_threads,
            items_at=native.items_at,
            item_tiles_at=native.tiles_at,
            item_borders_at=native.borders_at,
            item_profiles_at=native.profiles_at,
            chunks_at=native.chunks_at,
        )

    def batches(self, work: Work, traced: bool, limit: int) -> Iterator[PackedBatch]:
        """Cut work into batches, in the order of its pairs.

        `limit` is what a batch may take in bytes, unless it is a single item.
        """
        if isinstance(work, Chosen):
            first, chosen = 0, self._native_pairs(work)
            while first < work.pairs:
                stop = first + cut_natively(chosen, first, traced, limit)
                yield self.plan(work.part(first, stop), traced)
                first = stop
            return
        rows = work.row_stop - work.row_start
        if rows * self._memory.of_first_row(work, traced) <= limit:  # no other row takes more
            if work.pairs:
                yield self.plan(work, traced)
            return
        ends = np.cumsum(self._memory.of_rows(work, traced))
        first, done = 0, 0.0
        while first < rows:
            stop = max(first + 1, int(np.searchsorted(ends, done + limit, side="right")))
            part = work
            if stop - first < rows:
                row = work.row_start
                part = replace(work, row_start=row + first, row_stop=row + stop)
            if stop - first > 1 or ends[first] - done <= limit:
                if part.pairs:
                    yield self.plan(part, traced)
            else:
                yield from self._cut_row(part, traced, limit)
            first, done = stop, float(ends[stop - 1])

    def _cut_row(self, row: Rectangle, traced: bool, limit: int) -> Iterator[PackedBatch]:
        if row.pairs == 0:
            return
        if row.pairs <= 2 or self._memory.of_first_row(row, traced) <= limit:
            yield self.plan(row, traced)
            return
        for half in row.halves(1):
            yield from self._cut_row(half, traced, limit)


def _mean(before: Int64s, start: int, stop: int) -> float:
    """Mean of some values, by the sums of those before each."""
    return int(before[stop] - before[start]) / (stop - start)


def _tiers_before(tiers: Int32s) -> Int32s:
    """Return the sums as the kernels read them: only differences matter."""
    return sums_before(tiers).astype(np.int32)
