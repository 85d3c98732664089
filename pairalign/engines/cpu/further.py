"""Further alignments of pairs: the best that puts no two letters together which one before did.

After Waterman and Eggert 1987. The native code is ``cpu/further/``; it runs on cores whatever
engine made the first alignments, so that the bytes are the same. Each further one costs a pass over
the pair's whole matrix, unless a run of equal letters that it must have is not there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import POINTER, c_int32, c_int64, c_uint32, c_void_p
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.complement import reverse_complement
from pairalign.engines.cpu.engine import instruction_sets
from pairalign.native import library
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet
from pairalign.strands import to_original_strands
from pairalign.windows import Window

Runs = npt.NDArray[np.uint32]


class NativePair(ctypes.Structure):
    """pairalign_further_pair of cpu/further/further.h."""

    _fields_ = (
        *((name, c_void_p) for name in ("rows", "columns", "matrix", "used_starts")),
        *((name, c_void_p) for name in ("used_offsets", "used_runs", "cancelled")),
        *((name, c_int32) for name in ("row_count", "column_count", "gap_open", "gap_extend")),
        *((name, c_int32) for name in ("is_local", "definite", "least", "query_is_row", "used")),
        ("least_run", c_int32),
    )


_NATIVE_PAIR = np.dtype(NativePair)


class NativeFound(ctypes.Structure):
    """pairalign_further_found."""

    _fields_ = tuple(
        (name, c_int32)
        for name in (
            *("score", "row_start", "row_end", "column_start", "column_end"),
            *("matches", "mismatches", "gap_openings", "gap_letters", "run_count"),
        )
    )


_align = library.pairalign_further_alignment
_align.restype = c_int32
_align.argtypes = (POINTER(NativePair), ctypes.c_char_p, POINTER(NativeFound), POINTER(c_uint32))

_screen = library.pairalign_further_screen
_screen.restype = c_int32
_screen.argtypes = (c_void_p, c_int64, c_int32, c_void_p)

_NO_MEMORY, _CANCELLED = -1, -2


class FurtherAligner:
    """Finds the next alignment of pairs some of whose alignments are known.

    Parameters
    ----------
    queries, targets : SequenceSet
        The same object for pairs of one set.
    scoring : Scoring
        Local or semiglobal.
    threads : int
    instruction_set : str, optional
        See `pairalign.engines.cpu.engine.instruction_sets`.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet,
        scoring: Scoring,
        threads: int,
        instruction_set: str | None = None,
    ) -> None:
        assert scoring.mode != "global"
        self._sets = queries, targets
        self._scoring = scoring
        self._matrix = np.ascontiguousarray(scoring.matrix, np.int32)
        self._threads = threads
        self._isa = (instruction_set or instruction_sets()[0]).encode()
        self._cancelled = np.zeros(1, np.int32)
        self._other_strands: list[Any] = [None, None]  # of whole sets, once they are needed
        self._positions = []
        for one in (queries, targets):
            positions = np.empty(len(one), np.int64)
            positions[one.order] = np.arange(len(one))
            self._positions.append(positions)

    def cancel(self) -> None:
        """Make `next_of` raise InterruptedError, soon where it is running."""
        self._cancelled[0] = 1

    def next_of(
        self, known: Sequence[Alignments], window: Window, least: int, least_run: int = 0
    ) -> tuple[Alignments, npt.NDArray[np.int64]]:
        """Align pairs once more.

        Parameters
        ----------
        known : sequence of Alignments
            The first alignments of some pairs, then the second ones of the same pairs, and so on,
            all with CIGARs, as engines return them.
        window : Window
            Of the pairs: its strand, and whether they are of one set.
        least : int
            Raw score, at least 1.
        least_run : int
            Equal letters in a row that an alignment must have to be of use: a pair without so many
            on free cells is not aligned. 0: any will do.

        Returns
        -------
        found : Alignments
            Those that score `least`, in the order of `known`.
        numbers : ndarray of int64
            Which of the pairs these are.
        """
        turned = [_in_window(one, window) for one in known]
        numbers = np.arange(len(known[0]))
        if least_run > 0 and len(known) == 1:
            numbers, least_run = np.flatnonzero(self._screen(turned[0], window, least_run)), 0
        with ThreadPoolExecutor(self._threads) as pool:
            results = list(
                pool.map(
                    lambda k: self._next(turned, int(k), window, least, least_run),
                    numbers,
                )
            )
        numbers = numbers[np.array([one is not None for one in results], np.bool_)]
        found = [one for one in results if one is not None]
        return to_original_strands(self._gather(known[0], numbers, found, window), window), numbers

    def _query_is_row(
        self, query: npt.NDArray[Any], target: npt.NDArray[Any], window: Window
    ) -> npt.NDArray[np.bool_]:
        """Whether the longer sequence is the query; of two sets of equal lengths, it is."""
        queries, targets = self._sets
        if window.triangular:
            return np.asarray(self._positions[0][query] < self._positions[0][target])
        return np.asarray(queries.lengths[query] >= targets.lengths[target])

    def _screen(self, known: Alignments, window: Window, least_run: int) -> npt.NDArray[np.bool_]:
        """Whether pairs with one known alignment may have another with such a run."""
        assert known.cigar is not None
        assert known.cigar_offsets is not None
        is_row = self._query_is_row(known.query, known.target, window)
        pairs = np.zeros(len(known), _NATIVE_PAIR)
        starts = np.stack(
            [
                np.where(is_row, known.field("query_start"), known.field("target_start")),
                np.where(is_row, known.field("target_start"), known.field("query_start")),
            ],
            axis=1,
        ).astype(np.int32)
        cigar = np.ascontiguousarray(known.cigar, np.uint32)
        offsets = np.ascontiguousarray(known.cigar_offsets, np.int64)
        places = np.arange(len(known), dtype=np.uint64)
        query, target = (self._places_of(side, known, is_row, window) for side in (0, 1))
        for name, k in (("rows", 0), ("row_count", 1)):
            pairs[name] = np.where(is_row, query[k], target[k])
            pairs[name.replace("row", "column")] = np.where(is_row, target[k], query[k])
        pairs["used_starts"] = starts.ctypes.data + places * np.uint64(8)
        pairs["used_offsets"] = offsets.ctypes.data + places * np.uint64(8)
        pairs["used_runs"], pairs["cancelled"] = cigar.ctypes.data, self._cancelled.ctypes.data
        pairs["definite"], pairs["query_is_row"] = self._scoring.alphabet.definite, is_row
        pairs["used"], pairs["least_run"] = 1, least_run
        may = np.zeros(len(known), np.bool_)
        _check(_screen(pairs.ctypes.data, len(pairs), self._threads, may.ctypes.data))
        return may

    def _places_of(
        self, side: int, known: Alignments, is_row: npt.NDArray[np.bool_], window: Window
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Addresses of the codes of pairs' queries (side 0) or targets, and their lengths."""
        sequences = self._sets[side]
        numbers = known.target if side else known.query
        starts, stops = sequences.offsets[numbers], sequences.offsets[numbers + 1]
        addresses = sequences.codes.ctypes.data + starts
        if window.strand < 0:
            if self._other_strands[side] is None:
                self._other_strands[side] = reverse_complement(sequences.codes, sequences.alphabet)
            other = self._other_strands[side]
            is_turned = is_row == bool(side) if window.triangular else np.bool_(side)
            turned = other.ctypes.data + len(other) - stops
            addresses = np.where(is_turned, turned, addresses)
        return addresses.astype(np.uint64), stops - starts

    def _next(
        self,
        known: Sequence[Alignments],
        number: int,
        window: Window,
        least: int,
        least_run: int,
    ) -> tuple[NativeFound, Runs] | None:
        if self._cancelled[0]:
            raise InterruptedError("cancelled")
        query, target = int(known[0].query[number]), int(known[0].target[number])
        codes = [one.codes_of(k) for one, k in zip(self._sets, (query, target), strict=True)]
        this = slice(number, number + 1)
        query_is_row = bool(
            self._query_is_row(known[0].query[this], known[0].target[this], window)[0]
        )
        if window.strand < 0:  # the column of one set, the target of two
            side = int(query_is_row) if window.triangular else 1
            codes[side] = reverse_complement(codes[side], self._sets[side].alphabet)
        rows, columns = codes if query_is_row else codes[::-1]
        starts, offsets, runs = _used(known, number, query_is_row)
        pair = NativePair(
            *(one.ctypes.data for one in (rows, columns, self._matrix, starts, offsets, runs)),
            self._cancelled.ctypes.data,
            len(rows),
            len(columns),
            self._scoring.gap_open,
            self._scoring.gap_extend,
            self._scoring.mode == "local",
            self._scoring.alphabet.definite,
            least,
            query_is_row,
            len(known),
            least_run,
        )
        found, out = NativeFound(), np.empty(len(rows) + len(columns), np.uint32)
        text = out.ctypes.data_as(POINTER(c_uint32))
        status = _align(ctypes.byref(pair), self._isa, ctypes.byref(found), text)
        _check(status)
        return (found, out[: found.run_count].copy()) if status else None

    def _gather(
        self,
        first: Alignments,
        numbers: npt.NDArray[np.int64],
        found: Sequence[tuple[NativeFound, Runs]],
        window: Window,
    ) -> Alignments:
        query, target = first.query[numbers], first.target[numbers]
        is_row = self._query_is_row(query, target, window)

        def column(name: str) -> npt.NDArray[np.int32]:
            return np.array([getattr(one, name) for one, _ in found], np.int32)

        fields: dict[str, Any] = {
            name: column(name) for name in ("matches", "mismatches", "gap_openings", "gap_letters")
        }
        for end in ("start", "end"):
            rows, columns = column(f"row_{end}"), column(f"column_{end}")
            fields[f"query_{end}"] = np.where(is_row, rows, columns)
            fields[f"target_{end}"] = np.where(is_row, columns, rows)
        sizes = np.array([len(runs) for _, runs in found], np.int64)
        return Alignments(
            queries=first.queries,
            targets=first.targets,
            scoring=first.scoring,
            query=query,
            target=target,
            raw_score=column("score"),
            cigar=np.concatenate([np.empty(0, np.uint32), *(runs for _, runs in found)]),
            cigar_offsets=np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))),
            strand=None if first.strand is None else np.full(len(found), window.strand, np.int8),
            **fields,
        )


def _check(status: int) -> None:
    """Raise what a status of the native code says."""
    if status == _CANCELLED:
        raise InterruptedError("cancelled")
    if status == _NO_MEMORY:
        raise MemoryError("out of memory while further alignments are made")


def _in_window(found: Alignments, window: Window) -> Alignments:
    """Return alignments as engines made them, before they were turned to original strands.

    Turning twice changes nothing.
    """
    if window.strand > 0:
        return found
    assert found.cigar is not None
    return to_original_strands(replace(found, cigar=found.cigar.copy()), window)


def _used(
    known: Sequence[Alignments], number: int, query_is_row: bool
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], Runs]:
    """Where the known alignments of a pair start, and their runs one after the other."""
    sides = ("query", "target") if query_is_row else ("target", "query")
    starts = [[int(one.field(f"{side}_start")[number]) for side in sides] for one in known]
    parts = []
    for one in known:
        assert one.cigar is not None
        assert one.cigar_offsets is not None
        parts.append(one.cigar[one.cigar_offsets[number] : one.cigar_offsets[number + 1]])
    sizes = np.array([len(part) for part in parts], np.int64)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    return np.array(starts, np.int32), offsets, np.concatenate(parts)
