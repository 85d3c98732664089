"""Pairs of some queries: which pairs of slabs count, and how much of a window a slab holds."""

from dataclasses import dataclass

import numpy as np
import pytest

from pairalign.jobs.run.all_pairs import AllPairs, PairsOfQueries
from pairalign.pairs.windows import UNLIMITED, Window, WindowGrid

PAIR_BYTES, RESIDUE_BYTES = 100, 2.0


@dataclass
class Given:
    """What pairs are planned of: windows, lengths of both sides, which of the rows are queries."""

    windows: WindowGrid
    rows: np.ndarray
    others: np.ndarray
    are_queries: np.ndarray

    def planned(self) -> PairsOfQueries:
        return PairsOfQueries(self.windows, self.rows, self.others, self.are_queries)


def make(count: int, columns: int | None, size: int, queries: int) -> Given:
    rng = np.random.default_rng(count + size)
    rows = np.sort(rng.integers(1, 400, count))[::-1].copy()
    others = rows if columns is None else np.sort(rng.integers(1, 400, columns))[::-1].copy()
    are_queries = np.zeros(count, np.bool_)
    are_queries[rng.choice(count, queries, replace=False)] = True
    return Given(WindowGrid(count, columns, size), rows, others, are_queries)


def counting(queries: np.ndarray, slab: Window) -> np.ndarray:
    """Say of each pair whether it counts, one at a time."""
    return np.array(
        [
            queries[row] or (slab.triangular and queries[column])
            for row, column in zip(*slab.positions(), strict=True)
        ],
        np.bool_,
    )


CASES = [(60, None, 16), (60, None, 100), (50, 70, 32), (33, None, 1)]


@pytest.mark.parametrize("limit", [1, 20_000, 10**9])
@pytest.mark.parametrize(("count", "columns", "size"), CASES)
@pytest.mark.parametrize("queries", [0, 3, 33])
def test_slabs_hold_all_pairs_in_order(count, columns, size, queries, limit):
    given = make(count, columns, size, queries)
    planned = given.planned()
    slabs = list(planned.split(PAIR_BYTES, RESIDUE_BYTES, limit))
    held = [np.stack(slab.positions()) for slab in slabs]
    whole = [np.stack(window.positions()) for window in given.windows]
    assert np.array_equal(np.concatenate(held, axis=1), np.concatenate(whole, axis=1))
    rows, others = given.rows, given.others
    for slab, (first, second) in zip(slabs, held, strict=True):
        mask, expected = planned.mask_of(slab), counting(given.are_queries, slab)
        assert np.array_equal(np.ones_like(expected) if mask is None else mask, expected)
        assert planned.cells_of(slab) == (rows[first] * others[second])[expected].sum()
        letters = (rows[first] + others[second])[expected].sum()
        taken = PAIR_BYTES * expected.sum() + RESIDUE_BYTES * letters
        assert taken <= limit or slab.row_stop - slab.row_start == 1


def test_most_cells_are_of_pairs_that_count():
    planned = make(60, None, 100, 3).planned()
    most = planned.cells // 4
    slabs = list(planned.split(PAIR_BYTES, RESIDUE_BYTES, UNLIMITED, most))
    assert 4 <= len(slabs) <= 10
    for slab in slabs:
        assert planned.cells_of(slab) <= most or slab.row_stop - slab.row_start == 1


def test_few_queries_make_few_slabs():
    given = make(600, None, 1024, 6)
    limit = 20_000_000
    every = AllPairs(given.windows, given.rows, given.others)
    assert len(list(every.split(PAIR_BYTES, RESIDUE_BYTES, limit))) >= 5
    assert len(list(given.planned().split(PAIR_BYTES, RESIDUE_BYTES, limit))) == 1
