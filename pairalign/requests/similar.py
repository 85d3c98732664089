"""What makes two sequences similar in clusters, splits and audits: identity, E-value, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypedDict, TypeVar

from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arguments import DIGIT, POSITIVE, SMALL_NUMBER
from pairalign.base.declaration import Request, Rule, again, changed, group, option, request
from pairalign.requests.resources import ResourceArguments
from pairalign.requests.shared import (
    SCORING,
    CommandOptions,
    ProblemArguments,
    ScoringOptions,
    StrandArguments,
    SymmetricProblemArguments,
    ThresholdArguments,
    ThresholdsOptions,
)
from pairalign.scoring.scoring_request import ScoringRequest

if TYPE_CHECKING:
    from pairalign.statistics.significance import Searched

_WHOLE, _ALIGNED = "full", "columns"
_GLOBAL, _LOCAL = "global", "local"
_Similar = TypeVar("_Similar", bound="SimilarOptions")
_Folds = TypeVar("_Folds", bound="FoldsSimilarOptions")
USUAL_EVALUE = 0.001
"""The largest of folds of proteins, where nothing is said of what is similar."""
USUAL = (
    f"Without --min-identity and --max-evalue, proteins are similar if they are homologous: --mode "
    f"{_LOCAL} --max-evalue {USUAL_EVALUE:g}; of DNA one is to be given."
)


_OF_STATISTICS = "{%s} is for E-values and bits, which are neither shown nor looked at"


def _needs_statistics(name: str) -> Rule:
    return Rule(lambda request: not request.uses_statistics, _OF_STATISTICS % name)


@request
class EvalueRules(Request):
    """What E-values are worked out with, and the largest."""

    max_evalue: float | None = option(
        help="leave out pairs with a larger E-value, where it is known (local mode)",
        metavar="X",
        kind=SMALL_NUMBER,
        elsewhere=("-evalue", "--evalue", "-e"),
    )
    db_size: int | None = option(
        help="residues of the database, for E-values; default: those of the set searched in",
        metavar="RESIDUES",
        kind=POSITIVE,
        elsewhere=("-dbsize",),
        needs=_needs_statistics("db_size"),
    )
    search_space: float | None = option(
        help="cells of the search space of every query, taken as they are, so that E-values do not "
        "depend on the sets",
        metavar="CELLS",
        kind=SMALL_NUMBER,
        elsewhere=("-searchsp",),
        needs=_needs_statistics("search_space"),
    )
    comp_based_stats: int | bool | None = option(
        help="1: E-values by the composition of each pair, as BLAST's mode 1; 0: whatever the "
        "composition, as BLAST's mode 0 (1)",
        values=(0, 1),
        kind=DIGIT,
        elsewhere=("-comp_based_stats",),
        needs=_needs_statistics("comp_based_stats"),
    )

    @property
    def searched(self) -> Searched:
        """What queries are searched in, where it is not the other set."""
        from pairalign.statistics.significance import Searched

        return Searched(self.db_size, self.search_space)

    @property
    def by_composition(self) -> bool:
        """Whether E-values depend on the composition of each pair."""
        return self.comp_based_stats is None or bool(self.comp_based_stats)


@request
class StatisticsOptions(CommandOptions):
    """Which E-values pairs must have."""

    evalues: EvalueRules = group(EvalueRules)

    @property
    def uses_statistics(self) -> bool:
        """Whether E-values or bits are shown or looked at."""
        return self.evalues.max_evalue is not None


class StatisticsArguments(TypedDict, total=False):
    """Types of `EvalueRules` in Python."""

    max_evalue: float | None
    db_size: int | None
    search_space: float | None
    comp_based_stats: int | bool | None


class ScoredArguments(ProblemArguments, ResourceArguments, total=False):
    """Types of what functions take that align: sequences, costs, resources."""


class RotateArguments(ScoredArguments, StrandArguments, total=False):
    """Types of what `pairalign.rotate` takes besides sequences, scoring and mode."""


class SimilarArguments(
    SymmetricProblemArguments,
    ResourceArguments,
    ThresholdArguments,
    StatisticsArguments,
    StrandArguments,
    total=False,
):
    """Types of what functions take that look for similar pairs."""


@request
class SimilarOptions(ThresholdsOptions, StatisticsOptions, ScoringOptions):
    """What similar pairs reach: identity and coverage, an E-value either way round, or both."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            lambda request: (
                request.thresholds.min_identity is None and request.evalues.max_evalue is None
            ),
            "what is similar is not said: give {min_identity=X}, or in local mode {max_evalue=X}",
        ),
    )

    evalues: EvalueRules = again(
        StatisticsOptions,
        "evalues",
        max_evalue={
            "help": "similar pairs have an E-value of at most X, whichever sequence is the query "
            "(local mode); with --min-identity they reach both"
        },
    )

    def describe(self, residues: int) -> str:
        """Return the thresholds of similar pairs: of E-values, identities and others.

        Parameters
        ----------
        residues : int
            Of the database, unless it is asked for.
        """
        parts, evalues = [], self.evalues
        if evalues.max_evalue is not None:
            where = f"database {evalues.db_size or residues:,} residues"
            if evalues.search_space is not None:
                where = f"search space {evalues.search_space:g} cells"
            parts.append(f"an E-value of {evalues.max_evalue:g} or less ({where})")
        parts += self.thresholds.describe(with_identity=evalues.max_evalue is None)
        return " and ".join(parts)


OF_PROTEINS = Rule(
    lambda request: request.is_usual,
    "what is similar is not said, and of DNA nothing is usual: give {min_identity=X} or "
    "{max_evalue=X}",
)
"""Of folds of DNA: genes of one kind, and repeats, connect nearly all of a set."""


def with_mode(request: _Similar) -> _Similar:
    """Return a request with a mode: where none is said, local with an E-value, else global."""
    asks_evalue = request.evalues.max_evalue is not None and not request.scoring.has_end_gaps
    mode = request.scoring.mode or (_LOCAL if asks_evalue else _GLOBAL)
    return changed(request, mode=mode)


@request
class FoldsSimilarOptions(SimilarOptions):
    """The same of folds: homologous unless an identity is asked for, which is of whole sequences.

    Attributes
    ----------
    is_usual : bool
        Whether nothing was said of what is similar, see `completed`.
    """

    is_usual: bool = False
    evalues: EvalueRules = again(
        SimilarOptions,
        "evalues",
        max_evalue={
            "help": "similar pairs have an E-value of at most X, whichever sequence is the query "
            f"(local mode; {USUAL_EVALUE} for proteins without --min-identity); with "
            "--min-identity they reach both"
        },
    )
    scoring: ScoringRequest = group(
        ScoringRequest,
        SCORING,
        mode={
            "default": None,
            "help": f"default: {_GLOBAL}; {_LOCAL} with --max-evalue, or without --min-identity",
        },
    )
    thresholds: PairThresholds = again(
        ThresholdsOptions,
        "thresholds",
        identity_of={
            "default": None,  # until it is completed
            "needs": None,  # nearest sequences of other folds have an identity in any case
            "help": "what the identity is, see below "
            f"(default: {_WHOLE}, with --max-evalue {_ALIGNED})",
            "about": "what the identity is, see `pairalign.align`; default: "
            f"{_WHOLE}, with `max_evalue` {_ALIGNED}",
        },
        coverage_of={"default": "aligned"},
    )

    def completed(self: _Folds) -> _Folds:
        """Return the request with a mode, an identity and, where neither is said, an E-value."""
        is_said = self.thresholds.min_identity is not None or self.evalues.max_evalue is not None
        if is_said or self.scoring.mode not in (None, _LOCAL) or self.scoring.has_end_gaps:
            request = with_mode(self)
        else:
            request = changed(self, max_evalue=USUAL_EVALUE, mode=_LOCAL, is_usual=True)
        usual = _WHOLE if request.evalues.max_evalue is None else _ALIGNED
        return changed(request, identity_of=self.thresholds.identity_of or usual)
