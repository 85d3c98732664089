"""Parts of alignments become one file, with the bytes of a single run."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Sequence
from itertools import chain

from pairalign.base.arguments import path_text, whole_number
from pairalign.base.error_types import FormatError, PartsError
from pairalign.base.limits import usable_cores
from pairalign.base.spelling import spelled
from pairalign.formats import WRITERS
from pairalign.formats.distance_parts import FORMAT as DISTANCES
from pairalign.formats.distance_parts import are_of_two_sets, merge_distances
from pairalign.formats.distances import distance_format, write_distances
from pairalign.formats.names import check_ending
from pairalign.formats.output import (
    Output,
    Path,
    check_writable,
    map_file,
    open_output,
    refuse_inputs,
)
from pairalign.formats.pieces import (
    Part,
    Piece,
    check_piece,
    checked_blocks,
    pieces_of_whole,
    read_manifests,
)
from pairalign.formats.writer import Writer


def merge(
    parts: Path, output: Path, *, format: str | None = None, threads: int | None = None
) -> None:
    """Write the whole that the parts of a run with ``--shard`` are of.

    Parameters
    ----------
    parts : str or path
        The folder of the parts.
    output : str or path
        The file appears when it is complete.
    format : {"phylip", "tsv", "csv", "npy", "column", "npz", "parquet"}, optional
        Of distances; default: by the end of the name. Other parts have their format.
    threads : int, optional
        Default: the cores that this process may use.

    Raises
    ------
    PartsError
        Parts are missing, damaged or not of one run.
    FormatError, OutputError
        The name means another format, or the disk is full.
    """
    folder, whole = path_text("parts", parts), path_text("output", output)
    used = None if threads is None else whole_number("threads", threads)
    merge_parts(read_manifests(folder), whole, format=format, threads=used)


def merge_parts(
    parts: list[Part],
    whole: str,
    *,
    format: str | None = None,
    threads: int | None = None,
) -> None:
    """Write the whole that the parts of a folder are of: `merge`, of parts that are read."""
    refuse_inputs(whole, map(str, pathlib.Path(parts[0].folder).glob("part-*")))
    check_writable(whole)
    used = usable_cores() if threads is None else threads
    parts_format = parts[0].format
    if parts_format == DISTANCES:
        distance_format(whole, format, "rectangular" if are_of_two_sets(parts) else "condensed")
        matrix = merge_distances(parts)
        write_distances(whole, matrix, format, threads=used)
        return
    if format not in (None, parts_format):
        raise FormatError(
            f"{spelled('format', format)} is of distances, but the parts are {parts_format}"
        )
    check_parts_ending(whole, parts_format)
    merge_pieces(parts, whole, used)


def check_parts_ending(output: str, format: str) -> None:
    """Refuse a file's name that says another format than that of the parts; FormatError."""
    if format not in WRITERS:
        raise PartsError(f"parts of {format} are not merged: they are results of steps")
    check_ending(output, WRITERS[format].suffixes, f"the parts are {format}")


def merge_pieces(
    parts: Sequence[Part], path: Path, threads: int = 1, *, by_one_writer: bool = False
) -> None:
    """Write the whole that parts belong to.

    Parameters
    ----------
    parts : sequence of Part
        In the order of their numbers.
    path : str or path
        ``.gz`` compresses.
    threads : int
        To compress on.
    by_one_writer : bool
        Whether one writer has written all pieces, so that none is to be amended.

    Raises
    ------
    PartsError
        Parts are missing, or a piece is not what was written.
    OutputError
        The file cannot be written.
    """
    pieces, writer = pieces_of_whole(parts), WRITERS[parts[0].format]
    with open_output(path, threads=threads) as output:
        join_pieces(pieces, writer, output, threads, by_one_writer=by_one_writer)


def join_pieces(
    pieces: Sequence[Piece],
    writer: type[Writer],
    output: Output,
    threads: int = 1,
    *,
    by_one_writer: bool = False,
) -> None:
    """Write pieces, in the order of output, into an output, which stays open.

    They are amended where they could not know what comes before them.
    """
    if writer.joined:
        writer.join_files(map(checked_file, pieces), output, threads)
        return
    blocks, amend = map(checked_blocks, pieces), writer.amender()
    if amend is None or by_one_writer or len(pieces) == 1:
        texts: Iterator[bytes] = chain.from_iterable(blocks)
    else:
        texts = map(amend, chain.from_iterable(map(_whole_lines, blocks)))
    for text in texts:
        output.write(text)


def checked_file(piece: Piece) -> memoryview:
    """Return the bytes of a piece; PartsError if it is not what was written."""
    check_piece(piece)
    return map_file(piece.path)


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Cut text at ends of lines."""
    rest: list[bytes] = []
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join((*rest, block[:end]))
            rest = []
        rest.append(block[end:])
    if any(rest):
        raise PartsError("a part does not end with the end of a line: make it again")
