"""Plans of the CUDA engine: every pair in one lane of one tile, every array large enough."""

import numpy as np
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from pairalign.engines.device.tile_plan import TIER, WARP, Costs, Planner, Rectangle, TileBatch

COSTS = Costs(border_bytes=4, traced=True)


def pairs_of(batch: TileBatch, planner: Planner) -> list[tuple[int, int, int]]:
    """(number, window row, window column) of every lane; checks what tiles promise on the way."""
    base = batch.rectangle.pair_base()
    found = []
    border_end = trace_end = 0
    for tile in batch.tiles:
        sides = [planner.row_lengths, planner.column_lengths]
        rows, columns = sides[::-1] if tile["swapped"] else sides
        longest_row = 0
        assert tile["border"] == border_end
        assert tile["trace"] == trace_end
        assert tile["lanes"] & (1 << 32) - 1 == tile["lanes"] != 0
        for lane in range(WARP):
            if not int(tile["lanes"]) >> lane & 1:
                continue
            row = int(tile["row"]) + lane // planner.block
            column = int(tile["column"]) + lane % planner.block
            longest_row = max(longest_row, rows[row])
            assert columns[column] <= tile["columns"]
            # Rows run along the longer sequence.
            assert columns[column] <= rows[row]
            if tile["swapped"]:
                row, column = column, row
            found.append((int(base[row - batch.rectangle.row_start]) + column, row, column))
        border_end += (int(tile["columns"]) + 1) * WARP
        trace_end += -(-int(longest_row) // TIER) * int(tile["columns"]) * WARP
    assert border_end == batch.border_entries
    assert trace_end <= batch.trace_words
    return found


def sorted_lengths(rng: np.random.Generator, count: int, longest: int) -> np.ndarray:
    return np.sort(rng.integers(1, longest, count, endpoint=True))[::-1].astype(np.int32)


def ranks_of(
    rng: np.random.Generator, rows: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """By length, and of equal lengths by three kinds of sequence."""
    keys = [np.sort(3 * (99 - one) + rng.integers(3, size=len(one))) for one in (rows, columns)]
    ranks = np.unique(np.concatenate(keys), return_inverse=True)[1].astype(np.int32)
    return ranks[: len(rows)], ranks[len(rows) :]


@settings(max_examples=examples(150))
@given(
    seed=st.integers(0, 1 << 40),
    block=st.sampled_from([8, 16, 32]),
    limit=st.sampled_from([3000, 20_000, 100_000, 1 << 30]),
    target=st.sampled_from([1, 50, 500, 1 << 20]),
    triangular=st.booleans(),
)
def test_every_pair_once(seed, block, limit, target, triangular):
    rng = np.random.default_rng(seed)
    rows = sorted_lengths(rng, int(rng.integers(1, 50)), int(rng.choice([1, 9, 60])))
    columns = rows if triangular else sorted_lengths(rng, int(rng.integers(1, 50)), 30)
    ranks = None if triangular else ranks_of(rng, rows, columns)
    planner = Planner(rows, columns, block, ranks)
    top, left = (int(rng.integers(len(side))) for side in (rows, columns))
    bottom, right = (int(rng.integers(x, len(s))) + 1 for x, s in ((top, rows), (left, columns)))
    whole = Rectangle(top, bottom, left, right, triangular)
    expected = [
        (r, c) for r in range(top, bottom) for c in range(left, right) if r < c or not triangular
    ]
    found = []
    for batch in planner.batches(whole, COSTS, limit, target):
        if batch.on_host:
            assert batch.pairs == 1
            assert planner.batch(batch.rectangle).bytes(COSTS) > limit
            found += [(r, c) for _, r, c in pairs_of(planner.batch(batch.rectangle), planner)]
            continue
        numbered = sorted(pairs_of(batch, planner))
        assert [number for number, _, _ in numbered] == list(range(batch.pairs))
        assert batch.bytes(COSTS) <= limit
        found += [(r, c) for _, r, c in numbered]
        for tile in batch.tiles if ranks is not None else ():
            swapped = int(tile["swapped"])
            one, other = ranks[swapped], ranks[1 - swapped]
            for lane in np.flatnonzero(int(tile["lanes"]) >> np.arange(WARP) & 1):
                row, column = tile["row"] + lane // block, tile["column"] + lane % block
                assert one[row] < other[column] + (1 - swapped)
    assert found == expected


def test_blocks_are_those_of_the_paper():
    """Eight tiles in a row of the list make a block of 16 x 16 pairs."""
    lengths = np.full(64, 10, np.int32)
    planner = Planner(lengths, lengths, 16)
    tiles = planner.batch(Rectangle(0, 32, 32, 64, triangular=True)).tiles
    for block in range(4):
        eight = tiles[8 * block : 8 * block + 8]
        assert (eight["lanes"] == 0xFFFFFFFF).all()
        assert set(eight["column"]) == {32 + 16 * (block % 2)}
        assert list(eight["row"]) == list(range(16 * (block // 2), 16 * (block // 2) + 16, 2))
