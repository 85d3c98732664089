"""Alignments as functions return them: pairs by name, files, tables, graphs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np
import numpy.typing as npt

from pairalign.alignments import alignments
from pairalign.base.arrays import Doubles, Int64s, UInt32s
from pairalign.base.error_types import UsageError
from pairalign.base.notebooks import html_table
from pairalign.base.packages import needed
from pairalign.pairs.want import Detail
from pairalign.results.alignment_result import Alignment, count_ties, mark_confidence
from pairalign.results.tabular import Result, Tabular, make_table
from pairalign.scoring.scoring import own_scores

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self

    from pairalign.statistics.significance import Significance

Measure = Literal["score", "bits", "evalue", "identity"]
"""What pairs can be sorted by, and what a matrix can show."""

_MEASURES = ("score", "bits", "evalue", "identity")


class Alignments(Result, Tabular, alignments.Alignments):
    def __iter__(self) -> Iterator[Alignment]:
        return (Alignment(self, index) for index in range(len(self)))

    @overload
    def __getitem__(self, pairs: int | np.integer[Any] | tuple[str, str]) -> Alignment: ...
    @overload
    def __getitem__(self, pairs: slice | npt.NDArray[Any] | list[int] | list[bool]) -> Self: ...
    def __getitem__(self, pairs: Any) -> Alignment | Self:
        """One pair, by number or two names; those of a slice, which shares memory, or of a mask."""
        if isinstance(pairs, tuple) and len(pairs) == 2 and isinstance(pairs[0], str):
            return Alignment(self, self._of_names(pairs))
        if not isinstance(pairs, (slice, tuple)) and np.ndim(pairs):
            return super().__getitem__(pairs)
        if not isinstance(pairs, slice):
            return Alignment(self, range(len(self))[pairs])  # negative ones, too, or IndexError
        return super().__getitem__(pairs)

    @property
    def confidence(self) -> list[str]:
        """How likely each column of each alignment is right, by posteriors, made when first read.

        A mark for each column: ``0`` for a probability below 0.05, ``1`` up to 0.15, ..., ``*``
        from 0.95 on, as HMMER shows them; ``.`` for gaps. UsageError without CIGARs, and
        where a query was reverse-complemented.
        """
        return mark_confidence(self)

    @property
    def ties(self) -> UInt32s:
        """How many optimal alignments each pair has, at most 2^32 - 1; counted when first read.

        uint32 of shape (n,); 0 where nothing is aligned, see docs/ties.md. UsageError without spans
        and counts, and for an alignment that is not optimal, as others than the first of `hsps`.
        """
        return count_ties(self)

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
        from pairalign.formats import open_writer
        from pairalign.formats.writer import Content, Shown

        detail = (
            Detail.CIGAR if self.has_cigar else Detail.STATS if self.has_stats else Detail.SCORE
        )
        with open_writer(
            os.fspath(path),
            format,
            Content(
                *(self.queries, self.targets, self.scoring, detail),
                shown=Shown(strands=self.strand is not None),
                significance=cast("Significance | None", self.significance),
            ),
        ) as writer:
            writer.write(self)

    def matrix(self, measure: Measure = "identity") -> Doubles:
        """Return one number of each pair as a matrix, by input indices.

        Parameters
        ----------
        measure : {"identity", "score", "bits", "evalue"}
            Of several alignments of a pair, the first, which is the best.

        Returns
        -------
        ndarray of float64, shape (queries, targets)
            Of one set symmetric. The diagonal of ``"score"`` has what `own_scores` of
            `pairalign.scoring.scoring` knows, that of ``"identity"`` is 1; others have nan
            there. nan also for pairs that are not there and where nothing is aligned.

        Raises
        ------
        UsageError
            There is no such measure, or it was not computed.
        """
        values = np.asarray(self._measured(measure), np.float64)[::-1]  # the first comes last
        matrix = np.full((len(self.queries), len(self.targets)), np.nan)
        rows, columns = self.query[::-1], self.target[::-1]
        matrix[rows, columns] = values
        if self.queries is self.targets:
            first, second = np.minimum(rows, columns), np.maximum(rows, columns)
            matrix[first, second] = values
            matrix[second, first] = matrix[first, second]
            if measure == "identity":
                np.fill_diagonal(matrix, 1.0)
            elif measure == "score":
                np.fill_diagonal(matrix, own_scores(self.queries, self.scoring))
        return matrix

    def sort_by(self, measure: Measure, *, ascending: bool | None = None) -> Self:
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
        return self.take(np.argsort(values if rises else -values, kind="stable"))

    def best(self, k: int = 1, rank: Measure = "score") -> Self:
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
            raise UsageError(f"k is {k}, expected 1 or more")
        values = np.nan_to_num(np.asarray(self._measured(rank), np.float64), nan=-np.inf)
        keys = values if rank == "evalue" else -values
        indices, partners = self.query, self.targets.canonical_places()[self.target]
        places = np.arange(len(indices))
        if self.queries is self.targets:
            back = self.queries.canonical_places()[self.query]
            indices, partners = (
                np.concatenate([indices, self.target]),
                np.concatenate([partners, back]),
            )
            places = np.tile(places, 2)
        order = np.lexsort((partners, -self.raw_score[places], keys[places], indices))
        starts = np.searchsorted(indices[order], indices[order])
        kept = order[np.arange(len(order)) - starts < k]
        return self.take(np.unique(places[kept]))

    def _of_names(self, names: tuple[str, str]) -> int:
        """Return which is the first alignment of two sequences; KeyError if there is none."""
        for first, second in (names, names[::-1]):
            if first in self.queries.names and second in self.targets.names:
                query, target = self.queries.names.index(first), self.targets.names.index(second)
                places = np.flatnonzero((self.query == query) & (self.target == target))
                if len(places):
                    return int(places[0])
        raise KeyError(f"there is no alignment of {names[0]!r} and {names[1]!r}")

    def _measured(self, measure: str) -> Any:
        if measure not in _MEASURES:
            raise UsageError(f"{measure!r}: expected one of {', '.join(_MEASURES)}")
        return getattr(self, measure)

    def _repr_html_(self) -> str:
        """Show the first pairs as a table, for notebooks."""
        heads = ["query", "target", "score", *(["identity"] if self.has_stats else [])]

        def cells(alignment: Alignment) -> list[object]:
            identity = [f"{100 * alignment.identity:.1f}%"] if self.has_stats else []
            return [alignment.query.name, alignment.target.name, alignment.score, *identity]

        return html_table(self, heads, map(cells, self))

    def to_arrow(self) -> pa.Table:
        """Convert to a ``pyarrow.Table`` with the columns that were computed.

        Returns
        -------
        pyarrow.Table
            The columns of the Parquet format: names, ``score``, ``identity`` (null where nothing
            is aligned), counts, lengths, spans, ``cigar`` as lists of uint32 runs ``length << 4 |
            op``; ``bits`` and ``evalue`` where they are known; and ``strand`` where strands were
            looked at. The parameters are in the metadata.

        Raises
        ------
        MissingPackageError
            pyarrow is not installed.
        """
        return make_table(self)

    def to_networkx(self) -> Any:
        """Convert to a ``networkx.Graph``: sequences are nodes, pairs are edges.

        Returns
        -------
        networkx.Graph
            Nodes are names (with two sets that share a name, ``(1, name)`` and ``(2, name)``) with
            ``length`` and ``header``; edges have ``score``, and ``identity`` and ``columns`` where
            they were computed. All sequences are nodes: take the pairs that should be edges first.

        Raises
        ------
        MissingPackageError
            networkx is not installed.
        """
        return make_networkx(self)

    def to_igraph(self) -> Any:
        """Convert to an ``igraph.Graph`` with the attributes of `to_networkx`, and ``name``.

        Returns
        -------
        igraph.Graph
            Undirected.

        Raises
        ------
        MissingPackageError
            igraph is not installed.
        """
        return make_igraph(self)

    def to_scipy(self, weight: str = "identity") -> Any:
        """Convert to a ``scipy.sparse.csr_array`` of float64, by input indices.

        Parameters
        ----------
        weight : {"identity", "score"}
            What the values are; 0 where nothing is aligned.

        Returns
        -------
        scipy.sparse.csr_array, shape (queries, targets)
            Of one set it is symmetric; scores with those of each sequence with itself on the
            diagonal (see `matrix`), identities with an empty one.

        Raises
        ------
        MissingPackageError
            SciPy is not installed.
        """
        return make_scipy(self, weight)


WEIGHTS = ("identity", "score")


def make_networkx(alignments: Alignments) -> Any:
    """Make a ``networkx.Graph``; see `pairalign.Alignments.to_networkx`."""
    with needed("a graph", "networkx", "'pairalign[graph]'"):
        import networkx
    graph = networkx.Graph()
    ids = _node_ids(alignments)
    for names, sequences in zip(ids, _sets(alignments), strict=False):
        described = zip(names, sequences.descriptions, sequences.lengths.tolist(), strict=True)
        for name, header, length in described:
            graph.add_node(name, length=length, header=header)
    best = _best_of_pairs(alignments)
    fields = _edge_fields(alignments, best)
    for k, (query, target) in enumerate(
        zip(alignments.query[best], alignments.target[best], strict=True)
    ):
        values = {name: column[k] for name, column in fields.items()}
        graph.add_edge(ids[0][query], ids[1][target], **values)
    return graph


def make_igraph(alignments: Alignments) -> Any:
    """Make an ``igraph.Graph``; see `pairalign.Alignments.to_igraph`."""
    with needed("a graph", "igraph", "'pairalign[graph]'"):
        import igraph  # type: ignore[import-untyped]
    sets = _sets(alignments)
    shift = 0 if len(sets) == 1 else len(sets[0])
    graph = igraph.Graph()
    graph.add_vertices(sum(map(len, sets)))
    graph.vs["name"] = [name for names in _node_ids(alignments)[: len(sets)] for name in names]
    graph.vs["header"] = [text for sequences in sets for text in sequences.descriptions]
    graph.vs["length"] = [n for sequences in sets for n in sequences.lengths.tolist()]
    best = _best_of_pairs(alignments)
    graph.add_edges(np.stack([alignments.query, alignments.target + shift], axis=1)[best].tolist())
    for name, column in _edge_fields(alignments, best).items():
        graph.es[name] = column
    return graph


def make_scipy(alignments: Alignments, weight: str) -> Any:
    """Make a ``scipy.sparse.csr_array``; see `pairalign.Alignments.to_scipy`."""
    if weight not in WEIGHTS:
        raise UsageError(f"weight {weight!r}: expected one of {', '.join(WEIGHTS)}")
    with needed("a graph", "scipy", "'pairalign[graph]'"):
        import scipy.sparse  # type: ignore[import-untyped]
    best = _best_of_pairs(alignments)
    values = np.nan_to_num(getattr(alignments, weight).astype(np.float64))[best]
    rows, columns = alignments.query[best], alignments.target[best]
    if alignments.targets is alignments.queries:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        values = np.concatenate([values, values])
        if weight == "score":
            self_scores = own_scores(alignments.queries, alignments.scoring)
            diagonal = np.flatnonzero(np.nan_to_num(self_scores))
            rows, columns = np.concatenate([rows, diagonal]), np.concatenate([columns, diagonal])
            values = np.concatenate([values, self_scores[diagonal]])
    shape = len(alignments.queries), len(alignments.targets)
    return scipy.sparse.csr_array((values, (rows, columns)), shape=shape)


def _sets(alignments: Alignments) -> list[Any]:
    return (
        [alignments.queries]
        if alignments.targets is alignments.queries
        else [alignments.queries, alignments.targets]
    )


def _node_ids(alignments: Alignments) -> list[list[Any]]:
    """Return what nodes are called: names; of two sets that share a name, (set, name)."""
    names: list[list[Any]] = [alignments.queries.names, alignments.targets.names]
    if alignments.targets is not alignments.queries and set(names[0]) & set(names[1]):
        return [[(number, name) for name in each] for number, each in enumerate(names, 1)]
    return names


def _best_of_pairs(alignments: Alignments) -> Int64s:
    """Return the number of each pair's first alignment, which is its best, ascending.

    Of a set with itself a pair is the same whichever sequence is the query.
    """
    sides = alignments.query, alignments.target
    if alignments.queries is alignments.targets:
        sides = np.minimum(*sides), np.maximum(*sides)
    pairs = sides[0].astype(np.int64) << 32 | sides[1]
    numbers: Int64s = np.sort(np.unique(pairs, return_index=True)[1])
    return numbers


def _edge_fields(alignments: Alignments, best: Int64s) -> dict[str, list[Any]]:
    fields = {"score": alignments.score[best].tolist()}
    if alignments.has_stats:
        fields["identity"] = alignments.identity[best].tolist()
        fields["columns"] = alignments.columns[best].tolist()
    if alignments.strand is not None:
        fields["strand"] = [
            "-" if strand < 0 else "+" for strand in alignments.strand[best].tolist()
        ]
    return fields
