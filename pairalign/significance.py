"""How surprising local scores are: bit scores and E-values (Karlin and Altschul 1990).

The best local score of two unrelated sequences follows a Gumbel distribution with parameters lambda
and K. A raw score S is worth ``(lambda S - ln K) / ln 2`` bits, and a search space of ``m n`` cells
has ``K m n exp(-lambda S)`` alignments of at least that score by chance: the E-value.

Search spaces are BLAST's: for a query of m letters, ``(m - l) (n - N l)``, with the n letters and N
sequences of the database and the length adjustment l of Altschul and Gish (1996), so that an
alignment has room to end inside.

References
----------
.. [1] S. Karlin, S. F. Altschul. Methods for assessing the statistical significance of molecular
   sequence features by using general scoring schemes. PNAS 87:2264-2268, 1990.
.. [2] S. F. Altschul, W. Gish. Local alignment statistics. Methods in Enzymology 266:460-480, 1996.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Gumbel:
    """Parameters of the distribution of local scores.

    Attributes
    ----------
    lambda_ : float
        Of raw scores: nats a raw (scaled) unit.
    k : float
    alpha, beta : float
        An alignment of raw score S has a mean length of ``alpha lambda S + beta`` letters.
    source : str
        Where they come from, for people.
    """

    lambda_: float
    k: float
    alpha: float
    beta: float
    source: str


@dataclass(frozen=True, eq=False)
class Significance:
    """What bit scores and E-values of a run are made of.

    Attributes
    ----------
    gumbel : Gumbel
    spaces : tuple of two float64 arrays
        The search space of each sequence as a query: of the queries' set among the targets, and of
        the targets' set among the queries.
    database : tuple of int
        Letters and sequences of the database that queries are searched in.
    """

    gumbel: Gumbel
    spaces: tuple[Doubles, Doubles]
    database: tuple[int, int]

    def evalue(self, raw_score: npt.ArrayLike, query: npt.ArrayLike) -> Doubles:
        """Return the E-values of raw scores of some queries, float64."""
        scores = np.asarray(raw_score, np.float64)
        values: Doubles = np.exp(
            math.log(self.gumbel.k)
            + np.log(self.spaces[0][np.asarray(query)])
            - self.gumbel.lambda_ * scores
        )
        return values

    def bits(self, raw_score: npt.ArrayLike) -> Doubles:
        """Return the bit scores of raw scores, float64."""
        scores = np.asarray(raw_score, np.float64)
        values: Doubles = (self.gumbel.lambda_ * scores - math.log(self.gumbel.k)) / math.log(2)
        return values
