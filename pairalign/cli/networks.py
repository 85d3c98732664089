"""Networks on the command line: their best edges, and the network of clusters."""

from __future__ import annotations

import argparse

from pairalign.alignments.problem import Problem
from pairalign.base.choices import WEIGHTS
from pairalign.base.errors import FormatError
from pairalign.clusters.clusters import Clusters
from pairalign.formats import NETWORK_FORMATS, open_writer
from pairalign.jobs.run.request import AlignRequest, find_statistics
from pairalign.pairs.want import Detail

OF_STATISTICS = ("bits", "evalue", "alignment_score")
"""Weights that are known of local alignments alone."""

WEIGHTED = ("abc", "gexf")
"""Networks whose edges have a weight."""


def check_network(options: argparse.Namespace, format: str, *, once: bool) -> None:
    """Refuse hits and weights that `align` cannot have.

    Parameters
    ----------
    options : argparse.Namespace
    format : str
    once : bool
        Whether each pair is written once.

    Raises
    ------
    FormatError
        The message says what to leave out or add.
    """
    _check_hits(options)
    if once:
        _check_hits_once(options, format)
    _check_weight(options, format)


def _check_hits(options: argparse.Namespace) -> None:
    """Refuse ``--rank`` without hits, hits both ways, and ranks that are not those of a mode.

    Raises
    ------
    FormatError
        The message says what to leave out or add.
    """
    if options.max_hits is None:
        if options.rank is not None:
            raise FormatError("--rank is the order of hits: give --max-hits K")
        return
    if getattr(options, "both_ways", False):
        raise FormatError("--max-hits writes each hit with its query first: leave --both-ways out")
    if options.rank in ("bits", "evalue") and options.mode != "local":
        raise FormatError(f"--rank {options.rank} needs --mode local, not {options.mode}")


def _check_hits_once(options: argparse.Namespace, format: str) -> None:
    """Refuse parts of the hits of a set with itself where each pair is written once.

    Raises
    ------
    FormatError
        A part does not know whether a pair is a hit of the other sequence as well.
    """
    if options.max_hits is None or options.input2 is not None:
        return
    for name in ("shard", "dask"):
        if getattr(options, name, None):
            raise FormatError(
                f"{format} has each pair once: --max-hits needs all hits, so leave --{name} out"
            )


def _check_weight(options: argparse.Namespace, format: str) -> None:
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
    if options.weight in OF_STATISTICS and options.mode != "local":
        raise FormatError(f"--weight {options.weight} needs --mode local, not {options.mode}")


def check_edge_hits(options: argparse.Namespace, format: str) -> None:
    """Refuse ``--max-hits`` of clusters where no network is written.

    Raises
    ------
    FormatError
        The format has no edges.
    """
    _check_hits(options)
    if options.max_hits is not None and format not in NETWORK_FORMATS:
        fitting = ", ".join(NETWORK_FORMATS)
        raise FormatError(f"--max-hits is for {fitting}, but the format is {format}")


def write_network(path: str, format: str, clusters: Clusters) -> None:
    """Write the pairs that are similar enough, with the cluster of each sequence."""
    edges = clusters.edges
    assert edges is not None
    sequences = clusters.sequences
    known = find_statistics(AlignRequest(), Problem(sequences, None, edges.scoring))
    with open_writer(
        path,
        format,
        sequences,
        sequences,
        edges.scoring,
        Detail.STATS,
        labels=clusters.labels,
        significance=known.significance,
    ) as writer:
        writer.write(edges)
