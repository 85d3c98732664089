"""The request of files that are made or put together: merge, pack."""

from __future__ import annotations

from typing import ClassVar

from pairalign.base.arguments import FOLDER
from pairalign.base.choices import DISTANCE_SUFFIXES, RECTANGLE_SUFFIXES
from pairalign.base.declaration import Rule, excludes, flag, group, place, request
from pairalign.requests.resources import MessagesOptions, Resources
from pairalign.requests.shared import (
    AT_ONCE,
    RESOURCES,
    CommandOptions,
    InputOptions,
    OutputOptions,
    OutputRules,
    SequencesOptions,
    written_as,
)


@request
class PartsOptions(CommandOptions):
    """Parts of a result."""

    parts: str = place("PARTS", "the folder with the parts", kind=FOLDER)


@request
class MergeOptions(PartsOptions, OutputOptions, MessagesOptions):
    """The request of ``pairalign merge``."""

    GROUPS: ClassVar[dict[str, str | None]] = {}
    DESCRIPTION: ClassVar[str] = (
        "Put the parts in the folder PARTS together, which commands with --shard K/N have written: "
        "the bytes of a single run."
    )

    writing: OutputRules = group(
        OutputRules,
        but=AT_ONCE,
        output={"help": "file, or - for stdout; .gz compresses"},
        format={
            "help": "of distances; default: by the ending of OUT's name",
            "values": tuple({**DISTANCE_SUFFIXES, **RECTANGLE_SUFFIXES}),
            "elsewhere": (),
        },
    )
    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            lambda request: request.writing.output is None and not request.plan,
            "nowhere to write to: give -o OUT, or {plan} to see what is missing",
        ),
        *excludes("plan", "only prints commands", "format", "multiqc", "summary"),
    )

    resources: Resources = group(
        Resources, RESOURCES, but=("device", "kernel", "memory", "progress")
    )
    plan: bool = flag("only print the commands that make missing parts")


@request
class PackOptions(SequencesOptions, OutputOptions, InputOptions, MessagesOptions):
    """The request of ``pairalign pack``."""

    SHORT: ClassVar[str] = "output alphabet also on_duplicate names"
    DESCRIPTION: ClassVar[str] = (
        "Write the sequences of IN into a store, which every command takes in the place of IN: it "
        "is opened at once, and only what is needed of it is read."
    )
    STDOUT_FORMAT: ClassVar[str] = "pairset"

    writing: OutputRules = written_as(("pairset",), "pairset")
