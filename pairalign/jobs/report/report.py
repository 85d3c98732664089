"""What a report shows of a run, collected as it goes: histograms, the best pairs, a picture."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignment, Alignments, concatenate
from pairalign.alignments.passes import place_in_triangle
from pairalign.errors import DistanceError, FormatError
from pairalign.jobs.distances.plots import check_matplotlib, draw_distances
from pairalign.pairs.lists import PairList
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix, number_of_pairs

_MOST_PAIRS = 1000
_MOST_LETTERS = 4_000_000  # of all alignments shown
_MOST_IN_PICTURE = 3000
_BINS = 40


@dataclass(frozen=True)
class Histogram:
    """How often values occur.

    Attributes
    ----------
    title : str
    edges : ndarray of float64, shape (bins + 1,)
    counts : ndarray of int64, shape (bins,)
    """

    title: str
    edges: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]


@dataclass
class ReportCollector:
    """Collects alignments of a run for its report.

    Attributes
    ----------
    queries, targets : SequenceSet
        The same object for one set.
    is_whole : bool
        Whether all pairs of the set come, so that a heat map can be drawn.
    no_picture : str
        Why there is no heat map, after `picture` has returned None.
    """

    queries: SequenceSet
    targets: SequenceSet
    is_whole: bool = False
    pairs: int = 0
    best: Alignments | None = None
    no_picture: str = field(default="", init=False)
    _identities: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(_BINS, np.int64))
    _scores: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((2, 0)))
    _triangle: npt.NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        count = len(self.queries)
        if not (self.is_whole and self.queries is self.targets):
            self.no_picture = "it needs all pairs of one set"
        elif not 2 < count <= _MOST_IN_PICTURE:
            self.no_picture = f"it is drawn of 3 to {_MOST_IN_PICTURE:,} sequences"
        else:
            self._triangle = np.ones(number_of_pairs(count), np.float32)

    def add(self, found: Alignments) -> None:
        """Take in some more of the run's results."""
        self.pairs += len(found)
        values, counts = np.unique(found.score, return_counts=True)
        self._scores = _merge(self._scores, np.stack([values.astype(float), counts.astype(float)]))
        parts = [found] if self.best is None else [self.best, found]
        merged = [_take_best(part) for part in parts]
        self.best = _take_best(concatenate(merged))
        if not found.has_stats:
            return
        identity = np.nan_to_num(found.identity)
        self._identities += np.histogram(identity, _BINS, (0.0, 1.0))[0]
        if self._triangle is not None:
            place_in_triangle(
                found.query, found.target, 1 - identity, len(self.queries), self._triangle
            )

    def histograms(self) -> list[Histogram]:
        """Return the histograms of identities (if there are any), scores and lengths."""
        shown = []
        if self._identities.any():
            edges = np.linspace(0, 1, _BINS + 1)
            shown.append(Histogram("Identity of the pairs", edges, self._identities))
        if self._scores.size:
            counts, edges = np.histogram(self._scores[0], _BINS, weights=self._scores[1])
            shown.append(Histogram("Score of the pairs", edges, counts.astype(np.int64)))
        sets = [self.queries] if self.queries is self.targets else [self.queries, self.targets]
        lengths = np.concatenate([sequences.lengths for sequences in sets])
        counts, edges = np.histogram(lengths, min(_BINS, max(1, int(np.ptp(lengths)) + 1)))
        shown.append(Histogram("Length of the sequences", edges, counts))
        return shown

    def picture(self) -> bytes | None:
        """Draw the heat map with its tree as PNG; None, and `no_picture`, if there is none."""
        if self._triangle is None:
            return None
        names = list(self.queries.names)
        return self._draw(DistanceMatrix(names, self._triangle, "1 - identity"))

    def _draw(self, matrix: DistanceMatrix) -> bytes | None:
        try:
            return draw_heat_map(matrix)
        except (FormatError, DistanceError) as error:
            self.no_picture = str(error)
            return None


@dataclass
class DistanceCollector(ReportCollector):
    """Collects the closest pairs of a set, whose distances are known."""

    matrix: DistanceMatrix | None = None

    def histograms(self) -> list[Histogram]:
        """Return the histograms of distances and lengths."""
        assert self.matrix is not None
        counts, edges = np.histogram(self.matrix.condensed, _BINS)
        shown = Histogram(f"Distance of the pairs ({self.matrix.measure})", edges, counts)
        return [shown, super().histograms()[-1]]

    def picture(self) -> bytes | None:
        """Draw the heat map with its tree as PNG; None, and `no_picture`, if there is none."""
        assert self.matrix is not None
        return self._draw(self.matrix)


def closest_pairs(matrix: DistanceMatrix) -> PairList:
    """Return the closest pairs, of equals the first."""
    condensed, count = matrix.condensed, len(matrix)
    few = min(_MOST_PAIRS, len(condensed))
    limit = np.partition(condensed, few - 1)[few - 1]
    near = np.concatenate([np.flatnonzero(condensed < limit), np.flatnonzero(condensed == limit)])
    places = near[:few]
    starts = np.concatenate([[0], np.cumsum(np.arange(count - 1, 0, -1, dtype=np.int64))])
    rows = np.searchsorted(starts, places, side="right") - 1
    columns = places - starts[rows] + rows + 1
    return PairList(rows.astype(np.int32), columns.astype(np.int32))


def draw_heat_map(matrix: DistanceMatrix) -> bytes:
    """Draw distances with their tree as PNG.

    Raises
    ------
    DistanceError
        There are too few or too many sequences.
    FormatError
        matplotlib is not installed.
    """
    if not 2 < len(matrix) <= _MOST_IN_PICTURE:
        raise DistanceError(f"it is drawn of 3 to {_MOST_IN_PICTURE:,} sequences")
    check_matplotlib()
    return draw_distances(matrix, "png")


def pair_rows(best: Alignments | None) -> list[list[object]]:
    """Return what the table shows: names, numbers, and the rows of each alignment.

    Returns
    -------
    list of lists
        Query, target, score, identity (or None), alignment length (or None), strand, the gapped
        query and target (or None where alignments were not computed or are too long), and the
        residues of both before these, on the strand that is aligned.
    """
    rows: list[list[object]] = []
    letters = 0
    for pair in best if best is not None else ():
        aligned = best is not None and best.has_stats and pair.columns > 0
        row: list[object] = [pair.query.name, pair.target.name, pair.score]
        row += [round(pair.identity, 6), pair.columns] if aligned else [None, None]
        row.append("+" if pair.strand > 0 else "-")
        texts: list[object] = [None, None]
        if aligned and best is not None and best.has_cigar:
            size = 2 * (len(pair.query) + len(pair.target))
            if letters + size <= _MOST_LETTERS:
                letters += size
                texts = list(pair.rows())
        rows.append([*row, *texts, *_starts(pair)])
    return rows


def _starts(pair: Alignment) -> tuple[int, int]:
    if pair.alignments.scoring.mode != "local" or not pair.alignments.has_stats:
        return 0, 0
    start = pair.query_start if pair.strand > 0 else len(pair.query) - pair.query_end
    return start, pair.target_start


def _take_best(found: Alignments) -> Alignments:
    """Copy the pairs of highest score, the first of equals."""
    order = np.argsort(-found.raw_score.astype(np.int64), kind="stable")[:_MOST_PAIRS]
    return found.take(order)


def _merge(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Add the counts of values; rows are values and counts."""
    both = np.concatenate([one, other], axis=1)
    values, places = np.unique(both[0], return_inverse=True)
    return np.stack([values, np.bincount(places, both[1], len(values))])
