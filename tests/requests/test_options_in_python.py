"""Python does what the command does: an option is an argument of its name, or said where."""

from __future__ import annotations

import argparse
import inspect

import pytest

import pairalign
from pairalign.cli.program import build_parser

OF_THE_PROGRAM_ALONE = ("devices", "help", "completion")
"""Commands that say something of the program; each other one has a function of its name."""

OF_THE_PROGRAM = {
    **dict.fromkeys(["quiet", "verbose", "log", "summary", "multiqc"], "what is said, and where"),
    **dict.fromkeys(["output", "format"], "results are returned; their `write` makes files"),
    "plan": "commands to run",
    "explain": "a message",
    **dict.fromkeys(["resume", "shard", "commit_every"], "parts and journals are files"),
    "dask": "`executor` of align",
}
"""Options of the program itself, and why functions have none of the kind."""

SAID_OTHERWISE = {
    "sizein": ["Clusters.write(sizein)"],
    "sizeout": ["Clusters.write(sizeout)"],
    "input": ["align(sequences)", "distance(sequences)", "tree(source)", "overlap(reads)"],
    "input2": ["align(targets)"],
    "inputs": ["msa(sequences)", "align_families(families)"],
    "matrix": ["make_scoring(matrix)", "align(scoring)", "cluster(scoring)", "split(scoring)"],
    "match": ["make_scoring(match)"],
    "mismatch": ["make_scoring(mismatch)"],
    "gap_open": ["make_scoring(gap_open)"],
    "gap_extend": ["make_scoring(gap_extend)"],
    "free_ends": ["make_scoring(free_ends)"],
    "end_gap_open": ["make_scoring(end_gap_open)"],
    "end_gap_extend": ["make_scoring(end_gap_extend)"],
    "ties": ["make_scoring(ties)"],
    "alphabet": ["read_fasta(alphabet)"],
    **{
        name: [f"read_fasta({name})"]
        for name in ("degap", "also", "on_empty", "on_duplicate", "names")
    },
    "score_only": ["align(detail)"],
    "program": ["GuideTree.newick(program)"],
    "read_report": ["Overlaps.report_reads"],
    "trim": ["Overlaps.trim_reads"],
    "trimmed": ["Overlaps.trim_reads"],
    "remove_weak": ["Overlaps.reduced(weak)"],
    "remove_contained": ["Overlaps.reduced(contained)"],
    "remove_transitive": ["Overlaps.reduced(transitive)"],
    "mutual": ["Overlaps.reduced(mutual)"],
    "representatives": ["Clusters.representatives"],
    "clusters_by": ["Clusters.by_abundance"],
    "label": ["split(labels)"],
    "priority": ["split(priorities)"],
    "table": ["split(labels)", "split(priorities)"],
    "no_remove": ["split(remove)"],
    "removed": ["Split.removed"],
    "folds_dir": ["Split.members"],
    "order": ["MultipleAlignment.order(by)"],
    "tree_out": ["MultipleAlignment.tree"],
    "confidence_of": ["score_multiple(columns)"],
    "add": ["extend_multiple(sequences)"],
    "to": ["extend_multiple(alignment)"],
}
"""Options that are arguments of another name, or of another function, and where they are."""

MISSING = {
    "sequence_column": "the sequences are given to `audit`",
    **dict.fromkeys(
        ["columns", "paf_tags", "sam_tags", "plain_cigar"], "`write` has no such choice"
    ),
    **dict.fromkeys(["lower", "strict_names"], "a DistanceMatrix writes no PHYLIP"),
    **dict.fromkeys(["dual", "no_cigar"], "`Overlaps.write` has no such choice"),
    "weight": "`write` has no such choice",
    "plot": "`plot` of a DistanceMatrix",
    "report": "pairalign.jobs.report.report",
    "names": "a tree of a matrix takes no sequences",
    "rename": "GuideTree has no names that are numbers",
    "unitigs": "pairalign.reads.unitigs",
}
"""Options that Python has no public way to."""


def commands() -> dict[str, argparse.ArgumentParser]:
    actions = build_parser()._actions
    (found,) = (one for one in actions if isinstance(one, argparse._SubParsersAction))
    return dict(found.choices)


def options_of(command: str) -> list[str]:
    return [one.dest for one in commands()[command]._actions if one.dest != "help"]


FUNCTIONS = sorted(commands().keys() - set(OF_THE_PROGRAM_ALONE))


@pytest.mark.parametrize("command", FUNCTIONS)
def test_an_option_is_an_argument(command: str) -> None:
    arguments = inspect.signature(getattr(pairalign, command)).parameters
    elsewhere = OF_THE_PROGRAM.keys() | SAID_OTHERWISE.keys() | MISSING.keys()
    unknown = [name for name in options_of(command) if name not in arguments]
    assert [name for name in unknown if name not in elsewhere] == []


def test_no_exception_is_out_of_date() -> None:
    """Each is an option that some function lacks."""
    lacking = {
        name
        for command in FUNCTIONS
        for name in options_of(command)
        if name not in inspect.signature(getattr(pairalign, command)).parameters
    }
    tables = OF_THE_PROGRAM.keys(), SAID_OTHERWISE.keys(), MISSING.keys()
    assert [sorted(one - lacking) for one in tables] == [[], [], []]


@pytest.mark.parametrize(
    ("option", "place"), [(option, one) for option, all in SAID_OTHERWISE.items() for one in all]
)
def test_what_is_said_otherwise_is_there(option: str, place: str) -> None:
    name, _, argument = place.rstrip(")").partition("(")
    owner, _, member = name.partition(".")
    found = getattr(pairalign, owner)
    if member:
        members = {*dir(found), *getattr(found, "__dataclass_fields__", {})}
        assert member in members
        found = getattr(found, member, None)
    if argument:
        assert argument in inspect.signature(found).parameters
