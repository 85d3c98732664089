"""What ``--preset auto`` takes, and what chance reaches: both found on a sample of the reads."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.thresholds import raw_minimum
from pairalign.base.arguments import parse_share
from pairalign.base.error_types import CapacityError
from pairalign.base.spelling import spelled
from pairalign.jobs.overlaps.presets import PRESETS, Preset
from pairalign.jobs.overlaps.sample import SampledPairs, chance_pairs, likely_pairs
from pairalign.jobs.overlaps.stages import OverlapThresholds
from pairalign.jobs.run.align_all import align
from pairalign.reads.overlap_kinds import overhangs
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

_SEED = 1
_SHORT_READS = 600  # residues: no Illumina read is longer
_SHARE_OF_RUN, _FEWEST_CELLS, _MOST_CELLS = 100, 5 * 10**8, 3 * 10**9
_LEAST_PAIRS = 8
_ENOUGH = 3
"""Sampled pairs that overlap from which on they say what the reads are like."""
_ACCURATE = {"short": 0.97, "hifi": 0.985}
"""Identity of reads with their best partners. Not with all: genes of a family differ, too."""
_SHARE_OF_READ, _LEAST_OVERLAP, _LEAST_SCORE = 0.6, 40, 28
_LEAST_SPREAD = 0.002
_DEVIATIONS, _LEAST_IDENTITY = 3, 0.5
"""Standard deviations below the median identity of sampled overlaps under which hardly any lies."""


@dataclass(frozen=True)
class Choice:
    """A preset, its thresholds scaled to the reads, and why it was taken.

    Attributes
    ----------
    reason : str
        For people.
    """

    preset: Preset
    reason: str


@dataclass(frozen=True)
class Chance:
    """What pairs without a common origin reach: reads against reversed ones.

    Attributes
    ----------
    pairs : int
        How many were aligned.
    best_score : int
        Raw.
    span : int
        Residues that they align in the median.
    best_identity : float
        Of those that align as many residues as an overlap must have; 0 where none does.
    lambda_, log_room : float
        The number of alignments, over all pairs and both strands, that are expected to score S by
        chance: ``exp(log_room - lambda_ S)``.
    identities : NormalDist or None
        Of those that align as many residues as an overlap must have; None where hardly any does.
    log_long : float
        Logarithm of how many of the run's pairs are expected to align that number.
    """

    pairs: int
    best_score: int
    span: int
    best_identity: float
    lambda_: float
    log_room: float
    identities: NormalDist | None
    log_long: float

    def expected(self, limits: OverlapThresholds) -> float:
        """Return how many overlaps of the whole run are expected to pass by chance."""
        by_score = math.exp(min(700.0, self.log_room - self.lambda_ * limits.min_raw_score))
        if self.identities is None:
            return by_score
        tail = self.identities.cdf(2 * self.identities.mean - float(limits.min_identity))
        return min(by_score, math.exp(self.log_long) * tail)

    def score_for(self, expected: float) -> int:
        """Return the least raw score that at most `most` overlaps are expected to reach."""
        return math.ceil((self.log_room - math.log(expected)) / self.lambda_)

    def raised(self, limits: OverlapThresholds, max_false: float) -> OverlapThresholds:
        """Return thresholds that at most `most` overlaps are expected to pass by chance.

        The least score is raised, or, where unrelated reads align over as many residues as overlaps
        must have, so that scores grow with the length of reads, the least identity.
        """
        if self.expected(limits) <= max_false:
            return limits
        if self.identities is None or self.span < limits.min_overlap:
            needed = max(limits.min_raw_score, self.score_for(max_false))
            return replace(limits, min_raw_score=needed)
        share = min(0.5, math.exp(math.log(max_false) - self.log_long))
        identity = 2 * self.identities.mean - self.identities.inv_cdf(share)
        needed_share = Fraction(math.ceil(identity * 10_000), 10_000)
        return replace(
            limits, min_identity=min(Fraction(1), max(limits.min_identity, needed_share))
        )


def choose_preset(reads: SequenceSet, *, threads: int, memory_bytes: int) -> Choice:
    """Return the preset that fits the reads, by pairs of a seeded sample that overlap.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA, at least two.

    Returns
    -------
    Choice
        The preset for accurate reads (``short`` up to a median of 600 residues, else ``hifi``)
        where sampled reads are 97% or 98.5% identical with their best partners, in the median; else
        ``ont``, whose least identity is lowered where sampled overlaps spread so far. Where too few
        overlap, the length decides: ``short``, or ``ont``.
    """
    is_short = float(np.median(reads.lengths)) <= _SHORT_READS
    strict = scaled_to(PRESETS["short" if is_short else "hifi"], reads)
    lax = scaled_to(PRESETS["ont"], reads)
    any_identity = replace(lax, min_identity=_LEAST_IDENTITY)
    pairs = likely_pairs(reads, _SEED)
    overlaps: list[Alignments] = []
    request = 0
    if pairs is not None:
        request = pairs.first(_budget(reads), _LEAST_PAIRS)
        numbers = np.arange(request)
        for preset in (strict, any_identity):
            if not len(numbers):
                break
            aligned = _align(pairs, numbers, preset.scoring("local"), threads, memory_bytes)
            passed = thresholds_of(preset, aligned.scoring).passed(aligned)
            overlaps.append(aligned.take(passed))
            numbers = np.delete(numbers, passed)
    count = sum(map(len, overlaps))
    seen = f"{count} of {request} sampled pairs overlap"
    if pairs is None or count < _ENOUGH:
        chosen = strict if is_short else lax
    else:
        identity = _best_identity(pairs, overlaps)
        is_accurate = identity >= _ACCURATE[strict.name]
        chosen = strict if is_accurate else _as_alike_as(lax, overlaps)
        seen += f", best partners are {100 * identity:.1f}% identical, {_describe_ends(overlaps)}"
    return Choice(chosen, _describe(chosen, reads, seen))


def scaled_to(preset: Preset, reads: SequenceSet) -> Preset:
    """Return a preset whose least overlap and score suit reads that are shorter than it expects.

    The least overlap is at most 0.6 of the length that three of four reads have, in tens; the least
    score is as much less.
    """
    usual = _SHARE_OF_READ * float(np.percentile(reads.lengths, 25))
    overlap = min(preset.min_overlap, max(_LEAST_OVERLAP, int(usual) // 10 * 10))
    if overlap == preset.min_overlap:
        return preset
    score = max(_LEAST_SCORE, preset.min_score * overlap // preset.min_overlap)
    return replace(preset, min_overlap=overlap, min_score=score)


def _as_alike_as(preset: Preset, overlaps: list[Alignments]) -> Preset:
    """Return a preset whose least identity lets nearly all overlaps through, as a sample says.

    Reads of one run differ in their errors, and an overlap has those of both. The threshold is
    never raised: the sample is of the best partners.
    """
    identities = np.concatenate([part.identity for part in overlaps])
    if len(identities) < _LEAST_PAIRS:
        return preset
    least = float(np.median(identities)) - _DEVIATIONS * float(identities.std(ddof=1))
    least = max(_LEAST_IDENTITY, math.floor(100 * least) / 100)
    return replace(preset, min_identity=min(preset.min_identity, least))


def thresholds_of(preset: Preset, scoring: Scoring) -> OverlapThresholds:
    """Return a preset's own thresholds."""
    raw = raw_minimum(preset.min_score, scoring)
    assert raw is not None
    identity = parse_share(preset.min_identity, "min_identity")
    return OverlapThresholds(max(1, raw), preset.min_overlap, identity)


def measure_chance(
    reads: SequenceSet,
    scoring: Scoring,
    limits: OverlapThresholds,
    *,
    threads: int,
    memory_bytes: int,
) -> Chance:
    """Align reads with reversed ones, and say what that means for all pairs of the set.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA, at least two.
    scoring : Scoring
        Its costs; the alignments are local, whose scores are at least those of other modes.

    Notes
    -----
    Scores are taken to follow a Gumbel distribution whose parameters are those most likely to give
    the scores found; identities of long alignments a normal one. Where unrelated reads align from
    end to end, scores follow none, and the fit says that no score is safe; identity decides then.
    """
    pairs = chance_pairs(reads, _SEED)
    numbers = np.arange(pairs.first(_budget(reads), _LEAST_PAIRS))
    alignments = _align(pairs, numbers, replace(scoring, mode="local"), threads, memory_bytes)
    spans = _spans(alignments)
    lambda_, log_k = _fit(alignments.raw_score, pairs.cells[numbers])
    residues = float(reads.total_residues)
    cells = residues**2 - float((reads.lengths.astype(np.float64) ** 2).sum())
    long = alignments.identity[spans >= max(1, limits.min_overlap)]
    identities = None
    if len(long) >= _ENOUGH:
        identities = NormalDist(float(long.mean()), max(_LEAST_SPREAD, float(long.std(ddof=1))))
    return Chance(
        pairs=len(alignments),
        best_score=int(alignments.raw_score.max()),
        span=int(np.median(spans)),
        best_identity=float(long.max()) if len(long) else 0.0,
        lambda_=lambda_,
        log_room=log_k + math.log(cells),
        identities=identities,
        log_long=math.log(len(reads) * (len(reads) - 1.0) * max(1, len(long)) / len(alignments)),
    )


def _budget(reads: SequenceSet) -> int:
    """Cells that a sample may take: a small share of the run's."""
    return min(_MOST_CELLS, max(_FEWEST_CELLS, reads.total_residues**2 // _SHARE_OF_RUN))


def _align(
    pairs: SampledPairs,
    numbers: npt.NDArray[np.int64],
    scoring: Scoring,
    threads: int,
    memory_bytes: int,
) -> Alignments:
    """Align some of the pairs on cores, with counts; in the order of `numbers`."""
    try:
        alignments = align(
            pairs.queries,
            pairs.targets,
            scoring=scoring,
            detail="stats",
            pairs=np.stack([numbers, numbers], axis=1),
            device="cpu",
            threads=threads,
            memory=memory_bytes,
        )
    except CapacityError as error:
        raise CapacityError(
            f"a sample of the reads cannot be aligned in {memory_bytes:,} bytes of memory: "
            f"raise {spelled('memory')}"
        ) from error
    return alignments.take(np.argsort(alignments.query, kind="stable"))


def _spans(alignments: Alignments) -> npt.NDArray[np.int32]:
    """Residues of the shorter span of each alignment."""
    spans: npt.NDArray[np.int32] = np.minimum(
        alignments.field("query_end") - alignments.field("query_start"),
        alignments.field("target_end") - alignments.field("target_start"),
    )
    return spans


def _fit(scores: npt.NDArray[np.int32], cells: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return lambda and ln K of the Gumbel distribution most likely to give the scores.

    The likelihood's derivative by lambda falls, so that its root is found by halving; K follows.
    """
    # A whole score stands for those up to the next one.
    values, logs = scores + 0.5, np.log(cells.astype(np.float64))
    low, high = 1e-4, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        weights = logs - middle * values
        weights = np.exp(weights - weights.max())
        slope = 1 / middle - values.mean() + float((weights * values).sum() / weights.sum())
        low, high = (middle, high) if slope > 0 else (low, middle)
    weights = logs - low * values
    log_sum = float(weights.max() + math.log(np.exp(weights - weights.max()).sum()))
    return low, math.log(len(values)) - log_sum


def _best_identity(pairs: SampledPairs, overlaps: list[Alignments]) -> float:
    """Identity of each read with its best partner, in the median."""
    origin = np.concatenate([pairs.origin[part.query] for part in overlaps])
    identity = np.concatenate([part.identity for part in overlaps])
    best = np.zeros(int(origin.max()) + 1)
    np.maximum.at(best, origin, identity)
    return float(np.median(best[best > 0]))


def _describe_ends(overlaps: list[Alignments]) -> str:
    """How many residues both reads have beyond an overlap: adapters, chimeras, bad ends."""
    beyond = []
    for part in overlaps:
        left, right, target_left, target_right = overhangs(part)
        beyond.append(np.minimum(left, target_left) + np.minimum(right, target_right))
    return f"{int(np.median(np.concatenate(beyond)))} bases at their ends do not align (medians)"


def _describe(preset: Preset, reads: SequenceSet, seen: str) -> str:
    return (
        f"preset {preset.name}: {seen}; reads have {int(np.median(reads.lengths)):,} bases; at "
        f"least {preset.min_overlap:,} bases, {100 * preset.min_identity:g}% identity, score "
        f"{preset.min_score:,}"
    )
