"""What makes two sequences similar in clusters, splits and audits: identity, E-value, or both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from pairalign.base.declaration import Rule, again, option
from pairalign.requests.kinds import DIGIT, POSITIVE, SMALL_NUMBER
from pairalign.requests.shared import Asked, ThresholdsOptions, thresholds_of

if TYPE_CHECKING:
    from pairalign.alignments.thresholds import PairThresholds

_WHOLE, _ALIGNED = "full", "columns"


@dataclass(frozen=True)
class StatisticsOptions(Asked):
    """What E-values are worked out with, and the largest."""

    max_evalue: float | None = option(
        help="leave out pairs with a larger E-value, where it is known (local mode)",
        metavar="X",
        kind=SMALL_NUMBER,
    )
    db_size: int | None = option(
        help="residues of the database, for E-values; default: those of the set searched in",
        metavar="RESIDUES",
        kind=POSITIVE,
    )
    search_space: float | None = option(
        help="cells of the search space of every query, taken as they are, so that E-values do not "
        "depend on the sets",
        metavar="CELLS",
        kind=SMALL_NUMBER,
    )
    comp_based_stats: Any = option(
        help="1: E-values by the composition of each pair, as BLAST's mode 1; 0: whatever the "
        "composition, as BLAST's mode 0 (1)",
        values=(0, 1),
        kind=DIGIT,
    )


def _has_parameters(asked: Any) -> bool:
    given = asked.db_size, asked.search_space, asked.comp_based_stats
    return any(one is not None for one in given)


@dataclass(frozen=True)
class SimilarOptions(ThresholdsOptions, StatisticsOptions):
    """What similar pairs reach: identity and coverage, an E-value either way round, or both."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            lambda asked: asked.min_identity is None and asked.max_evalue is None,
            "what is similar is not said: give {min_identity=X}, or in local mode {max_evalue=X}",
        ),
        Rule(
            lambda asked: asked.max_evalue is None and _has_parameters(asked),
            "{db_size}, {search_space} and {comp_based_stats} are for {max_evalue}",
        ),
    )

    max_evalue: float | None = again(
        StatisticsOptions,
        "max_evalue",
        help="similar pairs have an E-value of at most X, whichever sequence is the query (local "
        "mode); with --min-identity they reach both",
    )


NEEDS_LOCAL = Rule(
    lambda asked: asked.max_evalue is not None and asked.mode != "local",
    "{max_evalue} needs {mode=local}, but the mode is {.mode}",
)


@dataclass(frozen=True)
class FoldsSimilarOptions(SimilarOptions):
    """The same of folds, whose identity is of whole sequences where no E-value is asked for."""

    identity_of: Any = again(
        ThresholdsOptions,
        "identity_of",
        default=None,
        help=f"what the identity is, see below (default: {_WHOLE}, with --max-evalue {_ALIGNED})",
    )
    coverage_of: str = again(ThresholdsOptions, "coverage_of", default="aligned")

    @property
    def thresholds(self) -> PairThresholds:
        """What is asked of lengths, identity and coverage, exactly."""
        usual = _WHOLE if self.max_evalue is None else _ALIGNED
        return thresholds_of(replace(self, identity_of=self.identity_of or usual))
