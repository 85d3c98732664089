"""Distances as AnnData has them, for scanpy and scirpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pairalign.base.error_types import MissingPackageError

if TYPE_CHECKING:
    from anndata import AnnData

DISTANCES, CONNECTIVITIES = "distances", "connectivities"


def make_anndata(
    names: list[str],
    matrices: Mapping[str, Any],
    about: Mapping[str, Any],
    target_names: list[str] | None = None,
) -> AnnData:
    """Make AnnData of matrices of one set, or of one matrix of two.

    Parameters
    ----------
    matrices : mapping of str to array or sparse matrix
        Of one set those of ``obsp``; of two `DISTANCES` becomes ``X``.
    about : mapping
        What ``uns["pairalign"]`` has.
    target_names : list of str, optional
        Of the second set.

    Raises
    ------
    MissingPackageError
        anndata is not installed.
    """
    try:
        from anndata import AnnData
        from pandas import DataFrame
    except ImportError:
        raise MissingPackageError(
            "this needs anndata, which is not installed: pip install 'pairalign[anndata]'"
        ) from None
    notes = {"pairalign": dict(about)}
    rows = DataFrame(index=names)
    if target_names is None:
        return AnnData(obs=rows, obsp=dict(matrices), uns=notes)
    columns = DataFrame(index=target_names)
    return AnnData(matrices[DISTANCES], obs=rows, var=columns, uns=notes)
