"""The request of a rotation."""

from __future__ import annotations

from typing import ClassVar

from pairalign.base.declaration import Rule, option, request
from pairalign.requests.resources import ResourcesOptions
from pairalign.requests.shared import (
    CommandOptions,
    OutputOptions,
    OutputRules,
    ProblemOptions,
    SequencesOptions,
    StrandOptions,
    written_as,
)


@request
class StartOptions(CommandOptions):
    """Where circles begin."""

    to: str = option(
        help="begin where that sequence begins, or at its residue N",
        metavar="NAME[:N]",
        required=True,
    )


@request
class RotateOptions(
    SequencesOptions,
    OutputOptions,
    StartOptions,
    StrandOptions,
    ProblemOptions,
    ResourcesOptions,
):
    """The request of ``pairalign rotate``."""

    SHORT: ClassVar[str] = "output to strand mode threads"
    DESCRIPTION: ClassVar[str] = (
        "Rotate the circular sequences of IN so that all begin where one of them does: genomes of "
        "mitochondria, plasmids and phages, which files begin anywhere."
    )
    STDOUT_FORMAT: ClassVar[str] = "fasta"
    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            lambda request: request.scoring.mode not in (None, "global"),
            "circles are rotated in mode global, not in mode {.mode}",
        ),
    )

    writing: OutputRules = written_as(("fasta",), "fasta")
