"""Distances of pairs of sequences, stored in one of three ways.

*Condensed*: all pairs of one set, a float32 triangle. It is SciPy's condensed form: pairs (i, j),
i < j, row by row in the order of the input. *Rectangular*: all pairs of two sets, a float32 array.
*Sparse*: the pairs within a limit, see `pairalign.trees.sparse_distances`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Doubles, Float32s, Int32s, Int64s
from pairalign.base.choices import IDENTITY_MEASURES, SIMILARITY_MEASURES
from pairalign.base.error_types import DistanceError, shown_name
from pairalign.base.limits import usable_cores
from pairalign.base.texts import words_of

if TYPE_CHECKING:
    from typing_extensions import Self

Block = tuple[Int32s, Int32s, npt.NDArray[Any]]
"""Rows, columns and distances of some pairs."""

_BETWEEN = re.compile(r"[\t\n\v\f\r]")
_PIECE = 1 << 22
"""Values that a thread looks at."""
BLOCK = 1 << 20
"""Pairs at a time."""


class Distances:
    """What distances have in common, however they are stored.

    Attributes
    ----------
    storage : str
        ``"condensed"``, ``"rectangular"`` or ``"sparse"``.
    measure : str
        What was measured.
    """

    storage: ClassVar[str]
    measure: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of a stored distance."""
        return np.dtype(np.float32)

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """Names of the rows and of the columns; of one set one list, twice."""
        raise NotImplementedError

    @property
    def facts(self) -> dict[str, str | int]:
        """What a file says of all distances, by name."""
        return {"measure": self.measure}

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """Give all pairs, in the order of rows and columns, about `size` at a time.

        Yields
        ------
        rows, columns : ndarray of int32, shape (n,)
        distances : ndarray of `dtype`, shape (n,)
        """
        raise NotImplementedError


class AnyDistances(Distances):
    """Distances of all pairs of one set, or of two.

    Attributes
    ----------
    summary : (float, float, float)
        The least, the largest and the mean distance.
    """

    summary: tuple[float, float, float]

    def row(self, index: int) -> Float32s:
        """Return the distances of one row's sequence to those of all columns."""
        raise NotImplementedError

    def similarities(self) -> AnyDistances:
        """Return the identities of a measure that is 1 less an identity."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class DistanceMatrix(AnyDistances):
    """Distances of n(n-1)/2 pairs.

    Attributes
    ----------
    names : list of str
        First word of each header, in the order of the input; no two are the same.
    condensed : ndarray of float32, shape (n(n-1)/2,)
        Distance of the pairs (0, 1), (0, 2), ..., (1, 2), ...; finite, 0 or more. What SciPy's
        ``linkage`` takes.
    own : float
        The value of a sequence with itself: 0, of similarities 1.
    summary : (float, float, float)
        The least, the largest and the mean distance.
    measure : str
        What was measured, see `pairalign.jobs.distances.measures`; empty if not known.

    Raises
    ------
    DistanceError
        Names that are missing, not unique or too few, or values that are no distances.
    """

    storage = "condensed"

    names: list[str]
    condensed: Float32s
    measure: str = ""
    own: float = 0.0
    summary: tuple[float, float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [str(name) for name in self.names]
        condensed = np.ascontiguousarray(self.condensed, np.float32)
        check_names(names)
        count = len(names)
        if condensed.shape != (number_of_pairs(count),):
            raise DistanceError(
                f"distances of shape {condensed.shape} for {count} names, expected "
                f"({number_of_pairs(count)},), one for each pair"
            )
        summary = _checked_summary(condensed, (names, names), lambda at: pair_at(at, count))
        _set(self, names=names, condensed=condensed, summary=summary)

    @classmethod
    def from_square(cls, names: Sequence[str], square: npt.ArrayLike, measure: str = "") -> Self:
        """Take the lower triangle of a symmetric matrix with zeros on its diagonal."""
        values = np.asarray(square, np.float64)
        if values.shape != (len(names), len(names)):
            raise DistanceError(f"{len(names)} names, but a matrix of shape {values.shape}")
        builder = TriangleBuilder(len(names))
        for name, row in zip(names, values, strict=True):
            builder.add(name, row)
        matrix = builder.finish(measure)
        return cls(matrix.names, matrix.condensed, measure)

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """The names, twice."""
        return self.names, self.names

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<DistanceMatrix: {len(self)} sequences, {self.measure or 'unknown measure'}>"

    def __getitem__(self, pair: tuple[int, int]) -> float:
        """Distance of two sequences, given by their input indices."""
        first, second = sorted(range(len(self))[index] for index in pair)
        if first == second:
            return self.own
        return float(self.condensed[first_place(first, len(self)) + second - first - 1])

    def row(self, index: int) -> Float32s:
        """Return the distances of one sequence to all, float32 of shape (n,)."""
        count = len(self)
        row = np.full(count, self.own, np.float32)
        row[:index] = self.condensed[lower_places(index, count)]
        start = first_place(index, count)
        row[index + 1 :] = self.condensed[start : start + count - index - 1]
        return row

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """Give the pairs of the triangle, whole rows of it at a time."""
        count = len(self)
        starts = np.array([first_place(row, count) for row in range(count)])
        first_rows = np.unique(starts[:-1] // size, return_index=True)[1].tolist()
        for first, stop in pairwise([*first_rows, count - 1]):
            lengths = np.arange(count - 1 - first, count - 1 - stop, -1)
            rows = np.repeat(np.arange(first, stop, dtype=np.int32), lengths)
            places = np.arange(starts[first], starts[stop])
            columns = (places - starts[rows] + rows + 1).astype(np.int32)
            yield rows, columns, self.condensed[starts[first] : starts[stop]]

    def square(self, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[np.floating]:
        """All distances as a symmetric matrix, shape (n, n)."""
        count = len(self)
        square = np.zeros((count, count), dtype)
        for index in range(count - 1):
            start = first_place(index, count)
            square[index, index + 1 :] = self.condensed[start : start + count - index - 1]
            square[index + 1 :, index] = square[index, index + 1 :]
        np.fill_diagonal(square, self.own)
        return square

    def similarities(self) -> DistanceMatrix:
        """Return the identities of a measure that is 1 less an identity; 1 with itself.

        Returns
        -------
        DistanceMatrix

        Raises
        ------
        DistanceError
            It is another measure, or not known which.
        """
        check_similar(self.measure, SIMILARITY_MEASURES, are_similarities=self.own != 0)
        return DistanceMatrix(list(self.names), 1 - self.condensed, self.measure, own=1.0)

    def distances(self) -> DistanceMatrix:
        """Return the distances whose `similarities` these are; distances as they are."""
        if self.own == 0:
            return self
        return DistanceMatrix(list(self.names), self.own - self.condensed, self.measure)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[np.floating]:
        """Give `square` to NumPy."""
        if copy is False:
            raise ValueError("the square matrix is made of a triangle: it cannot but be copied")
        return self.square(np.float32 if dtype is None else dtype)


@dataclass(frozen=True, eq=False, repr=False)
class RectangularDistances(AnyDistances):
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
    summary : (float, float, float)
        The least, the largest and the mean distance.

    Raises
    ------
    DistanceError
        Names that are missing or not unique, or values that are no distances.
    """

    storage = "rectangular"

    query_names: list[str]
    target_names: list[str]
    values: Float32s
    measure: str = ""
    are_similarities: bool = False
    summary: tuple[float, float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        queries, targets = ([str(name) for name in side] for side in self.sides)
        values = np.ascontiguousarray(self.values, np.float32)
        for side in (queries, targets):
            check_names(side, least=1)
        if values.shape != (len(queries), len(targets)):
            raise DistanceError(
                f"distances of shape {values.shape} for {len(queries)} and {len(targets)} names"
            )
        summary = _checked_summary(
            values.ravel(), (queries, targets), lambda at: divmod(at, len(targets))
        )
        _set(self, query_names=queries, target_names=targets, values=values, summary=summary)

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """Names of the queries and of the targets."""
        return self.query_names, self.target_names

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

    def row(self, index: int) -> Float32s:
        """Return the distances of one query to all targets, float32 of shape (targets,)."""
        row: Float32s = self.values[index]
        return row

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """Give the pairs, those of whole rows at a time."""
        rows, columns = self.shape
        height = max(1, size // columns)
        for start in range(0, rows, height):
            values = self.values[start : start + height]
            numbers = np.arange(start, start + len(values), dtype=np.int32)
            every = np.tile(np.arange(columns, dtype=np.int32), len(values))
            yield np.repeat(numbers, columns), every, values.ravel()

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[np.floating]:
        """Give `values` to NumPy."""
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def to_numpy(self) -> Float32s:
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


def _set(distances: Distances, **fields: object) -> None:
    """Set fields of frozen distances that are being made."""
    for name, value in fields.items():
        object.__setattr__(distances, name, value)


def _checked_summary(
    values: Float32s, sides: tuple[list[str], list[str]], pair_of: Callable[[int], tuple[int, int]]
) -> tuple[float, float, float]:
    """Return what `summarize` does, or raise DistanceError for what is no distance.

    Parameters
    ----------
    pair_of : function
        Says of which row and column a value is.
    """
    # min and max rather than isfinite: no array of their own, and nan comes through.
    low, high, mean = summarize(values)
    if not (low >= 0 and high < np.inf):
        place = int(np.argmax(~(np.isfinite(values) & (values >= 0))))
        row, column = pair_of(place)
        raise DistanceError(
            f"distance of {shown_name(sides[0][row])} and {shown_name(sides[1][column])} is "
            f"{values[place]}, expected a finite number, 0 or more"
        )
    return low, high, mean


def summarize(values: Float32s) -> tuple[float, float, float]:
    """Return minimum, maximum and mean of an array with at least one value; nan if it has one.

    Pieces are looked at side by side: NumPy frees the interpreter, and a triangle may have a
    hundred million values.
    """

    def of_piece(start: int) -> tuple[float, float, float]:
        piece = values[start : start + _PIECE]
        return float(piece.min()), float(piece.max()), float(piece.sum(dtype=np.float64))

    starts = range(0, len(values), _PIECE)
    if len(starts) == 1:  # no thread is needed for it
        low, high, sum_ = of_piece(0)
        return low, high, sum_ / len(values)
    with ThreadPoolExecutor(min(len(starts), usable_cores())) as pool:
        lows, highs, sums = zip(*pool.map(of_piece, starts), strict=True)
    return float(np.min(lows)), float(np.max(highs)), sum(sums) / len(values)


def number_of_pairs(count: int) -> int:
    """Pairs of `count` sequences."""
    return count * (count - 1) // 2


def first_place(row: int, count: int) -> int:
    """Place of the pair (row, row + 1) in the condensed triangle."""
    return row * count - row * (row + 1) // 2


def lower_places(row: int, count: int) -> Int64s:
    """Places of the pairs (0, row), (1, row), ... (row - 1, row) in the condensed triangle."""
    first = np.arange(row, dtype=np.int64)
    return first * count - first * (first + 1) // 2 + (row - first - 1)


def pair_at(place: int, count: int) -> tuple[int, int]:
    """Return the pair at a place of the condensed triangle."""
    row = 0
    while place >= count - row - 1:
        place -= count - row - 1
        row += 1
    return row, row + 1 + place


class TriangleBuilder:
    """Collects a matrix that comes row by row, square or as lower triangle, and checks it.

    Parameters
    ----------
    count : int
        Number of sequences.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._names: list[str] = []
        self._condensed = np.empty(number_of_pairs(count), np.float32)

    def add(self, name: str, values: Doubles) -> None:
        """Take the next row: the distances to all, or to those before.

        Raises
        ------
        DistanceError
            A number that is no distance, a diagonal that is not 0, no symmetry.
        """
        row, count = len(self._names), self._count
        assert len(values) in (row, count)
        self._names.append(name)
        good = np.isfinite(values) & (values >= 0)
        if not good.all():
            column = int(np.argmin(good))
            raise DistanceError(
                f"distance of {shown_name(name)} and number {column + 1} is {values[column]}, "
                "expected a "
                "finite number, 0 or more"
            )
        places = lower_places(row, count)
        if len(values) == row:
            self._condensed[places] = values
            return
        if values[row] != 0:
            raise DistanceError(
                f"distance of {shown_name(name)} to itself is {values[row]}, expected 0: are these "
                "similarities?"
            )
        equal = np.isclose(values[:row], self._condensed[places], rtol=1e-4, atol=1e-6)
        if not equal.all():
            column = int(np.argmin(equal))
            raise DistanceError(
                f"distance of {shown_name(name)} to {shown_name(self._names[column])} is "
                f"{values[column]}, the other "
                f"way round {self._condensed[places[column]]:.6g}: the matrix is not symmetric"
            )
        start = first_place(row, count)
        self._condensed[start : start + count - row - 1] = values[row + 1 :]

    def finish(self, measure: str = "") -> DistanceMatrix:
        """Return the matrix."""
        return DistanceMatrix(self._names, self._condensed, measure)


def check_similar(measure: str, measures: tuple[str, ...], *, are_similarities: bool) -> None:
    """Raise DistanceError unless values are distances whose measure is 1 less an identity."""
    if measure not in measures or are_similarities:
        raise DistanceError(
            f"a similarity of '{measure or 'unknown measure'}': "
            f"expected one of {', '.join(measures)}"
        )


def check_names(names: Sequence[str], source: str | None = None, least: int = 2) -> None:
    """Raise DistanceError for names, of the file `source`, that a matrix cannot have."""
    prefix = "" if source is None else f"{source}: "
    if len(names) < least:
        raise DistanceError(f"{prefix}{len(names)} sequences, distances need at least {least}")
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if not name or _BETWEEN.search(name):
            raise DistanceError(
                f"{prefix}name {index + 1} is {shown_name(name)}, expected one of a line"
            )
        if seen.setdefault(name, index) != index:
            raise DistanceError(
                f"{prefix}name {index + 1} {shown_name(name)} is that of number "
                f"{seen[name] + 1}; names "
                "must be unique"
            )


def check_words(names: Sequence[str], source: str | None = None) -> None:
    """Raise DistanceError for names with blanks, which PHYLIP and lists of pairs cannot hold."""
    prefix = "" if source is None else f"{source}: "
    for index, name in enumerate(names):
        if words_of(name) != [name]:
            raise DistanceError(
                f"{prefix}name {index + 1} is {shown_name(name)}, expected one without white "
                "space; tables (TSV, CSV) have some"
            )
