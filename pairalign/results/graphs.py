"""Alignments as graphs of other packages: networkx, igraph, SciPy's sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.error_types import UsageError
from pairalign.base.packages import needed
from pairalign.scoring.own_scores import own_scores

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


def _best_of_pairs(alignments: Alignments) -> npt.NDArray[np.int64]:
    """Return the number of each pair's first alignment, which is its best, ascending.

    Of a set with itself a pair is the same whichever sequence is the query.
    """
    sides = alignments.query, alignments.target
    if alignments.queries is alignments.targets:
        sides = np.minimum(*sides), np.maximum(*sides)
    pairs = sides[0].astype(np.int64) << 32 | sides[1]
    numbers: npt.NDArray[np.int64] = np.sort(np.unique(pairs, return_index=True)[1])
    return numbers


def _edge_fields(alignments: Alignments, best: npt.NDArray[np.int64]) -> dict[str, list[Any]]:
    fields = {"score": alignments.score[best].tolist()}
    if alignments.has_stats:
        fields["identity"] = alignments.identity[best].tolist()
        fields["columns"] = alignments.columns[best].tolist()
    if alignments.strand is not None:
        fields["strand"] = [
            "-" if strand < 0 else "+" for strand in alignments.strand[best].tolist()
        ]
    return fields
