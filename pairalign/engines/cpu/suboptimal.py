"""Suboptimal alignments of pairs, non-intersecting (Waterman-Eggert): no residue pair is reused.

After Waterman and Eggert 1987. The native code is ``cpu/suboptimal/``; it runs on cores whatever
engine made the first alignments, so that the bytes are the same. Each further one costs a pass over
the pair's whole matrix, unless a run of equal residues that it must have is not there; short pairs
of the same column sequence are filled together.

Where two reads are alike in one place, the best alignment is made in a band and then proven to
be the best, by what suboptimal ones may score: `SuboptimalAligner.best_of` and
``cpu/suboptimal/proven_band.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.strands import to_original_strands
from pairalign.base.arrays import Bools, Int32s, Int64s, Structs, UInt32s
from pairalign.base.native import Struct, library, struct_fields
from pairalign.engines.cpu.cpu_engine import instruction_set_of
from pairalign.pairs.windows import Window
from pairalign.reads.candidates import Seeds
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import reverse_complement
from pairalign.sequences.row_order import rank_rows
from pairalign.sequences.sets import SequenceSet

Runs = UInt32s


class NativePair(Struct):
    """pairalign_suboptimal_pair of cpu/suboptimal/suboptimal.h."""

    _fields_ = struct_fields(
        "pointer rows columns matrix used_starts used_offsets used_runs cancelled; int32 row_count "
        "column_count gap_open gap_extend is_local unambiguous least query_is_row used least_run "
        "word least_seeds least_near"
    )


class NativeFound(Struct):
    """pairalign_suboptimal_found."""

    _fields_ = struct_fields(
        "int32 score row_start row_end column_start column_end matches mismatches gap_openings "
        "gap_residues run_count"
    )


_NATIVE_PAIR, _NATIVE_FOUND = np.dtype(NativePair), np.dtype(NativeFound)

_align = library.pairalign_suboptimal_alignments
_band = library.pairalign_band_alignment

_screen = library.pairalign_suboptimal_screen

_NO_MEMORY, _CANCELLED = -1, -2
_FOUND, _USELESS, _UNPROVEN = 1, 2, 3

_RESIDUES_AT_ONCE = 1 << 24
"""Of pairs that the native code is given together: there is room for a run of each."""

_LEAST_IN_BANDS = 500
"""Residues: of less, as many pairs as there are lanes are filled as quickly."""


@dataclass(frozen=True)
class BestOf:
    """Best alignments that were made without filling matrices.

    Attributes
    ----------
    found : Alignments
        In the order of the pairs.
    done : ndarray of bool
        Whose they are, as the mask of the request's pairs.
    useless : ndarray of bool
        Pairs that have no alignment of use. All others are left to an engine.
    rest : ndarray of int32
        No suboptimal alignment of each pair that is found scores more.
    guessed : Alignments
        Of pairs whose best alignment this probably is.
    guesses : ndarray of int64, shape (guessed,)
        Their numbers in the mask of the request's pairs.
    guessed_rest : ndarray of int32
        No suboptimal alignment scores more, if it is.
    """

    found: Alignments
    done: Bools
    useless: Bools
    rest: Int32s
    guessed: Alignments
    guesses: Int64s
    guessed_rest: Int32s

    def rest_of(self, alignments: Alignments, places: Int64s, unknown: int) -> Int32s:
        """Return what suboptimal alignments score at most of pairs that an engine has aligned.

        Parameters
        ----------
        alignments : Alignments
            With CIGARs.
        places : ndarray of int64
            Their numbers in the mask of the request's pairs.
        unknown : int
            What stands for pairs of which that is not known.
        """
        rest = np.full(len(alignments), unknown, np.int32)
        at = np.searchsorted(places, self.guesses)
        for k, place in enumerate(at.tolist()):
            if _is_same(self.guessed, k, alignments, place):
                rest[place] = self.guessed_rest[k]
        return rest


class SuboptimalAligner:
    """Finds the next alignment of pairs some of whose alignments are known.

    Parameters
    ----------
    queries, targets : SequenceSet
        The same object for pairs of one set.
    scoring : Scoring
        Local or semiglobal.
    instruction_set : str, optional
        See `pairalign.engines.cpu.cpu_engine.instruction_set_of`.
    seeds : Seeds, optional
        What pairs were found by: `best_of` then takes for granted that what they have elsewhere
        than near its alignments has seeds, too.

    Raises
    ------
    DeviceError
        This machine cannot run `instruction_set`.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet,
        scoring: Scoring,
        threads: int,
        instruction_set: str | None = None,
        seeds: Seeds | None = None,
    ) -> None:
        assert scoring.mode != "global"
        self._seeds = seeds
        self._sets = queries, targets
        self._scoring = scoring
        self._matrix = np.ascontiguousarray(scoring.matrix, np.int32)
        self._threads = threads
        self._isa = instruction_set_of(instruction_set).encode()
        self._cancelled = np.zeros(1, np.int32)
        self._other_strands: list[Any] = [None, None]  # of whole sets, once they are needed
        self._positions = queries.positions
        self._ranks = rank_rows(queries, targets)

    def cancel(self) -> None:
        """Make `next_of` raise InterruptedError, soon where it is running."""
        self._cancelled[0] = 1

    def best_of(
        self, window: Window, pair_mask: Bools, least: int | Int32s = 1, *, lowered: int = 0
    ) -> BestOf:
        """Align pairs where their matrices need not be filled to know that nothing is better.

        Parameters
        ----------
        pair_mask : ndarray of bool
            Which of its pairs.
        least : int or ndarray of int32, one a pair
            Raw scores: alignments that score less may be left out.
        lowered : int
            For tests: taken from what free cells score, which makes the proof unsound.
        """
        rows, columns = window.positions_of(np.flatnonzero(pair_mask))
        queries, targets = self._sets
        ends = queries.order[rows], targets.order[columns]
        if window.triangular:
            ends = np.minimum(*ends), np.maximum(*ends)
        shorter = np.minimum(queries.lengths[ends[0]], targets.lengths[ends[1]])
        tried = np.flatnonzero(shorter >= _LEAST_IN_BANDS)
        strand = np.full(len(tried), window.strand, np.int8)
        bare = Alignments(
            queries=queries,
            targets=targets,
            scoring=self._scoring,
            query=ends[0][tried].astype(np.int32),
            target=ends[1][tried].astype(np.int32),
            raw_score=np.zeros(len(tried), np.int32),
            strand=strand,
        )
        pairs, arrays = self._native_pairs(bare, 0, window)
        pairs["least"] = np.broadcast_to(least, len(rows))[tried]
        if self._seeds is not None:
            pairs["word"], pairs["least_seeds"] = self._seeds.word, self._seeds.least_points
            pairs["least_near"] = self._seeds.least_score
        rest = np.zeros(len(tried), np.int32)

        def best(number: int) -> tuple[int, NativeFound, Runs]:
            return self._called(pairs, number, _band, rest[number:], lowered)

        with ThreadPoolExecutor(self._threads) as pool:
            results = list(pool.map(best, range(len(tried))))
        del arrays
        places = np.flatnonzero(pair_mask)[tried]
        outcome = np.array([status for status, *_ in results], np.int8)
        status = np.zeros(len(pair_mask), np.int8)
        status[places] = outcome

        def gathered(which: int) -> tuple[Alignments, Int64s]:
            numbers = np.flatnonzero(outcome == which)
            some = [results[k][1:] for k in numbers]
            each = np.zeros(len(some), _NATIVE_FOUND)
            for k, (one, _) in enumerate(some):
                each[k] = np.frombuffer(bytes(one), _NATIVE_FOUND)[0]
            runs = np.concatenate([np.empty(0, np.uint32), *(of_one for _, of_one in some)])
            alignments = self._gather(bare, numbers, each, runs, window)
            return to_original_strands(alignments, window), numbers

        (proven_alignments, proven), (guessed, unproven) = gathered(_FOUND), gathered(_UNPROVEN)
        return BestOf(
            found=proven_alignments,
            done=status == _FOUND,
            useless=status == _USELESS,
            rest=rest[proven],
            guessed=guessed,
            guesses=places[unproven],
            guessed_rest=rest[unproven],
        )

    def next_of(
        self, rounds: Sequence[Alignments], window: Window, least: int, least_run: int = 0
    ) -> tuple[Alignments, Int64s]:
        """Align pairs once more.

        Parameters
        ----------
        rounds : sequence of Alignments
            The first alignments of some pairs, then the second ones of the same pairs, and so on,
            all with CIGARs, as engines return them.
        window : Window
            Of the pairs: its strand, and whether they are of one set.
        least : int
            Raw score, at least 1.
        least_run : int
            Equal residues in a row that an alignment must have to be of use: a pair without such a
            run on free cells is not aligned. 0: any will do.

        Returns
        -------
        alignments : Alignments
            Those that score `least`, in the order of `rounds`.
        numbers : ndarray of int64
            Which of the pairs these are.
        """
        turned = _by_pairs([_in_window(alignments, window) for alignments in rounds])
        pairs, arrays = self._native_pairs(turned, len(rounds), window)
        pairs["least"], pairs["least_run"] = least, least_run
        numbers = np.arange(len(pairs)) if least_run == 0 else self._screen(pairs)
        found, runs = np.zeros(len(pairs), _NATIVE_FOUND), [np.empty(0, np.uint32)]
        of_pairs = np.empty(0, np.int64)
        for some in _parts_of(pairs, numbers):
            found[some], of_some = self._next(pairs[some])
            runs.append(of_some)
            of_pairs = np.concatenate((of_pairs, np.repeat(some, found["run_count"][some])))
        del arrays
        numbers = np.flatnonzero(found["score"])
        in_order = np.concatenate(runs)[np.argsort(of_pairs, kind="stable")]
        alignments = self._gather(rounds[0], numbers, found[numbers], in_order, window)
        return to_original_strands(alignments, window), numbers

    def _query_is_row(
        self, query: npt.NDArray[Any], target: npt.NDArray[Any], window: Window
    ) -> Bools:
        """Whether the query is the row sequence, see `pairalign.sequences.row_order`."""
        if window.triangular:
            return np.asarray(self._positions[query] < self._positions[target])
        return np.asarray(self._ranks[0][query] <= self._ranks[1][target])

    def _native_pairs(
        self, alignments: Alignments, used: int, window: Window
    ) -> tuple[Structs, tuple[Any, ...]]:
        """Describe pairs to the native code, `used` alignments of each of which follow one another.

        Also returns the arrays that the descriptions point to, to be held for as long. With none
        used, `alignments` only say which pairs.
        """
        each = max(1, used)
        query, target = alignments.query[::each], alignments.target[::each]
        is_row = self._query_is_row(query, target, window)
        sides = [
            self._places_of(k, indices, is_row, window) for k, indices in enumerate((query, target))
        ]
        pairs = np.zeros(len(query), _NATIVE_PAIR)
        for k, name in enumerate(("row", "column")):
            this, other = sides[k], sides[1 - k]
            pairs[f"{name}s"] = np.where(is_row, this[0], other[0])
            pairs[f"{name}_count"] = np.where(is_row, this[1], other[1])
        pairs["matrix"], pairs["cancelled"] = self._matrix.ctypes.data, self._cancelled.ctypes.data
        pairs["gap_open"], pairs["gap_extend"] = self._scoring.gap_open, self._scoring.gap_extend
        pairs["is_local"] = self._scoring.mode == "local"
        pairs["unambiguous"], pairs["query_is_row"] = self._scoring.alphabet.unambiguous, is_row
        if used == 0:
            return pairs, ()
        arrays = _used_of(alignments, np.repeat(is_row, used))
        first = 8 * used * np.arange(len(query))
        pairs["used_starts"], pairs["used_offsets"] = (
            array.ctypes.data + first for array in arrays[:2]
        )
        pairs["used_runs"], pairs["used"] = arrays[2].ctypes.data, used
        return pairs, arrays

    def _places_of(
        self,
        side: int,
        numbers: npt.NDArray[Any],
        is_row: Bools,
        window: Window,
    ) -> tuple[Int64s, Int64s]:
        """Addresses of the codes of pairs' queries (side 0) or targets, and their lengths."""
        sequences = self._sets[side]
        starts, stops = sequences.offsets[numbers], sequences.offsets[numbers + 1]
        addresses = sequences.codes.ctypes.data + starts
        if window.strand < 0:  # what runs along the columns
            if self._other_strands[side] is None:
                self._other_strands[side] = reverse_complement(sequences.codes, sequences.alphabet)
            other = self._other_strands[side]
            is_turned = is_row == bool(side)
            turned = other.ctypes.data + len(other) - stops
            addresses = np.where(is_turned, turned, addresses)
        return addresses, stops - starts

    def _screen(self, pairs: Structs) -> Int64s:
        """Return which pairs may have an alignment with the run that it must have."""
        may = np.zeros(len(pairs), np.bool_)
        _check(_screen(pairs, len(pairs), self._threads, may))
        return np.flatnonzero(may)

    def _next(self, pairs: Structs) -> tuple[Structs, Runs]:
        """Align some pairs once more; return what is found of each, and all runs."""
        if self._cancelled[0]:
            raise InterruptedError("cancelled")
        found = np.zeros(len(pairs), _NATIVE_FOUND)
        rooms = pairs["row_count"].astype(np.int64) + pairs["column_count"]
        starts = np.cumsum(rooms) - rooms
        runs = np.empty(int(rooms.sum()), np.uint32)
        _check(_align(pairs, len(pairs), self._isa, self._threads, found, runs, starts))
        counts = found["run_count"].astype(np.int64)
        places = np.arange(counts.sum()) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        return found, runs[places]

    def _called(
        self, pairs: Structs, number: int, function: Callable[..., int], *more: object
    ) -> tuple[int, NativeFound, Runs]:
        """Call a function of the native code for a pair; return its status and what it found."""
        if self._cancelled[0]:
            raise InterruptedError("cancelled")
        pair = pairs[number]
        outcome = NativeFound()
        out = np.empty(int(pair["row_count"]) + int(pair["column_count"]), np.uint32)
        status = function(pairs[number:], self._isa, outcome, out, *more)
        _check(status)
        return int(status), outcome, out[: outcome.run_count].copy()

    def _gather(
        self,
        first: Alignments,
        numbers: Int64s,
        found: Structs,
        runs: Runs,
        window: Window,
    ) -> Alignments:
        """Return what was found of some pairs as alignments; `runs`: of one after the other."""
        query, target = first.query[numbers], first.target[numbers]
        is_row = self._query_is_row(query, target, window)
        counts = "matches", "mismatches", "gap_openings", "gap_residues"
        fields: dict[str, Any] = {name: found[name].astype(np.int32) for name in counts}
        for end in ("start", "end"):
            rows, columns = found[f"row_{end}"], found[f"column_{end}"]
            fields[f"query_{end}"] = np.where(is_row, rows, columns)
            fields[f"target_{end}"] = np.where(is_row, columns, rows)
        ends = np.cumsum(found["run_count"], dtype=np.int64)
        return Alignments(
            queries=first.queries,
            targets=first.targets,
            scoring=first.scoring,
            query=query,
            target=target,
            raw_score=found["score"].astype(np.int32),
            cigar=runs,
            cigar_offsets=np.concatenate((np.zeros(1, np.int64), ends)),
            strand=None if first.strand is None else np.full(len(found), window.strand, np.int8),
            **fields,
        )


def _parts_of(pairs: Structs, numbers: Int64s) -> Iterator[Int64s]:
    """Yield the numbers of pairs in parts, those with the same columns after one another."""
    order = numbers[np.lexsort((pairs["row_count"][numbers], pairs["columns"][numbers]))]
    residues = np.cumsum(pairs["row_count"][order].astype(np.int64) + pairs["column_count"][order])
    starts = np.flatnonzero(np.diff(residues // _RESIDUES_AT_ONCE)) + 1
    yield from (part for part in np.split(order, starts) if len(part))


def _is_same(first: Alignments, k: int, second: Alignments, place: int) -> bool:
    """Whether two alignments of a pair are the same."""
    names = ("raw_score", "query_start", "target_start")
    if any(getattr(first, name)[k] != getattr(second, name)[place] for name in names):
        return False
    cigar, other_cigar = (
        alignments.field("cigar")[slice(*alignments.field("cigar_offsets")[at : at + 2])]
        for alignments, at in ((first, k), (second, place))
    )
    return bool(np.array_equal(cigar, other_cigar))


def _used_of(alignments: Alignments, is_row: Bools) -> tuple[Any, ...]:
    """Return where alignments start, by rows and columns, and their runs, for the native code."""
    starts = np.stack([alignments.field("query_start"), alignments.field("target_start")], axis=1)
    starts = np.where(is_row[:, None], starts, starts[:, ::-1])
    return (
        np.ascontiguousarray(starts, np.int32),
        np.ascontiguousarray(alignments.cigar_offsets, np.int64),
        np.ascontiguousarray(alignments.cigar, np.uint32),
    )


def _check(status: int) -> None:
    """Raise what a status of the native code says."""
    if status == _CANCELLED:
        raise InterruptedError("cancelled")
    if status == _NO_MEMORY:
        raise MemoryError("out of memory while suboptimal alignments are made")


def _in_window(alignments: Alignments, window: Window) -> Alignments:
    """Return alignments as engines made them, before they were turned to original strands.

    Turning twice changes nothing.
    """
    if window.strand > 0:
        return alignments
    assert alignments.cigar is not None
    return to_original_strands(replace(alignments, cigar=alignments.cigar.copy()), window)


def _by_pairs(rounds: Sequence[Alignments]) -> Alignments:
    """Join the first alignments of pairs, their second ones ... so that a pair's come together."""
    if len(rounds) == 1:
        return rounds[0]
    order = np.arange(len(rounds) * len(rounds[0])).reshape(len(rounds), -1)
    return concatenate(rounds).take(order.T.ravel())
