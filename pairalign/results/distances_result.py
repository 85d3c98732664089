"""Distances as functions return them: files, heat maps, objects of other packages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int64s
from pairalign.base.choices import SIMILARITY_MEASURES
from pairalign.base.notebooks import SHOWN, html_table
from pairalign.base.packages import check_biopython, make_frame, needed
from pairalign.base.texts import quoted
from pairalign.formats.names import table_format
from pairalign.formats.output import open_table
from pairalign.results.tabular import Result
from pairalign.trees import distance_matrix, sparse_distances
from pairalign.trees.distance_matrix import first_place
from pairalign.trees.tree_joining import cluster, cut_tree, equal_rows

if TYPE_CHECKING:
    import pandas
    from anndata import AnnData
    from Bio.Phylo.TreeConstruction import DistanceMatrix as BiopythonMatrix

    from pairalign.base.pictures import Picture


class Distances(distance_matrix.Distances):
    """Distances that are written and converted."""

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the distances, as ``pairalign distance`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses text.
        format : {"phylip", "tsv", "csv", "npy", "column", "npz", "parquet"}, optional
            Default: by the end of the name. All pairs of one set have no npz and Parquet, those of
            two no PHYLIP, and those within a limit are written as npz, a table or Parquet.

        Raises
        ------
        FormatError, OutputError
            There is no such format, it cannot hold the result, or the disk is full.
        """
        from pairalign.formats.distances import write_distances

        write_distances(path, self, format)

    def to_anndata(self) -> AnnData:
        """Convert to ``anndata.AnnData`` (``pip install pairalign[anndata]``).

        Returns
        -------
        anndata.AnnData
            Its observations are the sequences, and ``uns["pairalign"]`` has the measure and any
            limit. Of one set ``obsp["distances"]`` is `square`; of two the variables are the
            targets, and ``X`` the distances. Within a limit they are `csr`, distances plus 1, and
            of one set ``obsp["connectivities"]`` has ``1 - distance / (limit + 1)`` of pairs,
            nothing of a sequence with itself.

        Raises
        ------
        MissingPackageError
            anndata, or within a limit SciPy, is not installed.
        """
        with needed("this", "anndata", "'pairalign[anndata]'"):
            from anndata import AnnData
            from pandas import DataFrame
        names, others = self.sides
        rows, notes = DataFrame(index=names), {"pairalign": self.facts}
        matrices = self._matrices()
        if others is names:
            return AnnData(obs=rows, obsp=matrices, uns=notes)
        return AnnData(matrices["distances"], rows, DataFrame(index=others), uns=notes)

    def _matrices(self) -> dict[str, Any]:
        """Return the distances as a matrix, and what is made of it."""
        return {"distances": np.asarray(self)}


class DistancesOfAllPairs(Distances, distance_matrix.AnyDistances):
    """Those of all pairs, which are shown and drawn."""

    def _repr_html_(self) -> str:
        """Show the distances of the first sequences, for notebooks."""
        names, others = self.sides
        first = enumerate(names[: SHOWN + 1])
        rows = ((name, *self.row(index)[:SHOWN].tolist()) for index, name in first)
        return html_table(self, ["", *others[:SHOWN]], rows)

    def plot(self) -> Picture:
        """Draw a heat map (needs matplotlib).

        One set has the UPGMA tree that orders it beside it; two are in the order of the inputs.

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
            The matrix; its index and its columns are the names.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        return make_frame(np.asarray(self), *self.sides)


class DistanceMatrix(Result, DistancesOfAllPairs, distance_matrix.DistanceMatrix):
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


@dataclass(frozen=True, eq=False, repr=False)
class GroupDistances(DistanceMatrix):
    """Distances of groups, as proteomes and genomes.

    Attributes
    ----------
    names : list of str
        Of the groups.
    condensed, measure, own, summary
        As those of `DistanceMatrix`.
    sizes : ndarray of int64, shape (n,)
        Sequences of each group.
    columns : dict of str to ndarray, shape (n(n-1)/2,)
        What else is known of the pairs of `condensed`: of proteomes ``matched``, how many proteins
        are each other's best hits, and their share of both, ``query_share`` and ``target_share``;
        of genomes ``ani``, ``tani``, and of both the share of residues that are aligned,
        ``query_coverage`` and ``target_coverage``.
    """

    sizes: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    def __repr__(self) -> str:
        count = int(self.sizes.sum())
        return f"<GroupDistances: {len(self)} groups of {count:,} sequences, {self.measure}>"

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield what the table has of each two groups.

        Yields
        ------
        tuple
            Names of both, their distance, and the values of `columns`.
        """
        for index, name in enumerate(self.names):
            start = first_place(index, len(self))
            for other in range(index + 1, len(self)):
                place = start + other - index - 1
                more = (column[place].item() for column in self.columns.values())
                yield name, self.names[other], float(self.condensed[place]), *more

    def clusters(self, max_distance: float) -> list[list[str]]:
        """Cut the UPGMA tree of the groups: clusters that were joined within a distance.

        Parameters
        ----------
        max_distance : float
            The largest distance at which two clusters were joined that stay together.

        Returns
        -------
        list of list of str
            Names of the groups of each cluster, in their order.
        """
        leaders = cut_tree(cluster(self.condensed, equal_rows(self), "upgma"), max_distance)
        members: dict[int, list[str]] = {}
        for leader, name in zip(leaders.tolist(), self.names, strict=True):
            members.setdefault(leader, []).append(name)
        return list(members.values())

    def write_table(self, path: str | os.PathLike[str]) -> None:
        """Write `rows` as a table, as ``--matches`` does; of a measure of identity the identities.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses.

        Raises
        ------
        OutputError
            The file cannot be written.
        """
        is_identity = self.measure in SIMILARITY_MEASURES
        heads = ("query", "target", "identity" if is_identity else "distance", *self.columns)
        with open_table(path, table_format(path)) as output:
            output.write(("\t".join(heads) + "\n").encode())
            for query, target, distance, *more in self.rows():
                values = (1 - distance if is_identity else distance, *more)
                numbers = (
                    f"{value:.6f}" if isinstance(value, float) else str(value) for value in values
                )
                output.write(("\t".join((quoted(query), quoted(target), *numbers)) + "\n").encode())


class RectangularDistances(Result, DistancesOfAllPairs, distance_matrix.RectangularDistances):
    pass


class SparseDistances(Result, Distances, sparse_distances.SparseDistances):
    def _repr_html_(self) -> str:
        """Show the first pairs as a table, for notebooks."""
        names, others = self.sides
        pairs = zip(*(column.tolist() for column in next(self.blocks(SHOWN + 1))), strict=True)
        named = ((names[query], others[target], value) for query, target, value in pairs)
        return html_table(self, ["query", "target", "distance"], named)

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
        with needed("a CSR matrix", "scipy"):
            from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
        data, indices, indptr = self.csr_arrays()
        return csr_matrix((data, indices, indptr), shape=self.shape)

    def _matrices(self) -> dict[str, Any]:
        near = self.csr()
        if self.target_names is not None:
            return {"distances": near}
        weights = near.astype(np.float32)
        weights.data = 1 - (weights.data - 1) / (self.limit + 1)
        weights.setdiag(0)
        weights.eliminate_zeros()
        return {"distances": near, "connectivities": weights}
