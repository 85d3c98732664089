"""Posteriors of pairs: how likely each two residues are to be aligned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Doubles, Int32s, Int64s, UInt8s
from pairalign.sequences.sets import SequenceSet

ARITHMETICS = ("float32", "float64", "extended")
"""What a pair is computed with: each holds a wider range than the one before."""

ONE = 65535
"""A posterior of 1, in the units of `SparsePosteriors.values`."""


@dataclass(frozen=True, repr=False)
class SparsePosteriors:
    """Posteriors of pairs that reach a threshold.

    Attributes
    ----------
    queries, targets : ndarray of int32, shape (pairs,)
        Input indices of the pairs' sequences.
    offsets : ndarray of int64, shape (pairs + 1,)
        Where the entries of each pair begin in the arrays below.
    rows, columns : ndarray of int32, shape (entries,)
        Residues of query and target, from 0; by row, then by column.
    values : ndarray of uint16, shape (entries,)
        Posteriors in 65535ths.
    arithmetic : ndarray of uint8, shape (pairs,)
        Index into `ARITHMETICS`: what each pair was computed with.
    sequences : SequenceSet or None
        What `queries` and `targets` point into, where that is known.
    threshold : float
        The least posterior that is kept.
    """

    queries: Int32s
    targets: Int32s
    offsets: Int64s
    rows: Int32s
    columns: Int32s
    values: npt.NDArray[np.uint16]
    arithmetic: UInt8s
    sequences: SequenceSet | None = None
    threshold: float = 0.0

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return f"<SparsePosteriors: {len(self)} pairs, {len(self.values)} pairs of residues>"

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by their names: what `posteriors_of` takes."""
        return {name: array for name, array in vars(self).items() if isinstance(array, np.ndarray)}

    @property
    def probabilities(self) -> Doubles:
        """The posteriors as numbers from 0 to 1, float64 of shape (entries,)."""
        return self.values / ONE

    @property
    def pairs(self) -> Int64s:
        """The pair of each entry, int64 of shape (entries,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def posteriors_of(arrays: Mapping[str, Any]) -> SparsePosteriors:
    """Return posteriors whose `SparsePosteriors.arrays` are given."""
    return SparsePosteriors(**arrays)


def join_posteriors(pieces: list[SparsePosteriors]) -> SparsePosteriors:
    """Put pieces together that come one after the other."""
    starts = np.cumsum([0, *(int(piece.offsets[-1]) for piece in pieces)])
    offsets = [piece.offsets[:-1] + start for piece, start in zip(pieces, starts, strict=False)]

    def joined(name: str) -> npt.NDArray[Any]:
        return np.concatenate([getattr(piece, name) for piece in pieces])

    return SparsePosteriors(
        queries=joined("queries"),
        targets=joined("targets"),
        offsets=np.concatenate([*offsets, starts[-1:]]),
        rows=joined("rows"),
        columns=joined("columns"),
        values=joined("values"),
        arithmetic=joined("arithmetic"),
    )


def part_of(posteriors: SparsePosteriors, start: int, stop: int) -> SparsePosteriors:
    """Return the posteriors of some pairs that follow each other, without copying them."""
    first, last = (int(at) for at in posteriors.offsets[[start, stop]])
    return SparsePosteriors(
        posteriors.queries[start:stop],
        posteriors.targets[start:stop],
        posteriors.offsets[start : stop + 1] - first,
        posteriors.rows[first:last],
        posteriors.columns[first:last],
        posteriors.values[first:last],
        posteriors.arithmetic[start:stop],
    )


def pairs_at(
    posteriors: SparsePosteriors,
    places: Int64s,
    queries: Int32s,
    targets: Int32s,
) -> SparsePosteriors:
    """Return posteriors of pairs each of which has the entries of one that is known.

    Parameters
    ----------
    posteriors : SparsePosteriors
        Of known pairs.
    places : ndarray of int64, shape (pairs,)
        Which of these each pair is like.
    queries, targets : ndarray of int32, shape (pairs,)
    """
    counts = np.diff(posteriors.offsets)[places]
    offsets = np.concatenate(([0], np.cumsum(counts)))
    entries = np.repeat(posteriors.offsets[places] - offsets[:-1], counts)
    entries += np.arange(len(entries))
    return SparsePosteriors(
        queries,
        targets,
        offsets,
        posteriors.rows[entries],
        posteriors.columns[entries],
        posteriors.values[entries],
        posteriors.arithmetic[places],
    )


def with_sides_changed(posteriors: SparsePosteriors, is_changed: Bools) -> SparsePosteriors:
    """Return the posteriors of pairs some of which have their target as query, and the reverse.

    Parameters
    ----------
    is_changed : ndarray of bool, shape (pairs,)
        Which pairs.
    """
    pairs = posteriors.pairs
    entries = np.flatnonzero(is_changed[pairs])
    rows, columns = posteriors.columns[entries], posteriors.rows[entries]
    order = np.lexsort((columns, rows, pairs[entries]))

    def changed(all_of: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        result: npt.NDArray[Any] = all_of.copy()
        result[entries] = values[order]
        return result

    return SparsePosteriors(
        np.where(is_changed, posteriors.targets, posteriors.queries),
        np.where(is_changed, posteriors.queries, posteriors.targets),
        posteriors.offsets,
        changed(posteriors.rows, rows),
        changed(posteriors.columns, columns),
        changed(posteriors.values, posteriors.values[entries]),
        posteriors.arithmetic,
    )


def with_pairs(
    posteriors: SparsePosteriors, places: Int64s, others: SparsePosteriors
) -> SparsePosteriors:
    """Fill in pairs that have no entries yet.

    Parameters
    ----------
    places : ndarray of int64
        Which pairs of `posteriors` are filled in; ascending.
    others : SparsePosteriors
        The entries of these pairs.
    """
    assert not np.diff(posteriors.offsets)[places].any()
    sources = np.arange(len(posteriors))
    sources[places] = len(posteriors) + np.arange(len(others))
    both = join_posteriors([posteriors, others])
    return pairs_at(both, sources, posteriors.queries, posteriors.targets)
