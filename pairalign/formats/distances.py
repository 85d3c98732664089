"""Formats of distance matrices, told by a name or the end of a file's name; writing, reading."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from pairalign.base.choices import DISTANCE_SUFFIXES, TABLES
from pairalign.base.error_types import DistanceError, unreadable
from pairalign.base.spelling import spelled
from pairalign.base.texts import tsv_of
from pairalign.formats.matrix_column import read_matrix_column, write_matrix_column
from pairalign.formats.matrix_npy import read_matrix_npy, write_matrix_npy
from pairalign.formats.matrix_tsv import read_matrix_tsv, write_matrix_tsv
from pairalign.formats.names import choose_format
from pairalign.formats.output import Path, open_table
from pairalign.formats.phylip import read_phylip, write_phylip
from pairalign.formats.rectangles import rectangle_format, write_rectangle
from pairalign.trees.distance_matrix import DistanceMatrix
from pairalign.trees.rectangular_distances import RectangularDistances

_READERS = {
    "phylip": read_phylip,
    **dict.fromkeys(TABLES, read_matrix_tsv),
    "column": read_matrix_column,
}
_GZIP = b"\x1f\x8b"
_GZIP_BEST = 1032  # deflate makes no more of a byte


def write_distances(
    path: Path,
    matrix: DistanceMatrix | RectangularDistances,
    format: str | None = None,
    *,
    lower: bool = False,
    strict: bool = False,
    threads: int = 1,
) -> int:
    """Write a distance matrix, or distances of two sets.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output; ``.gz`` compresses. The file appears when it is complete.
    format : {"phylip", "tsv", "csv", "npy", "column", "npz", "parquet"}, optional
        Default: by the end of the file's name. PHYLIP is of one set, npz and Parquet of two.
    lower, strict : bool
        PHYLIP: lower triangle instead of square, names of ten characters.
    threads : int
        Threads to compress on.

    Returns
    -------
    int
        Length of the longest line, for PHYLIP; else 0.

    Raises
    ------
    FormatError
        Unknown format, or one that cannot hold the names.
    OutputError
        The file cannot be written.
    """
    if isinstance(matrix, RectangularDistances):
        chosen = rectangle_format(path, format)
        with open_table(path, chosen, threads=threads) as output:
            write_rectangle(output, matrix, chosen)
        return 0
    chosen = choose_format(path, format, DISTANCE_SUFFIXES, "distances")
    with open_table(path, chosen, threads=threads) as output:
        if chosen == "phylip":
            return write_phylip(output, matrix, lower=lower, strict=strict)
        if chosen in TABLES:
            write_matrix_tsv(output, matrix)
        elif chosen == "column":
            write_matrix_column(output, matrix)
        else:
            write_matrix_npy(output, matrix)
    return 0


def read_distances(
    path: Path, format: str | None = None, *, names: list[str] | None = None
) -> DistanceMatrix:
    """Read a distance matrix, compressed with gzip or not.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard input.
    format : {"phylip", "tsv", "csv", "npy", "column"}, optional
        Default: by the end of the file's name.
    names : list of str, optional
        Of the sequences. A NumPy file needs them; the others have their own, which must be these.

    Raises
    ------
    DistanceError
        The file cannot be read, or is no distance matrix.
    FormatError
        Unknown format.
    """
    chosen = choose_format(path, format, DISTANCE_SUFFIXES, "distances")
    source = "<stdin>" if os.fspath(path) == "-" else os.fspath(path)
    if chosen == "npy" and names is None:
        option = spelled("names")
        raise DistanceError(f"{source}: a NumPy file has no names; give the sequences ({option})")
    try:
        with _open(path) as (file, most):
            if chosen == "npy":
                assert names is not None
                return read_matrix_npy(file, source, names, most)
            lines: Iterable[str] = io.TextIOWrapper(file, encoding="utf-8-sig")
            if chosen == "csv":
                lines = (tsv_of(line.encode()).decode() for line in lines)
            matrix = _READERS[chosen](lines, source, most)
    except DistanceError as error:
        if str(error).startswith(source):
            raise
        raise DistanceError(f"{source}: {error}") from error
    except OSError as error:
        raise unreadable(DistanceError, source, error, "a distance matrix") from error
    except (EOFError, UnicodeDecodeError, zlib.error) as error:
        raise DistanceError(f"{source}: cannot be read: {error}") from error
    if names is not None and matrix.names != names:
        raise DistanceError(f"{source}: its names are not those of the sequences, in their order")
    return matrix


@contextmanager
def _open(path: Path) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a file; give it, decompressed, and how many bytes it holds at most, if that is known."""
    if os.fspath(path) == "-":
        if sys.stdin is None:
            raise OSError("it is closed")
        yield _decompressed(cast(io.BufferedReader, sys.stdin.buffer))
        return
    with open(path, "rb") as file:
        yield _decompressed(file)


def _decompressed(file: io.BufferedReader) -> tuple[BinaryIO, int | None]:
    most = _size_of(file)
    if file.peek(2)[:2] == _GZIP:
        most = None if most is None else most * _GZIP_BEST
        return cast(BinaryIO, gzip.GzipFile(fileobj=file)), most
    return file, most


def _size_of(file: io.BufferedReader) -> int | None:
    """Size of a regular file; None for pipes and what is no file."""
    try:
        status = os.fstat(file.fileno())
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
