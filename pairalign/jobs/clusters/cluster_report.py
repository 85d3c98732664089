"""``cluster --report``: clusters, and members beside their representatives, as an HTML file."""

from __future__ import annotations

import numpy as np

from pairalign.clusters.clusters import Clusters
from pairalign.jobs.report.page import Table
from pairalign.jobs.report.report_collector import Histogram, ReportCollector
from pairalign.jobs.report.report_option import RunReport

_MOST_CLUSTERS = 50
_BINS = 40


class _ClusterCollector(ReportCollector):
    """Collects the alignments of members with their representatives; knows the clusters."""

    clusters: Clusters | None = None

    def histograms(self) -> list[Histogram]:
        """Return that of clusters' sizes, and those of the alignments."""
        assert self.clusters is not None
        sizes = self.clusters.sizes
        counts, edges = np.histogram(sizes, min(_BINS, int(sizes.max())))
        return [Histogram("Size of the clusters", edges, counts), *super().histograms()]


def report_clusters(
    request: RunReport, clusters: Clusters, devices: tuple[str, ...], summary: str
) -> None:
    """Write the report of clusters."""
    sequences = clusters.sequences
    collector = _ClusterCollector(sequences, sequences, no_map=None)
    collector.clusters = clusters
    collector.which = "members and their representatives"
    collector.add(clusters.alignments)
    request.write(collector, summary, [_clusters_table(clusters)], devices=devices)


def _clusters_table(clusters: Clusters) -> Table:
    sizes, abundances = clusters.sizes, clusters.cluster_abundances
    largest = np.lexsort((np.arange(len(sizes)), -sizes, -abundances))[:_MOST_CLUSTERS].tolist()
    least = np.ones(len(sizes))
    np.minimum.at(least, clusters.labels, clusters.identity)
    headings = ["Cluster", "Representative", "Sequences", "Abundance", "Least identity with it"]
    names = clusters.sequences.names
    rows: list[list[object]] = [
        [
            cluster,
            names[int(clusters.representatives[cluster])],
            int(sizes[cluster]),
            int(abundances[cluster]),
            f"{100 * least[cluster]:.1f}%",
        ]
        for cluster in largest
    ]
    if clusters.abundances is None:
        headings.pop(3)
        for row in rows:
            row.pop(3)
    return Table("The largest clusters", headings, rows)
