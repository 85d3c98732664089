"""What windows cost, as shards are cut."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pairalign.jobs.run.shards import PAIR_CELLS, weigh_letters
from pairalign.pairs.windows import Window, count_cells


def cost(windows: Iterable[Window], rows: np.ndarray, columns: np.ndarray) -> int:
    """Cells of all pairs, and what a pair itself counts."""
    rows, columns = weigh_letters(rows), weigh_letters(columns)
    return sum(count_cells(w, rows, columns) + PAIR_CELLS * w.pairs for w in windows)
