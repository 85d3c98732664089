"""Shards of lengths, and what windows cost, as shards are cut."""

from collections.abc import Iterable

import numpy as np

from pairalign.jobs.run.blocks import Pairs, cut_shard
from pairalign.jobs.run.slabs import PAIR_CELLS, weigh_residues
from pairalign.pairs.windows import Window, WindowGrid, count_cells


def cost(windows: Iterable[Window], rows: np.ndarray, columns: np.ndarray) -> int:
    """Cells of all pairs, and what a pair itself counts."""
    rows, columns = weigh_residues(rows), weigh_residues(columns)
    return sum(count_cells(w, rows, columns) + PAIR_CELLS * w.pairs for w in windows)


def shard_of(
    grid: WindowGrid, rows: np.ndarray, columns: np.ndarray, k: int, shards: int
) -> tuple[list[Window], list[Pairs]]:
    """Windows and pieces of a shard of sequences with these lengths."""
    return cut_shard(grid, lambda a, b: rows[a:b], lambda a, b: columns[a:b], (k, shards))
