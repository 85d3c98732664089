"""What ``--preset auto`` takes, and what chance reaches: both found on a sample of the reads.

Likely partners share words on nearly one diagonal. Pairs that cannot overlap are of reads with
reversed ones, which have the same residues and runs of residues, but no common origin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.thresholds import raw_minimum
from pairalign.base.arguments import parse_share
from pairalign.base.arrays import Int32s, Int64s, UInt8s
from pairalign.base.error_types import CapacityError
from pairalign.base.spelling import spelled
from pairalign.jobs.overlaps.presets import PRESETS, Preset
from pairalign.jobs.overlaps.stages import OverlapThresholds
from pairalign.jobs.run.align_all import align
from pairalign.reads.overlap_kinds import overhangs
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import reverse_complement
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
    numbers: Int64s,
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


def _spans(alignments: Alignments) -> Int32s:
    """Residues of the shorter span of each alignment."""
    spans: Int32s = np.minimum(
        alignments.field("query_end") - alignments.field("query_start"),
        alignments.field("target_end") - alignments.field("target_start"),
    )
    return spans


def _fit(scores: Int32s, cells: Int64s) -> tuple[float, float]:
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


Codes = UInt8s

_WORD = 12
"""Residues of a word: of 16.8 million such words, reads that are 70% identical share
14 in 1,000 residues."""
_PROBES, _PROBE_RESIDUES = 32, 400_000
_MOST_RESIDUES = 8_000_000
_DIAGONALS = 256
"""Diagonals that count as one: gaps of noisy reads shift words."""
_PARTNERS = 3
_LEAST_WORDS = 3
_SEPARATOR = np.uint8(31)


@dataclass(frozen=True)
class SampledPairs:
    """Pairs of two sets of the same size: the first with the first, and so on.

    Attributes
    ----------
    queries, targets : SequenceSet
        Targets are turned so that a pair overlaps on the plus strand, or are reversed.
    origin : ndarray of int64, shape (n,)
        Index of each query among the reads.
    """

    queries: SequenceSet
    targets: SequenceSet
    origin: Int64s

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def cells(self) -> Int64s:
        """Cells of each pair's matrix."""
        return self.queries.lengths.astype(np.int64) * self.targets.lengths

    def first(self, cells: int, least: int) -> int:
        """Count the first pairs that have `cells` cells together, at least `least` pairs."""
        fitting = int(np.searchsorted(np.cumsum(self.cells), cells, side="right"))
        return min(len(self), max(least, fitting))


def likely_pairs(reads: SequenceSet, seed: int) -> SampledPairs | None:
    """Return pairs of reads that share most words on nearly one diagonal; None: there are none.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.

    Returns
    -------
    SampledPairs or None
        The best partner of each sampled read first, then the second ones.

    Notes
    -----
    A sample of `_PROBES` reads is compared with 8 million residues of others: half a second.
    """
    order = np.random.default_rng(seed).permutation(len(reads))
    probes = _fitting(reads, order, _PROBE_RESIDUES)[:_PROBES]
    others = _fitting(reads, order, _MOST_RESIDUES)
    partners = _count_words(reads, probes, others)
    if not len(partners):
        return None
    pairs: dict[tuple[int, int, int], tuple[int, int, int]] = {}
    for rank, probe, strand, other in partners.tolist():
        pairs.setdefault((min(probe, other), max(probe, other), strand), (rank, probe, other))
    chosen = sorted((rank, probe, other, key[2]) for key, (rank, probe, other) in pairs.items())
    queries = [reads.codes_of(probe) for _, probe, _, _ in chosen]
    targets = [
        reverse_complement(reads.codes_of(other), reads.alphabet)
        if strand
        else reads.codes_of(other)
        for _, _, other, strand in chosen
    ]
    origin = np.array([probe for _, probe, _, _ in chosen], np.int64)
    return SampledPairs(_as_set(queries, reads), _as_set(targets, reads), origin)


def chance_pairs(reads: SequenceSet, seed: int) -> SampledPairs:
    """Return pairs of a read and another one from its end to its start, in a seeded order."""
    rng = np.random.default_rng(seed)
    count = 4 * _PROBES
    first = rng.integers(0, len(reads), count)
    second = (first + rng.integers(1, len(reads), count)) % len(reads)
    return SampledPairs(
        _as_set([reads.codes_of(int(k)) for k in first], reads),
        _as_set([reads.codes_of(int(k))[::-1] for k in second], reads),
        first,
    )


def _fitting(reads: SequenceSet, order: Int64s, residues: int) -> Int64s:
    """Return the first reads that have `residues` residues together, at least one read."""
    ends = np.cumsum(reads.lengths[order].astype(np.int64))
    return order[: max(1, int(np.searchsorted(ends, residues, side="right")))]


def _as_set(codes: list[Codes], reads: SequenceSet) -> SequenceSet:
    letters = np.frombuffer(reads.alphabet.letters.encode(), np.uint8)
    texts = [letters[sequence].tobytes().decode() for sequence in codes]
    return SequenceSet.from_strings(texts, alphabet=reads.alphabet, source="a sample of the reads")


def _count_words(reads: SequenceSet, probes: Int64s, others: Int64s) -> Int64s:
    """Find the reads that share most words with each probe.

    Returns
    -------
    ndarray of int64, shape (n, 4)
        Rank among the partners of its probe, probe, strand (1: minus), partner.
    """
    words, places = _words_of([reads.codes_of(int(k)) for k in others])
    strands = [
        strand
        for k in probes.tolist()
        for strand in (reads.codes_of(k), reverse_complement(reads.codes_of(k), reads.alphabet))
    ]
    own_words, own_places = _words_of(strands)
    presence = np.zeros(4**_WORD, np.bool_)
    presence[own_words] = True
    kept = presence[words]
    words, places = words[kept], places[kept]
    by_word = np.argsort(own_words, kind="stable")
    sorted_words = own_words[by_word]
    # A word that a probe has several times counts where it is first: runs of residues say little.
    first = by_word[np.searchsorted(sorted_words, words)]
    last = by_word[np.searchsorted(sorted_words, words, side="right") - 1]
    votes = [_shared(first, own_places, places)]
    several = first != last
    votes.append(_shared(last[several], own_places, places[several]))
    keys, counts = np.unique(np.concatenate(votes), return_counts=True)
    return _best_partners(keys, counts, probes, others)


def _words_of(sequences: list[Codes]) -> tuple[Int32s, Int64s]:
    """Words of unambiguous residues, and where each begins: sequence << 32 | place in it."""
    separated = [part for record in sequences for part in (record, np.array([_SEPARATOR]))]
    codes = np.concatenate(separated)
    count = max(0, len(codes) - _WORD + 1)
    words = np.zeros(count, np.int32)
    unambiguous = np.ones(count, np.bool_)
    for k in range(_WORD):
        residues = codes[k : k + count]
        unambiguous &= residues < 4
        words = (words << 2) | (residues & 3)
    lengths = np.array([len(record) + 1 for record in sequences])
    sequence = np.repeat(np.arange(len(sequences)), lengths)
    place = np.arange(len(codes)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = (sequence << 32 | place)[:count]
    return words[unambiguous], places[unambiguous]


def _shared(numbers: Int64s, own_places: Int64s, places: Int64s) -> Int64s:
    """Pack strand of a probe, other sequence and group of diagonals of each shared word."""
    strand, at = own_places[numbers] >> 32, own_places[numbers] & 0xFFFFFFFF
    other, other_at = places >> 32, places & 0xFFFFFFFF
    group = (at - other_at + 2**31) // _DIAGONALS
    packed: Int64s = (strand << 52) | (other << 25) | group
    return packed


def _best_partners(keys: Int64s, counts: Int64s, probes: Int64s, others: Int64s) -> Int64s:
    """Rank partners by the most words that they share on one group of diagonals."""
    strand, other = keys >> 52, others[(keys >> 25) & (2**27 - 1)]
    probe = probes[strand // 2]
    good = (other != probe) & (counts >= _LEAST_WORDS)
    table = np.stack([probe, strand % 2, other, counts], axis=1)[good]
    table = table[np.lexsort((table[:, 2], table[:, 1], -table[:, 3], table[:, 0]))]
    _, at = np.unique(table[:, (0, 1, 2)], axis=0, return_index=True)
    table = table[np.sort(at)]  # the best group of each pair and strand
    starts = np.searchsorted(table[:, 0], table[:, 0])
    rank = np.arange(len(table)) - starts
    best: Int64s = np.concatenate([rank[:, None], table[:, :3]], axis=1)[rank < _PARTNERS]
    return best
