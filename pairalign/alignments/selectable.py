"""What `Alignments` offers to select from them: pairs by name, the best, an order, a matrix."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pairalign.alignments.tables import Tabular
from pairalign.base.notebooks import html_table
from pairalign.scoring.own_scores import own_scores

Measure = Literal["score", "bits", "evalue", "identity"]
"""What pairs can be sorted by, and what a matrix can show."""

_MEASURES = ("score", "bits", "evalue", "identity")


def _above() -> Any:
    """Return the module that writes files and marks columns.

    It is above this one, and found by its name: results that come from another process are here
    before any job is.
    """
    return import_module("pairalign.jobs.run.alignment_files")


class Selectable(Tabular):
    """What `Alignments` offers to look at results and to take some of them."""

    @property
    def confidence(self) -> list[str]:
        """How likely each column of each alignment is right, by posteriors, when asked for.

        A mark for each column: ``0`` for a probability below 0.05, ``1`` up to 0.15, ..., ``*``
        from 0.95 on, as HMMER shows them; ``.`` for gaps. ValueError without CIGARs, and
        where a query was reverse-complemented.
        """
        marks: list[str] = _above().mark_confidence(self)
        return marks

    @property
    def ties(self) -> npt.NDArray[np.uint32]:
        """How many optimal alignments each pair has, at most 2^32 - 1, counted when asked for.

        uint32 of shape (n,); 0 where nothing is aligned, see docs/ties.md. ValueError without spans
        and counts, and for an alignment that is not optimal, as others than the first of `hsps`.
        """
        counts: npt.NDArray[np.uint32] = _above().count_ties(self)
        return counts

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write a file, as the command ``align`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete.
        format : str, optional
            As ``--format``; default: by the end of the name. ``.gz`` after it compresses.

        Raises
        ------
        FormatError, OutputError
            There is no such format, it needs what was not computed, or the disk is full.
        """
        _above().write_alignments(self, path, format)

    def matrix(self, measure: Measure = "identity") -> npt.NDArray[np.float64]:
        """Return one number of each pair as a matrix, by input indices.

        Parameters
        ----------
        measure : {"identity", "score", "bits", "evalue"}
            Of several alignments of a pair, the first, which is the best.

        Returns
        -------
        ndarray of float64, shape (queries, targets)
            Of one set symmetric. The diagonal of ``"score"`` has what `own_scores` of
            `pairalign.scoring.own_scores` knows, that of ``"identity"`` is 1; others have nan
            there. nan also for pairs that are not there and where nothing is aligned.

        Raises
        ------
        ValueError
            There is no such measure, or it was not computed.
        """
        found: Any = self
        values = np.asarray(self._measured(measure), np.float64)[::-1]  # the first comes last
        matrix = np.full((len(found.queries), len(found.targets)), np.nan)
        rows, columns = found.query[::-1], found.target[::-1]
        matrix[rows, columns] = values
        if found.queries is found.targets:
            first, second = np.minimum(rows, columns), np.maximum(rows, columns)
            matrix[first, second] = values
            matrix[second, first] = matrix[first, second]
            if measure == "identity":
                np.fill_diagonal(matrix, 1.0)
            elif measure == "score":
                np.fill_diagonal(matrix, own_scores(found.queries, found.scoring))
        return matrix

    def sort_by(self, measure: Measure, *, ascending: bool | None = None) -> Any:
        """Return the same alignments in another order.

        Parameters
        ----------
        measure : {"score", "bits", "evalue", "identity"}
        ascending : bool, optional
            Default: the best first. Equal ones keep their order, and nan comes last.

        Returns
        -------
        Alignments
            A copy.
        """
        values = np.asarray(self._measured(measure), np.float64)
        rises = measure == "evalue" if ascending is None else ascending
        return self._taken(np.argsort(values if rises else -values, kind="stable"))

    def best(self, k: int = 1, rank: Measure = "score") -> Any:
        """Return the alignments that are among the k best of a query.

        Parameters
        ----------
        k : int
            At least 1.
        rank : {"score", "bits", "evalue", "identity"}
            What they are the best by; of equal ones the higher score is better, then the one whose
            other sequence comes first in `SequenceSet.canonical_order`.

        Returns
        -------
        Alignments
            A copy, in the same order. Of a set with itself a pair counts for both sequences, and
            comes once. To align no other pairs at all, use ``align(max_hits=k)``.
        """
        if k < 1:
            raise ValueError(f"k is {k}, expected 1 or more")
        found: Any = self
        values = np.nan_to_num(np.asarray(self._measured(rank), np.float64), nan=-np.inf)
        keys = values if rank == "evalue" else -values
        own, other = found.query, found.targets.canonical_places()[found.target]
        places = np.arange(len(own))
        if found.queries is found.targets:
            back = found.queries.canonical_places()[found.query]
            own, other = np.concatenate([own, found.target]), np.concatenate([other, back])
            places = np.tile(places, 2)
        order = np.lexsort((other, -found.raw_score[places], keys[places], own))
        starts = np.searchsorted(own[order], own[order])
        kept = order[np.arange(len(order)) - starts < k]
        return self._taken(np.unique(places[kept]))

    def _of_names(self, names: tuple[str, str]) -> int:
        """Return which is the first alignment of two sequences; KeyError if there is none."""
        found: Any = self
        for first, second in (names, names[::-1]):
            if first in found.queries.names and second in found.targets.names:
                query, target = found.queries.names.index(first), found.targets.names.index(second)
                places = np.flatnonzero((found.query == query) & (found.target == target))
                if len(places):
                    return int(places[0])
        raise KeyError(f"there is no alignment of {names[0]!r} and {names[1]!r}")

    def _measured(self, measure: str) -> Any:
        if measure not in _MEASURES:
            raise ValueError(f"{measure!r}: expected one of {', '.join(_MEASURES)}")
        return getattr(self, measure)

    def _taken(self, places: npt.NDArray[np.int64]) -> Any:
        found: Any = self
        return found.take(places)

    def _repr_html_(self) -> str:
        """Show the first pairs as a table, for notebooks."""
        found: Any = self
        heads = ["query", "target", "score", *(["identity"] if found.has_stats else [])]

        def cells(one: Any) -> list[object]:
            identity = [f"{100 * one.identity:.1f}%"] if found.has_stats else []
            return [one.query.name, one.target.name, one.score, *identity]

        return html_table(self, heads, map(cells, found))
