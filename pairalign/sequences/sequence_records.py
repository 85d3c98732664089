"""Raw records of files, before they are checked and become a set; and one sequence of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


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
    numbers: npt.NDArray[np.int64]


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
    offsets: npt.NDArray[np.int64]
    origins: tuple[Origin, ...] = ()
    qualities: bytes | None = None


def join_records(names: list[str], descriptions: list[str], sequences: list[bytes]) -> Records:
    """Put separate sequences (no white space in them) together as `Records`."""
    offsets = np.zeros(len(sequences) + 1, np.int64)
    np.cumsum([len(sequence) for sequence in sequences], out=offsets[1:])
    return Records(names, descriptions, b"".join(sequences), offsets)
