"""How sequence sets lie in the memory of a device, and what engines of devices have in common."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Int32s, Int64s, UInt8s
from pairalign.base.error_types import DeviceError
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.residues import lay_out_residues
from pairalign.sequences.row_order import find_row_ranks
from pairalign.sequences.sets import SequenceSet

LEAST_BATCH_BYTES = 1 << 20
"""A device with less room than this for a batch is out of memory."""

SEQUENCE_ALIGNMENT = 16
"""Bytes of which each sequence's start on the device is a multiple (one 128-bit load)."""

PADDING_CODE = 31
"""Code of the bytes between sequences; never a letter of an alphabet in use."""

END_PADDING = 64
"""Bytes after the last sequence: kernels read ahead."""

Made = TypeVar("Made")

_SAME = np.arange(256, dtype=np.uint8)


@dataclass(frozen=True)
class DeviceSet:
    """A sequence set as it lies on a device, sequences in sorted order (longest first).

    Attributes
    ----------
    sequences : SequenceSet
        The set on the host.
    lengths : int32[n]
        Host copy of the lengths by *sorted position* (``sequences.lengths`` is by input index).
    codes, starts, device_lengths, order : device pointers or buffers
        ``codes`` uint8: the residues' codes, each sequence at a multiple of `SEQUENCE_ALIGNMENT`,
        followed by `PADDING_CODE` up to the next; at least 64 padding bytes end the array.
        ``starts`` int64[n]: first byte of each sorted position in ``codes``.
        ``device_lengths`` int32[n]: lengths by sorted position.
        ``order`` int32[n]: sorted position -> input index.
    """

    sequences: SequenceSet
    lengths: Int32s
    codes: Any
    starts: Any
    device_lengths: Any
    order: Any


@dataclass(frozen=True)
class SetLayout:
    """The arrays of a `DeviceSet` before they are copied to the device, with its shapes."""

    codes: UInt8s
    starts: Int64s
    lengths: Int32s
    order: Int32s


class Shared:
    """What the engines of a run have in common on the host, made by the first that asks."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """Return what has a name, which `make` makes if nobody has yet."""
        if name not in self._made:
            self._made[name] = make()
        value: Made = self._made[name]
        return value

    def clear(self) -> None:
        """Forget it: all engines are open."""
        self._made.clear()


@dataclass(kw_only=True)
class FamilyContext:
    """What a family of kernels sees of one device, whatever framework runs them.

    Attributes
    ----------
    name : str
        ``cuda:0``; for messages and thread names.
    memory_bytes : int
        How much device memory the family may hold at a time, all its buffers together.
    queries, targets : DeviceSet
        The same object for one set against itself.
    align_on_host : callable (window, want) -> Alignments
        The CPU engine, for pairs too large for the device; says so once in the log.
    check_cancelled : callable () -> None
        Raises when the run was cancelled; call it between batches.
    shared : Shared
        What engines of a run have in common, while they are opened.
    kernel : str
        The kernel launched last; set it before each launch, errors quote it.
    """

    name: str
    memory_bytes: int
    scoring: Scoring
    queries: DeviceSet
    targets: DeviceSet
    align_on_host: Callable[[Window, Want], Alignments]
    check_cancelled: Callable[[], None]
    shared: Shared
    kernel: str = "(none)"
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("pairalign"))

    @property
    def one_set(self) -> bool:
        """True when a set is aligned with itself."""
        return self.queries is self.targets

    @cached_property
    def ranks(self) -> tuple[Int32s, Int32s] | None:
        """Which sequences of two sets run along the rows, see `find_row_ranks`; None: one set."""
        if self.one_set:
            return None
        return self.shared.once(
            "ranks", lambda: find_row_ranks(self.queries.sequences, self.targets.sequences)
        )

    def halve(self, limit_bytes: int, batch_bytes: int) -> int:
        """Return the bytes that batches may use after one of `batch_bytes` did not fit; log it.

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


def padded_lengths(lengths: Int32s) -> Int64s:
    """Bytes that sequences of these lengths take, each where 16 bytes can be read."""
    return -(-lengths.astype(np.int64) // SEQUENCE_ALIGNMENT) * SEQUENCE_ALIGNMENT


def lay_out(sequences: SequenceSet) -> SetLayout:
    """Lay a set out in sorted order, each sequence where 16 bytes can be read."""
    order = np.ascontiguousarray(sequences.order, dtype=np.int32)
    lengths = np.ascontiguousarray(sequences.lengths[order], dtype=np.int32)
    padded = padded_lengths(lengths)
    starts = np.cumsum(padded) - padded
    codes = np.full(int(padded.sum()) + END_PADDING, PADDING_CODE, dtype=np.uint8)
    lay_out_residues(sequences, _SAME, starts, codes)
    return SetLayout(codes, starts, lengths, order)
