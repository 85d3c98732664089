"""Options and values that have another name now: their errors say which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_OPTIONS = {"--best": "--max-hits N --rank identity"}
"""By their old names: those that are several options now; of others, their declaration says it."""

VALUES = {"identity-definite": "identity-unambiguous"}
"""Values that options had, and what they are called now."""


def new_names(words: Iterable[str], known: Mapping[str, Any]) -> dict[str, str]:
    """Return the new names of options whose old names are among the words of a message.

    Parameters
    ----------
    known : mapping of str to argparse.Action
        Options of the command, as they are written.
    """
    declared = (getattr(action, "declared", None) for action in known.values())
    now = dict(_OPTIONS)
    for option in declared:
        if option is not None and option.formerly is not None:
            now[option.formerly] = f"{option.flag} {(option.metavar or '').partition('|')[0]}"
    return {old: now[old] for old in (word.partition("=")[0] for word in words) if old in now}
