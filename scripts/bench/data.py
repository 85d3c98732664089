"""Sequences to measure on: a sample of a FASTA file, in residues that every peer can score."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

SCORED_BY_ALL = set("ARNDCQEGHILKMFPSTWYVBZX")
STAND_INS = str.maketrans("UO", "CK")
"""pairalign scores U as C and O as K; the peers would score them as anything."""


@dataclass(frozen=True)
class Sample:
    """Proteins, longest first: sorted position, input index and row of a peer are all the same."""

    source: str
    sequences: SequenceSet

    @property
    def residues(self) -> list[str]:
        """The sequences as text."""
        return [sequence.residues for sequence in self.sequences]

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.sequences) * (len(self.sequences) - 1) // 2

    @property
    def cells(self) -> int:
        """Cells of the matrices of all pairs: the C in GCUPS."""
        lengths = self.sequences.lengths.astype(object)
        return int((lengths.sum() ** 2 - (lengths**2).sum()) // 2)

    def describe(self) -> str:
        """One line for the report."""
        mean = self.sequences.lengths.mean()
        return (
            f"{self.source}: {len(self.sequences)} proteins, mean length {mean:.0f}, "
            f"{self.pairs:,} pairs, {self.cells / 1e9:.2f} Gcells"
        )


def take_sample(path: Path, number: int | None) -> Sample:
    """Draw `number` sequences, always the same ones; None takes all that every peer can score."""
    letters = [str(one).upper().translate(STAND_INS) for one in read_fasta(path, alphabet=PROTEIN)]
    usable = [one for one in letters if SCORED_BY_ALL.issuperset(one)]
    if number is not None and number < len(usable):
        usable = random.Random(1).sample(usable, number)
    usable.sort(key=len, reverse=True)
    return Sample(path.name, SequenceSet.from_strings(usable, alphabet=PROTEIN))
