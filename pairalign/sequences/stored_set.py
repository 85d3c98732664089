"""A set of sequences in a memory-mapped store: it reads, and checks, what is used.

Each chunk of the file is compared with its checksum before its bytes are first used, so a damaged
store is an error and never a wrong result. `pairalign.sequences.store_format` has the bytes.
"""

from __future__ import annotations

import itertools
import mmap
import os
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Int32s, Int64s, UInt8s
from pairalign.base.compression import add_to_checksum
from pairalign.base.error_types import FastaError, unreadable
from pairalign.sequences.alphabets import INVALID, count_replaced
from pairalign.sequences.native_arrays import CodeArrays, TextArrays
from pairalign.sequences.sequence_records import Records, Sequence
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.store_format import (
    BLOCK,
    CHUNK_BYTES,
    HEADER_BYTES,
    SECTIONS,
    Header,
    check_ascending,
    check_codes,
    damaged,
    decoded,
    is_store,
    read_header,
)

_LAZY = ("names", "descriptions", "offsets", "lengths", "residues", "codes", "order", "qualities")
_Array = npt.NDArray[Any]


def open_store(path: str | os.PathLike[str]) -> StoredSet | None:
    """Open a store; None if the file is none, or cannot be read: other readers say why.

    Raises
    ------
    FastaError
        It is cut short, damaged or of another version.
    """
    name = str(os.fspath(path))
    try:
        if not os.path.isfile(name):  # a pipe can be read only once
            return None
        with open(name, "rb") as file:
            if not is_store(file.read(HEADER_BYTES)):
                return None
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return StoredSet(data, name, os.dup(file.fileno()))
    except FastaError:
        raise
    except (OSError, ValueError) as error:
        raise unreadable(FastaError, name, error, "a store of sequences") from error


def _reopened(path: str, digest: str) -> StoredSet:
    """Open a store that another process has named."""
    store = open_store(path)
    if store is None or store.digest != digest:
        raise FastaError(f"{path}: it has changed since it was opened")
    return store


_COMPARED = 1024
"""Sorted positions whose codes are compared at a time."""


class StoredSet(SequenceSet):
    """A `SequenceSet` whose arrays are those of a store, read when they are first used.

    Parameters
    ----------
    data : bytes or mmap
        The whole file.
    source : str
        What messages call it; the path of a file that is mapped.
    descriptor : int or None
        Of a file that is mapped; closed with the set.

    Raises
    ------
    FastaError
        Here or later: the store is cut short or damaged, or of another version.
    """

    _descriptor: int | None = None
    _counted = (0, 0)

    def __init__(self, data: bytes | mmap.mmap, source: str, descriptor: int | None = None) -> None:
        self._descriptor = descriptor
        self._data = memoryview(data)
        self._header: Header = read_header(self._data, len(self._data), source)
        self._checked_chunks = np.zeros(len(self._header.checksums), np.bool_)
        self.source = source
        self.origins = ()
        self.alphabet = self._header.alphabet
        self.byte_counts = self._header.byte_counts
        self.replaced = count_replaced(self.byte_counts, self.alphabet)

    def __del__(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._descriptor is None:
            return StoredSet, (bytes(self._data), self.source)
        return _reopened, (os.path.abspath(self.source), self.digest)

    def __getattr__(self, name: str) -> Any:
        """Read an array, or all names, when it is first used."""
        if name not in _LAZY:
            raise AttributeError(name)
        value = getattr(self, f"_read_{name}", lambda: self._section(name))()
        setattr(self, name, value)
        return value

    def __len__(self) -> int:
        return self._header.sequences

    def sequence_at(self, index: int) -> Sequence:
        """As `SequenceSet.sequence_at`, and read no other."""
        residues = self._residues_of(index).tobytes().decode("ascii")
        return Sequence(self.name_of(index), self._text_of("header", index), residues)

    @property
    def total_residues(self) -> int:
        """Number of residues of all sequences together."""
        return self._header.residues

    @property
    def digest(self) -> str:
        """As `SequenceSet.digest`."""
        return self._header.digest

    @cached_property
    def sorted_lengths(self) -> Int32s:
        """Length at each sorted position, int32 of shape (n,)."""
        return self._section("sorted_lengths")

    @property
    def code_arrays(self) -> CodeArrays:
        """As `SequenceSet.code_arrays`: the store has the codes of the longest sequence first."""
        codes = self._section("codes")
        check_codes(codes, self.alphabet, self.source)
        ends = np.cumsum(self.sorted_lengths, dtype=np.int64)
        if ends[-1] != self.total_residues or self.sorted_lengths.min() < 1:
            raise damaged(self.source, "its sorted lengths are not those of its residues")
        return CodeArrays(codes, ends - self.sorted_lengths)

    def name_of(self, index: int) -> str:
        """Return the name of the sequence at an input index, and read no other."""
        return self._text_of("name", index)

    def codes_of(self, index: int) -> UInt8s:
        """Return the codes of the sequence at an input index."""
        return self.alphabet.encoding[self._residues_of(index)]

    def codes_between(self, start: int, stop: int) -> UInt8s:
        """As `SequenceSet.codes_between`, and read no others."""
        before = self._residues_before(start)
        residues = int(self.lengths_between(start, stop).sum(dtype=np.int64))
        codes = self._values("codes", before, before + residues)
        check_codes(codes, self.alphabet, self.source)
        return codes

    def _are_unlike_the_one_before(self) -> Bools:
        """As `SequenceSet` has it, of some codes at a time."""
        are_unlike = np.ones(len(self), np.bool_)
        for start in range(0, len(self) - 1, _COMPARED):
            stop = min(start + _COMPARED + 1, len(self))
            lengths = self.lengths_between(start, stop).tolist()
            codes, place = self.codes_between(start, stop).tobytes(), 0
            for position, (length, after) in enumerate(pairwise(lengths), start + 1):
                end = place + length
                if length == after:
                    are_unlike[position] = codes[place:end] != codes[end : end + length]
                place = end
        return are_unlike

    def _residues_before(self, position: int) -> int:
        """Count the residues of all sorted positions before one, from where it was last asked."""
        place, residues = self._counted if self._counted[0] <= position else (0, 0)
        for at in range(place, position, CHUNK_BYTES):
            lengths = self.lengths_between(at, min(at + CHUNK_BYTES, position))
            residues += int(lengths.sum(dtype=np.int64))
        self._counted = position, residues
        return residues

    def indices_between(self, start: int, stop: int) -> Int32s:
        """As `SequenceSet.indices_between`, and read no others."""
        indices = self._values("order", start, stop)
        if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < len(self):
            raise damaged(self.source, "its order has other sequences")
        return indices

    def positions_of(self, indices: Int32s) -> Int64s:
        """As `SequenceSet.positions_of`; the order is read, and not kept."""
        pieces = [np.empty(0, np.int64)]
        for at in range(0, len(self), CHUNK_BYTES):
            here = self.indices_between(at, min(at + CHUNK_BYTES, len(self)))
            pieces.append(at + np.flatnonzero(np.isin(here, indices)))
        positions = np.concatenate(pieces)
        if len(positions) != len(indices):
            raise damaged(self.source, "its order has a sequence twice, or not")
        return positions

    def lengths_between(self, start: int, stop: int) -> Int32s:
        """As `SequenceSet.lengths_between`, and read no others."""
        lengths = self._values("sorted_lengths", start, stop)
        if len(lengths) and (int(lengths.min()) < 1 or (np.diff(lengths) > 0).any()):
            raise damaged(self.source, "its sorted lengths are not sorted")
        return lengths

    def lengths_at(self, indices: Int32s) -> Int32s:
        """As `SequenceSet.lengths_at`, and read no others."""
        pieces = [np.empty(0, np.int64)]
        for group in _groups(indices, BLOCK // SECTIONS["offsets"].itemsize):
            offsets = self._values("offsets", int(group[0]), int(group[-1]) + 2)
            places = group - group[0]
            pieces.append(offsets[places + 1] - offsets[places])
        lengths = np.concatenate(pieces)
        if len(lengths) and (lengths.min() < 1 or lengths.max() > self.total_residues):
            raise damaged(self.source, "its offsets are not in order")
        return lengths.astype(np.int32)

    def names_at(self, indices: Int32s) -> list[str]:
        """As `SequenceSet.names_at`, and keep no others."""
        return [decoded(text, self.source) for text in self._gather("names", indices)]

    def descriptions_at(self, indices: Int32s) -> list[str]:
        """As `SequenceSet.descriptions_at`, and keep no others."""
        return [decoded(text, self.source) for text in self._gather("headers", indices)]

    def residues_at(self, indices: Int32s) -> UInt8s:
        """As `SequenceSet.residues_at`, and keep no others."""
        residues = np.frombuffer(b"".join(self._gather("residues", indices)), np.uint8)
        if self._is_foreign(residues):
            raise damaged(self.source, "a residue is none of its alphabet")
        return residues

    def qualities_at(self, indices: Int32s) -> UInt8s | None:
        """As `SequenceSet.qualities_at`, and keep no others."""
        if "qualities" not in self._header.sections:
            return None
        return np.frombuffer(b"".join(self._gather("qualities", indices)), np.uint8)

    def records(self, *, qualities: bool = False) -> Records:
        """Return all that is stored as raw records."""
        kept = self.qualities.tobytes() if qualities and self.qualities is not None else None
        residues = self.residues.tobytes()
        return Records(self.names, self.descriptions, residues, self.offsets.copy(), (), kept)

    def text_arrays(self, *, residues: bool = True) -> TextArrays:
        """As `SequenceSet.text_arrays`; names are checked by `check_names`."""
        shown = self.residues if residues else self._raw("residues")
        codes = self.codes if residues else shown  # which nobody reads
        names, offsets = self._raw("names"), self._raw("name_offsets")
        places = self.offsets if residues else self._raw("offsets")
        return TextArrays(names, offsets, shown, codes, places, self._header.longest_name)

    def check_names(self, indices: npt.NDArray[np.signedinteger[Any]]) -> None:
        """Compare names of some sequences with their checksums, where that was not done before.

        Parameters
        ----------
        indices : ndarray of int
            Input indices, in any order, repeated or not.

        Raises
        ------
        FastaError
            The store is damaged.
        """
        new = indices[~self._checked_names[indices]]
        if not len(new):
            return
        new = np.unique(new).astype(np.int64)
        for kind in ("name_offsets", "offsets"):
            start, item = self._header.sections[kind][0], SECTIONS[kind].itemsize
            self._check_ranges(start + item * new, start + item * (new + 2))
        offsets = self._raw("name_offsets")
        first, last = offsets[new], offsets[new + 1]
        place, size = self._header.sections["names"]
        lengths = last - first
        if (first < 0).any() or (last > size).any() or (lengths < 0).any():
            raise damaged(self.source, "its names are not in order")
        if (lengths > self._header.longest_name).any():
            raise damaged(self.source, "a name is longer than its header says")
        self._check_ranges(place + first, place + last)
        self._checked_names[new] = True

    @cached_property
    def _checked_names(self) -> Bools:
        return np.zeros(len(self), np.bool_)

    # -----------------------------------------------------------------------------------------
    # What is read when it is first used, each as the attribute of `SequenceSet`

    def _read_names(self) -> list[str]:
        return self._texts("name")

    def _read_descriptions(self) -> list[str]:
        return self._texts("header")

    def _read_offsets(self) -> _Array:
        offsets = self._section("offsets")
        check_ascending(offsets, self._header.residues, 1, self.source)
        return offsets

    def _read_lengths(self) -> _Array:
        lengths = np.diff(self.offsets).astype(np.int32)
        lengths.flags.writeable = False
        return lengths

    def _read_order(self) -> _Array:
        order = self._section("order")
        seen = np.zeros(len(self), np.bool_)
        if order.min() < 0 or order.max() >= len(self):
            raise damaged(self.source, "its order has other sequences")
        seen[order] = True
        if not seen.all():
            raise damaged(self.source, "its order has a sequence twice")
        return order

    def _read_residues(self) -> _Array:
        residues = self._section("residues")
        for at in range(0, len(residues), BLOCK):
            if self._is_foreign(residues[at : at + BLOCK]):
                raise damaged(self.source, "a residue is none of its alphabet")
        return residues

    def _is_foreign(self, residues: _Array) -> bool:
        return bool((self.alphabet.encoding[residues] == INVALID).any())

    def _read_codes(self) -> _Array:
        codes = np.empty(self.total_residues, np.uint8)
        for at in range(0, len(codes), BLOCK):
            codes[at : at + BLOCK] = self.alphabet.encoding[self.residues[at : at + BLOCK]]
        codes.flags.writeable = False
        return codes

    def _read_qualities(self) -> _Array | None:
        return self._section("qualities") if "qualities" in self._header.sections else None

    # -----------------------------------------------------------------------------------------
    # The file

    def _text_of(self, kind: str, index: int) -> str:
        first, last = self._values(f"{kind}_offsets", index, index + 2).tolist()
        if not 0 <= first <= last <= self._header.sections[f"{kind}s"][1]:
            raise damaged(self.source, f"its {kind}s are not in order")
        return decoded(self._values(f"{kind}s", first, last), self.source)

    def _residues_of(self, index: int) -> _Array:
        first, last = self._values("offsets", index, index + 2).tolist()
        if not 0 <= first < last <= self.total_residues:
            raise damaged(self.source, "its offsets are not in order")
        residues = self._values("residues", first, last)
        if self._is_foreign(residues):
            raise damaged(self.source, "a residue is none of its alphabet")
        return residues

    def _texts(self, kind: str) -> list[str]:
        offsets, joined = self._section(f"{kind}_offsets"), self._section(f"{kind}s")
        check_ascending(offsets, len(joined), 0, self.source)
        if (joined < 0x80).all():  # then a byte is a character
            text, ends = decoded(joined, self.source), offsets.tolist()
            return [text[a:b] for a, b in itertools.pairwise(ends)]
        data, ends = joined.tobytes(), offsets.tolist()
        return [decoded(data[a:b], self.source) for a, b in itertools.pairwise(ends)]

    def _gather(self, name: str, indices: Int32s) -> Iterator[bytes]:
        """Yield what a section has of some sequences, in ascending order, 1 MiB at a time."""
        offsets = {"residues": "offsets", "qualities": "offsets"}.get(name, f"{name[:-1]}_offsets")
        for group in _groups(indices, BLOCK // SECTIONS[offsets].itemsize):
            values = self._values(offsets, int(group[0]), int(group[-1]) + 2)
            starts, stops = (values[group - group[0] + k] for k in (0, 1))
            ends = np.stack((starts, stops), axis=1).ravel()
            if (np.diff(ends) < 0).any() or not 0 <= ends[0] <= ends[-1] <= self._size(name):
                raise damaged(self.source, f"its {name} are not in order")
            for some in _groups(starts, BLOCK):
                first, count = int(some[0]), len(some)
                data = self._values(name, first, int(stops[count - 1])).tobytes()
                places = zip((some - first).tolist(), (stops[:count] - first).tolist(), strict=True)
                stops = stops[count:]
                yield from (data[start:stop] for start, stop in places)

    def _size(self, name: str) -> int:
        return self._header.sections[name][1]

    def _raw(self, name: str) -> _Array:
        """Return a section as it is mapped, not checked."""
        start, size = self._header.sections[name]
        kind = SECTIONS[name]
        return np.frombuffer(self._data, kind, size // kind.itemsize, start)

    def _section(self, name: str) -> _Array:
        """Return a whole section, checked."""
        start, size = self._header.sections[name]
        self._check_ranges(np.array([start]), np.array([start + size]))
        return self._raw(name)

    def _values(self, name: str, first: int, last: int) -> _Array:
        """Return a copy of some values of a section, checked."""
        start, kind = self._header.sections[name][0], SECTIONS[name]
        start, stop = start + kind.itemsize * first, start + kind.itemsize * last
        self._check_ranges(np.array([start]), np.array([stop]))
        return np.frombuffer(self._read(start, stop - start), kind)

    def _check_ranges(self, starts: Int64s, stops: Int64s) -> None:
        """Compare the chunks of some ranges of bytes with their checksums."""
        some = stops > starts
        first = (starts[some] - self._header.data_start) // CHUNK_BYTES
        last = (stops[some] - 1 - self._header.data_start) // CHUNK_BYTES
        if not len(first):
            return
        base, end = int(first.min()), int(last.max()) + 1
        marks = np.bincount(first - base, minlength=end - base + 1)
        marks -= np.bincount(last + 1 - base, minlength=end - base + 1)
        unchecked = (np.cumsum(marks[:-1]) > 0) & ~self._checked_chunks[base:end]
        for number in (base + np.flatnonzero(unchecked)).tolist():
            start = self._header.data_start + number * CHUNK_BYTES
            if add_to_checksum(0, self._read(start)) != self._header.checksums[number]:
                raise damaged(self.source, f"64 KiB from byte {start:,} on are not as written")
            self._checked_chunks[number] = True

    def _read(self, start: int, size: int = CHUNK_BYTES) -> bytes:
        """Read some bytes past the map, whose pages would be memory of the process."""
        if self._descriptor is None:
            return bytes(self._data[start : start + size])
        parts: list[bytes] = []
        try:
            while size and (part := os.pread(self._descriptor, size, start)):
                parts.append(part)
                start, size = start + len(part), size - len(part)
        except OSError as error:
            raise FastaError(f"{self.source}: {error.strerror}") from error
        return b"".join(parts)


def _groups(values: _Array, width: int) -> list[_Array]:
    """Cut ascending values where one is not in the same range of `width` as the one before."""
    if not len(values):
        return []
    return np.split(values, np.flatnonzero(np.diff(values // width)) + 1)
