"""Networks on the command line: the network of clusters."""

from __future__ import annotations

from pairalign.alignments.problem import Problem
from pairalign.clusters.clusters import Clusters
from pairalign.formats import open_writer
from pairalign.formats.writer import Content, Shown
from pairalign.jobs.run.run_request import find_statistics
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest


def write_network(path: str, format: str, clusters: Clusters) -> None:
    """Write the pairs that are similar enough, with the cluster of each sequence."""
    edges = clusters.edges
    assert edges is not None
    sequences = clusters.sequences
    statistics = find_statistics(AlignRequest(), Problem(sequences, None, edges.scoring))
    content = Content(
        *(sequences, sequences, edges.scoring, Detail.STATS),
        shown=Shown(strands=edges.strand is not None),
        labels=clusters.labels,
        significance=statistics.significance,
    )
    with open_writer(path, format, content) as writer:
        writer.write(edges)
