"""Networks on the command line: their best edges, and the network of clusters."""

from __future__ import annotations

import argparse

from pairalign.base.choices import RANKS, WEIGHTS
from pairalign.clusters.best_edges import BestEdges
from pairalign.clusters.clusters import Clusters
from pairalign.errors import FormatError
from pairalign.formats import NETWORK_FORMATS, Writer, open_writer
from pairalign.jobs.run.statistics import chosen_composition
from pairalign.pairs.want import Detail
from pairalign.statistics.significance import find_gumbel, find_significance

WEIGHTED = ("abc", "gexf")
"""Networks whose edges have a weight."""


def check_hits(options: argparse.Namespace, format: str) -> None:
    """Refuse ``--max-hits`` where it cannot be done.

    Raises
    ------
    FormatError
        The format is none of a network, or only a part of all pairs is looked at.
    """
    if options.max_hits is None:
        if options.rank is not None:
            raise FormatError("--rank is the order of hits: give --max-hits K")
        return
    if format not in NETWORK_FORMATS:
        fitting = ", ".join(NETWORK_FORMATS)
        raise FormatError(f"--max-hits is for {fitting}, but the format is {format}")
    for name in ("shard", "resume", "cluster"):
        if getattr(options, name, None):
            raise FormatError(f"--max-hits needs all pairs of a sequence: leave --{name} out")


def check_weight(options: argparse.Namespace, format: str) -> None:
    """Refuse ``--weight`` where edges have none, or where it is not known.

    Raises
    ------
    FormatError
        The format has no weights, or E-values are not of the mode.
    """
    if options.weight == WEIGHTS[0]:
        return
    if format not in WEIGHTED:
        raise FormatError(
            f"--weight is for {' and '.join(WEIGHTED)}, but the format is {format}"
            + ("; its edges have all of them" if format in NETWORK_FORMATS else "")
        )
    if options.weight in ("bits", "evalue") and options.mode != "local":
        raise FormatError(f"--weight {options.weight} needs --mode local, not {options.mode}")


def write_best(best: BestEdges | None, writer: Writer) -> None:
    """Write the pairs that were kept, if any were chosen."""
    kept = None if best is None else best.kept()
    if kept is not None:
        writer.write(kept)


def write_network(
    path: str, format: str, clusters: Clusters, best: int | None, rank: str | None
) -> None:
    """Write the pairs that are similar enough, with the cluster of each sequence."""
    edges = clusters.edges
    assert edges is not None
    if best is not None:
        kept = BestEdges(best, rank or RANKS[0])
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
