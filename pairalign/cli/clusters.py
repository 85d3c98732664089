"""The command ``pairalign cluster``."""

from __future__ import annotations

import argparse
import time

from pairalign.base.choices import CLUSTER_SUFFIXES, EDGE_RANKS
from pairalign.cli.console import say
from pairalign.cli.files import check_files
from pairalign.cli.networks import check_edge_hits, write_network
from pairalign.cli.planning import (
    check_scoring,
    choose_output,
    read_problem,
    resources_of,
)
from pairalign.cli.summary import describe_set, describe_steps
from pairalign.cli.thresholds import thresholds_of
from pairalign.clusters.clusters import Clusters
from pairalign.engines.selection import usable_cores
from pairalign.formats import NETWORK_FORMATS
from pairalign.formats.clusters import write_clusters
from pairalign.formats.names import choose_format
from pairalign.formats.output import check_writable
from pairalign.jobs.clusters.clusters import ClusterJob, ClusterRequest
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.statements import describe_scoring
from pairalign.trees.distance_matrix import number_of_pairs

_SUFFIXES = {
    **CLUSTER_SUFFIXES,
    **{name: writer.suffixes for name, writer in NETWORK_FORMATS.items()},
}


def run_cluster(options: argparse.Namespace) -> None:
    """Carry out ``pairalign cluster``."""
    choose_output(options)
    format = choose_format(options.output, options.format, _SUFFIXES, "clusters")
    check_edge_hits(options, format)
    outputs = [path for path in (options.output, options.representatives) if path is not None]
    check_files(options)
    check_scoring(options)
    for path in outputs:
        check_writable(path)
    problem = read_problem(options)
    sequences, scoring = problem.queries, problem.scoring
    started = time.perf_counter()
    request = ClusterRequest(
        thresholds_of(options),
        options.linkage,
        options.representative,
        format in NETWORK_FORMATS,
        options.strand,
        resources_of(options),
        options.max_hits,
        options.rank or EDGE_RANKS[0],
    )
    job = ClusterJob(problem, request)
    clusters = job.run()
    seconds = time.perf_counter() - started
    threads = options.threads or usable_cores()
    if format in NETWORK_FORMATS:
        write_network(options.output, format, clusters)
    else:
        write_clusters(options.output, clusters, format, threads=threads)
    if options.representatives is not None:
        write_clusters(options.representatives, clusters, "fasta", threads=threads)
    if options.explain:
        say(describe_steps(job.steps, number_of_pairs(len(sequences))))
    if not options.quiet:
        say(_describe(clusters, sequences, scoring, seconds, outputs))


def _describe(
    clusters: Clusters,
    sequences: SequenceSet,
    scoring: Scoring,
    seconds: float,
    outputs: list[str],
) -> str:
    sizes = clusters.sizes
    rows = [
        ("sequences", describe_set(sequences)),
        ("scoring", describe_scoring(scoring)),
        ("time", f"{seconds:.2f} s"),
        (
            "clusters",
            f"{len(clusters):,} by {clusters.linkage} linkage, the largest of {sizes.max():,}, "
            f"{int((sizes == 1).sum()):,} of a single sequence",
        ),
        (
            "written to",
            ", ".join("standard output" if path == "-" else path for path in outputs),
        ),
    ]
    return "\n".join(f"{title:>13}  {value}" for title, value in rows)
