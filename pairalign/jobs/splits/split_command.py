"""The command ``pairalign split``."""

from __future__ import annotations

import time

from pairalign.alignments.problem import Problem
from pairalign.base.choices import TABLE_ENDINGS
from pairalign.base.console import log, say
from pairalign.base.texts import counted
from pairalign.clusters.folds import Split
from pairalign.formats.names import FASTA, check_ending
from pairalign.formats.output import check_writable
from pairalign.jobs.commands.planning import read_problem, report_of, with_output
from pairalign.jobs.commands.summary import Lines, describe_fragments, describe_steps, say_summary
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import check_scoring
from pairalign.jobs.splits.edges import count_fragments, fragment_identity
from pairalign.jobs.splits.interactions_command import run_split_interactions
from pairalign.jobs.splits.labels import as_priorities, read_values
from pairalign.jobs.splits.split import Known, make_split
from pairalign.jobs.splits.split_files import (
    fold_places,
    write_fold_files,
    write_removed,
    write_split,
)
from pairalign.jobs.splits.split_request import SplitOptions
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import number_of_pairs

_MOST_LABELS = 12  # that the summary shows


def run_split(request: SplitOptions) -> None:
    """Carry out ``pairalign split``."""
    request = with_output(request)
    check_files(request)
    check_ending(request.writing.output, TABLE_ENDINGS, "folds are written as a table")
    check_scoring(request)
    if request.pairs is not None:
        run_split_interactions(request)
        return
    outputs = [path for path in (request.writing.output, request.removed) if path is not None]
    for path in outputs:
        check_writable(path)
    if request.folds_dir is not None:
        outputs += fold_places(request.folds_dir, list(request.fold_shares))
    report = report_of(request, request.input, request.input2)
    problem = read_problem(request)
    sequences = problem.queries
    if request.folds_dir is not None:
        FASTA.check(sequences)
    started = time.perf_counter()
    resources = request.resources
    split, pairs = make_split(problem, request, _known_of(request, sequences), resources)
    if split.remark:
        log.warning("%s: %s", sequences.source, split.remark)
    seconds = time.perf_counter() - started
    least = fragment_identity(split.thresholds)
    fragments = count_fragments(problem, split.folds, least, request.strand, resources)
    summary = _describe(split, problem, request, seconds, outputs)
    summary.add(*describe_fragments(fragments, least, "folds"), fragments_across=fragments)
    if request.folds_dir is not None:
        write_fold_files(request.folds_dir, split)
    write_split(request.writing.output, split)
    if request.removed is not None:
        write_removed(request.removed, split)
    if report is not None:
        from pairalign.jobs.splits.split_report import report_split

        report_split(report, split, problem, request.strand, resources, pairs, summary.text())
    if request.explain:
        say(describe_steps(pairs.steps, number_of_pairs(len(sequences))))
    say_summary(request, summary)


def _known_of(request: SplitOptions, sequences: SequenceSet) -> Known:
    labels = priorities = None
    if request.label is not None:
        labels = tuple(read_values(sequences, request.label, request.table))
    if request.priority is not None:
        priorities = tuple(as_priorities(sequences, request.priority, request.table))
    return Known(labels, priorities)


def _describe(
    split: Split, problem: Problem, request: SplitOptions, seconds: float, outputs: list[str]
) -> Lines:
    sizes = dict(zip(split.fold_names, map(int, split.sizes), strict=True))
    clusters, removed = int(split.clusters.max()) + 1, len(split.removed)
    lines = Lines()
    lines.add_problem(problem)
    lines.add_time(seconds)
    lines.add(
        "promise",
        f"no pair across folds has {request.describe(problem.queries.total_residues)}",
    )
    lines.add(
        "clusters",
        f"{clusters:,}, connected by {counted(split.edges, 'pair')} that reach it",
        clusters=clusters,
        edges=split.edges,
    )
    folds = ", ".join(f"{name}: {size:,}" for name, size in sizes.items())
    lines.add("folds", folds, folds=sizes)
    for title, text in _label_rows(split):
        lines.add(title, text)
    lines.add(
        "removed",
        f"{removed:,}; no folds of these sizes are made with fewer than {split.least_removed:,} "
        "removed",
        removed=removed,
        least_removed=split.least_removed,
    )
    least = split.nearest_from
    lines.add_leakage(split.leakage, f"from {least:.4g} on" if least else "that reach it")
    lines.add_outputs(outputs)
    return lines


def _label_rows(split: Split) -> list[tuple[str, str]]:
    """Return how often each label is in each fold, for a few labels."""
    if split.labels is None:
        return []
    counts = list(split.count_labels().items())
    rows = [
        (f"label {label}"[:13], ", ".join(f"{n:,}" for n in of_folds))
        for label, of_folds in counts[:_MOST_LABELS]
    ]
    if len(counts) > _MOST_LABELS:
        rows.append(("labels", f"{len(counts) - _MOST_LABELS:,} more"))
    return rows
