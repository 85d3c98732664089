"""The command ``pairalign cluster``."""

from __future__ import annotations

import argparse
import time

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Int32s
from pairalign.base.choices import CLUSTER_ORDERS, CLUSTER_SUFFIXES, EDGE_RANKS, LINKAGES
from pairalign.base.errors import FormatError
from pairalign.cli.console import log, say
from pairalign.cli.files import check_files
from pairalign.cli.lines import Lines, say_summary
from pairalign.cli.networks import check_edge_hits, write_network
from pairalign.cli.planning import (
    check_scoring,
    choose_output,
    read_problem,
    resources_of,
)
from pairalign.cli.report import report_of
from pairalign.cli.summary import describe_steps
from pairalign.clusters.clusters import Clusters
from pairalign.engines.selection import usable_cores
from pairalign.formats import NETWORK_FORMATS
from pairalign.formats.clusters import write_clusters
from pairalign.formats.groups import read_groups
from pairalign.formats.names import choose_format, suffixes_of
from pairalign.formats.output import check_writable
from pairalign.jobs.clusters.clusters import ClusterJob, ClusterRequest
from pairalign.requests.shared import thresholds_of
from pairalign.sequences.abundances import describe_samples, read_abundances
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import number_of_pairs

_SUFFIXES = {**CLUSTER_SUFFIXES, **suffixes_of(NETWORK_FORMATS)}


def run_cluster(options: argparse.Namespace) -> None:
    """Carry out ``pairalign cluster``."""
    choose_output(options)
    format = choose_format(options.output, options.format, _SUFFIXES, "clusters")
    check_edge_hits(options, format)
    _check_extend(options, format)
    outputs = [path for path in (options.output, options.representatives) if path is not None]
    check_files(options)
    check_scoring(options)
    for path in outputs:
        check_writable(path)
    report = report_of(options)
    if options.order != CLUSTER_ORDERS[0] and options.linkage != LINKAGES[0]:
        raise FormatError(f"--order {options.order} is for --linkage greedy, not {options.linkage}")
    problem = read_problem(options)
    sequences = problem.queries
    _warn_of_sizes(options, sequences, format)
    _warn_of_lengths(problem, thresholds_of(options))
    if format == "otutab" and (samples := describe_samples(sequences.descriptions)):
        log.warning("%s: %s", sequences.source, samples)
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
        options.order,
        _known_of(options, sequences),
    )
    job = ClusterJob(problem, request)
    clusters = job.run()
    if options.clusters_by == "size":
        clusters = clusters.by_abundance()
    seconds = time.perf_counter() - started
    if format in NETWORK_FORMATS:
        write_network(options.output, format, clusters)
    else:
        _write(options, options.output, clusters, format)
    if options.representatives is not None:
        _write(options, options.representatives, clusters, "fasta")
    if options.explain:
        say(describe_steps(job.steps, number_of_pairs(len(sequences))))
    summary = _describe(clusters, problem, seconds, outputs)
    if report is not None:
        from pairalign.cli.cluster_report import report_clusters

        report_clusters(report, clusters, job.devices, summary.text())
    say_summary(options, summary)


def _write(options: argparse.Namespace, path: str, clusters: Clusters, format: str) -> None:
    threads = options.threads or usable_cores()
    sizes = {"sizein": options.sizein, "sizeout": options.sizeout}
    write_clusters(path, clusters, format, threads=threads, **sizes)


def _warn_of_sizes(options: argparse.Namespace, sequences: SequenceSet, format: str) -> None:
    """Say where sizes are asked for that headers do not have, or the other way round."""
    asked = options.sizein or "size" in (options.order, options.clusters_by)
    has_sizes = read_abundances(sequences) is not None
    if asked and not has_sizes:
        log.warning("%s: no header has ;size=, so that each counts once", sequences.source)
    if options.sizeout and has_sizes and not options.sizein:
        log.warning(
            "%s: headers have ;size=, which --sizeout counts with --sizein alone", sequences.source
        )
    if options.sizeout and format != "fasta" and options.representatives is None:
        log.warning("--sizeout is of representatives, which are not written: --representatives")


def _warn_of_lengths(problem: Problem, thresholds: PairThresholds) -> None:
    """Say where reads are too unequally long to be similar enough by columns, as others count."""
    sequences, least = problem.queries, float(thresholds.min_identity)
    by_columns = thresholds.identity_of in ("columns", "full") and problem.scoring.mode == "global"
    if not by_columns or sequences.alphabet.name != DNA.name:
        return
    short, long = np.percentile(sequences.lengths, (10, 90))
    if short < least * long:
        log.warning(
            "%s: a tenth has at most %d bases, a tenth at least %d, so that they are less than "
            "%g%% identical by all columns; vsearch and CD-HIT do not count what a read lacks at "
            "its ends: --identity-of shorter --mode semiglobal",
            *(sequences.source, short, long, 100 * least),
        )


def _check_extend(options: argparse.Namespace, format: str) -> None:
    """Refuse to add to clusters that a new sequence may take apart."""
    if options.extend is None:
        return
    if options.linkage != "single":
        raise FormatError(
            f"--extend is for --linkage single, not {options.linkage}: a new sequence may take "
            "earlier clusters apart, so all pairs count"
        )
    if format in NETWORK_FORMATS:
        raise FormatError(f"{format} has all edges, which clusters do not have: leave --extend out")


def _known_of(options: argparse.Namespace, sequences: SequenceSet) -> Int32s | None:
    return None if options.extend is None else read_groups(options.extend, None, sequences).labels


def _describe(clusters: Clusters, problem: Problem, seconds: float, outputs: list[str]) -> Lines:
    sizes = clusters.sizes
    lines, singles = Lines(), int((sizes == 1).sum())
    lines.add_problem(problem)
    lines.add_time(seconds)
    lines.add(
        "clusters",
        f"{len(clusters):,} by {clusters.linkage} linkage, the largest of {sizes.max():,}, "
        f"{singles:,} of a single sequence",
        clusters=len(clusters),
        linkage=clusters.linkage,
        largest=int(sizes.max()),
        singletons=singles,
    )
    lines.add_outputs(outputs)
    return lines
