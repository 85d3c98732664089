"""Pictures of clusters (needs matplotlib: the extra ``plot``)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.base.pictures import DOTS, Picture


def draw_sizes(sizes: npt.NDArray[np.int64], linkage: str) -> Picture:
    """Draw how many sequences clusters have, the largest first, both axes by factors of 10.

    Parameters
    ----------
    sizes : ndarray of int64, shape (clusters,)
    """
    figure = Picture(figsize=(6, 4), dpi=DOTS, layout="constrained")
    axes = figure.add_subplot()
    ranked = np.sort(sizes)[::-1]
    axes.step(np.arange(1, len(ranked) + 1), ranked, where="mid", color="black", marker=".")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("cluster, the largest first")
    axes.set_ylabel("sequences")
    title = f"{len(sizes):,} clusters of {int(sizes.sum()):,} sequences, {linkage} linkage"
    axes.set_title(title, loc="left", fontsize=10)
    return figure
