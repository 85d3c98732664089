"""The request of folds and clusters that are given: ``pairalign audit``."""

from __future__ import annotations

from typing import ClassVar, Literal

from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arguments import IN_FILE
from pairalign.base.choices import GROUP_SUFFIXES
from pairalign.base.declaration import Rule, again, choice, flag, group, option, place, request
from pairalign.jobs.splits.interactions_request import (
    INTERACTION_RULES,
    SECOND_FILE_RULES,
    InteractionsOptions,
    SecondFileOptions,
)
from pairalign.requests.resources import ResourcesOptions
from pairalign.requests.shared import (
    AT_ONCE,
    SEQUENCE_FILE,
    CommandOptions,
    DryRunOptions,
    OutputOptions,
    OutputRules,
    ProblemOptions,
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

_ACROSS = ("all", "none")
_FASTA = "fasta"
_PROMISED = "what is promised"
_INTERACTIONS = "interactions"


@request
class GroupsOptions(OutputOptions):
    """The groups, their sequences, and where violations go."""

    groups: str = place(
        "GROUPS",
        "folds as CSV with a header line, .clstr, .uc, a table of representatives and members "
        "(MMseqs2, DIAMOND), or FASTA: the training set, IN being the test set",
        kind=IN_FILE,
    )
    input: str | None = place("IN", f"the sequences: {SEQUENCE_FILE}", kind=IN_FILE, nargs="?")
    writing: OutputRules = group(
        OutputRules,
        but=("format", *AT_ONCE),
        output={
            "help": "the violations as CSV; - for stdout, which is the default unless that is a "
            "terminal"
        },
    )
    read_as: str | None = option(
        help="format of GROUPS; default: by the ending of its name",
        flags=("--from",),
        values=(*GROUP_SUFFIXES, _FASTA),
    )
    name_column: str | None = option(
        help="GROUPS as a table: the column of names (default: the first)", metavar="NAME"
    )
    fold_column: str | None = option(
        help="the column of folds (default: fold, set, split, partition or cluster)",
        metavar="NAME",
    )
    sequence_column: str | None = option(
        help="the column of residues, in place of IN", metavar="NAME"
    )


@request
class AcrossOptions(CommandOptions):
    """Which pairs are looked at."""

    across: str = choice(
        _ACROSS,
        "pairs of two groups that are looked at; none: members alone (default: %(default)s)",
    )


@request
class AuditPairsOptions(InteractionsOptions):
    """Interactions that have folds."""

    pairs: bool = flag(
        "GROUPS are interactions: a table with a name of IN and one of IN2 in its first columns, "
        "and a column of folds"
    )


@request
class AuditRequest(FoldsSimilarOptions, AcrossOptions, StrandOptions, AuditPairsOptions):
    """The request of an audit."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        *FoldsSimilarOptions.RULES,
        *INTERACTION_RULES,
        Rule(
            lambda request: request.pairs and not request.looks_across,
            "{across=none} looks at members of clusters; interactions have none",
        ),
    )

    thresholds: PairThresholds = again(
        FoldsSimilarOptions,
        "thresholds",
        min_identity={
            "help": "what no pair of two groups reaches, and members do, such as 0.97 or 97%%"
        },
    )

    @property
    def looks_across(self) -> bool:
        """Whether pairs of two groups are looked at."""
        return self.across == _ACROSS[0]


class AuditArguments(SimilarArguments, total=False):
    """Types of what `pairalign.audit` takes besides groups, sequences, scoring and mode."""

    ties: Literal["usual", "vsearch"]
    across: Literal["all", "none"]


@request
class AuditOptions(
    GroupsOptions,
    SecondFileOptions,
    AuditRequest,
    ProblemOptions,
    DryRunOptions,
    ResourcesOptions,
):
    """The request of ``pairalign audit``."""

    SHORT: ClassVar[str] = (
        "output read_as fold_column min_identity min_coverage max_evalue across strand "
        "pairs threads"
    )
    DESCRIPTION: ClassVar[str] = (
        "List each pair of two folds or clusters that reaches the least identity (and coverage), "
        f"and each member of a cluster that does not reach it with its representative. {USUAL} "
        "The exit code is 1 if there is any, 2 where the audit itself fails."
    )
    EPILOG: ClassVar[str | None] = describe_thresholds()
    STDOUT_FORMAT: ClassVar[str] = "csv"
    FAILED: ClassVar[int] = 2  # 1: pairs were found
    PLACED: ClassVar[dict[type, str]] = {
        **dict.fromkeys(
            (ThresholdsOptions, StatisticsOptions, AcrossOptions, StrandOptions), _PROMISED
        ),
        **dict.fromkeys((InteractionsOptions, AuditPairsOptions), _INTERACTIONS),
    }

    RULES: ClassVar[tuple[Rule, ...]] = (
        *AuditRequest.RULES,
        *SECOND_FILE_RULES,
        Rule(
            lambda request: (
                request.pairs and (request.are_sets or request.sequence_column is not None)
            ),
            "{pairs} says that GROUPS is a table of interactions; their sequences are IN and IN2",
        ),
        Rule(
            lambda request: request.pairs and request.name_column is not None,
            "{name_column} is of a table of sequences; interactions have two names",
        ),
        *needs_local("max_evalue"),
        Rule(
            lambda request: request.sequence_column is None and request.input is None,
            "no sequences: give IN, or {sequence_column=NAME} of a table that has them",
        ),
        Rule(
            lambda request: request.sequence_column is not None and request.input is not None,
            "{sequence_column} is of a table with the sequences: leave IN out",
        ),
        Rule(
            lambda request: request.sequence_column is not None and request.reading.also,
            "{also} adds to IN, which {sequence_column} is in place of",
        ),
        Rule(
            lambda request: request.are_sets and request.has_columns,
            "{name_column}, {fold_column} and {sequence_column} are those of a table",
        ),
        Rule(
            lambda request: request.are_sets and not request.looks_across,
            "{across=none} looks at members of clusters; two sets have none",
        ),
        Rule(
            lambda request: request.are_sets and request.reading.also,
            "{also} adds to a set that has groups; of two sets each is one file",
        ),
    )

    @property
    def has_columns(self) -> bool:
        """Whether columns of a table are named."""
        given = self.name_column, self.fold_column, self.sequence_column
        return any(one is not None for one in given)

    @property
    def are_sets(self) -> bool:
        """Whether the groups are two sets, of which GROUPS is one."""
        return self.read_as == _FASTA
