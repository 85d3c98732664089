"""The leakage of folds: how much of the similarity of all pairs is across folds.

L = the sum of s(a, b) over pairs in two folds / the sum over all pairs in folds, where s is the
identity of a pair that is similar enough to be looked at, and 0 of others. Pairs are unordered, of
two sequences; all sequences weigh the same.

References
----------
Joeres R, Blumenthal DB, Kalinina OV. Data splitting to avoid information leakage with DataSAIL.
Nature Communications 16, 2025. doi:10.1038/s41467-025-58606-8
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_UNIT = float(1 << 32)
"""Identities are summed as whole numbers: the order of the pairs changes nothing."""


@dataclass
class Leakage:
    """Sums of similarities, as pairs come.

    Attributes
    ----------
    across, total : int
        Of pairs in two folds, and of all pairs in folds.
    """

    across: int = 0
    total: int = 0

    def add(self, identity: npt.NDArray[np.float64], is_across: npt.NDArray[np.bool_]) -> None:
        """Take in some pairs in folds."""
        similarity = np.rint(identity * _UNIT).astype(np.int64)
        self.total += int(similarity.sum())
        self.across += int(similarity[is_across].sum())

    @property
    def share(self) -> float:
        """What part of the similarity is across folds, from 0 to 1; 0 where there is none."""
        return self.across / self.total if self.total else 0.0
