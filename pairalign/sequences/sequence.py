"""One sequence of a set."""

from __future__ import annotations

from dataclasses import dataclass


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
