"""Distances as functions return them: files, heat maps, objects of other packages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.base.biopython import check_biopython
from pairalign.base.error_types import MissingPackageError
from pairalign.base.frames import make_frame
from pairalign.base.notebooks import SHOWN, html_table
from pairalign.results.annotated_data import CONNECTIVITIES, DISTANCES, make_anndata
from pairalign.results.base_result import Result
from pairalign.trees import (
    distance_matrix,
    group_distances,
    rectangular_distances,
    sparse_distances,
)

if TYPE_CHECKING:
    import pandas
    from anndata import AnnData
    from Bio.Phylo.TreeConstruction import DistanceMatrix as BiopythonMatrix

    from pairalign.base.pictures import Picture


class DistanceMatrix(Result, distance_matrix.DistanceMatrix):
    def _repr_html_(self) -> str:
        """Show the distances of the first sequences, for notebooks."""
        shown = min(len(self), SHOWN + 1)
        rows = ((self.names[k], *self.row(k)[:SHOWN].tolist()) for k in range(shown))
        return html_table(self, ["", *self.names[:SHOWN]], rows)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the distances, as ``pairalign distance`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses text.
        format : {"phylip", "tsv", "csv", "npy", "column"}, optional
            Default: by the end of the name.

        Raises
        ------
        FormatError, OutputError
            There is no such format, it cannot hold the result, or the disk is full.
        """
        from pairalign.formats.distances import write_distances

        write_distances(path, self, format)

    def plot(self) -> Picture:
        """Draw a heat map, with the UPGMA tree that orders it beside it (needs matplotlib).

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it, ``savefig`` writes it.

        Raises
        ------
        MissingPackageError
            matplotlib is not installed.
        """
        from pairalign.trees.tree_drawing import heat_map

        return heat_map(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a ``pandas.DataFrame``.

        Returns
        -------
        pandas.DataFrame
            `square`; its index and its columns are the names.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        return make_frame(self.square(), self.names, self.names)

    def to_anndata(self) -> AnnData:
        """Convert to ``anndata.AnnData`` (``pip install pairalign[anndata]``).

        Returns
        -------
        anndata.AnnData
            Its observations are the sequences, ``obsp["distances"]`` is `square`, and
            ``uns["pairalign"]`` has the measure.

        Raises
        ------
        MissingPackageError
            anndata is not installed.
        """
        return make_anndata(self.names, {DISTANCES: self.square()}, {"measure": self.measure})

    def to_biopython(self) -> BiopythonMatrix:
        """Convert to ``Bio.Phylo.TreeConstruction.DistanceMatrix``."""
        check_biopython("such a matrix")
        from Bio.Phylo.TreeConstruction import DistanceMatrix as BiopythonMatrix

        rows = [self.row(index)[: index + 1].tolist() for index in range(len(self))]
        return BiopythonMatrix(list(self.names), rows)  # type: ignore[no-untyped-call]

    def similarities(self) -> DistanceMatrix:
        """Return the identities of a measure that is 1 less an identity; 1 with itself."""
        return DistanceMatrix.of(super().similarities())

    def distances(self) -> DistanceMatrix:
        """Return the distances whose `similarities` these are; distances as they are."""
        return DistanceMatrix.of(super().distances())


class GroupDistances(DistanceMatrix, group_distances.GroupDistances):
    def write_table(self, path: str | os.PathLike[str]) -> None:
        """Write `rows` as TSV, as ``--matches`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses.

        Raises
        ------
        OutputError
            The file cannot be written.
        """
        from pairalign.formats.group_table import write_group_table

        write_group_table(path, self)


class RectangularDistances(Result, rectangular_distances.RectangularDistances):
    def _repr_html_(self) -> str:
        """Show the distances of the first sequences, for notebooks."""
        shown = zip(self.query_names, self.values[: SHOWN + 1, :SHOWN].tolist(), strict=False)
        rows = ((name, *values) for name, values in shown)
        return html_table(self, ["", *self.target_names[:SHOWN]], rows)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the distances, as ``pairalign distance`` of two sets does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses text.
        format : {"tsv", "csv", "column", "npy", "npz", "parquet"}, optional
            Default: by the end of the name.

        Raises
        ------
        FormatError, OutputError
            There is no such format, it cannot hold the result, or the disk is full.
        """
        from pairalign.formats.distances import write_distances

        write_distances(path, self, format)

    def plot(self) -> Picture:
        """Draw a heat map in the order of the inputs (needs matplotlib).

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it, ``savefig`` writes it.

        Raises
        ------
        MissingPackageError
            matplotlib is not installed.
        """
        from pairalign.trees.tree_drawing import heat_map

        return heat_map(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a ``pandas.DataFrame``.

        Returns
        -------
        pandas.DataFrame
            Its index are the queries, its columns the targets.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        return make_frame(self.values, self.query_names, self.target_names)

    def to_anndata(self) -> AnnData:
        """Convert to ``anndata.AnnData`` (``pip install pairalign[anndata]``).

        Returns
        -------
        anndata.AnnData
            Its observations are the queries, its variables the targets, ``X`` the distances, and
            ``uns["pairalign"]`` has the measure.

        Raises
        ------
        MissingPackageError
            anndata is not installed.
        """
        about = {"measure": self.measure}
        return make_anndata(self.query_names, {DISTANCES: self.values}, about, self.target_names)


class SparseDistances(Result, sparse_distances.SparseDistances):
    def _repr_html_(self) -> str:
        """Show the first pairs as a table, for notebooks."""
        columns = self.queries, self.targets, self.values
        rows = zip(*(column[: SHOWN + 1].tolist() for column in columns), strict=True)
        named = (
            (self.names[query], self.other_names[target], value) for query, target, value in rows
        )
        return html_table(self, ["query", "target", "distance"], named)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the pairs, as ``pairalign distance`` with a limit does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses text.
        format : {"npz", "tsv", "csv", "parquet"}, optional
            Default: by the end of the name.

        Raises
        ------
        FormatError, OutputError
            There is no such format, it cannot hold the result, or the disk is full.
        """
        from pairalign.formats.sparse_distance_files import write_sparse

        write_sparse(path, self, format)

    def csr(self) -> Any:
        """Return the matrix of `csr_arrays` as SciPy has it.

        Returns
        -------
        scipy.sparse.csr_matrix

        Raises
        ------
        MissingPackageError
            SciPy is not installed.
        """
        try:
            from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
        except ImportError:
            raise MissingPackageError("a CSR matrix needs SciPy: pip install scipy") from None
        data, indices, indptr = self.csr_arrays()
        return csr_matrix((data, indices, indptr), shape=self.shape)

    def to_anndata(self) -> AnnData:
        """Convert to ``anndata.AnnData`` (``pip install pairalign[anndata]``).

        Returns
        -------
        anndata.AnnData
            Its observations are the sequences; ``obsp["distances"]`` is `csr`, distances plus 1,
            and ``obsp["connectivities"]`` has ``1 - distance / (limit + 1)`` of pairs, nothing of a
            sequence with itself. Of two sets the variables are the targets, and ``X`` is `csr`.
            ``uns["pairalign"]`` has measure and limit.

        Raises
        ------
        MissingPackageError
            anndata or SciPy is not installed.
        """
        near = self.csr()
        matrices = {DISTANCES: near}
        if self.target_names is None:
            weights = near.astype(np.float32)
            weights.data = 1 - (weights.data - 1) / (self.limit + 1)
            weights.setdiag(0)
            weights.eliminate_zeros()
            matrices[CONNECTIVITIES] = weights
        about = {"measure": self.measure, "limit": self.limit}
        return make_anndata(self.names, matrices, about, self.target_names)
