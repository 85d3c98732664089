"""What is asked of folds: ``pairalign split``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from pairalign.base.declaration import again, flag, option
from pairalign.requests.kinds import PATH, POSITIVE, SEED, SHARE
from pairalign.requests.shared import (
    Asked,
    InputOptions,
    OutputOptions,
    ReportOptions,
    ResourcesOptions,
    ScoringOptions,
    SequencesOptions,
    StrandOptions,
    ThresholdsOptions,
    describe_thresholds,
)

_FOLDS, _LABELS = "folds", "labels"


@dataclass(frozen=True)
class FoldsOutput(Asked):
    """Where folds go, and what was removed."""

    output: str | None = again(
        OutputOptions,
        "output",
        help="the folds as CSV; - for stdout, which is the default unless that is a terminal",
    )
    removed: str | None = option(
        help="write there what was removed",
        metavar="CSV",
        kind=PATH,
        decides=False,
        surface="command",
    )


@dataclass(frozen=True)
class FoldsOptions(Asked):
    """How large folds are, and what may be removed for them."""

    folds: int | None = option(help="equal folds (default: 5)", metavar="N", kind=POSITIVE)
    test: Fraction | None = option(
        help="share of the test set, instead of folds", metavar="X", kind=SHARE
    )
    val: Fraction | None = option(help="share of the validation set", metavar="X", kind=SHARE)
    tolerance: Any = option(
        "0.05",
        "by how much of its share a fold may be too large (default: %(default)s)",
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


@dataclass(frozen=True)
class LabelsOptions(Asked):
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
        kind=PATH,
        group=_LABELS,
    )


@dataclass(frozen=True)
class SplitOptions(
    SequencesOptions,
    FoldsOutput,
    ReportOptions,
    ThresholdsOptions,
    StrandOptions,
    FoldsOptions,
    LabelsOptions,
    ScoringOptions,
    InputOptions,
    ResourcesOptions,
):
    """All that ``pairalign split`` is asked."""

    DESCRIPTION: ClassVar[str] = (
        "Split the sequences of IN into folds, or into train, val and test, so that no pair across "
        "folds reaches the least identity (and coverage). A pair that just reaches it stays "
        "together. Sequences are removed where a cluster is larger than a fold."
    )
    EPILOG: ClassVar[str | None] = describe_thresholds()
    VERBATIM: ClassVar[bool] = True
    STDOUT_FORMAT: ClassVar[str] = "csv"
    FIXED: ClassVar[dict[str, Any]] = {"input2": None, "format": "csv"}
    PLACED: ClassVar[dict[type, str]] = {
        one: _FOLDS for one in (ThresholdsOptions, StrandOptions, FoldsOptions)
    }

    min_identity: Any = again(
        ThresholdsOptions,
        "min_identity",
        help="what no pair across folds reaches, such as 0.97 or 97%%",
        required=True,
    )
    identity_of: str = again(ThresholdsOptions, "identity_of", default="full")
    coverage_of: str = again(ThresholdsOptions, "coverage_of", default="aligned")
