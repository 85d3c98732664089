"""The pairs of a window on their way through the pipeline, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.engines.cuda.block_diagonals.block_diagonals_plan import (
    Layout,
    Shape,
    Task,
    cut_batch,
)
from pairalign.engines.cuda.block_diagonals.block_diagonals_results import Chosen
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.engines.device.batch_pipeline import BatchTask
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window

AlignBatch = Callable[
    [Chosen, slice, npt.NDArray[np.bool_], list[Shape], Layout, dict[str, int], Want], Alignments
]
"""What aligns pairs that have their place on the device."""


@dataclass(frozen=True)
class DiagonalBatch:
    """Some pairs of a task from `first` on; `layout`: None where a single one does not fit."""

    first: int
    count: int
    layout: Layout | None

    @property
    def pairs(self) -> slice:
        """Where they are among the task's."""
        return slice(self.first, self.first + self.count)


class WindowTask(BatchTask[int, DiagonalBatch, Slot, Alignments]):
    """Pairs of a window on their way through the pipeline; work is the number of the first one."""

    def __init__(
        self,
        align: AlignBatch,
        context: DeviceContext,
        window: Window,
        want: Want,
        chosen: Chosen,
        swapped: npt.NDArray[np.bool_],
        shapes: list[Shape],
        task: Task,
    ) -> None:
        self.parts: list[Alignments] = []
        self._align = align
        self._context = context
        self._window = window
        self._want = want
        self._chosen = chosen
        self._swapped = swapped
        self._shapes = shapes
        self._task = task

    def plan(self, work: int, limit_bytes: int) -> Iterator[DiagonalBatch]:
        """Yield batches of the pairs from `work` on that fit some memory."""
        first = work
        while first < len(self._shapes):
            count, layout = cut_batch(self._shapes, first, self._task, limit_bytes)
            yield DiagonalBatch(first, count, layout)
            first += count

    def rest(self, work: int, batch: DiagonalBatch) -> list[int]:
        """Return what is to be planned again where a batch found no memory."""
        return [batch.first]

    def array_bytes(self, batch: DiagonalBatch) -> dict[str, int]:
        """Return what the arrays of a batch take."""
        assert batch.layout is not None
        return batch.layout.sizes

    def is_for_host(self, batch: DiagonalBatch) -> bool:
        """Whether no layout fits, so that the CPU aligns the pair."""
        return batch.layout is None

    def align_on_host(self, batch: DiagonalBatch) -> None:
        """Align a pair on the CPU."""
        row = int(self._chosen.rows[batch.first])
        column = int(self._chosen.columns[batch.first])
        window = self._window
        pair_window = Window(window.index, row, row + 1, column, column + 1, window.triangular)
        self.parts.append(self._context.align_on_host(pair_window, self._want))

    def start(self, batch: DiagonalBatch, slot: Slot, addresses: dict[str, int]) -> Alignments:
        """Align a batch."""
        assert batch.layout is not None
        return self._align(
            self._chosen,
            batch.pairs,
            self._swapped[batch.pairs],
            self._shapes[batch.pairs],
            batch.layout,
            addresses,
            self._want,
        )

    def finish(self, slot: Slot, flight: Alignments) -> None:
        """Keep the alignments of a batch."""
        self.parts.append(flight)
