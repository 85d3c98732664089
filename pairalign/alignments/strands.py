"""Alignments turned: of reverse-complemented sequences to original strands, and query for target.

In a window of strand -1 the sequence along the columns of each pair's matrix, the shorter one, is
reverse-complemented. Engines align the pairs as they are then, and hand the result to
`to_original_strands`. Afterwards, as in PAF: coordinates are on each sequence's original strand;
the CIGAR runs along the target's original strand, with the query reverse-complemented.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, reverse_runs
from pairalign.base.arrays import Bools, Int64s, UInt32s
from pairalign.base.native import Struct, library, struct_fields
from pairalign.pairs.windows import Window

_SPANS = ("query_start", "query_end", "target_start", "target_end")


class NativeTurned(Struct):
    """pairalign_turned_fields."""

    _fields_ = struct_fields(
        "int64 pairs; pointer query target matches mismatches gap_residues query_lengths "
        "target_lengths positions query_codes target_codes query_offsets target_offsets "
        f"{' '.join(_SPANS)} {' '.join(f'new_{name}' for name in _SPANS)} turned"
    )


_turn_strands = library.pairalign_turn_strands


def to_original_strands(alignments: Alignments, window: Window) -> Alignments:
    """Turn the results of a window to the original strands.

    Parameters
    ----------
    alignments : Alignments
        Of pairs of `window`, of each the sequence along the columns taken as reverse-complemented;
        its CIGAR runs are turned in place.

    Returns
    -------
    Alignments
        `alignments` itself when the window's strand is 1, else with a column `strand` of -1.

    Notes
    -----
    The longer sequence runs along the rows (`pairalign.sequences.row_order`), so a pair's results
    are the same in one set and in two.
    """
    if window.strand == 1:
        return alignments
    strand = np.full(len(alignments), -1, np.int8)
    if alignments.matches is None:
        return replace(alignments, strand=strand)
    spans, turned = _turn(alignments, window.triangular)
    if alignments.cigar is not None and alignments.cigar_offsets is not None and len(alignments):
        reverse_runs(alignments.cigar, alignments.cigar_offsets, turned)
    return replace(alignments, strand=strand, **spans)


def _turn(alignments: Alignments, triangular: bool) -> tuple[dict[str, Any], Bools]:
    """Spans on the original strands, and the pairs whose target was reverse-complemented."""
    spans: dict[str, Any] = {name: np.empty(len(alignments), np.int32) for name in _SPANS}
    turned = np.empty(len(alignments), np.bool_)
    counts = (alignments.field(name) for name in ("matches", "mismatches", "gap_residues"))
    arrays = [
        *(alignments.query, alignments.target, *counts),
        *(alignments.queries.lengths, alignments.targets.lengths),
        alignments.queries.positions if triangular else None,
        *((None, None) if triangular else (alignments.queries.codes, alignments.targets.codes)),
        *((None, None) if triangular else (alignments.queries.offsets, alignments.targets.offsets)),
        *(alignments.field(name) for name in _SPANS),
        *spans.values(),
        turned,
    ]
    _turn_strands(NativeTurned(len(alignments), *arrays))
    return spans, turned


_SIDES = (("query", "target"), ("query_start", "target_start"), ("query_end", "target_end"))
_INSERTION, _DELETION = 1, 2


def exchange(alignments: Alignments, which: Bools) -> Alignments:
    """Return alignments of which some have query and target exchanged.

    The alignment stays what it is: its columns, and so what each CIGAR says, are the same.

    Parameters
    ----------
    alignments : Alignments
        Of a set with itself.
    which : ndarray of bool, shape (n,)

    Returns
    -------
    Alignments
        On strand -1 the CIGAR runs along the new target as it was read, see
        `pairalign.alignments.strands`.
    """
    if not which.any():
        return alignments
    assert alignments.queries is alignments.targets
    changed: dict[str, Any] = {}
    for name, counterpart in _SIDES:
        values = getattr(alignments, name), getattr(alignments, counterpart)
        if values[0] is not None:
            changed[name] = np.where(which, values[1], values[0])
            changed[counterpart] = np.where(which, values[0], values[1])
    if alignments.cigar is not None and alignments.cigar_offsets is not None:
        changed["cigar"] = _exchange_runs(
            alignments.cigar, alignments.cigar_offsets, which, alignments.strand
        )
    return replace(alignments, **changed)


def _exchange_runs(
    cigar: UInt32s,
    offsets: Int64s,
    which: Bools,
    strand: npt.NDArray[np.int8] | None,
) -> UInt32s:
    """Make insertions deletions and deletions insertions; turn the runs of strand -1."""
    runs: UInt32s = cigar.copy()
    inside = np.zeros(len(runs), np.bool_)
    inside[offsets[0] : offsets[-1]] = np.repeat(which, np.diff(offsets))
    operation = runs & 15
    are_gaps = inside & ((operation == _INSERTION) | (operation == _DELETION))
    runs[are_gaps] ^= np.uint32(_INSERTION ^ _DELETION)
    if strand is not None:
        reverse_runs(runs, offsets, which & (strand < 0))
    return runs
