"""What `OpenClEngine` delegates to: families of kernels, and what they may use of a device.

The counterpart of `pairalign.engines.cuda.cuda_family`, for devices whose memory comes in buffers
of limited size and whose kernels take them as arguments one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Int32s
from pairalign.engines.device.batch_pipeline import BatchPipeline
from pairalign.engines.device.device_sets import FamilyContext
from pairalign.engines.device.pinned_pool import PinnedPool
from pairalign.engines.opencl.opencl_devices import OpenClDevice
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring

if TYPE_CHECKING:
    import pyopencl


@dataclass(kw_only=True)
class OpenClContext(FamilyContext):
    """One device as a kernel family sees it: its queue, its memory, the sequences on it.

    Attributes
    ----------
    queue : pyopencl.CommandQueue
        Everything is queued in order; a family waits for it before it returns.
    pool : PinnedPool or None
        Memory for results that the device copies to directly; None where that is all memory.
    """

    device: OpenClDevice
    queue: pyopencl.CommandQueue
    pool: PinnedPool | None

    def pipeline(self, memory_bytes: int) -> BatchPipeline[Arena]:
        """Return a pipeline of one batch at a time, which takes `memory_bytes` at most."""
        return BatchPipeline(
            [Arena(self)],
            self.device.cl,
            memory_bytes,
            check_cancelled=self.check_cancelled,
            halve=self.halve,
        )

    def allocate(self, size_bytes: int) -> Any:
        """Return a buffer; raises PyOpenCL's MemoryError now, not when it is first used."""
        cl = self.device.cl
        buffer = cl.Buffer(self.queue.context, cl.mem_flags.READ_WRITE, max(4, size_bytes))
        # Drivers may put off the allocation until something is written.
        cl.enqueue_copy(self.queue, buffer, np.zeros(4, np.uint8), is_blocking=True)
        return buffer

    def upload(self, array: npt.NDArray[Any]) -> Any:
        """Return a new buffer with the contents of an array."""
        buffer = self.allocate(array.nbytes)
        if array.nbytes:
            self.write(buffer, array)
        return buffer

    def write(self, buffer: pyopencl.Buffer, array: npt.NDArray[Any]) -> None:
        """Copy an array to the start of a buffer."""
        if array.nbytes:
            self.device.cl.enqueue_copy(self.queue, buffer, array, is_blocking=True)

    def read(self, array: npt.NDArray[Any], buffer: pyopencl.Buffer, offset_bytes: int = 0) -> None:
        """Copy part of a buffer to a contiguous array, and wait for it."""
        if array.nbytes:
            self.device.cl.enqueue_copy(
                self.queue, array, buffer, src_offset=offset_bytes, is_blocking=True
            )

    def read_fields(self, fields: Int32s, place: slice, buffer: pyopencl.Buffer) -> None:
        """Copy a batch's results, a row of int32 a field, to their place in `fields`."""
        pairs = place.stop - place.start
        if fields.shape[1] == pairs:  # a batch is the whole window
            self.read(fields, buffer)
            return
        for k, row in enumerate(fields):
            self.read(row[place], buffer, 4 * k * pairs)

    def kernel_of(self, source: str, name: str, defines: Mapping[str, int | str]) -> Any:
        """Return a kernel of this engine's own: arguments belong to the kernel object."""
        return self.device.cl.Kernel(self.device.build(source, defines), name)

    def launch(
        self, kernel: Any, groups: int, group_items: int, arguments: Sequence[object]
    ) -> None:
        """Queue a kernel on `groups` work-groups of `group_items`; flush, do not wait."""
        self.kernel = str(kernel.function_name)
        for place, argument in enumerate(arguments):
            kernel.set_arg(place, argument)
        self.device.cl.enqueue_nd_range_kernel(
            self.queue, kernel, (groups * group_items,), (group_items,)
        )
        self.queue.flush()


class Arena:
    """Named buffers of one engine, used again from batch to batch and grown when needed.

    A slot of `pairalign.engines.device.batch_pipeline.BatchPipeline`.
    """

    def __init__(self, context: OpenClContext) -> None:
        self._context = context
        self._buffers: dict[str, tuple[int, Any]] = {}

    def arrange(self, sizes: Mapping[str, int], limit_bytes: int) -> dict[str, Any]:
        """Return a buffer of at least the given bytes for each name; what they held is lost.

        Buffers that other batches needed give way when all together would exceed `limit_bytes`.
        """
        needed = {
            name: size for name, size in sizes.items() if self._buffers.get(name, (0,))[0] < size
        }
        for name in needed:  # before anything is allocated in their place
            self._free(name)
        held_bytes = sum(size for size, _ in self._buffers.values())
        if held_bytes + sum(needed.values()) > limit_bytes:
            self.free_arena()
            needed = dict(sizes)
        for name, size in needed.items():
            self._buffers[name] = size, self._context.allocate(size)
        return {name: self._buffers[name][1] for name in sizes}

    def settle(self) -> None:
        """Wait for all that is queued."""
        self._context.queue.finish()

    def free_arena(self) -> None:
        """Give all memory back; nothing may be under way."""
        for name in list(self._buffers):
            self._free(name)

    def close(self) -> None:
        """Give all memory back."""
        self.free_arena()

    def _free(self, name: str) -> None:
        _, buffer = self._buffers.pop(name, (0, None))
        if buffer is not None:
            buffer.release()


class OpenClFamily(Protocol):
    """One way to align windows on a device. An instance belongs to one engine and one thread."""

    name: str
    """What ``--kernel`` and messages call it."""

    def supports(self, scoring: Scoring, detail: Detail, device: OpenClDevice) -> str | None:
        """None when the family can do this on such a device, else the reason why not."""
        ...

    def open(self, context: OpenClContext) -> None:
        """Upload tables. Sequences are already on the device."""
        ...

    def align(self, window: Window, want: Want, pair_mask: Bools | None) -> Alignments:
        """Align the pairs of a window, in their order; columns of strand -1 reverse-complemented.

        Raises
        ------
        DeviceError
            Even the smallest batch finds no room: a family halves its batches by itself.
        pyopencl.Error
            Anything else that fails; the engine makes it a DeviceError.
        """
        ...

    def close(self) -> None:
        """Free device memory."""
        ...
