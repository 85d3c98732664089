"""Near pairs of short sequences on GPUs: the same ones, with the same values, as on cores.

The kernels are in ``cuda/near/``; what is compared comes from
`pairalign.engines.cpu.near_pairs`, or is a `PairKernel` of another module.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s, Structs
from pairalign.base.error_types import DeviceError
from pairalign.base.native import struct_dtype
from pairalign.engines.cpu.near_pairs import NearProblem, NearSide, Part, by_input_index
from pairalign.engines.cuda.buffers import Slot, Uploads
from pairalign.engines.cuda.build import ModuleRequest
from pairalign.engines.cuda.cuda_device import CudaDevice

LONGEST = 64
"""Residues of a sequence, at most: as in the kernel's source."""

_ROWS, _COLUMNS = 64, 128
"""Of a block: as in cuda/near/near.cuh."""
_MOST_GRID = 65_535
_PAIRS_AT_ONCE = 1 << 33
_MOST_FOUND = 1 << 24
"""Pairs that there is room for; of more, half the rows are compared at a time."""

FOUND = struct_dtype("int32 row column value")
"""NearFound in cuda/near/near.cuh."""
SIDE = struct_dtype("uint64 codes starts lengths weights spares")
"""NearSide in cuda/near/near.cuh."""
ARGUMENTS = struct_dtype(
    "Side rows columns; uint64 opposite gaps found count; int64 capacity; "
    "int32 row_start row_stop column_count triangular open least_gap limit unused",
    Side=SIDE,
)
"""NearArguments in cuda/near/near.cuh."""


class PairKernel(Protocol):
    """A kernel that finds pairs, and what it is given.

    Attributes
    ----------
    source, name : str
    orders : two ndarrays of int32
        Input index of each row, and of each column.
    one_set : bool
    fits : bool
        Whether the kernel compares such sequences.
    """

    @property
    def source(self) -> str: ...  # noqa: D102

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def orders(self) -> tuple[Int32s, Int32s]: ...  # noqa: D102

    @property
    def one_set(self) -> bool: ...  # noqa: D102

    @property
    def fits(self) -> bool: ...  # noqa: D102

    def pairs_of(self, start: int, stop: int) -> int:
        """Return the number of pairs of some rows."""

    def arguments(self, copy: Callable[[npt.NDArray[Any]], int]) -> Structs:
        """Return the kernel's struct, less the rows, ``found``, ``count`` and ``capacity``.

        `copy` puts an array on the device and returns its address.
        """


class NearKernel:
    """The kernel of drops and edits, a `PairKernel`: for short sequences, where gaps cost."""

    source, name = "near/near.cu", "find_near"

    def __init__(self, problem: NearProblem) -> None:
        self._problem = problem
        self.orders = problem.rows.order, problem.columns.order
        self.one_set, self.pairs_of = problem.one_set, problem.pairs_of

    @property
    def fits(self) -> bool:
        """Whether the kernel compares such sequences."""
        problem = self._problem
        longest = max(int(side.lengths.max()) for side in (problem.rows, problem.columns))
        return longest <= LONGEST and int(problem.gaps.min()) > 0

    def arguments(self, copy: Callable[[npt.NDArray[Any]], int]) -> Structs:
        """Put sets and costs on the device; see `PairKernel`."""

        def upload(side: NearSide) -> tuple[int, ...]:
            arrays = (side.codes, side.starts, side.lengths, side.weights, side.spares)
            return tuple(copy(array) for array in arrays)

        problem = self._problem
        arguments = np.zeros((), ARGUMENTS)
        arguments["rows"] = rows = upload(problem.rows)
        arguments["columns"] = rows if problem.one_set else upload(problem.columns)
        arguments["opposite"] = copy(problem.opposite)
        arguments["gaps"] = copy(problem.gaps)
        arguments["column_count"] = len(problem.columns.order)
        arguments["triangular"] = problem.one_set
        arguments["open"], arguments["limit"] = problem.open, problem.limit
        arguments["least_gap"] = problem.gaps.min()
        return arguments


def load(device: CudaDevice, kernel: PairKernel) -> Any:
    """Return the kernel, compiled if need be.

    Raises
    ------
    KernelBuildError
        It cannot be had.
    """
    with device.current():
        return device.load_modules([ModuleRequest(kernel.source, {})])[0].get_function(kernel.name)


def search(
    devices: Sequence[Any],
    kernel: PairKernel,
    progress: Callable[[int], None],
    *,
    at_once: int = _PAIRS_AT_ONCE,
    most_found: int = _MOST_FOUND,
) -> Iterator[Part]:
    """Find pairs on some GPUs.

    Parameters
    ----------
    devices : sequence of CudaDevice
    kernel : PairKernel
        Which `fits`.
    at_once : int
        Pairs between two calls of `progress`.
    most_found : int
        Near pairs that there is room for at a time; at least those of a row.

    Raises
    ------
    DeviceError
        A device fails.
    KernelBuildError
        The kernel cannot be had.
    """
    count, width = map(len, kernel.orders)
    step = max(_ROWS, min(at_once // width, _MOST_GRID * _ROWS) // _ROWS * _ROWS)
    blocks = [(start, min(start + step, count)) for start in range(0, count, step)]
    with ExitStack() as stack:
        room = max(width, most_found)
        used = devices[: len(blocks)]
        free: queue.SimpleQueue[_OnGpu] = queue.SimpleQueue()
        for device in used:
            opened = _OnGpu(device, kernel, room)
            stack.callback(opened.close)
            free.put(opened)

        def compare(block: tuple[int, int]) -> list[Part]:
            gpu = free.get()
            try:
                return list(gpu.compare(*block))
            finally:
                free.put(gpu)

        pool = ThreadPoolExecutor(len(used), "near pairs")
        stack.callback(pool.shutdown, cancel_futures=True)
        for block, parts in zip(blocks, pool.map(compare, blocks), strict=True):
            yield from parts
            progress(kernel.pairs_of(*block))


class _OnGpu:
    """A kernel and what it is given on a device.

    Parameters
    ----------
    device : CudaDevice
    kernel : PairKernel
        Which `fits`.
    room : int
        Pairs that are found at a time; at least those of a row.
    """

    def __init__(self, device: CudaDevice, kernel: PairKernel, room: int) -> None:
        self._device, self._kernel, self._room = device, kernel, room
        self._uploads = Uploads(device.driver)
        self._slot: Slot | None = None
        self._function = load(device, kernel)
        driver = device.driver
        try:
            with device.current():
                self._arguments = kernel.arguments(self._uploads.address)
                self._arguments["capacity"] = room
                self._slot = Slot(driver, grows=False)
        except driver.Error as error:
            self.close()
            raise DeviceError(f"{device.name}: near pairs: {error}") from error

    def close(self) -> None:
        """Free what is on the device."""
        with self._device.current():
            if self._slot is not None:
                self._slot.close()
            self._uploads.free()
        self._slot = None

    def compare(self, start: int, stop: int) -> Iterator[Part]:
        """Find the near pairs of some rows; in halves where there is no room for them."""
        pairs = self._launch(start, stop)
        if pairs is None:
            middle = (start + stop) // 2
            yield from self.compare(start, middle)
            yield from self.compare(middle, stop)
            return
        positions = (pairs["row"], pairs["column"], pairs["value"].copy())
        yield by_input_index(positions, self._kernel.orders, one_set=self._kernel.one_set)

    def _launch(self, start: int, stop: int) -> Structs | None:
        """Compare some rows with all columns; None: more pairs are near than there is room for."""
        slot, driver, room = self._slot, self._device.driver, self._room
        assert slot is not None
        arguments = self._arguments.copy()
        arguments["row_start"], arguments["row_stop"] = start, stop
        grid = -(-len(self._kernel.orders[1]) // _COLUMNS), -(-(stop - start) // _ROWS)
        try:
            with self._device.current():
                at = slot.arrange({"found": room * FOUND.itemsize, "count": 8}, 1 << 62)
                arguments["found"], arguments["count"] = at["found"], at["count"]
                slot.upload("zero", np.zeros(1, np.uint64), at["count"])
                self._function(arguments[()], block=(_COLUMNS, 1, 1), grid=grid, stream=slot.stream)
                count = slot.download("count", 1, np.uint64, at["count"])
                slot.wait()
                if count[0] > room:
                    return None
                pairs = slot.download("found", int(count[0]), FOUND, at["found"])
                slot.wait()
                return pairs
        except driver.Error as error:
            name = self._kernel.name
            raise DeviceError(f"{self._device.name}: kernel {name} failed: {error}") from error
