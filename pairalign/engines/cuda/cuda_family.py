"""What `CudaEngine` delegates to: families of kernels, and what they may use of a device.

A *kernel family* is one way to align the pairs of a window on a GPU: `PairPerThread` holds the
kernels of gpu-pairAlign, others may be faster for some scorings or need no quadratic memory. The
engine opens one family on one device, hands it windows and turns its failures into errors that
name device, kernel and window. Everything that touches the driver goes through `DeviceContext`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Int32s, UInt8s, distinct
from pairalign.engines.cuda.buffers import SharedStreams, Slot
from pairalign.engines.cuda.build import ModuleRequest
from pairalign.engines.cuda.pinning import Pinning
from pairalign.engines.device.batch_pipeline import BatchPipeline
from pairalign.engines.device.device_sets import DeviceSet, FamilyContext
from pairalign.engines.device.pinned_pool import PinnedPool
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.reads.reaching_pairs import ReachingPairs
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.residues import codes_in

__all__ = ["DeviceContext", "DeviceSet", "KernelFamily"]


USUAL_SHARED_BYTES = 48 << 10
"""Shared memory of a block that every device gives without asking."""


@dataclass(kw_only=True)
class DeviceContext(FamilyContext):
    """One device as a kernel family sees it. The CUDA context is current whenever a family runs.

    Attributes
    ----------
    driver : module
        ``pycuda.driver`` (or a stand-in with the same names).
    capability : (int, int)
        Compute capability.
    columns : DeviceSet
        `targets` as the window under way aligns them: of a window of strand -1, ``codes`` holds the
        window's columns reverse-complemented (and nothing else). Set by the engine.
    load_module : callable (source, defines) -> module
        Compiles ``cuda/<source>`` for this device (or finds it compiled) and loads it;
        ``defines`` become ``-DNAME=VALUE``. Raises KernelBuildError.
    load_modules : callable (sequence of ModuleRequest) -> list of modules
        The same for several, which are compiled at the same time.
    compile_ahead : callable (sequence of ModuleRequest) -> None
        Begins to compile what of them must be, and returns at once: for what later windows need.
    detail : Detail
        The most detail of all windows.
    pinning : Pinning
        Makes pinned host memory.
    pool : PinnedPool
        Pinned host memory for results: the device copies straight into the arrays returned.
    streams : SharedStreams
        Streams for kernels, shared by all engines on the device.
    """

    driver: ModuleType
    capability: tuple[int, int]
    multiprocessors: int
    load_module: Callable[[str, Mapping[str, int | str]], Any]
    load_modules: Callable[[Sequence[ModuleRequest]], list[Any]]
    compile_ahead: Callable[[Sequence[ModuleRequest]], None]
    detail: Detail
    pinning: Pinning
    pool: PinnedPool
    streams: SharedStreams
    columns: DeviceSet = field(init=False)

    def __post_init__(self) -> None:
        self.columns = self.targets

    def used_codes(self) -> UInt8s:
        """Return the codes of the sets' residues, ascending, with those of the other strand."""
        sets = [self.queries] if self.one_set else [self.queries, self.targets]
        codes = np.concatenate([codes_in(device_set.sequences) for device_set in sets])
        complement = self.scoring.alphabet.complement
        if complement is not None:  # a window may want the other strand
            codes = np.concatenate((codes, complement[codes]))
        return distinct(codes).astype(np.uint8)

    def upload(self, array: npt.NDArray[Any]) -> Any:
        """Return a new allocation on the device with the contents of an array."""
        allocation = self.driver.mem_alloc(array.nbytes)
        self.driver.memcpy_htod(allocation, array)
        return allocation

    def pipeline(self, slots: int, memory_bytes: int, *, grows: bool = True) -> BatchPipeline[Slot]:
        """Return a pipeline of `batches` batches at a time, which share `memory_bytes`.

        `grows`: see `pairalign.engines.cuda.buffers.Slot`.
        """
        return BatchPipeline(
            [Slot(self.driver, grows=grows, pinning=self.pinning) for _ in range(slots)],
            self.driver,
            memory_bytes // slots,
            check_cancelled=self.check_cancelled,
            halve=self.halve,
        )


Numbers = npt.NDArray[np.signedinteger]
"""Pairs of a window by their numbers in it."""


class KernelFamily(Protocol):
    """One way to align windows on a device. An instance belongs to one engine and one thread.

    Families are derived from it: what one cannot do stays as it is here.
    """

    name: str
    """What ``--kernel`` and messages call it."""

    def supports(self, scoring: Scoring, detail: Detail, capability: tuple[int, int]) -> str | None:
        """None when the family can do this on such a device, else the reason why not."""
        ...

    def variants(self) -> Iterable[tuple[str, Mapping[str, int | str]]]:
        """Yield every (source, defines) that `load_module` may compile, for `make cuda`."""
        ...

    def open(self, context: DeviceContext) -> None:
        """Load modules and upload tables. Sequences are already on the device."""
        ...

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of a window, or those `pair_mask` (bool[pairs]) names, in order.

        Raises
        ------
        driver.MemoryError
            May escape only when even the smallest batch does not fit; a family halves its batches
            by itself.
        driver.Error
            Anything else the driver reports; the engine makes it a DeviceError.
        """
        ...

    def reach(self, window: Window, least: int, least_by_end: Int32s) -> ReachingPairs | None:
        """Score all pairs of a window; see `CudaEngine.reach`. None: it cannot."""
        return None

    def align_numbers(self, window: Window, want: Want, numbers: Numbers) -> Alignments | None:
        """Align some pairs of a window; see `CudaEngine.align_numbers`. None: it cannot."""
        return None

    def expect(self, window: Window, pair_mask: Bools) -> None:
        """Learn which pairs will come, of a window that has all: compile nothing else at once."""
        return

    def compile_ahead(self, traced: bool) -> None:
        """Begin to compile what scores or, `traced`, alignments need, once."""
        return

    def release(self) -> None:
        """Free the memory of batches; the next batch allocates it again. Nothing is under way."""
        ...

    def close(self) -> None:
        """Free device and pinned memory; the CUDA context is current."""
        ...
