"""The command ``pairalign cluster``."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.choices import CLUSTER_SUFFIXES
from pairalign.base.console import log, say
from pairalign.base.declaration import changed, check
from pairalign.clusters.clusters import Clusters
from pairalign.formats import NETWORK_FORMATS, open_writer
from pairalign.formats.group_files import read_groups
from pairalign.formats.libraries import array_format
from pairalign.formats.names import FASTA, suffixes_of
from pairalign.formats.output import check_writable
from pairalign.formats.writer import Content, Shown
from pairalign.jobs.clusters.abundances import describe_samples, read_abundances
from pairalign.jobs.clusters.cluster import ClusterJob
from pairalign.jobs.clusters.cluster_files import write_clusters
from pairalign.jobs.clusters.cluster_request import ClusterOptions
from pairalign.jobs.commands.planning import read_problem, report_of, with_output
from pairalign.jobs.commands.summary import Lines, describe_steps, say_summary
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import check_scoring
from pairalign.jobs.run.run_request import find_statistics
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import number_of_pairs

_SUFFIXES = {**CLUSTER_SUFFIXES, **suffixes_of(NETWORK_FORMATS)}
_OF_SAMPLES = ("otutab", "biom", "biom2")


def run_cluster(request: ClusterOptions) -> None:
    """Carry out ``pairalign cluster``."""
    request = with_output(request)
    format = array_format(request.writing.output, request.writing.format, _SUFFIXES, "clusters")
    request = changed(request, format=format, edges=format in NETWORK_FORMATS)
    check(request)
    outputs = [
        path for path in (request.writing.output, request.representatives) if path is not None
    ]
    check_files(request)
    check_scoring(request)
    for path in outputs:
        check_writable(path)
    report = report_of(request, request.input)
    problem = read_problem(request)
    sequences = problem.queries
    if format == "fasta" or request.representatives is not None:
        FASTA.check(sequences)
    _warn_of_sizes(request, sequences)
    _warn_of_lengths(problem, request.thresholds)
    if format in _OF_SAMPLES and (samples := describe_samples(sequences.descriptions)):
        log.warning("%s: %s", sequences.source, samples)
    started = time.perf_counter()
    if request.extend is not None:
        request = replace(request, extend=read_groups(request.extend, None, sequences).labels)
    job = ClusterJob(problem, request, request.resources)
    clusters = job.run()
    if request.clusters_by == "size":
        clusters = clusters.by_abundance()
    seconds = time.perf_counter() - started
    if request.edges:
        write_network(outputs[0], format, clusters)
    else:
        _write(request, outputs[0], clusters, format)
    if request.representatives is not None:
        _write(request, request.representatives, clusters, "fasta")
    if request.explain:
        say(describe_steps(job.steps, number_of_pairs(len(sequences))))
    summary = _describe(clusters, problem, seconds, outputs)
    if report is not None:
        from pairalign.jobs.clusters.cluster_report import report_clusters

        report_clusters(report, clusters, job.devices, summary.text())
    say_summary(request, summary)


def _write(request: ClusterOptions, path: str, clusters: Clusters, format: str) -> None:
    threads = request.resources.used_threads
    sizes = {"sizein": request.sizein, "sizeout": request.sizeout}
    write_clusters(path, clusters, format, threads=threads, **sizes)


def _warn_of_sizes(request: ClusterOptions, sequences: SequenceSet) -> None:
    """Say where options name sizes that headers do not have, or the other way round."""
    are_asked = request.sizein or "size" in (request.order, request.clusters_by)
    has_sizes = read_abundances(sequences) is not None
    if are_asked and not has_sizes:
        log.warning("%s: no header has ;size=, so that each counts once", sequences.source)
    if request.sizeout and has_sizes and not request.sizein:
        log.warning(
            "%s: headers have ;size=, which --sizeout counts with --sizein alone", sequences.source
        )
    if request.sizeout and request.writing.format != "fasta" and request.representatives is None:
        log.warning("--sizeout is of representatives, which are not written: --representatives")


def _warn_of_lengths(problem: Problem, thresholds: PairThresholds) -> None:
    """Say where reads are too unequally long to be similar enough by columns, as others count."""
    sequences, least = problem.queries, float(thresholds.least_identity)
    if not thresholds.counts_ends(problem.scoring.mode) or sequences.alphabet.name != DNA.name:
        return
    short, long = np.percentile(sequences.lengths, (10, 90))
    if short < least * long:
        log.warning(
            "%s: a tenth has at most %d bases, a tenth at least %d, so that they are less than "
            "%g%% identical by all columns; vsearch and CD-HIT do not count what a read lacks at "
            "its ends: --identity-of shorter --mode semiglobal",
            *(sequences.source, short, long, 100 * least),
        )


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
