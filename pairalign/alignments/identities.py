"""Identity and coverage of alignments, as the programs of the field define them.

With ``matches`` (`=` columns), ``mismatches`` and ``columns`` of an alignment, identities are

==========  ========================================================  =======================
columns     matches / columns                                         vsearch --iddef 1 and 4
aligned     matches / (matches + mismatches)
shorter     matches / residues of the shorter sequence                 CD-HIT, vsearch --iddef 0
internal    matches / columns that are not in a gap at an end         vsearch --iddef 2
mbl         1 - (mismatches + gaps) / residues of the longer sequence  vsearch --iddef 3
full        matches / columns, with those of free end gaps            GraphPart, EMBOSS needle
longer      matches / residues of the longer sequence
mean        matches / mean residues of the two sequences
==========  ========================================================  =======================

``mbl`` (Marine Biological Laboratory) counts each gap once, however long it is. Free end gaps
are no columns and no gaps, but for ``full``: there each residue that is not aligned with another
has a column of its own, in all modes, so that the columns are those of two whole sequences. Where
nothing is aligned identity and coverage are 0.
"""

from __future__ import annotations

import numpy as np

from pairalign.alignments.alignments import Alignments, runs_of
from pairalign.base.arrays import Int64s
from pairalign.base.choices import END_GAPS

_OPERATION, _INSERTION, _DELETION = 15, 1, 2


def needs_cigar(identity: str, mode: str) -> bool:
    """Whether an identity is counted of CIGARs: those in which gaps at the ends may be columns."""
    return identity == "internal" and mode in ("global", END_GAPS)


def name_identity(identity: str) -> str:
    """Return the name of a column that holds an identity, one of `IDENTITIES`.

    Matches by columns are plainly ``identity``, in every file; the others say what they are.
    """
    return "identity" if identity == "columns" else f"identity_{identity}"


def count_identity(alignments: Alignments, identity: str) -> tuple[Int64s, Int64s]:
    """Count identities exactly.

    Parameters
    ----------
    alignments : Alignments
        With counts, and with CIGARs where `needs_cigar` says so.
    identity : str
        One of `IDENTITIES`.

    Returns
    -------
    part, whole : ndarray of int64, shape (n,)
        The identity is ``part / whole``; where nothing is aligned 0 / 1.
    """
    matches, mismatches = (
        alignments.field(name).astype(np.int64) for name in ("matches", "mismatches")
    )
    aligned = matches + mismatches
    part = matches
    if identity == "shorter":
        whole = np.minimum(*_lengths(alignments))
    elif identity == "aligned":
        whole = aligned
    elif identity == "mbl":
        whole = np.maximum(*_lengths(alignments))
        part = np.maximum(whole - mismatches - alignments.field("gap_openings"), 0)
    elif identity == "full":
        whole = np.add(*_lengths(alignments)) - aligned
    elif identity == "longer":
        whole = np.maximum(*_lengths(alignments))
    elif identity == "mean":
        part, whole = 2 * matches, np.add(*_lengths(alignments))
    else:
        whole = aligned + alignments.field("gap_residues")
        if needs_cigar(identity, alignments.scoring.mode):
            whole = whole - _gaps_at_ends(alignments)
    nothing = (alignments.columns == 0) | (whole <= 0)
    return np.where(nothing, 0, part), np.where(nothing, 1, whole)


def count_coverage(alignments: Alignments) -> tuple[Int64s, Int64s]:
    """Return aligned residues, and residues of the longer sequence, two int64 of shape (n,)."""
    aligned = alignments.field("matches").astype(np.int64) + alignments.field("mismatches")
    return aligned, np.maximum(*_lengths(alignments))


def _lengths(alignments: Alignments) -> tuple[Int64s, Int64s]:
    queries, targets = alignments.queries.lengths, alignments.targets.lengths
    return queries[alignments.query].astype(np.int64), targets[alignments.target].astype(np.int64)


def _gaps_at_ends(alignments: Alignments) -> Int64s:
    """Residues in gaps at the ends of whole sequences, int64 of shape (n,)."""
    every, offsets = runs_of(alignments)
    starts, stops = offsets[:-1], offsets[1:]
    residues = np.zeros(len(alignments), np.int64)
    if not len(every):
        return residues
    any_run = stops > starts
    query_lengths, target_lengths = _lengths(alignments)
    # Beside a free end gap, which the spans leave out, the first or last run is no end gap.
    from_start = (alignments.field("query_start") == 0) & (alignments.field("target_start") == 0)
    to_end = alignments.field("query_end") == query_lengths
    to_end &= alignments.field("target_end") == target_lengths
    ends = ((starts, any_run & from_start), (stops - 1, any_run & to_end & (stops - 1 > starts)))
    for at, counts in ends:
        runs = every[np.where(counts, at, 0)]
        is_gap = counts & np.isin(runs & _OPERATION, (_INSERTION, _DELETION))
        residues += np.where(is_gap, runs >> 4, 0)
    return residues
