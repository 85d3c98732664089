"""Some sequences of a set as a set: those that a block of the pair matrix has as rows or columns.

Nothing is kept of the others. The sequences are in the order of the whole, in the input as by
length, so their pairs are aligned and written as there; only input indices and sorted positions are
other ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np

from pairalign.base.arrays import Int32s, Int64s, UInt8s
from pairalign.sequences.native_arrays import PADDING_BYTES, CodeArrays, TextArrays, join_texts
from pairalign.sequences.sequence_records import Sequence
from pairalign.sequences.sets import SequenceSet

_AT_A_TIME = 4096


class BlockSet(SequenceSet):
    """The sequences of some sorted positions; what they have is read when it is first used.

    Parameters
    ----------
    ranges : iterable of (int, int)
        Half-open ranges of sorted positions of `whole`; they may overlap.

    Attributes
    ----------
    indices : ndarray of int32, shape (n,)
        Input indices in the whole, ascending: what the set's own input indices stand for.
    """

    def __init__(self, whole: SequenceSet, ranges: Iterable[tuple[int, int]]) -> None:
        self._ranges = _joined(ranges)
        starts = [start for start, _ in self._ranges]
        sizes = [stop - start for start, stop in self._ranges]
        self._starts = np.array(starts, np.int64)
        self._places = np.cumsum([0, *sizes])[:-1]
        self._take(whole)

    def _take(self, whole: SequenceSet) -> None:
        self._whole = whole
        self.source, self.origins = whole.source, whole.origins
        self.alphabet, self.byte_counts = whole.alphabet, whole.byte_counts
        self.replaced = whole.replaced
        by_length = self._read(whole.indices_between)
        self.indices = np.sort(by_length)
        self.order = np.searchsorted(self.indices, by_length).astype(np.int32)

    def _read(self, between: Callable[[int, int], Int32s]) -> Int32s:
        """Return what all have of something that the whole has by ranges of sorted positions."""
        return np.concatenate(
            [np.empty(0, np.int32), *(between(*bounds) for bounds in self._ranges)]
        )

    def __len__(self) -> int:
        return len(self.indices)

    def sequence_at(self, index: int) -> Sequence:
        """As `SequenceSet.sequence_at`."""
        return self._whole.sequence_at(int(self.indices[index]))

    def places_of(self, positions: Int64s) -> Int64s:
        """Return the sorted positions here of some of the whole, which are in the ranges."""
        numbers = np.searchsorted(self._starts, positions, side="right") - 1
        return self._places[numbers] + positions - self._starts[numbers]

    @property
    def whole(self) -> SequenceSet:
        """What the block is of."""
        return self._whole

    @property
    def positions_in_whole(self) -> Int64s:
        """Sorted position in the whole of each one here, int64 of shape (n,)."""
        return np.concatenate([np.arange(*bounds, dtype=np.int64) for bounds in self._ranges])

    @property
    def total_residues(self) -> int:
        """Number of residues of all sequences together."""
        return int(self.offsets[-1])

    @cached_property
    def sorted_lengths(self) -> Int32s:
        """Length at each sorted position, int32 of shape (n,)."""
        return self._read(self._whole.lengths_between)

    @cached_property
    def lengths(self) -> Int32s:  # type: ignore[override]
        """Length of each sequence, int32 of shape (n,), in the order of the input."""
        return self.sorted_lengths[self.positions]

    @cached_property
    def offsets(self) -> Int64s:  # type: ignore[override]
        """As `SequenceSet.offsets`."""
        return np.concatenate(([0], np.cumsum(self.lengths, dtype=np.int64)))

    @cached_property
    def names(self) -> list[str]:  # type: ignore[override]
        """First word of each header."""
        return self._whole.names_at(self.indices)

    @cached_property
    def descriptions(self) -> list[str]:  # type: ignore[override]
        """The whole headers."""
        return self._whole.descriptions_at(self.indices)

    @cached_property
    def residues(self) -> UInt8s:  # type: ignore[override]
        """As `SequenceSet.residues`."""
        return self._whole.residues_at(self.indices)

    @cached_property
    def qualities(self) -> UInt8s | None:  # type: ignore[override]
        """As `SequenceSet.qualities`."""
        return self._whole.qualities_at(self.indices)

    @cached_property
    def codes(self) -> UInt8s:  # type: ignore[override]
        """As `SequenceSet.codes`; who can takes `code_arrays`, which are there anyway."""
        by_length, starts = self.code_arrays
        codes = np.empty(self.total_residues, np.uint8)
        places = zip(
            self.order.tolist(), starts.tolist(), self.sorted_lengths.tolist(), strict=True
        )
        for index, start, length in places:
            at = int(self.offsets[index])
            codes[at : at + length] = by_length[start : start + length]
        return codes

    @cached_property
    def code_arrays(self) -> CodeArrays:
        """As `SequenceSet.code_arrays`: the codes of the longest sequence first."""
        ends = np.cumsum(self.sorted_lengths, dtype=np.int64)
        codes = np.zeros(int(ends[-1]) + PADDING_BYTES, np.uint8)
        filled = 0
        for some in self._codes_read():
            codes[filled : filled + len(some)] = some
            filled += len(some)
        return CodeArrays(codes, ends - self.sorted_lengths)

    def _codes_read(self) -> Iterator[UInt8s]:
        """Yield the codes of all, some sequences at a time."""
        for start, stop in self._ranges:
            for at in range(start, stop, _AT_A_TIME):
                yield self._whole.codes_between(at, min(at + _AT_A_TIME, stop))

    def text_arrays(self, *, residues: bool = True) -> TextArrays:
        """Return names and residues for native code; without `residues` it reads names alone."""
        names, offsets = join_texts(self.names)
        codes = self.codes if residues else self.code_arrays.codes  # which nobody reads
        shown = self.residues if residues else codes
        longest = int(np.diff(offsets).max())
        return TextArrays(names, offsets, shown, codes, self.offsets, longest)

    def lengths_between(self, start: int, stop: int) -> Int32s:
        """As `SequenceSet.lengths_between`."""
        return self.sorted_lengths[start:stop]

    def number_of(self, index: int) -> str:
        """Return which record of the whole a sequence is."""
        return self._whole.number_of(int(self.indices[index]))


class PickedSet(BlockSet):
    """The sequences of single sorted positions, which may be near one another or not.

    Parameters
    ----------
    positions : ndarray of int64, shape (n,)
        Ascending.
    """

    def __init__(self, whole: SequenceSet, positions: Int64s) -> None:
        self._picked = positions
        steps = np.flatnonzero(np.diff(positions // _AT_A_TIME)) + 1
        self._groups = np.split(positions, steps)
        self._take(whole)

    def _read(self, between: Callable[[int, int], Int32s]) -> Int32s:
        pieces = (
            between(int(group[0]), int(group[-1]) + 1)[group - group[0]] for group in self._groups
        )
        return np.concatenate([np.empty(0, np.int32), *pieces])

    def _codes_read(self) -> Iterator[UInt8s]:
        for group in self._groups:
            first, stop = int(group[0]), int(group[-1]) + 1
            are_picked = np.zeros(stop - first, np.bool_)
            are_picked[group - first] = True
            codes = self._whole.codes_between(first, stop)
            yield codes[np.repeat(are_picked, self._whole.lengths_between(first, stop))]

    def places_of(self, positions: Int64s) -> Int64s:
        """As `BlockSet.places_of`."""
        return np.searchsorted(self._picked, positions)

    @property
    def positions_in_whole(self) -> Int64s:
        """As `BlockSet.positions_in_whole`."""
        return self._picked


def indices_in_whole(sequences: SequenceSet) -> Int32s:
    """Return what the input indices of a set stand for: of a block, those of the whole."""
    if isinstance(sequences, BlockSet):
        return sequences.indices
    return np.arange(len(sequences), dtype=np.int32)


def whole_of(sequences: SequenceSet) -> SequenceSet:
    """Return the set that a block is of, or the set itself; see `slices`."""
    return sequences.whole if isinstance(sequences, BlockSet) else sequences


def slices(sequences: SequenceSet) -> Iterator[Int32s]:
    """Yield all input indices, some at a time, for `names_at` and the like: nothing is kept."""
    for start in range(0, len(sequences), _AT_A_TIME):
        yield np.arange(start, min(start + _AT_A_TIME, len(sequences)), dtype=np.int32)


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges that ascend and do not touch, with the same members."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(set(ranges)):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((start, stop))
    return joined
