"""Windows of the pair matrix: each pair once, in an order that nothing but the sizes decides."""

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from pairalign.pairs.windows import (
    RestOfGrid,
    Window,
    WindowGrid,
    count_cells,
    join_windows,
    order_of_windows,
    plan_windows,
    restrict_windows,
    split_rows,
)

sizes = st.integers(1, 40)
plans = st.tuples(sizes, st.one_of(st.none(), sizes), st.integers(1, 45))


def pairs_of(window: Window) -> list[tuple[int, int]]:
    """Pairs of a window by the definition: row by row, above the diagonal of one set."""
    return [
        (row, column)
        for row in range(window.row_start, window.row_stop)
        for column in range(window.column_start, window.column_stop)
        if row < column or not window.triangular
    ]


def lengths_of(seed: int, count: int) -> np.ndarray:
    """Lengths, longest first, as int32: sums of them and products need more bits."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.integers(1, 2_000_000_000, count).astype(np.int32))[::-1]


@settings(max_examples=examples(100))
@given(plan=plans)
def test_each_pair_is_in_one_window(plan):
    rows, columns, size = plan
    windows = plan_windows(rows, columns, size)
    found = [pair for window in windows for pair in pairs_of(window)]
    last = rows if columns is None else columns
    expected = {(r, c) for r in range(rows) for c in range(last) if r < c or columns is not None}
    assert len(found) == len(expected)
    assert set(found) == expected
    assert [window.index for window in windows] == list(range(len(windows)))
    starts = [(window.row_start, window.column_start) for window in windows]
    assert starts == sorted(starts)  # row by row
    for window in windows:
        assert window.triangular is (columns is None)
        assert 0 < window.row_stop - window.row_start <= size
        assert 0 < window.column_stop - window.column_start <= size
        assert window.row_start % size == window.column_start % size == 0


@settings(max_examples=examples(100))
@given(
    plan=plans,
    seed=st.integers(0, 9),
    limit=st.sampled_from([1, 300, 3_000, 30_000, 10**9]),
    residue_bytes=st.sampled_from([0.0, 1.5, 2.0]),
    most_cells=st.sampled_from([0, 1_000, 100_000, 2**63 - 1]),
)
def test_slabs_hold_a_windows_pairs_in_order_and_fit(plan, seed, limit, residue_bytes, most_cells):
    rows = lengths_of(seed, plan[0]) // 10_000_000
    columns = rows if plan[1] is None else lengths_of(seed + 1, plan[1]) // 10_000_000

    def bytes_of(pairs: list[tuple[int, int]]) -> float:
        return sum(100 + residue_bytes * (int(rows[r]) + int(columns[c])) for r, c in pairs)

    def fits(pairs: list[tuple[int, int]]) -> bool:
        cells = sum(int(rows[r]) * int(columns[c]) for r, c in pairs)
        return bytes_of(pairs) <= limit and cells <= most_cells

    for window in plan_windows(*plan):
        slabs = list(split_rows(window, rows, columns, 100, residue_bytes, limit, most_cells))
        assert [pair for slab in slabs for pair in pairs_of(slab)] == pairs_of(window)
        for slab, following in zip(slabs, [*slabs[1:], None], strict=True):
            pairs = pairs_of(slab)
            assert pairs  # no slab is empty
            assert slab.index == window.index
            one_row = len({r for r, _ in pairs}) == 1
            assert fits(pairs) or one_row
            if following is not None:  # no slab is smaller than it must be
                added = [pair for pair in pairs_of(following) if pair[0] == following.row_start]
                assert not fits(pairs + added)


def test_few_sequences():
    assert plan_windows(1) == []
    assert plan_windows(0) == []
    assert plan_windows(2) == [Window(0, 0, 2, 0, 2, True)]
    assert plan_windows(1, 1) == [Window(0, 0, 1, 0, 1, False)]
    # The last row has no pair with itself: no window for it alone.
    assert [window.pairs for window in plan_windows(3, window=2)] == [1, 2]


def test_a_window_has_a_size():
    for size in (0, -1):
        with pytest.raises(ValueError, match=f"window {size}: expected at least 1"):
            plan_windows(3, window=size)


@settings(max_examples=examples(200))
@given(plan=plans, a=st.integers(0, 900), b=st.integers(0, 900))
def test_some_pairs_of_windows(plan, a, b):
    windows = plan_windows(*plan)
    all_pairs = [pair for window in windows for pair in pairs_of(window)]
    found = list(restrict_windows(windows, a, b))
    assert [pair for window in found for pair in pairs_of(window)] == all_pairs[a:b]
    assert all(window.pairs for window in found)
    for window in found:  # each is what engines take
        rows, columns = window.positions()
        pairs = zip(rows.tolist(), columns.tolist(), strict=True)
        assert list(pairs) == pairs_of(window)


@settings(max_examples=examples(200))
@given(plan=plans, share=st.floats(0, 1), seed=st.integers(0, 9))
def test_the_rest_of_a_grid(plan, share, seed):
    """The windows that a list gives, as often as asked for, and their cells by closed forms."""
    grid = WindowGrid(*plan)
    if not grid.pairs:
        return
    start = min(int(share * grid.pairs), grid.pairs - 1)
    rest = RestOfGrid(grid, start)
    expected = list(restrict_windows(grid, start, grid.pairs))
    assert list(rest) == list(rest) == expected
    assert rest.pairs == sum(one.pairs for one in expected)
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 50, grid.rows).astype(np.int32)
    columns = rows if grid.triangular else rng.integers(1, 50, grid.width).astype(np.int32)
    assert rest.cells(rows, columns) == sum(count_cells(one, rows, columns) for one in expected)


def test_the_rest_of_a_huge_grid_is_not_made():
    grid = WindowGrid(2_000_000_000)
    rest = RestOfGrid(grid, grid.pairs // 3)
    first = next(iter(rest))
    assert first.pairs < grid.size**2
    assert next(iter(RestOfGrid(grid, grid.pairs - 1))).pairs == 1


@settings(max_examples=examples(100))
@given(plans, st.integers(0, 900), st.integers(0, 900), st.integers(1, 900), st.integers(0, 4))
def test_joined_windows_have_the_same_pairs_in_the_same_order(plan, first, stop, most, alone):
    windows = list(restrict_windows(plan_windows(*plan), first, stop))
    joined = list(join_windows(windows, lambda one: one.pairs <= most, alone))
    assert joined[max(len(joined) - alone, 0) :] == windows[max(len(windows) - alone, 0) :]
    found = []
    for window in joined:
        pairs = pairs_of(window)
        numbers = np.arange(len(pairs))
        placed = order_of_windows(window, numbers, plan[2])
        order, keys = (numbers, numbers) if placed is None else placed
        assert (np.diff(keys) > 0).all()
        found += [pairs[k] for k in order]
        assert window in windows or len(pairs) <= most
    assert found == [pair for window in windows for pair in pairs_of(window)]


def test_windows_are_joined():
    joined = list(join_windows(plan_windows(40, None, 10), lambda one: one.pairs <= 250, 2))
    assert [(one.row_start, one.column_start, one.column_stop) for one in joined] == [
        (0, 0, 30),
        (0, 30, 40),
        (10, 10, 40),
        (20, 20, 30),
        (20, 30, 40),
        (30, 30, 40),
    ]


def test_only_some_pairs_of_joined_windows():
    """The numbers are those of the joined window, and keys go by pairs alone."""
    window = Window(0, 0, 4, 4, 10, True)
    some, all_ = np.array([1, 5, 6, 13]), np.arange(24)
    few, every = order_of_windows(window, some, 4), order_of_windows(window, all_, 4)
    assert few[0].tolist() == [0, 2, 3, 1]  # columns 5, 4, 5 are of the first window, 9 is not
    key_of = dict(zip(all_[every[0]].tolist(), every[1].tolist(), strict=True))
    assert few[1].tolist() == [key_of[k] for k in some[few[0]].tolist()]
    assert order_of_windows(window, some, 10) is None
