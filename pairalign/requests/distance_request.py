"""The request of distances: ``pairalign distance``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arguments import IN_FILE, OUT_FILE, SHARE, WHOLE, out_file
from pairalign.base.choices import (
    BY_FILE,
    BY_PREFIX,
    BY_RECORD,
    DEFAULT_MEASURE,
    DEFAULT_WINDOW,
    DISTANCE_SUFFIXES,
    GENOME_MEASURES,
    MEASURE_SUMMARIES,
    NEAR_MEASURES,
    RECEPTOR_MEASURES,
    RECTANGLE_SUFFIXES,
    SIMILARITY_MEASURES,
    SPARSE_SUFFIXES,
    TABLE_ENDINGS,
)
from pairalign.base.declaration import (
    Rule,
    again,
    choice,
    excluded,
    excludes,
    flag,
    group,
    has_job,
    is_given,
    option,
    options_of,
    place,
    request,
)
from pairalign.requests.align_request import AlignRequest, TwoSetsOptions
from pairalign.requests.resources import ResourcesOptions
from pairalign.requests.shared import (
    GROUPS,
    IN_SHARDS_OR_WITH_A_REPORT,
    INPUT,
    CommandOptions,
    DryRunOptions,
    OutputOptions,
    OutputRules,
    ProblemOptions,
    ReportOptions,
    StrandArguments,
    StrandOptions,
    describe_measures,
    needs_local,
    written_as,
)
from pairalign.requests.similar import EvalueRules, ScoredArguments
from pairalign.scoring.scoring_request import ScoringRequest
from pairalign.sequences.input_rules import InputRules

if TYPE_CHECKING:
    from pairalign.trees.distance_matrix import DistanceMatrix

LIMIT = "pairs within a limit"
GROUPED = "groups of proteins or of records of DNA, as proteomes and genomes"
"""Titles in help."""


@request
class LimitsOptions(CommandOptions):
    """Pairs of short sequences within a limit."""

    max_drop: int | None = option(
        help="keep pairs with min(S(a,a), S(b,b)) - S(a,b) of at most D; S: the global score",
        metavar="D",
        kind=WHOLE,
        group=LIMIT,
    )
    max_edits: int | None = option(
        help="keep pairs of at most K edits", metavar="K", kind=WHOLE, group=LIMIT
    )
    max_tcrdist: int | None = option(
        help="keep pairs with a TCRdist of at most D",
        metavar="D",
        kind=WHOLE,
        group=LIMIT,
        job="receptors",
    )
    max_length_ratio: Fraction | None = again(
        PairThresholds, "max_length_ratio", group=LIMIT, decides=True
    )


@request
class ReceptorOptions(CommandOptions):
    """What is known of receptors."""

    v_genes: str | os.PathLike[str] | Mapping[str, Mapping[str, str]] | None = option(
        help="tcrdist: loops by V gene, a table of gene, cdr1, cdr2 and cdr2.5",
        about='for TCRdist: the loops of V genes, as ``{"TRBV9*01": {"cdr1": "SGDLS", ...}}`` or a '
        "table of gene, cdr1, cdr2 and cdr2.5; default: the columns ``cdr1_aa`` and others of the "
        "table, if it has them, else CDR3 alone",
        metavar="TSV",
        kind=IN_FILE,
        job="receptors",
    )


@request
class GroupsOptions(CommandOptions):
    """Groups of sequences, and what their alignments reach."""

    group_by: str | os.PathLike[str] | Mapping[str, str] | None = option(
        help="the groups: files of IN, records, names up to the first |, or FILE with a name and "
        "its group a line, a tab between",
        about="distances of groups of proteins, see `pairalign.jobs.distances.proteome_distances`. "
        '"file": `sequences` are paths of files, each a group; "name-prefix": names begin with '
        "their group and ``|``; a file has a name and its group a line, with a tab between",
        metavar=f"{BY_FILE}|{BY_RECORD}|{BY_PREFIX}|FILE",
        kind=IN_FILE,
        group=GROUPED,
    )
    min_identity: Fraction | None = again(
        PairThresholds,
        "min_identity",
        help="leave out alignments with a lower identity, such as 0.3",
        about="with `group_by`: leave out alignments with a lower identity, by columns",
        group=GROUPED,
    )
    min_coverage: Fraction | None = again(
        PairThresholds,
        "min_coverage",
        help="and with a smaller aligned part of either sequence",
        about="with `group_by`: and with a smaller aligned part of either sequence",
        group=GROUPED,
    )
    max_evalue: float | None = again(
        EvalueRules,
        "max_evalue",
        help="and with a larger E-value, in a database of all groups (local mode)",
        about="with `group_by`: and with a larger E-value, in a database of all groups, in mode "
        "local",
        group=GROUPED,
    )


@request
class FilesOptions(CommandOptions):
    """Tables of groups, how distances are written, and a picture."""

    matches: str | None = option(
        help="write a table of each two groups: identity, matched proteins and their shares; of "
        "genomes ANI, tANI and coverages",
        metavar="TSV",
        kind=out_file("what is matched is written as a table", TABLE_ENDINGS),
        group=GROUPED,
        decides=False,
        surface="command",
    )
    clusters: str | None = option(
        help="write clusters of groups: the subtrees of their UPGMA tree within --max-distance",
        metavar="TSV",
        kind=out_file("clusters of groups are written as a table", TABLE_ENDINGS),
        group=GROUPED,
        decides=False,
        surface="command",
    )
    max_distance: Fraction | None = option(
        help="the largest distance of clusters, such as 0.05",
        metavar="X",
        kind=SHARE,
        group=GROUPED,
        decides=False,
        surface="command",
    )
    lower: bool = flag("PHYLIP: lower triangle instead of square", surface="command")
    strict_names: bool = flag("PHYLIP: names of ten characters", surface="command")
    plot: str | None = option(
        help="heat map with a tree, .svg, .png or .pdf",
        metavar="FILE",
        kind=OUT_FILE,
        decides=False,
        surface="command",
    )


_ALL_MEASURES = MEASURE_SUMMARIES | GENOME_MEASURES
if has_job("receptors"):
    _ALL_MEASURES |= RECEPTOR_MEASURES
_LIMITS = tuple(f"max_{name}" for name in NEAR_MEASURES)


@request
class PairsOptions(CommandOptions):
    """How pairs are aligned, what is said of them, and of which that is known."""

    circular: bool = flag(
        "genomes that begin anywhere: align each pair with one of the two rotated to where it "
        "scores most; of DNA that may be on either strand add --strand both",
        about="the sequences are circles: each pair is aligned, in mode global, with one of the "
        "two rotated to where it scores most (`pairalign.jobs.circular.circular`)",
        job="circular",
    )
    similarity: bool = flag(
        "write identities, 1 less the distances",
        about="return identities, 1 less the distances of a measure of identity",
    )
    extend: Any = option(
        help="distances of the first sequences, made with the same options, or a folder of their "
        "parts: align only pairs with another sequence, as --also names them",
        about="distances of the first sequences, by the same measure and scoring: only pairs with "
        "another sequence are aligned",
        metavar="NPY",
        kind=IN_FILE,
    )


@request
class MoreSetsOptions(CommandOptions):
    """Further files."""

    inputs: tuple[str, ...] = place(
        "IN3",
        "more files of one set, with --group-by",
        kind=IN_FILE,
        nargs="*",
        is_several=True,
        decides=False,
        surface="command",
    )


@request
class MeasureOptions(CommandOptions):
    """How far apart two sequences are."""

    measure: str = choice(
        tuple(MEASURE_SUMMARIES),
        "default: %(default)s",
        about="; ".join(f"{name}: {about}" for name, about in MEASURE_SUMMARIES.items()),
        default=DEFAULT_MEASURE,
    )


class MeasureArguments(ScoredArguments, total=False):
    """Types of `MeasureOptions`, and of the request of alignments, in Python."""

    measure: str


class TwoSetsArguments(MeasureArguments, StrandArguments, total=False):
    """Types of the options of distances of two sets."""

    similarity: bool
    v_genes: str | os.PathLike[str] | Mapping[str, Mapping[str, str]] | None


class OneSetArguments(TwoSetsArguments, total=False):
    """Types of the options of distances of one set."""

    circular: bool
    extend: DistanceMatrix | None


class GroupsArguments(MeasureArguments, total=False):
    """Types of `GroupsOptions`, less the groups themselves."""

    min_identity: float | str | Fraction | None
    min_coverage: float | str | Fraction | None
    max_evalue: float | None


class NearArguments(ScoredArguments, total=False):
    """Types of the options of pairs within a limit."""

    max_drop: int | None
    max_edits: int | None
    max_tcrdist: int | None
    max_length_ratio: float | str | Fraction | None
    v_genes: str | os.PathLike[str] | Mapping[str, Mapping[str, str]] | None


class DistanceArguments(OneSetArguments, GroupsArguments, NearArguments, total=False):
    """Types of what `pairalign.distance` takes besides sequences, scoring and mode."""

    group_by: str | os.PathLike[str] | Mapping[str, str] | None


def _limits_exclude(why: str, *others: str) -> tuple[Rule, ...]:
    return tuple(rule for name in _LIMITS for rule in excludes(name, why, *others))


def _one_of(first: str, second: str) -> Rule:
    """Return the rule that of two limits one is given."""
    return Rule(
        lambda request: is_given(request, first) and is_given(request, second),
        f"{{{first}}} and {{{second}}} are two distances: give one",
    )


def _of_one_set(*names: str) -> tuple[Rule, ...]:
    """Return the rules that options are not given with a second set."""
    says = "{} is of one set, not of two: leave it out"
    return excluded(lambda request: request.has_two_sets, says, *names)


def _of_groups(*names: str) -> tuple[Rule, ...]:
    """Return the rules that options are given with groups alone."""
    return excluded(lambda request: request.group_by is None, "{} needs {group_by}", *names)


_IN_PARTS = ("shard", "resume", "dask")


@request
class DistanceRequest(
    LimitsOptions,
    ReceptorOptions,
    GroupsOptions,
    PairsOptions,
    StrandOptions,
    MeasureOptions,
):
    """The request of the distances of a set, or of two.

    Attributes
    ----------
    extend : DistanceMatrix or None
        For jobs: distances of the first sequences, whose pairs are not aligned.
    targets : object
        The second set, where there is one and it is not a file.
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            lambda request: request.max_length_ratio is not None and not request.has_limit,
            "{max_length_ratio} needs {max_drop} or {max_edits}",
        ),
        *(_one_of(*two) for two in combinations(_LIMITS, 2)),
        *excludes("max_tcrdist", "is of receptors", "max_length_ratio"),
        *_limits_exclude("keeps some pairs", "similarity", "circular", "extend"),
        *_limits_exclude("compares sequences as they are", "strand"),
        *_limits_exclude("is a distance of its own", "measure"),
        Rule(
            lambda request: request.similarity and request.measure not in SIMILARITY_MEASURES,
            "{similarity} is of identities, not of {measure=.}",
        ),
        *excludes("extend", "is of distances in one run", "circular"),
        *_of_one_set("circular", "extend"),
        *_limits_exclude("keeps some pairs of sequences", "group_by"),
        Rule(
            lambda request: request.v_genes is not None and not request.is_of_receptors,
            "{v_genes} needs {measure=tcrdist} or {max_tcrdist}",
        ),
        *excluded(
            lambda request: request.measure in RECEPTOR_MEASURES,
            "{measure=.} is of receptors: leave {} out",
            *("strand", "circular", "group_by"),
        ),
        *excludes("group_by", "is of one set", "circular", "extend"),
        Rule(
            lambda request: request.group_by is not None and request.has_two_sets,
            "{group_by} is of one set: leave targets out",
        ),
        Rule(
            lambda request: request.measure in GENOME_MEASURES and request.group_by is None,
            "{measure=.} needs {group_by}: file (a genome a file), record, name-prefix or a table",
        ),
        *_of_groups("min_identity", "min_coverage", "max_evalue"),
    )

    targets: object = None
    measure: str = again(
        MeasureOptions,
        "measure",
        values=tuple(_ALL_MEASURES),
    )

    @property
    def has_two_sets(self) -> bool:
        """Whether the distances are those of one set to another."""
        return self.targets is not None

    @property
    def has_limit(self) -> bool:
        """Whether only pairs within a limit are computed."""
        return any(getattr(self, name) is not None for name in _LIMITS)

    @property
    def limit(self) -> Any:
        """The largest distance of a pair that is kept."""
        return getattr(self, f"max_{self.limited}")

    @property
    def limited(self) -> str:
        """What has the limit: one of `NEAR_MEASURES`."""
        given = (one for one in NEAR_MEASURES if getattr(self, f"max_{one}") is not None)
        return next(given, NEAR_MEASURES[0])

    @property
    def is_of_receptors(self) -> bool:
        """Whether the distances are those of immune receptors."""
        return self.max_tcrdist is not None or self.measure in RECEPTOR_MEASURES

    @property
    def align_request(self) -> AlignRequest:
        """The request of alignments."""
        return AlignRequest(strand=self.strand, window=DEFAULT_WINDOW)


@request
class DistanceOptions(
    TwoSetsOptions,
    OutputOptions,
    MoreSetsOptions,
    DistanceRequest,
    FilesOptions,
    ReportOptions,
    ProblemOptions,
    DryRunOptions,
    ResourcesOptions,
):
    """The request of ``pairalign distance``."""

    SHORT: ClassVar[str] = (
        "output measure similarity max_edits group_by strand plot report mode matrix threads"
    )
    DESCRIPTION: ClassVar[str] = (
        "Align every pair of the sequences of IN, or every sequence of IN with every one of IN2, "
        "and write how far apart they are."
    )
    EPILOG: ClassVar[str | None] = describe_measures(_ALL_MEASURES)
    STDOUT_FORMAT: ClassVar[str] = "phylip"
    RULES: ClassVar[tuple[Rule, ...]] = (
        *DistanceRequest.RULES,
        *_limits_exclude("keeps some pairs", *_IN_PARTS, "plot", "report", "lower", "strict_names"),
        *excluded(
            lambda request: request.writing.shard is not None,
            "{shard} makes a part of the distances: {} is for the whole",
            *("format", "plot", "lower", "strict_names"),
        ),
        *excludes("extend", "is of distances in one run", *_IN_PARTS, "similarity"),
        *excludes("circular", "is of a run as a whole", *_IN_PARTS),
        *excludes("similarity", "is of a run as a whole", "shard"),
        Rule(
            lambda request: request.circular and request.scoring.mode not in (None, "global"),
            "{circular} is of mode global, not of mode {.mode}",
        ),
        Rule(
            lambda request: (
                (request.lower or request.strict_names)
                and request.writing.format not in (None, "phylip")
            ),
            "{lower} and {strict_names} are for phylip only",
        ),
        Rule(
            lambda request: request.has_two_sets and request.writing.format == "phylip",
            f"{{format=phylip}} is of one set, not of two: take {', '.join(RECTANGLE_SUFFIXES)}",
        ),
        *excluded(
            lambda request: request.is_of_receptors,
            "TCRdist has costs of its own: leave {} out",
            *(one.name for one in options_of(ScoringRequest)),
            "report",
        ),
        *_of_one_set("report", "lower", "strict_names"),
        *excludes("group_by", "is of a run as a whole", *_IN_PARTS, "report"),
        *_of_groups("matches", "clusters", "max_distance"),
        Rule(
            lambda request: (request.clusters is None) != (request.max_distance is None),
            "{clusters} and {max_distance} go together",
        ),
        Rule(
            lambda request: bool(request.inputs) and request.group_by is None,
            "three files or more are those of groups, with {group_by=file}; of one set add them "
            "with {also}",
        ),
        *needs_local("max_evalue"),
        Rule(
            lambda request: request.measure in GENOME_MEASURES and request.scoring.mode != "local",
            "{measure=.} needs {mode=local}, but the mode is {.mode}",
        ),
        *IN_SHARDS_OR_WITH_A_REPORT,
    )
    GROUPS: ClassVar[dict[str, str | None]] = {
        **GROUPS,
        LIMIT: "of many short sequences, as .npz (SciPy's CSR), TSV or Parquet",
    }

    writing: OutputRules = written_as(
        tuple({**DISTANCE_SUFFIXES, **SPARSE_SUFFIXES}), "phylip, of two sets tsv,", but=()
    )
    reading: InputRules = group(
        InputRules,
        INPUT,
        locus={
            "help": "of AIRR tables: chains of this locus, such as TRB; tcrdist: or TRA,TRB, of a "
            "cell"
        },
    )

    @property
    def has_two_sets(self) -> bool:
        """Whether the distances are those of one file to another."""
        return self.input2 is not None and self.group_by is None

    @property
    def distances(self) -> DistanceRequest:
        """The request of the distances."""
        return self

    @property
    def files(self) -> tuple[str, ...]:
        """The files of one set, where there are groups."""
        second = () if self.input2 is None else (self.input2,)
        return (self.input, *second, *self.inputs)
