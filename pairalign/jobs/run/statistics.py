"""Parameters of local scores that nobody has published, estimated by aligning random sequences.

Random sequences have the residues of the sets, in their shares and in any order. The same sets and
scoring give the same numbers, on every machine. They are kept in the user's cache.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path

import numpy as np

from pairalign.base.arrays import Doubles, Int64s
from pairalign.base.choices import LIST_WINDOW
from pairalign.base.dry_run import dry_run, is_dry_run
from pairalign.base.error_types import ScoringError
from pairalign.base.part_file import PartFile
from pairalign.base.user_cache import cache_folder
from pairalign.jobs.run.align import AlignmentJob
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail, Want
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.finite_size import LengthLaw
from pairalign.statistics.gumbel_fit import (
    composition,
    fit_first_passage,
    fit_gumbel,
    fit_length_law,
    ungapped_lambda,
)
from pairalign.statistics.significance import Gumbel, find_gumbel

CELLS = 30_000_000_000
"""Of all matrices of an estimate: ten seconds of one core or so."""

_LONGEST, _SHORTEST = 1000, 300
_RESIDUES = 10_000_000
"""Of the random sequences of a side, so that few pairs have a sequence in common: these are not
independent."""
_TRACED_PAIRS = 5_000
_MOST_SPAN = 0.15
"""Of `_LONGEST`: longer alignments of random sequences grow with them."""
_LENGTH_BY_SPAN = 140
"""Residues of a sequence by those that a nat of score takes: what an alignment's length does to its
room changes lambda by 1.4%, before that is corrected for."""
_SEED = 1
_VERSION = 5
_FIELDS = ("lambda", "k", "a", "b", "alpha", "beta", "sigma", "tau", "skewed")
_PROTEIN_LENGTHS = (25, 35, 50, 75, 110, 160)
"""Residues of the random proteins that say how many an alignment takes."""
_PASSAGE_CELLS = 20_000_000_000
"""Of the matrices of each of these lengths."""


def find_or_estimate_gumbel(
    scoring: Scoring,
    queries: SequenceSet,
    targets: SequenceSet | None = None,
    threads: int = 1,
) -> Gumbel:
    """Return the published parameters of a scoring, or else what is estimated for some sets.

    Parameters
    ----------
    scoring : Scoring
        In local mode.
    queries, targets : SequenceSet
        `targets` is None for one set.

    Raises
    ------
    ScoringError
        Scores of random sequences have no such distribution: they grow with the lengths.
    """
    gumbel = find_gumbel(scoring)
    if gumbel is not None:
        return gumbel
    shares = composition(queries), composition(queries if targets is None else targets)
    path = cache_folder() / f"statistics-{_digest(scoring, shares)}.json"
    kept = _load(path)
    if kept is None:
        with dry_run(False):  # what chooses pairs is known before any are counted
            kept = estimate_gumbel(scoring, shares, threads)
        if not is_dry_run():
            _save(path, kept)
    return kept


def estimate_gumbel(
    scoring: Scoring, shares: tuple[Doubles, Doubles], threads: int = 1, cells: int = CELLS
) -> Gumbel:
    """Estimate the parameters of a scoring in local mode.

    Parameters
    ----------
    shares : two ndarrays of float64, shape (residues,)
        Of the residues in the queries and in the targets, by code.
    cells : int
        Of the matrices of random pairs that are aligned.

    Raises
    ------
    ScoringError
        Scores of random sequences grow with their lengths.

    Notes
    -----
    Some pairs are traced first, for the law of lengths. The shorter random alignments are, the
    shorter the sequences can be, and so the more of them there are. The error of lambda is about
    ``1 / sqrt(pairs)``: 0.6% of 30,000 pairs of 1,000 residues.
    """
    letters = len(shares[0])
    matrix = scoring.matrix[:letters, :letters]
    most_lambda = ungapped_lambda(matrix, *shares)
    step = math.gcd(*np.unique(matrix).tolist(), scoring.gap_open, scoring.gap_extend)
    random = _RandomPairs(scoring, shares, threads)
    scores, spans = random.align(_TRACED_PAIRS, _LONGEST, Detail.STATS, _SEED + 1)
    if spans.mean() > _MOST_SPAN * _LONGEST:
        raise ScoringError(
            f"local alignments of random sequences of {_LONGEST:,} {scoring.alphabet.unit} span "
            f"{spans.mean():.0f} of them on average: scores grow with lengths, and there are no "
            "E-values; use larger costs of gaps or lower scores of residues"
        )
    law = fit_length_law(scores, spans)
    first, _ = fit_gumbel(scores, _LONGEST, step, law, most_lambda)
    length = int(np.clip(_LENGTH_BY_SPAN * law.a / first, _SHORTEST, _LONGEST))
    scores, _ = random.align(cells // length**2, length, Detail.SCORE, _SEED)
    lambda_, k = fit_gumbel(scores, length, step, law, most_lambda)
    if scoring.alphabet.name == "protein":
        few = int(_PASSAGE_CELLS * min(cells / CELLS, 1))
        law = random.fit_first_passage(lambda_, k, law, few)
    return _gumbel([float(f"{value:.4g}") for value in (lambda_, k, *astuple(law))])


def estimate_first_passage(
    scoring: Scoring, gumbel: Gumbel, shares: tuple[Doubles, Doubles], threads: int = 1
) -> LengthLaw:
    """Estimate how many residues the alignments of a published scoring of proteins take.

    Parameters
    ----------
    gumbel : Gumbel
        Its parameters, with a law to start from.
    shares : two ndarrays of float64, shape (residues,)
    """
    assert gumbel.law is not None
    random = _RandomPairs(scoring, shares, threads)
    return random.fit_first_passage(gumbel.lambda_, gumbel.k, gumbel.law, _PASSAGE_CELLS)


def _gumbel(values: list[float]) -> Gumbel:
    source = "estimated from random pairs with the residues of the sequences"
    lambda_, k, a, b, alpha, beta, sigma, tau, skewed = values
    law = LengthLaw(a, b, alpha, beta, sigma, tau, bool(skewed))
    return Gumbel(lambda_, k, law.a, law.b, source, law)


class _RandomPairs:
    """Aligns random pairs."""

    def __init__(self, scoring: Scoring, shares: tuple[Doubles, Doubles], threads: int) -> None:
        self._scoring = scoring
        self._shares = shares
        self._threads = threads

    def align(self, pairs: int, length: int, detail: Detail, seed: int) -> tuple[Int64s, Doubles]:
        """Return raw scores, and how many residues the alignments take, where that is looked at.

        The second array has shape (2, pairs): of the first and of the second sequence.
        """
        count = min(pairs, _RESIDUES // length)
        partners = pairs // count
        generator = np.random.default_rng(seed)
        sets = [
            self._random_set(generator, frequencies, count, length) for frequencies in self._shares
        ]
        first = np.repeat(np.arange(count, dtype=np.int32), partners)
        second = (first + np.tile(np.arange(partners, dtype=np.int32), count)) % np.int32(count)
        job = AlignmentJob(
            sets[0],
            sets[1],
            self._scoring,
            Want(detail),
            resources=Resources(device="cpu", threads=self._threads),
            window=LIST_WINDOW,
            pair_list=PairList(first, second),
        )
        scores, spans = [], []
        with job.open() as results:
            for alignments in results:
                scores.append(alignments.raw_score.astype(np.int64))
                if detail == Detail.STATS:
                    sides = ("query", "target")
                    spans.append(
                        [
                            alignments.field(f"{side}_end") - alignments.field(f"{side}_start")
                            for side in sides
                        ]
                    )
        residues = np.concatenate(spans, axis=1) if spans else np.zeros((2, 0))
        return np.concatenate(scores), residues.astype(np.float64)

    def fit_first_passage(
        self, lambda_: float, k: float, start: LengthLaw, cells: int
    ) -> LengthLaw:
        """Fit how many residues alignments take, to `cells` of pairs of each of some lengths."""
        generator = np.random.default_rng(_SEED + 2)
        counts = {}
        for length in _PROTEIN_LENGTHS:
            count = max(1, math.isqrt(cells) // length)
            sets = [
                self._random_set(generator, frequencies, count, length)
                for frequencies in self._shares
            ]
            job = AlignmentJob(
                sets[0],
                sets[1],
                self._scoring,
                Want(Detail.SCORE),
                resources=Resources(device="cpu", threads=self._threads),
            )
            with job.open() as results:
                scores = np.concatenate([alignments.raw_score for alignments in results])
            counts[length] = np.bincount(scores)
        return fit_first_passage(counts, lambda_, k, start)

    def _random_set(
        self, generator: np.random.Generator, shares: Doubles, count: int, length: int
    ) -> SequenceSet:
        edges = np.cumsum(shares)[:-1]
        codes = np.searchsorted(edges, generator.random(count * length), side="right")
        letters = np.frombuffer(self._scoring.alphabet.letters.encode(), np.uint8)[codes]
        names = [str(k) for k in range(count)]
        offsets = np.arange(count + 1, dtype=np.int64) * length
        records = Records(names, names, letters.tobytes(), offsets)
        return SequenceSet(records, alphabet=self._scoring.alphabet, source="random sequences")


def _digest(scoring: Scoring, shares: tuple[Doubles, Doubles]) -> str:
    parts = [
        f"{_VERSION} {CELLS} {scoring.gap_open} {scoring.gap_extend}",
        scoring.matrix.tobytes().hex(),
        *(np.array2string(frequencies, threshold=100, precision=17) for frequencies in shares),
    ]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:32]


def _load(path: Path) -> Gumbel | None:
    """Read what was kept; None if there is nothing of this user's that makes sense."""
    try:
        with open(path, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or status.st_mode & 0o022:
                return None
            kept = json.load(file)
        values = [float(kept[name]) for name in _FIELDS]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not (all(map(math.isfinite, values)) and values[0] > 0 and values[1] > 0):
        return None
    return _gumbel(values)


def _save(path: Path, gumbel: Gumbel) -> None:
    """Keep what was estimated, where that can be done."""
    assert gumbel.law is not None
    values = (gumbel.lambda_, gumbel.k, *astuple(gumbel.law))
    text = json.dumps(dict(zip(_FIELDS, values, strict=True)))
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = PartFile(str(path), 0o644)
        try:
            with os.fdopen(file.descriptor, "w", encoding="utf-8") as output:
                output.write(text)
            file.publish()
        finally:
            file.remove()
