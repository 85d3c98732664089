"""The commands ``pairalign distance`` and ``pairalign tree``."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from types import ModuleType

from pairalign.alignments.problem import Problem
from pairalign.base.choices import (
    DEFAULT_METHOD,
    DISTANCE_SUFFIXES,
    PICTURES,
    TREE_SUFFIXES,
)
from pairalign.base.console import log, name_output
from pairalign.base.declaration import check, values_of
from pairalign.base.error_types import DistanceError, FormatError
from pairalign.base.native import share_heap
from pairalign.base.texts import quoted
from pairalign.cli.distances_in_parts import (
    Forget,
    measure_on_cluster,
    measure_resumed,
    replace_distances,
    write_part,
)
from pairalign.cli.grouped_distances import measure_grouped
from pairalign.cli.near_distances import run_near
from pairalign.formats.distance_arrays import read_first_array
from pairalign.formats.distance_parts import are_of_two_sets, merge_distances
from pairalign.formats.distance_text import LONGEST_LINE, check_strict_names
from pairalign.formats.distances import distance_format, read_distances, write_distances
from pairalign.formats.group_table import write_group_clusters, write_group_table
from pairalign.formats.names import check_ending, format_by_suffix, table_format
from pairalign.formats.output import check_writable, open_output, open_table
from pairalign.formats.parts import read_manifests
from pairalign.formats.tree_files import tree_text
from pairalign.jobs.commands.dask_cluster import workers_of
from pairalign.jobs.commands.planning import (
    problem_of,
    read_sequences,
    result_seconds,
    with_output,
)
from pairalign.jobs.commands.summary_lines import Lines, say_summary
from pairalign.jobs.distances.circular_distances import measure_circular
from pairalign.jobs.distances.distance import measure_run, plan_distances
from pairalign.jobs.distances.guide_tree import (
    METHOD_BYTES,
    build_tree,
    check_count,
    check_method,
    check_tree_memory,
)
from pairalign.jobs.distances.measures import ambiguous_message, find_measure
from pairalign.jobs.distances.receptor_sets import read_receptor_files
from pairalign.jobs.report.report_option import ReportRequest, report_distances, report_of
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import check_scoring
from pairalign.jobs.run.run_request import RunRequest
from pairalign.requests.distance_request import DistanceOptions, DistanceRequest
from pairalign.requests.tree_request import TreeOptions
from pairalign.sequences.airr import is_airr_file
from pairalign.sequences.set_reading import read_set
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import AnyDistances, DistanceMatrix
from pairalign.trees.newick import check_headers, check_names
from pairalign.trees.tree import GuideTree

_Options = DistanceOptions | TreeOptions

SEQUENCES = "sequences"
PARTS = "parts"
_NO_SEQUENCES = "a report needs the sequences: give --names with their file"


class _Report(Lines):
    """The summary, the devices that were used, and what forgets distances that were kept."""

    devices: tuple[str, ...] = ()
    forget: Forget | None = None


# ---------------------------------------------------------------------------------------------
# Commands


def run_distance(request: DistanceOptions) -> None:
    """Carry out ``pairalign distance``."""
    share_heap()
    if request.has_limit:
        run_near(request)
        return
    if request.output is not None or request.plot is None:
        request = with_output(request, default="tsv" if request.has_two_sets else "phylip")
    if request.plot is not None:
        _picture_format(request.plot)
        _drawing()
    format = None
    if request.shard is None and request.output is not None:
        storage = "rectangular" if request.has_two_sets else "condensed"
        format = distance_format(request.output, request.format, storage)
        request = replace(request, format=format)
        check(request)
    check_files(request)
    places = request.output, request.plot, request.matches, request.clusters
    outputs = [path for path in places if path is not None]
    request = replace(request, output=name_output(outputs[0]))
    workers_of(request)  # says what cannot be
    check_scoring(request)
    for path in outputs if request.shard is None else ():
        check_writable(path)
    page = report_of(request, request.input, request.input2)
    report = _Report()
    matrix: AnyDistances | None
    if request.group_by is not None:
        matrix, report.devices = measure_grouped(request, report)
        _add_distances(report, matrix, request.measure)
        if request.matches is not None:
            write_group_table(request.matches, matrix)
        if request.clusters is not None:
            write_group_clusters(
                request.clusters, matrix.clusters(float(request.max_distance or 0))
            )
    else:
        matrix = _measure_files(request, page, report)
    if matrix is None:  # a part is written
        return
    shown = matrix.similarities() if request.similarity else matrix
    if format is not None:
        _write_distances(request, outputs[0], shown, format)
    if request.plot is not None:
        _write(request.plot, _drawing().draw_distances(shown, _picture_format(request.plot)))
    _finish(request, report, outputs)


def _measure_files(
    request: DistanceOptions, page: ReportRequest | None, report: _Report
) -> AnyDistances | None:
    """Read one set, or two, and compute the distances; None: those of a shard are written."""
    problem = read_receptor_files(request) if request.is_of_receptors else None
    if problem is None:
        sequences, targets = read_sequences(request)
    else:
        sequences, targets = problem.queries, problem.targets
    if request.extend is not None:
        request = replace(request, extend=_read_known(request.extend, sequences))
    if request.strict_names:
        check_strict_names(sequences.names, sequences.source)
    has_tree = request.plot is not None and targets is None
    if has_tree:
        check_count(len(sequences), sequences.source)
    problem = problem or problem_of(request, sequences, targets)
    if request.shard is not None:
        write_part(request, problem, _run_request(request))
        return None
    tree_bytes = METHOD_BYTES[DEFAULT_METHOD] if has_tree else 0
    matrix = _measure(request, request, problem, tree_bytes, report)
    if page is not None:
        assert isinstance(matrix, DistanceMatrix)
        _write_report(page, request, request, matrix, sequences, report)
    return matrix


def _run_request(request: _Options) -> RunRequest:
    """Return how a command wants the results of its alignments."""
    return RunRequest(
        shard=values_of(request).get("shard"),
        result_seconds=result_seconds(request),
        resources=request.resources,
    )


def _picture_format(path: str) -> str:
    picture_format = format_by_suffix(path, PICTURES)
    if picture_format is None:
        raise FormatError(f"the picture '{path}' should end in {' or '.join(PICTURES)}")
    return picture_format


def _drawing() -> ModuleType:
    """Load what draws; MissingPackageError without matplotlib."""
    from pairalign.trees import tree_drawing

    return tree_drawing


def _write_distances(
    request: DistanceOptions, path: str, matrix: AnyDistances, format: str
) -> None:
    """Write the distances; warn of lines that a program does not read."""
    longest = write_distances(
        path,
        matrix,
        format,
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


def _read_known(path: str, sequences: SequenceSet) -> DistanceMatrix:
    """Read distances of the first sequences: a NumPy file has no names, parts have them."""
    if os.path.isdir(path):
        return _merged(path)
    if format_by_suffix(path, DISTANCE_SUFFIXES) != "npy":
        raise FormatError(f"'{path}': --extend takes .npy or a folder of parts; others are rounded")
    return read_first_array(path, list(sequences.names))


def _merged(folder: str) -> DistanceMatrix:
    """Merge the distances of one set."""
    manifests = read_manifests(folder)
    if are_of_two_sets(manifests):
        raise DistanceError(f"'{folder}': distances of two sets, expected those of one")
    matrix = merge_distances(folder, manifests)
    assert isinstance(matrix, DistanceMatrix)
    return matrix


def run_tree(request: TreeOptions) -> None:
    """Carry out ``pairalign tree``."""
    share_heap()
    request = with_output(request, default=None if request.program is not None else "newick")
    check_files(request)
    format, source = _tree_format(request), _source_of(request)
    check_method(request.method)
    if format in PICTURES:
        _drawing()
    request = replace(request, format=format, are_given=source != SEQUENCES)
    check(request)
    workers_of(request)  # says what cannot be
    check_scoring(request)
    outputs = [path for path in (request.output, request.rename) if path is not None]
    for path in outputs:
        check_writable(path)
    page = report_of(request, request.input)
    report = _Report()
    matrix, sequences = _matrix_of(request, source, report, format)
    if page is not None and sequences is None:
        raise FormatError(_NO_SEQUENCES)
    started = time.perf_counter()
    tree = build_tree(matrix, request.method, sequences)
    if page is not None:
        _write_report(page, request, request.distances, matrix, sequences, report, tree)
    if request.rename is None:
        _write(request.output, tree_text(tree, format, request.program))
    else:
        short = replace(tree, names=[f"s{number}" for number in range(1, len(tree) + 1)])
        with open_table(request.rename, table_format(request.rename)) as table:
            rows = zip(short.names, map(quoted, tree.names), strict=True)
            table.write("".join(f"{name}\t{original}\n" for name, original in rows).encode())
            _write(request.output, tree_text(short, format, request.program))
    seconds = time.perf_counter() - started
    report.add("tree", f"{request.method}, {seconds:.2f} s", method=request.method)
    _finish(request, report, outputs)


def _tree_format(request: TreeOptions) -> str:
    """Return the format of the tree; Newick unless the name of the file says otherwise."""
    if request.program is not None:
        if request.format is None:
            others = (*PICTURES, "nexus")
            texts = [ends for name, ends in TREE_SUFFIXES.items() if name not in others]
            check_ending(request.output, sum(texts, ()), f"a tree for {request.program} is text")
        return request.read_by_program
    if request.format is not None:
        return request.format
    check_ending(request.output, sum(TREE_SUFFIXES.values(), ()), "a tree is text or a picture")
    return format_by_suffix(request.output, TREE_SUFFIXES) or "newick"


def _source_of(request: TreeOptions) -> str:
    """Return what IN is: sequences, parts of distances, or a format of distances."""
    if os.path.isdir(request.input):
        return PARTS
    if request.source is None and (
        request.reading.locus is not None or is_airr_file(request.input)
    ):
        return SEQUENCES
    return request.source or format_by_suffix(request.input, DISTANCE_SUFFIXES) or SEQUENCES


def _matrix_of(
    request: TreeOptions, source: str, report: _Report, format: str
) -> tuple[DistanceMatrix, SequenceSet | None]:
    """Read or compute the distances; what the tree's format cannot hold is said before that.

    The sequences come along where they are known.
    """
    if source == SEQUENCES:
        sequences, _ = read_sequences(request)
        check_count(len(sequences), sequences.source)
        _check_names(request, sequences.names, sequences, format, sequences.source)
        tree_bytes = METHOD_BYTES[request.method]
        problem = problem_of(request, sequences)
        matrix = _measure(request, request.distances, problem, tree_bytes, report)
        assert isinstance(matrix, DistanceMatrix)
        return matrix, sequences
    named = None
    if request.names_file is not None:
        named = read_set([request.names_file], rules=request.reading)
    if source == PARTS:
        matrix = _merged(request.input)
    else:
        matrix = read_distances(request.input, source, names=named.names if named else None)
    check_count(len(matrix), request.input)
    check_tree_memory(len(matrix), request.resources.memory_bytes, request.method)
    _check_names(request, matrix.names, named, format, request.input)
    text = f"of {len(matrix):,} sequences from {request.input}"
    report.add("distances", text, distances_from=request.input, sequences=len(matrix))
    return matrix, named


def _check_names(
    request: TreeOptions,
    names: list[str],
    sequences: SequenceSet | None,
    format: str,
    source: str,
) -> None:
    if format != "newick" or request.rename is not None:
        return
    check_names(names, request.program, source)
    if sequences is not None and request.program is not None:
        check_headers(sequences, request.program)


def _measure(
    options: _Options,
    request: DistanceRequest,
    problem: Problem,
    tree_bytes: int,
    report: _Report,
) -> AnyDistances:
    """Compute the distances of all pairs, and report on it."""
    message = ambiguous_message(find_measure(request.measure), problem)
    if message is not None:
        log.warning("%s", message)
    if request.circular:
        return _measure_circles(options, request, problem, report)
    measure = find_measure(request.measure)
    run = plan_distances(request, problem, _run_request(options), tree_bytes)
    started = time.perf_counter()
    done = run
    matrix: AnyDistances
    if options.dask is not None:
        matrix, report.forget = measure_on_cluster(options, run, measure)
    elif options.resume:
        matrix, done, report.forget = measure_resumed(options, run, measure)
    else:
        replace_distances(options.output)
        matrix = measure_run(run, measure, request.extend)
    seconds = time.perf_counter() - started
    report.devices = done.devices
    report.add_problem(run.problem)
    report.add("pairs", f"{run.pairs:,}", pairs=run.pairs)
    report.add_time(seconds, None if request.is_of_receptors else done.cells)
    _add_distances(report, matrix, measure.name)
    return matrix


def _measure_circles(
    options: _Options, request: DistanceRequest, problem: Problem, report: _Report
) -> DistanceMatrix:
    """Compute the distances of circular sequences, and report on it."""
    started = time.perf_counter()
    measure, both = find_measure(request.measure), request.strand == "both"
    matrix, best = measure_circular(
        problem, measure, both_strands=both, resources=options.resources
    )
    pairs = len(matrix.condensed)
    report.add_problem(problem)
    text = f"{pairs:,} of circles; of {best:,} no rotation of the target scores more, proven"
    report.add("pairs", text, pairs=pairs, proven=best)
    report.add_time(time.perf_counter() - started)
    _add_distances(report, matrix, measure.name)
    return matrix


def _add_distances(report: _Report, matrix: AnyDistances, measure: str) -> None:
    low, high, mean = map(float, matrix.summary)
    report.add(
        "distances",
        f"{measure}, {low:.4f} to {high:.4f}, mean {mean:.4f}",
        measure=measure,
        lowest=low,
        highest=high,
        mean=mean,
    )


def _write(path: str, text: bytes) -> None:
    with open_output(path) as output:
        output.write(text)


def _write_report(
    page: ReportRequest,
    options: _Options,
    request: DistanceRequest,
    matrix: DistanceMatrix,
    sequences: SequenceSet | None,
    report: _Report,
    tree: GuideTree | None = None,
) -> None:
    assert sequences is not None
    problem = Problem(sequences, None, options.scoring.scoring(sequences.alphabet))
    how = request.align_request, options.resources
    report_distances(page, matrix, problem, *how, report.text(), tree, report.devices)


def _finish(request: _Options, report: _Report, outputs: list[str]) -> None:
    if report.forget is not None:
        report.forget()
    report.add_outputs(outputs)
    say_summary(request, report)
