"""The options of a request, as argparse takes them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from pairalign.base.arguments import Kind
from pairalign.base.declaration import Option, has_job, options_of

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
        Of the request: one of `pairalign.requests.shared.CommandOptions`.
    """
    parser.description, parser.epilog = kind.DESCRIPTION or None, kind.EPILOG
    groups: dict[str | None, Any] = {None: parser}
    exclusive: dict[str, Any] = {}
    order = {title: place for place, title in enumerate(kind.LAST)}
    for option in sorted(options_of(kind), key=lambda one: order.get(one.group or "", -1)):
        if option.job is not None and not has_job(option.job):
            continue
        if option.group not in groups:
            assert option.group is not None
            groups[option.group] = parser.add_argument_group(
                option.group, kind.GROUPS.get(option.group)
            )
        group = groups[option.group]
        if option.excludes is not None:
            if option.excludes not in exclusive:
                exclusive[option.excludes] = group.add_mutually_exclusive_group()
            group = exclusive[option.excludes]
        _add(group, option)


class LaterValues:
    """The values of an option, which are looked up when one is given."""

    def __init__(self, one: Option) -> None:
        self._one = one

    def __iter__(self) -> Iterator[Any]:
        return iter(self._one.known_values)


def _add(group: Any, option: Option) -> None:
    """Add one option."""
    about: dict[str, Any] = {"help": option.help}
    if option.is_flag:
        about["action"] = "store_true"
    else:
        about |= {"metavar": option.metavar, "default": option.default}
        if callable(option.values):
            about["choices"] = LaterValues(option)
        elif option.values:
            about["choices"] = option.values
        if option.kind is not None:
            about["type"] = converter(option.kind)
    if option.is_several and not option.is_place:
        about |= {"action": "append", "default": []}
    if option.is_place:
        names = [option.name]
        if option.nargs is not None:
            about["nargs"] = option.nargs
    else:
        names = list(option.flags) or [option.flag]
        about |= {"dest": option.name, "required": option.required}
    action = group.add_argument(*names, **about)
    action.declared = option
    if option.kind is not None and option.kind.completes:
        action.complete = _COMPLETED[option.kind.completes]


def converter(kind: Kind) -> Callable[[str], Any]:
    """Make a type for argparse whose message says what was expected."""

    def converted(text: str) -> Any:
        try:
            return kind.read(text)
        except (ValueError, ArithmeticError):
            raise argparse.ArgumentTypeError(f"found '{text}', expected {kind.expected}") from None

    return converted
