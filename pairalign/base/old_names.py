"""Options and arguments that have another name now: their errors say which."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

OPTIONS = {
    "--top": "--hsps N",
    "--best": "--max-hits N --rank identity",
    "--cluster": "--dask ADDRESS",
}
"""Of the command line, by their old names."""

ARGUMENTS = {"top": "hsps"}
"""Of functions, by their old names."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def new_names(words: list[str]) -> str:
    """Return what to say of old names of options among the words of a message; empty: nothing."""
    used = dict.fromkeys(word.partition("=")[0] for word in words)
    return "".join(f"; {old} is {OPTIONS[old]} now" for old in used if old in OPTIONS)


def names_arguments(
    function: Callable[_Parameters, _Result],
) -> Callable[_Parameters, _Result]:
    """Decorate a function so that an old name of an argument is an error which says the new one.

    Raises
    ------
    TypeError
        An argument has its old name.
    """

    @wraps(function)
    def checked(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        for old in ARGUMENTS:
            if old in kwargs:
                raise TypeError(f"{function.__name__}(): '{old}' is '{ARGUMENTS[old]}' now")
        return function(*args, **kwargs)

    return checked
