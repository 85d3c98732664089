"""What a pair must reach to be kept: lengths, identity, coverage and score, exactly.

What follows for pairs before they are aligned is in ``docs/filters.md``, and in native code in
``cpu/filters/thresholds.h``.
"""

from __future__ import annotations

import ctypes
import math
from ctypes import Structure, c_int32, c_int64, c_void_p
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.identities import count_identity, name_identity, needs_cigar
from pairalign.base.arguments import parse_ratio, parse_share
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.choices import COVERAGES, END_GAPS, IDENTITIES
from pairalign.base.error_types import ScoringError
from pairalign.base.native import library
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

_MODES = ("global", "semiglobal", "local")
_COUNTS = ("matches", "mismatches", "gap_openings", "gap_residues")
_SPANS = ("query_start", "query_end", "target_start", "target_end")
_ONE_WAY = ("query", "target")
_MOST_RESIDUES = 2**31
_Ends = tuple[Int32s, Int32s]
_Sets = tuple[SequenceSet, SequenceSet]


class NativeThresholds(Structure):
    """Thresholds: ``pairalign_thresholds`` of ``cpu/filters/thresholds.h``."""

    _fields_ = (
        *((name, c_int64) for name in ("identity", "identity_whole", "coverage", "coverage_whole")),
        *((name, c_int64) for name in ("ratio", "ratio_part", "ratio_whole")),
        *((name, c_int32) for name in ("identity_of", "coverage_of", "mode", "ends_cost")),
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
    """What a pair must reach; shares from 0 to 1, and 0 asks for nothing.

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
    max_length_ratio : Fraction or None
        Residues of the longer sequence by those of the shorter one, from 1. None: any.
    """

    min_identity: Fraction = Fraction(0)
    identity_of: str = "columns"
    min_coverage: Fraction = Fraction(0)
    coverage_of: str = "both"
    max_length_ratio: Fraction | None = None

    def __bool__(self) -> bool:
        return self.looks_at_alignments or self.max_length_ratio is not None

    @property
    def looks_at_alignments(self) -> bool:
        """Whether lengths alone do not say which pairs pass."""
        return self.min_identity > 0 or self.min_coverage > 0

    def describe(self, *, with_identity: bool) -> list[str]:
        """Return what is asked for in words; `with_identity`: that also if any is enough."""
        parts = []
        if self.min_identity or with_identity:
            least = f"{float(self.min_identity):g}"
            parts.append(f"an identity ({self.identity_of}) of {least} or more")
        if self.min_coverage:
            least = f"{float(self.min_coverage):g}"
            parts.append(f"a coverage ({self.coverage_of}) of {least} or more")
        if self.max_length_ratio is not None:
            parts.append(f"a length ratio of at most {float(self.max_length_ratio):g}")
        return parts

    def detail(self, mode: str) -> Detail:
        """Return what must be computed of each pair in a mode, for `passing`."""
        if not self.looks_at_alignments:
            return Detail.SCORE
        return self.detail_of_identity(mode)

    def detail_of_identity(self, mode: str) -> Detail:
        """Return what must be computed of each pair in a mode to count its identity."""
        return Detail.CIGAR if needs_cigar(self.identity_of, mode) else Detail.STATS

    @property
    def identity_column(self) -> str:
        """The name of a column that holds the identity."""
        return name_identity(self.identity_of)

    @property
    def covers_one_way(self) -> bool:
        """Whether a pair may reach the coverage with one of its sequences as the query alone."""
        return self.min_coverage > 0 and self.coverage_of in _ONE_WAY

    @property
    def is_of_shorter(self) -> bool:
        """Whether the shorter sequence decides, so that a fragment is as good as a whole."""
        return self.identity_of == "shorter"

    def counts_ends(self, mode: str) -> bool:
        """Whether residues that a sequence lacks at its ends are columns of the identity."""
        return self.identity_of in ("columns", "full") and mode == "global"

    def count_identity(self, alignments: Alignments) -> tuple[Int64s, Int64s]:
        """Count the identities exactly, see `pairalign.alignments.identities.count_identity`."""
        return count_identity(alignments, self.identity_of)

    def native(self, mode: str) -> NativeThresholds:
        """Return what native code takes, for alignments of a mode.

        Bounds of semiglobal alignments hold of those with end gaps: costs at ends only add to them.
        """
        identity_of = self.identity_of
        if identity_of == "internal" and not needs_cigar(identity_of, mode):
            identity_of = "columns"  # there are no gaps at the ends
        whole, part = divmod(self.max_length_ratio or Fraction(0), 1)
        return NativeThresholds(
            *self.min_identity.as_integer_ratio(),
            *self.min_coverage.as_integer_ratio(),
            *(min(whole, _MOST_RESIDUES), *part.as_integer_ratio()),
            list(IDENTITIES).index(identity_of),
            list(COVERAGES).index(self.coverage_of),
            _MODES.index("semiglobal" if mode == END_GAPS else mode),
            mode == END_GAPS,
        )

    def passing(self, alignments: Alignments) -> npt.NDArray[np.int64]:
        """Return which of some alignments pass, exactly: ascending positions.

        Parameters
        ----------
        alignments : Alignments
            With what `detail` says.
        """
        names = (*_SPANS, *_COUNTS) if self.looks_at_alignments else ()
        columns: dict[str, npt.NDArray[Any]] = {name: alignments.field(name) for name in names}
        if names and needs_cigar(self.identity_of, alignments.scoring.mode):
            assert alignments.cigar is not None
            assert alignments.cigar_offsets is not None
            columns["cigar"] = np.ascontiguousarray(alignments.cigar)
            columns["cigar_offsets"] = alignments.cigar_offsets
        ends = alignments.query, alignments.target
        return self._find(
            ends, (alignments.queries, alignments.targets), alignments.scoring.mode, columns
        )

    def fitting(self, pairs: _Ends, sets: _Sets) -> npt.NDArray[np.int64]:
        """Return which pairs, of input indices, are alike enough in length: ascending positions."""
        by_length = replace(self, min_identity=Fraction(0), min_coverage=Fraction(0))
        ends = np.ascontiguousarray(pairs[0], np.int32), np.ascontiguousarray(pairs[1], np.int32)
        return by_length._find(ends, sets, "global", {})

    def _find(
        self, pairs: _Ends, sets: _Sets, mode: str, columns: dict[str, npt.NDArray[Any]]
    ) -> npt.NDArray[np.int64]:
        ends = dict(zip(("query", "target"), pairs, strict=True))
        sides = zip(("query_lengths", "target_lengths"), sets, strict=True)
        lengths = {
            name: np.ascontiguousarray(sequences.lengths, np.int32) for name, sequences in sides
        }
        arrays = {**ends, **lengths, **columns}
        count = len(pairs[0])
        numbers = np.empty(count, np.int64)
        passing = library.pairalign_find_passing(
            ctypes.byref(
                NativeAligned(count, **{k: array.ctypes.data for k, array in arrays.items()})
            ),
            ctypes.byref(self.native(mode)),
            numbers.ctypes.data,
        )
        return numbers[:passing]


def of_shorter(min_identity: Fraction) -> PairThresholds:
    """Return a least identity by residues of the shorter sequence."""
    return PairThresholds(min_identity, "shorter")


def make_pair_thresholds(
    min_identity: float | str | Fraction | None = None,
    identity_of: str = "columns",
    min_coverage: float | str | Fraction | None = None,
    coverage_of: str = "both",
    max_length_ratio: float | str | Fraction | None = None,
) -> PairThresholds:
    """Make thresholds of numbers from 0 to 1, or of texts such as ``"97.5%"``; a ratio from 1.

    Raises
    ------
    ScoringError
        No such share or ratio; ValueError: an unknown definition.
    """
    for name, value, choices in (
        ("identity_of", identity_of, IDENTITIES),
        ("coverage_of", coverage_of, COVERAGES),
    ):
        if value not in choices:
            raise ValueError(f"{name} {value!r}: expected {', '.join(choices)}")
    shares = [
        Fraction(0) if value is None else parse_share(value, name)
        for name, value in (("min_identity", min_identity), ("min_coverage", min_coverage))
    ]
    ratio = None if max_length_ratio is None else parse_ratio(max_length_ratio, "max_length_ratio")
    return PairThresholds(shares[0], identity_of, shares[1], coverage_of, ratio)


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
