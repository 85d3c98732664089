"""Pairs of a window for kernels that align rectangles: all of one, or those that are chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.base.arrays import Bools, Int32s, Int64s, distinct
from pairalign.engines.device.assembly import Assembly, Pool
from pairalign.engines.device.batch_pipeline import BatchTask, Flight, SlotT
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window

_BLOCK, _MOST_RECTANGLES = 16, 64


class RectangleBatch(Protocol):
    """What a family makes of a rectangle of pairs."""

    @property
    def rectangle(self) -> Rectangle:
        """The pairs, chosen or not."""


BatchT = TypeVar("BatchT", bound=RectangleBatch)


class RectangleContext(Protocol):
    """What a task needs of a device's context."""

    @property
    def align_on_host(self) -> Callable[[Window, Want], Alignments]:
        """Aligns a window on the CPU."""

    @property
    def pool(self) -> Pool | None:
        """Where the arrays of results come from."""


class RectangleTask(BatchTask[Rectangle, BatchT, SlotT, Flight], Generic[BatchT, SlotT, Flight]):
    """A window that is cut into rectangles, on its way through the pipeline.

    Parameters
    ----------
    context : RectangleContext
    whole : Rectangle
        The window.
    want : Want
    pair_mask : ndarray of bool, shape (pairs,), or None
        Which of its pairs are aligned; None: all.
    strand : int
        That of the columns for the host.

    Attributes
    ----------
    assembly : Assembly
        Takes the results of the pairs that are chosen.
    """

    def __init__(
        self,
        context: RectangleContext,
        whole: Rectangle,
        want: Want,
        pair_mask: Bools | None = None,
        strand: int = 1,
    ) -> None:
        pairs = whole.pairs if pair_mask is None else int(pair_mask.sum())
        self.assembly = Assembly(pairs, want, context.pool)
        self._align = context.align_on_host
        self._want = want
        self._pair_mask = pair_mask
        self._strand = strand
        self._started = 0  # pairs of the window before the next batch, chosen or not

    def chosen(self, pairs: int) -> Bools | None:
        """Return which of the next pairs of the window are chosen; None: all."""
        return None if self._pair_mask is None else self._pair_mask[self._started :][:pairs]

    def rest(self, work: Rectangle, batch: BatchT) -> list[Rectangle]:
        """Return the pairs from a batch on."""
        return work.rest(batch.rectangle)

    def align_on_host(self, batch: BatchT) -> None:
        """Align the chosen pairs of a batch on the CPU."""
        on_host = replace(batch.rectangle.window(), strand=self._strand)
        alignments = self._align(on_host, Want(self._want.detail))
        mask = self.chosen(batch.rectangle.pairs)
        self.assembly.add_alignments(alignments if mask is None else alignments.take(mask))
        self._started += batch.rectangle.pairs


def align_rectangles(
    align: Callable[[Window, Want], Alignments], window: Window, want: Want, pair_mask: Bools | None
) -> Alignments:
    """Align the pairs of a window that `pair_mask` names, in their order.

    Rectangles that hold these pairs are aligned; the others in them are dropped.

    Parameters
    ----------
    align : callable (window, want) -> Alignments
        Aligns all pairs of a window.
    pair_mask : ndarray of bool, shape (pairs,), or None
        None: all pairs.
    """
    if pair_mask is None:
        return align(window, want)
    parts, numbers = [], []
    for part, of_window, inside in _rectangles(window, pair_mask):
        parts.append(align(part, Want(want.detail)).take(inside))
        numbers.append(of_window[inside])
    if not parts:
        row = replace(window, row_stop=window.row_start, triangular=False)
        return align(row, Want(want.detail))
    alignments = concatenate(parts).take(np.argsort(np.concatenate(numbers)))
    if want.min_raw_score is not None:
        alignments = alignments.take(alignments.raw_score >= want.min_raw_score)
    return alignments


def _rectangles(window: Window, pair_mask: Bools) -> Iterator[tuple[Window, Int64s, Bools]]:
    """Cover the chosen pairs of a window with a few rectangles.

    Yields
    ------
    part : Window
    numbers : ndarray of int64
        Of the part's pairs in the window.
    inside : ndarray of bool
        Which of them are chosen.
    """
    rows, columns = window.positions()
    size = _BLOCK
    while True:
        blocks = _blocks(window, rows[pair_mask], columns[pair_mask], size)
        if len(blocks) <= _MOST_RECTANGLES:
            break
        size *= 2
    offsets = window.row_offsets
    for row_start, row_stop, column_start, column_stop in blocks:
        part = replace(
            window,
            row_start=row_start,
            row_stop=row_stop,
            column_start=column_start,
            column_stop=column_stop,
        )
        of_row, of_column = (positions.astype(np.int64) for positions in part.positions())
        firsts = np.full(len(of_row), window.column_start)
        if window.triangular:
            firsts = np.maximum(of_row + 1, window.column_start)
        numbers = offsets[of_row - window.row_start] + of_column - firsts
        yield part, numbers, pair_mask[numbers]


def _blocks(
    window: Window, rows: Int32s, columns: Int32s, size: int
) -> list[tuple[int, int, int, int]]:
    """Return runs of blocks of `size` x `size` pairs that hold some pair, row by row."""
    row_blocks = (rows - window.row_start) // size
    column_blocks = (columns - window.column_start) // size
    rectangles: list[tuple[int, int, int, int]] = []
    for block in distinct(row_blocks).tolist():
        top = window.row_start + block * size
        bottom = min(top + size, window.row_stop)
        used = distinct(column_blocks[row_blocks == block])
        for run in np.split(used, np.flatnonzero(np.diff(used) > 1) + 1):
            left = window.column_start + int(run[0]) * size
            right = min(window.column_start + (int(run[-1]) + 1) * size, window.column_stop)
            rectangles.append((top, bottom, left, right))
    return rectangles
