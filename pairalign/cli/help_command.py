"""The command ``pairalign help``."""

from __future__ import annotations

from typing import ClassVar

from pairalign.base.declaration import place, request
from pairalign.cli.program import COMMANDS, build_parser
from pairalign.requests.shared import CommandOptions


@request
class HelpOptions(CommandOptions):
    """The request of ``pairalign help``."""

    DESCRIPTION: ClassVar[str] = "Show the help of a command, or of the program."

    topic: str | None = place("COMMAND", nargs="?", values=[command.name for command in COMMANDS])
    more: str | None = place("all", "every option, in groups", nargs="?", values=("all",))


def run_help(request: HelpOptions) -> None:
    """Carry out ``pairalign help``."""
    words = [] if request.topic is None else [request.topic]
    more = [] if request.more is None else [request.more]
    build_parser(words).parse_args([*words, "--help", *more])
