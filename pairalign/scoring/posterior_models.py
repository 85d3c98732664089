"""The models of pairs that posteriors are computed of, and where their parameters are from.

Two models, combined as MSAProbs does (Liu et al. 2010): a pair HMM and a partition function. Both
are in odds ratios: a residue in a gap counts 1, an aligned pair what is tabulated in
``protein_models.json`` and ``dna_models.json``, which have lower triangles of symmetric tables.

========== ==================================== ==================================================
alphabet   pair HMM                             partition function
========== ==================================== ==================================================
protein    ProbCons 1.12, five states           MIQS; gaps 22.9675 and 1.31272, temperature 5.02492
           (Do et al. 2005)                     (Yamada and Tomii 2014; the gaps and the temperature
                                                are those of Gonnet 160 in Probalign, 22/1 and 5,
                                                brought to its scale)
dna        ProbConsRNA 1.10 and flanks          log odds of ProbConsRNA; gaps 4 and 0.25,
           (Do et al. 2005)                     temperature 1 (Probalign; Roshan and Livesay 2006)
========== ==================================== ==================================================

Of DNA, odds to the power 0.8 and half of the chance to open a gap are better than as published;
these and the weights of flanks were chosen on half of 162 RNA families, and those where no fragment
of simulated genes is torn. They add up to no 1.

With four match states (`MOST_MATCH_STATES`) the pair HMM is that of small families of
`pairalign msa` (`pairalign.jobs.msa.one_family`). Of proteins, a state of ProbCons' pairs and
those of helices, strands and other residues (EHO, Le et al. 2008, six replacements a site, gamma
distribution of shape 1) were the start; chances to stay in, leave and enter a state were estimated
by expectation maximization. All were then trained together by 40 steps along the gradient of the
expected accuracy: the share of what references align, of pairs below 70% identity of the tuning
half of BAliBASE RV11, RV20, RV40 (whole and trimmed) and OXBENCH, each family with a weight of its
sequences less one, four at most. Changes of logarithms were penalized by their squares. Extending,
closing and ending gaps stayed as in ProbCons. What came out are weights that add up to no 1.

The four match states of DNA are estimated from 75 alignments of 14 RNA families, and the partition
function's odds beside them: `scripts/train_models.py` makes them again. Half of the chance to open
a gap, 0.4 to extend it and 0.15 in the partition function were chosen on the same families.

Residues that stand for several (B, Z, J, and the IUPAC letters of DNA) have the mean of the odds of
these, weighted by how frequent they are; U counts as C, O as K; X, N, ``*`` and any other have odds
of 1: they say nothing.

References
----------
Do CB, Mahabhashyam MSP, Brudno M, Batzoglou S. ProbCons: probabilistic consistency-based multiple
sequence alignment. Genome Res 15:330-340, 2005.
Le SQ, Lartillot N, Gascuel O. Phylogenetic mixture models for proteins. Philos Trans R Soc B
363:3965-3976, 2008.
Pei J, Grishin NV. MUMMALS: multiple sequence alignment improved by using hidden Markov models with
local structural information. Nucleic Acids Res 34:4364-4374, 2006 (several match states).
Roshan U, Livesay DR. Probalign: multiple sequence alignment using partition function posterior
probabilities. Bioinformatics 22:2715-2721, 2006.
Liu Y, Schmidt B, Maskell DL. MSAProbs: multiple sequence alignment based on pair hidden Markov
models and partition function posterior probabilities. Bioinformatics 26:1958-1964, 2010.
Yamada K, Tomii K. Revisiting amino acid substitution matrices for identifying distantly related
proteins. Bioinformatics 30:317-325, 2014.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pairalign.base.arrays import Doubles, Int32s
from pairalign.sequences.alphabets import DNA, Alphabet

CODES = 32
"""Residues of an alphabet: the rows and columns of emission tables."""

MOST_MATCH_STATES = 4
"""A pair HMM has these, or one."""

_SIGNIFICANT_BITS = 20
"""Of what tables hold: a last bit that libraries compute differently does not matter."""


@dataclass(frozen=True)
class PosteriorModel:
    """A pair HMM and a partition function, as `cpu/posterior/model.h` has them.

    Attributes
    ----------
    hmm_emission : ndarray of float64, shape (match_states, 32, 32)
        Odds of an aligned pair by match state and the codes of its residues; symmetric.
    partition_emission : ndarray of float64, shape (32, 32)
        The same of the partition function.
    start_match, start_short, start_long : float
        To begin, and to end, in a match, a short and a long gap.
    stay, leave, enter : ndarray of float64, shape (match_states,)
        A match state stays itself, or is left for one that does not depend on it; gaps are left
        for `enter` as well. One match state: `leave` is 0, `enter` 1.
    open_short, open_long : ndarray of float64, shape (match_states,)
        From a match state to a gap of each kind.
    extend_short, extend_long, close_short, close_long : float
        Of the two kinds of gaps.
    gap_open, gap_extend : float
        What the first residue of a gap multiplies the partition function by, and each further one.
    """

    hmm_emission: Doubles
    partition_emission: Doubles
    start_match: float
    start_short: float
    start_long: float
    stay: Doubles
    leave: Doubles
    enter: Doubles
    open_short: Doubles
    open_long: Doubles
    extend_short: float
    extend_long: float
    close_short: float
    close_long: float
    gap_open: float
    gap_extend: float

    @property
    def match_states(self) -> int:
        """One, or `MOST_MATCH_STATES`."""
        return len(self.stay)


OF_STATES = ("stay", "leave", "enter", "open_short", "open_long")
"""Fields of a model that have a number for each match state."""

_DNA_TEMPERATURE = 1.25
"""Of the pair HMM with one match state: what its log odds are divided by."""
_DNA_GAP = 0.5
"""What the chance to open a gap in the pair HMM is multiplied by."""
_FLANK = 0.002
"""What a flank is worth beside a pair that begins or ends in a match."""
_FLANK_EXTENSION = 0.6
_INSIDE = 1024
"""What a long gap that is no flank is divided by, once at each end."""

_ALIGNED = 30
"""In place of an extension of gaps: each pair of residues that are aligned."""


@cache
def posterior_model(alphabet: Alphabet, *, match_states: int = 1) -> PosteriorModel:
    """Return the models for sequences of an alphabet, the same object each time.

    Parameters
    ----------
    match_states : int
        One, or `MOST_MATCH_STATES`.
    """
    if alphabet == DNA:
        return _dna_model() if match_states == 1 else _rna_model()
    return _probcons_model() if match_states == 1 else _trained_model()


@dataclass(frozen=True)
class ProfileCosts:
    """What joins of alignments as profiles score, in 30ths of a bit.

    Attributes
    ----------
    scores : ndarray of int32, shape (32, 32)
        Of the codes of two residues, with what each aligned pair scores besides.
    gap_open : int
        For the two ends of a gap.
    posterior : int
        What a posterior of 1 scores.
    """

    scores: Int32s
    gap_open: int
    posterior: int


def profile_costs(alphabet: Alphabet) -> ProfileCosts | None:
    """Return the costs of an alphabet; None: none are known to be good."""
    if alphabet == DNA:
        return None
    miqs = _symmetric(_parameters("protein")["miqs"])
    scores = np.full((CODES, CODES), _ALIGNED, np.int32)
    scores[: len(miqs), : len(miqs)] += np.rint(10 * miqs).astype(np.int32)
    return ProfileCosts(scores, gap_open=100, posterior=100)


@cache
def _parameters(alphabet: str) -> Mapping[str, Any]:
    """Return the parameters of the models of an alphabet."""
    text = Path(__file__).with_name(f"{alphabet}_models.json").read_text()
    parameters: Mapping[str, Any] = json.loads(text)
    return parameters


def _trained_model() -> PosteriorModel:
    trained = dict(_parameters("protein")["trained"])
    states = trained.pop("states")
    return _protein_model(
        [_symmetric(state["odds"]) for state in states],
        **trained,
        **{name: [state[name] for state in states] for name in OF_STATES},
    )


def _probcons_model() -> PosteriorModel:
    parameters = _parameters("protein")
    background = np.array(parameters["background"])
    weights = dict(parameters["probcons"])
    odds = _symmetric(weights.pop("pairs")) / np.outer(background, background)
    short, long = weights.pop("open_short"), weights.pop("open_long")
    return _protein_model(
        [odds],
        **weights,
        close_short=1 - weights["extend_short"],
        close_long=1 - weights["extend_long"],
        stay=[1 - 2 * short - 2 * long],
        leave=[0],
        enter=[1],
        open_short=[short],
        open_long=[long],
    )


def _protein_model(odds: list[Doubles], **hmm: float | list[float]) -> PosteriorModel:
    """Return a pair HMM of proteins with the partition function that both have."""
    parameters = _parameters("protein")
    background, partition = np.array(parameters["background"]), parameters["partition"]
    temperature = partition["temperature"]
    boltzmann = _exponential(_symmetric(parameters["miqs"]) / temperature)
    return PosteriorModel(
        hmm_emission=np.stack(
            [_with_ambiguous(table, background, _PROTEIN_GROUPS) for table in odds]
        ),
        partition_emission=_with_ambiguous(boltzmann, background, _PROTEIN_GROUPS),
        **_rounded(
            **hmm,
            gap_open=math.exp(-partition["gap_open"] / temperature),
            gap_extend=math.exp(-partition["gap_extend"] / temperature),
        ),
    )


def _dna_model() -> PosteriorModel:
    parameters = _parameters("dna")["probcons"]
    background = np.array(parameters["background"])
    odds = _symmetric(parameters["pairs"]) / np.outer(background, background)
    return _model_with_flanks(
        [odds ** (1 / _DNA_TEMPERATURE)],
        odds,
        background,
        extend=parameters["extend"],
        gap_extend=math.exp(-0.25),
        stay=[1 - 2 * parameters["open_short"]],
        leave=[0],
        enter=[1],
        open_short=[parameters["open_short"]],
    )


def _rna_model() -> PosteriorModel:
    parameters = _parameters("dna")["trained"]
    states = parameters["states"]
    return _model_with_flanks(
        [_symmetric(state["odds"]) for state in states],
        _symmetric(parameters["odds"]),
        np.array(parameters["background"]),
        extend=0.4,
        gap_extend=math.exp(-0.15),
        **{name: [state[name] for state in states] for name in OF_STATES if name != "open_long"},
    )


def _model_with_flanks(
    odds: list[Doubles],
    partition_odds: Doubles,
    background: Doubles,
    *,
    extend: float,
    gap_extend: float,
    enter: list[float],
    open_short: list[float],
    **hmm: list[float],
) -> PosteriorModel:
    """Return a model of DNA: gaps are closed as they are opened, long ones are flanks.

    As published, an end in a match weighs 46 times one in a gap, and the last base of a fragment
    stands where the longer sequence ends.
    """
    gaps = [chance * _DNA_GAP * (1 - extend) for chance in open_short]
    close = math.sqrt(sum(gap * share for gap, share in zip(gaps, enter, strict=True)))
    return PosteriorModel(
        hmm_emission=np.stack([_with_ambiguous(table, background, _DNA_GROUPS) for table in odds]),
        partition_emission=_with_ambiguous(partition_odds, background, _DNA_GROUPS),
        **_rounded(
            **hmm,
            enter=enter,
            open_short=[gap / close for gap in gaps],
            open_long=[_FLANK / _INSIDE] * len(gaps),
            start_match=1 / _INSIDE,
            start_short=close / _INSIDE,
            start_long=1.0,
            extend_short=extend,
            extend_long=_FLANK_EXTENSION,
            close_short=close,
            close_long=_FLANK / _INSIDE,
            gap_open=math.exp(-4.0),
            gap_extend=gap_extend,
        ),
    )


def _symmetric(lower_triangle: list[list[float]]) -> Doubles:
    table = np.zeros((len(lower_triangle), len(lower_triangle)))
    for i, row in enumerate(lower_triangle):
        table[i, : i + 1] = table[: i + 1, i] = row
    return table


def _exponential(table: Doubles) -> Doubles:
    values: Doubles = np.vectorize(math.exp)(table).astype(np.float64)
    return values


def _with_ambiguous(
    odds: Doubles,
    background: Doubles,
    groups: Mapping[int, tuple[int, ...]],
) -> Doubles:
    """Extend odds of unambiguous residues to all codes, and round them."""
    unambiguous = len(odds)
    mixture = np.zeros((CODES, unambiguous))
    mixture[:unambiguous] = np.eye(unambiguous)
    for code, members in groups.items():
        weights = background[list(members)]
        mixture[code, list(members)] = weights / weights.sum()
    table = mixture @ odds @ mixture.T
    unknown = ~mixture.any(axis=1)
    table[unknown] = table[:, unknown] = 1
    return _round(table)


def _round(table: Doubles) -> Doubles:
    mantissa, exponent = np.frexp(table)
    rounded: Doubles = np.ldexp(
        np.rint(np.ldexp(mantissa, _SIGNIFICANT_BITS)), exponent - _SIGNIFICANT_BITS
    )
    return rounded


def _rounded(**values: float | list[float]) -> dict[str, Any]:
    """Round numbers, and lists of them to arrays."""
    return {
        name: _round(np.array(value, float))
        if isinstance(value, list)
        else float(_round(np.array(value)))
        for name, value in values.items()
    }


# Codes of the alphabets in `pairalign.sequences.sets`: B, Z, U, O, J.
_PROTEIN_GROUPS = {20: (2, 3), 21: (5, 6), 23: (4,), 24: (11,), 25: (9, 10)}
# R, Y, S, W, K, M, B, D, H, V.
_DNA_GROUPS = {
    4: (0, 2),
    5: (1, 3),
    6: (1, 2),
    7: (0, 3),
    8: (2, 3),
    9: (0, 1),
    10: (1, 2, 3),
    11: (0, 2, 3),
    12: (0, 1, 3),
    13: (0, 1, 2),
}

GROUP = 8
"""Rows; as in ``common/posterior_scaling.h``."""


def growth_bits(model: PosteriorModel) -> int:
    """Return the bits that the values of a row grow by within a group at most, rounded up.

    Kernels bring the largest value of a row to one size every `GROUP` rows
    (``cpu/posterior/kernel.h``, ``cuda/posterior/rows.cuh``), and what a row may grow until then
    has to fit their numbers (``common/posterior_scaling.h``). Here the recurrences of
    ``cpu/posterior/model.h`` are applied to bounds: what each state is at most in any column, where
    the largest value of the row was 1.

    Not all states count for the largest value. The bounds of the others follow from what they add
    to those that do, in the same cell. Going forward, what a cell hands to the match states of the
    next, A, has ``enter * close * X`` of each gap X, and ``stay * M``. Going backward, a match
    state has ``open * X`` of the gap of the next row, and ``stay`` times the match that follows it.
    """
    bounds = (_hmm_forward, _hmm_backward, _partition_forward, _partition_backward)
    return math.ceil(math.log2(max(float(value) for bound in bounds for value in bound(model))))


def _hmm_forward(model: PosteriorModel) -> Iterator[float]:
    emission = model.hmm_emission.max(axis=(1, 2))
    closing = model.enter.max()
    opening = float((model.open_short / model.stay).sum())
    handed = np.ones(model.match_states)
    x1 = model.extend_short / (model.close_short * closing) + opening
    x2 = max(1.0, model.extend_long / (model.close_long * closing))  # it counts, but in column 0
    for _ in range(GROUP):
        match = emission * handed
        opened1, opened2 = float(model.open_short @ match), float(model.open_long @ match)
        gaps1 = x1 + opened1 / (1 - model.extend_short)  # of x, and of y along a row
        gaps2 = x2 + opened2 / (1 - model.extend_long)
        hub = model.leave @ match + model.close_short * gaps1 + model.close_long * gaps2
        handed = model.stay * match + model.enter * hub
        x1, x2 = model.extend_short * x1 + opened1, model.extend_long * x2 + opened2
        yield from (match.max(), handed.max(), gaps1, gaps2, x1, x2)


def _hmm_backward(model: PosteriorModel) -> Iterator[float]:
    emission = model.hmm_emission.max(axis=(1, 2))
    match, x2 = np.ones(model.match_states), 1.0
    entering = float((model.enter / model.stay).sum())
    inside = model.extend_short / model.open_short.max() + model.close_short * entering
    x1 = max(inside, model.start_short / max(model.start_match, model.start_long))
    for _ in range(GROUP):
        matched = emission * match
        entered = float(model.enter @ matched)
        closed1, closed2 = model.close_short * entered, model.close_long * entered
        gaps1 = x1 + closed1 / (1 - model.extend_short)
        gaps2 = x2 + closed2 / (1 - model.extend_long)
        opened = model.open_short * gaps1 + model.open_long * gaps2
        match = model.stay * matched + model.leave * entered + opened
        x1, x2 = model.extend_short * x1 + closed1, model.extend_long * x2 + closed2
        # What is kept has the emission already, which does not count for the largest value.
        yield from ((emission * match).max(), gaps1, gaps2, x1, x2)


def _partition_forward(model: PosteriorModel) -> Iterator[float]:
    """Bound M + X + Y, which counts, and X; in the last column, gaps of x cost nothing.

    Gaps of y cost nothing in the last row: what they add up to there is part of the pair's whole
    alone, which kernels check.
    """
    emission = float(model.partition_emission.max())
    handed, x = 1.0, 2.0
    for _ in range(GROUP):
        match = emission * handed
        y = model.gap_open * match / (1 - model.gap_extend)
        handed = match + x + y
        x = max(model.gap_extend * x + model.gap_open * match, x + match)
        yield from (handed, x)


def _partition_backward(model: PosteriorModel) -> Iterator[float]:
    """Bound M, X and Y, which count; no match follows the last column, whose gaps cost nothing."""
    emission = float(model.partition_emission.max())
    match = x = 1.0
    for _ in range(GROUP):
        matched = emission * match
        y = matched / (1 - model.gap_extend)
        match = max(matched + model.gap_open * (x + y), x + model.gap_open * y)
        x = max(x, matched + model.gap_extend * x)
        yield from (emission * match, x, y)
