"""How a window becomes launches of the packed kernels; see ``cuda/packed.cuh``. Pure functions.

The kernels align one row sequence with two neighbouring columns at a time, each pair in a half of
a 32-bit word, where 16 bits are sure to do (`Limits`), else with one column in whole words. A
*tiling* says how many lanes share a row sequence and how many columns a lane holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pairalign.engines.cuda_plan import Rectangle
from pairalign.scoring import Scoring

BAND = 16  # PAIRALIGN_BAND in cuda/packed.cuh
LETTERS = 32  # row stride of the score table
FILL_THREADS = 256
BLOCKS_PER_MULTIPROCESSOR = 2
_HALF_LIMIT = 65535 - 64
_TILE_LIMIT = 4096 - 64  # 16 bits less four flags
_WORD_LIMIT = 2**31 - 2**24

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, order=True)
class Tiling:
    """Lanes of a group and columns of a lane."""

    group: int
    columns: int

    @property
    def width(self) -> int:
        """Columns that a group holds."""
        return self.group * self.columns

    @property
    def parts(self) -> int:
        """Tiles that a lane's columns are split into: parts_of in ``cuda/packed.cuh``."""
        return 2 if self.columns >= 24 and self.columns % 8 == 0 else 1

    @property
    def traceback_threads(self) -> int:
        """Threads of a traceback block: what registers allow, see the kernels' launch bounds."""
        return 256 if self.columns // self.parts <= 16 else 128

    @property
    def band_bytes(self) -> int:
        """Bytes that a group keeps of a band: see the layout in ``cuda/packed.cuh``."""
        parts = self.parts
        return 16 * (self.group * (self.columns // 2 + parts * BAND // 2) + self.group // 4)


TILINGS = tuple(
    Tiling(group, columns)
    for group, columns in (
        *((8, 8), (8, 16), (8, 24), (8, 32)),
        *((16, 20), (16, 24), (16, 28), (16, 32)),
        *((32, 20), (32, 24), (32, 28), (32, 32)),
    )
)
"""By width. What is wider than the last is done in strips of it."""


@dataclass(frozen=True)
class Kind:
    """What the items of a launch have in common."""

    tiling: Tiling
    wide: bool
    strips: bool


@dataclass(frozen=True)
class Costs:
    """Scores and constants as the kernels see them."""

    table: Ints  # [32, 32] by dense letter
    letters: int  # the last one is the padding
    gap_open: int
    gap_extend: int
    shift: int
    bias: int
    tile_bias: int
    tile_range: int  # values of a tile stay below it

    @classmethod
    def of(cls, scoring: Scoring, codes: npt.NDArray[np.uint8]) -> Costs:
        """Make the table for sequences that use these codes, which become letters 0, 1, ..."""
        used, padding = len(codes), len(codes)
        assert used < LETTERS
        table = np.zeros((LETTERS, LETTERS), np.int64)
        table[:used, :used] = scoring.matrix[np.ix_(codes, codes)]
        lowest = min(int(table.min()), 0)
        if scoring.mode == "local":
            opening, shift = scoring.gap_open, 0
            table[padding, : used + 1] = table[: used + 1, padding] = lowest - 1
            bias = opening + scoring.gap_extend + 1 - lowest + 16
            side = (32 + BAND) * scoring.gap_extend
            tile_bias = side + 4 * opening + 1 - lowest + 16
            spread = side + 3 * opening
        else:
            opening, shift = scoring.gap_open - scoring.gap_extend, scoring.gap_extend
            table[:used, :used] += 2 * shift
            padded = -opening if scoring.mode == "global" else 2 * shift
            table[padding, :used] = table[:used, padding] = padded
            table[padding, padding] = 0 if scoring.mode == "global" else padded
            lowest = min(int(table.min()), 0)
            bias = tile_bias = 4 * opening - lowest + 16
            spread = 3 * opening
        highest = max(int(table.max()), 0)
        return cls(
            table=table.astype(np.int32),
            letters=used + 1,
            gap_open=opening,
            gap_extend=scoring.gap_extend if scoring.mode == "local" else 0,
            shift=shift,
            bias=bias,
            tile_bias=tile_bias,
            tile_range=tile_bias + 32 * highest + spread,
        )


@dataclass(frozen=True)
class Launch:
    """One launch of a fill kernel and its traceback."""

    kind: Kind
    items: Ints  # [n, 4] column, first row, row after the last, columns
    item_bands: Longs  # [n] bands of all rows, all strips
    item_border_entries: Longs  # [n]
    item_profile_bytes: Longs  # [n]
    chunks: Ints  # [m, 4] item, first row, row after the last, 0

    @property
    def tile_bytes(self) -> int:
        """Bytes of tiles of all items."""
        return int(self.item_bands.sum()) * self.kind.tiling.band_bytes


@dataclass(frozen=True)
class Batch:
    """Pairs that are on the device together."""

    rectangle: Rectangle
    launches: list[Launch]
    pair_base: Ints
    bands_before: dict[int, Ints]
    letters_before: Longs
    runs_of_column: Longs

    @property
    def run_slots(self) -> int:
        """CIGAR runs that there is room for."""
        rows = self.rectangle.row_stop - self.rectangle.row_start
        return int(self.runs_of_column[-1]) * rows


def steps_of(rows: Ints, group: int) -> Ints:
    """Count the steps that a group takes for row sequences of these lengths."""
    return (rows + group) & ~1


def bands_of(rows: Ints, group: int) -> Ints:
    """Count the bands of BAND steps."""
    return -(-steps_of(rows, group) // BAND)


class PackedPlanner:
    """Plans rectangles of the pair matrix.

    Parameters
    ----------
    row_lengths, column_lengths : int32 arrays
        By sorted position.
    column_worth : int64 array
        Largest score that each column sequence could reach with the table: the sum over its letters
        of the best score of the letter or 0.
    costs : Costs
    """

    def __init__(
        self,
        row_lengths: Ints,
        column_lengths: Ints,
        column_worth: Longs,
        costs: Costs,
        mode: str,
        multiprocessors: int,
    ) -> None:
        self._rows = row_lengths
        self._columns = column_lengths
        self._worth = column_worth
        self._costs = costs
        self._mode = mode
        self._multiprocessors = multiprocessors

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

    def plan(self, rectangle: Rectangle, traced: bool) -> Batch:
        """Plan all pairs of a rectangle as one batch."""
        rows = self._rows[rectangle.row_start : rectangle.row_stop]
        narrow = self._largest(rectangle) <= _HALF_LIMIT
        if traced and self._costs.tile_range > _TILE_LIMIT:
            narrow[:] = False
        columns, numbers = _pair_up(narrow, rectangle.column_start)
        if rectangle.triangular:
            used = columns + numbers - 1 > rectangle.row_start
            columns, numbers = columns[used], numbers[used]
        kinds = self._kinds(columns, ~narrow[columns - rectangle.column_start])
        bands_before = {
            group: _before(bands_of(rows, group)).astype(np.int32) for group in (8, 16, 32)
        }
        letters_before = _before(rows)
        launches = [
            self._launch(
                rectangle,
                kind,
                columns[which],
                numbers[which],
                len(columns),
                bands_before[kind.tiling.group],
                letters_before,
                traced,
            )
            for kind, which in kinds
        ]
        lengths = self._columns[rectangle.column_start : rectangle.column_stop].astype(np.int64)
        # At most one run a column letter and, between these, one gap of each kind.
        return Batch(
            rectangle,
            launches,
            rectangle.pair_base(),
            bands_before,
            letters_before,
            _before(3 * lengths + 2),
        )

    def _kinds(
        self, columns: Longs, wide: npt.NDArray[np.bool_]
    ) -> list[tuple[Kind, npt.NDArray[np.intp]]]:
        """Sort columns by what kernels they need; with the indices of each kind's, in order."""
        widths = np.array([tiling.width for tiling in TILINGS])
        tilings = np.searchsorted(widths, self._columns[columns])
        keys = 2 * tilings + wide
        found = []
        for key in np.unique(keys)[::-1].tolist():  # wide ones first: they take longest
            strips = key // 2 == len(TILINGS)
            tiling = TILINGS[-1] if strips else TILINGS[key // 2]
            found.append((Kind(tiling, bool(key % 2), strips), np.flatnonzero(keys == key)))
        return found

    def _launch(
        self,
        rectangle: Rectangle,
        kind: Kind,
        columns: Longs,
        numbers: Longs,
        all_columns: int,
        bands_before: Ints,
        letters_before: Longs,
        traced: bool,
    ) -> Launch:
        first_row = rectangle.row_start
        rows = rectangle.row_stop - first_row
        stops = np.full(len(columns), rectangle.row_stop, np.int64)
        if rectangle.triangular:
            stops = np.minimum(stops, columns + numbers - 1)
        # Enough blocks to even out their ends, enough rows to be worth a profile.
        blocks = self._multiprocessors * BLOCKS_PER_MULTIPROCESSOR * 8
        groups = FILL_THREADS // kind.tiling.group
        height = int(np.clip(rows * all_columns // blocks, 2 * groups, 512))
        of_column, starts, ends, first_items = _cut(first_row, stops, np.full(len(stops), height))
        items = np.stack((columns[of_column], starts, ends, numbers[of_column]), 1)
        start, end = starts - first_row, ends - first_row
        width = kind.tiling.width
        strips = -(-self._columns[items[:, 0]].astype(np.int64) // width)
        bands = (bands_before[end] - bands_before[start]).astype(np.int64) * strips
        entries = letters_before[end] - letters_before[start] if kind.strips else 0 * strips
        profiles = 4 * self._costs.letters * strips * width if kind.strips else 0 * strips
        chunks = np.zeros((0, 4), np.int32)
        if traced:
            # The tiles of a column's items follow one another: any of its rows may go together.
            most = kind.tiling.traceback_threads
            shares = -(-(stops - first_row) // -(-(stops - first_row) // most))
            of_chunk, starts, ends, _ = _cut(first_row, stops, -(-shares // 32) * 32)
            chunks = np.stack((first_items[of_chunk], starts, ends, 0 * starts), 1)
        return Launch(
            kind, items.astype(np.int32), bands, entries, profiles, chunks.astype(np.int32)
        )

    def batches(self, rectangle: Rectangle, traced: bool, limit: int) -> Iterator[Batch]:
        """Cut a rectangle into batches, in the order of its pairs.

        `limit` is what a batch may take in bytes, unless it is a single item.
        """
        rows = np.arange(rectangle.row_start, rectangle.row_stop)
        cost = self._row_bytes(rectangle, traced)
        first = 0
        while first < len(rows):
            total = np.cumsum(cost[first:])
            number = max(1, int(np.searchsorted(total, limit, side="right")))
            part = replace(
                rectangle,
                row_start=rectangle.row_start + first,
                row_stop=rectangle.row_start + first + number,
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
        columns = np.arange(rectangle.column_start, rectangle.column_stop)
        lengths = self._columns[columns].astype(np.int64)
        first = rectangle.first_columns() - rectangle.column_start
        cost = 64.0 * (len(columns) - first) + 64
        if not traced:
            strips = lengths > TILINGS[-1].width
            return cost + _after(strips.astype(np.float64))[first] * 8.0 * rows
        narrow = self._largest(rectangle) <= _HALF_LIMIT
        if self._costs.tile_range > _TILE_LIMIT:
            narrow[:] = False
        widths = np.array([tiling.width for tiling in TILINGS])
        tiling = np.minimum(np.searchsorted(widths, lengths), len(TILINGS) - 1)
        strips = -(-lengths // widths[-1])
        share = np.where(narrow, 0.5, 1.0) * np.where(tiling == len(TILINGS) - 1, strips, 1)
        for index in np.unique(tiling):
            of_tiling = np.where(tiling == index, share, 0.0)
            # A word that half a pair of columns needs is needed whole.
            of_row = _after(of_tiling)[first] + 0.5
            band_bytes = TILINGS[index].band_bytes
            cost = cost + of_row * bands_of(rows, TILINGS[index].group) * band_bytes
        cost += _after(np.where(tiling == len(TILINGS) - 1, 8.0, 0.0))[first] * rows
        slots: npt.NDArray[np.float64] = cost + 4.0 * (3 * lengths + 2).sum()
        return slots


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


def _cut(first: int, stops: Longs, heights: Longs) -> tuple[Longs, Longs, Longs, Longs]:
    """Cut ranges of rows from `first` to each stop into pieces of at most a height.

    Returns
    -------
    which, starts, ends : int64 arrays
        Of each piece: its range's index, first row and row after the last.
    first_pieces : int64 array
        Of each range: its first piece.
    """
    counts = -(-(stops - first) // heights)
    first_pieces = np.cumsum(counts) - counts
    which = np.repeat(np.arange(len(stops)), counts)
    starts = first + (np.arange(len(which)) - first_pieces[which]) * heights[which]
    return which, starts, np.minimum(starts + heights[which], stops[which]), first_pieces


def _before(values: npt.NDArray[np.integer]) -> Longs:
    """Return the sums of the values before each, and of all."""
    return np.concatenate(([0], np.cumsum(values, dtype=np.int64)))


def _after(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sums of each value and those after it, and 0."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))
