"""How messages spell options: as arguments in Python, as options on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_WITH_VALUES = {("detail", "score"): "--score-only"}
_speaks_options = [False]


@contextmanager
def options_are_spelled() -> Iterator[None]:
    """Spell options as the command line does, in all threads, while a ``with`` block runs."""
    before, _speaks_options[0] = _speaks_options[0], True
    try:
        yield
    finally:
        _speaks_options[0] = before


def spelled(name: str, value: str | bool | None = None, flag: str | None = None) -> str:
    """Return an argument as the user gives it.

    Parameters
    ----------
    name : str
        As Python has it.
    value : str or True, optional
        True is a flag on the command line.
    flag : str, optional
        How the command line spells the option, where that does not follow from `name`.
    """
    if not _speaks_options[0]:
        return name if value is None else f"{name}={value!r}"
    if (name, value) in _WITH_VALUES:
        return _WITH_VALUES[name, str(value)]
    option = flag or f"--{name.replace('_', '-')}"
    return f"{option} {value}" if isinstance(value, str) else option


def left_out(name: str, value: str | bool | None = None) -> str:
    """Return the advice to leave an argument out; as for `spelled`."""
    return f"leave {spelled(name, value)} out"
