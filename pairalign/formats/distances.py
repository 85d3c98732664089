"""Formats of distances, told by a name or the end of a file's name: one table of what writes them.

What a format can hold is how distances are stored: `pairalign.trees.distance_matrix`.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from pairalign.base.choices import DISTANCE_SUFFIXES, RECTANGLE_SUFFIXES, SPARSE_SUFFIXES, TABLES
from pairalign.base.error_types import DistanceError, unreadable
from pairalign.base.spelling import spelled
from pairalign.base.texts import quoted, tsv_of
from pairalign.formats.distance_arrays import read_array, write_array, write_arrays, write_parquet
from pairalign.formats.distance_text import (
    read_list,
    read_phylip,
    read_table,
    write_list,
    write_phylip,
    write_table,
)
from pairalign.formats.libraries import array_format
from pairalign.formats.names import table_format
from pairalign.formats.output import Path, open_table
from pairalign.trees.distance_matrix import DistanceMatrix, Distances

_STORAGES = {
    "condensed": ("distances", DISTANCE_SUFFIXES),
    "rectangular": ("distances of two sets", RECTANGLE_SUFFIXES),
    "sparse": ("distances within a limit", SPARSE_SUFFIXES),
}
"""What distances are called in messages, and their formats."""
_FORMATS: Mapping[str, tuple[Callable[..., int | None], Callable[..., DistanceMatrix] | None]] = {
    "phylip": (write_phylip, read_phylip),
    **dict.fromkeys(TABLES, (write_table, read_table)),
    "column": (write_list, read_list),
    "npy": (write_array, read_array),
    "npz": (write_arrays, None),
    "parquet": (write_parquet, None),
}
"""What writes and what reads each; which are for which distances is in `_STORAGES`."""


def distance_format(path: Path, format: str | None, storage: str) -> str:
    """Return the format that is meant, and refuse what cannot be written.

    Parameters
    ----------
    storage : str
        How the distances are stored: `Distances.storage`.

    Raises
    ------
    FormatError
        There is no such format, it has its own compression, or PyArrow is not installed.
    """
    what, suffixes = _STORAGES[storage]
    return array_format(path, format, suffixes, what)


def write_distances(
    path: Path,
    distances: Distances,
    format: str | None = None,
    *,
    lower: bool = False,
    strict: bool = False,
    threads: int = 1,
) -> int:
    """Write distances of one set, of two, or within a limit.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output; ``.gz`` compresses. The file appears when it is complete.
    format : {"phylip", "tsv", "csv", "npy", "column", "npz", "parquet"}, optional
        Default: by the end of the file's name. PHYLIP is of all pairs of one set, npz and Parquet
        are of others.
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
        Unknown format, or one that cannot hold the names; see `distance_format`.
    OutputError
        The file cannot be written.
    """
    chosen = distance_format(path, format, distances.storage)
    options = {"lower": lower, "strict": strict} if chosen == "phylip" else {}
    with open_table(path, chosen, threads=threads) as output:
        return _FORMATS[chosen][0](output, distances, **options) or 0


def read_distances(
    path: Path,
    format: str | None = None,
    *,
    names: list[str] | None = None,
    of_first: bool = False,
) -> DistanceMatrix:
    """Read a distance matrix, compressed or not.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard input.
    format : {"phylip", "tsv", "csv", "npy", "column"}, optional
        Default: by the end of the file's name.
    names : list of str, optional
        Of the sequences. A NumPy file needs them; the others have their own, which must be these.
    of_first : bool
        A NumPy file is of the first of these, it says of how many.

    Raises
    ------
    DistanceError
        The file cannot be read, or is no distance matrix.
    FormatError
        Unknown format.
    """
    chosen = distance_format(path, format, "condensed")
    source = "<stdin>" if os.fspath(path) == "-" else os.fspath(path)
    if chosen == "npy" and names is None:
        option = spelled("names")
        raise DistanceError(f"{source}: a NumPy file has no names; give the sequences ({option})")
    try:
        with _open(path) as (file, most):
            if chosen == "npy":
                assert names is not None
                return read_array(file, source, names, most, of_first=of_first)
            lines: Iterable[str] = io.TextIOWrapper(file, encoding="utf-8-sig")
            if chosen == "csv":
                lines = (tsv_of(line.encode()).decode() for line in lines)
            read = _FORMATS[chosen][1]
            assert read is not None  # `distance_format` is of what a triangle is written as
            matrix = read(lines, source, most)
    except DistanceError as error:
        if str(error).startswith(source):
            raise
        raise DistanceError(f"{source}: {error}") from error
    except OSError as error:
        raise unreadable(DistanceError, source, error, "a distance matrix") from error
    except ValueError as error:
        raise DistanceError(f"{source}: cannot be read: {error}") from error
    if names is not None and matrix.names != names:
        raise DistanceError(f"{source}: its names are not those of the sequences, in their order")
    return matrix


@contextmanager
def _open(path: Path) -> Iterator[tuple[IO[bytes], int | None]]:
    """Open a file; give it, decompressed, and how many bytes it holds at most, if that is known."""
    from pairalign.base.compression import Decompressed, decompressed
    from pairalign.formats.readers.reader import open_raw

    raw = open_raw(os.fspath(path))
    try:
        most, file = _size_of(raw), decompressed(raw)
        if isinstance(file.raw, Decompressed):
            most = most and file.raw.most_times and most * file.raw.most_times
        yield file, most
    finally:
        if os.fspath(path) != "-":
            raw.close()


def _size_of(file: IO[bytes]) -> int | None:
    """Size of a regular file; None for pipes and what is no file."""
    try:
        status = os.fstat(file.fileno())
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def write_group_clusters(path: Path, clusters: list[list[str]]) -> None:
    """Write the number of its cluster and the name of each group, a line each.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    lines = [
        f"{number}\t{quoted(name)}\n" for number, names in enumerate(clusters, 1) for name in names
    ]
    with open_table(path, table_format(path)) as output:
        output.write(("cluster\tgroup\n" + "".join(lines)).encode())
