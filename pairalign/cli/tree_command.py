"""The command ``pairalign tree``."""

from __future__ import annotations

import os
import time
from dataclasses import replace

from pairalign.alignments.problem import Problem
from pairalign.base.choices import DISTANCE_SUFFIXES, PICTURES, TREE_SUFFIXES
from pairalign.base.declaration import changed, check
from pairalign.base.error_types import FormatError
from pairalign.base.native import share_heap
from pairalign.base.packages import DRAWS, check_package
from pairalign.base.texts import quoted
from pairalign.cli.distance_steps import DistanceSummary, measure_all, merged
from pairalign.formats.distances import read_distances
from pairalign.formats.names import check_ending, format_by_suffix, table_format
from pairalign.formats.output import check_writable, open_output, open_table
from pairalign.jobs.commands.planning import problem_of, read_sequences, report_of, with_output
from pairalign.jobs.distances.guide_tree import (
    METHOD_BYTES,
    build_tree,
    check_count,
    check_method,
    check_tree_memory,
)
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import check_scoring
from pairalign.requests.tree_request import TreeOptions
from pairalign.results.tree_result import tree_text
from pairalign.sequences.airr import is_airr_file
from pairalign.sequences.set_reading import read_set
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_text import check_headers, check_names

_SEQUENCES = "sequences"
"""What IN is, where it has no distances."""


def run_tree(request: TreeOptions) -> None:
    """Carry out ``pairalign tree``."""
    share_heap()
    request = with_output(request, default=None if request.program is not None else "newick")
    check_files(request)
    request = _completed(request)
    check_scoring(request)
    outputs = [path for path in (request.writing.output, request.rename) if path is not None]
    for path in outputs:
        check_writable(path)
    page = report_of(request, request.input)
    summary = DistanceSummary()
    read = _read_matrix if request.are_given else _measure_sequences
    matrix, sequences = read(request, summary)
    if page is not None and sequences is None:
        raise FormatError("a report needs the sequences: give --names with their file")
    started = time.perf_counter()
    tree = build_tree(matrix, request.method, sequences)
    if page is not None:
        assert sequences is not None
        problem = Problem(sequences, None, request.scoring.scoring(sequences.alphabet))
        again = request.distances.align_request
        page.write_distances(matrix, problem, again, summary.text(), tree, summary.devices)
    _write_tree(request, tree)
    seconds = time.perf_counter() - started
    summary.add("tree", f"{request.method}, {seconds:.2f} s", method=request.method)
    summary.finish(request, outputs)


def _completed(request: TreeOptions) -> TreeOptions:
    """Return the request with the tree's format and what IN is; refuse what does not fit these."""
    format, are_given = _tree_format(request), _are_distances(request)
    check_method(request.method)
    if format in PICTURES:
        check_package("matplotlib", *DRAWS)
    request = changed(request, format=format, are_given=are_given)
    check(request)
    return request


def _tree_format(request: TreeOptions) -> str:
    """Return the format of the tree; Newick unless the name of the file says otherwise."""
    if request.program is not None:
        if request.writing.format is None:
            others = (*PICTURES, "nexus")
            texts = [ends for name, ends in TREE_SUFFIXES.items() if name not in others]
            check_ending(
                request.writing.output, sum(texts, ()), f"a tree for {request.program} is text"
            )
        return request.read_by_program
    if request.writing.format is not None:
        return request.writing.format
    check_ending(
        request.writing.output, sum(TREE_SUFFIXES.values(), ()), "a tree is text or a picture"
    )
    return format_by_suffix(request.writing.output, TREE_SUFFIXES) or "newick"


def _are_distances(request: TreeOptions) -> bool:
    """Whether IN has distances: a folder of parts, or a matrix."""
    if os.path.isdir(request.input):
        return True
    if request.source is not None:
        return request.source != _SEQUENCES
    if request.reading.locus is not None or is_airr_file(request.input):
        return False
    return format_by_suffix(request.input, DISTANCE_SUFFIXES) is not None


def _measure_sequences(
    request: TreeOptions, summary: DistanceSummary
) -> tuple[DistanceMatrix, SequenceSet]:
    """Read sequences, and compute their distances; refuse what can be no tree."""
    sequences, _ = read_sequences(request)
    check_count(len(sequences), sequences.source)
    _check_names(request, sequences.names, sequences, sequences.source)
    problem, tree_bytes = problem_of(request.scoring, sequences), METHOD_BYTES[request.method]
    matrix = measure_all(request, problem, tree_bytes, summary)
    assert isinstance(matrix, DistanceMatrix)
    return matrix, sequences


def _read_matrix(
    request: TreeOptions, summary: DistanceSummary
) -> tuple[DistanceMatrix, SequenceSet | None]:
    """Read distances, and the sequences if they are named; refuse what can be no tree."""
    named = None
    if request.names_file is not None:
        named = read_set([request.names_file], rules=request.reading)
    if os.path.isdir(request.input):
        matrix = merged(request.input)
    else:
        names = named.names if named else None
        matrix = read_distances(request.input, request.source, names=names)
    check_count(len(matrix), request.input)
    check_tree_memory(len(matrix), request.resources.memory_bytes, request.method)
    _check_names(request, matrix.names, named, request.input)
    text = f"of {len(matrix):,} sequences from {request.input}"
    summary.add("distances", text, distances_from=request.input, sequences=len(matrix))
    return matrix, named


def _check_names(
    request: TreeOptions, names: list[str], sequences: SequenceSet | None, source: str
) -> None:
    if request.writing.format != "newick" or request.rename is not None:
        return
    check_names(names, request.program, source)
    if sequences is not None and request.program is not None:
        check_headers(sequences, request.program)


def _write_tree(request: TreeOptions, tree: GuideTree) -> None:
    """Write the tree; with ``--rename`` with short names, and the table of these."""
    assert request.writing.format is not None
    if request.rename is None:
        _write(request.writing.output, tree_text(tree, request.writing.format, request.program))
        return
    short = replace(tree, names=[f"s{number}" for number in range(1, len(tree) + 1)])
    with open_table(request.rename, table_format(request.rename)) as table:
        rows = zip(short.names, map(quoted, tree.names), strict=True)
        table.write("".join(f"{name}\t{original}\n" for name, original in rows).encode())
        _write(request.writing.output, tree_text(short, request.writing.format, request.program))


def _write(path: str, text: bytes) -> None:
    with open_output(path) as output:
        output.write(text)
