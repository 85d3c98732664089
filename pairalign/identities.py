"""Identity and coverage of alignments, as the programs of the field define them; exact thresholds.

With ``matches`` (`=` columns), ``mismatches`` and ``columns`` of an alignment:

==========  ========================================================  =======================
columns     matches / columns                                         vsearch --iddef 1 and 4
internal    matches / columns that are not in a gap at an end         vsearch --iddef 2
shorter     matches / letters of the shorter sequence                 CD-HIT, vsearch --iddef 0
aligned     matches / (matches + mismatches)
mbl         1 - (mismatches + gaps) / letters of the longer sequence  vsearch --iddef 3
==========  ========================================================  =======================

``mbl`` (Marine Biological Laboratory) counts each gap once, however long it is. Free end gaps
of mode semiglobal are no columns and no gaps. The coverage of a pair is ``(matches + mismatches) /
letters of the longer sequence``: of the shorter one, no less is covered.

Where nothing is aligned identity and coverage are 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.errors import ScoringError
from pairalign.want import Detail

if TYPE_CHECKING:
    from pairalign.alignments import Alignments

Longs = npt.NDArray[np.int64]

IDENTITIES = {
    "columns": "matches by alignment columns (vsearch --iddef 1)",
    "internal": "the same without gaps at the ends (vsearch --iddef 2)",
    "shorter": "matches by letters of the shorter sequence (CD-HIT, vsearch --iddef 0)",
    "aligned": "matches by columns without gaps",
    "mbl": "1 - mismatches and gaps by letters of the longer sequence (vsearch --iddef 3)",
}
"""What an identity can be, and a line about each."""

DEFAULT_IDENTITY = "columns"

_MOST_DENOMINATOR = 10**9  # with counts below 2^31, products stay within 63 bits
_OPERATION, _INSERTION, _DELETION = 15, 1, 2


def parse_share(value: float | str, name: str) -> Fraction:
    """Return a share of 0 to 1 exactly as it was written.

    Parameters
    ----------
    value : float or str
        A decimal number of at most nine places.
    name : str
        What messages call it.

    Raises
    ------
    ScoringError
        It is no such number.
    """
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("nan")
    if number.is_finite() and 0 <= number <= 1 and number.adjusted() > -10:
        share = Fraction(number)
        if share.denominator <= _MOST_DENOMINATOR:
            return share
    raise ScoringError(
        f"{name}: found {value!r}, expected a number from 0 to 1 with at most nine decimal places"
    )


@dataclass(frozen=True)
class Similarity:
    """When two sequences are similar enough: an identity, and least values of it and of coverage.

    Attributes
    ----------
    min_identity, min_coverage : Fraction
        From 0 to 1; a pair that attains both passes.
    identity : str
        One of `IDENTITIES`.
    """

    min_identity: Fraction
    min_coverage: Fraction = Fraction(0)
    identity: str = DEFAULT_IDENTITY

    def detail(self, mode: str) -> Detail:
        """Return what must be computed of each pair in a mode."""
        needs_ends = self.identity == "internal" and mode == "global"
        return Detail.CIGAR if needs_ends else Detail.STATS

    def identity_of(self, found: Alignments) -> tuple[Longs, Longs]:
        """Return part and whole of each identity, int64 of shape (n,); of nothing, 0 and 1."""
        return count_identity(found, self.identity)

    def passing(self, found: Alignments) -> npt.NDArray[np.bool_]:
        """Return which pairs are similar enough, bool of shape (n,)."""
        passes = _reaches(*self.identity_of(found), self.min_identity)
        if self.min_coverage:
            passes &= _reaches(*count_coverage(found), self.min_coverage)
        return passes


def count_identity(found: Alignments, identity: str) -> tuple[Longs, Longs]:
    """Count identities exactly.

    Parameters
    ----------
    found : Alignments
        With counts; for ``internal`` in mode global with CIGARs.
    identity : str
        One of `IDENTITIES`.

    Returns
    -------
    part, whole : ndarray of int64, shape (n,)
        The identity is ``part / whole``; where nothing is aligned 0 / 1.
    """
    matches, mismatches = (found.field(name).astype(np.int64) for name in ("matches", "mismatches"))
    aligned = matches + mismatches
    part = matches
    if identity == "shorter":
        whole = np.minimum(*_lengths(found))
    elif identity == "aligned":
        whole = aligned
    elif identity == "mbl":
        whole = np.maximum(*_lengths(found))
        part = np.maximum(whole - mismatches - found.field("gap_openings"), 0)
    else:
        whole = aligned + found.field("gap_letters")
        if identity == "internal" and found.scoring.mode == "global":
            whole = whole - _gaps_at_ends(found)
    nothing = (found.columns == 0) | (whole <= 0)
    return np.where(nothing, 0, part), np.where(nothing, 1, whole)


def count_coverage(found: Alignments) -> tuple[Longs, Longs]:
    """Return aligned letters, and letters of the longer sequence, two int64 of shape (n,)."""
    aligned = found.field("matches").astype(np.int64) + found.field("mismatches")
    return aligned, np.maximum(*_lengths(found))


def _lengths(found: Alignments) -> tuple[Longs, Longs]:
    queries, targets = found.queries.lengths, found.targets.lengths
    return queries[found.query].astype(np.int64), targets[found.target].astype(np.int64)


def _reaches(part: Longs, whole: Longs, least: Fraction) -> npt.NDArray[np.bool_]:
    reaches: npt.NDArray[np.bool_] = part * least.denominator >= whole * least.numerator
    return reaches


def _gaps_at_ends(found: Alignments) -> Longs:
    """Letters in gaps at the ends of global alignments, int64 of shape (n,)."""
    assert found.cigar is not None
    assert found.cigar_offsets is not None
    starts, stops = found.cigar_offsets[:-1], found.cigar_offsets[1:]
    letters = np.zeros(len(found), np.int64)
    if not len(found.cigar):
        return letters
    any_run = stops > starts
    for at, counts in ((starts, any_run), (stops - 1, any_run & (stops - 1 > starts))):
        runs = found.cigar[np.where(counts, at, 0)]
        is_gap = counts & np.isin(runs & _OPERATION, (_INSERTION, _DELETION))
        letters += np.where(is_gap, runs >> 4, 0)
    return letters
