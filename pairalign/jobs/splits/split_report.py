"""``split --report``: folds, clusters and the closest pairs across folds as an HTML file."""

from __future__ import annotations

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.clusters.folds import Split
from pairalign.jobs.report.page import Table
from pairalign.jobs.report.report_collector import Histogram, ReportCollector
from pairalign.jobs.report.report_option import RunReport
from pairalign.jobs.splits.edges import Pairs, align_pairs
from pairalign.pairs.lists import PairList
from pairalign.requests.resources import Resources

_MOST_PAIRS = 1000
_MOST_CLUSTERS = 50
_BINS = 40


class _SplitCollector(ReportCollector):
    """Collects the closest pairs across folds; knows the identities of all nearest ones."""

    split: Split | None = None

    def histograms(self) -> list[Histogram]:
        """Return those of clusters' sizes, nearest identities and lengths."""
        assert self.split is not None
        sizes = np.bincount(self.split.clusters)
        counts, edges = np.histogram(sizes, min(_BINS, int(sizes.max())))
        shown = [Histogram("Size of the clusters", edges, counts)]
        nearest = self.split.nearest_identity[self.split.nearest >= 0]
        if len(nearest):
            counts, edges = np.histogram(nearest, _BINS)
            title = "Identity with the nearest in another fold"
            shown.append(Histogram(title, edges, counts, is_share=True))
        return [*shown, super().histograms()[-1]]


def report_split(
    request: RunReport,
    split: Split,
    problem: Problem,
    strand: str,
    resources: Resources,
    pairs: Pairs,
    summary: str,
) -> None:
    """Write the report of a split; the closest pairs across folds are aligned again for it."""
    sequences = split.sequences
    collector = _SplitCollector(sequences, sequences, no_map=None)
    collector.split = split
    collector.which = "sequences and the nearest ones in other folds"
    closest = _closest(split)
    if len(closest):
        for alignments in align_pairs(problem, closest, resources, strand):
            collector.add(alignments)
    tables = _folds_table(split), _clusters_table(split)
    request.write(collector, summary, tables, devices=pairs.devices)


def _closest(split: Split) -> PairList:
    """Return the pairs of sequences and their nearest ones, the most similar first."""
    near = np.flatnonzero(split.nearest >= 0)
    near = near[np.lexsort((near, -split.nearest_identity[near]))][: 2 * _MOST_PAIRS]
    ends = np.sort(np.stack([near, split.nearest[near]], axis=1), axis=1)
    unique = list(dict.fromkeys(map(tuple, ends.tolist())))[:_MOST_PAIRS]
    pairs = np.array(unique, np.int32).reshape(-1, 2)
    return PairList(pairs[:, 0].copy(), pairs[:, 1].copy())


def _folds_table(split: Split) -> Table:
    counts = {} if split.labels is None else split.count_labels()
    rows: list[list[object]] = [
        [name, int(size), *(of_folds[fold] for of_folds in counts.values())]
        for fold, (name, size) in enumerate(zip(split.fold_names, split.sizes, strict=True))
    ]
    rows.append(["removed", len(split.removed), *("" for _ in counts)])
    return Table("Folds", ["Fold", "Sequences", *(f"label {label}" for label in counts)], rows)


def _clusters_table(split: Split) -> Table:
    sizes = np.bincount(split.clusters)
    largest = np.lexsort((np.arange(len(sizes)), -sizes))[:_MOST_CLUSTERS].tolist()
    rows = []
    for cluster in largest:
        members = np.flatnonzero(split.clusters == cluster)
        folds = split.folds[members]
        places = ", ".join(split.fold_names[k] for k in np.unique(folds[folds >= 0]).tolist())
        first = split.sequences.names[int(members[0])]
        rows.append([cluster, first, len(members), places, int((folds < 0).sum())])
    return Table(
        "The largest clusters", ["Cluster", "First sequence", "Sequences", "Folds", "Removed"], rows
    )
