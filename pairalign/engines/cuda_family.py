"""What `CudaEngine` delegates to: families of kernels, and what they may use of a device.

A *kernel family* is one way to align the pairs of a window on a GPU: `PairPerThread` holds the
kernels of gpu-pairAlign, others may be faster for some scorings or need no quadratic memory. The
engine opens one family on one device, hands it windows and turns its failures into errors that
name device, kernel and window. Everything that touches the driver goes through `DeviceContext`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.engines import Detail, Want
from pairalign.engines.cuda_pool import PinnedPool
from pairalign.errors import DeviceError
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet
from pairalign.windows import Window

LEAST_BATCH_BYTES = 1 << 20
"""A device with less room than this for a batch is out of memory."""

SEQUENCE_ALIGNMENT = 16
"""Every sequence starts at a multiple of so many bytes on the device (one 128-bit load)."""

PADDING_CODE = 31
"""Code of the bytes between sequences; never a letter of an alphabet in use."""


@dataclass(frozen=True)
class DeviceSet:
    """A sequence set as it lies on a device, sequences in sorted order (longest first).

    Attributes
    ----------
    sequences : SequenceSet
        The set on the host.
    lengths : int32[n]
        Host copy of the lengths by *sorted position* (``sequences.lengths`` is by input index).
    codes, starts, device_lengths, order : device pointers (anything PyCUDA takes as one)
        ``codes`` uint8: the letters' codes, each sequence at a multiple of `SEQUENCE_ALIGNMENT`,
        followed by `PADDING_CODE` up to the next; at least 64 padding bytes end the array.
        ``starts`` int64[n]: first byte of each sorted position in ``codes``.
        ``device_lengths`` int32[n]: lengths by sorted position.
        ``order`` int32[n]: sorted position -> input index.
    """

    sequences: SequenceSet
    lengths: npt.NDArray[np.int32]
    codes: Any
    starts: Any
    device_lengths: Any
    order: Any


@dataclass
class DeviceContext:
    """One device as a kernel family sees it. The CUDA context is current whenever a family runs.

    Attributes
    ----------
    name : str
        ``cuda:0``; for messages and thread names.
    driver : module
        ``pycuda.driver`` (or a stand-in with the same names).
    capability : (int, int)
        Compute capability.
    multiprocessors : int
    memory_bytes : int
        How much device memory the family may hold at a time, all its buffers together.
    scoring : Scoring
    queries, targets : DeviceSet
        The same object for one set against itself.
    load_module : callable (source, defines) -> module
        Compiles ``cuda/<source>`` for this device (or finds it compiled) and loads it;
        ``defines`` become ``-DNAME=VALUE``. Raises KernelBuildError.
    pool : PinnedPool
        Pinned host memory for results: the device copies straight into the arrays returned.
    align_on_host : callable (window, want) -> Alignments
        The CPU engine, for pairs too large for the device; says so once in the log.
    check_cancelled : callable () -> None
        Raises when the run was cancelled; call it between batches.
    kernel : str
        The kernel launched last; set it before each launch, errors quote it.
    log : logging.Logger
    """

    name: str
    driver: Any
    capability: tuple[int, int]
    multiprocessors: int
    memory_bytes: int
    scoring: Scoring
    queries: DeviceSet
    targets: DeviceSet
    load_module: Callable[[str, Mapping[str, int | str]], Any]
    pool: PinnedPool
    align_on_host: Callable[[Window, Want], Alignments]
    check_cancelled: Callable[[], None]
    kernel: str = "(none)"
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("pairalign"))

    @property
    def one_set(self) -> bool:
        """True when a set is aligned with itself."""
        return self.queries is self.targets

    def halve(self, limit_bytes: int, batch_bytes: int) -> int:
        """Return what batches may take after one of `batch_bytes` found no room; log it.

        Raises
        ------
        DeviceError
            That would be less than `LEAST_BATCH_BYTES`.
        """
        halved = min(limit_bytes, batch_bytes) // 2
        if halved < LEAST_BATCH_BYTES:
            raise DeviceError(
                f"{self.name}: out of memory: not even batches of {LEAST_BATCH_BYTES >> 20} MiB "
                "find room; is another program using the device?"
            )
        self.log.info("%s: out of memory, going on with batches of %d MiB", self.name, halved >> 20)
        return halved


class KernelFamily(Protocol):
    """One way to align windows on a device. An instance belongs to one engine and one thread."""

    name: str
    """What ``--kernel`` and messages call it."""

    def supports(self, scoring: Scoring, detail: Detail, capability: tuple[int, int]) -> str | None:
        """None when the family can do this on such a device, else the reason why not."""
        ...

    def variants(self) -> Iterable[tuple[str, Mapping[str, int | str]]]:
        """Yield every (source, defines) that `load_module` may be asked for, for `make cuda`."""
        ...

    def open(self, context: DeviceContext) -> None:
        """Load modules and upload tables. Sequences are already on the device."""
        ...

    def align(self, window: Window, want: Want) -> Alignments:
        """Align the pairs of a window, in their order.

        Raises
        ------
        driver.MemoryError
            May escape only when even the smallest batch does not fit; a family halves its batches
            by itself.
        driver.Error
            Anything else the driver reports; the engine makes it a DeviceError.
        """
        ...

    def close(self) -> None:
        """Free device and pinned memory; the CUDA context is current."""
        ...
