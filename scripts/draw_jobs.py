"""Draw the pictures of the pages that users read: SVG files of ``docs/images``.

    python scripts/draw_jobs.py                 # into docs/images
    python scripts/draw_jobs.py -o elsewhere

Each shows what a job gives for the human cytochromes P450 of ``examples``, or how it works. Needs
matplotlib and networkx.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from drawing import (
    DARK,
    INK,
    MARK,
    PALE,
    PATH,
    SHADES,
    arrow,
    box,
    canvas,
    draw_all,
    fit,
    path,
    say,
)
from matplotlib import pyplot

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pairalign  # noqa: E402

EXAMPLE = HERE.parent / "examples" / "cytochrome_p450.fasta"
COLORS = ("#00796b", "#ef6c00", "#5e35b1", "#c2185b", "#1976d2", "#689f38", "#f9a825")


def all_pairs() -> None:
    """Every pair of the set, and one alignment of them."""
    found = pairalign.align(EXAMPLE)
    matrix = found.matrix("identity")
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(9.6, 4.2), gridspec_kw={"width_ratios": (1, 1.25)}
    )
    shown = left.imshow(matrix, cmap="viridis", vmin=0.15, vmax=1)
    left.set(xticks=[], yticks=[], xlabel="57 proteins", ylabel="57 proteins")
    left.set_title("identity of all 1,596 pairs", fontsize=9, color=INK)
    figure.colorbar(shown, ax=left, fraction=0.046, pad=0.03)
    right.axis("off")
    best = found["CYP2A6", "CYP2A7"]
    rows = best.rows()
    right.set_title("and the alignment of each", fontsize=9, color=INK)
    for k in range(5):
        cut = [row[48 * k : 48 * (k + 1)] for row in rows]
        marks = "".join("|" if a == b else "\u00a0" for a, b in zip(*cut, strict=True))
        for j, text in enumerate((cut[0], marks, cut[1])):
            right.text(
                0, 0.93 - 0.2 * k - 0.045 * j, text, fontsize=7.5, family="monospace", color=INK
            )


def modes() -> None:
    """What an alignment may leave out, by mode."""
    names = (
        "global: both sequences whole",
        "semiglobal: end gaps are free",
        "local: the best part",
    )
    ways = ([(0, 0), (3, 3), (3, 4), (10, 8)], [(0, 3), (3, 6), (6, 6), (8, 8)], [(3, 2), (8, 6)])
    for axes, name, way in zip(canvas("", 9, 3, 3), names, ways, strict=True):
        box(axes, 0, 0, 10, 8, PALE, 1)
        path(axes, way)
        say(axes, 5, -0.8, name)
        say(axes, 5, 8.7, "target", 7)
        say(axes, -0.7, 4, "query", 7, rotation=90)
        fit(axes, -1.4, 10.6, -1.4, 9.2)


def overlaps() -> None:
    """The kinds of overlaps."""
    kinds = {
        "dovetail": ((0, 7), (4, 11)),
        "contained": ((2, 8), (0, 11)),
        "contains": ((0, 11), (2, 8)),
        "internal": ((0, 7), (3, 11)),
    }
    for axes, (kind, (query, target)) in zip(canvas("", 9.6, 1.9, 4), kinds.items(), strict=True):
        start, stop = max(query[0], target[0]), min(query[1], target[1])
        if kind == "internal":
            start, stop = 4.2, 6
        box(axes, query[0], 1, query[1] - query[0], 0.8, DARK)
        box(axes, target[0], 3, target[1] - target[0], 0.8, SHADES[0])
        for edge in (start, stop):
            axes.plot([edge, edge], [1.8, 3], color=PATH, linewidth=1.2)
        say(axes, 5.5, 0, kind)
        say(axes, (query[0] + query[1]) / 2, 1.4, "query", 7)
        say(axes, (target[0] + target[1]) / 2, 3.4, "target", 7)
        fit(axes, -0.3, 11.3, -0.6, 4.2)


def guide_tree() -> None:
    """The guide tree of a family."""
    sequences = pairalign.read_fasta(EXAMPLE)
    family = pairalign.SequenceSet.from_strings(
        {one.name: one.residues for one in sequences if one.name.startswith("CYP2")}
    )
    tree = pairalign.tree(family)
    from Bio import Phylo

    figure, axes = pyplot.subplots(figsize=(6.4, 4))
    Phylo.draw(tree.to_biopython(), axes=axes, do_show=False, show_confidence=False)
    axes.set(xlabel="distance by scores", ylabel="", yticks=[], title="")
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()


def distances() -> None:
    """Distances by two measures, of the same pairs."""
    figure, panels = pyplot.subplots(1, 2, figsize=(8, 3.4))
    for axes, measure in zip(panels, ("score", "kimura"), strict=True):
        matrix = pairalign.distance(EXAMPLE, measure=measure)
        shown = axes.imshow(matrix.square(), cmap="viridis_r")
        axes.set(xticks=[], yticks=[])
        axes.set_title(f"--measure {measure}", fontsize=9, color=INK)
        figure.colorbar(shown, ax=axes, fraction=0.046, pad=0.03)


def clusters() -> None:
    """How many clusters each linkage makes, by identity."""
    _, axes = pyplot.subplots(figsize=(6, 3.4))
    shares = [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9]
    for color, linkage in zip(COLORS, ("single", "average", "greedy", "complete"), strict=False):
        counts = [
            len(pairalign.cluster(EXAMPLE, min_identity=share, linkage=linkage).sizes)
            for share in shares
        ]
        axes.plot(shares, counts, marker="o", markersize=3, color=color, label=linkage)
    axes.set(xlabel="--min-identity", ylabel="clusters of 57 proteins", ylim=0)
    axes.legend(fontsize=8, title="--linkage", title_fontsize=8)


def network() -> None:
    """The network of pairs with 40% identity."""
    import networkx

    graph = pairalign.align(EXAMPLE, min_identity=0.4).to_networkx()
    place = networkx.spring_layout(graph, seed=7, k=0.35)
    figure, axes = pyplot.subplots(figsize=(6.4, 4.4))
    axes.axis("off")
    parts = sorted(networkx.connected_components(graph), key=len, reverse=True)
    networkx.draw_networkx_edges(graph, place, ax=axes, edge_color="#b0bec5", width=0.6)
    for number, part in enumerate(parts):
        color = COLORS[number % len(COLORS)] if len(part) > 1 else "#90a4ae"
        networkx.draw_networkx_nodes(
            graph, place, nodelist=sorted(part), ax=axes, node_size=28, node_color=color
        )
    axes.set_title("57 proteins, edges from 40% identity on", fontsize=9, color=INK)
    figure.tight_layout()


def split() -> None:
    """Identities within folds and across them."""
    found = pairalign.align(EXAMPLE)
    folds = pairalign.split(EXAMPLE, min_identity=0.4, folds=3).folds
    same = folds[found.query] == folds[found.target]
    _, axes = pyplot.subplots(figsize=(6, 3.2))
    bins = [k / 40 for k in range(5, 41)]
    axes.hist(found.identity[same], bins, color=SHADES[3], label="pairs of one fold")
    axes.hist(found.identity[~same], bins, color=MARK, alpha=0.8, label="pairs of two folds")
    axes.axvline(0.4, color=PATH, linestyle="--", linewidth=1.2, label="--min-identity 0.4")
    axes.set(xlabel="identity", ylabel="pairs", yscale="log")
    axes.legend(fontsize=8)


def multiple_alignment() -> None:
    """The confidence of each column of a multiple alignment."""
    sequences = pairalign.read_fasta(EXAMPLE)
    family = pairalign.SequenceSet.from_strings(
        {one.name: one.residues for one in sequences if one.name.startswith("CYP2")}
    )
    found = pairalign.msa(family)
    _, axes = pyplot.subplots(figsize=(7.2, 2.4))
    axes.fill_between(range(found.width), found.column_confidence, color=SHADES[2], step="mid")
    axes.set(xlabel="column", ylabel="confidence", ylim=(0, 1), xlim=(0, None))


def confidence() -> None:
    """The same of the whole example, a mean of 15 columns, and how many sequences have each."""
    found = pairalign.msa(EXAMPLE)
    columns, values = np.arange(found.width), found.column_confidence
    residues = np.bincount(found.columns)
    known = np.isfinite(values)
    sums = np.convolve(np.where(known, values, 0), np.ones(15), "same")
    counts = np.maximum(np.convolve(known, np.ones(15), "same"), 1)
    _, axes = pyplot.subplots(figsize=(8, 2.6))
    axes.fill_between(columns, residues / residues.max(), step="mid", color=PALE)
    axes.plot(columns, values, linewidth=0.4, color=DARK)
    axes.plot(columns, sums / counts, color=PATH, linewidth=1.2)
    axes.set(xlim=(0, found.width), ylim=(0, 1.02), xlabel="column", ylabel="confidence")
    title = "thin: columns; thick: mean of 15; shaded: share of sequences with a residue"
    axes.set_title(title, fontsize=8, color=INK)


def shards() -> None:
    """The triangle of pairs, cut into parts of equal work."""
    (axes,) = canvas("", 6.4, 3.6)
    size, parts = 24, 4
    cells = [(row, column) for row in range(size) for column in range(row + 1, size)]
    for number, (row, column) in enumerate(cells):
        box(axes, column, row, 1, 1, SHADES[number * parts // len(cells)], 0.1)
    for part, (text, y) in enumerate(
        zip(("0/4", "1/4", "2/4", "3/4"), (1.5, 5, 9, 15), strict=True)
    ):
        say(axes, 27.5, y, f"--shard {part + 1}/4" if text else "", 8, ha="left")
        arrow(axes, (27.2, y), (24.3, y))
    say(axes, 12, -0.9, "pairs of a set, in the order of output", 8)
    say(axes, 6, 17, "pairalign merge makes\nthe bytes of a single run", 8)
    fit(axes, -0.5, 36, -1.6, 24.4)


DRAWINGS: dict[str, Callable[[], None]] = {
    "job-all-pairs": all_pairs,
    "job-modes": modes,
    "job-overlaps": overlaps,
    "job-guide-tree": guide_tree,
    "job-distances": distances,
    "job-clusters": clusters,
    "job-network": network,
    "job-split": split,
    "job-msa": multiple_alignment,
    "job-shards": shards,
    "msa-confidence": confidence,
}


def main(arguments: list[str] | None = None) -> None:
    draw_all(DRAWINGS, __doc__.splitlines()[0], arguments)


if __name__ == "__main__":
    main()
