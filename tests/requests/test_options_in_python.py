"""Python does what the command does: an option is an argument of its name, or said where."""

import argparse
import inspect
import re
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

import pairalign
from pairalign.base.function_options import taken_by
from pairalign.cli.program import build_parser

OF_THE_PROGRAM_ALONE = ("devices", "help", "completion")
"""Commands that say something of the program; each other one has a function of its name."""

OF_THE_PROGRAM = {
    **dict.fromkeys(["quiet", "verbose", "log", "summary", "multiqc"], "what is said, and where"),
    **dict.fromkeys(["output", "format"], "results are returned; their `write` makes files"),
    "plan": "commands to run",
    "explain": "a message",
    "dry_run": "what a run takes is said",
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
    "score_only": ["align(detail)"],
    "matches": ["GroupDistances.write_table"],
    "clusters": ["GroupDistances.clusters"],
    "max_distance": ["GroupDistances.clusters(max_distance)"],
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
    "members": ["InteractionSplit.sides"],
    "order": ["MultipleAlignment.order(by)"],
    "tree_out": ["MultipleAlignment.tree"],
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
    "report": "pairalign.jobs.report.report_collector",
    "rename": "GuideTree has no names that are numbers",
    "unitigs": "pairalign.jobs.overlaps.unitigs",
}
"""Options that Python has no public way to."""


def commands() -> dict[str, argparse.ArgumentParser]:
    actions = build_parser()._actions
    (found,) = (one for one in actions if isinstance(one, argparse._SubParsersAction))
    return dict(found.choices)


def options_of(command: str) -> list[str]:
    return [one.dest for one in commands()[command]._actions if one.dest != "help"]


WITH_OPTIONS = [one for one in pairalign.__all__ if hasattr(getattr(pairalign, one), "taken")]
FUNCTIONS = sorted(commands().keys() - set(OF_THE_PROGRAM_ALONE))


@pytest.mark.parametrize("command", FUNCTIONS)
def test_an_option_is_an_argument(command):
    arguments = inspect.signature(getattr(pairalign, command)).parameters
    elsewhere = OF_THE_PROGRAM.keys() | SAID_OTHERWISE.keys() | MISSING.keys()
    unknown = [name for name in options_of(command) if name not in arguments]
    assert [name for name in unknown if name not in elsewhere] == []


def test_no_exception_is_out_of_date():
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
def test_what_is_said_otherwise_is_there(option, place):
    name, _, argument = place.rstrip(")").partition("(")
    owner, _, member = name.partition(".")
    found = getattr(pairalign, owner)
    if member:
        members = {*dir(found), *getattr(found, "__dataclass_fields__", {})}
        assert member in members
        found = getattr(found, member, None)
    if argument:
        assert argument in inspect.signature(found).parameters


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_type_checkers_see_the_arguments_declared(name):
    """But for those that the function has itself."""
    function = getattr(pairalign, name)
    taken = taken_by(function)
    code = function.__code__
    own = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    assert taken.types.__annotations__.keys() == taken.options.keys() - own


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_types_of_choices_have_the_values_declared(name):
    taken = taken_by(getattr(pairalign, name))
    for option in taken.types.__annotations__:
        values = re.search(r"Literal\[([^]]*)\]", taken.type_of(option))
        known = set(taken.options[option].known_values)
        assert values is None or known <= set(re.findall(r"[\w-]+", values[1])), option


FAMILY = {"a": "MKVLAWDEGHKLMNPQRST", "b": "MKVLAWDEGHKLMNPQRS", "c": "WWHHKKMKVLAWDE"}
CALLS: dict[str, Callable[..., object]] = {
    "align": lambda **how: pairalign.align(FAMILY, **how).raw_score.tolist(),
    "stream": lambda **how: [one.raw_score.tolist() for one in pairalign.stream(FAMILY, **how)],
    "distance": lambda **how: pairalign.distance(FAMILY, measure="score", **how).condensed.tolist(),
    "tree": lambda **how: pairalign.tree(FAMILY, measure="score", **how).newick(),
    "cluster": lambda **how: pairalign.cluster(
        FAMILY, min_identity=0.7, **how
    ).alignments.raw_score.tolist(),
    "split": lambda **how: list(pairalign.split(FAMILY, min_identity=0.5, folds=2, **how)),
    "audit": lambda **how: list(
        pairalign.audit({"d": FAMILY["a"]}, FAMILY, min_identity=0.1, **how)
    ),
    "rotate": lambda **how: [one.residues for one in pairalign.rotate(FAMILY, to="a", **how)],
}


@pytest.mark.parametrize("function", CALLS)
def test_scores_may_be_given_one_by_one(function):
    """Each function takes costs by themselves, memory as a size, and refuses what it has not."""
    call = CALLS[function]
    costs: dict[str, Any] = {"matrix": "PAM250", "gap_open": 4, "gap_extend": "0.5"}
    whole = pairalign.make_scoring("protein", **costs)
    assert call(**costs, memory="1G") == call(scoring=whole)
    with pytest.raises(TypeError, match="unexpected keyword argument 'gap_opening'"):
        call(gap_opening=3)
    with pytest.raises(pairalign.ScoringError, match="scoring is given twice"):
        call(scoring=whole, gap_open=3)


def test_rules_of_input_are_arguments_of_functions_without_a_scoring():
    gapped = {name: f"{residues[:4]}--{residues[4:]}" for name, residues in FAMILY.items()}
    for function in (pairalign.msa, pairalign.posterior):
        found = function(gapped, degap=True, memory="1G")
        assert [one.residues for one in found.sequences] == list(FAMILY.values())
        with pytest.raises(TypeError, match="unexpected keyword argument 'gap_open'"):
            function(FAMILY, gap_open=3)


@pytest.mark.parametrize("name", ["align", "cluster", "distance", "msa", "pack", "split"])
def test_annotations_of_functions_can_be_evaluated(name):
    hints = get_type_hints(getattr(pairalign, name))
    assert "sequences" in hints
    assert "return" in hints
