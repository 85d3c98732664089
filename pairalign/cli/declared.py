"""The parser of a command, made of what its request declares."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from pairalign.base.declaration import Kind, Option, options_of

_COMPLETED = {
    "files": {"bash": "_shtab_compgen_files", "zsh": "_files"},
    "matrices": {"bash": "_pairalign_matrices", "zsh": "_pairalign_matrices"},
}
"""What shtab asks each shell for: its own functions, and those of `cli.completion_command`."""


def add_options(parser: argparse.ArgumentParser, kind: Any) -> None:
    """Give a parser the description and the options of a request.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    kind : type
        Of the request: one of `pairalign.requests.shared.Asked`.
    """
    parser.description, parser.epilog = kind.DESCRIPTION or None, kind.EPILOG
    groups: dict[str | None, Any] = {None: parser}
    exclusive: dict[str, Any] = {}
    for one in options_of(kind):
        if one.group not in groups:
            assert one.group is not None
            groups[one.group] = parser.add_argument_group(one.group, kind.GROUPS.get(one.group))
        group = groups[one.group]
        if one.excludes is not None:
            if one.excludes not in exclusive:
                exclusive[one.excludes] = group.add_mutually_exclusive_group()
            group = exclusive[one.excludes]
        _add(group, one)


class LaterValues:
    """The values of an option, which are looked up when one is given."""

    def __init__(self, one: Option) -> None:
        self._one = one

    def __iter__(self) -> Iterator[Any]:
        return iter(self._one.known_values)


def _add(group: Any, one: Option) -> None:
    """Add one option."""
    about: dict[str, Any] = {"help": one.help}
    if one.is_flag:
        about["action"] = "store_true"
    else:
        about |= {"metavar": one.metavar, "default": one.default}
        if callable(one.values):
            about["choices"] = LaterValues(one)
        elif one.values:
            about["choices"] = one.values
        if one.kind is not None:
            about["type"] = converter(one.kind)
    if one.is_several and not one.is_place:
        about |= {"action": "append", "default": []}
    if one.is_place:
        names = [one.name]
        if one.nargs is not None:
            about["nargs"] = one.nargs
    else:
        names = list(one.flags) or [one.flag]
        about |= {"dest": one.name, "required": one.required}
    action = group.add_argument(*names, **about)
    action.declared = one
    if one.kind is not None and one.kind.completes:
        action.complete = _COMPLETED[one.kind.completes]


def converter(kind: Kind) -> Callable[[str], Any]:
    """Make a type for argparse whose message says what was expected."""

    def converted(text: str) -> Any:
        try:
            return kind.read(text)
        except (ValueError, ArithmeticError):
            raise argparse.ArgumentTypeError(f"found '{text}', expected {kind.expected}") from None

    return converted
