"""The commands ``pairalign distance`` and ``pairalign tree``."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from types import ModuleType

from pairalign.alignments.problem import Problem
from pairalign.base.choices import (
    DEFAULT_METHOD,
    DISTANCE_SUFFIXES,
    NAMES,
    PICTURES,
    TREE_SUFFIXES,
)
from pairalign.base.declaration import option_of
from pairalign.base.errors import FormatError
from pairalign.base.native import share_heap
from pairalign.cli.console import log
from pairalign.cli.dask_cluster import workers_of
from pairalign.cli.distance_parts import (
    Forget,
    check_part_options,
    measure_on_cluster,
    measure_resumed,
    replace_distances,
    write_part,
)
from pairalign.cli.files import check_files
from pairalign.cli.lines import Lines, say_summary
from pairalign.cli.near import run_near
from pairalign.cli.planning import (
    check_scoring,
    choose_output,
    problem_of,
    read_sequences,
    resources_of,
    result_seconds,
    rules_of,
    scoring_request,
)
from pairalign.cli.report import ReportRequest, report_distances, report_of
from pairalign.engines.selection import usable_cores
from pairalign.formats.distance_parts import merge_distances
from pairalign.formats.distances import read_distances, write_distances
from pairalign.formats.matrix_npy import read_first_npy
from pairalign.formats.names import check_ending, choose_format, format_by_suffix
from pairalign.formats.output import check_writable, open_output
from pairalign.formats.parts import read_manifests
from pairalign.formats.phylip import LONGEST_LINE, check_strict_names
from pairalign.formats.results import tree_text
from pairalign.jobs.distances.circular_distances import measure_circular
from pairalign.jobs.distances.distances import (
    DistanceRequest,
    measure_run,
    plan_distances,
)
from pairalign.jobs.distances.guide_tree import (
    METHOD_BYTES,
    TreeRequest,
    build_tree,
    check_count,
    check_method,
    check_tree_memory,
)
from pairalign.jobs.distances.measures import Measure, find_measure
from pairalign.requests.distance import TreeOptions
from pairalign.sequences.reading import read_set
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix
from pairalign.trees.newick import check_headers, check_names
from pairalign.trees.tree import GuideTree

_DECIDE_DISTANCES = (
    *("measure", "mode", "matrix", "match", "mismatch", "gap_open", "gap_extend"),
    *("free_ends", "end_gap_open", "end_gap_extend", "ties", "alphabet", "also"),
)
"""Options of ``tree`` that are of no use where IN has the distances already."""

SEQUENCES = "sequences"
PARTS = "parts"
_NO_SEQUENCES = "a report needs the sequences: give --names with their file"


class _Report(Lines):
    """The summary, the devices that were used, and what forgets distances that were kept."""

    devices: tuple[str, ...] = ()
    forget: Forget | None = None


# ---------------------------------------------------------------------------------------------
# Commands


def run_distance(options: argparse.Namespace) -> None:
    """Carry out ``pairalign distance``."""
    share_heap()
    if options.max_drop is not None or options.max_edits is not None:
        run_near(options)
        return
    if options.shard is not None:
        check_part_options(options)
    if options.output is not None or options.plot is None:
        choose_output(options)
    if options.plot is not None:
        _picture_format(options.plot)
        _drawing()
    _check_kind(options)
    format = None
    if options.shard is None and options.output is not None:
        format = choose_format(options.output, options.format, DISTANCE_SUFFIXES, "distances")
        if format != "phylip" and (options.lower or options.strict_names):
            raise FormatError("--lower and --strict-names are for phylip only")
    check_files(options)
    outputs = [path for path in (options.output, options.plot) if path is not None]
    options.output = outputs[0]  # what messages name
    workers_of(options)  # says what cannot be
    check_scoring(options)
    for path in outputs if options.shard is None else ():
        check_writable(path)
    page = report_of(options)
    request = DistanceRequest(
        options.measure,
        options.strand,
        resources_of(options),
        0 if options.plot is None else METHOD_BYTES[DEFAULT_METHOD],
        options.shard,
        result_seconds(options),
    )
    sequences, _ = read_sequences(options)
    if options.extend is not None:
        request = replace(request, known=_read_known(options.extend, sequences))
    if options.strict_names:
        check_strict_names(sequences.names, sequences.source)
    if options.plot is not None:
        check_count(len(sequences), sequences.source)
    if options.shard is not None:
        write_part(options, sequences, request)
        return
    report = _Report()
    matrix = _measure(options, sequences, request, report)
    if page is not None:
        _write_report(page, options, matrix, sequences, request, report)
    shown = matrix.similarities() if options.similarity else matrix
    if format is not None:
        _write_distances(options, outputs[0], shown, format)
    if options.plot is not None:
        _write(options.plot, _drawing().draw_distances(shown, _picture_format(options.plot)))
    _finish(options, report, outputs)


def _picture_format(path: str) -> str:
    found = format_by_suffix(path, PICTURES)
    if found is None:
        raise FormatError(f"the picture '{path}' should end in {' or '.join(PICTURES)}")
    return found


def _drawing() -> ModuleType:
    """Load what draws; MissingPackageError without matplotlib."""
    from pairalign.trees import drawing

    return drawing


def _write_distances(
    options: argparse.Namespace, path: str, matrix: DistanceMatrix, format: str
) -> None:
    """Write the distances; warn of lines that a program does not read."""
    longest = write_distances(
        path,
        matrix,
        format,
        lower=options.lower,
        strict=options.strict_names,
        threads=options.threads or usable_cores(),
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
        return merge_distances(path, read_manifests(path))
    if format_by_suffix(path, DISTANCE_SUFFIXES) != "npy":
        raise FormatError(f"'{path}': --extend takes .npy or a folder of parts; others are rounded")
    return read_first_npy(path, list(sequences.names))


def _check_kind(options: argparse.Namespace) -> None:
    """Refuse what does not go with circles or similarities."""
    if options.similarity and not find_measure(options.measure).is_identity:
        raise FormatError(f"--similarity is of identities, not of --measure {options.measure}")
    if options.extend is not None:
        for name in ("shard", "resume", "dask", "circular", "similarity"):
            if getattr(options, name):
                raise FormatError(f"--extend is of distances in one run: leave --{name} out")
    whole = ("shard", "resume", "dask") if options.circular else ("shard",)
    for name in whole if options.circular or options.similarity else ():
        if getattr(options, name):
            kind = "circular" if options.circular else "similarity"
            raise FormatError(f"--{kind} is of a run as a whole: leave --{name} out")
    if options.circular and options.mode not in (None, "global"):
        raise FormatError(f"--circular is of mode global, not of mode {options.mode}")


def run_tree(options: argparse.Namespace) -> None:
    """Carry out ``pairalign tree``."""
    share_heap()
    if options.program is not None:
        options.default_format = None  # that of the program
    choose_output(options)
    check_files(options)
    format = _tree_format(options)
    check_method(options.method)
    if format in PICTURES:
        _drawing()
    _check_rename(options, format)
    workers_of(options)  # says what cannot be
    check_scoring(options)
    outputs = [path for path in (options.output, options.rename) if path is not None]
    for path in outputs:
        check_writable(path)
    page = report_of(options)
    report = _Report()
    request = TreeRequest(
        options.method, options.measure, resources_of(options), result_seconds(options)
    )
    matrix, sequences = _matrix_of(options, request, report, format)
    if page is not None and sequences is None:
        raise FormatError(_NO_SEQUENCES)
    started = time.perf_counter()
    tree = build_tree(matrix, options.method, sequences)
    if page is not None:
        _write_report(page, options, matrix, sequences, request.distances(), report, tree)
    if options.rename is None:
        _write(options.output, tree_text(tree, format, options.program))
    else:
        short = replace(tree, names=[f"s{number}" for number in range(1, len(tree) + 1)])
        with open_output(options.rename) as table:
            table.write("".join(map("{}\t{}\n".format, short.names, tree.names)).encode())
            _write(options.output, tree_text(short, format, options.program))
    seconds = time.perf_counter() - started
    report.add("tree", f"{options.method}, {seconds:.2f} s", method=options.method)
    _finish(options, report, outputs)


def _check_rename(options: argparse.Namespace, format: str) -> None:
    if options.rename is None:
        return
    if format != "newick":
        raise FormatError(f"--rename is for names in Newick, but the tree is written as {format}")


def _tree_format(options: argparse.Namespace) -> str:
    """Return the format of the tree; Newick unless the name of the file says otherwise."""
    wanted = options.format
    if options.program is not None:
        needed = "mafft" if options.program == "mafft" else "newick"
        if wanted not in (None, needed):
            raise FormatError(f"{options.program} reads {needed}, but --format is {wanted}")
        texts = [ends for name, ends in TREE_SUFFIXES.items() if name not in PICTURES]
        if wanted is None:
            check_ending(options.output, sum(texts, ()), f"a tree for {options.program} is text")
        return needed
    if wanted is not None:
        return str(wanted)
    check_ending(options.output, sum(TREE_SUFFIXES.values(), ()), "a tree is text or a picture")
    return format_by_suffix(options.output, TREE_SUFFIXES) or "newick"


def _matrix_of(
    options: argparse.Namespace, request: TreeRequest, report: _Report, format: str
) -> tuple[DistanceMatrix, SequenceSet | None]:
    """Read or compute the distances; what the tree's format cannot hold is said before that.

    The sequences come along where they are known.
    """
    source = options.source or format_by_suffix(options.input, DISTANCE_SUFFIXES) or SEQUENCES
    if os.path.isdir(options.input):
        source = PARTS
    if source == SEQUENCES:
        if options.names not in (None, *NAMES):
            raise FormatError("--names FASTA is for distance matrices, IN are sequences")
        sequences, _ = read_sequences(options)
        check_count(len(sequences), sequences.source)
        _check_names(options, sequences.names, sequences, format, sequences.source)
        return _measure(options, sequences, request.distances(), report), sequences
    if options.dask is not None:
        raise FormatError("--dask is for sequences, IN are distances")
    for name in _DECIDE_DISTANCES:
        default = option_of(TreeOptions, name).default
        if getattr(options, name) not in (default, []):
            raise FormatError(f"--{name.replace('_', '-')} is for sequences, IN are distances")
    named = None
    if options.names not in (None, *NAMES):
        named = read_set([options.names], rules=rules_of(options))
    if os.path.isdir(options.input):
        matrix = merge_distances(options.input, read_manifests(options.input))
    else:
        matrix = read_distances(options.input, source, names=named.names if named else None)
    check_count(len(matrix), options.input)
    check_tree_memory(len(matrix), options.memory, request.method)
    _check_names(options, matrix.names, named, format, options.input)
    text = f"of {len(matrix):,} sequences from {options.input}"
    report.add("distances", text, distances_from=options.input, sequences=len(matrix))
    return matrix, named


def _check_names(
    options: argparse.Namespace,
    names: list[str],
    sequences: SequenceSet | None,
    format: str,
    source: str,
) -> None:
    if format != "newick" or options.rename is not None:
        return
    check_names(names, options.program, source)
    if sequences is not None and options.program is not None:
        check_headers(sequences, options.program)


def _measure(
    options: argparse.Namespace,
    sequences: SequenceSet,
    request: DistanceRequest,
    report: _Report,
) -> DistanceMatrix:
    """Compute the distances of all pairs, and report on it."""
    if getattr(options, "circular", False):
        return _measure_circles(options, sequences, request, report)
    measure = request.chosen_measure
    run = plan_distances(request, problem_of(options, sequences))
    started = time.perf_counter()
    done = run
    if options.dask is not None:
        matrix, report.forget = measure_on_cluster(options, run, measure)
    elif options.resume:
        matrix, done, report.forget = measure_resumed(options, run, measure)
    else:
        replace_distances(options)
        matrix = measure_run(run, measure, request.known)
    seconds = time.perf_counter() - started
    report.devices = done.devices
    report.add_problem(run.problem)
    report.add("pairs", f"{run.pairs:,}", pairs=run.pairs)
    report.add_time(seconds, done.cells)
    _add_distances(report, matrix, measure)
    return matrix


def _measure_circles(
    options: argparse.Namespace,
    sequences: SequenceSet,
    request: DistanceRequest,
    report: _Report,
) -> DistanceMatrix:
    """Compute the distances of circular sequences, and report on it."""
    problem, started = problem_of(options, sequences), time.perf_counter()
    measure, both = request.chosen_measure, request.strand == "both"
    matrix, best = measure_circular(
        problem, measure, both_strands=both, resources=request.resources
    )
    pairs = len(matrix.condensed)
    report.add_problem(problem)
    text = f"{pairs:,} of circles; of {best:,} no rotation of the target scores more, proven"
    report.add("pairs", text, pairs=pairs, proven=best)
    report.add_time(time.perf_counter() - started)
    _add_distances(report, matrix, measure)
    return matrix


def _add_distances(report: _Report, matrix: DistanceMatrix, measure: Measure) -> None:
    low, high, mean = map(float, matrix.summary)
    report.add(
        "distances",
        f"{measure.name}, {low:.4f} to {high:.4f}, mean {mean:.4f}",
        measure=measure.name,
        lowest=low,
        highest=high,
        mean=mean,
    )


def _write(path: str, text: bytes) -> None:
    with open_output(path) as output:
        output.write(text)


def _write_report(
    asked: ReportRequest,
    options: argparse.Namespace,
    matrix: DistanceMatrix,
    sequences: SequenceSet | None,
    request: DistanceRequest,
    report: _Report,
    tree: GuideTree | None = None,
) -> None:
    assert sequences is not None
    scoring = scoring_request(options).scoring(sequences.alphabet)
    problem = Problem(sequences, None, scoring)
    asked_of_pairs = request.alignment(), request.resources
    report_distances(asked, matrix, problem, *asked_of_pairs, report.text(), tree, report.devices)


def _finish(options: argparse.Namespace, report: _Report, outputs: list[str]) -> None:
    if report.forget is not None:
        report.forget()
    report.add_outputs(outputs)
    say_summary(options, report)
