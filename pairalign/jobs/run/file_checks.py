"""The files of a run: an output is no other file of it. One rule for all commands and options."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from pairalign.base.arguments import Kind
from pairalign.base.choices import COMPRESSED_SUFFIXES
from pairalign.base.declaration import slots_of, values_of
from pairalign.base.error_types import FastaError, FormatError
from pairalign.base.run_files import is_beside
from pairalign.base.spelling import spelled
from pairalign.formats.names import check_ending
from pairalign.formats.output import refuse_inputs
from pairalign.requests.shared import CommandOptions, OutputOptions

_BESIDE_OUTPUT = ("resume", "dask")
"""Options that keep files beside the output."""


def check_files(request: CommandOptions) -> None:
    """Refuse a command line whose files cannot be so; nothing is read or written.

    Raises
    ------
    FormatError
        An output is an input, two outputs are the same file, what is kept beside an output
        cannot be beside standard output, or a name says another format than is written.
    FastaError
        Standard input stands for two inputs.
    """
    values = values_of(request)
    read = files_read(request)
    for option in _BESIDE_OUTPUT:
        output = values["output"] if values.get(option) else None
        if output == "-" or (output is not None and _is_device(output)):
            raise FormatError(
                f"{spelled(option)} needs an output that is a file: give its name with -o"
            )
    if values.get("dask") and "-" in read:
        raise FormatError(
            f"{spelled('dask')} needs files as input: workers do not see standard input"
        )
    paths = _files_written(request)
    if values.get("shard") is not None and isinstance(request, OutputOptions):
        paths["output"] = request.writing.path
    if read.count("-") > 1:
        raise FastaError("<stdin>: cannot be read twice; give a file for one of the two inputs")
    written: dict[str, str] = {}  # what option writes a place
    for option, path in paths.items():
        called = _called(option)
        if _is_device(path):
            continue
        refuse_inputs(path, read)
        if path != "-":
            _refuse_beside(path, read)
            _refuse_beside(path, [other for name, other in paths.items() if name != option])
        other = written.setdefault(path if path == "-" else os.path.realpath(path), called)
        if other != called:
            shown = "standard output" if path == "-" else f"'{path}'"
            raise FormatError(f"{other} and {called} are both {shown}; choose another file")
    for _, kind, path in _values_by_kind(request):
        if kind.format is not None and path is not None and not _is_device(path):
            what, endings = kind.format
            check_ending(path, endings, what)


def files_read(request: CommandOptions) -> list[str]:
    """Return the files that are read, as the options name them."""
    values = [value for _, kind, value in _values_by_kind(request) if kind.is_read]
    several = (value if isinstance(value, (list, tuple)) else (value,) for value in values)
    return [path for paths in several for path in paths if isinstance(path, str)]


def _values_by_kind(request: CommandOptions) -> Iterator[tuple[str, Kind, Any]]:
    """Yield the name, kind and value of each option that has a kind."""
    for slot in slots_of(type(request)):
        if slot.option.kind is not None:
            yield slot.option.name, slot.option.kind, slot.value(request)


def _files_written(request: CommandOptions) -> dict[str, str]:
    """Return the files that are written, by option: the output first."""
    paths = {
        name: path
        for name, kind, path in _values_by_kind(request)
        if kind.is_written and path is not None
    }
    return {name: paths[name] for name in sorted(paths, key=lambda name: name != "output")}


def check_log(request: CommandOptions) -> None:
    """Refuse a log, before it is opened, that is another file of the run.

    Raises
    ------
    FormatError
        It is an input or an output, or its name says that it is compressed.
    """
    paths = _files_written(request)
    log = paths.pop("log")
    if log.lower().endswith(COMPRESSED_SUFFIXES):
        raise FormatError(f"'{log}': a log is appended to, and not compressed")
    refuse_inputs(log, files_read(request))
    place = os.path.realpath(log)
    for name, path in paths.items():
        if os.path.realpath(path) == place:
            raise FormatError(
                f"{_called(name)} and {_called('log')} are both '{path}'; choose another file"
            )


def _refuse_beside(output: str, paths: Iterable[str]) -> None:
    """Refuse other files of the run that have names which belong to an output."""
    for path in paths:
        if path != "-" and is_beside(path, output):
            raise FormatError(f"'{path}' has a name that belongs to the output '{output}'")


def _called(option: str) -> str:
    return spelled(option, flag="-o" if option == "output" else None)


def _is_device(path: str) -> bool:
    """Whether writing there replaces nothing: devices, pipes."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))
