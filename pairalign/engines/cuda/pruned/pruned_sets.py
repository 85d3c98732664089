"""What the residues of a set are worth, on the device: see ``cuda/pruned/worth.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.engines.cuda.pruned.pruned_plan import RESIDUE_SET, WORTH_PADDING
from pairalign.engines.cuda.pruned.worth import Worth
from pairalign.engines.device.device_sets import DeviceSet, padded_lengths
from pairalign.sequences.residues import sum_worth

SOURCE = "pruned/worth.cu"
_THREADS = 256


def worth_bytes(sequences: DeviceSet) -> int:
    """Return the memory that the worths of a set take."""
    return 3 * _numbers(sequences) * 4


def cheap_residues(sequences: DeviceSet, worth: Worth) -> npt.NDArray[np.int64]:
    """Return how many cheap residues each sequence has, by sorted position."""
    of_code = np.zeros(256, np.int64)
    of_code[: len(worth.cheap)] = worth.cheap
    return sum_worth(sequences.sequences, of_code)


def _numbers(sequences: DeviceSet) -> int:
    return int(padded_lengths(sequences.lengths).sum()) + WORTH_PADDING * len(sequences.lengths)


class WorthOfSet:
    """The sums of worths of a set's residues, from each residue on."""

    def __init__(self, context: DeviceContext, sequences: DeviceSet) -> None:
        self._context = context
        self._set = sequences
        self._numbers = _numbers(sequences)
        self._memory = context.driver.mem_alloc(3 * 4 * self._numbers)

    def compute(self, table: Any, codes: Any, first: int, stop: int, stream: Any) -> None:
        """Add up the sequences at sorted positions [first, stop), whose residues are at `codes`."""
        context, sequences = self._context, self._set
        module = context.load_module(SOURCE, {})
        context.kernel = "sum_worth"
        arrays = (codes, sequences.starts, sequences.device_lengths, table, *self._addresses())
        module.get_function(context.kernel)(
            *(np.uint64(int(array)) for array in arrays),
            np.int32(context.scoring.gap_extend),
            np.int32(first),
            block=(_THREADS, 1, 1),
            grid=(stop - first, 1),
            stream=stream,
        )

    def describe(self, codes: Any) -> npt.NDArray[np.void]:
        """Return the set as kernels take it, with the residues at `codes`."""
        described = np.zeros((), RESIDUE_SET)
        described["codes"] = int(codes)
        described["starts"] = int(self._set.starts)
        described["lengths"] = int(self._set.device_lengths)
        names = ("row_worth", "column_worth", "cheap")
        for name, address in zip(names, self._addresses(), strict=True):
            described[name] = address
        return described

    def close(self) -> None:
        """Free the memory."""
        self._memory.free()

    def _addresses(self) -> list[int]:
        return [int(self._memory) + 4 * self._numbers * k for k in range(3)]
