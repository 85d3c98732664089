"""Alignments: the results of many pairs, one NumPy array a field.

`Alignments` is what engines return and writers write; what users do with them is in
`pairalign.results.alignments_result`. Conventions (spans, CIGAR runs, which sequence is the query)
are in docs/conventions.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Doubles, Int32s, Int64s, UInt32s
from pairalign.base.error_types import UsageError
from pairalign.base.native import library
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from typing_extensions import Self

SCORE_FIELDS = ("query", "target", "raw_score")
STATS_FIELDS = (
    "query_start",
    "query_end",
    "target_start",
    "target_end",
    "matches",
    "mismatches",
    "gap_openings",
    "gap_residues",
)
_INT_FIELDS = (*SCORE_FIELDS, *STATS_FIELDS)
_PAIR_FIELDS = (*_INT_FIELDS, "strand")
_NOT_JOINED = (
    *("queries", "targets", "scoring", "significance"),
    *("cigar", "cigar_offsets", "strand"),
)


class Statistics(Protocol):
    """What bit scores and E-values are made of: `pairalign.statistics.significance` has it."""

    def bits(self, alignments: Alignments) -> Doubles:
        """Return the bit scores of some alignments."""

    def evalues(self, alignments: Alignments) -> Doubles:
        """Return the E-values of some alignments."""


@dataclass(kw_only=True, eq=False, repr=False)
class Alignments:
    """Alignments of many pairs, an array a field; n pairs, in the order of output.

    Attributes
    ----------
    queries, targets : SequenceSet
        The sets that `query` and `target` point into; one and the same object when every sequence
        of one set was aligned to every other.
    scoring : Scoring
        What the scores mean.
    query, target : ndarray of int32, shape (n,)
        Which sequences: indices in input order.
    raw_score : ndarray of int32, shape (n,)
        Scores times ``scoring.scale``; `score` has them unscaled.
    query_start, query_end, target_start, target_end : ndarray of int32, shape (n,), or None
        The aligned parts, in residues, counted from 0, half-open. All 0 where nothing is aligned.
    matches, mismatches, gap_openings, gap_residues : ndarray of int32, shape (n,), or None
        Counts inside the spans: free end gaps do not count.
    cigar : ndarray of uint32, shape (total,), or None
        The runs of all pairs one after the other: ``length << 4 | op`` with the SAM operations
        I = 1 (query only), D = 2 (target only), ``=`` = 7 and X = 8.
    cigar_offsets : ndarray of int64, shape (n + 1,), or None
        Pair ``k`` has the runs ``cigar[cigar_offsets[k]:cigar_offsets[k + 1]]``.
    strand : ndarray of int8, shape (n,), or None
        1, or -1 where the query was reverse-complemented: spans are on the original strands of both
        sequences and the CIGAR runs along the target, as in PAF. None: all 1.
    significance : Statistics or None
        What `bits` and `evalue` are made of, a `pairalign.statistics.significance.Significance`;
        None: they are not known.

    Raises
    ------
    UsageError
        If the fields do not fit together.

    Notes
    -----
    Spans and counts are None when only scores were computed, the CIGAR fields when no CIGARs were.
    Arrays are converted to the types above; those that have them already are not copied.
    """

    queries: SequenceSet
    targets: SequenceSet
    scoring: Scoring
    query: Int32s
    target: Int32s
    raw_score: Int32s
    query_start: Int32s | None = None
    query_end: Int32s | None = None
    target_start: Int32s | None = None
    target_end: Int32s | None = None
    matches: Int32s | None = None
    mismatches: Int32s | None = None
    gap_openings: Int32s | None = None
    gap_residues: Int32s | None = None
    cigar: UInt32s | None = None
    cigar_offsets: Int64s | None = None
    strand: npt.NDArray[np.int8] | None = None
    significance: Statistics | None = None

    def __post_init__(self) -> None:
        pairs = len(self.query)
        for name in _PAIR_FIELDS:
            values = getattr(self, name)
            if values is None:
                continue
            dtype = np.int8 if name == "strand" else np.int32
            values = np.ascontiguousarray(values, dtype=dtype)
            if values.shape != (pairs,):
                raise UsageError(f"field '{name}' has shape {values.shape}, expected ({pairs},)")
            setattr(self, name, values)
        if len({getattr(self, name) is None for name in STATS_FIELDS}) > 1:
            raise UsageError("spans and counts come all together or not at all")
        if (self.cigar is None) != (self.cigar_offsets is None):
            raise UsageError("cigar and cigar_offsets come together")
        if self.cigar is None or self.cigar_offsets is None:
            return
        if not self.has_stats:
            raise UsageError("CIGARs come with spans and counts")
        self.cigar = np.ascontiguousarray(self.cigar, dtype=np.uint32)
        offsets = np.ascontiguousarray(self.cigar_offsets, dtype=np.int64)
        self.cigar_offsets = offsets
        if offsets.shape != (pairs + 1,):
            raise UsageError(f"cigar_offsets has shape {offsets.shape}, expected ({pairs + 1},)")
        if offsets[0] < 0 or offsets[-1] > len(self.cigar) or (offsets[1:] < offsets[:-1]).any():
            raise UsageError(f"cigar_offsets must rise from 0 to at most {len(self.cigar)}")

    @classmethod
    def of_native(cls, **fields: Any) -> Self:
        """Return alignments of arrays that native code filled: they fit, and are not checked."""
        alignments = object.__new__(cls)
        vars(alignments).update(fields)
        return alignments

    @property
    def has_stats(self) -> bool:
        """Whether there are spans and counts."""
        return self.matches is not None

    @property
    def has_cigar(self) -> bool:
        """Whether there are CIGARs."""
        return self.cigar is not None

    @property
    def score(self) -> Int32s | Doubles:
        """Scores, shape (n,): int32, or float64 when costs or matrix have decimals."""
        if self.scoring.scale == 1:
            return self.raw_score
        scores: Doubles = self.raw_score / np.float64(self.scoring.scale)
        return scores

    @property
    def columns(self) -> Int32s:
        """Columns of each alignment, int32 of shape (n,), free end gaps not counted."""
        return self.field("matches") + self.field("mismatches") + self.field("gap_residues")

    @property
    def identity(self) -> Doubles:
        """Matches by columns, float64 of shape (n,); nan where nothing is aligned."""
        with np.errstate(invalid="ignore"):
            return self.field("matches") / self.columns

    @property
    def bits(self) -> Doubles:
        """Bit scores, float64 of shape (n,); UsageError where they are not known."""
        return self._statistics.bits(self)

    @property
    def evalue(self) -> Doubles:
        """E-values of the queries' searches, float64 of shape (n,); UsageError as for `bits`."""
        return self._statistics.evalues(self)

    @property
    def _statistics(self) -> Statistics:
        if self.significance is None:
            raise UsageError(
                "bits and E-values are not known: they are those of local alignments with costs "
                "that have published parameters, or of align(max_evalue=...)"
            )
        return self.significance

    def field(self, name: str) -> Int32s:
        """Return one of the spans and counts, shape (n,); UsageError if only scores were computed.

        Parameters
        ----------
        name : str
            One of `STATS_FIELDS`.

        Returns
        -------
        ndarray of int32, shape (n,)
            The array itself.
        """
        values: Int32s | None = getattr(self, name)
        if values is None:
            raise UsageError(f"only scores were computed: there is no '{name}'")
        return values

    def __len__(self) -> int:
        return len(self.query)

    def __repr__(self) -> str:
        detail = "with CIGARs" if self.has_cigar else "with spans" if self.has_stats else "scores"
        return f"<Alignments: {len(self)} pairs, {self.scoring.mode}, {detail}>"

    def __getitem__(self, pairs: slice | npt.NDArray[Any] | list[int] | list[bool]) -> Self:
        """Those of a slice, which shares memory; of numbers, or of a mask."""
        if not isinstance(pairs, slice):
            return self.take(pairs)
        start, stop, step = pairs.indices(len(self))
        if step != 1:
            return self.take(np.arange(start, stop, step))
        stop = max(start, stop)
        present: dict[str, Any] = {
            name: getattr(self, name)[start:stop]
            for name in _PAIR_FIELDS
            if getattr(self, name) is not None
        }
        if self.cigar_offsets is not None and self.cigar is not None:
            offsets = self.cigar_offsets[start : stop + 1]
            present["cigar"] = self.cigar[offsets[0] : offsets[-1]]
            present["cigar_offsets"] = offsets - offsets[0]
        return replace(self, **present)

    def without(self, *, stats: bool = False, cigar: bool = False) -> Self:
        """Return the same pairs without CIGARs, or without spans, counts and CIGARs."""
        dropped = (STATS_FIELDS if stats else ()) + (
            ("cigar", "cigar_offsets") if stats or cigar else ()
        )
        present: dict[str, Any] = {n: None for n in dropped if getattr(self, n) is not None}
        return replace(self, **present) if present else self

    def take(self, pairs: npt.ArrayLike) -> Self:
        """Copy some of the pairs.

        Parameters
        ----------
        pairs : array_like of int, or of bool with shape (n,)
            Positions of the pairs wanted in the order wanted, or a mask.

        Returns
        -------
        Alignments
            Of the same sets.
        """
        chosen = self._numbers(pairs)
        present: dict[str, Any] = {
            name: getattr(self, name) for name in _INT_FIELDS if getattr(self, name) is not None
        }
        columns, strand = take_fields(list(present.values()), self.strand, chosen)
        present = dict(zip(present, columns, strict=True))
        if strand is not None:
            present["strand"] = strand
        if self.cigar_offsets is not None and self.cigar is not None:
            present["cigar"], present["cigar_offsets"] = gather_runs(
                self.cigar, self.cigar_offsets, chosen
            )
        return replace(self, **present)

    def _numbers(self, pairs: npt.ArrayLike) -> Int64s:
        """Positions from 0 on, of positions or a mask."""
        chosen, count = np.asarray(pairs), len(self)
        if chosen.dtype == np.bool_:
            if chosen.shape != (count,):
                raise UsageError(f"the mask has shape {chosen.shape}, expected ({count},)")
            return np.flatnonzero(chosen)
        if not chosen.size:
            return np.arange(0)
        chosen = chosen.astype(np.int64, casting="same_kind", copy=False)
        lowest, highest = int(chosen.min()), int(chosen.max())
        if lowest < -count or highest >= count:
            wrong = lowest if lowest < -count else highest
            raise IndexError(f"there is no pair {wrong}: expected -{count} to {count - 1}")
        return np.where(chosen < 0, chosen + count, chosen) if lowest < 0 else chosen


def no_alignments(
    queries: SequenceSet, targets: SequenceSet | None, scoring: Scoring, detail: Detail
) -> Alignments:
    """Return alignments of no pair, with the fields of a detail.

    Parameters
    ----------
    queries, targets : SequenceSet
        `targets` is None for one set.
    """
    names = SCORE_FIELDS + (STATS_FIELDS if detail > Detail.SCORE else ())
    columns: dict[str, Any] = {name: np.empty(0, np.int32) for name in names}
    if detail == Detail.CIGAR:
        columns["cigar"] = np.empty(0, np.uint32)
        columns["cigar_offsets"] = np.zeros(1, np.int64)
    others = queries if targets is None else targets
    return Alignments(queries=queries, targets=others, scoring=scoring, **columns)


def concatenate(parts: Sequence[Alignments]) -> Alignments:
    """Join alignments of the same sets into one, in the order given.

    Parameters
    ----------
    parts : sequence of Alignments
        At least one; all of the same sets and scoring, and with the same fields.

    Raises
    ------
    UsageError
        If there is nothing to join or the parts do not fit together.
    """
    if not parts:
        raise UsageError("nothing to concatenate: expected at least one Alignments")
    first = parts[0]
    if len(parts) == 1:
        return first
    for part in parts:
        if part.queries is not first.queries or part.targets is not first.targets:
            raise UsageError("cannot concatenate alignments of different sequence sets")
        if part.scoring != first.scoring:
            raise UsageError("cannot concatenate alignments of different scorings")
        if (part.has_stats, part.has_cigar) != (first.has_stats, first.has_cigar):
            raise UsageError("cannot concatenate alignments with different fields")
    joined: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Alignments)
        if field.name not in _NOT_JOINED and getattr(first, field.name) is not None
    }
    if any(part.strand is not None for part in parts):
        joined["strand"] = np.concatenate([strands_of(part) for part in parts])
    if first.has_cigar:
        joined.update(_join_cigars(parts))
    return replace(first, **joined)


def strands_of(part: Alignments) -> npt.NDArray[np.int8]:
    """Return the strand of each alignment, 1 where strands were not looked at."""
    return np.ones(len(part), np.int8) if part.strand is None else part.strand


def _join_cigars(parts: Sequence[Alignments]) -> dict[str, npt.NDArray[Any]]:
    runs, sizes = [], [np.zeros(1, dtype=np.int64)]
    for part in parts:
        some, offsets = runs_of(part)
        runs.append(some)
        sizes.append(np.diff(offsets))
    return {"cigar": np.concatenate(runs), "cigar_offsets": np.cumsum(np.concatenate(sizes))}


Runs = UInt32s
Offsets = Int64s


def runs_of(alignments: Alignments) -> tuple[Runs, Offsets]:
    """Return the runs of alignments with CIGARs, and where those of each begin, n + 1 from 0."""
    runs, offsets = alignments.cigar, alignments.cigar_offsets
    assert runs is not None
    assert offsets is not None
    return runs[offsets[0] : offsets[-1]], offsets - offsets[0]


_reverse = library.pairalign_reverse_runs
_offsets = library.pairalign_offsets_of_runs
_gather = library.pairalign_gather_runs
_take = library.pairalign_take_fields


def reverse_runs(runs: Runs, offsets: Offsets, turned: Bools) -> None:
    """Reverse the runs of some alignments in place.

    Parameters
    ----------
    runs : ndarray of uint32, shape (total,)
    offsets : ndarray of int64, shape (n + 1,)
        Where the runs of each alignment begin.
    turned : ndarray of bool, shape (n,)
    """
    assert runs.flags.c_contiguous
    assert runs.flags.writeable
    assert turned.shape == (len(offsets) - 1,)
    offsets = np.ascontiguousarray(offsets, np.int64)
    mask = np.ascontiguousarray(turned, np.bool_)
    _reverse(len(mask), offsets, mask, runs)


def gather_runs(runs: Runs, offsets: Offsets, numbers: Offsets) -> tuple[Runs, Offsets]:
    """Copy the runs of some alignments, in the order given.

    Parameters
    ----------
    runs : ndarray of uint32, shape (total,)
    offsets : ndarray of int64, shape (n + 1,)
    numbers : ndarray of int64, shape (m,)
        Numbers of alignments, from 0 to n - 1.

    Returns
    -------
    runs : ndarray of uint32
    offsets : ndarray of int64, shape (m + 1,)
    """
    numbers = np.ascontiguousarray(numbers, np.int64)
    offsets = np.ascontiguousarray(offsets, np.int64)
    assert runs.flags.c_contiguous
    new_offsets = np.empty(len(numbers) + 1, np.int64)
    _offsets(len(numbers), numbers, offsets, new_offsets)
    out = np.empty(int(new_offsets[-1]), np.uint32)
    _gather(len(numbers), numbers, offsets, runs, out)
    return out, new_offsets


def take_fields(
    fields: Sequence[Int32s],
    strand: npt.NDArray[np.int8] | None,
    numbers: Int64s,
) -> tuple[list[Int32s], npt.NDArray[np.int8] | None]:
    """Copy some pairs of some fields.

    Parameters
    ----------
    fields : sequence of ndarrays of int32, shape (n,)
    strand : ndarray of int8, shape (n,), or None
    numbers : ndarray of int64, shape (m,)
        From 0 to n - 1.

    Returns
    -------
    fields : list of ndarrays of int32, shape (m,)
    strand : ndarray of int8, shape (m,), or None
    """
    numbers = np.ascontiguousarray(numbers, np.int64)
    count = len(numbers)
    kept = [np.ascontiguousarray(field, np.int32) for field in fields]
    copies = [np.empty(count, np.int32) for _ in fields]
    strand_taken = None if strand is None else np.empty(count, np.int8)
    _take(*(count, numbers, len(kept)), *(tuple(kept), tuple(copies), strand, strand_taken))
    return copies, strand_taken
