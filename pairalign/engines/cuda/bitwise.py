"""Linear-gap local scores of DNA, 32 pairs to a word: ``cuda/bitwise/score.cu``.

References
----------
T. Nishimura, J. L. Bordim, Y. Ito, K. Nakano: Accelerating the Smith-Waterman algorithm using
bitwise parallel bulk computation technique on GPU. IPDPS Workshops, 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.native import struct_dtype
from pairalign.base.spelling import spelled
from pairalign.engines.bitwise_scoring import LinearScores, linear_scores, why_not
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import DeviceContext, KernelFamily
from pairalign.engines.device.assembly import Assembly
from pairalign.engines.device.device_rectangles import align_rectangles
from pairalign.engines.device.device_sets import DeviceSet
from pairalign.engines.device.tile_plan import ALIGNMENT
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, split_rows
from pairalign.scoring.scoring import Scoring

SOURCE = "bitwise/score.cu"
WORD = 32
"""Pairs of a word."""

BLOCK_THREADS = 128
_ROUND = 64  # residues that a block of transpose_columns takes
_CHUNK = 16  # rows of a block of score_rows at most
_BLOCKS = 8  # of a multiprocessor that a window should have, if need be of fewer rows
_PAIR_BYTES = 12  # score and two input indices

AHEAD = ((1, 3, 2), (1, 2, 1), (1, 1, 1), (2, 1, 1))
"""Scores (match, mismatch, gap) that kernels are compiled ahead for; others need nvcc.

Those of `pairalign.jobs.overlaps.presets` with linear gaps, and the paper's example."""
_AHEAD_LENGTHS = (100, 150, 250, 300)

_BITS = (6, 8, 9, 10, 12, 14, 16, 20, 24, 30)
"""What the bits of a score are rounded up to, so that few kernels are compiled."""

_SEQUENCES = struct_dtype("uint64 codes starts lengths inputs")
ARGUMENTS = struct_dtype(
    "Sequences rows columns; uint64 planes border bases results; int64 pairs stride; "
    "int32 first_row row_stop first_column column_stop pitch chunk border_rows factor triangular "
    "one_set rows_are_queries first_chunk",
    Sequences=_SEQUENCES,
)
"""RowsArguments in cuda/bitwise/score.cu."""


@dataclass(frozen=True)
class Shape:
    """What a kernel is compiled for besides the scores.

    Attributes
    ----------
    bits : int
        Of a score.
    columns : int
        Of a lane.
    lanes : int
        That share a word: 16 or 32.
    """

    bits: int
    columns: int
    lanes: int

    @property
    def strip(self) -> int:
        """Columns that stay in registers while rows stream through."""
        return self.columns * self.lanes

    def defines(self, scores: LinearScores) -> dict[str, int | str]:
        """Return the definitions that the source is compiled with."""
        return {
            "MATCH": scores.match,
            "MISMATCH": scores.mismatch,
            "GAP": scores.gap,
            "LOW": scores.low_bits,
            "HIGH": self.bits - scores.low_bits,
            "COLUMNS": self.columns,
            "LANES": self.lanes,
        }


def round_bits(scores: LinearScores, bits: int) -> int:
    """Return the bits that kernels are compiled for, at least `bits`."""
    return max(scores.low_bits, next((b for b in _BITS if b >= bits), bits))


def choose_shape(bits: int, columns: int) -> Shape:
    """Return the shape that wastes the fewest columns in groups of `columns` residues.

    A lane's scores must fit its registers, and 32 lanes need fewer passes over long columns, but
    start and end with more idle lanes.
    """
    most = 16 if bits <= 9 else 12 if bits <= 12 else 8 if bits <= 16 else 4
    shapes = [Shape(bits, c, lanes) for lanes in (16, 32) for c in (4, 8, 12, 16) if c <= most]

    def cost(shape: Shape) -> tuple[float, int]:
        strips = -(-columns // shape.strip)
        # A pass costs about 4 columns more, for its borders; so do 16 idle lanes among 250 rows.
        each = shape.strip + (4 if strips > 1 else 0)
        return strips * each * (1 + shape.lanes / 250 / (1 + columns / 250)), shape.columns

    return min(shapes, key=cost)


class Bitwise(KernelFamily):
    """Scores of 32 columns against one row at a time.

    Parameters
    ----------
    shape : Shape, optional
        For tests and benchmarks; default: `choose_shape` for each window.
    """

    name = "bitwise"

    def __init__(self, shape: Shape | None = None) -> None:
        self._shape = shape
        self._functions: dict[tuple[Shape, str], Any] = {}

    def supports(self, scoring: Scoring, detail: Detail, capability: tuple[int, int]) -> str | None:
        """Scores alone, of scorings that `bitwise_scoring.why_not` takes; None, or why not."""
        if detail > Detail.SCORE:
            return f"computes scores only ({spelled('detail', 'score')})"
        if capability < (6, 1):
            return f"compute capability {capability[0]}.{capability[1]}, needs 6.1"
        return why_not(scoring)

    def variants(self) -> Iterator[tuple[str, dict[str, int | str]]]:
        """Yield what is compiled ahead: some usual scores, for short reads of usual lengths."""
        seen = []
        for match, mismatch, gap in AHEAD:
            scores = LinearScores(match, mismatch, gap, 1)
            for length in _AHEAD_LENGTHS:
                bits = round_bits(scores, scores.bits(length, length))
                defines = choose_shape(bits, length).defines(scores)
                if defines not in seen:
                    seen.append(defines)
                    yield SOURCE, defines

    def open(self, context: DeviceContext) -> None:
        """Kernels are loaded when a window needs them."""
        self._context = context
        self._scores = linear_scores(context.scoring)
        self._slot = Slot(context.driver)
        self._limit_bytes = context.memory_bytes

    def close(self) -> None:
        """Free what `align` took."""
        self._slot.close()
        self._functions = {}

    def release(self) -> None:
        """Free the memory of batches; the next batch allocates it again."""
        self._slot.free_arena()

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Score a window's pairs; see `pairalign.engines.cuda.cuda_family.KernelFamily`."""
        assert want.detail == Detail.SCORE
        return align_rectangles(self._align, window, want, pair_mask)

    def _align(self, window: Window, want: Want) -> Alignments:
        context = self._context
        assembly = Assembly(window.pairs, want, context.pool)
        slabs = split_rows(
            window,
            context.queries.lengths,
            context.targets.lengths,
            _PAIR_BYTES,
            0,
            max(1, self._limit_bytes // 2),
        )
        for slab in slabs if window.pairs else ():
            self._score(slab, assembly)
        return assembly.finish(
            context.queries.sequences, context.targets.sequences, context.scoring
        )

    def _score(self, window: Window, assembly: Assembly) -> None:
        """Score a rectangle of pairs and copy what comes out."""
        context = self._context
        plan = _Plan.of(window, context.queries.lengths, context.columns.lengths)
        sets = [context.queries, context.columns]
        rows, columns = sets[::-1] if plan.swapped else sets
        longest = int(rows.lengths[plan.first_row]), int(columns.lengths[plan.first_column])
        shape = self._shape or choose_shape(
            round_bits(self._scores, self._scores.bits(*longest)), longest[1]
        )
        grid = _Grid.of(plan, shape, longest, context.multiprocessors)
        sizes = {
            "planes": plan.groups * 4 * grid.pitch * 4,
            "bases": plan.bases.nbytes,
            "results": _PAIR_BYTES * window.pairs,
        }
        addresses, at_once = self._arrange(sizes, grid)
        self._slot.upload("bases", plan.bases, addresses["bases"])
        arguments = self._arguments(window, plan, grid, addresses)
        _fill_set(arguments["rows"], rows)
        _fill_set(arguments["columns"], columns)
        arguments["border_rows"] = longest[0]

        self.launch("transpose_columns", shape, (-(-grid.pitch // _ROUND), plan.groups), arguments)
        kernel = "score_rows" if grid.passes == 1 else "score_rows_in_passes"
        for first in range(0, grid.chunks, at_once):
            context.check_cancelled()
            arguments["first_chunk"] = first
            blocks = plan.groups, min(at_once, grid.chunks - first)
            self.launch(kernel, shape, blocks, arguments)
        place = assembly.place(window.pairs)
        for k, field in enumerate(assembly.fields):
            context.driver.memcpy_dtoh_async(
                field[place], addresses["results"] + 4 * k * window.pairs, self._slot.stream
            )
        self._slot.wait()

    def _arrange(self, sizes: dict[str, int], grid: _Grid) -> tuple[dict[str, int], int]:
        """Find room for arrays and for the borders of as many chunks as that leaves room for.

        Returns
        -------
        addresses : dict of str to int
        at_once : int
            Chunks that are scored at a time.
        """
        at_once = grid.chunks
        available_bytes = max(self._limit_bytes - sum(sizes.values()), grid.border_bytes)
        while True:
            if grid.border_bytes:
                at_once = max(1, min(grid.chunks, available_bytes // grid.border_bytes))
            border_bytes = max(ALIGNMENT, at_once * grid.border_bytes)
            try:
                addresses = self._slot.arrange({**sizes, "border": border_bytes}, self._limit_bytes)
                return addresses, at_once
            except self._context.driver.MemoryError:
                if at_once == 1:
                    raise
                available_bytes //= 2

    def _arguments(
        self, window: Window, plan: _Plan, grid: _Grid, addresses: dict[str, int]
    ) -> npt.NDArray[Any]:
        """Return what kernels are given, but for the sets and what depends on them."""
        arguments = np.zeros((), ARGUMENTS)
        for name, address in addresses.items():
            arguments[name] = address
        arguments["pairs"] = window.pairs
        arguments["stride"] = plan.stride
        arguments["first_row"], arguments["row_stop"] = plan.first_row, plan.row_stop
        arguments["first_column"], arguments["column_stop"] = plan.first_column, plan.column_stop
        arguments["pitch"] = grid.pitch
        arguments["chunk"] = grid.chunk
        arguments["factor"] = self._scores.factor
        arguments["triangular"] = window.triangular
        arguments["one_set"] = self._context.one_set
        arguments["rows_are_queries"] = not plan.swapped
        return arguments

    def launch(
        self, kernel: str, shape: Shape, grid: tuple[int, int], arguments: npt.NDArray[Any]
    ) -> None:
        """Queue one kernel."""
        context = self._context
        function = self._functions.get((shape, kernel))
        if function is None:
            module = context.load_module(SOURCE, shape.defines(self._scores))
            function = self._functions[shape, kernel] = module.get_function(kernel)
        context.kernel = kernel
        packed = arguments[()]
        function(packed, block=(BLOCK_THREADS, 1, 1), grid=grid, stream=self._slot.stream)


@dataclass(frozen=True)
class _Plan:
    """Which sequences of a window share a word (columns) and which stream through (rows).

    Attributes
    ----------
    swapped : bool
        The kernel's rows are the window's columns: its words would be emptier otherwise.
    first_row, row_stop, first_column, column_stop : int
        Sorted positions, of the kernel.
    bases : ndarray of int64, shape (rows,)
        Number of the pair of a row with column 0, which there need not be.
    stride : int
        Difference of the numbers of a row's pairs with neighbouring columns.
    """

    swapped: bool
    first_row: int
    row_stop: int
    first_column: int
    column_stop: int
    bases: Int64s
    stride: int

    @property
    def groups(self) -> int:
        return -(-(self.column_stop - self.first_column) // WORD)

    @classmethod
    def of(cls, window: Window, rows: Int32s, columns: Int32s) -> _Plan:
        as_given = cls(
            False,
            window.row_start,
            window.row_stop,
            window.column_start,
            window.column_stop,
            window.row_offsets[1:] - window.column_stop,  # a row's pairs end in the last column
            1,
        )
        if window.triangular:
            return as_given
        width = window.column_stop - window.column_start
        swapped = replace(
            as_given,
            swapped=True,
            first_row=window.column_start,
            row_stop=window.column_stop,
            first_column=window.row_start,
            column_stop=window.row_stop,
            bases=np.arange(width, dtype=np.int64) - window.row_start * width,
            stride=width,
        )
        costs = [
            plan.groups * int(side[plan.first_row : plan.row_stop].sum(dtype=np.int64))
            * int(other[plan.first_column])
            for plan, side, other in ((as_given, rows, columns), (swapped, columns, rows))
        ]  # fmt: skip
        return swapped if costs[1] < costs[0] else as_given


@dataclass(frozen=True)
class _Grid:
    """How the rows of a plan are dealt out to blocks.

    Attributes
    ----------
    pitch : int
        Columns of a plane: whole strips.
    passes : int
        Strips, which a block does one after the other.
    chunk, chunks : int
        Rows of a block, and how many blocks those of a group make.
    border_bytes : int
        Of what the passes of a chunk hand on, for all groups.
    """

    pitch: int
    passes: int
    chunk: int
    chunks: int
    border_bytes: int

    @classmethod
    def of(cls, plan: _Plan, shape: Shape, longest: tuple[int, int], multiprocessors: int) -> _Grid:
        pitch = -(-longest[1] // shape.strip) * shape.strip
        passes = pitch // shape.strip
        height = plan.row_stop - plan.first_row
        chunk, teams = _CHUNK, BLOCK_THREADS // shape.lanes
        while chunk > teams and plan.groups * height < _BLOCKS * multiprocessors * chunk:
            chunk //= 2
        border_bytes = 0
        if passes > 1:
            border_bytes = plan.groups * 2 * chunk * longest[0] * (-(-shape.bits // 4) * 16)
        return cls(pitch, passes, chunk, -(-height // chunk), border_bytes)


def _fill_set(arguments: npt.NDArray[Any], device_set: DeviceSet) -> None:
    arguments["codes"] = int(device_set.codes)
    arguments["starts"] = int(device_set.starts)
    arguments["lengths"] = int(device_set.device_lengths)
    arguments["inputs"] = int(device_set.order)
