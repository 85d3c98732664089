"""Sequences on a device as the packed kernels read them: residues numbered densely, and padded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, SupportsInt

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s, Int64s, UInt8s
from pairalign.engines.cuda.cuda_family import DeviceContext, DeviceSet
from pairalign.engines.cuda.cuda_reverse_complement import OtherStrand
from pairalign.pairs.windows import Window
from pairalign.sequences.complement import complement_of
from pairalign.sequences.residues import lay_out_residues

PADDING = 96
"""Padding residues around each sequence; the kernels read up to 80 beyond."""

Upload = Callable[[npt.NDArray[Any]], Any]


@dataclass
class DenseSet:
    """A set on the device: residues by sorted position, and where each sequence's begin."""

    residues: SupportsInt
    starts: SupportsInt

    @classmethod
    def of(cls, dense: DenseResidues, upload: Upload) -> DenseSet:
        """Upload the residues of a set."""
        return cls(upload(dense.residues), upload(dense.starts))


@dataclass(frozen=True)
class DenseResidues:
    """The same on the host."""

    residues: UInt8s
    starts: Int64s

    @classmethod
    def of(cls, device: DeviceSet, codes: UInt8s, padding: int) -> DenseResidues:
        """Give residue k to code k of these codes, of which all residues of a set are.

        `padding`: the residue around the sequences. If there is one between the last code's and
        that, it stands before each sequence (mode end-gaps, see ``cuda/packed/packed.cuh``).
        """
        dense_of_code = np.zeros(256, np.uint8)
        dense_of_code[codes] = np.arange(len(codes))
        starts = dense_starts(device.lengths)
        size = int((device.lengths.astype(np.int64) + PADDING).sum()) + 2 * PADDING
        residues = np.full(size, padding, np.uint8)
        residues[starts - 1] = len(codes)
        lay_out_residues(device.sequences, dense_of_code, starts, residues)
        return cls(residues, starts)


def dense_starts(lengths: Int32s) -> Int64s:
    """First residue of each sequence."""
    padded = lengths.astype(np.int64) + PADDING
    starts: Int64s = np.cumsum(padded) - padded + PADDING
    return starts


class ColumnResidues:
    """Residues of a window's columns, reverse-complemented where the window says so.

    Parameters
    ----------
    codes : ndarray of uint8
        See `DenseResidues.of`.
    """

    def __init__(self, context: DeviceContext, columns: DenseSet, codes: UInt8s) -> None:
        self._context = context
        self._columns = columns
        self._codes = codes
        self._other_strand: OtherStrand | None = None

    def of(self, window: Window) -> int:
        """Return the device address of the residues."""
        if window.strand > 0 or not window.pairs:
            return int(self._columns.residues)
        context, codes = self._context, self._codes
        if self._other_strand is None:
            complement = np.full(256, len(codes), np.uint8)
            complement[: len(codes)] = np.searchsorted(
                codes, complement_of(context.scoring.alphabet)[codes]
            )
            targets, dense = context.targets, self._columns
            self._other_strand = OtherStrand(
                context.driver,
                context.load_module,
                replace(targets, codes=dense.residues, starts=dense.starts),
                dense_starts(targets.lengths),
                complement=complement,
                padding=len(codes),
            )
        return self._other_strand.residues_of(window.column_start, window.column_stop)

    def close(self) -> None:
        """Free what `of` took."""
        if self._other_strand is not None:
            self._other_strand.close()
