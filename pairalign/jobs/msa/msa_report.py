"""``msa --report``: how sure residues are, and pairs of rows, as an HTML file."""

from __future__ import annotations

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.multiple import MultipleAlignment, describe_unlike
from pairalign.alignments.row_pairs import align_rows, row_distances
from pairalign.base.error_types import FormatError
from pairalign.jobs.report.heat_map import MOST_SEQUENCES
from pairalign.jobs.report.page import Table
from pairalign.jobs.report.report_collector import DistanceCollector, Histogram
from pairalign.jobs.report.report_option import RunReport
from pairalign.pairs.lists import PairList
from pairalign.scoring.scoring_request import ScoringRequest
from pairalign.sequences.sets import SequenceSet

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
