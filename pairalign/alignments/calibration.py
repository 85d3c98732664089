"""How likely aligned residues are right, by the mean of their posteriors.

A posterior is too low, the more so the more sequences an alignment is made of: what the others say
of two residues is not in the posterior of their pair. The weights are estimated from reference
alignments, and written to ``calibration.json``, by `scripts/fit_confidence.py`. What is right
there, with x the mean of the posteriors and n sequences, has the log odds a + b log x - c log(1 -
x) - d / n. The curve rises.

That is of residues that are where their posteriors are. Of a residue that has more with others than
with those in its column, in an alignment that is given, x is less (`placed`).
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import ONE
from pairalign.base.arrays import Doubles
from pairalign.sequences.alphabets import Alphabet

WEIGHTS: dict[str, list[float]] = json.loads(Path(__file__).with_suffix(".json").read_text())
"""Of an alphabet: a, b, c, d."""

STEPS = 256
"""Between those the curve is straight: the same bytes on every machine."""

MARKS = 10
"""Marks of confidence above ``0``, see `pairalign.jobs.msa.msa_files`."""


def calibrate(means: Doubles, alphabet: Alphabet, sequences: int) -> Doubles:
    """Return how likely residues are right.

    Parameters
    ----------
    means : ndarray of float64
        Of each, the mean of its posteriors with others; nan: there is none, and stays.
    sequences : int
        How many the alignment has.

    Returns
    -------
    ndarray of float64
    """
    curve = _curve(alphabet.name, sequences)
    places = np.nan_to_num(means) * STEPS
    left = np.minimum(places.astype(np.int64), STEPS - 1)
    chances = curve[left] + (places - left) * (curve[left + 1] - curve[left])
    return np.where(np.isnan(means), np.nan, chances)


def placed(means: Doubles, others: Doubles) -> Doubles:
    """Return means of posteriors, those of residues that belong elsewhere by how much they do.

    Parameters
    ----------
    means : ndarray of float64
        As for `calibrate`.
    others : ndarray of float64
        Means of the largest posteriors with residues elsewhere.

    Returns
    -------
    ndarray of float64
        x, times x / y where y is more.
    """
    values: Doubles = means.copy()
    np.divide(means * means, others, out=values, where=others > means)
    return values


def least_posteriors(alphabet: Alphabet) -> npt.NDArray[np.uint16]:
    """Return the least posterior in an alignment of two sequences that has each mark above ``0``.

    Returns
    -------
    ndarray of uint16, shape (MARKS,)
        In 65535ths.
    """
    confidence = calibrate(np.arange(ONE + 1) / ONE, alphabet, 2)
    tenths = np.floor(confidence * MARKS + 0.5)
    return np.searchsorted(tenths, np.arange(1, MARKS + 1)).astype(np.uint16)


@lru_cache(maxsize=64)
def _curve(alphabet: str, sequences: int) -> Doubles:
    """Return the curve at all steps; at both ends that of half a step before them."""
    start, low, high, few = WEIGHTS[alphabet]
    curve = []
    for step in range(STEPS + 1):
        mean = min(max(step, 0.5), STEPS - 0.5) / STEPS
        odds = start + low * math.log(mean) - high * math.log(1 - mean) - few / sequences
        curve.append(round(1 / (1 + math.exp(-odds)), 6))
    return np.array(curve)
