"""Distances as they are computed: one float32 a pair, in the order of windows.

What a run can be resumed from, and what parts are merged from. A line of JSON comes first, which
says which sequences they are of; a part that is not the first one has values alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.passes import place_in_triangle
from pairalign.base.errors import PartsError
from pairalign.formats.output import Output
from pairalign.formats.parts import (
    Manifest,
    check_parts,
    ordered_pieces,
    part_path,
    piece_blocks,
)
from pairalign.formats.schemas import DISTANCES, DISTANCES_HEAD, SchemaError, read_object
from pairalign.formats.writer import WHOLE, Piece
from pairalign.pairs.windows import plan_windows
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix, number_of_pairs

FORMAT = DISTANCES
SUFFIX = ".distances"
_VALUE = np.dtype("<f4")


class DistanceWriter:
    """Writes distances in the order of windows.

    Parameters
    ----------
    output : Output
        Not closed.
    sequences : SequenceSet
    measure : str
    window : int
        Rows and columns of a window.
    piece : Piece
        The first one says what the whole is of.

    Attributes
    ----------
    shown : int
        0: values have no numbers.
    """

    def __init__(
        self,
        output: Output,
        sequences: SequenceSet,
        measure: str,
        window: int,
        piece: Piece = WHOLE,
    ) -> None:
        self._output = output
        self._number = piece.number
        self.shown = 0
        if piece.first:
            head = {
                "names": list(sequences.names),
                "order": sequences.order.tolist(),
                "measure": measure,
                "window": window,
            }
            output.write(json.dumps(head).encode() + b"\n")

    def write(self, values: npt.NDArray[np.floating]) -> None:
        """Add the distances of the next pairs."""
        self._output.write(values.astype(_VALUE).tobytes())

    def flush(self) -> int:
        """Return the number that the piece has begun with; nothing waits."""
        return self._number

    def leave(self) -> dict[str, Any]:
        """Return nothing: values are all there is."""
        return {}


def merge_distances(folder: str, manifests: list[Manifest]) -> DistanceMatrix:
    """Make a matrix of all parts in a folder.

    Raises
    ------
    PartsError
        Parts are missing, one is not what was written, or they are no distances.
    """
    if manifests[0].format != FORMAT:
        raise PartsError(f"'{folder}': parts of {manifests[0].format}, expected distances")
    check_parts(folder, manifests, SUFFIX)
    parts = {part_path(folder, one.shard, one.shards, SUFFIX): one for one in manifests}
    pieces = ordered_pieces(list(parts.items()))
    blocks = (block for piece in pieces for block in piece_blocks(piece, parts[piece.path]))
    return read_values(blocks, sum(one.bytes for one in manifests))


def read_values(blocks: Iterable[bytes], size: int) -> DistanceMatrix:
    """Make a matrix of what a `DistanceWriter` wrote, in blocks of any size, `size` in all.

    Raises
    ------
    PartsError
        There are more or fewer values than pairs, or their head is not what was written.
    """
    source = _Source(iter(blocks))
    names, order, head = _read_head(source.line())
    count = len(names)
    if size < number_of_pairs(count) * _VALUE.itemsize:  # before there is room for them
        raise PartsError("there are fewer distances than pairs")
    condensed = np.full(number_of_pairs(count), np.nan, np.float32)
    for window in plan_windows(count, None, head["window"]):
        values = np.frombuffer(source.take(_VALUE.itemsize * window.pairs), _VALUE)
        rows, columns = (order[positions] for positions in window.positions())
        first, second = np.minimum(rows, columns), np.maximum(rows, columns)
        place_in_triangle(first, second, values.astype(np.float64), count, condensed)
    if source.take(1, missing=True):
        raise PartsError("there are more distances than pairs")
    return DistanceMatrix(names, condensed, head["measure"])


def _read_head(line: bytes) -> tuple[list[str], npt.NDArray[np.int32], dict[str, Any]]:
    """Return the names of sequences, their order by length, and all that the first line says."""
    try:
        head = read_object(line, DISTANCES_HEAD)
    except SchemaError as error:
        raise PartsError(f"the first line of the distances is damaged: {error}") from error
    names, order = head["names"], np.array(head["order"], np.int32)
    if len(names) < 2 or not np.array_equal(np.sort(order), np.arange(len(names))):
        raise PartsError("the first line of the distances is damaged: 'order' is none of the names")
    return names, order, head


class _Source:
    """Bytes of a known number out of blocks of any."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = b""

    def line(self) -> bytes:
        parts = []
        while (end := self._rest.find(b"\n")) < 0:
            parts.append(self._rest)
            self._rest = next(self._blocks, b"\n")
        line = b"".join([*parts, self._rest[:end]])
        self._rest = self._rest[end + 1 :]
        return line

    def take(self, size: int, *, missing: bool = False) -> bytes:
        parts, found = [self._rest], len(self._rest)
        while found < size:
            block = next(self._blocks, b"")
            if not block:
                if missing:
                    break
                raise PartsError("there are fewer distances than pairs")
            parts.append(block)
            found += len(block)
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]
