"""Which pair HMM a family is aligned by.

The pair HMM with several match states was trained on references, most of which are domains, and
aligns domains better, the more the less similar they are; whole proteins, parts of which have no
counterpart in others, it aligns worse. Lengths tell the two apart to some degree. That of DNA was
trained on structured RNAs; genes evolve otherwise, and are longer.
"""

from __future__ import annotations

import numpy as np

from pairalign.scoring.posterior_models import MOST_MATCH_STATES
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet

MOST_OF_ALL_PAIRS = 100
"""Sequences that are aligned by the posteriors of all their pairs, if they are not too long."""

_ALIKE = 0.9
"""Of the longer sequence of a pair, in the mean of all pairs."""

_MOST_BASES = 500
"""Of DNA and RNA, in the mean: longer sequences are taken for genes."""

_ONE = 1 << 20


def match_states_of(sequences: SequenceSet) -> int:
    """Return how many match states the pair HMM of a family has.

    Parameters
    ----------
    sequences : SequenceSet
        Two or more.

    Returns
    -------
    int
        `MOST_MATCH_STATES` for up to `MOST_OF_ALL_PAIRS` proteins whose lengths are alike, and for
        as many sequences of DNA that are short; else 1.

    Notes
    -----
    In whole numbers, so that it is the same on every machine.
    """
    count = len(sequences)
    if count > MOST_OF_ALL_PAIRS:
        return 1
    lengths = sequences.lengths.astype(np.int64)
    if sequences.alphabet == DNA:
        is_short = int(lengths.sum()) <= _MOST_BASES * len(lengths)
        return MOST_MATCH_STATES if is_short else 1
    first, second = (lengths[index] for index in np.triu_indices(len(lengths), 1))
    alike = np.minimum(first, second) * _ONE // np.maximum(first, second)
    return MOST_MATCH_STATES if int(alike.sum()) >= int(_ALIKE * _ONE) * len(alike) else 1
