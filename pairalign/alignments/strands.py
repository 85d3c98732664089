"""The one place where alignments of reverse-complemented sequences are turned to original strands.

In a window of strand -1 the sequence along the columns of each pair's matrix, the shorter one, is
reverse-complemented. Engines align the pairs as they are then, and hand the result to
`to_original_strands`. Afterwards, as in PAF: coordinates are on each sequence's original strand;
the CIGAR runs along the target's original strand, with the query reverse-complemented.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.runs import reverse_runs
from pairalign.base.native import library
from pairalign.pairs.windows import Window

_SPANS = ("query_start", "query_end", "target_start", "target_end")


class NativeTurned(ctypes.Structure):
    """pairalign_turned_fields."""

    _fields_ = (
        ("pairs", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("query", "target")),
        *((name, ctypes.c_void_p) for name in ("matches", "mismatches", "gap_residues")),
        *((name, ctypes.c_void_p) for name in ("query_lengths", "target_lengths", "positions")),
        *((name, ctypes.c_void_p) for name in ("query_codes", "target_codes")),
        *((name, ctypes.c_void_p) for name in ("query_offsets", "target_offsets")),
        *((name, ctypes.c_void_p) for name in _SPANS),
        *((f"new_{name}", ctypes.c_void_p) for name in _SPANS),
        ("turned", ctypes.c_void_p),
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


def _turn(alignments: Alignments, triangular: bool) -> tuple[dict[str, Any], npt.NDArray[np.bool_]]:
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
    fields = NativeTurned(
        len(alignments), *(None if array is None else array.ctypes.data for array in arrays)
    )
    _turn_strands(ctypes.byref(fields))
    return spans, turned
