"""From what the pruned kernel leaves on the device to alignments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairalign.alignments.alignments import STATS_FIELDS, Alignments
from pairalign.base.arrays import Int32s, Int64s, Structs, UInt32s
from pairalign.engines.cuda.block_diagonals.block_diagonals_results import Chosen
from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.engines.cuda.pruned.pruned_plan import DONE, GIVEN_UP, RESULT
from pairalign.pairs.want import Detail, Want


@dataclass
class Found:
    """What was found of the chosen pairs of a window.

    Attributes
    ----------
    results : structured array of `RESULT`
        Of each pair; ``runs_at`` counts within `runs`, joined.
    runs : list of uint32 arrays
        CIGAR runs, batch by batch.
    """

    results: Structs
    runs: list[UInt32s]

    @classmethod
    def of(cls, pairs: int) -> Found:
        """Nothing is found yet."""
        results = np.zeros(pairs, RESULT)
        results["status"] = GIVEN_UP
        return cls(results, [])

    def add(
        self,
        numbers: Int64s,
        results: Structs,
        runs: UInt32s,
    ) -> None:
        """Add the results of a batch of pairs."""
        results["runs_at"] += sum(map(len, self.runs))
        for name in ("beam_cells", "cells"):  # of earlier attempts
            results[name] += self.results[name][numbers]
        self.results[numbers] = results
        self.runs.append(runs)


def make_alignments(
    context: DeviceContext, chosen: Chosen, want: Want, outcome: Found
) -> Alignments:
    """Make fields of the pairs that are done, those of them that reach the wanted score."""
    results = outcome.results
    kept = results["status"] == DONE
    if want.min_raw_score is not None:
        kept &= results["score"] >= want.min_raw_score
    results = results[kept]
    fields: dict[str, Any] = {
        "query": chosen.query[kept],
        "target": chosen.target[kept],
        "raw_score": results["score"].astype(np.int32),
    }
    if want.detail >= Detail.STATS:
        fields.update(_stats(context, fields["query"], fields["target"], results))
    if want.detail >= Detail.CIGAR:
        fields["cigar"], fields["cigar_offsets"] = _join_runs(context, results, outcome.runs)
    return Alignments(
        queries=context.queries.sequences,
        targets=context.targets.sequences,
        scoring=context.scoring,
        **fields,
    )


def _stats(
    context: DeviceContext,
    query: Int32s,
    target: Int32s,
    results: Structs,
) -> dict[str, Int32s]:
    """Spans, which are whole sequences, and counts."""
    lengths = (
        context.queries.sequences.lengths[query],
        context.targets.sequences.lengths[target],
    )
    nothing = np.zeros(len(query), np.int32)
    matches, diagonals = results["matches"], results["diagonals"]
    values = (
        nothing,
        lengths[0],
        nothing,
        lengths[1],
        matches,
        diagonals - matches,
        results["openings"],
        lengths[0] + lengths[1] - 2 * diagonals,
    )
    return {
        name: np.ascontiguousarray(value, np.int32)
        for name, value in zip(STATS_FIELDS, values, strict=True)
    }


def _join_runs(
    context: DeviceContext, results: Structs, parts: list[UInt32s]
) -> tuple[UInt32s, Int64s]:
    """Put the runs of all pairs behind one another; returns them and where each begins."""
    counts = results["runs"].astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    total = int(offsets[-1])
    runs = context.pool.take(max(1, total), np.uint32)
    if runs is None:
        runs = np.empty(max(1, total), np.uint32)
    runs = runs[:total]
    if total:
        everything = parts[0] if len(parts) == 1 else np.concatenate(parts)
        moved = np.repeat(results["runs_at"] - offsets[:-1], counts)
        np.take(everything, np.arange(total) + moved, out=runs)
    return runs, offsets
