"""The best hits of each query, kept while pairs come in any order (``cpu/pairs/hits.cpp``).

A better hit has a higher rank; of equal ones the higher raw score, of equal ones the target that
comes first in `SequenceSet.canonical_order`: by its residues, then by its name. No two hits of a
query are equally good, so what is kept depends neither on the order in which pairs come nor on that
of the input.
"""

from __future__ import annotations

import base64
import zlib

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Doubles, Int32s, Int64s
from pairalign.base.native import Struct, library, struct_dtype, struct_fields

HIT = struct_dtype("double rank; int32 raw_score target")
"""``pairalign_hit``."""

_QUERY_BYTES = 24


class NativeBestHits(Struct):
    """``pairalign_best_hits``."""

    _fields_ = struct_fields("int32 first queries most least; pointer counts floors hits")


_add = library.pairalign_add_hits
_sort = library.pairalign_sort_hits


def hit_bytes(most: int) -> int:
    """Return what the hits of a query take in memory, of `most` at most."""
    return most * HIT.itemsize + _QUERY_BYTES


class BestHits:
    """Keeps the best hits of some queries.

    Parameters
    ----------
    first, stop : int
        Half-open range of queries: input indices.
    most : int
        Hits of a query that are kept.
    least : int
        The raw score that a hit has at least.
    order : ndarray of int32, shape (targets,)
        Targets by input index, which of equally good ones comes first.

    Attributes
    ----------
    counts : ndarray of int32, shape (queries,)
        How many hits each query has.
    hits : ndarray of `HIT`, shape (queries, most)
        The first `counts` of each row; sorted after `sort`. Targets by their places in `order`.
    """

    def __init__(self, first: int, stop: int, most: int, least: int, order: Int32s) -> None:
        self.first = first
        self._order = order
        self._places = np.empty(len(order), np.int32)
        self._places[order] = np.arange(len(order), dtype=np.int32)
        self.counts = np.zeros(stop - first, np.int32)
        self.hits = np.zeros((stop - first, most), HIT)
        self._least = least
        self._floors = np.full(stop - first, least, np.int32)

    def _native(self) -> NativeBestHits:
        sizes = len(self.counts), self.hits.shape[1], self._least
        return NativeBestHits(self.first, *sizes, self.counts, self._floors, self.hits)

    def add(
        self,
        query: Int32s,
        target: Int32s,
        raw_score: Int32s,
        rank: Doubles | None = None,
    ) -> None:
        """Take in some pairs, each once; those of other queries are left out.

        Parameters
        ----------
        query, target, raw_score : ndarray of int32, shape (n,)
        rank : ndarray of float64, shape (n,), or None
            None: the raw score alone counts.
        """
        places = self._places[target]
        arrays = [np.ascontiguousarray(values, np.int32) for values in (query, places, raw_score)]
        ranks = None if rank is None else np.ascontiguousarray(rank, np.float64)
        _add(self._native(), len(arrays[0]), *arrays, ranks)

    def sort(self) -> None:
        """Sort the hits of each query, best first; nothing may be added afterwards."""
        _sort(self._native())

    def pairs_of(self, start: int, stop: int) -> tuple[Int32s, Int32s, Int32s]:
        """Return the hits of queries from `start` up to `stop`, query by query, best first.

        Returns
        -------
        query, target, raw_score : ndarray of int32, shape (hits,)
        """
        which = slice(start - self.first, stop - self.first)
        counts, rows = self.counts[which], self.hits[which]
        kept = rows[np.arange(rows.shape[1]) < counts[:, None]]
        query = np.repeat(np.arange(start, stop, dtype=np.int32), counts)
        return query, self._order[kept["target"]], kept["raw_score"].copy()

    def packed(self) -> str:
        """Return what `unpack` needs to go on, as text."""
        dumped = self.counts.tobytes() + self.hits.tobytes()
        return base64.b64encode(zlib.compress(dumped, 1)).decode()

    def unpack(self, packed: str, targets: int) -> None:
        """Take up what `packed` has returned; it decides no size of memory.

        Parameters
        ----------
        targets : int
            How many targets there are.

        Raises
        ------
        ValueError
            It does not make sense.
        """
        size, all_bytes = self.counts.nbytes, self.counts.nbytes + self.hits.nbytes
        data = base64.b64decode(packed, validate=True)
        try:
            dumped = zlib.decompressobj().decompress(data, all_bytes + 1)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        if len(dumped) != all_bytes:
            raise ValueError("hits of another size")
        counts = np.frombuffer(dumped[:size], np.int32)
        hits = np.frombuffer(dumped[size:], HIT).reshape(self.hits.shape)
        are_possible = (counts >= 0).all() and (counts <= self.hits.shape[1]).all()
        if not (are_possible and ((hits["target"] >= 0) & (hits["target"] < targets)).all()):
            raise ValueError("hits of other sequences")
        self.counts[:], self.hits[:] = counts, hits


def number_pairs(query: Int32s, target: Int32s) -> Int64s:
    """Return a number for each pair of a query and a target, int64."""
    return query.astype(np.int64) << 32 | target


def pairs_of_numbers(numbers: Int64s) -> tuple[Int32s, Int32s]:
    """Return query and target of each number of `number_pairs`."""
    return (numbers >> 32).astype(np.int32), (numbers & 0x7FFFFFFF).astype(np.int32)


def are_first(query: Int32s, target: Int32s) -> Bools:
    """Return which hits of a set with itself are left where each pair comes once, the earlier way.

    Parameters
    ----------
    query, target : ndarray of int32, shape (n,)
        Each hit once; a pair may come both ways.
    """
    numbers, others = np.sort(number_pairs(query, target)), number_pairs(target, query)
    places = np.minimum(np.searchsorted(numbers, others), len(numbers) - 1)
    first: Bools = (query < target) | (numbers[places] != others)
    return first


def take_pairs(alignments: Alignments, wanted: Int64s) -> tuple[Alignments, Int64s]:
    """Return the alignments of some pairs, in the order of these.

    Parameters
    ----------
    alignments : Alignments
        Of all wanted pairs; those of a pair in their order.
    wanted : ndarray of int64, shape (n,)
        As `number_pairs` returns them.

    Returns
    -------
    alignments : Alignments
    counts : ndarray of int64, shape (n,)
        How many each pair has.
    """
    numbers = number_pairs(alignments.query, alignments.target)
    order = np.argsort(numbers, kind="stable")
    starts, ends = (np.searchsorted(numbers[order], wanted, side) for side in ("left", "right"))
    counts: Int64s = ends - starts
    assert counts.all(), "a hit has no alignment"
    inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return alignments.take(order[np.repeat(starts, counts) + inside]), counts
