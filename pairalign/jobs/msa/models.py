"""Which model's posteriors a family is aligned by."""

from __future__ import annotations

import numpy as np

from pairalign.jobs.msa.grouping import MOST_IN_GROUP
from pairalign.scoring.posterior_models import PosteriorModel, posterior_model
from pairalign.sequences.sets import SequenceSet

ALIKE = 0.85
"""Mean ratio of the lengths of two sequences from which a family has no long free ends.

Chosen, with the model, on the tuning half of ``scripts/benchmark.py msa``."""


def family_model(sequences: SequenceSet) -> PosteriorModel:
    """Return the model for a family.

    Parameters
    ----------
    sequences : SequenceSet

    Returns
    -------
    PosteriorModel
        With flat emissions where sequences are of like lengths. Families of more than
        `MOST_IN_GROUP` have the other one, as theirs was not tried.
    """
    alike = 2 <= len(sequences) <= MOST_IN_GROUP and _mean_ratio(sequences) >= ALIKE
    return posterior_model(sequences.alphabet, flat=alike)


def _mean_ratio(sequences: SequenceSet) -> float:
    """Return the mean ratio of the shorter length to the longer one, of all pairs."""
    lengths = sequences.lengths.astype(np.int64)
    first, second = np.triu_indices(len(lengths), 1)
    shorter, longer = (
        choose(lengths[first], lengths[second]) for choose in (np.minimum, np.maximum)
    )
    return int(((shorter << 20) // longer).sum()) / (len(first) << 20)  # exact: the same everywhere
