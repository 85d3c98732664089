"""Overlaps in stages: all pairs are scored on both strands, and only those that pass are aligned.

`StagedEngine` wraps an engine and is one itself, so that windows are scheduled, and results ordered
and kept within memory, as those of any other job.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.choices import DEFAULT_WINDOW
from pairalign.engines import Engine, OnDevice
from pairalign.engines.filters import ScoreFilter
from pairalign.jobs.overlaps.exact_runs import SHORTEST, RunFilter
from pairalign.jobs.run.progress import ALIGN, FILTER, SCORE, SUBOPTIMAL, Stages
from pairalign.jobs.stages.hsps_engine import layers_of
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, order_of_windows
from pairalign.reads.candidates import CandidateStrands
from pairalign.reads.overlap_kinds import choose_strands, find_overlaps, merge_strands
from pairalign.reads.reaching_pairs import ReachingPairs, least_by_end

if TYPE_CHECKING:
    from pairalign.engines.cpu.strand_filter import StrandFilter
    from pairalign.engines.cpu.suboptimal import SuboptimalAligner

Numbers = Int64s
Rest = Int32s
Layers = list[tuple[Alignments, Numbers]]
"""The best overlaps of some pairs, then the second ones ..., and the number of the pair of each."""

STRANDS = (1, -1)

UNKNOWN_REST = np.iinfo(np.int32).max
"""What suboptimal alignments may score where nothing is known."""

_WORTH_CHOOSING, _WORTH_CHOOSING_ON_GPU = 2, 8
"""Divisors: where more than this part of the pairs is left, all pairs are scored at once."""


@dataclass(frozen=True)
class OverlapThresholds:
    """What an overlap must reach.

    Attributes
    ----------
    min_raw_score : int
        At least 1; a pair that scores less on a strand is not aligned.
    min_overlap : int
        Residues, of the shorter of the two spans.
    min_identity : Fraction
        Matches by columns, from 0 to 1.
    all_strands : bool
        Keep both strands of a pair where both pass, not just the one that scores more (of equals,
        the plus strand).
    max_overlaps : int
        Non-intersecting alignments of a pair on a strand (Waterman-Eggert): the best, then the best
        that reuses no residue pair, and so on, while they pass.
    """

    min_raw_score: int = 1
    min_overlap: int = 1
    min_identity: Fraction = Fraction(0)
    all_strands: bool = False
    max_overlaps: int = 1

    @property
    def forced_run(self) -> int:
        """Equal residues in a row that every overlap has; 0 where that is too few to look for.

        Of c columns at least ``i c`` are matches, for an identity of i, and the others cut them
        into at most ``(1 - i) c + 1`` runs. The mean grows with c, which `min_overlap` bounds.
        """
        matches = self.min_identity * self.min_overlap
        run = ceil(matches / (self.min_overlap - matches + 1))
        return run if run >= SHORTEST else 0

    def least_by_end(self, on_device: OnDevice) -> Int32s | None:
        """Return what semiglobal alignments score at least that pass; None: that is not known.

        See `pairalign.reads.reaching_pairs.least_by_end`.
        """
        scoring, reads = on_device.scoring, on_device.queries
        if scoring.mode != "semiglobal":
            return None
        return least_by_end(scoring, reads, self.min_overlap, self.min_identity)

    def passed(self, alignments: Alignments) -> Int64s:
        """Return the numbers of the alignments that are long and alike enough, ascending."""
        return find_overlaps(alignments, max(1, self.min_overlap), self.min_identity)


@dataclass
class SharedFilter:
    """A filter that several engines may ask, one at a time.

    Attributes
    ----------
    min_raw_score : int
        What a pair must score with the filter's own scoring.
    """

    pair_filter: ScoreFilter | RunFilter
    min_raw_score: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def passing(self, window: Window) -> Bools:
        """Return which pairs of a window pass."""
        with self.lock:
            return self.pair_filter.passing(window, self.min_raw_score)


class StagedEngine(WrappedEngine):
    """Scores every pair of a window on both strands, then aligns those that pass.

    Parameters
    ----------
    engine : Engine
        What scores and aligns.
    stages : Stages
        Where what is done is counted.
    shared_filter : SharedFilter, optional
        Asked before anything is scored: what it does not let through cannot reach the least score.
    suboptimal : SuboptimalAligner, optional
        Needed where a pair may have several overlaps.
    candidates : CandidateStrands, optional
        Only these are aligned, without being scored before.
    bands : SuboptimalAligner, optional
        Asked for the best alignments of candidates before `engine`.
    strand_filter : StrandFilter, optional
        Asked which pairs are scored on the other strand.
    width : int
        Columns of a window: it may be given several that are joined, see `join_windows`.
    """

    def __init__(
        self,
        engine: Engine,
        thresholds: OverlapThresholds,
        stages: Stages,
        shared_filter: SharedFilter | None = None,
        suboptimal: SuboptimalAligner | None = None,
        candidates: CandidateStrands | None = None,
        bands: SuboptimalAligner | None = None,
        opposite: SuboptimalAligner | None = None,
        strand_filter: StrandFilter | None = None,
        width: int = DEFAULT_WINDOW,
    ) -> None:
        assert thresholds.max_overlaps == 1 or suboptimal is not None
        super().__init__(engine)
        self._thresholds = thresholds
        self._stages = stages
        self._filter = shared_filter
        self._suboptimal = suboptimal
        self._candidates = candidates
        self._bands = bands
        self._opposite = opposite
        self._strand_filter = strand_filter
        self._width = width
        self._least_by_end = self._find_least_by_end()
        self._beside: ThreadPoolExecutor | None = None
        if suboptimal is not None and engine.is_gpu:
            self._beside = ThreadPoolExecutor(len(STRANDS), "suboptimal")

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Find the overlaps of a window's pairs, in their order, plus strand first.

        Parameters
        ----------
        window : Window
            Of strand 1: both strands are looked at. Several that are joined count as such.
        want : Want
            At least STATS; its minimum is not used.
        pair_mask : ndarray of bool, optional
            With candidates: only these pairs.
        """
        assert pair_mask is None or self._candidates is not None
        assert want.detail >= Detail.STATS
        assert window.strand == 1
        windows = [replace(window, strand=strand) for strand in STRANDS]
        if self._candidates is not None:
            return self._align_candidates(windows, want.detail, pair_mask)
        plus = self._reaching(windows[0])
        minus = self._reaching_other(windows[1], plus)
        parts: list[Alignments] = []
        pairs: list[Numbers] = []
        layers: list[Future[Layers]] = []
        both = self._thresholds.all_strands
        for strand_window, chosen in zip(windows, choose_strands(plus, minus, both), strict=True):
            if not len(chosen) and (parts or strand_window.strand > 0):
                continue
            alignments = self._align(strand_window, want.detail, chosen)
            passed = self._thresholds.passed(alignments)
            self._stages.count(ALIGN, len(alignments), len(passed))
            numbers = chosen[passed]
            placed = order_of_windows(strand_window, numbers, self._width)
            if placed is not None:
                passed, numbers = passed[placed[0]], placed[1]
            parts.append(alignments.take(passed))
            pairs.append(numbers)
            layers.append(self._begin_suboptimal(parts[-1], strand_window))
        if len(parts) == 1 and self._suboptimal is None:
            return parts[0]
        order = np.arange(len(parts[0])) if len(parts) == 1 else merge_strands(*pairs)
        return _join([future.result() for future in layers], order)

    def _find_least_by_end(self) -> Int32s | None:
        on_device = self._engine.on_device
        return None if on_device is None else self._thresholds.least_by_end(on_device)

    def cancel(self) -> None:
        """Make a running `align` raise InterruptedError soon."""
        if self._filter is not None:
            self._filter.pair_filter.cancel()
        for aligner in (self._suboptimal, self._bands, self._opposite):
            if aligner is not None:
                aligner.cancel()
        super().cancel()

    def close(self) -> None:
        """Close the engine; whoever opened the filter closes it."""
        if self._beside is not None:
            self._beside.shutdown()
        super().close()

    def _align_candidates(
        self, windows: Sequence[Window], detail: Detail, pair_mask: Bools | None
    ) -> Alignments:
        """Align candidates on their strands; of both strands the better one, of equals plus."""
        assert self._candidates is not None
        least, parts, places = self._thresholds.min_raw_score, [], []
        rests: list[Rest] = []
        for window in windows:
            mask = self._candidates.mask_of(window, window.strand)
            if pair_mask is not None:
                mask &= pair_mask
            self._stages.count(ALIGN, int(mask.sum()), 0)
            alignments, place, rest = self._align_best(window, detail, mask)
            passed = alignments.raw_score >= least
            parts.append(alignments.take(passed))
            places.append(place[passed])
            rests.append(rest[passed])
        if not self._thresholds.all_strands:
            kept = _better_strands(parts, places)
            parts = [part.take(mask) for part, mask in zip(parts, kept, strict=True)]
            places = [place[mask] for place, mask in zip(places, kept, strict=True)]
            rests = [rest[mask] for rest, mask in zip(rests, kept, strict=True)]
        for k, part in enumerate(parts):
            passed_too = self._thresholds.passed(part)
            self._stages.count(ALIGN, 0, len(passed_too))
            parts[k], places[k] = part.take(passed_too), places[k][passed_too]
            rests[k] = rests[k][passed_too]
        if self._candidates.may_lack_strands and not self._thresholds.all_strands:
            for k, other in enumerate(reversed(windows)):
                stays = self._stronger_than(other, parts[k], places[k])
                parts[k], places[k], rests[k] = (
                    parts[k].take(stays),
                    places[k][stays],
                    rests[k][stays],
                )
        order = np.argsort(np.concatenate(places), kind="stable")
        layers = [
            self._begin_suboptimal(*arguments)
            for arguments in zip(parts, windows, rests, strict=True)
        ]
        return _join([future.result() for future in layers], order)

    def _stronger_than(self, other: Window, alignments: Alignments, places: Numbers) -> Bools:
        """Say which pairs score more than on the other strand, where they are no candidates."""
        assert self._candidates is not None
        mask = np.zeros(other.pairs, np.bool_)
        mask[places] = True
        mask &= ~self._candidates.mask_of(other, other.strand)
        if self._candidates.sure_score is not None:
            mask[places[alignments.raw_score >= self._candidates.sure_score]] = False
        if not mask.any():
            return np.ones(len(alignments), np.bool_)
        more = 1 if other.strand > 0 else 0  # of equals plus
        stronger = np.zeros(other.pairs, np.int32)  # that the other strand must score
        stronger[places] = alignments.raw_score + 1 - more
        scores = np.full(other.pairs, np.iinfo(np.int32).min, np.int64)
        left = mask
        if self._opposite is not None:
            with self._stages.timed(ALIGN):
                best = self._opposite.best_of(other, mask, stronger[mask])
            scores[best.done] = best.found.raw_score
            left = mask & ~best.done & ~best.useless
        if left.any():
            with self._stages.timed(SCORE):
                scores[left] = self._engine.align(other, Want(Detail.SCORE), left).raw_score
        stays: Bools = alignments.raw_score >= scores[places] + more
        return stays

    def _align_best(
        self, window: Window, detail: Detail, mask: Bools
    ) -> tuple[Alignments, Numbers, Rest]:
        """Align candidates, but for some that cannot score enough.

        Also return which pairs of the window they are, and what suboptimal ones score at most.
        """
        left, parts = mask, []
        places, rests = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        if self._bands is not None:
            with self._stages.timed(ALIGN):
                best = self._bands.best_of(window, mask, self._thresholds.min_raw_score)
            parts.append(best.found)
            places.append(np.flatnonzero(best.done))
            rests.append(best.rest)
            left = mask & ~best.done & ~best.useless
        if left.any() or not parts:
            parts.append(self._align_masked(window, detail, left))
            places.append(np.flatnonzero(left))
            if parts[:-1]:
                rests.append(best.rest_of(parts[-1], places[-1], UNKNOWN_REST))
            else:
                rests.append(np.full(len(parts[-1]), UNKNOWN_REST, np.int32))
        place = np.concatenate(places)
        order = np.argsort(place, kind="stable")
        return concatenate(parts).take(order), place[order], np.concatenate(rests)[order]

    def _begin_suboptimal(
        self, first: Alignments, window: Window, rest: Rest | None = None
    ) -> Future[Layers]:
        """Look for suboptimal overlaps of pairs: of those of a GPU while it goes on with others.

        `rest`: what those may score at most.
        """
        if self._beside is not None:
            return self._beside.submit(lambda: list(self._layers(first, window, rest)))
        done: Future[Layers] = Future()
        done.set_result(list(self._layers(first, window, rest)))
        return done

    def _layers(
        self, first: Alignments, window: Window, rest: Rest | None
    ) -> Iterator[tuple[Alignments, Numbers]]:
        """Return the best overlaps of pairs, then the second ones ..., and whose they are."""
        suboptimal, thresholds = self._suboptimal, self._thresholds

        def advance(layers: Sequence[Alignments]) -> tuple[Alignments, Numbers]:
            assert suboptimal is not None
            request = np.arange(len(layers[0]))
            if len(layers) == 1 and rest is not None:
                request = np.flatnonzero(rest >= thresholds.min_raw_score)
                layers = [layers[0].take(request)]
            with self._stages.timed(SUBOPTIMAL):
                alignments, numbers = suboptimal.next_of(
                    layers, window, thresholds.min_raw_score, thresholds.forced_run
                )
            passed = thresholds.passed(alignments)
            self._stages.count(SUBOPTIMAL, len(request), len(passed))
            return alignments.take(passed), request[numbers[passed]]

        return layers_of(first, thresholds.max_overlaps, advance)

    def _align(self, window: Window, detail: Detail, numbers: Numbers) -> Alignments:
        """Align pairs of some numbers, which ascend."""
        with self._stages.timed(ALIGN):
            alignments = _align_numbers(self._engine, window, Want(detail), numbers)
        return _with_strand(alignments, window)

    def _align_masked(self, window: Window, detail: Detail, mask: Bools) -> Alignments:
        """Align the pairs that a mask names."""
        with self._stages.timed(ALIGN):
            alignments = self._engine.align(window, Want(detail), None if mask.all() else mask)
        return _with_strand(alignments, window)

    def _reaching_other(self, window: Window, plus: ReachingPairs) -> ReachingPairs:
        """Do the same for the other strand, where it matters."""
        if self._strand_filter is None:
            return self._reaching(window)
        most = window.pairs // (_WORTH_CHOOSING_ON_GPU if self.is_gpu else _WORTH_CHOOSING)
        with self._stages.timed(FILTER):
            both = self._thresholds.all_strands
            mask = self._strand_filter.needed(window, plus, both, most)
        if mask is None:
            return self._reaching(window)
        numbers = np.flatnonzero(mask)
        self._stages.count(FILTER, window.pairs, len(numbers))
        return self._scored(window, numbers)

    def _reaching(self, window: Window) -> ReachingPairs:
        """Score all pairs that the filter does not stop; return those that reach the minimum."""
        if self._filter is not None:
            with self._stages.timed(FILTER):
                numbers = np.flatnonzero(self._filter.passing(window))
            self._stages.count(FILTER, window.pairs, len(numbers))
            return self._scored(window, numbers)
        if self._least_by_end is None:
            return self._scored(window)
        on_device, least = self._engine.on_device, self._thresholds.min_raw_score
        assert on_device is not None
        with self._stages.timed(SCORE):
            pairs = on_device.reach(window, least, self._least_by_end)
        if pairs is None:
            return self._scored(window)
        self._stages.count(SCORE, window.pairs, len(pairs.numbers))
        return pairs

    def _scored(self, window: Window, numbers: Numbers | None = None) -> ReachingPairs:
        """Score all pairs of a window, or those of some numbers, which ascend."""
        with self._stages.timed(SCORE):
            want = Want(Detail.SCORE)
            if numbers is None:
                scores = self._engine.align(window, want).raw_score
            else:
                scores = _align_numbers(self._engine, window, want, numbers).raw_score
            pairs = ReachingPairs.of_scores(scores, self._thresholds.min_raw_score, numbers)
        self._stages.count(SCORE, len(scores), len(pairs.numbers))
        return pairs


def _align_numbers(engine: Engine, window: Window, want: Want, numbers: Numbers) -> Alignments:
    """Align pairs of some numbers, which ascend."""
    if len(numbers) == window.pairs:
        return engine.align(window, want)
    if engine.on_device is not None:
        alignments = engine.on_device.align_numbers(window, want, numbers)
        if alignments is not None:
            return alignments
    mask = np.zeros(window.pairs, np.bool_)
    mask[numbers] = True
    return engine.align(window, want, mask)


def _with_strand(alignments: Alignments, window: Window) -> Alignments:
    if alignments.strand is not None:
        return alignments
    return replace(alignments, strand=np.full(len(alignments), window.strand, np.int8))


def _join(parts: Sequence[Layers], order: Numbers) -> Alignments:
    """Join overlaps of both strands in an order of the best ones, suboptimal ones behind them."""
    if all(len(layers) == 1 for layers in parts):
        return concatenate([layers[0][0] for layers in parts]).take(order)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    joined: list[Alignments] = []
    ranks: list[Numbers] = []
    for layers in parts:
        first = len(layers[0][0])
        strand_places, places = places[:first], places[first:]
        for layer, pairs in layers:
            joined.append(layer)
            ranks.append(strand_places[pairs])
    return concatenate(joined).take(np.argsort(np.concatenate(ranks), kind="stable"))


def _better_strands(parts: Sequence[Alignments], places: Sequence[Numbers]) -> list[Bools]:
    """Say of each pair whether it scores more than on the other strand; of equals the plus one."""
    plus, minus = parts
    _, first, second = np.intersect1d(places[0], places[1], assume_unique=True, return_indices=True)
    loses = minus.raw_score[second] <= plus.raw_score[first]
    kept = [np.ones(len(part), np.bool_) for part in parts]
    kept[0][first[~loses]] = False
    kept[1][second[loses]] = False
    return kept
