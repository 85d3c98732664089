"""What a pair must reach to be kept: lengths, identity, coverage and score, exactly.

`PairThresholds` is a group of options of every request that has them, and what filters and engines
are given. What follows for pairs before they are aligned is in ``docs/filters.md``, and in native
code in ``cpu/filters/thresholds.h``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING

from pairalign.base.arguments import RATIO, SHARE
from pairalign.base.choices import COVERAGES, END_GAPS, IDENTITIES
from pairalign.base.declaration import Rule, choice, option
from pairalign.base.error_types import ScoringError

if TYPE_CHECKING:
    from pairalign.alignments.alignments import Alignments
    from pairalign.alignments.passes import Ends, NativeThresholds, Sets
    from pairalign.base.arrays import Int64s
    from pairalign.pairs.want import Detail
    from pairalign.scoring.scoring import Scoring

_MODES = ("global", "semiglobal", "local")
_ONE_WAY = ("query", "target")
_MOST_RESIDUES = 2**31


@dataclass(frozen=True)
class PairThresholds:
    """What a pair must reach, exactly; shares from 0 to 1. Help does without NumPy.

    A pair of which nothing is aligned has identity 0; coverage is that of spans, in global mode all
    are 1. A length ratio is residues of the longer sequence by those of the shorter one.
    """

    min_identity: Fraction | None = option(
        metavar="X",
        kind=SHARE,
        decides=False,
        elsewhere=("-perc_identity", "--id", "-id", "--min-seq-id", "--approx-id"),
    )
    identity_of: str = choice(
        tuple(IDENTITIES),
        "what the identity is, see below (default: %(default)s)",
        about="; ".join(f"{name}: {summary}" for name, summary in IDENTITIES.items()),
        decides=False,
        needs=Rule(
            lambda request: not request.uses_identity,
            "{identity_of=.} says what identity is, and none is looked at: give {min_identity=X}",
        ),
        elsewhere=("--iddef", "-iddef", "--seq-id-mode"),
    )
    min_coverage: Fraction | None = option(
        help="the same of coverage",
        about="the same of what is aligned of a pair, its coverage",
        metavar="X",
        kind=SHARE,
        decides=False,
    )
    coverage_of: str = choice(
        tuple(COVERAGES),
        "what the coverage is, see below (default: %(default)s)",
        about="; ".join(f"{name}: {summary}" for name, summary in COVERAGES.items()),
        default="both",
        decides=False,
        elsewhere=("--cov-mode",),
        needs=Rule(
            lambda request: request.thresholds.min_coverage is None,
            "{coverage_of=.} says what coverage is, and none is looked at: give {min_coverage=X}",
        ),
    )
    max_length_ratio: Fraction | None = option(
        help="leave out pairs whose longer sequence has more than X times the residues of the "
        "shorter one",
        metavar="X",
        kind=RATIO,
        decides=False,
    )

    def __bool__(self) -> bool:
        return self.looks_at_alignments or self.max_length_ratio is not None

    @property
    def looks_at_alignments(self) -> bool:
        """Whether lengths alone do not say which pairs pass."""
        return bool(self.min_identity or self.min_coverage)

    @property
    def least_identity(self) -> Fraction:
        """The identity that a pair must reach; 0: any."""
        return self.min_identity or Fraction(0)

    @property
    def least_coverage(self) -> Fraction:
        """The coverage that a pair must reach; 0: any."""
        return self.min_coverage or Fraction(0)

    def describe(self, *, with_identity: bool) -> list[str]:
        """Return the thresholds in words; `with_identity`: that also if any is enough."""
        parts = []
        if self.min_identity or with_identity:
            least = f"{float(self.least_identity):g}"
            parts.append(f"an identity ({self.identity_of}) of {least} or more")
        if self.min_coverage:
            least = f"{float(self.min_coverage):g}"
            parts.append(f"a coverage ({self.coverage_of}) of {least} or more")
        if self.max_length_ratio is not None:
            parts.append(f"a length ratio of at most {float(self.max_length_ratio):g}")
        return parts

    def detail(self, mode: str) -> Detail:
        """Return what must be computed of each pair in a mode, for `passing`."""
        from pairalign.pairs.want import Detail

        return self.detail_of_identity(mode) if self.looks_at_alignments else Detail.SCORE

    def detail_of_identity(self, mode: str) -> Detail:
        """Return what must be computed of each pair in a mode to count its identity."""
        from pairalign.alignments.identities import needs_cigar
        from pairalign.pairs.want import Detail

        return Detail.CIGAR if needs_cigar(self.identity_of, mode) else Detail.STATS

    @property
    def identity_column(self) -> str:
        """The name of a column that holds the identity."""
        from pairalign.alignments.identities import name_identity

        return name_identity(self.identity_of)

    @property
    def covers_one_way(self) -> bool:
        """Whether a pair may reach the coverage with one of its sequences as the query alone."""
        return bool(self.min_coverage) and self.coverage_of in _ONE_WAY

    @property
    def is_of_shorter(self) -> bool:
        """Whether the shorter sequence decides, so that a fragment is as good as a whole."""
        return self.identity_of == "shorter"

    def counts_ends(self, mode: str) -> bool:
        """Whether residues that a sequence lacks at its ends are columns of the identity."""
        return self.identity_of in ("columns", "full") and mode == "global"

    def count_identity(self, alignments: Alignments) -> tuple[Int64s, Int64s]:
        """Count the identities exactly, see `pairalign.alignments.identities.count_identity`."""
        from pairalign.alignments.identities import count_identity

        return count_identity(alignments, self.identity_of)

    def native(self, mode: str) -> NativeThresholds:
        """Return what native code takes, for alignments of a mode.

        Bounds of semiglobal alignments hold of those with end gaps: costs at ends only add to them.
        """
        from pairalign.alignments.identities import needs_cigar
        from pairalign.alignments.passes import NativeThresholds

        identity_of = self.identity_of
        if identity_of == "internal" and not needs_cigar(identity_of, mode):
            identity_of = "columns"  # there are no gaps at the ends
        whole, part = divmod(self.max_length_ratio or Fraction(0), 1)
        return NativeThresholds(
            *self.least_identity.as_integer_ratio(),
            *self.least_coverage.as_integer_ratio(),
            *(min(whole, _MOST_RESIDUES), *part.as_integer_ratio()),
            list(IDENTITIES).index(identity_of),
            list(COVERAGES).index(self.coverage_of),
            _MODES.index("semiglobal" if mode == END_GAPS else mode),
            mode == END_GAPS,
        )

    def passing(self, alignments: Alignments) -> Int64s:
        """Return which of some alignments pass, exactly: ascending positions.

        Parameters
        ----------
        alignments : Alignments
            With what `detail` says.
        """
        from pairalign.alignments.identities import needs_cigar
        from pairalign.alignments.passes import columns_of, find_passing

        mode, columns = alignments.scoring.mode, {}
        if self.looks_at_alignments:
            columns = columns_of(alignments, with_cigar=needs_cigar(self.identity_of, mode))
        ends = alignments.query, alignments.target
        sets = alignments.queries, alignments.targets
        return find_passing(self.native(mode), ends, sets, columns)

    def fitting(self, pairs: Ends, sets: Sets) -> Int64s:
        """Return which pairs, of input indices, are alike enough in length: ascending positions."""
        import numpy as np

        from pairalign.alignments.passes import find_passing

        by_length = replace(self, min_identity=None, min_coverage=None)
        ends = np.ascontiguousarray(pairs[0], np.int32), np.ascontiguousarray(pairs[1], np.int32)
        return find_passing(by_length.native("global"), ends, sets, {})


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
