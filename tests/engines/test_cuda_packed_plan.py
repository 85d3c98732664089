"""Plans of the packed kernels against what the kernels assume, place by place.

Sets, parts of the pair matrix and scorings are drawn at random: words of one and two columns,
columns in strips, triangles, two sets, chosen pairs, one row, one column.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import MODES, make_scoring, match_matrix

from pairalign.engines.cuda.packed.batches import Chosen, Launch, PackedBatch
from pairalign.engines.cuda.packed.packed_plan import PackedPlanner
from pairalign.engines.cuda.packed.parameters import array_bytes
from pairalign.engines.cuda.packed.score_table import Costs
from pairalign.engines.cuda.packed.tilings import (
    FILL_THREADS,
    choose_tilings,
    move_words,
    tiers_of,
    tiling_of,
)
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import PROTEIN

SLACK = 4096
"""Bytes that a batch may take more than planned for: tables of few rows, arrays rounded up."""


class Case:
    """Two sets (or one) and a planner of them, and a part of their matrix."""

    def __init__(self, rng: np.random.Generator, mode: str) -> None:
        longest = int(rng.choice([3, 70, 700, 3000, 30000]))
        self.rows, self.columns = (
            np.sort(rng.integers(1, longest, int(rng.integers(2, 90))).astype(np.int32))[::-1]
            for _ in range(2)
        )
        self.one_set = bool(rng.integers(2))
        if self.one_set:
            self.columns = self.rows
        match = int(rng.choice([6, 60, 200]))
        self.costs = Costs.of(
            make_scoring(PROTEIN, mode, 11, 1, match_matrix(PROTEIN, match, -4)),
            np.arange(20, dtype=np.uint8),
        )
        self.worth = self.columns * (match // rng.integers(1, 4, len(self.columns)))
        self.mode = mode
        self.planner = PackedPlanner(
            self.rows, self.columns, self.worth, self.costs, mode, int(rng.integers(1, 4))
        )
        self.part = self.rectangle(rng)
        while not self.part.pairs:
            self.part = self.rectangle(rng)

    def rectangle(self, rng: np.random.Generator) -> Rectangle:
        bounds = []
        for lengths in (self.rows, self.columns):
            start = int(rng.integers(0, len(lengths)))
            bounds += [start, int(rng.integers(start, len(lengths))) + 1]
        return Rectangle(*bounds, self.one_set)

    def largest(self, columns: list[int], rows: list[int]) -> int:
        """Largest value that the words of these columns must hold beside these rows."""
        found = int(self.worth[columns].max()) + self.costs.bias
        if self.mode == "semiglobal":
            lengths = int(self.rows[rows].max()) + int(self.columns[columns].max())
            found += (lengths + 1024) * self.costs.shift
        return found


def table_of(batch: PackedBatch, start: int, count: int) -> npt.NDArray[np.int32]:
    return batch.tables[start : start + 16 * count].view(np.int32).reshape(count, 4)


def items_of(batch: PackedBatch, launch: Launch) -> npt.NDArray[np.int32]:
    """Items, [n, 4]: first column, first place, place after the last, columns."""
    return table_of(batch, launch.items_at, launch.items)


def chunks_of(batch: PackedBatch, launch: Launch) -> npt.NDArray[np.int32]:
    """Chunks, [n, 4]: item, first place, place after the last, 0."""
    return table_of(batch, launch.chunks_at, launch.chunks)


def numbers(batch: PackedBatch, start: int, count: int) -> list[int]:
    """Numbers of 8 bytes in the tables."""
    return batch.tables[start : start + 8 * count].view(np.int64).tolist()


def check(case: Case, batch: PackedBatch, traced: bool) -> list[tuple[int, int]]:
    """Check a batch; return its pairs."""
    rectangle, chosen = batch.rectangle, isinstance(batch.work, Chosen)
    row_of_place = np.arange(rectangle.row_start, rectangle.row_stop)
    if chosen:
        row_of_place = batch.arrays["rows"]
        pair_of_place = batch.arrays["pair_of_place"]
    lengths = case.rows[row_of_place]
    pairs: list[tuple[int, int]] = []
    tiles = borders = profiles = 0
    for launch in batch.launches:
        tiling, width = launch.kind.tiling, launch.kind.tiling.width
        items = items_of(batch, launch).tolist()
        assert launch.items == len(items) > 0
        item_tiles = numbers(batch, launch.item_tiles_at, len(items)) if traced else []
        strips_of = {}
        for number, (column, start, stop, count) in enumerate(items):
            assert start < stop <= len(row_of_place)
            assert count in (1, 2)
            columns = list(range(column, column + count))
            kinds, strips = choose_tilings(case.columns[column : column + 1])
            assert tiling_of(int(kinds[0])) == tiling
            assert launch.kind.strips == (strips[0] > 1)
            assert int(case.columns[columns].max()) <= int(strips[0]) * width
            if launch.kind.wide:
                assert count == 1
            else:
                assert case.largest(columns, row_of_place[start:stop].tolist()) < 65536
                assert case.costs.fits_tiles or not traced
            strips_of[number] = int(strips[0])
            if traced:
                assert item_tiles[number] == tiles
                tiers = int(tiers_of(lengths[start:stop], tiling.group, case.mode).sum())
                tiles += tiers * int(strips[0]) * tiling.tier_bytes // 16
            if launch.kind.strips:
                assert numbers(batch, launch.item_borders_at + 8 * number, 1) == [borders]
                assert numbers(batch, launch.item_profiles_at + 8 * number, 1) == [profiles]
                borders += int(lengths[start:stop].sum())
                profiles += case.costs.letters * (int(strips[0]) * width + 8) // 4
            for place in range(start, stop):
                row = int(row_of_place[place])
                for half, one in enumerate(columns):
                    if chosen:
                        pair = int(pair_of_place[place, half])
                        if pair < 0:
                            continue
                        assert batch.work.rows[pair] == row
                        assert batch.work.columns[pair] == one
                    elif case.one_set and row >= one:
                        continue
                    pairs.append((row, one))
        if traced:
            check_chunks(batch, launch, items)
    assert (16 * tiles, borders, 16 * profiles) == (
        batch.tile_bytes,
        batch.border_entries,
        batch.profile_bytes,
    )
    check_pairs(case, batch)
    return pairs


def check_chunks(batch: PackedBatch, launch: Any, items: list[list[int]]) -> None:
    """The chunks of a word name its first item, and hold each of its places once."""
    assert launch.traceback_threads % 32 == 0
    places_of_word: dict[int, list[int]] = {}
    word_of_item = {}
    for number, (column, start, stop, _) in enumerate(items):
        word_of_item[number] = column
        places_of_word.setdefault(column, []).extend(range(start, stop))
    first_items = {column: number for number, column in reversed(list(word_of_item.items()))}
    found: dict[int, list[int]] = {}
    for item, start, stop, _ in chunks_of(batch, launch).tolist():
        assert first_items[word_of_item[item]] == item
        found.setdefault(word_of_item[item], []).extend(range(start, stop))
    assert found == places_of_word


def check_pairs(case: Case, batch: PackedBatch) -> None:
    """Numbers of pairs, and the room for what their paths leave."""
    rows, columns = (one.astype(int) for one in batch.rectangle.window().positions())
    if isinstance(batch.work, Chosen):
        rows, columns = batch.work.rows, batch.work.columns
        room = np.diff(batch.arrays["moves_of_pair"])
        assert (room >= move_words(case.rows[rows], case.columns[columns])).all()
        assert batch.move_words == room.sum()
        return
    height = batch.rectangle.row_stop - batch.rectangle.row_start
    first_pair = np.array(numbers(batch, batch.places["first_pair_of_row"], height + 1))
    moves = np.array(numbers(batch, batch.places["moves_of_row"], height + 1))
    pair_of_row = np.array(numbers(batch, batch.places["pair_of_row"], height))
    place = rows - batch.rectangle.row_start
    assert np.array_equal(pair_of_row[place] + columns, np.arange(batch.pairs))
    assert first_pair[-1] == batch.pairs
    assert batch.longest >= case.columns[columns].max()
    stride = move_words(case.rows[rows], batch.longest)
    starts = moves[place] + (np.arange(batch.pairs) - first_pair[place]) * stride
    assert np.array_equal(starts[1:], (starts + stride)[:-1])
    assert batch.move_words == moves[-1] == starts[-1] + stride[-1]


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 1 << 32), mode=st.sampled_from(MODES))
def test_every_pair_once_and_room_for_all_of_it(seed, mode):
    rng = np.random.default_rng(seed)
    case = Case(rng, mode)
    traced = bool(rng.integers(2))
    limit = int(rng.choice([1 << 16, 1 << 21, 1 << 25, 1 << 45]))
    works: list[Any] = [case.part]
    pair_mask = rng.random(case.part.pairs) < rng.choice([0.02, 0.3, 1.0])
    if pair_mask.any():
        works.append(Chosen.of(case.part, pair_mask))
    want = Want(Detail.CIGAR if traced else Detail.SCORE)
    for work, kept in zip(works, (np.ones_like(pair_mask), pair_mask), strict=False):
        found = []
        for batch in case.planner.batches(work, traced, limit):
            pairs = check(case, batch, traced)
            assert len(pairs) == batch.pairs
            found += sorted(pairs)
            if batch.pairs > 2:
                taken = sum(array_bytes(batch, want).values()) - batch.profile_bytes
                # Words of chosen pairs may be wider for a neighbour that was not chosen.
                assert taken <= (limit if isinstance(work, Rectangle) else 5 / 4 * limit) + SLACK
        rows, columns = (one[kept].tolist() for one in case.part.window().positions())
        assert found == list(zip(rows, columns, strict=True))


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("letters", [100, 200, 500, 900, 2500])
def test_items_and_chunks_are_neither_small_nor_large(letters, traced):
    """Blocks are enough for the device, and each has rows enough for its profile."""
    lengths = np.full(2000, letters, np.int32)
    costs = Costs.of(
        make_scoring(PROTEIN, "global", 11, 1, match_matrix(PROTEIN, 6, -4)),
        np.arange(20, dtype=np.uint8),
    )
    planner = PackedPlanner(lengths, lengths, 6 * lengths.astype(np.int64), costs, "global", 132)
    batch = planner.plan(Rectangle(0, 1000, 1000, 2000, True), traced)
    (launch,) = batch.launches
    items = items_of(batch, launch)
    groups = FILL_THREADS // launch.kind.tiling.group
    heights = items[:, 2] - items[:, 1]
    assert len(items) >= 2 * 132
    assert (heights <= 512).all()
    assert np.median(heights) >= 2 * groups
    if not traced:
        assert launch.chunks == 0
        return
    check_chunks(batch, launch, items.tolist())
    chunks = chunks_of(batch, launch)
    assert len(chunks) >= 132
    assert (chunks[:, 2] - chunks[:, 1] >= 32).mean() > 0.5
