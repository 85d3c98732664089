"""What the alignment of a pair must reach to be kept: identity, coverage and score, exactly.

What follows for pairs before they are aligned is in ``docs/filters.md``, and in native code in
``cpu/filters/thresholds.h``.
"""

from __future__ import annotations

import ctypes
import math
from ctypes import Structure, c_int32, c_int64, c_void_p
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.identities import needs_cigar
from pairalign.base.arguments import parse_share
from pairalign.base.choices import COVERAGES, END_GAPS, IDENTITIES
from pairalign.base.errors import ScoringError
from pairalign.base.native import library
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring

_MODES = ("global", "semiglobal", "local")
_COUNTS = ("matches", "mismatches", "gap_openings", "gap_letters")
_SPANS = ("query_start", "query_end", "target_start", "target_end")


class NativeThresholds(Structure):
    """Thresholds: ``pairalign_thresholds`` of ``cpu/filters/thresholds.h``."""

    _fields_ = (
        *((name, c_int64) for name in ("identity", "identity_whole", "coverage", "coverage_whole")),
        *((name, c_int32) for name in ("identity_of", "coverage_of", "mode", "unused")),
    )


class NativeAligned(Structure):
    """Columns of alignments: ``pairalign_aligned`` of ``cpu/filters/passing.cpp``."""

    _fields_ = (
        ("pairs", c_int64),
        *(
            (name, c_void_p)
            for name in ("query", "target", *_SPANS, *_COUNTS, "query_lengths", "target_lengths")
        ),
        ("cigar", c_void_p),
        ("cigar_offsets", c_void_p),
    )


@dataclass(frozen=True)
class PairThresholds:
    """What an alignment must reach; shares from 0 to 1, and 0 asks for nothing.

    Attributes
    ----------
    min_identity : Fraction
        A pair of which nothing is aligned has identity 0.
    identity_of : str
        One of `pairalign.base.choices.IDENTITIES`.
    min_coverage : Fraction
        Of spans, in global mode all are 1.
    coverage_of : str
        One of `pairalign.base.choices.COVERAGES`.
    """

    min_identity: Fraction = Fraction(0)
    identity_of: str = "columns"
    min_coverage: Fraction = Fraction(0)
    coverage_of: str = "both"

    def __bool__(self) -> bool:
        return self.min_identity > 0 or self.min_coverage > 0

    def detail(self, mode: str) -> Detail:
        """Return what must be computed of each pair in a mode, for `passing`."""
        if not self:
            return Detail.SCORE
        return self.detail_of_identity(mode)

    def detail_of_identity(self, mode: str) -> Detail:
        """Return what must be computed of each pair in a mode to count its identity."""
        return Detail.CIGAR if needs_cigar(self.identity_of, mode) else Detail.STATS

    def native(self, mode: str) -> NativeThresholds:
        """Return what native code takes, for alignments of a mode.

        Bounds of semiglobal alignments hold of those with end gaps: costs at ends only add to them.
        """
        identity_of = self.identity_of
        if identity_of == "internal" and not needs_cigar(identity_of, mode):
            identity_of = "columns"  # there are no gaps at the ends
        return NativeThresholds(
            *self.min_identity.as_integer_ratio(),
            *self.min_coverage.as_integer_ratio(),
            list(IDENTITIES).index(identity_of),
            list(COVERAGES).index(self.coverage_of),
            _MODES.index("semiglobal" if mode == END_GAPS else mode),
            0,
        )

    def passing(self, found: Alignments) -> npt.NDArray[np.int64]:
        """Return which of some alignments pass, exactly: ascending positions.

        Parameters
        ----------
        found : Alignments
            With what `detail` says.
        """
        names = ("query", "target")
        columns = [getattr(found, name) for name in names]
        columns += [found.field(name) for name in (*_SPANS, *_COUNTS)]
        sets = (found.queries, found.targets)
        columns += [np.ascontiguousarray(one.lengths, np.int32) for one in sets]
        if needs_cigar(self.identity_of, found.scoring.mode):
            assert found.cigar is not None
            assert found.cigar_offsets is not None
            columns += [np.ascontiguousarray(found.cigar), found.cigar_offsets]
        numbers = np.empty(len(found), np.int64)
        count = library.pairalign_find_passing(
            ctypes.byref(NativeAligned(len(found), *(one.ctypes.data for one in columns))),
            ctypes.byref(self.native(found.scoring.mode)),
            numbers.ctypes.data,
        )
        return numbers[:count]


def make_pair_thresholds(
    min_identity: float | str | Fraction | None = None,
    identity_of: str = "columns",
    min_coverage: float | str | Fraction | None = None,
    coverage_of: str = "both",
) -> PairThresholds:
    """Make thresholds of numbers from 0 to 1, or of texts such as ``"97.5%"``.

    Raises
    ------
    ScoringError
        No such share; ValueError: an unknown definition.
    """
    for name, value, known in (
        ("identity_of", identity_of, IDENTITIES),
        ("coverage_of", coverage_of, COVERAGES),
    ):
        if value not in known:
            raise ValueError(f"{name} {value!r}: expected {', '.join(known)}")
    shares = [
        Fraction(0) if value is None else parse_share(value, name)
        for name, value in (("min_identity", min_identity), ("min_coverage", min_coverage))
    ]
    return PairThresholds(shares[0], identity_of, shares[1], coverage_of)


def raw_minimum(min_score: float | str | None, scoring: Scoring) -> int | None:
    """Least raw score that reaches `min_score`, exactly; within 32 bits.

    Raises
    ------
    ScoringError
        `min_score` is not a finite number.
    """
    if min_score is None:
        return None
    try:
        number = Decimal(str(min_score))
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise ScoringError(f"min_score: {min_score!r} is not a finite number")
    if number and abs(number.adjusted()) > 12:  # as good as any; 1e999999999 would take for ever
        number = Decimal("1e12" if number.adjusted() > 0 else "1e-12").copy_sign(number)
    least = math.ceil(Fraction(number or 0) * scoring.scale)
    return max(-(2**31), min(least, 2**31 - 1))
