"""Distances of the sequences of one set to those of another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.base.choices import IDENTITY_MEASURES
from pairalign.base.error_types import DistanceError, shown_name
from pairalign.trees.distance_matrix import (
    DistanceMatrix,
    Floats,
    check_names,
    check_similar,
    summarize,
)

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, eq=False, repr=False)
class RectangularDistances:
    """Distances of every sequence of one set to every one of another.

    Attributes
    ----------
    query_names, target_names : list of str
        Names of the rows and of the columns, each in the order of its input; a name may be in both.
    values : ndarray of float32, shape (queries, targets)
        Finite, 0 or more.
    measure : str
        What was measured; empty if not known.
    are_similarities : bool
        Whether `values` are 1 less the distances.

    Raises
    ------
    DistanceError
        Names that are missing or not unique, or values that are no distances.
    """

    query_names: list[str]
    target_names: list[str]
    values: Floats
    measure: str = ""
    are_similarities: bool = False

    def __post_init__(self) -> None:
        sides = [[str(name) for name in side] for side in (self.query_names, self.target_names)]
        values = np.ascontiguousarray(self.values, np.float32)
        for side in sides:
            check_names(side, least=1)
        if values.shape != tuple(map(len, sides)):
            raise DistanceError(
                f"distances of shape {values.shape} for {len(sides[0])} and {len(sides[1])} names"
            )
        low, high, _ = summarize(values.ravel())
        if not (low >= 0 and high < np.inf):
            i, j = np.argwhere(~(np.isfinite(values) & (values >= 0)))[0].tolist()
            raise DistanceError(
                f"distance of {shown_name(sides[0][i])} and {shown_name(sides[1][j])} is "
                f"{values[i, j]}, expected a finite number, 0 or more"
            )
        for name, value in zip(
            ("query_names", "target_names", "values"), (*sides, values), strict=True
        ):
            object.__setattr__(self, name, value)

    @cached_property
    def summary(self) -> tuple[float, float, float]:
        """The least, the largest and the mean distance."""
        return summarize(self.values.ravel())

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and targets there are."""
        return len(self.query_names), len(self.target_names)

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.query_names)

    def __repr__(self) -> str:
        rows, columns = self.shape
        measure = self.measure or "unknown measure"
        return f"<RectangularDistances: {rows} by {columns} sequences, {measure}>"

    def __getitem__(self, pair: tuple[int, int]) -> float:
        """Distance of a query and a target, given by their input indices."""
        return float(self.values[pair])

    def row(self, index: int) -> Floats:
        """Return the distances of one query to all targets, float32 of shape (targets,)."""
        row: Floats = self.values[index]
        return row

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[np.floating]:
        """Give `values` to NumPy."""
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def to_numpy(self) -> Floats:
        """Return `values`."""
        return self.values

    def similarities(self) -> Self:
        """Return the identities of a measure that is 1 less an identity.

        Returns
        -------
        RectangularDistances

        Raises
        ------
        DistanceError
            It is another measure, or not known which.
        """
        check_similar(self.measure, IDENTITY_MEASURES, are_similarities=self.are_similarities)
        return replace(self, values=1 - self.values, are_similarities=True)


AnyDistances = DistanceMatrix | RectangularDistances
"""Distances of one set, or of two."""
