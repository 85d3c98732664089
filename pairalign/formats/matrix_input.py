"""What the readers of distance matrices share: what a file says of itself is checked first."""

from __future__ import annotations

from pairalign.base.error_types import DistanceError
from pairalign.trees.distance_matrix import TriangleBuilder, number_of_pairs

DISTANCE_BYTES = 2
"""The shortest text of a distance: a digit, and what parts it from the next."""


def start_triangle(
    count: int, distances: int, where: str, most_bytes: int | None
) -> TriangleBuilder:
    """Make room for a matrix, unless the file is too small to hold what it promises.

    Parameters
    ----------
    count : int
        Sequences, as the file says.
    distances : int
        How many distances it must then hold at least.
    where : str
        Where it says so, for messages: file and line.
    most_bytes : int or None
        The file cannot hold more text than that; None if that is not known.

    Raises
    ------
    DistanceError
        The file is too small, or there is no memory for the distances.
    """
    needed = DISTANCE_BYTES * distances
    if most_bytes is not None and needed > most_bytes:
        raise DistanceError(
            f"{where}: {count:,} sequences, whose distances take at least {needed:,} bytes, but "
            f"the file has {most_bytes:,} at most: it is cut short, or is no distance matrix"
        )
    try:
        return TriangleBuilder(count)
    except MemoryError:
        gigabytes = 4 * number_of_pairs(count) / 2**30
        raise DistanceError(
            f"{where}: {count:,} sequences, whose distances need {gigabytes:.1f} GiB of memory: "
            "there is not enough"
        ) from None
