"""Numbers of optimal alignments on a GPU: those that cores count; see ``cuda/ties/ties.cu``."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from pairalign.alignments.tie_counts import Counts, TiePairs, TieProblem
from pairalign.base.arrays import Structs
from pairalign.base.error_types import DeviceError
from pairalign.base.native import struct_dtype
from pairalign.engines.cuda.buffers import Slot, Uploads
from pairalign.engines.cuda.build import ModuleRequest
from pairalign.engines.cuda.cuda_device import CudaDevice

SOURCE = "ties/ties.cu"
VARIANTS = tuple(
    {"PAIRALIGN_LOCAL": local, "PAIRALIGN_SAME": same} for local in (0, 1) for same in (0, 1)
)
LONG = 1024
"""Residues of the shorter sequence from which all lanes of a warp have a pair, not eight."""

_LANES = {"count_ties_8": 8, "count_ties_32": 32}
_BLOCK = 128
_MULTIPROCESSOR_BLOCKS = 7
"""That there are registers for."""
_MULTIPROCESSOR_CELLS_AT_ONCE = 1 << 29
"""Between two calls a run can be interrupted."""
_PAIRS_AT_ONCE = 1 << 20

PAIR = struct_dtype("int32 row column best; int8 row_set turned; int8*2 unused")
"""TiePair in cuda/ties/ties.cuh."""
ARGUMENTS = struct_dtype(
    "uint64*2 codes offsets; uint64 complement matrix pairs counts borders next; "
    "int32 count border open extend whole unused; int32*16 end_costs"
)
"""TieArguments in cuda/ties/ties.cuh."""


class CudaTies:
    """Counts on a GPU.

    Parameters
    ----------
    device : CudaDevice
    problem : TieProblem
    memory_bytes : int
        What may be used on the device.

    Attributes
    ----------
    multiprocessors : int
        Of the device.

    Raises
    ------
    KernelBuildError
        The kernels cannot be had.
    DeviceError
        The device fails.
    """

    def __init__(self, device: CudaDevice, problem: TieProblem, memory_bytes: int) -> None:
        self._device, self._limit = device, memory_bytes
        self.multiprocessors = device.multiprocessors
        self._uploads = Uploads(device.driver)
        self._slot: Slot | None = None
        driver = device.driver
        try:
            with device.current():
                module = device.load_modules([_module_of(problem)])[0]
                self._functions = {name: module.get_function(name) for name in _LANES}
                self._arguments = self._upload(problem)
                self._slot = Slot(driver, grows=False, pinning=device.pinning)
        except driver.MemoryError:
            self.close()
        except driver.Error as error:
            self.close()
            raise self._failed(error) from error

    def close(self) -> None:
        """Free what is on the device."""
        # Where the device has failed, an error before this one says so.
        with self._device.current(), suppress(self._device.driver.Error):
            if self._slot is not None:
                self._slot.close()
            self._uploads.free()
        self._slot = None

    def count(self, pairs: TiePairs) -> Counts | None:
        """Return the numbers of pairs; None: there is no room on the device.

        Raises
        ------
        DeviceError
            The device fails.
        """
        counts = np.empty(len(pairs), np.uint32)
        are_long = pairs.widths >= LONG
        cells = self.multiprocessors * _MULTIPROCESSOR_CELLS_AT_ONCE
        for name, chosen in zip(_LANES, map(np.flatnonzero, (~are_long, are_long)), strict=True):
            some = pairs[chosen]
            for part in some.cut(cells, _PAIRS_AT_ONCE):
                counted = self._launch(name, some[part])
                if counted is None:
                    return None
                counts[chosen[part]] = counted
        return counts

    def _launch(self, name: str, pairs: TiePairs) -> Counts | None:
        slot, driver, count = self._slot, self._device.driver, len(pairs)
        if slot is None:
            return None
        border = int(pairs.widths.max())
        sizes = {"pairs": count * PAIR.itemsize, "counts": count * 4, "next": 4}
        blocks = self._blocks(count, _BLOCK // _LANES[name], border * 16, sum(sizes.values()))
        if blocks < 1:
            return None
        sizes["borders"] = blocks * _BLOCK // _LANES[name] * border * 16
        try:
            with self._device.current():
                at = slot.arrange(sizes, self._limit)
                arguments = self._arguments.copy()
                for own in sizes:
                    arguments[own] = at[own]
                arguments["count"], arguments["border"] = count, border
                slot.upload("pairs", _structs_of(pairs), at["pairs"])
                slot.upload("next", np.zeros(1, np.int32), at["next"])
                self._functions[name](
                    arguments[()], block=(_BLOCK, 1, 1), grid=(blocks, 1), stream=slot.stream
                )
                counts = slot.download("counts", count, np.uint32, at["counts"])
                slot.wait()
                return counts
        except driver.MemoryError:
            return None
        except driver.Error as error:
            raise self._failed(error) from error

    def _blocks(self, pairs: int, block_pairs: int, border_bytes: int, other_bytes: int) -> int:
        """Return how many blocks work at a time: those that fill the device, if there is room."""
        room = (self._limit - other_bytes) // (block_pairs * border_bytes)
        most = self.multiprocessors * _MULTIPROCESSOR_BLOCKS
        return min(room, most, -(-pairs // block_pairs))

    def _upload(self, problem: TieProblem) -> Structs:
        """Put sets and costs on the device; return what the kernels are given of them."""
        arguments = np.zeros((), ARGUMENTS)
        queries, targets = problem.sets
        arrays = {s: (s.codes, s.offsets.astype(np.int64)) for s in {queries, targets}}
        size = sum(array.nbytes for both in arrays.values() for array in both)
        if size > self._limit // 2:
            raise self._device.driver.MemoryError("sequences take too much of the device's memory")
        copy = self._uploads.address
        at = {own: [copy(array) for array in both] for own, both in arrays.items()}
        arguments["codes"], arguments["offsets"] = zip(at[queries], at[targets], strict=True)
        complement = problem.complement
        arguments["complement"] = copy(
            np.zeros(32, np.uint8) if complement is None else complement.astype(np.uint8)
        )
        arguments["matrix"] = copy(problem.matrix)
        for name in ("open", "extend", "whole", "end_costs"):
            arguments[name] = getattr(problem.costs, name)
        self._limit -= size
        return arguments

    def _failed(self, error: Exception) -> DeviceError:
        return DeviceError(f"{self._device.name}: counting optimal alignments failed: {error}")


def _module_of(problem: TieProblem) -> ModuleRequest:
    costs = problem.costs
    local, same = int(problem.is_local), int(costs.open == costs.extend)
    return ModuleRequest(SOURCE, VARIANTS[2 * local + same])


def _structs_of(pairs: TiePairs) -> Structs:
    structs = np.zeros(len(pairs), PAIR)
    structs["row"], structs["column"], structs["best"] = pairs.rows, pairs.columns, pairs.best
    structs["row_set"], structs["turned"] = pairs.row_set, pairs.turned
    return structs
