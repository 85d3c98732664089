"""Posteriors of pairs on this machine's cores; see ``cpu/posterior/model.h`` for what they are."""

from __future__ import annotations

from ctypes import byref, c_int32, c_void_p
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, runs_of
from pairalign.alignments.calibration import least_posteriors
from pairalign.alignments.posteriors import ARITHMETICS, SparsePosteriors
from pairalign.base.arrays import Int32s, Int64s, Structs, UInt8s
from pairalign.base.error_types import CapacityError
from pairalign.base.native import Struct, library, struct_dtype, struct_fields
from pairalign.engines.cpu.cpu_engine import READ_AHEAD_BYTES, instruction_set_of
from pairalign.engines.cpu.native_structs import CANCELLED, NO_MEMORY
from pairalign.scoring.posterior_models import CODES, MOST_MATCH_STATES, PosteriorModel, growth_bits
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet


class NativeModel(Struct):
    """``pairalign_posterior_model`` of ``cpu/posterior/model.h``."""

    _fields_ = struct_fields(
        f"double*{MOST_MATCH_STATES * CODES**2} hmm_emission; "
        f"double*{CODES**2} partition_emission; double start_match start_short start_long; "
        f"double*{MOST_MATCH_STATES} stay leave enter open_short open_long; "
        "double extend_short extend_long close_short close_long gap_open gap_extend; "
        "int32 match_states growth"
    )


_UNSOUND = 6
"""What ``pairalign_posteriors`` returns where no arithmetic gives probabilities."""


class NativePairs(Struct):
    """``pairalign_posterior_pairs`` of ``cpu/posterior/model.h``."""

    _fields_ = struct_fields(
        "pointer codes starts lengths rows columns; int64 count; int32 unknown"
    )


class NativeCutEntries(Struct):
    """``pairalign_posterior_cut_entries`` of ``cpu/posterior/cuts.h``."""

    _fields_ = struct_fields("pointer places offsets rows columns values")


PART = struct_dtype("int32 x y x_end y_end x_core y_core x_core_end y_core_end")
"""``pairalign_posterior_cut`` of ``cpu/posterior/cuts.h``: a part of a pair, from where in both
sequences to where; and which of it counts."""


class PosteriorEngine:
    """Computes posteriors of pairs of a set.

    Parameters
    ----------
    threshold : float
        Posteriors below are left out; from 2^-20 to 1.
    instruction_set : str, optional
        As for the CPU engine.
    arithmetic : str
        One of `pairalign.alignments.posteriors.ARITHMETICS`: the narrowest to use.

    Attributes
    ----------
    is_gpu, residues_at_once
        See `pairalign.engines.posterior_engines.PosteriorComputer`.

    Raises
    ------
    DeviceError
        The machine cannot run `instruction_set`.
    """

    is_gpu = False
    residues_at_once = 1 << 18

    def __init__(
        self,
        sequences: SequenceSet,
        model: PosteriorModel,
        *,
        threshold: float = 0.01,
        threads: int = 1,
        instruction_set: str | None = None,
        arithmetic: str = "float32",
    ) -> None:
        assert 2**-20 <= threshold <= 1
        self._codes = np.concatenate((sequences.codes, np.zeros(READ_AHEAD_BYTES, np.uint8)))
        self._starts = np.ascontiguousarray(sequences.offsets[:-1], np.int64)
        self._lengths = np.ascontiguousarray(sequences.lengths, np.int32)
        self._model = _native_model(model)
        self._threshold = threshold
        self._threads = threads
        self._set = instruction_set_of(instruction_set)
        self._arithmetic = ARITHMETICS.index(arithmetic)
        self._cancelled = c_int32(0)
        self._unknown = len(sequences.alphabet.letters) - 1

    def close(self) -> None:
        """Free what it holds: nothing that would not be freed with it."""

    def cancel(self) -> None:
        """Make a running `compute`, and each to come, raise InterruptedError; from any thread."""
        self._cancelled.value = 1

    def compute(self, queries: Int32s, targets: Int32s) -> SparsePosteriors:
        """Compute the posteriors of some pairs.

        Parameters
        ----------
        queries, targets : ndarray of int32, shape (pairs,)
            Input indices.

        Returns
        -------
        SparsePosteriors
            Of the pairs in their order.

        Raises
        ------
        CapacityError
            The machine is out of memory.
        InterruptedError
            `cancel` was called.
        """
        return self._compute(self._starts, self._lengths, queries, targets, -1)

    def cut(self, queries: Int32s, targets: Int32s) -> tuple[Int32s, Structs]:
        """Return how many parts each pair of DNA may be cut into, 0: none, and all parts."""
        counts = np.empty(len(queries), np.int32)
        pairs = self._pairs(self._starts, self._lengths, queries, targets, self._unknown)
        handle = library.pairalign_posterior_cuts(pairs, self._threads, counts)
        if not handle:
            raise CapacityError("out of memory for the parts of pairs")
        parts = np.empty(int(counts.sum()), PART)
        library.pairalign_posterior_take_cuts(handle, parts)
        return counts, parts

    def merge_parts(
        self,
        queries: Int32s,
        targets: Int32s,
        counts: Int32s,
        parts: Structs,
        places: Int64s,
        posteriors: SparsePosteriors,
        sure: int,
    ) -> tuple[Int32s, Structs, Int64s]:
        """Merge parts of pairs on both sides of a cut at which a posterior is not sure.

        Parameters
        ----------
        queries, targets, counts, parts
            As `cut` returns them.
        places : ndarray of int64, shape (parts,)
            Which of `posteriors` each part is.
        posteriors : SparsePosteriors
            Of the parts.
        sure : int
            The least posterior of the residues beside a cut, in 65535ths.

        Returns
        -------
        counts, parts, places : ndarray
            0 parts: the pair is to be computed as a whole. Place -1: a part that is new.
        """
        counts, parts, places = counts.copy(), parts.copy(), places.copy()
        pairs = self._pairs(self._starts, self._lengths, queries, targets, self._unknown)
        entries = _entries_of(places, posteriors)
        left = library.pairalign_posterior_merge(pairs, entries, sure, counts, parts, places)
        return counts, parts[:left], places[:left]

    def compute_parts(
        self,
        queries: Int32s,
        targets: Int32s,
        parts: Structs,
        memory_bytes: int | None = None,
    ) -> SparsePosteriors:
        """Compute the posteriors of parts of pairs of DNA, a query and a target for each part.

        As many threads take part as the largest part lets fit `memory_bytes`, one at least.
        """
        starts = np.concatenate(
            (self._starts[queries] + parts["x"], self._starts[targets] + parts["y"])
        )
        lengths = np.concatenate((parts["x_end"] - parts["x"], parts["y_end"] - parts["y"]))
        rows = np.arange(len(parts), dtype=np.int32)
        columns = rows + np.int32(len(rows))
        threads = self._threads
        if memory_bytes is not None and len(parts):
            each = thread_bytes(int(lengths[rows].max()), int(lengths[columns].max()))
            threads = max(1, min(threads, memory_bytes // each))
        return self._compute(starts, lengths, rows, columns, self._unknown, threads)

    def _compute(
        self,
        starts: Int64s,
        lengths: Int32s,
        queries: Int32s,
        targets: Int32s,
        unknown: int,
        threads: int | None = None,
    ) -> SparsePosteriors:
        queries = np.ascontiguousarray(queries, np.int32)
        targets = np.ascontiguousarray(targets, np.int32)
        pairs = self._pairs(starts, lengths, queries, targets, unknown)
        result = c_void_p()
        status = library.pairalign_posteriors(
            *(pairs, self._model, self._threshold, self._arithmetic, threads or self._threads),
            *(self._set.encode(), self._cancelled, byref(result)),
        )
        if status == NO_MEMORY:
            raise CapacityError("out of memory for the posteriors of pairs; allow fewer threads")
        if status == CANCELLED:
            raise InterruptedError("cancelled")
        assert status != _UNSOUND, "posteriors of a row add up to more than 1"
        assert not status, status
        try:
            return _take(result, queries, targets)
        finally:
            library.pairalign_posterior_free(result)

    def _pairs(
        self,
        starts: Int64s,
        lengths: Int32s,
        queries: Int32s,
        targets: Int32s,
        unknown: int,
    ) -> NativePairs:
        return NativePairs(self._codes, starts, lengths, queries, targets, len(queries), unknown)


def join_parts(
    queries: Int32s,
    targets: Int32s,
    counts: Int32s,
    parts: Structs,
    places: Int64s,
    posteriors: SparsePosteriors,
) -> SparsePosteriors:
    """Return the posteriors of pairs by those of their parts; see `PosteriorEngine.merge_parts`.

    Residues between parts have the mean of the posteriors beside them. A pair without parts has no
    entries.
    """
    entries, totals = _entries_of(places, posteriors), np.empty(len(queries), np.int64)
    arguments = len(queries), counts, parts, entries, totals
    library.pairalign_posterior_join(*arguments, None, None, None)
    offsets = np.concatenate(([0], np.cumsum(totals)))
    rows, columns = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    values, arithmetic = np.empty(offsets[-1], np.uint16), np.zeros(len(queries), np.uint8)
    library.pairalign_posterior_join(*arguments, rows, columns, values)
    pair = np.repeat(np.arange(len(queries)), counts)
    np.maximum.at(arithmetic, pair, posteriors.arithmetic[places])
    return SparsePosteriors(queries, targets, offsets, rows, columns, values, arithmetic)


def thread_bytes(rows: int, columns: int, match_states: int = 1) -> int:
    """Return the bytes that a thread needs for pairs of sequences of such lengths."""
    return int(library.pairalign_posterior_bytes(rows, columns, match_states))


def _entries_of(places: Int64s, posteriors: SparsePosteriors) -> NativeCutEntries:
    arrays = (places, posteriors.offsets, posteriors.rows, posteriors.columns, posteriors.values)
    return NativeCutEntries(*arrays)


def _native_model(model: PosteriorModel) -> NativeModel:
    growth = growth_bits(model)
    most = library.pairalign_posterior_most_growth()
    assert growth <= most, f"values of this model grow by {growth} bits, kernels hold {most}"
    native = NativeModel(match_states=model.match_states, growth=growth)
    for field in fields(model):
        value = getattr(model, field.name)
        if isinstance(value, np.ndarray):
            getattr(native, field.name)[: value.size] = value.ravel().tolist()
        else:
            setattr(native, field.name, value)
    return native


def _take(result: c_void_p, queries: Int32s, targets: Int32s) -> SparsePosteriors:
    offsets = np.empty(len(queries) + 1, np.int64)
    library.pairalign_posterior_offsets(result, offsets)
    entries = int(offsets[-1])
    rows, columns = np.empty(entries, np.int32), np.empty(entries, np.int32)
    values, arithmetic = np.empty(entries, np.uint16), np.empty(len(queries), np.uint8)
    library.pairalign_posterior_take(result, rows, columns, values, arithmetic)
    return SparsePosteriors(queries, targets, offsets, rows, columns, values, arithmetic)


_FIELDS = 5
"""Raw score, matches, mismatches, gap openings, gap residues."""


class PosteriorTable(Struct):
    """``pairalign_posterior_table`` of ``cpu/posterior/paths.cpp``."""

    _fields_ = struct_fields("pointer offsets rows columns values; int64 count")


class PathScoring(Struct):
    """``pairalign_path_scoring`` of ``cpu/posterior/paths.cpp``."""

    _fields_ = struct_fields("pointer matrix; int32 gap_open gap_extend unambiguous threads")


class PathPairs(Struct):
    """``pairalign_path_pairs`` of ``cpu/posterior/paths.cpp``."""

    _fields_ = struct_fields(
        "pointer query_codes target_codes query_starts target_starts query_lengths target_lengths "
        "run_starts runs run_counts fields"
    )


def align_by_posteriors(
    posteriors: SparsePosteriors,
    queries: SequenceSet,
    targets: SequenceSet,
    scoring: Scoring,
    query: Int32s,
    target: Int32s,
    threads: int,
) -> Alignments:
    """Align pairs globally with the highest expected accuracy.

    Parameters
    ----------
    posteriors : SparsePosteriors
        Of the pairs, the query's residues in the rows.
    scoring : Scoring
        What the alignments' scores are by; it decides nothing else.
    query, target : ndarray of int32, shape (n,)
        Input indices.

    Returns
    -------
    Alignments
        With CIGARs. Residues that are aligned to none are in gaps; between two aligned pairs of
        residues, those of the query come first.

    Raises
    ------
    CapacityError
        The machine is out of memory.
    """
    lengths = queries.lengths[query], targets.lengths[target]
    starts = [s.offsets[:-1][indices] for s, indices in ((queries, query), (targets, target))]
    room = np.concatenate(([0], np.cumsum(lengths[0].astype(np.int64) + lengths[1])))
    runs = np.empty(int(room[-1]), np.uint32)
    counts = np.empty(len(query), np.int32)
    fields = np.empty((_FIELDS, len(query)), np.int32)
    arrays: list[npt.NDArray[Any]] = [
        *(np.ascontiguousarray(sequences.codes, np.uint8) for sequences in (queries, targets)),
        *(np.ascontiguousarray(array, np.int64) for array in starts),
        *(np.ascontiguousarray(array, np.int32) for array in lengths),
        *(room, runs, counts, fields),
    ]
    matrix = np.ascontiguousarray(scoring.matrix, np.int32)
    costs = scoring.gap_open, scoring.gap_extend, scoring.alphabet.unambiguous, threads
    status = library.pairalign_posterior_paths(
        _table(posteriors), PathPairs(*arrays), PathScoring(matrix, *costs)
    )
    if status == NO_MEMORY:
        raise CapacityError("out of memory for alignments by posteriors; allow fewer threads")
    assert not status, status
    return Alignments(
        queries=queries,
        targets=targets,
        scoring=scoring,
        query=query,
        target=target,
        query_start=np.zeros(len(query), np.int32),
        query_end=lengths[0],
        target_start=np.zeros(len(query), np.int32),
        target_end=lengths[1],
        cigar=runs[_filled(room, counts)],
        cigar_offsets=np.concatenate(([0], np.cumsum(counts, dtype=np.int64))),
        raw_score=fields[0],
        matches=fields[1],
        mismatches=fields[2],
        gap_openings=fields[3],
        gap_residues=fields[4],
    )


def mark_columns(
    posteriors: SparsePosteriors, alignments: Alignments, threads: int
) -> tuple[UInt8s, Int64s]:
    """Return how sure each column of alignments is.

    Parameters
    ----------
    posteriors : SparsePosteriors
        Of the pairs of the alignments, in their order; the query's residues in the rows.
    alignments : Alignments
        With CIGARs, on strand plus.

    Returns
    -------
    marks : ndarray of uint8, shape (columns of all,)
        As HMMER's PP, of how likely residues are right
        (`pairalign.alignments.calibration.least_posteriors`): ``0`` for less than 0.05, ``1`` up to
        0.15, ..., ``*`` from 0.95 on; ``.`` for gaps.
    offsets : ndarray of int64, shape (n + 1,)
        Where those of each alignment begin.
    """
    runs, run_offsets = runs_of(alignments)
    offsets = np.concatenate(([0], np.cumsum(alignments.columns, dtype=np.int64)))
    marks = np.empty(int(offsets[-1]), np.uint8)
    starts = alignments.field("query_start"), alignments.field("target_start")
    least = least_posteriors(alignments.queries.alphabet)
    library.pairalign_posterior_marks(
        *(_table(posteriors), np.ascontiguousarray(runs), run_offsets, *starts),
        *(offsets, least, threads, marks),
    )
    return marks, offsets


def _table(posteriors: SparsePosteriors) -> PosteriorTable:
    names = ("offsets", "rows", "columns", "values")
    arrays = [getattr(posteriors, name) for name in names]
    assert all(array.flags.c_contiguous for array in arrays)
    return PosteriorTable(*arrays, len(posteriors))


def _filled(room: Int64s, counts: Int32s) -> Int64s:
    """Return where runs are, of pairs that had more room."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(counts.sum(dtype=np.int64))
    return np.repeat(room[:-1] - ends + counts, counts) + np.arange(total)
