"""Guide trees from distances: UPGMA, MAFFT's mixed linkage, neighbour joining (scikit-bio).

Neighbour joining gives a tree without a root; it is rooted in the middle of the longest way
between two sequences. Branches that neighbour joining makes shorter than nothing get length 0.

Equal sequences are joined first, whatever the method: programs that align each of them once, as
FAMSA does, need them side by side. Where the sequences are not known, those are taken as equal
whose distance is 0 and that are equally far from all others.

Equal distances are resolved by the order of the sequences (`pairalign.trees.tree_joining`;
scikit-bio goes through the matrix in a fixed order, and of several longest ways the first counts).
So they are put in their canonical order, or, where they are not known, in that of their names: the
same tree for any order of the input.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pairalign.base.arrays import Doubles, Int64s
from pairalign.base.error_types import DistanceError, WrongTypeError
from pairalign.base.function_options import takes
from pairalign.base.packages import check_package
from pairalign.base.texts import counted
from pairalign.jobs.distances.distance import measure_run, plan_distances
from pairalign.jobs.distances.measures import find_measure
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import AnyScoring, Sequences
from pairalign.jobs.run.memory import PAIR_BYTES, check_memory, distance_bytes
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.run_request import RunRequest
from pairalign.requests.resources import Resources
from pairalign.requests.shared import ProblemOptions
from pairalign.requests.tree_request import TreeArguments, TreeRequest
from pairalign.results.tree_result import GuideTree
from pairalign.sequences.sets import SequenceSet
from pairalign.trees import tree as tree_data
from pairalign.trees.distance_matrix import DistanceMatrix, RectangularDistances
from pairalign.trees.tree_joining import Firsts, join_closest, join_in_order, ordered_tree

if TYPE_CHECKING:
    from typing_extensions import Unpack

Parts = dict[int, list[tuple[int, float]]]
"""Of each inner node of a rooted tree its two children and the ways to them."""

_ROOT = -1

METHOD_BYTES = {"upgma": 12, "mixed": 12, "nj": 36}
"""What making a tree takes for each pair, besides the distances."""


@takes(TreeArguments, TreeRequest, ProblemOptions, Resources)
def tree(
    source: DistanceMatrix | Sequences,
    *,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[TreeArguments],
) -> GuideTree:
    """Make a guide tree of sequences, or from distances.

    Parameters
    ----------
    source : DistanceMatrix, or sequences as for `pairalign.distance`
        Sequences are aligned for their distances first.
    scoring, mode, progress
        As for `pairalign.distance`; like the options but `method`, not used with distances.

    Returns
    -------
    GuideTree

    Raises
    ------
    DistanceError
        Fewer than three sequences.
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
    WrongTypeError
        An array instead of a DistanceMatrix.
    UsageError
        An unknown method or measure.

    Notes
    -----
    Equal sequences are joined first. UPGMA and mixed linkage take time n^2 in practice and 12 bytes
    a pair besides the distances (2.0 GB for 18,282 sequences), neighbour joining time n^3 and 36
    bytes a pair.

    Examples
    --------
    >>> import pairalign
    >>> globins = {
    ...     "HBB": "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPK",
    ...     "HBD": "MVHLTPEEKTAVNALWGKVNVDAVGGEALGRLLVVYPWTQRFFESFGDLSSPDAVMGNPK",
    ...     "HBZ": "MSLTKTERTIIVSMWAKISTQADTIGTETLERLFLSHPQTKTYFPHFDLHPGSAQLRAHG",
    ... }
    >>> print(pairalign.tree(globins).newick(), end="")
    ((HBB:0.0333333351,HBD:0.0333333351):0.298563208,HBZ:0.331896544);
    """
    call = Call(tree, options, source, scoring=scoring, mode=mode, progress=progress)  # type: ignore[arg-type]
    request = call.request(TreeRequest)
    if isinstance(source, RectangularDistances):
        raise DistanceError("distances of two sets have no tree: give those of one")
    if isinstance(source, np.ndarray):
        raise WrongTypeError(
            f"an array of shape {source.shape} has no names: make distances of it first, with "
            "DistanceMatrix.from_square(names, array) or DistanceMatrix(names, condensed)"
        )
    if isinstance(source, DistanceMatrix):
        return build_tree(source, request.method)
    problem = call.read()
    run, tree_bytes = RunRequest(resources=call.resources), METHOD_BYTES[request.method]
    job = plan_distances(request.distances, problem, run, tree_bytes)
    matrix = measure_run(job, find_measure(request.measure))
    assert isinstance(matrix, DistanceMatrix)
    return build_tree(matrix, request.method, problem.queries)


def build_tree(
    matrix: DistanceMatrix, method: str, sequences: SequenceSet | None = None
) -> GuideTree:
    """Make a guide tree from distances; see `tree`.

    Parameters
    ----------
    method : str
        One of `TREE_METHODS`.
    sequences : SequenceSet, optional
        What the distances are of, in the same order: tells which are equal, and decides ties.
    """
    check_count(len(matrix), "the distances")
    check_method(method)
    check_memory(len(matrix), METHOD_BYTES[method])
    join = partial(join_closest, method=method) if method != "nj" else _neighbour_joining
    return GuideTree.of(join_in_order(matrix, sequences, method, join))


def check_tree_memory(count: int, memory_bytes: int | None, method: str) -> None:
    """Raise CapacityError if the limit is too small for distances and their tree together."""
    distance_bytes(count, memory_bytes, PAIR_BYTES + METHOD_BYTES[method])


def check_count(count: int, source: str) -> None:
    """Raise DistanceError for fewer sequences than the programs align along a tree."""
    if count < 3:
        raise DistanceError(
            f"{source}: {counted(count, 'sequence')}, a guide tree needs at least 3"
        )


def check_method(method: str) -> None:
    """Raise MissingPackageError if a method needs a package that is not there."""
    if method == "nj":
        check_package("skbio.tree", "neighbour joining", "scikit-bio", "'pairalign[nj]'")


def _neighbour_joining(matrix: DistanceMatrix, first: Firsts) -> tree_data.GuideTree:
    count = len(matrix)
    parts = _join_neighbours(matrix, np.flatnonzero(first == np.arange(count)).tolist())
    _hang_copies(parts, first)
    children, lengths = _number(parts, count)
    heights = np.zeros(2 * count - 1)
    sizes = np.ones(2 * count - 1)
    for merge, pair in enumerate(children):
        heights[count + merge] = (heights[pair] + lengths[merge]).max()
        sizes[count + merge] = sizes[pair].sum()
    linkage = np.column_stack((children, 2 * heights[count:], sizes[count:])).astype(np.float64)
    return ordered_tree(list(matrix.names), children, lengths, linkage, "nj")


def _join_neighbours(matrix: DistanceMatrix, leaves: list[int]) -> Parts:
    """Join some of the sequences, and root their tree."""
    from skbio import DistanceMatrix as SkbioMatrix
    from skbio.tree import nj

    count = len(matrix)
    if len(leaves) == 1:
        return {}
    if len(leaves) == 2:
        return {_ROOT: [(leaf, matrix[leaves[0], leaves[1]] / 2) for leaf in leaves]}
    square = matrix.square(np.float64)
    if len(leaves) < count:
        square = square[np.ix_(leaves, leaves)]
    joined = nj(SkbioMatrix(square, [str(leaf) for leaf in leaves]))
    inner = itertools.count(count)
    numbers = {
        id(node): int(node.name) if node.is_tip() else next(inner) for node in joined.postorder()
    }
    neighbours: list[list[tuple[int, float]]] = [[] for _ in range(2 * count)]
    for node in joined.postorder(include_self=False):
        child, parent = numbers[id(node)], numbers[id(node.parent)]
        length = max(float(node.length or 0), 0.0)
        neighbours[child].append((parent, length))
        neighbours[parent].append((child, length))
    return _root_at_midpoint(neighbours, leaves, count)


def _hang_copies(parts: Parts, first: Firsts) -> None:
    """Put the copies of each sequence beside it, at no distance; `first` as for `build_tree`."""
    count = len(first)
    inner = itertools.count(2 * count)  # above all that are there
    groups: dict[int, int] = {}  # the node that stands for a sequence and its copies so far
    for copy in np.flatnonzero(first != np.arange(count)).tolist():
        leaf = int(first[copy])
        node = next(inner)
        parts[node] = [(groups.get(leaf, leaf), 0.0), (copy, 0.0)]
        groups[leaf] = node
    if _ROOT not in parts:  # nothing but copies of one sequence
        parts[_ROOT] = parts.pop(groups[int(first[0])])
        return
    for node in [node for node in parts if node < 2 * count]:
        parts[node] = [(groups.get(child, child), length) for child, length in parts[node]]


def _root_at_midpoint(
    neighbours: list[list[tuple[int, float]]], leaves: list[int], count: int
) -> Parts:
    """Root a tree in the middle of the longest way between two sequences.

    Parameters
    ----------
    neighbours : list of lists of (node, length)
        Of each node; nodes below `count` are sequences.
    leaves : list of int
        The sequences that are in the tree.
    """
    start, _ = _farthest(neighbours, leaves[0], leaves)
    end, (before, way) = _farthest(neighbours, start, leaves)
    half = way[end] / 2
    # Go up from the end until the next node is at or above the middle.
    node = end
    while before[node] != start and way[before[node]] > half:
        node = before[node]
    upper = before[node]
    lower_part, upper_part = way[node] - half, half - way[upper]
    # Orient all edges away from the root, which is on the edge of `node` and `upper`.
    parts: Parts = {_ROOT: [(node, lower_part), (upper, upper_part)]}
    stack = [(node, upper), (upper, node)]
    while stack:
        here, origin = stack.pop()
        if here >= count:
            parts[here] = [(other, length) for other, length in neighbours[here] if other != origin]
            stack.extend((other, here) for other, _ in parts[here])
    return parts


def _farthest(
    neighbours: list[list[tuple[int, float]]], start: int, leaves: list[int]
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
    others = (leaf for leaf in leaves if leaf != start)
    return max(others, key=lambda leaf: (way[leaf], -leaf)), (before, way)


def _number(parts: Parts, count: int) -> tuple[Int64s, Doubles]:
    """Give numbers to the inner nodes of a rooted tree, lower ones first.

    Order: height (longest way down), then sequences below, then the first of those.
    """
    order: list[int] = []
    stack = [_ROOT]
    while stack:
        node = stack.pop()
        if node == _ROOT or node >= count:
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
