"""The usual residues of sets, and what the residues of their pairs do to lambda beside these."""

from __future__ import annotations

import numpy as np

from pairalign.base.error_types import ScoringError
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.composition import LETTERS, Doubles, PairComposition
from pairalign.statistics.gumbel_fit import ungapped_lambda
from pairalign.statistics.published import BACKGROUND
from pairalign.statistics.significance import Gumbel, find_gumbel

_SHARES = 1000


def composition(sequences: SequenceSet) -> Doubles:
    """Return the shares of the residues of a set, by code, to a thousandth, float64."""
    alphabet = sequences.alphabet
    count = LETTERS[alphabet.name]
    counts = np.array(
        [
            sequences.byte_counts[np.flatnonzero(alphabet.encoding == code)].sum()
            for code in range(count)
        ],
        np.float64,
    )
    if not counts.sum():
        raise ScoringError(f"{sequences.source}: no unambiguous residues: there are no E-values")
    # Rounded, so that what is kept serves other sets that are alike.
    rounded = np.rint(_SHARES * counts / counts.sum())
    shares: Doubles = rounded / rounded.sum()
    return shares


def pair_composition(
    scoring: Scoring,
    queries: SequenceSet,
    targets: SequenceSet | None = None,
    gumbel: Gumbel | None = None,
) -> PairComposition:
    """Return what the residues of each pair do to lambda of a scoring.

    Usual are the residues that published parameters are for (of DNA all four bases alike), else
    those of the sets.
    Without parameters (`gumbel`, or published ones) lambda is that of alignments without gaps.

    Raises
    ------
    ScoringError
        Random residues score 0 or more on average.
    """
    other = queries if targets is None else targets
    shares = composition(queries), composition(other)
    if find_gumbel(scoring) is not None:
        usual = np.ones(LETTERS["dna"])
        if scoring.alphabet.name == "protein":
            usual = np.array([BACKGROUND[letter] for letter in scoring.alphabet.letters[:20]])
        shares = usual / usual.sum(), usual / usual.sum()
    residues = len(shares[0])
    lambda_ = ungapped_lambda(scoring.matrix[:residues, :residues], *shares)
    gumbel = gumbel or find_gumbel(scoring)
    gapped = lambda_ if gumbel is None else gumbel.lambda_
    return PairComposition(scoring, queries, other, shares, lambda_, gapped)
