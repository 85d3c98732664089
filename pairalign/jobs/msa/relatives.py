"""The parts of a large family, which keep relatives together.

Points say where a sequence is: its distances to some others, the seeds. A cut through the points
parts relatives that are near it, and what an ancestor inserted for both is then aligned with
nothing. So sequences are brought together with their nearest relatives first, and what is cut are
these units.

1. A sequence is compared with those that share one of its two nearest seeds. Near relatives mostly
   do: to a seed outside of their clade they are at the same distance.
2. Links to the three nearest of these, from the shortest, make units of limited size.
3. Units are parted by two means.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

SEEDS = 2
LINKS = 3

MOST_COMPARED = 400
"""Sequences near a seed of which all pairs are compared; more are parted by two means."""

_ROUNDS = 20  # of two means

Indices = npt.NDArray[np.int64]
Points = npt.NDArray[np.int64]


def parts_of_relatives(
    points: Points,
    of_pairs: Callable[[Indices], npt.NDArray[np.float32]],
    *,
    together: int,
    most: int,
) -> list[Indices]:
    """Part sequences.

    Parameters
    ----------
    points : ndarray of int64, shape (n, w)
        The distances of each sequence to each of w seeds.
    of_pairs : callable
        Returns the distances of all pairs of some sequences, condensed.
    together : int
        How many sequences are kept together, at most.
    most : int
        Sequences of a part.

    Returns
    -------
    list of ndarray of int64
        Ascending indices of sequences; in a fixed order.
    """
    units = _units(len(points), _links(points, of_pairs), together)
    centres = np.stack([points[unit].sum(axis=0) // len(unit) for unit in units])
    sizes = np.array([len(unit) for unit in units])
    return [
        np.sort(np.concatenate([units[k] for k in part]))
        for part in part_points(centres, np.arange(len(units)), sizes, most)
    ]


def _links(
    points: Points, of_pairs: Callable[[Indices], npt.NDArray[np.float32]]
) -> npt.NDArray[np.int64]:
    """Return links of each sequence to its nearest: distance, one, other; ascending."""
    count = len(points)
    left = points.copy()
    near = np.empty((count, SEEDS), np.int64)
    for k in range(SEEDS):
        near[:, k] = left.argmin(axis=1)
        left[np.arange(count), near[:, k]] = np.iinfo(np.int64).max
    ones = np.ones(count, np.int64)
    links = []
    for seed in range(points.shape[1]):
        members = np.flatnonzero((near == seed).any(axis=1))
        for part in part_points(points, members, ones, MOST_COMPARED):
            links.append(_nearest(part, of_pairs(part)))
    return np.unique(np.concatenate(links), axis=0)


def _nearest(part: Indices, condensed: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    count = len(part)
    rows, columns = np.triu_indices(count, 1)
    table = np.full((count, count), np.iinfo(np.int64).max)
    table[rows, columns] = table[columns, rows] = condensed
    kept = min(LINKS, max(count - 1, 0))
    other = np.argsort(table, axis=1, kind="stable")[:, :kept].ravel()
    one = np.repeat(np.arange(count), kept)
    ends = np.sort(np.stack((part[one], part[other]), axis=1), axis=1)
    return np.column_stack((table[one, other], ends))


def _units(count: int, links: npt.NDArray[np.int64], most: int) -> list[Indices]:
    """Follow links as long as no unit becomes too large."""
    above, sizes = list(range(count)), [1] * count

    def top(index: int) -> int:
        while above[index] != index:
            above[index] = above[above[index]]
            index = above[index]
        return index

    for _, one, other in links.tolist():
        first, second = sorted((top(one), top(other)))
        if first != second and sizes[first] + sizes[second] <= most:
            above[second] = first
            sizes[first] += sizes[second]
    tops = np.array([top(index) for index in range(count)])
    order = np.argsort(tops, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(tops[order])) + 1)


def part_points(points: Points, indices: Indices, sizes: Indices, most: int) -> list[Indices]:
    """Part points by two means until no part of several is larger than `most`; in a fixed order.

    Parameters
    ----------
    points : ndarray of int64, shape (n, w)
    indices : ndarray of int64
        Of the points that are parted.
    sizes : ndarray of int64, shape (n,)
        How much each point counts.
    most : int

    Returns
    -------
    list of ndarray of int64
        Indices of points.
    """
    parts, left = [], [indices] if len(indices) else []
    while left:
        part = left.pop()
        if len(part) == 1 or sizes[part].sum() <= most:
            parts.append(part)
            continue
        left += _two_means(points, part)[::-1]
    return parts


def _two_means(points: Points, part: Indices) -> list[Indices]:
    own = points[part]
    mean = own.sum(axis=0) // len(part)
    one = own[np.argmax(squares(own, mean))]
    other = own[np.argmax(squares(own, one))]
    nearer = np.zeros(len(part), bool)
    for _ in range(_ROUNDS):
        before, nearer = nearer, squares(own, one) <= squares(own, other)
        if nearer.all() or not nearer.any() or np.array_equal(before, nearer):
            break
        one = own[nearer].sum(axis=0) // nearer.sum()
        other = own[~nearer].sum(axis=0) // (~nearer).sum()
    if nearer.all() or not nearer.any():  # all are the same
        nearer = np.arange(len(part)) < len(part) // 2
    return [part[nearer], part[~nearer]]


def squares(points: Points, centre: Points) -> Points:
    """Squares of the distances of points from a centre: exact, below 2^33 a coordinate.

    Parameters
    ----------
    points : ndarray of int64, shape (n, w)
    centre : ndarray of int64, shape (w,)
    """
    apart = points - centre
    found: Points = np.einsum("ij,ij->i", apart, apart)
    return found
