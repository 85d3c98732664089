"""``pairalign split --pairs`` and ``audit --pairs``: interactions of two sets."""

from __future__ import annotations

import argparse
import shlex
import time
from dataclasses import replace
from typing import Any, NoReturn

from pairalign.base.console import log
from pairalign.base.declaration import changed, check, make
from pairalign.base.error_types import UsageError
from pairalign.base.option_parser import add_options
from pairalign.base.texts import counted
from pairalign.formats.output import check_writable
from pairalign.jobs.commands.planning import read_problem
from pairalign.jobs.commands.summary import Lines, describe_fragments, say_summary
from pairalign.jobs.run.inputs import check_scoring
from pairalign.jobs.splits.audit_interactions import InteractionViolations, audit_interactions
from pairalign.jobs.splits.audit_request import AuditOptions
from pairalign.jobs.splits.edges import count_fragments, fragment_identity
from pairalign.jobs.splits.interaction_split import InteractionSplit
from pairalign.jobs.splits.interaction_tables import (
    InteractionTable,
    interaction_places,
    read_interactions,
    write_interaction_folder,
    write_interactions,
    write_members,
    write_removed_interactions,
)
from pairalign.jobs.splits.interactions_request import SecondSetOptions
from pairalign.jobs.splits.split_interactions import InteractingSet, run_interaction_split
from pairalign.jobs.splits.split_request import SplitOptions
from pairalign.requests.resources import Resources
from pairalign.statistics.statements import describe_scoring

_SECOND = "--second"


def run_split_interactions(request: SplitOptions) -> None:
    """Carry out ``pairalign split --pairs``; files have been checked."""
    second = second_options(request)
    outputs = [
        path
        for path in (request.writing.output, request.removed, request.members)
        if path is not None
    ]
    for path in outputs:
        check_writable(path)
    if request.folds_dir is not None:
        with_files = 1 if request.input2 is None else 2
        outputs += interaction_places(request.folds_dir, list(request.fold_shares), with_files)
    sets = read_interacting_sets(request, second)
    table = read_interactions(request.pairs, (sets[0].finder, sets[-1].finder))
    resources = request.resources
    started = time.perf_counter()
    split = run_interaction_split(sets, table, request, resources)
    if split.remark:
        log.warning("%s: %s", table.source, split.remark)
    lines = _describe(split, table, sets, time.perf_counter() - started)
    _add_fragments(lines, split, sets, resources)
    lines.add_outputs(outputs)
    if request.folds_dir is not None:
        write_interaction_folder(request.folds_dir, split)
    write_interactions(request.writing.output, split)
    if request.removed is not None:
        write_removed_interactions(request.removed, split)
    if request.members is not None:
        write_members(request.members, split)
    say_summary(request, lines)


def audit_pairs(request: AuditOptions) -> tuple[InteractionViolations, Lines]:
    """Carry out ``pairalign audit --pairs``; return what was found, and lines of the summary."""
    sets = read_interacting_sets(request, second_options(request))
    resources = request.resources
    started = time.perf_counter()
    violations = audit_interactions(request.groups, request.fold_column, sets, resources)
    violations.write(request.writing.output)
    lines = Lines()
    describe_sides(lines, sets, "of two folds no pair has")
    lines.add_time(time.perf_counter() - started)
    lines.add("groups", f"{len(violations.fold_names):,}", groups=len(violations.fold_names))
    across = f"{counted(len(violations), 'pair')} of two folds that reach it"
    lines.add("across", across, across=len(violations))
    for number, leaking_set in enumerate(violations.leaking, 1):
        text = f"{leaking_set.sequences:,} of {leaking_set.members:,} sequences of set {number} "
        text += "reach it with one of another fold, or are in two"
        lines.add("leaking", text, **{f"leaking_{number}": leaking_set.sequences})
    return violations, lines


def second_options(request: SplitOptions | AuditOptions) -> SecondSetOptions | None:
    """Return what ``--second`` says of the second set.

    Raises
    ------
    UsageError
        It has an unknown option or value, or what is similar is not said.
    """
    if request.second is None:
        return None
    parser = _SecondParser(add_help=False, allow_abbrev=False)
    add_options(parser, SecondSetOptions)
    try:
        words = shlex.split(request.second)
    except ValueError as error:
        raise UsageError(f"{_SECOND}: {error}") from None
    second = make(SecondSetOptions, vars(parser.parse_args(words))).completed()
    try:
        check(second)
    except UsageError as error:
        raise UsageError(f"{_SECOND}: {error}") from None
    check_scoring(second)
    return second


class _SecondParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{_SECOND}: {message}")


def read_interacting_sets(
    request: SplitOptions | AuditOptions, second: SecondSetOptions | None
) -> tuple[InteractingSet, ...]:
    """Read the set of the first names and, if it is another, that of the second."""
    first = InteractingSet.of(read_problem(replace(request, input2=None)), request)
    if request.second_clusters is not None:
        return first, InteractingSet.of_clusters(request.second_clusters)
    if request.input2 is None:
        return (first,)
    if second is None:
        second_request = changed(request, input=request.input2, input2=None, also=())
        return first, InteractingSet.of(read_problem(second_request), request)
    return first, InteractingSet.of(read_problem(_named(second, request.input2)), second)


def _named(second: SecondSetOptions, path: str) -> Any:
    """Return the request with the file that it is of."""
    return argparse.Namespace(**vars(second), input=path)


def describe_sides(lines: Lines, sets: tuple[InteractingSet, ...], what: str) -> None:
    """Add what each set is, how it is scored, and what is promised of it."""
    read = [
        interacting_set.problem.queries
        for interacting_set in sets
        if interacting_set.problem is not None
    ]
    lines.add_sets(*read)
    for number, interacting_set in enumerate(sets, 1):
        if interacting_set.problem is None:
            lines.add(
                f"set {number}",
                f"{len(interacting_set.names):,} names of {interacting_set.source} in clusters",
            )
            continue
        assert interacting_set.request is not None
        promise = interacting_set.request.describe(interacting_set.problem.queries.total_residues)
        scoring = describe_scoring(interacting_set.problem.scoring)
        lines.add(f"set {number}", f"{what} {promise}; {scoring}")


def _describe(
    split: InteractionSplit,
    table: InteractionTable,
    sets: tuple[InteractingSet, ...],
    seconds: float,
) -> Lines:
    lines = Lines()
    describe_sides(lines, sets, "no pair across folds has")
    lines.add_time(seconds)
    for number, side in enumerate(split.sides, 1):
        clusters, gone = int(side.clusters.max()) + 1, len(side.removed)
        text = f"{clusters:,} of set {number}; {counted(gone, 'sequence')} removed"
        facts = {f"clusters_{number}": clusters, f"removed_sequences_{number}": gone}
        lines.add("clusters", text, **facts)
    below = f", below its headings {', '.join(table.header[:2])}" if table.has_header else ""
    repeated = f", {split.repeated:,} of them again" if split.repeated else ""
    text = f"{len(split.rows):,} of {table.source}{below}{repeated}"
    lines.add("interactions", text, interactions=len(split.rows), repeated=split.repeated)
    sizes = dict(zip(split.fold_names, map(int, split.sizes), strict=True))
    total = max(1, sum(sizes.values()))
    shown = ", ".join(f"{name}: {n:,} ({n / total:.1%})" for name, n in sizes.items())
    lines.add("folds", shown, folds=sizes)
    removed = len(split.removed)
    text = (
        f"{removed:,} interactions ({removed / len(split.rows):.1%}), whose ends are in two folds"
    )
    lines.add("removed", text, removed=removed)
    return lines


def _add_fragments(
    lines: Lines,
    split: InteractionSplit,
    sets: tuple[InteractingSet, ...],
    resources: Resources,
) -> None:
    for number, (side, interacting_set) in enumerate(zip(split.sides, sets, strict=True), 1):
        if interacting_set.problem is None or interacting_set.request is None:
            continue
        least = fragment_identity(interacting_set.request.thresholds)
        count = count_fragments(
            interacting_set.problem, side.folds, least, interacting_set.request.strand, resources
        )
        title, text = describe_fragments(count, least, f"folds of set {number}")
        lines.add(title, text, **{f"fragments_across_{number}": count})
