"""The command ``pairalign audit``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from pairalign.alignments.identities import name_identity
from pairalign.base.choices import CLUSTER_SUFFIXES
from pairalign.base.errors import FormatError, PairalignError
from pairalign.cli.console import say
from pairalign.cli.files import check_files
from pairalign.cli.lines import Lines, describe_fragments, say_summary
from pairalign.cli.planning import (
    check_scoring,
    choose_output,
    problem_of,
    read_sequences,
    resources_of,
)
from pairalign.cli.summary import describe_steps
from pairalign.clusters.splits.groups import Groups
from pairalign.formats.groups import read_groups
from pairalign.formats.names import check_ending, format_by_suffix
from pairalign.formats.output import check_writable
from pairalign.formats.splits import write_rows
from pairalign.jobs.splits.audit import Audit, AuditRequest, audit_groups, audit_sets
from pairalign.jobs.splits.fragments import count_fragments, fragment_identity
from pairalign.requests.shared import thresholds_of
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import number_of_pairs

COLUMNS = ("violation", "name", "group", "other", "other_group")


class ViolationsError(PairalignError):
    """Some pairs break what groups promise; they have been listed."""

    exit_code = 1


def run_audit(options: argparse.Namespace) -> None:
    """Carry out ``pairalign audit``."""
    choose_output(options)
    check_files(options)
    check_ending(options.output, (".csv",), "violations are written as CSV")
    check_scoring(options)
    check_writable(options.output)
    as_sets = _is_fasta(options)
    if as_sets and options.across == "none":
        raise FormatError("--across none looks at members of clusters; two sets have none")
    if as_sets and options.also:
        raise FormatError("--also adds to a set that has groups; of two sets each is one file")
    options.input2 = options.input if as_sets else None
    if as_sets:
        options.input = options.groups
    first, second = read_sequences(options)
    groups = None if as_sets else read_groups(options.groups, options.read_as, first)
    problem = problem_of(options, first, second)
    thresholds = thresholds_of(options)
    resources = resources_of(options)
    request = AuditRequest(thresholds, options.across == "all", options.strand, resources)
    started = time.perf_counter()
    if second is not None:
        audit = audit_sets(problem, request)
    else:
        assert groups is not None
        audit = audit_groups(problem, groups, request)
    columns = (*COLUMNS, name_identity(thresholds.identity_of))
    write_rows(options.output, [columns, *_rows(audit, first, second or first, groups)])
    if options.explain and request.across:
        pairs = number_of_pairs(len(first)) if second is None else len(first) * len(second)
        say(describe_steps(audit.steps, pairs))
    lines = Lines()
    lines.add_problem(problem)
    lines.add_time(time.perf_counter() - started)
    _describe(audit, lines)
    if request.across:
        least = fragment_identity(thresholds)
        labels = None if groups is None else groups.labels
        fragments = count_fragments(problem, labels, least, request.strand, resources)
        lines.add(*describe_fragments(fragments, least, "groups"), fragments_across=fragments)
    lines.add_outputs([options.output])
    say_summary(options, lines)
    if audit.violations:
        raise ViolationsError(f"{options.groups}: {audit.violations:,} pairs break the promise")


def _is_fasta(options: argparse.Namespace) -> bool:
    if options.read_as is not None:
        return bool(options.read_as == "fasta")
    return format_by_suffix(options.groups, CLUSTER_SUFFIXES) == "fasta"


def _rows(
    audit: Audit, first: SequenceSet, second: SequenceSet, groups: Groups | None
) -> Iterator[tuple[object, ...]]:
    """Yield the lines: pairs of two groups, then members under the threshold."""
    for kind, pairs in (("across", audit.across), ("under", audit.under)):
        if pairs is None:
            continue
        columns = (pairs.query.tolist(), pairs.target.tolist(), pairs.identity.tolist())
        for one, other, identity in zip(*columns, strict=True):
            own = ("train", "test")
            if groups is not None:
                own = groups.names[groups.labels[one]], groups.names[groups.labels[other]]
            names = first.names[one], second.names[other]
            yield kind, names[0], own[0], names[1], own[1], f"{identity:.6f}"


def _describe(audit: Audit, lines: Lines) -> None:
    lines.add(
        "groups",
        f"{audit.groups:,} of {audit.members:,} sequences",
        groups=audit.groups,
        members=audit.members,
    )
    across, under = audit.across.identity.tolist(), audit.under
    lines.add("across", _count(across, "pairs of two groups that reach it"), across=len(across))
    if under is not None:
        what = "members that do not reach it with their representatives"
        identities = under.identity.tolist()
        lines.add("under", _count(identities, what), under=len(identities))


def _count(identities: list[float], what: str) -> str:
    if not identities:
        return f"0 {what}"
    return f"{len(identities):,} {what}, from {min(identities):.4g} to {max(identities):.4g}"
