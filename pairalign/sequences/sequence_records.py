"""Raw records of files, before they become a set; one sequence of a set, and which are meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int64s
from pairalign.base.error_types import WrongTypeError, cut_name


@dataclass(frozen=True)
class Sequence:
    """One sequence of a set.

    Attributes
    ----------
    name : str
        The header up to the first blank.
    description : str
        The whole header.
    residues : str
        As they were read.
    """

    name: str
    description: str
    residues: str

    def __len__(self) -> int:
        return len(self.residues)

    def __str__(self) -> str:
        return self.residues


class Origin(NamedTuple):
    """Records of one file that stand together in a set.

    Attributes
    ----------
    name : str
        What messages call the file.
    numbers : ndarray of int64, shape (n,)
        Which records of the file they are, counted from 1.
    """

    name: str
    numbers: Int64s


class Records(NamedTuple):
    """Raw records of a file, or of several, in their order.

    Attributes
    ----------
    names, descriptions : list of str
        First word of each header (may be empty) and the whole header.
    residues : bytes
        All sequences joined, without white space, case kept; not checked.
    offsets : ndarray of int64, shape (n + 1,)
        Where each sequence starts in `residues`; the last entry is their total.
    origins : tuple of Origin
        Where the records come from, in their order; empty: all records of one file.
    qualities : bytes or None
        A character a residue, as FASTQ has them; None: not known, or not read.
    """

    names: list[str]
    descriptions: list[str]
    residues: bytes
    offsets: Int64s
    origins: tuple[Origin, ...] = ()
    qualities: bytes | None = None


def join_records(names: list[str], descriptions: list[str], sequences: list[bytes]) -> Records:
    """Put separate sequences (no white space in them) together as `Records`."""
    offsets = np.zeros(len(sequences) + 1, np.int64)
    np.cumsum([len(sequence) for sequence in sequences], out=offsets[1:])
    return Records(names, descriptions, b"".join(sequences), offsets)


Several = slice | list[int] | list[str] | list[bool] | npt.NDArray[Any]
"""What several sequences are chosen by."""


def place_of(name: str, names: list[str]) -> int:
    """Return the place of a name; KeyError if there is none."""
    try:
        return names.index(name)
    except ValueError:
        raise KeyError(f"no sequence is called {cut_name(name)!r}") from None


def places_of(chosen: Several, names: list[str]) -> Int64s:
    """Return the input indices of some sequences, in the order in which they are chosen.

    Raises
    ------
    IndexError, KeyError
        There is no such sequence.
    WrongTypeError
        It is none of `Several`.
    """
    count = len(names)
    if isinstance(chosen, slice):
        return np.arange(*chosen.indices(count))
    values = np.asarray(chosen, None if len(chosen) else np.int64)
    if values.dtype == np.bool_ and values.shape != (count,):
        raise IndexError(f"a mask of shape {values.shape}, expected ({count},)")
    if values.ndim != 1:
        raise WrongTypeError(
            f"expected indices, names or a mask, found an array of {values.ndim} axes"
        )
    if values.dtype == np.bool_:
        return np.flatnonzero(values)
    if values.dtype.kind in "UO" and all(isinstance(value, str) for value in values.tolist()):
        return _of_names(values.tolist(), names)
    if values.dtype.kind not in "iu":
        raise WrongTypeError(
            f"expected indices, names or a mask, found values of type {values.dtype}"
        )
    for wrong in values[(values < -count) | (values >= count)][:1].tolist():
        raise IndexError(f"there is no sequence {wrong}: expected -{count} to {count - 1}")
    return np.where(values < 0, values + count, values).astype(np.int64)


def records_of(
    chosen: list[Sequence], origins: tuple[Origin, ...], qualities: bytes | None
) -> Records:
    """Put sequences together as `Records`."""
    names, headers = [record.name for record in chosen], [record.description for record in chosen]
    joined = join_records(names, headers, [record.residues.encode() for record in chosen])
    return Records(names, headers, joined.residues, joined.offsets, origins, qualities)


def origins_of(
    places: Iterable[int], origins: tuple[Origin, ...], source: str
) -> tuple[Origin, ...]:
    """Return where some sequences of a set come from, so that messages count as in the files."""

    def records() -> Iterator[tuple[str, int]]:
        ends = np.cumsum([len(origin.numbers) for origin in origins]).tolist()
        for place in places:
            which = int(np.searchsorted(ends, place, side="right")) if origins else 0
            if which < len(origins):
                origin = origins[which]
                yield origin.name, int(origin.numbers[place - (ends[which - 1] if which else 0)])
            else:
                yield source, place + 1

    return tuple(
        Origin(name, np.array([number for _, number in group], np.int64))
        for name, group in groupby(records(), key=lambda record: record[0])
    )


def _of_names(chosen: list[str], names: list[str]) -> Int64s:
    places = {name: place for place, name in enumerate(names)}
    for name in chosen:
        if name not in places:
            raise KeyError(f"no sequence is called {cut_name(name)!r}")
    return np.array([places[name] for name in chosen], np.int64)
