"""The request of interactions between sequences of two sets: of their folds, and of audits."""

from __future__ import annotations

from typing import Any, ClassVar

from pairalign.base.arguments import IN_FILE
from pairalign.base.declaration import Rule, excluded, option, place, request
from pairalign.requests.shared import CommandOptions, ProblemOptions, StrandOptions, needs_local
from pairalign.requests.similar import FoldsSimilarOptions


@request
class SideRequest(FoldsSimilarOptions, StrandOptions):
    """What makes two sequences of a set similar."""


@request
class SecondSetOptions(SideRequest, ProblemOptions):
    """What is said of the second set alone: how it is read and scored, and what is similar."""

    RULES: ClassVar[tuple[Rule, ...]] = (*SideRequest.RULES, *needs_local("max_evalue"))


@request
class SecondFileOptions(CommandOptions):
    """The second set."""

    input2: str | None = place(
        "IN2",
        "with --pairs: the second set (default: both names of a pair are of IN)",
        kind=IN_FILE,
        nargs="?",
        decides=False,
        surface="command",
    )


@request
class InteractionsOptions(CommandOptions):
    """What is said of the second set of interactions."""

    second: Any = option(
        help="how IN2 is read and scored, and what is similar there, in place of what is said of "
        "IN: options in quotes, such as '--min-identity 0.9'",
        metavar="OPTIONS",
    )
    second_clusters: Any = option(
        help="in place of IN2: names and clusters (CSV, .clstr, .uc or .tsv), such as of ligands",
        metavar="FILE",
        kind=IN_FILE,
    )


def needs_pairs(*names: str) -> tuple[Rule, ...]:
    """Return rules: options that are for interactions alone."""
    says = "{} is for interactions: give {pairs}"
    return excluded(lambda request: not request.pairs, says, *names)


def excludes_pairs(*names: str) -> tuple[Rule, ...]:
    """Return rules: options that are not for interactions."""
    says = "{} is of one set that is split: leave it out with {pairs}"
    return excluded(lambda request: bool(request.pairs), says, *names)


INTERACTION_RULES = (
    *needs_pairs("second", "second_clusters"),
    Rule(
        lambda request: request.second is not None and request.second_clusters is not None,
        "{second} says what is similar, and {second_clusters} what belongs together: give one",
    ),
)

SECOND_FILE_RULES = (
    Rule(
        lambda request: request.dry_run and bool(request.pairs),
        "{dry_run} is of the pairs of one job, and {pairs} has one a set: leave one out",
    ),
    Rule(
        lambda request: not request.pairs and request.input2 is not None,
        "IN2 is for interactions: give {pairs}",
    ),
    Rule(
        lambda request: request.input2 is not None and request.second_clusters is not None,
        "{second_clusters} is in place of IN2: give one of them",
    ),
    Rule(
        lambda request: (
            bool(request.pairs) and request.input2 is not None and request.input2 == request.input
        ),
        "IN2 is IN: leave it out, since a sequence of both might be in two folds",
    ),
    Rule(
        lambda request: request.input2 is None and request.second is not None,
        "{second} is of a second set: give IN2",
    ),
)
