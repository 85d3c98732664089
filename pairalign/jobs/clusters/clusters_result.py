"""Clusters as functions return them: files and pictures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from pairalign.base.notebooks import html_table
from pairalign.clusters import clusters
from pairalign.results.alignments_result import Alignments
from pairalign.results.tabular import Result

if TYPE_CHECKING:
    from pairalign.base.pictures import Picture


class Clusters(Result, clusters.Clusters):
    alignments: Alignments
    edges: Alignments | None

    def _repr_html_(self) -> str:
        """Show the first clusters as a table, for notebooks."""
        names, sizes = self.sequences.names, self.sizes.tolist()
        stands = zip(self.representatives.tolist(), sizes, strict=True)
        rows = ((number, names[index], size) for number, (index, size) in enumerate(stands))
        return html_table(self, ["cluster", "representative", "sequences"], rows)

    def write(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        sizein: bool = False,
        sizeout: bool = False,
    ) -> None:
        """Write the clusters, as ``pairalign cluster`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses text.
        format : {"tsv", "csv", "uc", "clstr", "fasta", "otutab", "biom", "biom2"}, optional
            Default: by the end of the name.
        sizein, sizeout : bool
            As ``--sizein`` and ``--sizeout``.

        Raises
        ------
        FormatError, OutputError
            There is no such format, it cannot hold the result, or the disk is full.
        """
        from pairalign.jobs.clusters.cluster_files import write_clusters

        write_clusters(path, self, format, sizein=sizein, sizeout=sizeout)

    def plot(self) -> Picture:
        """Draw the sizes of the clusters, the largest first, by factors of 10 (needs matplotlib).

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it, ``savefig`` writes it.

        Raises
        ------
        MissingPackageError
            matplotlib is not installed.
        """
        from pairalign.base.pictures import DOTS, Picture

        figure = Picture(figsize=(6, 4), dpi=DOTS, layout="constrained")
        axes, ranked = figure.add_subplot(), np.sort(self.sizes)[::-1]
        axes.step(np.arange(1, len(ranked) + 1), ranked, where="mid", color="black", marker=".")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("cluster, the largest first")
        axes.set_ylabel("sequences")
        title = f"{len(ranked):,} clusters of {int(ranked.sum()):,} sequences"
        axes.set_title(f"{title}, {self.linkage} linkage", loc="left", fontsize=10)
        return figure
