"""Receptors within a TCRdist on GPUs: the same pairs as on cores; see ``cuda/near/tcrdist.cu``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s, Structs, UInt8s
from pairalign.base.native import struct_dtype
from pairalign.pairs.windows import Window

LONGEST = 64
"""Residues of a region, at most: as in the kernel's source."""
MOST_REGIONS = 8

_ARRAYS = ("row_codes", "column_codes", "row_starts", "column_starts")
REGION = struct_dtype(
    f"uint64 {' '.join(_ARRAYS)}; "
    "int32 weight gap left_out_first left_out_last has_fixed_gap padding"
)
"""TcrRegion in cuda/near/tcrdist.cuh, and ``pairalign_region``."""
ARGUMENTS = struct_dtype(
    "uint64 regions costs found count; int64 capacity; "
    "int32 row_start row_stop column_count triangular region_count limit"
)
"""TcrArguments in cuda/near/tcrdist.cuh."""


@dataclass(frozen=True)
class TcrKernel:
    """The kernel of TCRdist, a `pairalign.engines.cuda.cuda_near.PairKernel`.

    Attributes
    ----------
    regions : ndarray of REGION
        As on cores, with addresses of this machine's memory.
    arrays : sequence of four ndarrays
        What is there of each region: codes and starts of rows and of columns.
    costs : ndarray of uint8
        Of two residues.
    limit : int
    orders : two ndarrays of int32
    one_set : bool
    """

    source, name = "near/tcrdist.cu", "find_near_receptors"

    regions: Structs
    arrays: Sequence[tuple[npt.NDArray[Any], ...]]
    costs: UInt8s
    limit: int
    orders: tuple[Int32s, Int32s]
    one_set: bool

    @property
    def fits(self) -> bool:
        """Whether the kernel compares such receptors: of few and short regions."""
        starts = (starts for arrays in self.arrays for starts in arrays[2:])
        longest = max(int(np.diff(one).max(initial=0)) for one in starts)
        return len(self.regions) <= MOST_REGIONS and longest <= LONGEST

    def pairs_of(self, start: int, stop: int) -> int:
        """Return the number of pairs of some rows."""
        return Window(0, start, stop, 0, len(self.orders[1]), triangular=self.one_set).pairs

    def arguments(self, copy: Callable[[npt.NDArray[Any]], int]) -> Structs:
        """Put regions and costs on the device; see `PairKernel`."""
        regions = self.regions.copy()
        for name, arrays in zip(_ARRAYS, zip(*self.arrays, strict=True), strict=True):
            regions[name] = [copy(array) for array in arrays]
        arguments = np.zeros((), ARGUMENTS)
        arguments["regions"], arguments["costs"] = copy(regions), copy(self.costs)
        arguments["column_count"] = len(self.orders[1])
        arguments["triangular"], arguments["region_count"] = self.one_set, len(regions)
        arguments["limit"] = self.limit
        return arguments
