"""Windows of either strand, batch by batch: what families of kernels of OpenCL have in common.

The columns of a window of strand -1 are reverse-complemented on the device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools
from pairalign.engines.device.batch_pipeline import BatchPipeline, Flight
from pairalign.engines.device.device_rectangles import BatchT, RectangleTask
from pairalign.engines.device.device_sets import END_PADDING, padded_lengths
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.engines.opencl.opencl_family import Arena, OpenClContext
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window
from pairalign.sequences.complement import complement_of

if TYPE_CHECKING:
    import pyopencl

SOURCE = "reverse_complement.cl"
_GROUP_ITEMS = 32


class ReversedColumns:
    """What kernels read as the codes of the second set, for one window after the other.

    Attributes
    ----------
    codes : buffer
        The set as it is, or the reverse-complemented columns of the window.
    shift : int
        What to take off the starts of sequences to find them in `codes`.
    """

    def __init__(self, context: OpenClContext) -> None:
        self._context = context
        self._buffer: pyopencl.Buffer | None = None
        self._bytes = 0
        self._complement: pyopencl.Buffer | None = None
        self._kernel: pyopencl.Kernel | None = None
        self.codes = context.targets.codes
        self.shift = 0

    def prepare(self, window: Window, arena: Arena) -> int:
        """Make ready the columns of a window; return the bytes that this takes.

        The memory of `arena` makes way if there is not enough.

        Raises
        ------
        AlphabetError
            The window's strand is -1 and the sequences are not DNA.
        pyopencl.MemoryError
            There is no room.
        """
        context = self._context
        if window.strand == 1 or not window.pairs:
            self.codes, self.shift = context.targets.codes, 0
            return self._bytes
        complement = complement_of(context.scoring.alphabet)
        padded = padded_lengths(context.targets.lengths)
        first, stop = window.column_start, window.column_stop
        needed = int(padded[first:stop].sum()) + END_PADDING
        if needed > self._bytes:
            self.free()
            try:
                self._buffer = context.allocate(needed)
            except context.device.cl.MemoryError:
                arena.free_arena()
                self._buffer = context.allocate(needed)
            self._bytes = needed
        if self._kernel is None:
            self._complement = context.upload(complement)
            self._kernel = context.kernel_of(SOURCE, "reverse_complement", {})
        targets = context.targets
        context.launch(
            self._kernel,
            stop - first,
            _GROUP_ITEMS,
            [
                targets.codes,
                targets.starts,
                targets.device_lengths,
                self._complement,
                self._buffer,
                np.int32(first),
            ],
        )
        self.codes, self.shift = self._buffer, int(padded[:first].sum())
        return self._bytes

    def free(self) -> None:
        """Give the memory back."""
        if self._buffer is not None:
            self._buffer.release()
        self._buffer, self._bytes = None, 0


class WindowFamily:
    """A family that aligns a window as a rectangle, which it cuts into batches."""

    def open(self, context: OpenClContext) -> None:
        """Upload the matrix; kernels are built when a window needs them."""
        self._context = context
        matrix = np.ascontiguousarray(context.scoring.matrix, dtype=np.int32)
        self._matrix = context.upload(matrix)
        self._reversed = ReversedColumns(context)
        self._pipeline: BatchPipeline[Arena] = context.pipeline(
            context.memory_bytes - matrix.nbytes
        )
        self._kernels: dict[tuple[object, ...], Any] = {}

    def close(self) -> None:
        """Free what `open` and `align` took."""
        self._pipeline.close()
        self._reversed.free()
        self._matrix.release()
        self._kernels = {}

    def run_task(self, task: WindowTask[BatchT, Flight]) -> Alignments:
        """Align the pairs of a window, as a task says."""
        (arena,) = self._pipeline.slots
        held_bytes = self._reversed.prepare(task.window, arena)
        self._pipeline.run(task, Rectangle.of(task.window), held_bytes)
        sets = self._context.queries.sequences, self._context.targets.sequences
        return task.assembly.finish(*sets, self._context.scoring)


class WindowTask(RectangleTask[BatchT, Arena, Flight], Generic[BatchT, Flight]):
    """A window on its way through the pipeline."""

    def __init__(
        self, context: OpenClContext, window: Window, want: Want, pair_mask: Bools | None
    ) -> None:
        super().__init__(context, Rectangle.of(window), want, pair_mask, window.strand)
        self.window = window
        self._context = context
