"""The command ``pairalign distance``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pairalign.alignments.problem import Problem
from pairalign.base.choices import DEFAULT_METHOD, DISTANCE_SUFFIXES, PICTURES
from pairalign.base.console import log, name_output
from pairalign.base.declaration import changed, check
from pairalign.base.dry_run import begin
from pairalign.base.error_types import FormatError
from pairalign.base.native import share_heap
from pairalign.base.packages import DRAWS, check_package
from pairalign.cli.distance_steps import (
    DistanceSummary,
    measure_all,
    merged,
    run_request,
    warn_of_ambiguous,
    write_part,
)
from pairalign.formats.distance_text import LONGEST_LINE, check_strict_names
from pairalign.formats.distances import (
    distance_format,
    read_distances,
    write_distances,
    write_group_clusters,
)
from pairalign.formats.names import format_by_suffix
from pairalign.formats.output import check_writable, open_output
from pairalign.jobs.commands.planning import problem_of, read_sequences, report_of, with_output
from pairalign.jobs.distances.distance import measure_circular
from pairalign.jobs.distances.group_membership import find_groups, reading_of_groups
from pairalign.jobs.distances.guide_tree import METHOD_BYTES, check_count
from pairalign.jobs.distances.measures import find_measure
from pairalign.jobs.distances.near import find_near
from pairalign.jobs.distances.proteome_distances import groups_work, measure_groups
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import ProblemRequest, check_scoring, read_sets
from pairalign.requests.distance_request import DistanceOptions
from pairalign.results.distances_result import GroupDistances
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import AnyDistances, DistanceMatrix, Distances, check_words
from pairalign.trees.sparse_distances import SparseDistances

if TYPE_CHECKING:
    from pairalign.jobs.report.report_option import RunReport
    from pairalign.jobs.run.forecast import Work


_OF_WORDS = ("phylip", "column")
"""Formats whose names end at blanks."""


def run_distance(request: DistanceOptions) -> None:
    """Carry out ``pairalign distance``."""
    share_heap()
    request = _completed(request)
    check_files(request)
    places = request.writing.output, request.plot, request.matches, request.clusters
    outputs = [path for path in places if path is not None]
    request = changed(request, output=name_output(outputs[0]))
    check_scoring(request)
    for path in outputs if request.writing.shard is None else ():
        check_writable(path)
    page = report_of(request, request.input, request.input2)
    if request.writing.shard is not None:
        write_part(request, _read(request), run_request(request))
        return
    summary = DistanceSummary()
    distances = _measure(request, page, summary)
    _write(request, distances)
    summary.finish(request, outputs)


def _completed(request: DistanceOptions) -> DistanceOptions:
    """Return the request with output and format; refuse what these, and a picture, cannot be."""
    storage = "rectangular" if request.has_two_sets else "condensed"
    default = "tsv" if request.has_two_sets else "phylip"
    if request.has_limit:
        storage, default = "sparse", "tsv"
    if request.writing.output is not None or request.plot is None:
        request = with_output(request, default=default)
    if request.plot is not None:
        _picture_format(request.plot)
        check_package("matplotlib", *DRAWS)
    if request.writing.shard is None and request.writing.output is not None:
        format = distance_format(request.writing.output, request.writing.format, storage)
        request = changed(request, format=format)
        check(request)
    return request


def _picture_format(path: str) -> str:
    picture_format = format_by_suffix(path, PICTURES)
    if picture_format is None:
        raise FormatError(f"the picture '{path}' should end in {' or '.join(PICTURES)}")
    return picture_format


def _measure(
    request: DistanceOptions, page: RunReport | None, summary: DistanceSummary
) -> Distances:
    """Compute the distances, and report on them."""
    if request.has_limit:
        return _measure_near(request, summary)
    if request.group_by is not None:
        return _measure_groups(request, summary)
    return _measure_files(request, page, summary)


# ---------------------------------------------------------------------------------------------
# All pairs


def _measure_files(
    request: DistanceOptions, page: RunReport | None, summary: DistanceSummary
) -> AnyDistances:
    """Read one set, or two, and compute the distances of all pairs."""
    problem = _read(request)
    sequences = problem.queries
    if request.extend is not None:
        request = replace(request, extend=_read_known(request.extend, sequences))
    has_tree = request.plot is not None and problem.is_one_set
    if has_tree:
        check_count(len(sequences), sequences.source)
    tree_bytes = METHOD_BYTES[DEFAULT_METHOD] if has_tree else 0
    if request.circular:
        distances: AnyDistances = _measure_circles(request, problem, summary)
    else:
        write = partial(_write_sample, request)
        distances = measure_all(request, problem, tree_bytes, summary, write)
    if page is not None:
        assert isinstance(distances, DistanceMatrix)
        again = request.align_request
        page.write_distances(distances, problem, again, summary.text(), devices=summary.devices)
    return distances


def _measure_circles(
    request: DistanceOptions, problem: Problem, summary: DistanceSummary
) -> DistanceMatrix:
    """Compute the distances of circular sequences, and report on it."""
    started = time.perf_counter()
    measure, both = find_measure(request.measure), request.strand == "both"
    warn_of_ambiguous(measure, problem)
    compute = partial(
        measure_circular, measure=measure, both_strands=both, resources=request.resources
    )
    _begin(request, problem, lambda some: compute(some)[0])
    matrix, best = compute(problem)
    pairs = problem.pairs
    summary.add_problem(problem)
    text = f"{pairs:,} of circles; of {best:,} no rotation of the target scores more, proven"
    summary.add("pairs", text, pairs=pairs, proven=best)
    summary.add_time(time.perf_counter() - started)
    summary.add_distances(matrix)
    return matrix


def _read(request: DistanceOptions) -> Problem:
    """Read one set, or two, of sequences or of receptors."""
    if request.is_of_receptors:
        from pairalign.jobs.receptors.tcrdist import read_receptor_files

        return read_receptor_files(request)
    sequences, targets = read_sequences(request)
    if request.strict_names:
        check_strict_names(sequences.names, sequences.source)
    return problem_of(request.scoring, sequences, targets)


def _read_known(path: str, sequences: SequenceSet) -> DistanceMatrix:
    """Read distances of the first sequences: a NumPy file has no names, parts have them."""
    if os.path.isdir(path):
        return merged(path)
    if format_by_suffix(path, DISTANCE_SUFFIXES) != "npy":
        raise FormatError(f"'{path}': --extend takes .npy or a folder of parts; others are rounded")
    return read_distances(path, "npy", names=list(sequences.names), of_first=True)


# ---------------------------------------------------------------------------------------------
# Pairs within a limit, and groups


def _measure_near(request: DistanceOptions, summary: DistanceSummary) -> Distances:
    """Find the pairs within a limit."""
    problem = _read(request)
    find = partial(find_near, request, resources=request.resources)
    _begin(request, problem, find)
    started = time.perf_counter()
    distances = find(problem)
    seconds = time.perf_counter() - started
    pairs, measure, limit = problem.pairs, request.limited, request.limit
    summary.add_problem(problem)
    text = f"{pairs:,}, of which {len(distances):,} within {measure} {limit}"
    summary.add("pairs", text, pairs=pairs, within=len(distances), measure=measure, limit=limit)
    rate = f", {pairs / max(seconds, 1e-9) / 1e6:.1f} M pairs/s"
    summary.add_time(seconds, more=rate)
    return distances


def _measure_groups(request: DistanceOptions, summary: DistanceSummary) -> GroupDistances:
    """Compute the distances of proteomes, or of genomes."""
    assert request.group_by is not None
    first, *others = request.files
    reading = reading_of_groups(request.reading, request.group_by, others)
    sequences, _ = read_sets(ProblemRequest(first, reading=reading))
    groups = find_groups(request.group_by, sequences)
    if request.writing.format in _OF_WORDS:
        check_words(groups.names, "groups")
    if request.strict_names:
        check_strict_names(groups.names)
    if request.plot is not None:
        check_count(len(groups.names), sequences.source)
    problem, started = problem_of(request.scoring, sequences), time.perf_counter()
    begin(partial(groups_work, request, problem, groups, request.resources))
    distances, aligned = measure_groups(request, problem, groups, request.resources)
    seconds = time.perf_counter() - started
    summary.devices = aligned.devices
    summary.add_problem(problem)
    sizes = distances.sizes
    text = f"{len(distances):,} of {sizes.min():,} to {sizes.max():,} sequences"
    summary.add("groups", text, groups=len(distances))
    facts, text = {"pairs": aligned.pairs}, f"{aligned.pairs:,}"
    if "matched" in distances.columns:
        facts["matched"] = int(distances.columns["matched"].sum())
        text += f", of which {facts['matched']:,} are each other's best hits"
    summary.add("pairs", text, **facts)
    summary.add_time(seconds, aligned.cells)
    summary.add_distances(distances)
    return distances


# ---------------------------------------------------------------------------------------------
# Files


def _write(request: DistanceOptions, distances: Distances) -> None:
    """Write the distances, and the files that are made of them."""
    if isinstance(distances, GroupDistances):
        if request.matches is not None:
            distances.write_table(request.matches)
        if request.clusters is not None:
            clusters = distances.clusters(float(request.max_distance or 0))
            write_group_clusters(request.clusters, clusters)
    if request.similarity:
        assert isinstance(distances, AnyDistances)
        distances = distances.similarities()
    if request.writing.output != request.plot:
        _write_distances(request, distances)
    if request.plot is not None:
        from pairalign.trees.tree_drawing import draw_distances

        assert isinstance(distances, AnyDistances)
        picture = draw_distances(distances, _picture_format(request.plot))
        with open_output(request.plot) as output:
            output.write(picture)


def _begin(
    request: DistanceOptions, problem: Problem, compute: Callable[[Problem], Distances]
) -> None:
    """Say that distances are computed: a dry run ends here, with those of some sequences."""

    def work() -> Work:
        from pairalign.jobs.run.forecast import Sample, work_with

        def do(some: Problem, path: str) -> Sample:
            distances = compute(some)
            _write_sample(request, distances, path)
            return Sample(passed=len(distances) if isinstance(distances, SparseDistances) else None)

        return work_with(problem, do)

    begin(work)


def _write_sample(request: DistanceOptions, distances: Distances, path: str) -> None:
    """Write distances of some sequences as a dry run foretells those of all."""
    if request.writing.output != request.plot:
        _write(changed(request, output=path, plot=None), distances)


def _write_distances(request: DistanceOptions, distances: Distances) -> None:
    """Write the distances; warn of lines that a program does not read."""
    longest = write_distances(
        request.writing.output,
        distances,
        request.writing.format,
        lower=request.lower,
        strict=request.strict_names,
        threads=request.resources.used_threads,
    )
    if longest > LONGEST_LINE:
        log.warning(
            "lines of %s characters: Clustal Omega stops at %s; give it the tree instead "
            "(pairalign tree)",
            f"{longest:,}",
            f"{LONGEST_LINE:,}",
        )
