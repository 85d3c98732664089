"""Pictures of distances and trees (needs matplotlib: the extra ``plot``)."""

from __future__ import annotations

import numpy as np

from pairalign.base.arrays import Float32s, Int64s
from pairalign.base.error_types import cut_name
from pairalign.base.pictures import DOTS, Axes, LineCollection, Picture, picture_bytes
from pairalign.trees.distance_matrix import AnyDistances, DistanceMatrix, RectangularDistances
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_joining import equal_rows, join_closest

_NAMED = 120
"""More sequences than these are drawn without names in a heat map: they could not be read."""
_NAMED_LEAVES = 2000
_NAME_POINTS = 7.0
_PIXELS = 2400
"""Most pixels of a heat map's side; a larger matrix is averaged in blocks."""


def draw_distances(matrix: AnyDistances, format: str = "svg") -> bytes:
    """Return `heat_map` as a file.

    Parameters
    ----------
    format : {"svg", "png", "pdf"}
    """
    return picture_bytes(heat_map(matrix), format)


def draw_tree(tree: GuideTree, format: str = "svg") -> bytes:
    """Return `dendrogram` as a file; `format` as for `draw_distances`."""
    return picture_bytes(dendrogram(tree), format)


def heat_map(matrix: AnyDistances) -> Picture:
    """Draw a heat map of the distances in the order of their UPGMA tree, with the tree beside it.

    Of similarities the tree is that of the distances, and equal sequences have the same color.
    Distances of two sets are in the order of the inputs, without a tree.

    Parameters
    ----------
    matrix : DistanceMatrix or RectangularDistances
        Of at least two sequences; distances or similarities.
    """
    if isinstance(matrix, RectangularDistances):
        return _rectangle_map(matrix)
    assert isinstance(matrix, DistanceMatrix)
    are_similarities = matrix.own == 1
    distances = matrix.distances()
    tree = join_closest(distances, equal_rows(distances), "upgma")
    order = np.array(tree.leaves())
    count = len(order)
    named = count <= _NAMED
    # Large maps have a pixel for each sequence, or each block of them: none is lost.
    side = max(6.0, 0.14 * count) if named else max(10.0, min(count, _PIXELS) / DOTS)
    larger = 1.0 if named else side / 9
    label = 0.075 * max(len(cut_name(name)) for name in matrix.names) + 0.1 if named else 0.1
    branches = max(1.5, side / 4)
    width, height = branches + side + label + 1.1, side + (label if named else 0.1) + 0.6
    figure = Picture(figsize=(width, height), dpi=DOTS)
    bottom = (height - side - 0.45) / height
    left = figure.add_axes((0.1 / width, bottom, branches / width, side / height))
    map_axes = figure.add_axes(((0.1 + branches) / width, bottom, side / width, side / height))
    bar = figure.add_axes(
        ((0.1 + branches + side + label + 0.15) / width, bottom, 0.2 / width, side / height / 2)
    )
    _draw_branches(left, tree, 72 * side / count)
    _draw_map(map_axes, bar, _blocks(matrix, order), (count, count), are_similarities, larger)
    title = f"{count:,} sequences, {matrix.measure or 'distances'}"
    map_axes.set_title(title, loc="left", fontsize=10 * larger)
    names = [cut_name(matrix.names[index]) for index in order] if named else []
    _label(map_axes, names, names)
    return figure


def _rectangle_map(distances: RectangularDistances) -> Picture:
    """Draw a heat map of the distances of two sets."""
    sides = [
        [cut_name(name) for name in names] if len(names) <= _NAMED else []
        for names in (distances.query_names, distances.target_names)
    ]
    high, wide = (
        max(2.0, 0.14 * size) if size <= _NAMED else max(10.0, min(size, _PIXELS) / DOTS)
        for size in distances.shape
    )
    right, below = (0.075 * max(map(len, names), default=0) + 0.1 for names in sides)
    width, height = 0.1 + wide + right + 1.1, 0.45 + high + below
    figure = Picture(figsize=(width, height), dpi=DOTS)
    bottom = below / height
    map_axes = figure.add_axes((0.1 / width, bottom, wide / width, high / height))
    bar_left = (0.1 + wide + right + 0.15) / width
    bar = figure.add_axes((bar_left, bottom, 0.2 / width, high / height / 2))
    _draw_map(
        map_axes, bar, _averaged(distances.values), distances.shape, distances.are_similarities, 1.0
    )
    rows, columns = distances.shape
    title = f"{rows:,} by {columns:,} sequences, {distances.measure or 'distances'}"
    map_axes.set_title(title, loc="left", fontsize=10)
    _label(map_axes, *sides)
    return figure


def _draw_map(
    axes: Axes,
    bar: Axes,
    values: Float32s,
    shape: tuple[int, int],
    are_similarities: bool,
    larger: float,
) -> None:
    """Draw values as colors, and what these mean."""
    picture = axes.imshow(
        values,
        cmap="viridis" if are_similarities else "viridis_r",
        vmin=None if are_similarities else 0,
        vmax=1 if are_similarities else None,
        aspect="auto",
        interpolation="nearest",
        extent=(-0.5, shape[1] - 0.5, shape[0] - 0.5, -0.5),
    )
    kind = "similarity" if are_similarities else "distance"
    assert axes.figure is not None
    axes.figure.colorbar(picture, cax=bar).set_label(kind, fontsize=8 * larger)
    bar.tick_params(labelsize=7 * larger)


def dendrogram(tree: GuideTree) -> Picture:
    """Draw a tree from left to right, with names as far as they can be read."""
    count = len(tree)
    named = count <= _NAMED_LEAVES
    inner = max(2.5, 0.14 * count) if named else 60.0
    height = inner + 0.8
    label = 0.075 * max(len(cut_name(name)) for name in tree.names) + 0.2 if named else 0.1
    width = 8.2 + label
    figure = Picture(figsize=(width, height), dpi=100 if count > 200 else DOTS)
    axes = figure.add_axes((0.3 / width, 0.5 / height, 7.8 / width, inner / height))
    _draw_branches(axes, tree, 72 * inner / count)
    axes.set_title(f"{count:,} sequences, {tree.method}", loc="left", fontsize=10)
    axes.get_xaxis().set_visible(True)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_xlabel("distance from the root", fontsize=8)
    axes.spines["bottom"].set_visible(True)
    if named:
        depths = tree.depths()
        for row, leaf in enumerate(tree.leaves()):
            axes.annotate(
                cut_name(tree.names[leaf]),
                (depths[leaf], row),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=_NAME_POINTS,
                annotation_clip=False,
                parse_math=False,
            )
    return figure


def _draw_branches(axes: Axes, tree: GuideTree, points: float) -> None:
    """Draw the branches with the root at the left; sequence k from the top is at height k.

    Where a sequence has too few points of height for a line and a gap, the branches to sequences
    are pale: they would hide the others.
    """
    count = len(tree)
    depths = tree.depths()
    heights = np.zeros(len(depths))
    heights[tree.leaves()] = np.arange(count)
    for merge, pair in enumerate(tree.children):
        heights[count + merge] = heights[pair].mean()
    # From each node to its parent, and a line along each parent.
    parent = np.zeros(2 * count - 1, np.int64)
    parent[tree.children] = np.arange(count, 2 * count - 1)[:, None]
    away = np.empty((2 * count - 2, 2, 2))
    away[:, 0, 0], away[:, 1, 0] = depths[parent[:-1]], depths[:-1]
    away[:, :, 1] = heights[:-1, None]
    along = np.empty((count - 1, 2, 2))
    along[:, :, 0] = depths[count:, None]
    along[:, :, 1] = heights[tree.children]
    crowded = points < 3
    width = min(0.9, max(0.4, 0.5 * points))
    for lines, color in (
        (away[:count], "0.75" if crowded else "black"),
        (away[count:], "black"),
        (along, "black"),
    ):
        axes.add_collection(
            LineCollection(list(lines), colors=color, linewidths=width, capstyle="projecting")
        )
    axes.set_xlim(0, max(float(depths.max()), 1e-12))
    axes.set_ylim(count - 0.5, -0.5)
    axes.get_xaxis().set_visible(False)
    axes.get_yaxis().set_visible(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _blocks(matrix: DistanceMatrix, order: Int64s) -> Float32s:
    """Distances in an order, averaged over blocks if there are more than fit into the picture."""
    count = len(order)
    size = -(-count // _PIXELS)
    starts = np.arange(0, count, size)
    columns = np.diff(np.append(starts, count))
    blocks = np.zeros((len(starts), len(starts)), np.float32)
    for block, start in enumerate(starts):
        rows = order[start : start + size]
        summed = sum(np.add.reduceat(matrix.row(int(row))[order], starts) for row in rows)
        blocks[block] = summed / (columns * len(rows))
    return blocks


def _averaged(values: Float32s) -> Float32s:
    """Values of two sets, averaged over blocks if there are more than fit into the picture."""
    for axis, count in enumerate(values.shape):
        starts = np.arange(0, count, -(-count // _PIXELS))
        sizes = np.diff(np.append(starts, count)).astype(np.float32)
        values = (np.add.reduceat(values, starts, axis) / np.expand_dims(sizes, 1 - axis)).astype(
            np.float32
        )
    return values


def _label(axes: Axes, names: list[str], columns: list[str]) -> None:
    axes.set_xticks(range(len(columns)))
    axes.set_yticks(range(len(names)))
    axes.yaxis.tick_right()
    axes.set_xticklabels(columns, rotation=90, fontsize=_NAME_POINTS, parse_math=False)
    axes.set_yticklabels(names, fontsize=_NAME_POINTS, parse_math=False)
    axes.tick_params(length=0)
