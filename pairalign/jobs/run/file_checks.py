"""The files of a run: an output is no other file of it. One rule for all commands and options."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pairalign.base.choices import (
    CLUSTER_SUFFIXES,
    COMPRESSED_SUFFIXES,
    TABLE_ENDINGS,
    TREE_SUFFIXES,
)
from pairalign.base.declaration import values_of
from pairalign.base.error_types import FastaError, FormatError
from pairalign.base.run_files import is_beside
from pairalign.base.spelling import spelled
from pairalign.formats.names import check_ending
from pairalign.formats.output import refuse_inputs
from pairalign.requests.shared import CommandOptions, OutputOptions

_READ = (
    *("alignments", "input", "input2", "names", "matrix", "pairs", "candidates"),
    *("table", "groups", "confidence_of", "tree_in", "add", "to", "extend", "group_by"),
    *("homologs", "second_clusters", "v_genes", "within"),
)
"""Options that may name a file that is read."""

_WRITTEN = (
    *("output", "rename", "tree_out", "plot", "representatives", "read_report", "trimmed"),
    *("removed", "report", "matches", "clusters", "multiqc", "log", "members"),
)
"""Options that may name a file to write."""

_FASTA = CLUSTER_SUFFIXES["fasta"]
_TABLE = TABLE_ENDINGS
_OF_ONE_FORMAT = {
    "rename": ("names are written as a table", _TABLE),
    "tree_out": ("the guide tree is written in Newick", TREE_SUFFIXES["newick"]),
    "representatives": ("representatives are written as FASTA", _FASTA),
    "read_report": ("reads are reported in a table", _TABLE),
    "trimmed": ("cut reads are written as FASTQ or FASTA", (".fastq", ".fq", *_FASTA)),
    "matches": ("what is matched is written as a table", _TABLE),
    "clusters": ("clusters of groups are written as a table", _TABLE),
    "removed": ("what is removed is written as a table", _TABLE),
    "members": ("folds are written as a table", _TABLE),
    "report": ("a report is written as HTML", (".html", ".htm")),
    "multiqc": ("MultiQC finds a summary by the end of its name", ("_mqc.json",)),
}
"""Files with one format, whatever their name: what is said of them, and the ends they may have."""

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
    if values.get("shard") is not None and isinstance(request, OutputOptions):
        values["output"] = request.writing.path
    paths = {name: values.get(name) for name in _WRITTEN}
    if read.count("-") > 1:
        raise FastaError("<stdin>: cannot be read twice; give a file for one of the two inputs")
    written: dict[str, str] = {}  # what option writes a place
    for option in _WRITTEN:
        path, called = paths[option], _called(option)
        if path is None or _is_device(path):
            continue
        refuse_inputs(path, read)
        if path != "-":
            _refuse_beside(path, read)
            _refuse_beside(path, [paths[name] for name in _WRITTEN if name != option])
        other = written.setdefault(path if path == "-" else os.path.realpath(path), called)
        if other != called:
            shown = "standard output" if path == "-" else f"'{path}'"
            raise FormatError(f"{other} and {called} are both {shown}; choose another file")
    for option, (what, endings) in _OF_ONE_FORMAT.items():
        path = paths[option]
        if path is not None and not _is_device(path):
            check_ending(path, endings, what)


def files_read(request: CommandOptions) -> list[str | None]:
    """Return the files that are read, as the options name them."""
    values = values_of(request)
    several = (*values.get("inputs", ()), *values.get("also", ()))
    named = (values.get(name) for name in _READ)
    return [*(value if isinstance(value, str) else None for value in named), *several]


def check_log(request: CommandOptions) -> None:
    """Refuse a log, before it is opened, that is another file of the run.

    Raises
    ------
    FormatError
        It is an input or an output, or its name says that it is compressed.
    """
    values = values_of(request)
    log = values["log"]
    if log.lower().endswith(COMPRESSED_SUFFIXES):
        raise FormatError(f"'{log}': a log is appended to, and not compressed")
    refuse_inputs(log, files_read(request))
    place = os.path.realpath(log)
    for name in _WRITTEN:
        path = values.get(name)
        if name != "log" and path is not None and os.path.realpath(path) == place:
            raise FormatError(
                f"{_called(name)} and {_called('log')} are both '{path}'; choose another file"
            )


def _refuse_beside(output: str, paths: Iterable[str | None]) -> None:
    """Refuse other files of the run that have names which belong to an output."""
    for path in paths:
        if path is not None and path != "-" and is_beside(path, output):
            raise FormatError(f"'{path}' has a name that belongs to the output '{output}'")


def _called(option: str) -> str:
    return spelled(option, flag="-o" if option == "output" else None)


def _is_device(path: str) -> bool:
    """Whether writing there replaces nothing: devices, pipes."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))
