"""Homologs that were found for a family, as far as they are known beside its alignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.sequences.sets import SequenceSet, join_sets


@dataclass(frozen=True, eq=False)
class Homologs:
    """Sequences of a database that a family is aligned with.

    Attributes
    ----------
    sequences : SequenceSet or None
        Trimmed to their hits, from the nearest to the farthest; None: there are none.
    found : int
        How many sequences of the database were hits, those of equal residues once.
    identities : ndarray of float64, shape (n,)
        Of each with the member that it is most similar to: matches by columns.
    """

    sequences: SequenceSet | None
    found: int
    identities: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.identities)

    def after(self, family: SequenceSet) -> SequenceSet:
        """Return the sequences of the family, then the homologs."""
        if self.sequences is None:
            return family
        return join_sets((family, self.sequences))
