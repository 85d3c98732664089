"""Networks on the command line: ``--best``, and the network of clusters."""

from __future__ import annotations

import argparse

from pairalign.clusters.best_edges import BestEdges
from pairalign.clusters.clusters import Clusters
from pairalign.errors import FormatError
from pairalign.formats import NETWORK_FORMATS, Writer, open_writer
from pairalign.jobs.run.statistics import chosen_composition
from pairalign.pairs.want import Detail
from pairalign.statistics.significance import find_gumbel, find_significance


def check_best(options: argparse.Namespace, format: str) -> None:
    """Refuse ``--best`` where it cannot be done.

    Raises
    ------
    FormatError
        The format is none of a network, or only a part of all pairs is looked at.
    """
    if options.best is None:
        return
    if format not in NETWORK_FORMATS:
        raise FormatError(f"--best is for {', '.join(NETWORK_FORMATS)}, but the format is {format}")
    for name in ("shard", "resume", "cluster"):
        if getattr(options, name, None):
            raise FormatError(f"--best needs all pairs of a sequence: leave --{name} out")


def write_best(best: BestEdges | None, writer: Writer) -> None:
    """Write the pairs that were kept, if any were chosen."""
    kept = None if best is None else best.kept()
    if kept is not None:
        writer.write(kept)


def write_network(path: str, format: str, clusters: Clusters, best: int | None) -> None:
    """Write the pairs that are similar enough, with the cluster of each sequence."""
    edges = clusters.edges
    assert edges is not None
    if best is not None:
        kept = BestEdges(best)
        kept.add(edges)
        chosen = kept.kept()
        assert chosen is not None
        edges = chosen
    sequences = clusters.sequences
    significance = None
    if find_gumbel(edges.scoring) is not None:
        composition = chosen_composition(None, edges.scoring, sequences)
        significance = find_significance(edges.scoring, sequences, composition=composition)
    with open_writer(
        path,
        format,
        sequences,
        sequences,
        edges.scoring,
        Detail.STATS,
        labels=clusters.labels,
        significance=significance,
    ) as writer:
        writer.write(edges)
