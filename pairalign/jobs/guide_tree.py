"""Guide trees from distances: UPGMA (SciPy) and neighbour joining (scikit-bio).

Neighbour joining gives a tree without a root; it is rooted in the middle of the longest way
between two sequences. Branches that neighbour joining makes shorter than nothing get length 0.

Equal distances are resolved by the order of the input and nothing else: both libraries go through
the matrix in a fixed order, and of several longest ways the first counts, so that the same
distances always give the same tree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pairalign.distance_matrix import DistanceMatrix
from pairalign.errors import DistanceError, MissingPackageError
from pairalign.inputs import AnyScoring, Sequences
from pairalign.jobs.distances import check_memory, distances
from pairalign.trees.tree import GuideTree

Doubles = npt.NDArray[np.float64]

METHODS = ("upgma", "nj")
DEFAULT_METHOD = "upgma"
DEFAULT_MEASURE = "score"
"""Of all measures this gives the aligners the best trees: docs/guide-trees.md."""


def guide_tree(
    source: DistanceMatrix | Sequences,
    *,
    method: str = DEFAULT_METHOD,
    measure: str = DEFAULT_MEASURE,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    device: str = "auto",
    threads: int | None = None,
    memory_bytes: int | None = None,
    progress: bool = False,
) -> GuideTree:
    """Make a guide tree of sequences, or from distances.

    Parameters
    ----------
    source : DistanceMatrix, or sequences as for `pairalign.distances`
    method : {"upgma", "nj"}
        ``nj`` needs scikit-bio.
    measure, scoring, mode, device, threads, memory_bytes, progress
        As for `pairalign.distances`; not used with distances.

    Returns
    -------
    GuideTree

    Raises
    ------
    DistanceError
        Fewer than three sequences.
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
        See `pairalign.errors`.
    TypeError
        An array instead of a DistanceMatrix.
    ValueError
        An unknown method or measure.

    Notes
    -----
    UPGMA takes time n^2 and 16 bytes a pair besides the distances (2.7 GB for 18,282 sequences),
    neighbour joining time n^3 and 32 bytes a pair.
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r}: expected {' or '.join(METHODS)}")
    if isinstance(source, np.ndarray):
        raise TypeError(
            f"an array of shape {source.shape} has no names: make distances of it first, with "
            "DistanceMatrix.from_square(names, array) or DistanceMatrix(names, condensed)"
        )
    if not isinstance(source, DistanceMatrix):
        source = distances(
            source,
            measure=measure,
            scoring=scoring,
            mode=mode,
            device=device,
            threads=threads,
            memory_bytes=memory_bytes,
            progress=progress,
        )
    return build_tree(source, method)


def build_tree(matrix: DistanceMatrix, method: str) -> GuideTree:
    """Make a guide tree from distances; see `guide_tree`."""
    check_count(len(matrix), "the distances")
    check_method(method)
    return _BUILDERS[method](matrix)


def check_count(count: int, source: str) -> None:
    """Raise DistanceError for fewer sequences than the programs align along a tree."""
    if count < 3:
        found = f"{count} sequence{'' if count == 1 else 's'}"
        raise DistanceError(f"{source}: {found}, a guide tree needs at least 3")


def check_method(method: str) -> None:
    """Raise MissingPackageError if a method needs a package that is not there."""
    if method == "nj":
        try:
            import skbio.tree  # noqa: F401
        except ImportError as error:
            raise MissingPackageError(
                "neighbour joining needs scikit-bio: pip install 'pairalign[nj]'"
            ) from error


def _upgma(matrix: DistanceMatrix) -> GuideTree:
    from scipy.cluster.hierarchy import linkage

    count = len(matrix)
    check_memory(count, 16)  # SciPy works on a copy of what is doubles already
    merges = linkage(matrix.condensed.astype(np.float64), "average")
    children = merges[:, :2].astype(np.int64)
    heights = np.concatenate((np.zeros(count), merges[:, 2] / 2))
    # Rounding can put a merge a hair below one that it contains.
    lengths = np.maximum(heights[count:, None] - heights[children], 0)
    return _ordered(list(matrix.names), children, lengths, merges, "upgma")


def _neighbour_joining(matrix: DistanceMatrix) -> GuideTree:
    from skbio import DistanceMatrix as SkbioMatrix
    from skbio.tree import nj

    count = len(matrix)
    check_memory(count, 32)
    square = matrix.square(np.float64)
    joined = nj(SkbioMatrix(square, [str(index) for index in range(count)]))
    edges = [
        (node, node.parent, max(float(node.length or 0), 0.0))
        for node in joined.postorder(include_self=False)
    ]
    inner = itertools.count(count)
    numbers = {
        id(node): int(node.name) if node.is_tip() else next(inner) for node in joined.postorder()
    }
    neighbours: list[list[tuple[int, float]]] = [[] for _ in numbers]
    for node, parent, length in edges:
        one, other = numbers[id(node)], numbers[id(parent)]
        neighbours[one].append((other, length))
        neighbours[other].append((one, length))
    children, lengths = _root_at_midpoint(neighbours, count)
    heights = np.zeros(2 * count - 1)
    sizes = np.ones(2 * count - 1)
    for merge, pair in enumerate(children):
        heights[count + merge] = (heights[pair] + lengths[merge]).max()
        sizes[count + merge] = sizes[pair].sum()
    linkage = np.column_stack((children, 2 * heights[count:], sizes[count:])).astype(np.float64)
    return _ordered(list(matrix.names), children, lengths, linkage, "nj")


_BUILDERS: dict[str, Callable[[DistanceMatrix], GuideTree]] = {
    "upgma": _upgma,
    "nj": _neighbour_joining,
}


def _root_at_midpoint(
    neighbours: list[list[tuple[int, float]]], count: int
) -> tuple[npt.NDArray[np.int64], Doubles]:
    """Root a tree in the middle of the longest way between two sequences.

    Parameters
    ----------
    neighbours : list of lists of (node, length)
        Of each node; nodes 0 to count-1 are the sequences.
    count : int

    Returns
    -------
    children, lengths
        As in `GuideTree`, merges by height.
    """
    start, _ = _farthest(neighbours, 0, count)
    end, (before, way) = _farthest(neighbours, start, count)
    half = way[end] / 2
    # Go up from the end until the next node is at or above the middle.
    node = end
    while before[node] != start and way[before[node]] > half:
        node = before[node]
    upper = before[node]
    lower_part, upper_part = way[node] - half, half - way[upper]
    # Orient all edges away from the root, which is on the edge of `node` and `upper`.
    parts: dict[int, list[tuple[int, float]]] = {-1: [(node, lower_part), (upper, upper_part)]}
    stack = [(node, upper), (upper, node)]
    while stack:
        here, origin = stack.pop()
        if here >= count:
            parts[here] = [(other, length) for other, length in neighbours[here] if other != origin]
            stack.extend((other, here) for other, _ in parts[here])
    return _number(parts, count)


def _farthest(
    neighbours: list[list[tuple[int, float]]], start: int, count: int
) -> tuple[int, tuple[list[int], list[float]]]:
    """Find the sequence farthest from a node, the first of equals; also all ways there."""
    before = [-1] * len(neighbours)
    way = [0.0] * len(neighbours)
    stack = [start]
    while stack:
        here = stack.pop()
        for other, length in neighbours[here]:
            if other != before[here]:
                before[other] = here
                way[other] = way[here] + length
                stack.append(other)
    others = (leaf for leaf in range(count) if leaf != start)
    return max(others, key=lambda leaf: (way[leaf], -leaf)), (before, way)


def _number(
    parts: dict[int, list[tuple[int, float]]], count: int
) -> tuple[npt.NDArray[np.int64], Doubles]:
    """Give numbers to the inner nodes of a rooted tree, lower ones first.

    Order: height (longest way down), then sequences below, then the first of those.
    """
    order: list[int] = []
    stack = [-1]
    while stack:
        node = stack.pop()
        if node == -1 or node >= count:
            order.append(node)
            stack.extend(child for child, _ in parts[node])
    height: dict[int, float] = dict.fromkeys(range(count), 0.0)
    size = dict.fromkeys(range(count), 1)
    first = {leaf: leaf for leaf in range(count)}
    for node in reversed(order):
        height[node] = max(height[child] + length for child, length in parts[node])
        size[node] = sum(size[child] for child, _ in parts[node])
        first[node] = min(first[child] for child, _ in parts[node])
    order.sort(key=lambda node: (height[node], size[node], first[node]))
    number = {leaf: leaf for leaf in range(count)}
    number.update((node, count + place) for place, node in enumerate(order))
    children = np.array([[number[child] for child, _ in parts[node]] for node in order])
    lengths = np.array([[length for _, length in parts[node]] for node in order])
    return children, lengths


def _ordered(
    names: list[str],
    children: npt.NDArray[np.int64],
    lengths: Doubles,
    linkage: Doubles,
    method: str,
) -> GuideTree:
    """Put the child first that holds the earlier sequence."""
    count = len(names)
    first = np.arange(2 * count - 1)
    children, lengths = children.copy(), lengths.copy()
    for merge in range(count - 1):
        one, other = first[children[merge]]
        if one > other:
            children[merge] = children[merge, ::-1].copy()
            lengths[merge] = lengths[merge, ::-1].copy()
        first[count + merge] = min(one, other)
    for array in (children, lengths, linkage):
        array.flags.writeable = False
    return GuideTree(names, children, lengths, linkage, method)
