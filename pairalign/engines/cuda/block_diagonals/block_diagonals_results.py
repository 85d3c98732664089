"""From what block diagonals leave on the device to alignments; see ``docs/long-pairs.md``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import STATS_FIELDS, Alignments
from pairalign.base.arrays import Bools, Int32s, Int64s, Structs, UInt32s
from pairalign.engines.cuda.block_diagonals.block_diagonals_plan import PAIR, PROGRESS
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window


@dataclass(frozen=True)
class Chosen:
    """Pairs of a window that are aligned, in its order.

    Attributes
    ----------
    rows, columns : int64 arrays
        Sorted positions: of the first set and of the second.
    query, target : int32 arrays
        Input indices.
    """

    rows: Int64s
    columns: Int64s
    query: Int32s
    target: Int32s

    @classmethod
    def of(cls, context: DeviceContext, window: Window, pair_mask: Bools | None) -> Chosen:
        """Choose the pairs of a window that `pair_mask` names, bool[pairs]; all without it."""
        if pair_mask is None:
            positions = window.positions()
        else:
            positions = window.positions_of(np.flatnonzero(pair_mask))
        rows, columns = (places.astype(np.int64) for places in positions)
        of_row = context.queries.sequences.order[rows].astype(np.int32)
        of_column = context.targets.sequences.order[columns].astype(np.int32)
        if window.triangular:
            return cls(rows, columns, np.minimum(of_row, of_column), np.maximum(of_row, of_column))
        return cls(rows, columns, of_row, of_column)

    def swapped(self, context: DeviceContext) -> Bools:
        """Return of which pairs the window's column runs along the rows, bool of shape (n,)."""
        if context.ranks is None:
            return np.zeros(len(self.rows), np.bool_)
        of_row, of_column = context.ranks
        return np.asarray(of_column[self.columns] < of_row[self.rows])

    def part(self, which: slice) -> Chosen:
        """Choose among the chosen."""
        return Chosen(self.rows[which], self.columns[which], self.query[which], self.target[which])


def make_alignments(
    context: DeviceContext,
    chosen: Chosen,
    want: Want,
    progress: Structs | None = None,
    pairs: Structs | None = None,
    slot: Slot | None = None,
) -> Alignments:
    """Make fields of what the device left of a batch, and copy its CIGAR runs.

    Parameters
    ----------
    chosen : Chosen
        The pairs of the batch.
    want : Want
        Pairs below its minimum are left out.
    progress, pairs : PROGRESS and PAIR arrays, optional
        Of each pair of the batch, its kernels being done; without them there is no pair.
    slot : Slot, optional
        Of the batch.
    """
    if progress is None or pairs is None:
        progress, pairs = np.zeros(0, PROGRESS), np.zeros(0, PAIR)
    score = progress["score"].astype(np.int32)
    fields: dict[str, Any] = {
        "query": chosen.query,
        "target": chosen.target,
        "raw_score": score,
    }
    passes = np.ones(len(score), bool)
    if want.min_raw_score is not None:
        passes = score >= want.min_raw_score
    if want.detail >= Detail.STATS:
        aligned = passes
        if context.scoring.mode != "global":
            aligned = passes & (score > 0)
        fields.update(_stats(progress, pairs["row_is_query"] != 0, aligned))
    fields = {name: field[passes] for name, field in fields.items()}
    if want.detail >= Detail.CIGAR:
        counts, ends = progress["runs"][passes], pairs["runs"][passes]
        runs, offsets = _fetch_runs(context, counts, ends, slot)
        fields["cigar"], fields["cigar_offsets"] = runs, offsets
    return Alignments(
        queries=context.queries.sequences,
        targets=context.targets.sequences,
        scoring=context.scoring,
        **fields,
    )


def _stats(
    progress: Structs,
    row_is_query: Bools,
    aligned: Bools,
) -> dict[str, Int32s]:
    """Spans and counts; all 0 where nothing is aligned."""
    row_start, row_end = progress["row"], progress["end_row"]
    column_start, column_end = progress["column"], progress["end_column"]
    residues = row_end - row_start + column_end - column_start
    values = (
        np.where(row_is_query, row_start, column_start),
        np.where(row_is_query, row_end, column_end),
        np.where(row_is_query, column_start, row_start),
        np.where(row_is_query, column_end, row_end),
        progress["matches"],
        progress["diagonals"] - progress["matches"],
        progress["openings"],
        residues - 2 * progress["diagonals"],
    )
    return {
        name: np.where(aligned, value, 0).astype(np.int32)
        for name, value in zip(STATS_FIELDS, values, strict=True)
    }


def _fetch_runs(
    context: DeviceContext,
    counts: Int32s,
    ends: npt.NDArray[np.uint64],
    slot: Slot | None,
) -> tuple[UInt32s, Int64s]:
    """Copy the runs of each pair, which end at an address; returns them and where each begins.

    In the slot's stream: others' kernels go on, and are not waited for.
    """
    offsets = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    total = int(offsets[-1])
    runs = context.pool.take(max(1, total), np.uint32)
    if runs is None:
        runs = np.empty(total, np.uint32)
    if slot is None or not total:
        return runs[:total], offsets
    for start, count, end in zip(offsets[:-1], counts, ends, strict=True):
        if count:
            source = int(end) - 4 * int(count)
            context.driver.memcpy_dtoh_async(runs[start : start + count], source, slot.stream)
    slot.wait()
    return runs[:total], offsets
