"""The CPU engine: C++ kernels on every core, an alignment per vector lane.

One row sequence is aligned with as many column sequences as a vector has 8-bit lanes (64 with
AVX-512, 32 with AVX2, 16 with SSE4.1 and NEON), or 16-bit or 32-bit lanes where scores need them.
Where few lanes would be in use, as with long sequences, a pair gets all of them to itself. The
source is in ``cpu/align/``: the recurrences in ``byte_cell.h`` and ``recurrence.h``, the kernels in
``byte_kernel.h``, ``kernel.h`` and ``long_pair.h``.
"""

from __future__ import annotations

import ctypes
import os
from copy import copy
from ctypes import c_int32, c_int64
from typing import NamedTuple

import numpy as np

from pairalign.alignments.alignments import SCORE_FIELDS, Alignments
from pairalign.alignments.problem import Problem
from pairalign.alignments.strands import to_original_strands
from pairalign.base.arrays import Bools, Int32s
from pairalign.base.choices import TIES
from pairalign.base.error_types import CapacityError, DeviceError, ScoringError, shown_name
from pairalign.base.native import library
from pairalign.base.spelling import spelled
from pairalign.engines.cpu.native_structs import (
    CANCELLED,
    DONE,
    INT32_FIELDS,
    MODES,
    NO_MEMORY,
    SCORES,
    NativeFound,
    NativeSet,
    NativeTrouble,
    NativeWant,
    NativeWindow,
)
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.sequences.complement import reverse_complement
from pairalign.sequences.sets import SequenceSet

# The order of pairalign::Pruning.
_USES = ("never", "auto", "always", "forced", "wavefronts", "lanes")


class Pruning(NamedTuple):
    """Which pairs of global mode are pruned. The alignments are the same whatever it says.

    The native code is in ``cpu/pruned/``; ``docs/similar-sequences.md`` derives the bound.

    Attributes
    ----------
    use : {"never", "auto", "always", "forced", "wavefronts", "lanes"}
        ``auto``: pairs for which it is expected to be faster. ``always``: those where it fills
        at most half of the matrix. For tests, ``forced``: all by a band, ``wavefronts``: all
        for whose wavefronts there is room, ``lanes``: all by bands of many pairs at a time.
    worse_seed : int
        For tests: taken from the score that the band is made for. It costs time only.
    lower_bound : int
        For tests: taken from the bound. It is unsound then, which the engine must notice.
    """

    use: str = "never"
    worse_seed: int = 0
    lower_bound: int = 0

    def apply(self, handle: int) -> None:
        """Tell an open native engine."""
        use = _USES.index(self.use)
        library.pairalign_set_pruning(handle, use, self.worse_seed, self.lower_bound)


NEVER = Pruning()


class Pruned(NamedTuple):
    """What pruning did so far: pairs, and cells of matrices.

    Attributes
    ----------
    tried, done : int
        Pairs; the others were aligned in full.
    lost : int
        Pairs whose band broke off, which takes an unsound bound. They were aligned in full.
    beam_cells, cells : int
        Filled to find a score to begin with, and within bands.
    matrix_cells : int
        Of the pairs that were tried.
    by_wavefronts : int
        Pairs that were done without a band; `cells` counts entries of their wavefronts.
    """

    tried: int
    done: int
    lost: int
    beam_cells: int
    cells: int
    matrix_cells: int
    by_wavefronts: int = 0

    @classmethod
    def of(cls, handle: int) -> Pruned:
        """Ask an open native engine."""
        counts = (c_int64 * len(cls._fields))()
        library.pairalign_pruned(ctypes.c_void_p(handle), counts)
        return cls(*counts)


USES = ("auto", "always", "never")
READ_AHEAD_BYTES = 64  # the native code reads sequences in whole words


def instruction_sets() -> tuple[str, ...]:
    """Names of the instruction sets that this machine can run, best first."""
    names: bytes = library.pairalign_instruction_sets()
    return tuple(names.decode().split(","))


def cannot_run(instruction_set: str) -> DeviceError:
    """Make the error that says which instruction sets there are."""
    return DeviceError(
        f"instruction set '{instruction_set}' cannot run here; this machine has "
        f"{', '.join(instruction_sets())}"
    )


def instruction_set_of(wanted: str | None) -> str:
    """Return the instruction set to take: `wanted`, else ``PAIRALIGN_ISA`` from the environment.

    Where neither says one, it is the best of this machine.

    Raises
    ------
    DeviceError
        This machine cannot run it.
    """
    name = wanted or os.environ.get("PAIRALIGN_ISA", "") or instruction_sets()[0]
    if name not in instruction_sets():
        raise cannot_run(name)
    return name


class SharedSet:
    """A SequenceSet as the native code reads it, with the arrays that keep it alive.

    With `reverse`, every sequence is reverse-complemented.
    """

    def __init__(self, sequences: SequenceSet, *, reverse: bool = False) -> None:
        order = sequences.order
        self.lengths = np.ascontiguousarray(sequences.sorted_lengths, dtype=np.int32)
        codes, starts = sequences.code_arrays
        assert len(codes) >= sequences.total_residues + READ_AHEAD_BYTES
        if reverse:
            codes = reverse_complement(codes, sequences.alphabet)  # the last sequence comes first
            starts = len(codes) - starts - self.lengths
            codes = np.concatenate((codes, np.zeros(READ_AHEAD_BYTES, np.uint8)))
        self.codes = codes
        self.starts = np.ascontiguousarray(starts, dtype=np.int64)
        self.inputs = np.ascontiguousarray(order, dtype=np.int32)
        self.struct = NativeSet(self.codes, self.starts, self.lengths, self.inputs, len(order))

    def chosen(self, places: Int32s) -> SharedSet:
        """Return some of the sequences, by their sorted positions, ascending; the same memory."""
        some = copy(self)
        some.starts = np.ascontiguousarray(self.starts[places])
        some.lengths = np.ascontiguousarray(self.lengths[places])
        some.inputs = np.ascontiguousarray(self.inputs[places])
        some.struct = NativeSet(self.codes, some.starts, some.lengths, some.inputs, len(places))
        return some


class Lanes(NamedTuple):
    """How pairs lie on the lanes of vectors; what is not chosen by itself is for tests.

    Attributes
    ----------
    lane_bits : int
        How many bits a lane has at least: 8, 16 or 32; 0 chooses. Where scores do not fit, lanes
        are wider.
    long_pairs : {"auto", "always", "never"}
        Which pairs are aligned one by one on all lanes rather than each on one lane.
    own_rows : {"auto", "always", "never"}
        Which pairs share a vector with pairs of other rows: ``"auto"`` those that are few in their
        row; ``"always"`` all, where 8 bits hold the costs.
    floors : {"auto", "always", "never"}
        Which pairs of local mode are aligned in 8 bits above floors: ``"auto"`` those whose scores
        8 bits do not hold; ``"always"`` all, where their costs allow that.
    """

    lane_bits: int = 0
    long_pairs: str = "auto"
    own_rows: str = "auto"
    floors: str = "auto"


USUAL_LANES = Lanes()


class CpuEngine:
    """Aligns windows on the cores of this machine.

    Parameters
    ----------
    problem : Problem
        Its scoring has the alphabet of the sets.
    threads : int
        Number of threads.
    memory_bytes : int
        What the engine may use while it works. Pairs whose traceback flags do not fit are aligned
        with checkpoints; one that does not fit even so raises CapacityError.
    instruction_set : str or None
        One of `instruction_sets`; None takes ``PAIRALIGN_ISA`` from the environment, or the best.
    pruning : Pruning
        Which pairs of global mode are filled only where an optimal alignment can be. The
        alignments are the same.
    lanes : Lanes
        How pairs lie on the lanes of vectors. The alignments are the same.
    first : SharedSet, optional
        The queries or some of them, for several engines; windows are of these.

    Raises
    ------
    DeviceError
        This machine cannot run `instruction_set`.
    """

    name = "cpu"
    is_gpu = False
    on_device = None
    _reversed: tuple[SharedSet, ...] = ()
    _handle: int | None = None

    def __init__(
        self,
        problem: Problem,
        *,
        threads: int = 1,
        memory_bytes: int = 1 << 30,
        instruction_set: str | None = None,
        pruning: Pruning = NEVER,
        lanes: Lanes = USUAL_LANES,
        first: SharedSet | None = None,
    ) -> None:
        self.queries, self.targets, self.scoring = problem.queries, problem.others, problem.scoring
        self._first = SharedSet(problem.queries) if first is None else first
        self._second = None if problem.targets is None else SharedSet(problem.targets)
        scoring = problem.scoring
        name = instruction_set_of(instruction_set)
        matrix = np.ascontiguousarray(scoring.matrix, dtype=np.int32)
        self._handle = library.pairalign_open(
            self._first.struct,
            self._second and self._second.struct,
            matrix,
            scoring.gap_open,
            scoring.gap_extend,
            MODES.index(scoring.mode),
            scoring.alphabet.unambiguous,
            threads,
            memory_bytes,
            name.encode(),
            USES.index(lanes.long_pairs),
        )
        if not self._handle:
            raise cannot_run(name)
        if scoring.end_gaps is not None:
            numbers = scoring.end_gaps.numbers
            costs = (c_int32 * len(numbers))(*numbers)
            ties = TIES.index(scoring.end_gaps.ties)
            library.pairalign_set_end_gaps(self._handle, costs, ties)
        library.pairalign_set_lane_bits(self._handle, lanes.lane_bits)
        library.pairalign_set_own_rows(self._handle, USES.index(lanes.own_rows))
        library.pairalign_set_floors(self._handle, USES.index(lanes.floors))
        pruning.apply(self._handle)

    def pruned(self) -> Pruned:
        """Return what pruning has done so far."""
        assert self._handle
        return Pruned.of(self._handle)

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of `window`; see `pairalign.engines.Engine`.

        Raises
        ------
        AlphabetError
            The window's strand is -1 and the sequences are not DNA.
        CapacityError, ScoringError, InterruptedError
            See `align_as_read`.
        """
        return to_original_strands(self.align_as_read(window, want, pair_mask), window)

    def align_as_read(
        self, window: Window, want: Want, pair_mask: Bools | None = None
    ) -> Alignments:
        """Align, but leave what a window of strand -1 gives as the kernels read the sequences.

        For engines that put such results together with their own, see
        `pairalign.alignments.strands`.

        Raises
        ------
        CapacityError
            A pair does not fit into the memory allowed.
        ScoringError
            A pair's scores could exceed 32 bits.
        InterruptedError
            `cancel` was called.
        """
        if window.strand < 0 and not self._reversed:
            self._reverse()
        if pair_mask is not None:
            pair_mask = np.ascontiguousarray(pair_mask, dtype=np.bool_)
            assert pair_mask.shape == (window.pairs,)
        mask, minimum = None if pair_mask is None else pair_mask.ctypes.data, want.min_raw_score
        native = NativeWant(want.detail, minimum is not None, minimum or 0, mask)
        found = NativeFound()
        status = library.pairalign_align(self._handle, NativeWindow.of(window), native, found)
        if status != DONE:
            raise self._error(status, found.trouble)
        return self._take(found, want.detail)

    def _reverse(self) -> None:
        sets = (self.queries,) if self._second is None else (self.queries, self.targets)
        self._reversed = tuple(SharedSet(sequences, reverse=True) for sequences in sets)
        structs = (*(shared.struct for shared in self._reversed), None)[:2]
        library.pairalign_set_reversed(self._handle, *structs)

    def cancel(self) -> None:
        """Make a running `align` raise InterruptedError soon."""
        if self._handle:
            library.pairalign_cancel(self._handle)

    def close(self) -> None:
        """Free what the engine holds; no method may be called afterwards."""
        handle, self._handle = self._handle, None  # before a signal can come: it is freed once
        if handle:
            library.pairalign_close(handle)

    def __del__(self) -> None:
        self.close()

    def _take(self, found: NativeFound, detail: Detail) -> Alignments:
        pairs = found.pairs
        names = INT32_FIELDS if detail > Detail.SCORE else SCORE_FIELDS
        block = np.empty((len(names), pairs), np.int32)
        offsets = cigar = None
        if detail == Detail.CIGAR:
            offsets = np.empty(pairs + 1, np.int64)
            cigar = np.empty(found.runs, np.uint32)
        library.pairalign_take(self._handle, block, offsets, cigar)
        return Alignments.of_native(
            queries=self.queries,
            targets=self.targets,
            scoring=self.scoring,
            cigar=cigar,
            cigar_offsets=offsets,
            **dict(zip(names, block, strict=True)),
        )

    def _error(self, status: int, trouble: NativeTrouble) -> Exception:
        if status == CANCELLED:
            return InterruptedError("alignment was cancelled")
        if status == NO_MEMORY:
            lower = f"{spelled('memory')} or {spelled('threads')}"
            return CapacityError(f"out of memory; lower {lower}")
        query = self.queries[int(self._first.inputs[trouble.row])]
        target = self.targets[int((self._second or self._first).inputs[trouble.column])]
        pair = (
            f"{shown_name(query.name)} ({len(query.residues)} residues) and "
            f"{shown_name(target.name)} ({len(target.residues)} residues)"
        )
        if status == SCORES:
            return ScoringError(f"scores of {pair} could exceed 32 bits; use smaller costs")
        return CapacityError(
            f"aligning {pair} needs {_show_size(trouble.needed_bytes)} of memory, only "
            f"{_show_size(trouble.available_bytes)} allowed; raise "
            f"{spelled('memory')}; scores alone take less",
            trouble.needed_bytes,
            trouble.available_bytes,
        )


def _show_size(size_bytes: int) -> str:
    """Return a size, rounded up, as ``--memory`` takes it."""
    unit, name = (1 << 20, "MiB") if size_bytes >= 10 << 20 else (1 << 10, "KiB")
    return f"{-(-size_bytes // unit)} {name}"
