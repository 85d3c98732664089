"""Distances as they are computed: one float32 a pair, in the order of windows.

What a run can be resumed from, and what parts are merged from. A line of JSON comes first, which
says which sequences they are of; a part that is not the first one has values alone.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.passes import place_in_triangle
from pairalign.alignments.problem import Problem
from pairalign.base.compression import Parts
from pairalign.base.error_types import PartsError
from pairalign.formats.output import Output
from pairalign.formats.pieces import Part, checked_blocks, pieces_of_whole
from pairalign.formats.schemas import DISTANCES, DISTANCES_HEAD, SchemaError, read_object
from pairalign.pairs.windows import plan_windows
from pairalign.trees.distance_matrix import (
    AnyDistances,
    DistanceMatrix,
    RectangularDistances,
    number_of_pairs,
)

FORMAT = DISTANCES
_VALUE = np.dtype("<f4")
_BUFFER_BYTES = 1 << 20
_NAMES, _ORDERS = ("names", "target_names"), ("order", "target_order")


def write_head(output: Output, problem: Problem, measure: str, window: int) -> None:
    """Write what the first part begins with: what distances of a problem are of.

    Parameters
    ----------
    window : int
        Rows and columns of a window.
    """
    sequences, targets = problem.queries, problem.targets
    head = {
        "names": list(sequences.names),
        "order": sequences.order.tolist(),
        "measure": measure,
        "window": window,
    }
    if targets is not None:
        head["target_names"] = list(targets.names)
        head["target_order"] = targets.order.tolist()
    output.write(json.dumps(head).encode() + b"\n")


def write_values(output: Output, values: npt.NDArray[np.floating]) -> None:
    """Write the distances of the next pairs, in the order of windows."""
    output.write(values.astype(_VALUE).tobytes())


def are_of_two_sets(parts: list[Part]) -> bool:
    """Whether parts are of the distances of two sets."""
    return parts[0].run.get("targets") is not None


def merge_distances(parts: list[Part]) -> AnyDistances:
    """Make a matrix, or a rectangle, of all its parts.

    Raises
    ------
    PartsError
        Parts are missing, one is not what was written, or they are no distances.
    """
    if parts[0].format != FORMAT:
        raise PartsError(f"'{parts[0].folder}': parts of {parts[0].format}, expected distances")
    pieces = pieces_of_whole(parts)
    blocks = (block for piece in pieces for block in checked_blocks(piece))
    return read_values(blocks, sum(piece.bytes for piece in pieces))


def read_values(blocks: Iterable[bytes], size: int) -> AnyDistances:
    """Make distances of what `write_head` and `write_values` wrote, in blocks, `size` bytes in all.

    Raises
    ------
    PartsError
        There are more or fewer values than pairs, or their head is not what was written.
    """
    source = io.BufferedReader(Parts(iter(blocks)), _BUFFER_BYTES)
    head = _read_head(source.readline())
    names, targets = head["names"], head.get("target_names")
    count, others = len(names), None if targets is None else len(targets)
    pairs = number_of_pairs(count) if others is None else count * others
    if size < pairs * _VALUE.itemsize:  # before there is room for them
        raise PartsError("there are fewer distances than pairs")
    distances = np.full(pairs, np.nan, np.float32)
    orders = [np.array(head[name], np.int32) for name in _ORDERS if name in head]
    for window in plan_windows(count, others, head["window"]):
        data = source.read(_VALUE.itemsize * window.pairs)
        if len(data) < _VALUE.itemsize * window.pairs:
            raise PartsError("there are fewer distances than pairs")
        values = np.frombuffer(data, _VALUE)
        rows, columns = (
            order[positions]
            for order, positions in zip((orders[0], orders[-1]), window.positions(), strict=True)
        )
        if others is not None:
            distances[rows.astype(np.int64) * others + columns] = values
            continue
        first, second = np.minimum(rows, columns), np.maximum(rows, columns)
        place_in_triangle(first, second, values.astype(np.float64), count, distances)
    if source.read(1):
        raise PartsError("there are more distances than pairs")
    if targets is None:
        return DistanceMatrix(names, distances, head["measure"])
    return RectangularDistances(names, targets, distances.reshape(count, -1), head["measure"])


def _read_head(line: bytes) -> dict[str, Any]:
    """Return what the first line says: names of sequences, their order by length, and more."""
    try:
        head = read_object(line, DISTANCES_HEAD)
    except SchemaError as error:
        raise PartsError(f"the first line of the distances is damaged: {error}") from error
    is_one_set = "target_names" not in head and "target_order" not in head
    for named, ordered in zip(_NAMES, _ORDERS, strict=True):
        names, order = head.get(named, []), np.array(head.get(ordered, []), np.int32)
        is_absent = is_one_set and ordered == _ORDERS[1]
        if is_absent or (
            len(names) > is_one_set and np.array_equal(np.sort(order), np.arange(len(names)))
        ):
            continue
        raise PartsError(
            f"the first line of the distances is damaged: '{ordered}' is none of the names"
        )
    return head
