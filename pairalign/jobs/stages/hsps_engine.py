"""Several local alignments of a pair: the best, then the next best on cells that are left.

After Waterman and Eggert 1987, see `pairalign.engines.cpu.suboptimal`: alignments are
non-intersecting, so no residue pair is reused. `HspsEngine` wraps an engine, which finds the best
alignment, and is an engine itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Bools, Int64s
from pairalign.engines import Engine
from pairalign.engines.cpu.suboptimal import SuboptimalAligner
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.statistics.significance import EvalueFilter

Numbers = Int64s


class HspsEngine(WrappedEngine):
    """Follows each alignment that an engine finds by the suboptimal ones of the pair, best first.

    A pair's alignments end with the last one, or before the first that scores 0, or less than is
    wanted, or does not pass.

    Parameters
    ----------
    engine : Engine
        Gives pairs that pass.
    hsps : int
        Alignments that a pair may have.
    thresholds : PairThresholds
        What suboptimal alignments must reach, too.
    evalues : EvalueFilter or None
        The same.
    """

    def __init__(
        self,
        engine: Engine,
        suboptimal: SuboptimalAligner,
        hsps: int,
        thresholds: PairThresholds,
        evalues: EvalueFilter | None,
    ) -> None:
        super().__init__(engine)
        self._suboptimal = suboptimal
        self._hsps = hsps
        self._thresholds = thresholds
        self._evalues = evalues

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of `window`; see `pairalign.engines.Engine`."""
        best = self._engine.align(window, replace(want, detail=Detail.CIGAR), pair_mask)
        aligned = np.flatnonzero(best.raw_score > 0)
        layers, owners = [best], [np.arange(len(best))]

        for strand, numbers in _by_strand(best, aligned):
            advance = partial(self._advance, replace(window, strand=strand), want)
            each = layers_of(best.take(numbers), self._hsps, advance)
            for layer, pairs in islice(each, 1, None):
                layers.append(_of_strand(layer, strand) if best.strand is not None else layer)
                owners.append(numbers[pairs])
        order = np.argsort(np.concatenate(owners), kind="stable")
        every = concatenate(layers).take(order)
        return every.without(stats=want.detail == Detail.SCORE, cigar=want.detail < Detail.CIGAR)

    def _advance(
        self, window: Window, want: Want, layers: Sequence[Alignments]
    ) -> tuple[Alignments, Numbers]:
        """Return the next alignments of pairs that pass, and whose they are."""
        alignments, numbers = self._suboptimal.next_of(layers, window, max(1, want.least_raw_score))
        passing = self._passing(alignments)
        return alignments.take(passing), numbers[passing]

    def cancel(self) -> None:
        """Make a running `align` return early by raising."""
        self._suboptimal.cancel()
        super().cancel()

    def _passing(self, alignments: Alignments) -> Numbers:
        """Return the numbers of the alignments that pass, ascending."""
        passes = np.ones(len(alignments), np.bool_)
        if self._evalues is not None:
            passes = self._evalues.passes(alignments)
        if self._thresholds:
            similar = np.zeros(len(alignments), np.bool_)
            similar[self._thresholds.passing(alignments)] = True
            passes &= similar
        return np.flatnonzero(passes)


def _by_strand(alignments: Alignments, numbers: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield each strand with the numbers of its alignments, where there are any."""
    if alignments.strand is None:
        yield 1, numbers
        return
    for strand in (1, -1):
        yield strand, numbers[alignments.strand[numbers] == strand]


def _of_strand(alignments: Alignments, strand: int) -> Alignments:
    return replace(alignments, strand=np.full(len(alignments), strand, np.int8))


def add_suboptimal(
    engines: Sequence[Engine],
    hsps: int,
    problem: Problem,
    kept: tuple[PairThresholds, EvalueFilter | None],
    threads: int,
) -> list[HspsEngine]:
    """Wrap engines so that pairs may have several alignments.

    Parameters
    ----------
    kept : PairThresholds, EvalueFilter or None
        As for `HspsEngine`.
    threads : int
        Cores on which suboptimal alignments are made, whatever the engine.
    """
    what = problem.queries, problem.others, problem.scoring
    return [
        HspsEngine(engine, SuboptimalAligner(*what, threads), hsps, *kept) for engine in engines
    ]


Advance = Callable[[Sequence[Alignments]], tuple[Alignments, Numbers]]


def layers_of(
    first: Alignments, most: int, advance: Advance
) -> Iterator[tuple[Alignments, Numbers]]:
    """Yield the best alignments of pairs, then the second ones ..., and whose they are.

    Parameters
    ----------
    first : Alignments
        The best one of each pair.
    most : int
        Layers.
    advance : callable
        Given the layers so far of the same pairs, as `SuboptimalAligner.next_of` is, it returns the
        next alignments of those that have one which passes, and their numbers among these pairs.

    Yields
    ------
    layer : Alignments
    pairs : ndarray of int64
        The number in `first` of each.
    """
    pairs = np.arange(len(first))
    yield first, pairs
    layers = [first]
    while len(pairs) and len(layers) < most:
        layer, numbers = advance(layers)
        pairs = pairs[numbers]
        layers = [*(earlier.take(numbers) for earlier in layers), layer]
        yield layer, pairs
