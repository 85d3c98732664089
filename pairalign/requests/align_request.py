"""What is asked of an alignment of all pairs: ``pairalign align`` and `pairalign.align`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arguments import IN_FILE, NUMBER, POSITIVE
from pairalign.base.choices import (
    DEFAULT_WINDOW,
    FORMAT_NAMES,
    LIST_WINDOW,
    MASKS,
    NETWORK_NAMES,
    OBJECTIVES,
    ORIENTS,
    RANKS,
    RANKS_OF_STATISTICS,
    WEIGHTS_OF_STATISTICS,
)
from pairalign.base.declaration import (
    Rule,
    again,
    changed,
    choice,
    excluded,
    flag,
    group,
    option,
    place,
    request,
)
from pairalign.requests.resources import ResourceArguments, ResourcesOptions
from pairalign.requests.shared import (
    IN_SHARDS_OR_WITH_A_REPORT,
    RESULTS,
    CommandOptions,
    CostsArguments,
    DryRunOptions,
    HitsArguments,
    HitsOptions,
    MaskArguments,
    Masking,
    MaskOptions,
    OutputOptions,
    OutputRules,
    ProblemArguments,
    ProblemOptions,
    Ranking,
    RecordArguments,
    ReportOptions,
    ScoringOptions,
    SequencesOptions,
    ShownRules,
    StrandArguments,
    StrandOptions,
    ThresholdArguments,
    ThresholdsOptions,
    describe_thresholds,
    names_in,
    needs_local,
    written_as,
)
from pairalign.requests.similar import StatisticsArguments, StatisticsOptions

if TYPE_CHECKING:
    from pairalign.clusters.groups import GivenGroups
    from pairalign.pairs.lists import Pairs


@request
class TwoSetsOptions(SequencesOptions):
    """One set, or two."""

    input2: str | None = place(
        "IN2", "second set", kind=IN_FILE, nargs="?", decides=False, surface="command"
    )


_TIES = "ties"


@request
class BothWaysOptions(CommandOptions):
    """Which sequence of a pair is shown as the query."""

    both_ways: bool = flag(
        "each pair a second time with query and target exchanged (paf, tables)",
        about="keep a pair also where it passes `max_evalue` with query and target exchanged",
    )


@request
class KindOfAlignment(CommandOptions):
    """What an alignment is the best by, and which sequence is the query."""

    objective: str = choice(
        OBJECTIVES,
        "mea: the global alignment of each pair with the highest expected accuracy, by "
        "posteriors; --min-score and thresholds are for its score and columns; PAF, SAM, TSV and "
        "Stockholm show how sure each column is (default: %(default)s)",
    )
    orient: str = choice(
        ORIENTS,
        "which sequence of a pair is its query: the earlier in the input, or canonical: the "
        "longer one, of equals the one whose residues come first; then the file does not depend "
        "on the order of the input (default: %(default)s)",
        about="which sequence of a pair is its query: the earlier one, or the longer one, of "
        "equals the one whose residues come first; of one set, which the result then has in the "
        "order of `SequenceSet.canonical_order`, and indices are of that",
    )
    min_score: float | str | None = option(
        help="leave out lower scores", metavar="N", kind=NUMBER, decides=False
    )


@request
class SuboptimalOptions(CommandOptions):
    """Several alignments of a pair."""

    hsps: int = option(
        1,
        "local mode: up to N alignments of a pair, best first, no two of which put the same "
        "residues together (default: 1)",
        metavar="N",
        kind=POSITIVE,
        elsewhere=("-max_hsps",),
        formerly="--top",
    )


@request
class PairsOptions(CommandOptions):
    """Which pairs, and in which order."""

    window: int | None = option(
        help="rows and columns of the windows of the pair matrix, which set the order of the "
        f"output (default {DEFAULT_WINDOW}; with --pairs {LIST_WINDOW})",
        metavar="N",
        kind=POSITIVE,
        decides=False,
    )
    pairs: Pairs | None = option(
        help="align just these pairs: two names a line, or PAF, .gz or not; of IN, or the first of "
        "IN and the second of IN2; written in the order of windows, not of FILE",
        about="align just these, in the order of windows: names or input indices, or a file, see "
        "`pairalign.pairs.lists`; with `targets`, the second of each pair is one of them",
        metavar="FILE",
        kind=IN_FILE,
        decides=False,
    )
    within: str | os.PathLike[str] | GivenGroups | None = option(
        help="align just the pairs within the groups of FILE: clusters as cluster, vsearch, CD-HIT "
        "and MMseqs2 write them, or a table of names and folds",
        about="align just the pairs within these groups: clusters, a split, names and their groups "
        "(a dict), or a file, see `pairalign.formats.group_files`; of one set",
        metavar="FILE",
        kind=IN_FILE,
        decides=False,
    )


@request
class ShownOptions(CommandOptions):
    """What files show of pairs."""

    shown: ShownRules = group(ShownRules)


class PairArguments(
    RecordArguments, CostsArguments, ResourceArguments, StrandArguments, total=False
):
    """Types of what `pairalign.align_pair` takes besides two sequences, scoring and mode."""

    ties: Literal["usual", "vsearch"]
    objective: Literal["score", "mea"]


class AlignArguments(
    ProblemArguments,
    ThresholdArguments,
    StatisticsArguments,
    StrandArguments,
    MaskArguments,
    HitsArguments,
    ResourceArguments,
    total=False,
):
    """Types of what `pairalign.align` takes besides sequences, scoring and mode."""

    both_ways: bool
    objective: Literal["score", "mea"]
    orient: Literal["input", "canonical"]
    min_score: float | str | None
    hsps: int
    window: int | None
    pairs: Pairs | None
    within: str | os.PathLike[str] | GivenGroups | None


def _is_local(request: AlignRequest) -> bool:
    return request.scoring.mode == "local"


ONE_ALIGNMENT_OF_A_HIT = Rule(
    lambda request: request.hsps > 1 and request.thresholds.covers_one_way,
    "{hsps} {.hsps} of hits with a coverage of the {.coverage_of}: of a set with itself each "
    "sequence is the query of its hits; take the coverage of both, shorter or aligned",
)
"""Of one set, whose pairs count for both sequences."""


def _has_no_accuracy(*names: str) -> tuple[Rule, ...]:
    says = "{objective=mea} gives one alignment of a pair by posteriors: leave {} out"
    return excluded(lambda request: request.is_by_accuracy, says, *names)


def _has_no_ties(name: str, is_given: Callable[[Any], bool]) -> Rule:
    return Rule(
        lambda request: is_given(request) and _TIES in names_in(request.shown.columns),
        f"column '{_TIES}' counts alignments with the highest score: leave {name} out",
    )


@request
class AlignRequest(
    ScoringOptions,
    BothWaysOptions,
    StrandOptions,
    KindOfAlignment,
    ThresholdsOptions,
    StatisticsOptions,
    MaskOptions,
    SuboptimalOptions,
    HitsOptions,
    PairsOptions,
):
    """What is asked of all pairs, on the command line and in Python.

    Attributes
    ----------
    shows_statistics : bool
        Whether results have E-values or bits, in mode local.
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            lambda request: request.pairs is not None and request.within is not None,
            "{pairs} and {within} both say which pairs are aligned: leave one out",
        ),
        Rule(
            lambda request: request.has_hits and request.both_ways,
            "{max_hits} writes each hit with its query first: leave {both_ways} out",
        ),
        Rule(
            lambda request: request.ranks_by_statistics and not _is_local(request),
            "{rank=.} needs {mode=local}, not {.mode}",
        ),
        Rule(
            lambda request: request.is_by_accuracy and request.scoring.mode != "global",
            "{objective=mea} needs {mode=global}, but the mode is {.mode}",
        ),
        *_has_no_accuracy("hsps", "max_hits", "strand"),
        *needs_local("hsps", "max_evalue"),
        Rule(
            lambda request: request.masking.of_statistics and not _is_local(request),
            "{mask} needs {mode=local}, but the mode is {.mode}: "
            "add {mask_scores} for scores of masked residues",
        ),
        Rule(
            lambda request: (
                request.masking.of_statistics and (request.hsps > 1 or request.has_hits)
            ),
            "{mask} looks at whole alignments: leave {hsps} and {max_hits} out",
        ),
    )

    shows_statistics: bool = True
    thresholds: PairThresholds = again(
        ThresholdsOptions,
        "thresholds",
        min_identity={"help": "leave out pairs with a lower identity, such as 0.97 or 97%%"},
    )
    masking: Masking = again(
        MaskOptions,
        "masking",
        mask={
            "help": "bits and E-values of alignments in which repeats of few residues (tantan) or "
            "segments of few kinds of residues (seg) add nothing to the score; scores and "
            "alignments stay"
        },
    )
    ranking: Ranking = again(
        HitsOptions,
        "ranking",
        max_hits={
            "help": "the K best hits of each query, query by query, best first; of one set each "
            "pair counts for both sequences",
            "about": "only the best hits of each query, at most that number: query by query in the "
            "order of the input, each with its hits, best first. A hit is a pair that passes, in "
            "mode local with a score above 0. Of a set with itself each pair counts for both "
            "sequences, so that it may come twice, the second time with query and target "
            "exchanged. Of equally good hits the one of the higher score is better, then the one "
            "whose target comes first by residues, then by name",
        },
        rank={
            "values": RANKS,
            "help": f"what the best hits are the best by (default: {RANKS[0]})",
        },
    )

    @property
    def is_by_accuracy(self) -> bool:
        """Whether alignments are those of the highest expected accuracy."""
        return self.objective == OBJECTIVES[1]

    @property
    def ranks_by_statistics(self) -> bool:
        """Whether hits are ranked by bits or E-values."""
        return self.has_hits and self.ranking.by in RANKS_OF_STATISTICS

    @property
    def uses_statistics(self) -> bool:
        """Whether E-values or bits are shown or looked at; in Python all alignments have them."""
        is_shown = _is_local(self) and self.shows_statistics
        return self.needs_statistics or is_shown

    @property
    def uses_identity(self) -> bool:
        """Whether pairs are chosen or ranked by their identity."""
        return self.thresholds.min_identity is not None or self.ranking.rank == "identity"

    @property
    def needs_statistics(self) -> bool:
        """Whether pairs are chosen or ranked by bits or E-values."""
        return self.evalues.max_evalue is not None or self.ranks_by_statistics

    @property
    def has_hits(self) -> bool:
        """Whether the best hits of each query alone are wanted."""
        return bool(self.ranking)

    @property
    def counted(self) -> tuple[str, bool]:
        """What results are, in words; and whether a pair has several."""
        several = self.hsps > 1
        if self.has_hits:
            what = "alignments of hits" if several else "hits"
            return f"{what}, up to {self.ranking.most:,} a query", several
        return f"alignments, up to {self.hsps:,} a pair", several

    def shows_both_ways(self, is_one_set: bool) -> bool:
        """Whether a pair counts with either sequence as its query."""
        return self.both_ways or (self.has_hits and is_one_set)

    def again(self, pairs: Pairs) -> AlignRequest:
        """Return what asks for the alignments of some pairs that this has found."""
        return changed(self.of_pairs(pairs), max_evalue=None, mask=MASKS[0])

    def of_pairs(self, pairs: Pairs) -> AlignRequest:
        """Return what asks for some pairs, whether they are the best or not."""
        return replace(self, pairs=pairs, within=None, ranking=Ranking())


@request
class AlignOptions(
    TwoSetsOptions,
    OutputOptions,
    AlignRequest,
    ShownOptions,
    ReportOptions,
    ProblemOptions,
    DryRunOptions,
    ResourcesOptions,
):
    """All that ``pairalign align`` is asked.

    Attributes
    ----------
    pairs_once : bool
        Whether the format has each pair once, where that is known.
    """

    SHORT: ClassVar[str] = (
        "output mode matrix gap_open gap_extend strand min_identity max_evalue max_hits "
        "report threads"
    )
    DESCRIPTION: ClassVar[str] = (
        "Align every pair of the sequences of IN, or every sequence of IN with every one of IN2."
    )
    EPILOG: ClassVar[str | None] = (
        "A gap of k residues costs gap-open + (k-1) * gap-extend: BLAST's 11/1 is 12/1 here.\n\n"
        + describe_thresholds()
    )
    STDOUT_FORMAT: ClassVar[str] = "paf"
    PLACED: ClassVar[dict[type, str]] = {
        one: RESULTS
        for one in (
            *(StrandOptions, KindOfAlignment, ThresholdsOptions, StatisticsOptions, MaskOptions),
            *(SuboptimalOptions, HitsOptions, PairsOptions, ReportOptions),
        )
    }

    RULES: ClassVar[tuple[Rule, ...]] = (
        *AlignRequest.RULES,
        *_has_no_accuracy("kernel"),
        Rule(
            lambda request: request.orient != ORIENTS[0] and request.input2 is not None,
            "{orient=canonical} needs one set: of two, the first has the queries",
        ),
        Rule(
            lambda request: request.within is not None and request.input2 is not None,
            "{within} is of groups of one set: leave IN2 out",
        ),
        *excluded(  # parts do not know if a pair is a hit of the other sequence, too
            lambda request: request.pairs_once and request.has_hits and request.input2 is None,
            "{.format} has each pair once: {max_hits} needs all hits, so leave {} out",
            *("shard", "dask"),
        ),
        Rule(
            lambda request: (
                request.shown.weight in WEIGHTS_OF_STATISTICS and not _is_local(request)
            ),
            "{weight=.} needs {mode=local}, not {.mode}",
        ),
        Rule(
            lambda request: request.hsps > 1 and request.writing.format in NETWORK_NAMES,
            "{.format} has an edge a pair: leave {hsps} out, or write another format",
        ),
        _has_no_ties("{hsps}", lambda request: request.hsps > 1),
        _has_no_ties("{objective=mea}", lambda request: request.is_by_accuracy),
        Rule(
            lambda request: request.hsps > 1 and "tp" in names_in(request.shown.paf_tags),
            "{paf_tags=tp}: with {hsps} a pair has several alignments, leave one out",
        ),
        *IN_SHARDS_OR_WITH_A_REPORT,
    )

    pairs_once: bool = False
    writing: OutputRules = written_as(FORMAT_NAMES, "paf", but=())
