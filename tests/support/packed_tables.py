"""What the tables of a packed batch say of a launch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.engines.cuda.packed.batches import Launch, PackedBatch


def items_of(batch: PackedBatch, launch: Launch) -> npt.NDArray[np.int32]:
    """Items, [n, 4]: first column, first place, place after the last, columns."""
    return _table(batch, launch.items_at, launch.items)


def chunks_of(batch: PackedBatch, launch: Launch) -> npt.NDArray[np.int32]:
    """Chunks, [n, 4]: item, first place, place after the last, 0."""
    return _table(batch, launch.chunks_at, launch.chunks)


def _table(batch: PackedBatch, start: int, count: int) -> npt.NDArray[np.int32]:
    return batch.tables[start : start + 16 * count].view(np.int32).reshape(count, 4)
