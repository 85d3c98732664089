"""The command ``pairalign audit``."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from pairalign.base.choices import CLUSTER_SUFFIXES, ON_DUPLICATE, TABLE_ENDINGS
from pairalign.base.console import say
from pairalign.base.declaration import check
from pairalign.base.error_types import PairalignError, shown_name
from pairalign.base.texts import counted
from pairalign.clusters.groups import Groups, make_groups
from pairalign.formats.group_files import TableColumns, read_groups, read_table
from pairalign.formats.names import check_ending, format_by_suffix
from pairalign.formats.output import check_writable
from pairalign.jobs.commands.planning import problem_of, with_output
from pairalign.jobs.commands.summary import Lines, describe_fragments, describe_steps, say_summary
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import ProblemRequest, check_scoring, read_sets
from pairalign.jobs.splits.audit import Leaking, Violations, audit_groups, audit_sets
from pairalign.jobs.splits.audit_request import AuditOptions
from pairalign.jobs.splits.edges import count_fragments, fragment_identity
from pairalign.jobs.splits.interactions_command import audit_pairs
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import number_of_pairs

_MOST_GROUPS, _MOST_NAMED = 12, 5
"""That the summary shows."""


class ViolationsError(PairalignError):
    """Some pairs break what groups promise; they have been listed."""

    exit_code = 1


def run_audit(request: AuditOptions) -> None:
    """Carry out ``pairalign audit``."""
    request = with_output(request)
    check_files(request)
    check_ending(request.writing.output, TABLE_ENDINGS, "violations are written as a table")
    check_scoring(request)
    check_writable(request.writing.output)
    if request.read_as is None and format_by_suffix(request.groups, CLUSTER_SUFFIXES) == "fasta":
        request = replace(request, read_as="fasta")
    check(request)
    if request.pairs:
        _run_pairs(request)
        return
    first, second, groups = _read(request)
    problem = problem_of(request.scoring, first, second)
    resources = request.resources
    started = time.perf_counter()
    if groups is None:
        violations = audit_sets(problem, request, resources)
    else:
        violations = audit_groups(problem, groups, request, resources)
    violations.write(request.writing.output)
    if request.explain and request.looks_across:
        pairs = number_of_pairs(len(first)) if second is None else len(first) * len(second)
        say(describe_steps(violations.across.steps, pairs))
    lines = Lines()
    lines.add_problem(problem)
    lines.add_time(time.perf_counter() - started)
    residues = sum(sequences.total_residues for sequences in problem.sets)
    lines.add("promise", f"of two groups no pair has {request.describe(residues)}")
    _describe(violations, lines)
    if groups is not None:
        _describe_left_out(first, groups, lines)
    if request.looks_across and (groups is None or len(first) > 1):
        least = fragment_identity(request.thresholds)
        labels = None if groups is None else groups.labels
        fragments = count_fragments(problem, labels, least, request.strand, resources)
        lines.add(*describe_fragments(fragments, least, "groups"), fragments_across=fragments)
    lines.add_outputs([request.writing.output])
    say_summary(request, lines)
    _check(request, len(violations))


def _check(request: AuditOptions, violations: int) -> None:
    """Raise ViolationsError where there are any."""
    if violations:
        text = f"{counted(violations, 'pair')} break{'s' * (violations == 1)} the promise"
        raise ViolationsError(f"{request.groups}: {text}")


def _run_pairs(request: AuditOptions) -> None:
    violations, lines = audit_pairs(request)
    lines.add_outputs([request.writing.output])
    say_summary(request, lines)
    _check(request, len(violations))


def _read(request: AuditOptions) -> tuple[SequenceSet, SequenceSet | None, Groups | None]:
    """Read the sequences and their groups; of two sets, train comes first."""
    columns = TableColumns(request.name_column, request.fold_column, request.sequence_column)
    if columns.sequence is not None:
        sequences, groups = _read_table(request, columns)
        return sequences, None, groups
    assert request.input is not None
    if request.are_sets:
        first, second = read_sets(
            ProblemRequest(
                request.groups, request.input, reading=request.reading, scoring=request.scoring
            )
        )
        return first, second, None
    first, _ = read_sets(
        ProblemRequest(request.input, reading=request.reading, scoring=request.scoring)
    )
    return first, None, read_groups(request.groups, request.read_as, first, columns, several=True)


def _read_table(request: AuditOptions, columns: TableColumns) -> tuple[SequenceSet, Groups]:
    """Read sequences and their groups of one table."""
    said, residues = read_table(request.groups, request.read_as, columns)
    rules = request.reading
    names = [membership.name for membership in said]
    if rules.on_duplicate == ON_DUPLICATE[0]:  # a sequence that is in several groups comes once
        once = dict.fromkeys(zip(names, residues, strict=True))
        names, residues = [name for name, _ in once], [text for _, text in once]
    sequences = SequenceSet.from_strings(
        residues,
        names,
        alphabet=rules.known_alphabet,
        degap=rules.degap,
        on_empty=rules.on_empty,
        on_duplicate=rules.on_duplicate,
        source=request.groups,
    )
    if rules.on_empty == "skip":
        empty = {name for name, text in zip(names, residues, strict=True) if not text.strip()}
        said = [membership for membership in said if membership.name not in empty]
    if len(said) == len(sequences):  # repeated names may have been made unique
        said = [
            replace(membership, name=name)
            for membership, name in zip(said, sequences.names, strict=True)
        ]
    return sequences, make_groups(sequences, said, request.groups, several=True)


def _describe(violations: Violations, lines: Lines) -> None:
    lines.add(
        "groups",
        f"{len(violations.leaking):,} of {violations.members:,} sequences",
        groups=len(violations.leaking),
        members=violations.members,
    )
    across, under = violations.across.identity.tolist(), violations.under
    lines.add("across", _count(across, "pair", "of two groups that reach it"), across=len(across))
    leaking = sum(group.sequences for group in violations.leaking)
    lines.add("leaking", _leaking(violations.leaking), leaking=leaking)
    if violations.leakage is not None:
        lines.add_leakage(violations.leakage, "that reach it")
    if under is not None:
        identities = under.identity.tolist()
        text = _count(identities, "member", "not reaching it with the representative")
        lines.add("under", text, under=len(identities))


def _leaking(groups: tuple[Leaking, ...]) -> str:
    """Return how many sequences have a similar one in another group; of a few groups, of each."""
    in_order = sorted(groups, key=lambda group: (len(group.name), group.name))
    shown = [f"{group.sequences:,} of {group.members:,} in {group.name}" for group in in_order]
    if len(groups) > _MOST_GROUPS:
        sequences = sum(group.sequences for group in groups)
        shown = [f"{sequences:,} of {sum(group.members for group in groups):,} sequences"]
    return f"{', '.join(shown)} reach it with a sequence of another group"


def _describe_left_out(sequences: SequenceSet, groups: Groups, lines: Lines) -> None:
    """Say which sequences no group names."""
    missing = np.flatnonzero(groups.labels < 0).tolist()
    if not missing:
        return
    names = ", ".join(shown_name(sequences.names[k]) for k in missing[:_MOST_NAMED])
    more = ", ..." if len(missing) > _MOST_NAMED else ""
    text = f"{counted(len(missing), 'sequence')} that no group names: {names}{more}"
    lines.add("left out", text, left_out=len(missing))


def _count(identities: list[float], what: str, which: str) -> str:
    text = f"{counted(len(identities), what)} {which}"
    return f"{text}, from {min(identities):.4g} to {max(identities):.4g}" if identities else text
