"""The request of folds: ``pairalign split``."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Literal

from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arguments import FOLDER, IN_FILE, POSITIVE, SEED, SHARE, out_file, parse_share
from pairalign.base.choices import TABLE_ENDINGS
from pairalign.base.declaration import Rule, again, flag, group, option, request
from pairalign.jobs.splits.interactions_request import (
    INTERACTION_RULES,
    SECOND_FILE_RULES,
    InteractionsOptions,
    SecondFileOptions,
    excludes_pairs,
    needs_pairs,
)
from pairalign.requests.resources import ResourcesOptions
from pairalign.requests.shared import (
    AT_ONCE,
    CommandOptions,
    DryRunOptions,
    OutputOptions,
    OutputRules,
    ProblemOptions,
    ReportOptions,
    SequencesOptions,
    StrandOptions,
    ThresholdsOptions,
    describe_thresholds,
    needs_local,
)
from pairalign.requests.similar import (
    USUAL,
    FoldsSimilarOptions,
    SimilarArguments,
    StatisticsOptions,
)

DEFAULT_FOLDS = 5
TRAIN = "train"
_FOLDS, _LABELS = "folds", "labels"
_INTERACTIONS = "interactions"
_MOST_FOLDS = 1_000_000
_NEAREST_BELOW = Fraction(1, 10)
"""How far below the threshold nearest sequences are looked for unless it is said."""


@request
class FoldsOutput(OutputOptions):
    """Where folds go, and what was removed."""

    writing: OutputRules = group(
        OutputRules,
        but=("format", *AT_ONCE),
        output={
            "help": "the folds as CSV; - for stdout, which is the default unless that is a terminal"
        },
    )
    removed: str | None = option(
        help="write there what was removed",
        metavar="CSV",
        kind=out_file("what is removed is written as a table", TABLE_ENDINGS),
        decides=False,
        surface="command",
    )
    folds_dir: str | None = option(
        help="write the sequences of each fold into this folder as well: train.fasta, fold_0.fasta",
        metavar="DIR",
        kind=FOLDER,
        decides=False,
        surface="command",
    )


@request
class SplitPairsOptions(InteractionsOptions):
    """Interactions that are split."""

    pairs: Any = option(
        help="split interactions: a table, CSV or TSV, with a name of IN and one of IN2 in its "
        "first columns; OUT has those that are kept, and their folds",
        metavar="FILE",
        kind=IN_FILE,
    )
    members: str | None = option(
        help="write there the fold of each sequence of both sets",
        metavar="CSV",
        kind=out_file("folds are written as a table", TABLE_ENDINGS),
        decides=False,
        surface="command",
    )


@request
class FoldsOptions(CommandOptions):
    """How large folds are, and what may be removed for them."""

    folds: int | None = option(help="equal folds (default: 5)", metavar="N", kind=POSITIVE)
    test: Fraction | None = option(
        help="share of the test set, instead of folds", metavar="X", kind=SHARE
    )
    val: Fraction | None = option(help="share of the validation set", metavar="X", kind=SHARE)
    tolerance: float | str | Fraction = option(
        "0.05",
        "by how much of its share a fold may be too large (default: %(default)s)",
        about="by how much of its share a fold may be too large, and have too much of a label",
        metavar="X",
        kind=SHARE,
    )
    no_remove: bool = flag("remove nothing: an error where a cluster fits into no fold")
    nearest_from: Fraction | None = option(
        help="least identity at which the nearest sequence of another fold is looked for (default: "
        "0.1 below --min-identity)",
        metavar="X",
        kind=SHARE,
    )
    seed: int = option(0, "of ties (default: %(default)s)", metavar="N", kind=SEED)


def _equal_folds(request: SplitRequest) -> int:
    """Return how many folds there are to be; 2 with shares."""
    if request.has_shares:
        return 2
    return DEFAULT_FOLDS if request.folds is None else request.folds


@request
class SplitRequest(FoldsSimilarOptions, StrandOptions, FoldsOptions, SplitPairsOptions):
    """The request of the folds of a set."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        *FoldsSimilarOptions.RULES,
        *INTERACTION_RULES,
        *excludes_pairs("nearest_from"),
        Rule(
            lambda request: _equal_folds(request) < 2, "folds: found {.folds}, expected 2 or more"
        ),
        Rule(
            lambda request: _equal_folds(request) > _MOST_FOLDS,
            f"folds: found {{.folds}}, expected at most {_MOST_FOLDS:,}",
        ),
        Rule(
            lambda request: request.has_shares and request.folds is not None,
            "ask for folds, or for shares of test and val, not for both",
        ),
        Rule(
            lambda request: request.has_shares and min(request.fold_shares.values()) <= 0,
            "test and val: expected shares above 0 that leave some for train",
        ),
    )

    thresholds: PairThresholds = again(
        FoldsSimilarOptions,
        "thresholds",
        min_identity={"help": "what no pair across folds reaches, such as 0.97 or 97%%"},
    )

    @property
    def has_shares(self) -> bool:
        """Whether the folds are train, val and test."""
        return self.test is not None or self.val is not None

    @property
    def fold_shares(self) -> dict[str, Fraction]:
        """Names of the folds, and the share of all sequences of each; they add up to 1."""
        if not self.has_shares:
            count = _equal_folds(self)
            return {str(k): Fraction(1, count) for k in range(count)}
        given = (("val", self.val), ("test", self.test))
        shares = {name: parse_share(one, name) for name, one in given if one is not None}
        return {TRAIN: 1 - sum(shares.values(), Fraction(0)), **shares}

    @property
    def exact_tolerance(self) -> Fraction:
        """By how much of its share a fold may be too large."""
        return parse_share(self.tolerance, "tolerance")

    @property
    def nearest_identity(self) -> Fraction:
        """Least identity at which nearest sequences of other folds are looked for."""
        least = self.thresholds.least_identity
        if self.nearest_from is None:
            return max(Fraction(0), least - _NEAREST_BELOW)
        return min(least, parse_share(self.nearest_from, "nearest_from"))


class SplitArguments(SimilarArguments, total=False):
    """Types of what `pairalign.split` takes besides sequences, scoring and mode."""

    ties: Literal["usual", "vsearch"]
    folds: int | None
    test: float | str | Fraction | None
    val: float | str | Fraction | None
    tolerance: float | str | Fraction
    nearest_from: float | str | Fraction | None
    seed: int


@request
class LabelsOptions(CommandOptions):
    """What is known of the sequences beside their residues."""

    label: str | None = option(
        help="give folds like shares of each label: what follows NAME= in headers",
        metavar="NAME",
        group=_LABELS,
    )
    priority: str | None = option(
        help="numbers of at least 0; removing a sequence costs 1 more than its own",
        metavar="NAME",
        group=_LABELS,
    )
    table: str | None = option(
        help="CSV or TSV with columns NAME instead of headers; names are in its first column",
        metavar="FILE",
        kind=IN_FILE,
        group=_LABELS,
    )


@request
class SplitOptions(
    SequencesOptions,
    SecondFileOptions,
    FoldsOutput,
    ReportOptions,
    SplitRequest,
    LabelsOptions,
    ProblemOptions,
    DryRunOptions,
    ResourcesOptions,
):
    """The request of ``pairalign split``."""

    SHORT: ClassVar[str] = (
        "output removed folds_dir report min_identity max_evalue folds test val label pairs threads"
    )
    DESCRIPTION: ClassVar[str] = (
        "Split the sequences of IN into folds, or into train, val and test, so that no pair across "
        "folds reaches the least identity (and coverage), or has a small E-value. A pair that just "
        f"reaches it stays together. {USUAL} Sequences are removed where a cluster is larger than "
        "a fold."
    )
    EPILOG: ClassVar[str | None] = describe_thresholds()
    STDOUT_FORMAT: ClassVar[str] = "csv"
    PLACED: ClassVar[dict[type, str]] = {
        **dict.fromkeys(
            (ThresholdsOptions, StatisticsOptions, StrandOptions, FoldsOptions), _FOLDS
        ),
        **dict.fromkeys((InteractionsOptions, SplitPairsOptions), _INTERACTIONS),
    }

    RULES: ClassVar[tuple[Rule, ...]] = (
        *SplitRequest.RULES,
        *SECOND_FILE_RULES,
        *needs_pairs("members"),
        *excludes_pairs("label", "priority", "report"),
        *needs_local("max_evalue"),
        Rule(
            lambda request: (
                request.table is not None and request.label is None and request.priority is None
            ),
            "{table} is for {label} and {priority}: name a column with them",
        ),
    )
