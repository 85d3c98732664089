"""Options of requests as arguments of functions: signatures and docstrings, from the declaration.

A function that `takes` the options of requests names none of them: it has ``**options``, whose
types a TypedDict beside the requests says to type checkers. `show_options` gives the function the
signature and the section "Parameters" that the declaration makes. That is done where somebody asks
for a public name, so that commands do not wait for it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, TypeVar

from pairalign.base.declaration import Option, options_of

_Function = TypeVar("_Function", bound=Callable[..., Any])
_TAKEN = "taken"
_OPTION = re.compile(r"(?<![\w-])--([a-z][\w-]*)(?: [A-Z]+\b)?")
_SECTION = re.compile(r"^( *)Parameters\n *-+\n", re.MULTILINE)
_WIDTH = 100


@dataclass(frozen=True)
class Taken:
    """What a function takes besides its own arguments.

    Attributes
    ----------
    kinds : tuple of type
        Requests.
    types : type
        The TypedDict of the types that values may have.
    but : tuple of str
        Options that it does not take.
    defaults : dict
        Those of this function alone.
    """

    kinds: tuple[type, ...]
    types: Any
    but: tuple[str, ...]
    defaults: Mapping[str, Any]

    @property
    def options(self) -> dict[str, Option]:
        """The options by name."""
        every = (option for kind in self.kinds for option in options_of(kind))
        return {o.name: o for o in every if o.surface == "both" and o.name not in self.but}

    def type_of(self, name: str) -> str:
        """Return the type of an option's values, as it is written."""
        annotation = self.types.__annotations__[name]
        return str(getattr(annotation, "__forward_arg__", annotation))


def takes(
    types: Any, *kinds: type, but: tuple[str, ...] = (), **defaults: object
) -> Callable[[_Function], _Function]:
    """Declare that a function takes the options of some requests, as ``**options``.

    Parameters
    ----------
    types : type
        The TypedDict of ``**options``.
    *kinds : type
        Of the requests.
    but : tuple of str
        Options that it does not take.
    **defaults
        Of options whose default is another here.
    """

    def told(function: _Function) -> _Function:
        setattr(function, _TAKEN, Taken(kinds, types, but, defaults))
        return function

    return told


def taken_by(function: Callable[..., Any]) -> Taken:
    """Return what a function takes."""
    arguments: Taken = getattr(function, _TAKEN)
    return arguments


def refuse_unknown(name: str, options: Mapping[str, object], known: Iterable[str]) -> None:
    """Raise TypeError for an argument that a function does not know, as Python does."""
    unknown = options.keys() - set(known)
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")


def show_options(function: Any) -> None:
    """Put the options that a function takes into its signature and docstring; else do nothing."""
    if not hasattr(function, _TAKEN) or hasattr(function, "__signature__"):
        return
    arguments, original = taken_by(function), signature(function)
    named = [
        parameter
        for parameter in original.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    names = {parameter.name for parameter in named}
    options = [option for name, option in arguments.options.items() if name not in names]
    for option in options:
        default = arguments.defaults.get(option.name, option.default)
        annotation = arguments.type_of(option.name)
        named.append(
            Parameter(option.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )
    function.__signature__ = original.replace(parameters=named)
    for argument in original.parameters.values():
        if argument.kind is argument.VAR_KEYWORD:  # `Unpack` is of type checkers alone
            del function.__annotations__[argument.name]
    if function.__doc__:
        function.__doc__ = _with_options(function.__doc__, options, arguments)


def _with_options(text: str, options: list[Option], arguments: Taken) -> str:
    """Return a docstring whose section "Parameters" ends with some options."""
    section = _SECTION.search(text)
    assert section is not None
    indent, end = section[1], text.index("\n\n", section.end())
    lines = [line for option in options for line in _described(option, arguments, indent)]
    return "\n".join([text[:end], *lines]) + text[end:]


def _described(option: Option, arguments: Taken, indent: str) -> Iterator[str]:
    default = arguments.defaults.get(option.name, option.default)
    kind = _type_in_words(option, arguments.type_of(option.name))
    yield f"{indent}{option.name} : {kind}{', optional' if default is None else ''}"
    inside = indent + 4 * " "
    about = describe_option(option)
    yield from textwrap.wrap(
        about, _WIDTH, initial_indent=inside, subsequent_indent=inside, break_on_hyphens=False
    )


def _type_in_words(option: Option, written: str) -> str:
    """Return ``float, str or Fraction`` of ``float | str | Fraction | None``; values in braces."""
    words = [word for word in written.split(" | ") if word != "None"]
    values = _values_of(option)
    if values and len(words) == 1:
        return "{" + ", ".join(f'"{value}"' for value in values) + "}"
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _values_of(option: Option) -> tuple[str, ...]:
    """Return the words that an option may be, if it is one of some."""
    values = option.values if isinstance(option.values, tuple) else ()
    return tuple(value for value in values if isinstance(value, str))


def describe_option(one: Option) -> str:
    """Return what an option is, as a sentence of Python's documentation."""
    text = one.about or one.help or ""
    if not one.about:
        text = text % {"default": one.default}
        text = _OPTION.sub(lambda match: f"`{match[1].replace('-', '_')}`", text)
    for value in _values_of(one):
        text = re.sub(rf"(^|; ){value}: ", rf'\1``"{value}"``: ', text)
    return f"{text[0].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")
