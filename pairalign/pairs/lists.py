"""Lists of the pairs to align, instead of all pairs: read from files, or given from Python.

A file has two names a line, between tabs or blanks (what follows is not read), or is PAF: columns 1
and 6 are the names then. With one set a pair is the same whichever name comes first; with two sets
the first name is of the first set. Tables of hits have a line for each hit, so in files pairs may
come again, and sequences with themselves, which are left out. Pairs given from Python come once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.error_types import (
    FastaError,
    PairListError,
    WrongTypeError,
    error_by_cause,
    shown_name,
)
from pairalign.base.native import Struct, library, struct_fields
from pairalign.base.texts import as_tsv
from pairalign.sequences.fasta_records import Source, read_text
from pairalign.sequences.sets import SequenceSet

Pairs = Union["PairList", str, os.PathLike[str], npt.NDArray[Any], Iterable[tuple[Any, Any]]]
"""What can be a list of pairs: a path, names or input indices in twos, an array of shape (n, 2)."""

log = logging.getLogger("pairalign")

_PAF_COLUMNS = 12
_FEW_COLUMNS, _UNKNOWN_NAME = 1, 2


class NativeNames(Struct):
    """Names of a set: ``pairalign_names`` of ``cpu/pairs/name_index.h``."""

    _fields_ = struct_fields("pointer text ends; int64 count")


class NativeListTrouble(Struct):
    """A line that cannot be read: ``pairalign_list_trouble``."""

    _fields_ = struct_fields("int64 kind line side start bytes other_lengths first_other")


@dataclass(frozen=True)
class PairList:
    """Pairs of one set, or of one set with another.

    Attributes
    ----------
    first, second : ndarray of int32, shape (n,)
        Input indices; with two sets, in the first and in the second.
    source : str
        Where they come from, for messages.
    may_repeat : bool
        Pairs that come again, and sequences with themselves, are left out; else they are an error.
    """

    first: Int32s
    second: Int32s
    source: str = "pairs"
    may_repeat: bool = False

    def __len__(self) -> int:
        return len(self.first)

    def where(self, number: int) -> str:
        """Return what messages call a pair: ``pairs[7]``."""
        return f"{self.source}[{number}]"


def read_pair_list(
    source: Source, queries: SequenceSet, targets: SequenceSet | None = None
) -> PairList:
    """Read a file of pairs: two names a line, or PAF; compressed or not.

    Parameters
    ----------
    source : str, path or file object
        ``"-"`` is standard input.
    queries, targets : SequenceSet
        `targets` is None for pairs of `queries`.

    Raises
    ------
    PairListError
        The file cannot be read, is empty, or names a sequence that there is not; the message names
        the line.

    Notes
    -----
    Time is proportional to the file: about 0.2 microseconds a line.
    """
    try:
        text, name = read_text(source, "a list of pairs")
    except FastaError as error:
        raise error_by_cause(PairListError, str(error), error) from error
    text = as_tsv(text, name, quotes=False)
    is_paf = _is_paf(text)
    most = text.count(b"\n") + 1
    first, second = np.empty(most, np.int32), np.empty(most, np.int32)
    trouble = NativeListTrouble()
    columns_of = queries if targets is None else targets
    lengths = [
        np.ascontiguousarray(sequences.lengths, np.int32) for sequences in (queries, columns_of)
    ]
    kept = [NamesOf(sequences.names) for sequences in (queries, targets) if sequences is not None]
    count = library.pairalign_read_pairs(
        text,
        len(text),
        is_paf,
        *(kept[0].struct, None if targets is None else kept[1].struct),
        *(tuple(lengths), first, second, trouble),
    )
    if count < 0:
        raise _error(text, name, is_paf, trouble, queries if targets is None else targets, queries)
    if count == 0:
        raise PairListError(f"{name}: no pairs, expected two names a line")
    warn_of_lengths(name, trouble.other_lengths, trouble.first_other)
    return PairList(first[:count].copy(), second[:count].copy(), name, may_repeat=True)


def warn_of_lengths(source: str, lines: int, first: int) -> None:
    """Warn where `count` lines of PAF say lengths that the sequences of a set do not have."""
    if lines:
        log.warning(
            "%s: line %d says other lengths than the sequences have, as %s lines do: "
            "are others meant?",
            source,
            first,
            f"{lines:,}",
        )


def as_pair_list(pairs: Pairs, queries: SequenceSet, targets: SequenceSet | None) -> PairList:
    """Return pairs as a list, whatever they come as.

    Parameters
    ----------
    pairs : PairList, path, array_like of int with shape (n, 2), or iterable of (str, str)
        Input indices or names.
    queries, targets : SequenceSet
        `targets` is None for pairs of `queries`.

    Raises
    ------
    PairListError
        Names or indices that the sets do not have, or no pairs at all.
    WrongTypeError
        Something is no pair.
    """
    if isinstance(pairs, PairList):
        return pairs
    if isinstance(pairs, (str, os.PathLike)):
        return read_pair_list(pairs, queries, targets)
    if not isinstance(pairs, Iterable):
        raise WrongTypeError(f"pairs {pairs!r}: expected two names or two indices for each pair")
    items = pairs if isinstance(pairs, np.ndarray) else list(pairs)
    if len(items) == 0:
        raise PairListError("pairs: there are none")
    sets = (queries, queries if targets is None else targets)
    first = () if isinstance(items, np.ndarray) or not isinstance(items[0], Iterable) else items[0]
    if not isinstance(items, np.ndarray) and any(isinstance(name, str) for name in first):
        return PairList(*_indices_of(items, sets))
    array = np.asarray(items)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise WrongTypeError(
            f"pairs: found an array of {array.dtype} of shape {array.shape}, expected two names or "
            "two indices for each pair"
        )
    for side, sequences in enumerate(sets):
        outside = np.flatnonzero((array[:, side] < 0) | (array[:, side] >= len(sequences)))
        for number in outside[:1].tolist():
            raise PairListError(
                f"pairs[{number}]: index {array[number, side]}, but {sequences.source} has "
                f"{len(sequences)} sequences"
            )
    return PairList(array[:, 0].astype(np.int32), array[:, 1].astype(np.int32))


def pairs_within(labels: npt.NDArray[np.integer], most: int) -> Iterator[PairList]:
    """Yield all pairs of sequences of one group, some at a time.

    Parameters
    ----------
    labels : ndarray of int, shape (n,)
        The group of each sequence, by input index; -1: none.
    most : int
        Pairs from which on they are yielded; those of one sequence come together.
    """
    places = np.flatnonzero(labels >= 0)
    by_label = places[np.argsort(labels[places], kind="stable")].astype(np.int32)
    stops = np.searchsorted(labels[by_label], labels[by_label], side="right")
    one: list[Int32s] = []
    other: list[Int32s] = []
    held = 0
    for place, stop in enumerate(stops.tolist()):
        later = by_label[place + 1 : stop]
        if len(later):
            one.append(np.full(len(later), by_label[place], np.int32))
            other.append(later)
            held += len(later)
        if held >= most or (held and place + 1 == len(stops)):
            yield PairList(np.concatenate(one), np.concatenate(other))
            one, other, held = [], [], 0


@dataclass(frozen=True)
class SortedPairs:
    """Pairs in the order of windows.

    Attributes
    ----------
    rows, columns : ndarray of int32, shape (n,)
        Sorted positions; with one set the row is the smaller.
    window : int
        Rows and columns of a window.
    left_out : int
        Pairs of the list that came again, and sequences with themselves.
    """

    rows: Int32s
    columns: Int32s
    window: int
    left_out: int

    def __len__(self) -> int:
        return len(self.rows)


def sort_pairs(
    pairs: PairList, queries: SequenceSet, targets: SequenceSet | None, window: int
) -> SortedPairs:
    """Sort a list as windows have their pairs, each pair once.

    Raises
    ------
    PairListError
        A pair comes twice, or is a sequence with itself, and may not; or no pair is left.
    """
    order = np.empty(len(pairs), np.int64)
    columns_of = queries if targets is None else targets
    rows = queries.positions[pairs.first]
    columns = columns_of.positions[pairs.second]
    failed = library.pairalign_sort_pairs(
        len(pairs), targets is None, window, len(columns_of), *(rows, columns, order)
    )
    if failed:
        raise MemoryError("out of memory while the pairs are sorted")
    again = np.zeros(len(pairs), np.bool_)
    again[1:] = (rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1])
    itself = (rows == columns) & (targets is None)
    if not pairs.may_repeat:
        _refuse(pairs, queries, columns_of, order, again, itself)
    left = ~(again | itself)
    if len(pairs) and not left.any():
        raise PairListError(f"{pairs.source}: only sequences with themselves, expected pairs")
    left_out = len(pairs) - int(left.sum())
    if left_out:
        rows, columns = rows[left], columns[left]
    return SortedPairs(rows, columns, window, left_out)


def _refuse(
    pairs: PairList,
    queries: SequenceSet,
    targets: SequenceSet,
    order: Int64s,
    again: Bools,
    itself: Bools,
) -> None:
    """Raise for the first pair of the list that is there twice or a sequence with itself."""
    wrong = np.flatnonzero(again | itself)
    if not len(wrong):
        return
    place = int(wrong[np.argmin(order[wrong])])
    number = int(order[place])
    names = (
        shown_name(queries.names[pairs.first[number]]),
        shown_name(targets.names[pairs.second[number]]),
    )
    if itself[place]:
        raise PairListError(
            f"{pairs.where(number)}: {names[0]} with itself; a pair is of two sequences"
        )
    raise PairListError(
        f"{pairs.where(number)}: the pair of {names[0]} and {names[1]} again, which is at "
        f"{pairs.where(int(order[place - 1]))}; each pair once"
    )


class NamesOf:
    """Names as native code reads them, with what keeps them alive.

    Attributes
    ----------
    struct : NativeNames
    """

    def __init__(self, names: Iterable[str]) -> None:
        encoded = [name.encode("utf-8", "surrogateescape") for name in names]
        text = np.frombuffer(b"".join(encoded), np.uint8)
        ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
        self.struct = NativeNames(text, ends, len(encoded))


def _is_paf(text: bytes) -> bool:
    """Whether the first line is one of PAF: its fifth column is a strand."""
    line = text.lstrip(b"\n")[: 1 << 16].split(b"\n", 1)[0].split(b"\t")
    return len(line) >= _PAF_COLUMNS and line[4] in (b"+", b"-")


def _indices_of(
    items: list[tuple[Any, Any]], sets: tuple[SequenceSet, SequenceSet]
) -> tuple[Int32s, Int32s]:
    """Input indices of pairs of names."""
    places = [
        {name: k for k, name in enumerate(sequences.names)} for sequences in dict.fromkeys(sets)
    ]
    indices = np.empty((2, len(items)), np.int32)
    for number, item in enumerate(items):
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise WrongTypeError(f"pairs[{number}] {item!r}: expected two names or two indices")
        for side, name in enumerate(item):
            place = places[side % len(places)].get(name)
            if place is None:
                raise PairListError(
                    f"pairs[{number}]: {shown_name(str(name))} is not in {sets[side].source}"
                )
            indices[side, number] = place
    return indices[0], indices[1]


def _error(
    text: bytes,
    name: str,
    is_paf: bool,
    trouble: NativeListTrouble,
    second: SequenceSet,
    first: SequenceSet,
) -> Exception:
    where = f"{name}: line {trouble.line}"
    if trouble.kind == _FEW_COLUMNS:
        expected = "PAF, with names in columns 1 and 6" if is_paf else "two names"
        return PairListError(f"{where}: a name is missing, expected {expected}")
    if trouble.kind == _UNKNOWN_NAME:
        shown = text[trouble.start : trouble.start + trouble.bytes].decode("utf-8", "replace")
        sequences = second if trouble.side else first
        return PairListError(f"{where}: {shown_name(shown)} is not in {sequences.source}")
    return MemoryError(f"{name}: out of memory while it is read")
