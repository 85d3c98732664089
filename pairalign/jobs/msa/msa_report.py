"""``msa --report``: how sure residues are, and pairs of rows, as an HTML file."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairalign.alignments.alignments import STATS_FIELDS, Alignments
from pairalign.alignments.multiple import MultipleAlignment, describe_unlike
from pairalign.base.arrays import UInt8s, UInt32s
from pairalign.base.error_types import FormatError
from pairalign.jobs.report.heat_map import MOST_SEQUENCES
from pairalign.jobs.report.page import Table
from pairalign.jobs.report.report_collector import DistanceCollector, Histogram
from pairalign.jobs.report.report_option import RunReport
from pairalign.pairs.lists import PairList
from pairalign.scoring.cigars import DELETION, INSERTION, MATCH, MISMATCH
from pairalign.scoring.scoring import Scoring
from pairalign.scoring.scoring_request import ScoringRequest
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix, number_of_pairs

_BINS = 40
_MOST_ROWS = 50


class _RowsCollector(DistanceCollector):
    """Collects the closest pairs of rows; knows how sure residues are."""

    alignment: MultipleAlignment | None = None

    def histograms(self) -> list[Histogram]:
        """Return that of the confidence, and those of distances and lengths."""
        assert self.alignment is not None
        confidence = self.alignment.residue_confidence
        counts, edges = np.histogram(confidence[~np.isnan(confidence)], _BINS, (0, 1))
        shown = Histogram("Confidence of the residues", edges, counts, is_share=True)
        return [shown, *super().histograms()]


def check_rows(sequences: SequenceSet) -> None:
    """Refuse a report of too few sequences, or too many."""
    if not 2 <= len(sequences) <= MOST_SEQUENCES:
        raise FormatError(
            f"{sequences.source}: a report is of 2 to {MOST_SEQUENCES:,} sequences, found "
            f"{len(sequences):,}"
        )


def report_rows(page: RunReport, alignment: MultipleAlignment, summary: str) -> None:
    """Write the report of a multiple alignment."""
    sequences = alignment.sequences
    scoring = ScoringRequest().scoring(sequences.alphabet)
    collector = _RowsCollector(sequences, scoring, row_distances(alignment), alignment.tree)
    collector.alignment = alignment

    def of_rows(pairs: PairList) -> list[Alignments]:
        return [align_rows(alignment, pairs, scoring)]

    page.write(collector, summary, [_least_sure(alignment)], realign=of_rows)


def _least_sure(alignment: MultipleAlignment) -> Table:
    """Return the sequences that are least sure."""
    sequences, unlike = alignment.sequences, dict(alignment.unlike)
    confidence = alignment.residue_confidence
    are_known = ~np.isnan(confidence)
    owners = np.repeat(np.arange(len(sequences)), sequences.lengths)[are_known]
    sums = np.bincount(owners, confidence[are_known], minlength=len(sequences))
    counts = np.bincount(owners, minlength=len(sequences))
    means = np.divide(sums, counts, out=np.zeros(len(sequences)), where=counts > 0)
    rows: list[list[object]] = [
        [
            sequences.names[index],
            int(sequences.lengths[index]),
            f"{100 * means[index]:.1f}%",
            describe_unlike(unlike[index]) if index in unlike else "",
        ]
        for index in np.lexsort((np.arange(len(sequences)), means))[:_MOST_ROWS].tolist()
    ]
    return Table("The least sure sequences", ["Sequence", "Residues", "Confidence", ""], rows)


_GAP = 255
"""In rows of codes."""
ROWS_MEASURE = "identity-aligned"
"""What `row_distances` are."""


def row_distances(alignment: MultipleAlignment) -> DistanceMatrix:
    """Return 1 - matches by columns of two residues, of all pairs of rows.

    Ambiguous residues match nothing. Rows without a common column have the distance 1.
    """
    rows = _rows_of_codes(alignment)
    unambiguous = alignment.sequences.alphabet.unambiguous
    distances = np.ones(number_of_pairs(len(rows)), np.float32)
    start = 0
    for index, row in enumerate(rows[:-1]):
        own = np.flatnonzero(row != _GAP)
        others = rows[index + 1 :, own]
        both = np.count_nonzero(others != _GAP, axis=1)
        equal = np.count_nonzero((others == row[own]) & (row[own] < unambiguous), axis=1)
        np.divide(both - equal, both, out=distances[start : start + len(both)], where=both > 0)
        start += len(both)
    return DistanceMatrix(alignment.sequences.names, distances, ROWS_MEASURE)


def align_rows(alignment: MultipleAlignment, pairs: PairList, scoring: Scoring) -> Alignments:
    """Return the alignments of some pairs of rows, whole sequences, with CIGARs.

    Parameters
    ----------
    alignment : MultipleAlignment
    pairs : PairList
        Of input indices.
    scoring : Scoring
        Of mode global; what the scores are by.
    """
    rows, sequences = _rows_of_codes(alignment), alignment.sequences
    unambiguous = sequences.alphabet.unambiguous
    paths = [
        _path(rows[first], rows[second], unambiguous)
        for first, second in zip(pairs.first, pairs.second, strict=True)
    ]
    scores = [
        scoring.rescore(sequences.codes_of(first), sequences.codes_of(second), path.cigar)
        for first, second, path in zip(pairs.first, pairs.second, paths, strict=True)
    ]
    ends = [sequences.lengths[ends] for ends in (pairs.first, pairs.second)]
    starts = np.zeros(len(paths), np.int32)
    counts = np.array([path.counts for path in paths], np.int32).reshape(-1, 4).T
    stats = (starts, ends[0], starts, ends[1], *counts)
    sizes = [0, *(len(path.cigar) for path in paths)]
    return Alignments(
        queries=sequences,
        targets=sequences,
        scoring=scoring,
        query=pairs.first,
        target=pairs.second,
        raw_score=np.array(scores, np.int32),
        cigar=np.concatenate([np.zeros(0, np.uint32), *(path.cigar for path in paths)]),
        cigar_offsets=np.cumsum(sizes),
        **dict(zip(STATS_FIELDS, stats, strict=True)),
    )


class _Path(NamedTuple):
    """How two rows are aligned.

    Attributes
    ----------
    cigar : ndarray of uint32, shape (runs,)
    counts : tuple of int
        Matches, mismatches, openings of gaps, residues in gaps.
    """

    cigar: UInt32s
    counts: tuple[int, int, int, int]


def _path(query: UInt8s, target: UInt8s, unambiguous: int) -> _Path:
    """Return the path of two rows of codes, of which those below `unambiguous` may match."""
    shown = (query != _GAP) | (target != _GAP)
    query, target = query[shown], target[shown]
    matches = (query == target) & (query < unambiguous)
    operations = np.where(matches, MATCH, MISMATCH)
    operations[query == _GAP] = DELETION
    operations[target == _GAP] = INSERTION
    begins = np.flatnonzero(np.diff(operations, prepend=0))
    lengths = np.diff(begins, append=len(operations))
    runs = operations[begins]
    is_gap = runs < MATCH
    residues = int(lengths[is_gap].sum())
    equal = int(np.count_nonzero(matches))
    counts = equal, len(operations) - equal - residues, int(is_gap.sum()), residues
    return _Path((lengths << 4 | runs).astype(np.uint32), counts)


def _rows_of_codes(alignment: MultipleAlignment) -> UInt8s:
    """Return the rows as codes, with `_GAP` in gaps, uint8 of shape (sequences, width)."""
    sequences = alignment.sequences
    rows = np.full((len(sequences), alignment.width), _GAP, np.uint8)
    rows[np.repeat(np.arange(len(sequences)), sequences.lengths), alignment.columns] = (
        sequences.codes
    )
    return rows
