"""The one place where alignments of reverse-complemented sequences are turned to original strands.

A window of strand -1 has the sequences of its columns reverse-complemented. Engines align them as
if they had been read so, and hand the result to `to_original_strands`. Afterwards, as in PAF: spans
of both sequences are on the strands that were read; the CIGAR runs along the target as it was
read, with the query reverse-complemented.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.runs import reverse_runs
from pairalign.windows import Window

Ints = npt.NDArray[np.int32]


def to_original_strands(found: Alignments, window: Window) -> Alignments:
    """Turn what an engine made of a window to the strands that were read.

    Parameters
    ----------
    found : Alignments
        Of pairs of `window`, the columns' sequences taken as reverse-complemented; its CIGAR runs
        are turned in place.
    window : Window

    Returns
    -------
    Alignments
        `found` itself when the window's strand is 1, else with a column `strand` of -1.

    Notes
    -----
    Of one set the sequence of the column is the later one of the sorted set: the shorter one, of
    equals the one later in the input. Of two sets it is the target.
    """
    if window.strand == 1:
        return found
    strand = np.full(len(found), -1, np.int8)
    if found.matches is None:
        return replace(found, strand=strand)
    query_lengths = found.queries.lengths[found.query]
    target_lengths = found.targets.lengths[found.target]
    turned = np.ones(len(found), bool)  # the target is what was reverse-complemented
    if window.triangular:
        turned = query_lengths >= target_lengths
    aligned = found.columns > 0
    query_start, query_end = _flip(
        found.field("query_start"), found.field("query_end"), query_lengths, aligned & ~turned
    )
    target_start, target_end = _flip(
        found.field("target_start"), found.field("target_end"), target_lengths, aligned & turned
    )
    if found.cigar is not None and found.cigar_offsets is not None and len(found):
        reverse_runs(found.cigar, found.cigar_offsets, turned)
    return replace(
        found,
        query_start=query_start,
        query_end=query_end,
        target_start=target_start,
        target_end=target_end,
        strand=strand,
    )


def _flip(
    start: Ints, end: Ints, lengths: Ints, flipped: npt.NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    """Spans seen from the other end, where `flipped`."""
    return np.where(flipped, lengths - end, start), np.where(flipped, lengths - start, end)
