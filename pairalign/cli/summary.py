"""The few lines that a person reads when a run has ended."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pairalign.alignments.alignments import Alignment, Alignments
from pairalign.alignments.passes import find_extremes
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.errors import cut_name
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.statements import describe_scoring

if TYPE_CHECKING:
    from pairalign.jobs.stages.threshold_engine import Steps

_KINDS = {"protein": ("protein", "proteins"), "dna": ("DNA sequence", "DNA sequences")}

_LEAST_GCUPS = 0.05
"""What is less would be printed as 0.0."""

_THREADS = 4
"""That look at results of many pairs: two GPUs have 60 million short ones a second."""


class Summary:
    """Collects, alignment by alignment, what is worth saying about a run.

    Parameters
    ----------
    problem : Problem
    pairs, cells : int
        Pairs aligned, and cells of all dynamic programming matrices.
    min_score : str or None
        What a pair must reach to be written.
    thresholds : PairThresholds, optional
        The same, of identity and coverage.
    hsps : int
        Alignments that a pair may have.
    max_hits : int or None
        Hits that a query may have, where there are only hits.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        pairs: int,
        cells: int,
        min_score: str | None = None,
        thresholds: PairThresholds | None = None,
        hsps: int = 1,
        max_hits: int | None = None,
    ) -> None:
        self._max_hits = max_hits
        self._hsps = hsps
        self._sets = problem.sets
        self._scoring = problem.scoring
        self._pairs = pairs
        self._cells = cells
        self._min_score = min_score
        self._thresholds = thresholds
        self._kept = 0
        self._closest: Alignment | None = None
        self._most_distant: Alignment | None = None
        self._highest, self._lowest = -math.inf, math.inf

    def add(self, alignments: Alignments) -> None:
        """Take in some more of the run's results."""
        self._kept += len(alignments)
        if not alignments.has_stats:
            return
        assert alignments.matches is not None
        assert alignments.mismatches is not None
        assert alignments.gap_letters is not None
        found = find_extremes(
            (alignments.matches, alignments.mismatches, alignments.gap_letters),
            alignments.raw_score if self._is_by_score else None,
            _THREADS,
        )
        if found is None:
            return
        high, low = found
        # Copies: a view would keep all of these results in memory.
        if (value := self._value(alignments[high])) > self._highest:
            self._highest, (self._closest,) = value, alignments.take([high])
        if (value := self._value(alignments[low])) < self._lowest:
            self._lowest, (self._most_distant,) = value, alignments.take([low])

    @property
    def _is_by_score(self) -> bool:
        """Whether pairs are compared by score: an overlap of five residues may be all identical."""
        return self._scoring.mode != "global"

    def _value(self, pair: Alignment) -> float:
        return float(pair.raw_score) if self._is_by_score else pair.identity

    def text(self, seconds: float, output: str) -> str:
        """Lines for a person; `seconds` is what reading apart took, `output` where results went."""
        gcups = self._cells / max(seconds, 1e-9) / 1e9
        rate = f", {gcups:.1f} GCUPS (billion cells a second)"
        if self._thresholds or gcups < _LEAST_GCUPS:  # not all cells are computed, or next to none
            rate = ""
        rows = [
            ("sequences", " against ".join(map(describe_set, self._sets))),
            ("scoring", describe_scoring(self._scoring)),
            ("pairs", self._describe_pairs()),
            ("cells", f"{self._cells:,}"),
            ("time", f"{seconds:.2f} s{rate}"),
        ]
        titles = (
            ("highest score", "lowest score") if self._is_by_score else ("closest", "most distant")
        )
        for title, pair in zip(titles, (self._closest, self._most_distant), strict=True):
            if pair is not None:
                rows.append((title, _describe_pair(pair)))
        rows.append(("written to", "standard output" if output == "-" else output))
        return "\n".join(f"{title:>13}  {value}" for title, value in rows)

    def _describe_pairs(self) -> str:
        if self._max_hits is not None:
            what = "alignments of hits" if self._hsps > 1 else "hits"
            return f"{self._pairs:,}, with {self._kept:,} {what}, up to {self._max_hits:,} a query"
        if self._hsps > 1:
            return f"{self._pairs:,}, with {self._kept:,} alignments, up to {self._hsps:,} a pair"
        if self._thresholds:
            return f"{self._pairs:,}, of which {self._kept:,} reach the thresholds"
        if self._min_score is None:
            return f"{self._pairs:,}"
        return f"{self._pairs:,}, of which {self._kept:,} score at least {self._min_score}"


def describe_set(sequences: SequenceSet) -> str:
    """One line: ``57 proteins of 372-544 residues``, ``2 DNA sequences of 900 bases``."""
    shortest, longest = int(sequences.lengths.min()), int(sequences.lengths.max())
    lengths = f"{shortest:,}-{longest:,}" if shortest < longest else f"{longest:,}"
    kind = _KINDS[sequences.alphabet.name][len(sequences) > 1]
    unit = "residues" if sequences.alphabet.name == PROTEIN.name else "bases"
    return f"{len(sequences):,} {kind} of {lengths} {unit}"


def describe_steps(steps: Steps | None, pairs: int) -> str:
    """Lines on how many pairs each step of a run's thresholds has dropped.

    Parameters
    ----------
    steps : Steps or None
        Of a run that has ended; None: it has no thresholds.
    pairs : int
        Of the run.
    """
    if steps is None:
        return f"{'thresholds':>13}  none: {pairs:,} pairs are aligned"
    grams = f"{steps.gram}-grams" if steps.gram else "q-grams"
    rows = [
        ("lengths", steps.pairs, steps.possible),
        (grams, steps.possible, steps.sharing),
        *([("subsequences", steps.sharing, steps.common)] if steps.common < steps.sharing else []),
        ("scores", steps.common, steps.scoring),
        ("alignments", steps.scoring, steps.passing),
    ]
    lines = [
        f"{title:>13}  {before - left:,} of {before:,} pairs dropped"
        for title, before, left in rows
    ]
    return "\n".join(lines)


def _describe_pair(pair: Alignment) -> str:
    scoring = pair.alignments.scoring
    return (
        f"{cut_name(pair.query.name)} and {cut_name(pair.target.name)}: {pair.matches:,} of "
        f"{pair.columns:,} columns "
        f"identical ({100 * pair.identity:.1f}%), score {scoring.format_score(pair.raw_score)}"
    )
