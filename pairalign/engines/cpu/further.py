"""Further alignments of pairs: the best that puts no two letters together which one before did.

After Waterman and Eggert 1987. The native code is ``cpu/further/``; it runs on cores whatever
engine made the first alignments, so that the bytes are the same. Each further one costs a pass over
the pair's whole matrix, unless a run of equal letters that it must have is not there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import POINTER, c_int32, c_uint32, c_void_p
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
        with ThreadPoolExecutor(self._threads) as pool:
            results = list(
                pool.map(
                    lambda k: self._next(turned, k, window, least, least_run),
                    range(len(known[0])),
                )
            )
        numbers = np.array([k for k, one in enumerate(results) if one is not None], np.int64)
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
        if status == _CANCELLED:
            raise InterruptedError("cancelled")
        if status == _NO_MEMORY:
            raise MemoryError("out of memory while further alignments are made")
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
