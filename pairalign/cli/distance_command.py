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
from pairalign.base.declaration import check, values_of
from pairalign.base.error_types import DistanceError, FormatError
from pairalign.base.native import share_heap
from pairalign.base.texts import quoted
from pairalign.cli.console import log, name_output
from pairalign.cli.dask_cluster import workers_of
from pairalign.cli.distances_in_parts import (
    Forget,
    measure_on_cluster,
    measure_resumed,
    replace_distances,
    write_part,
)
from pairalign.cli.grouped_distances import measure_grouped
from pairalign.cli.near_distances import run_near
from pairalign.cli.planning import (
    problem_of,
    read_receptors,
    read_sequences,
    result_seconds,
    with_output,
)
from pairalign.cli.report_option import ReportRequest, report_distances, report_of
from pairalign.cli.summary_lines import Lines, say_summary
from pairalign.formats.distance_parts import are_of_two_sets, merge_distances
from pairalign.formats.distances import read_distances, write_distances
from pairalign.formats.group_table import write_group_clusters, write_group_table
from pairalign.formats.matrix_npy import read_first_npy
from pairalign.formats.names import check_ending, choose_format, format_by_suffix, table_format
from pairalign.formats.output import check_writable, open_output, open_table
from pairalign.formats.parts import read_manifests
from pairalign.formats.phylip import LONGEST_LINE, check_strict_names
from pairalign.formats.rectangles import rectangle_format
from pairalign.formats.result_files import tree_text
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
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import check_scoring
from pairalign.jobs.run.run_request import RunRequest
from pairalign.requests.distance_request import DistanceOptions, DistanceRequest
from pairalign.requests.tree_request import TreeOptions
from pairalign.sequences.airr import is_airr_file
from pairalign.sequences.set_reading import read_set
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix
from pairalign.trees.newick import check_headers, check_names
from pairalign.trees.rectangular_distances import AnyDistances
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


def run_distance(asked: DistanceOptions) -> None:
    """Carry out ``pairalign distance``."""
    share_heap()
    if asked.has_limit:
        run_near(asked)
        return
    if asked.output is not None or asked.plot is None:
        asked = with_output(asked, default="tsv" if asked.has_two_sets else "phylip")
    if asked.plot is not None:
        _picture_format(asked.plot)
        _drawing()
    format = None
    if asked.shard is None and asked.output is not None:
        format = _distance_format(asked)
        asked = replace(asked, format=format)
        check(asked)
    check_files(asked)
    places = asked.output, asked.plot, asked.matches, asked.clusters
    outputs = [path for path in places if path is not None]
    asked = replace(asked, output=name_output(outputs[0]))
    workers_of(asked)  # says what cannot be
    check_scoring(asked)
    for path in outputs if asked.shard is None else ():
        check_writable(path)
    page = report_of(asked, asked.input, asked.input2)
    report = _Report()
    matrix: AnyDistances | None
    if asked.group_by is not None:
        matrix, report.devices = measure_grouped(asked, report)
        _add_distances(report, matrix, asked.measure)
        if asked.matches is not None:
            write_group_table(asked.matches, matrix)
        if asked.clusters is not None:
            write_group_clusters(asked.clusters, matrix.clusters(float(asked.max_distance or 0)))
    else:
        matrix = _measure_files(asked, page, report)
    if matrix is None:  # a part is written
        return
    shown = matrix.similarities() if asked.similarity else matrix
    if format is not None:
        _write_distances(asked, outputs[0], shown, format)
    if asked.plot is not None:
        _write(asked.plot, _drawing().draw_distances(shown, _picture_format(asked.plot)))
    _finish(asked, report, outputs)


def _measure_files(
    asked: DistanceOptions, page: ReportRequest | None, report: _Report
) -> AnyDistances | None:
    """Read one set, or two, and compute the distances; None: those of a shard are written."""
    problem = read_receptors(asked) if asked.is_of_receptors else None
    if problem is None:
        sequences, targets = read_sequences(asked)
    else:
        sequences, targets = problem.queries, problem.targets
    if asked.extend is not None:
        asked = replace(asked, extend=_read_known(asked.extend, sequences))
    if asked.strict_names:
        check_strict_names(sequences.names, sequences.source)
    has_tree = asked.plot is not None and targets is None
    if has_tree:
        check_count(len(sequences), sequences.source)
    problem = problem or problem_of(asked, sequences, targets)
    if asked.shard is not None:
        write_part(asked, problem, _run_request(asked))
        return None
    tree_bytes = METHOD_BYTES[DEFAULT_METHOD] if has_tree else 0
    matrix = _measure(asked, asked, problem, tree_bytes, report)
    if page is not None:
        assert isinstance(matrix, DistanceMatrix)
        _write_report(page, asked, asked, matrix, sequences, report)
    return matrix


def _distance_format(asked: DistanceOptions) -> str:
    """Return the format of the distances that are asked for, of one set or two."""
    if asked.has_two_sets:
        return rectangle_format(asked.output, asked.format)
    return choose_format(asked.output, asked.format, DISTANCE_SUFFIXES, "distances")


def _run_request(asked: _Options) -> RunRequest:
    """Return how a command wants the results of its alignments."""
    return RunRequest(
        shard=values_of(asked).get("shard"),
        result_seconds=result_seconds(asked),
        resources=asked.resources,
    )


def _picture_format(path: str) -> str:
    found = format_by_suffix(path, PICTURES)
    if found is None:
        raise FormatError(f"the picture '{path}' should end in {' or '.join(PICTURES)}")
    return found


def _drawing() -> ModuleType:
    """Load what draws; MissingPackageError without matplotlib."""
    from pairalign.trees import tree_drawing

    return tree_drawing


def _write_distances(asked: DistanceOptions, path: str, matrix: AnyDistances, format: str) -> None:
    """Write the distances; warn of lines that a program does not read."""
    longest = write_distances(
        path,
        matrix,
        format,
        lower=asked.lower,
        strict=asked.strict_names,
        threads=asked.resources.used_threads,
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
    return read_first_npy(path, list(sequences.names))


def _merged(folder: str) -> DistanceMatrix:
    """Merge the distances of one set."""
    manifests = read_manifests(folder)
    if are_of_two_sets(manifests):
        raise DistanceError(f"'{folder}': distances of two sets, expected those of one")
    matrix = merge_distances(folder, manifests)
    assert isinstance(matrix, DistanceMatrix)
    return matrix


def run_tree(asked: TreeOptions) -> None:
    """Carry out ``pairalign tree``."""
    share_heap()
    asked = with_output(asked, default=None if asked.program is not None else "newick")
    check_files(asked)
    format, source = _tree_format(asked), _source_of(asked)
    check_method(asked.method)
    if format in PICTURES:
        _drawing()
    asked = replace(asked, format=format, are_given=source != SEQUENCES)
    check(asked)
    workers_of(asked)  # says what cannot be
    check_scoring(asked)
    outputs = [path for path in (asked.output, asked.rename) if path is not None]
    for path in outputs:
        check_writable(path)
    page = report_of(asked, asked.input)
    report = _Report()
    matrix, sequences = _matrix_of(asked, source, report, format)
    if page is not None and sequences is None:
        raise FormatError(_NO_SEQUENCES)
    started = time.perf_counter()
    tree = build_tree(matrix, asked.method, sequences)
    if page is not None:
        _write_report(page, asked, asked.distances, matrix, sequences, report, tree)
    if asked.rename is None:
        _write(asked.output, tree_text(tree, format, asked.program))
    else:
        short = replace(tree, names=[f"s{number}" for number in range(1, len(tree) + 1)])
        with open_table(asked.rename, table_format(asked.rename)) as table:
            rows = zip(short.names, map(quoted, tree.names), strict=True)
            table.write("".join(f"{name}\t{own}\n" for name, own in rows).encode())
            _write(asked.output, tree_text(short, format, asked.program))
    seconds = time.perf_counter() - started
    report.add("tree", f"{asked.method}, {seconds:.2f} s", method=asked.method)
    _finish(asked, report, outputs)


def _tree_format(asked: TreeOptions) -> str:
    """Return the format of the tree; Newick unless the name of the file says otherwise."""
    if asked.program is not None:
        if asked.format is None:
            others = (*PICTURES, "nexus")
            texts = [ends for name, ends in TREE_SUFFIXES.items() if name not in others]
            check_ending(asked.output, sum(texts, ()), f"a tree for {asked.program} is text")
        return asked.read_by_program
    if asked.format is not None:
        return asked.format
    check_ending(asked.output, sum(TREE_SUFFIXES.values(), ()), "a tree is text or a picture")
    return format_by_suffix(asked.output, TREE_SUFFIXES) or "newick"


def _source_of(asked: TreeOptions) -> str:
    """Return what IN is: sequences, parts of distances, or a format of distances."""
    if os.path.isdir(asked.input):
        return PARTS
    if asked.source is None and (asked.reading.locus is not None or is_airr_file(asked.input)):
        return SEQUENCES
    return asked.source or format_by_suffix(asked.input, DISTANCE_SUFFIXES) or SEQUENCES


def _matrix_of(
    asked: TreeOptions, source: str, report: _Report, format: str
) -> tuple[DistanceMatrix, SequenceSet | None]:
    """Read or compute the distances; what the tree's format cannot hold is said before that.

    The sequences come along where they are known.
    """
    if source == SEQUENCES:
        sequences, _ = read_sequences(asked)
        check_count(len(sequences), sequences.source)
        _check_names(asked, sequences.names, sequences, format, sequences.source)
        tree_bytes = METHOD_BYTES[asked.method]
        problem = problem_of(asked, sequences)
        matrix = _measure(asked, asked.distances, problem, tree_bytes, report)
        assert isinstance(matrix, DistanceMatrix)
        return matrix, sequences
    named = None
    if asked.names_file is not None:
        named = read_set([asked.names_file], rules=asked.reading)
    if source == PARTS:
        matrix = _merged(asked.input)
    else:
        matrix = read_distances(asked.input, source, names=named.names if named else None)
    check_count(len(matrix), asked.input)
    check_tree_memory(len(matrix), asked.resources.memory_bytes, asked.method)
    _check_names(asked, matrix.names, named, format, asked.input)
    text = f"of {len(matrix):,} sequences from {asked.input}"
    report.add("distances", text, distances_from=asked.input, sequences=len(matrix))
    return matrix, named


def _check_names(
    asked: TreeOptions,
    names: list[str],
    sequences: SequenceSet | None,
    format: str,
    source: str,
) -> None:
    if format != "newick" or asked.rename is not None:
        return
    check_names(names, asked.program, source)
    if sequences is not None and asked.program is not None:
        check_headers(sequences, asked.program)


def _measure(
    asked: _Options,
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
        return _measure_circles(asked, request, problem, report)
    measure = find_measure(request.measure)
    run = plan_distances(request, problem, _run_request(asked), tree_bytes)
    started = time.perf_counter()
    done = run
    matrix: AnyDistances
    if asked.dask is not None:
        matrix, report.forget = measure_on_cluster(asked, run, measure)
    elif asked.resume:
        matrix, done, report.forget = measure_resumed(asked, run, measure)
    else:
        replace_distances(asked.output)
        matrix = measure_run(run, measure, request.extend)
    seconds = time.perf_counter() - started
    report.devices = done.devices
    report.add_problem(run.problem)
    report.add("pairs", f"{run.pairs:,}", pairs=run.pairs)
    report.add_time(seconds, None if request.is_of_receptors else done.cells)
    _add_distances(report, matrix, measure.name)
    return matrix


def _measure_circles(
    asked: _Options, request: DistanceRequest, problem: Problem, report: _Report
) -> DistanceMatrix:
    """Compute the distances of circular sequences, and report on it."""
    started = time.perf_counter()
    measure, both = find_measure(request.measure), request.strand == "both"
    matrix, best = measure_circular(problem, measure, both_strands=both, resources=asked.resources)
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
    asked: _Options,
    request: DistanceRequest,
    matrix: DistanceMatrix,
    sequences: SequenceSet | None,
    report: _Report,
    tree: GuideTree | None = None,
) -> None:
    assert sequences is not None
    problem = Problem(sequences, None, asked.scoring.scoring(sequences.alphabet))
    how = request.align_request, asked.resources
    report_distances(page, matrix, problem, *how, report.text(), tree, report.devices)


def _finish(asked: _Options, report: _Report, outputs: list[str]) -> None:
    if report.forget is not None:
        report.forget()
    report.add_outputs(outputs)
    say_summary(asked, report)
