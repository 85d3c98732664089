"""The parser of a command line: a line for what is wrong with it, and for what may be meant."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

from pairalign.cli.console import printable

_UNKNOWN = "unrecognized arguments: "
_CHOICES = re.compile(r"(invalid choice: '(.*)') \(choose from (.*)\)", re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
_WORD = re.compile(r"[\w.-]+")
_MOST_GUESSES = 3
_ALIKE = 0.7
"""How alike a guess is at least, as difflib counts."""


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` whose options are written in full and whose errors are one line.

    Parameters
    ----------
    **settings
        As for ``ArgumentParser``.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)
        self._commands: dict[str, argparse.ArgumentParser] = {}

    def add_commands(self, **settings: Any) -> Any:
        """Add subparsers, whose options are known when one is wrong; as ``add_subparsers``."""
        added = self.add_subparsers(**settings)
        self._commands = added.choices
        return added

    def parse_args(  # type: ignore[override]
        self, args: Iterable[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Parse a command line; exit with 2, and a line on stderr, if it is wrong."""
        words = sys.argv[1:] if args is None else list(args)
        options, unknown = self.parse_known_args(words, namespace)
        if unknown:
            used = [self._commands[word] for word in words if word in self._commands]
            (used[0] if used else self).error(f"{_UNKNOWN}{' '.join(unknown)}")
        return options

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong with a command line, and exit."""
        from pairalign.base.old_names import new_names  # help does without

        said = f"{self._with_guesses(message)}{new_names(message.split())}"
        self.exit(2, f"{self.prog}: error: {printable(said)} (see {self.prog} --help)\n")

    def _with_guesses(self, message: str) -> str:
        """Return a message with the words that may have been meant."""
        if message.startswith(_UNKNOWN):
            from pairalign.base.old_names import OPTIONS

            given = [word.partition("=")[0] for word in message.removeprefix(_UNKNOWN).split()]
            wrong = [word for word in given if word.startswith("-") and word not in OPTIONS]
            known = dict.fromkeys(_OPTION.findall(self.format_help()))
            return message + "".join(did_you_mean(word, known) for word in wrong)
        choice = _CHOICES.search(message)
        if choice is None:
            return message
        guesses = did_you_mean(choice[2], _WORD.findall(choice[3]))
        return _CHOICES.sub(lambda found: found[1] + guesses, message) if guesses else message


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return what to say of words like one that is not known; empty: there are none.

    Parameters
    ----------
    word : str
        What was given: misspelt, or the beginning of what was meant.
    known : iterable of str
    """
    from difflib import get_close_matches

    choices = list(known)
    begun = [one for one in choices if len(word) > 2 and one.startswith(word)]
    same = [one for one in choices if one.lower() == word.lower()]
    guesses = (same or begun or get_close_matches(word, choices, _MOST_GUESSES, _ALIKE))[
        :_MOST_GUESSES
    ]
    return f"; did you mean {' or '.join(guesses)}?" if guesses else ""
