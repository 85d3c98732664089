"""The other strand on a device: the columns of a window, reverse-complemented into scratch memory.

Of large sets only the sequences of one window's columns are there at a time, so they never lie on
the device twice. Others are turned at once: a kernel for a window waits until those of other
windows leave a multiprocessor free. See ``cuda/reverse_complement.cu``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from pairalign.base.arrays import Int64s, UInt8s
from pairalign.engines.device.device_sets import DeviceSet

SOURCE = "reverse_complement.cu"
_THREADS = 256
_MOST_AT_ONCE = 64 << 20
"""Bytes of a set, with the room between sequences, that is turned at once."""
_MARGIN = 256  # at least what kernels read around a sequence; keeps 16-byte alignment


class OtherStrand:
    """Reverse-complements columns of a set whose residues lie on a device.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``. The CUDA context must be current whenever a method runs.
    load_module : callable
        See `pairalign.engines.cuda.cuda_family.DeviceContext`.
    columns : DeviceSet
    starts : ndarray of int64, shape (n,)
        The first residue of each sorted position, as the device has it.
    complement : ndarray of uint8, shape (256,)
        Code of the complement of each code, in the codes of the set.
    padding : int
        What fills the room between sequences.
    most_at_once : int
        Sets of at most that number of bytes are turned at once, others a window's columns at a
        time.
    """

    def __init__(
        self,
        driver: ModuleType,
        load_module: Callable[[str, Mapping[str, int | str]], Any],
        columns: DeviceSet,
        starts: Int64s,
        *,
        complement: UInt8s,
        padding: int,
        most_at_once: int = _MOST_AT_ONCE,
    ) -> None:
        self._driver = driver
        self._function = load_module(SOURCE, {}).get_function("reverse_complement")
        self._set = columns.codes, columns.starts, columns.device_lengths
        self._starts, self._lengths = starts, columns.lengths
        self._padding = padding
        self._most_at_once = most_at_once
        self._stream = driver.Stream()
        assert complement.shape == (256,)
        self._complement = driver.mem_alloc(256)
        driver.memcpy_htod(self._complement, np.ascontiguousarray(complement, np.uint8))
        self._scratch: Any = None
        self._scratch_bytes = 0
        self._columns: tuple[int, int] | None = None

    def residues_of(self, first: int, stop: int) -> int:
        """Return the address to use in place of the set's residues for sequences [first, stop).

        It holds until the next call; nothing that reads the scratch memory may still run then.

        Raises
        ------
        driver.MemoryError
            There is no room for these sequences.
        """
        if self._starts[-1] + self._lengths[-1] <= self._most_at_once:
            first, stop = 0, len(self._starts)
        begin = int(self._starts[first])
        end = int(self._starts[stop - 1]) + int(self._lengths[stop - 1])
        # Multiples of 16, so that aligned residues stay aligned.
        origin = (begin - _MARGIN) // 16 * 16
        size = end - origin + _MARGIN
        if self._columns != (first, stop):
            self._columns = None
            self._reserve(size)
            self._driver.memset_d8_async(int(self._scratch), self._padding, size, self._stream)
            self._function(
                *(np.uint64(int(array)) for array in (self._set[0], self._scratch, *self._set[1:])),
                np.uint64(int(self._complement)),
                np.int64(origin),
                np.int32(first),
                block=(_THREADS, 1, 1),
                grid=(stop - first, 1),
                stream=self._stream,
            )
            self._stream.synchronize()
            self._columns = first, stop
        return int(self._scratch) - origin

    def close(self) -> None:
        """Free everything."""
        self._complement.free()
        self._reserve(0)
        self._stream = None  # now, while its context is current: whatever still refers to this

    def _reserve(self, size: int) -> None:
        if 0 < size <= self._scratch_bytes:
            return
        if self._scratch is not None:
            self._scratch.free()
        self._scratch, self._scratch_bytes = None, 0
        if size:
            self._scratch = self._driver.mem_alloc(size)
            self._scratch_bytes = size
