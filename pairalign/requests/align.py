"""What is asked of an alignment of all pairs: ``pairalign align`` and `pairalign.align`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pairalign.base.choices import (
    DEFAULT_WINDOW,
    FORMAT_NAMES,
    LIST_WINDOW,
    OBJECTIVES,
    ORIENTS,
    RANKS,
    WEIGHTS,
)
from pairalign.base.declaration import again, choice, flag, option, place
from pairalign.requests.kinds import DIGIT, NUMBER, PATH, POSITIVE, SMALL_NUMBER
from pairalign.requests.shared import (
    RESULTS,
    Asked,
    ClusterOfMachinesOptions,
    HitsOptions,
    InputOptions,
    MaskOptions,
    OutputOptions,
    ReportOptions,
    ResourcesOptions,
    ResumeOptions,
    ScoringOptions,
    SequencesOptions,
    ShardOptions,
    StrandOptions,
    TagsOptions,
    ThresholdsOptions,
    describe_thresholds,
    format_option,
)


@dataclass(frozen=True)
class TwoSetsOptions(SequencesOptions):
    """One set, or two."""

    input2: str | None = place("IN2", "second set", kind=PATH, nargs="?", surface="command")


@dataclass(frozen=True)
class TableOptions(Asked):
    """What tables of alignments show."""

    columns: str | None = option(
        help="columns of tsv, blast6 and blast7, by our names or BLAST's: query,target,evalue,qseq",
        metavar="NAME,NAME...",
        surface="command",
    )
    both_ways: bool = flag(
        "each pair a second time with query and target exchanged (paf, tsv, blast6, blast7)"
    )


@dataclass(frozen=True)
class KindOfAlignment(Asked):
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
    )
    min_score: Any = option(help="leave out lower scores", metavar="N", kind=NUMBER)


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
        "composition (1 for proteins, 0 for DNA)",
        values=(0, 1),
        kind=DIGIT,
    )


@dataclass(frozen=True)
class FurtherOptions(Asked):
    """Several alignments of a pair."""

    hsps: int = option(
        1,
        "local mode: up to N alignments of a pair, best first, no two of which put the same "
        "residues together (default: 1)",
        metavar="N",
        kind=POSITIVE,
    )


@dataclass(frozen=True)
class PairsOptions(Asked):
    """Which pairs, and in which order."""

    score_only: bool = flag("scores without alignments", surface="command")
    window: int | None = option(
        help="rows and columns of the windows of the pair matrix, which set the order of the "
        f"output (default {DEFAULT_WINDOW}; with --pairs {LIST_WINDOW})",
        metavar="N",
        kind=POSITIVE,
    )
    pairs: Any = option(
        help="align just these pairs: two names a line, or PAF, .gz or not; of IN, or the first of "
        "IN and the second of IN2; written in the order of windows, not of FILE",
        metavar="FILE",
        kind=PATH,
    )


@dataclass(frozen=True)
class WeightOptions(Asked):
    """What the edges of a network weigh."""

    weight: str = choice(
        WEIGHTS,
        "abc, gexf and npz: the weight of an edge (%(default)s); mcxload takes the negative "
        "logarithm of evalue with --stream-neg-log10",
        surface="command",
    )


@dataclass(frozen=True)
class AlignOptions(
    TwoSetsOptions,
    OutputOptions,
    TableOptions,
    TagsOptions,
    ScoringOptions,
    StrandOptions,
    KindOfAlignment,
    ThresholdsOptions,
    StatisticsOptions,
    MaskOptions,
    FurtherOptions,
    HitsOptions,
    WeightOptions,
    ReportOptions,
    PairsOptions,
    InputOptions,
    ShardOptions,
    ResumeOptions,
    ClusterOfMachinesOptions,
    ResourcesOptions,
):
    """All that ``pairalign align`` is asked."""

    DESCRIPTION: ClassVar[str] = (
        "Align every pair of the sequences of IN, or every sequence of IN with every one of IN2."
    )
    EPILOG: ClassVar[str | None] = (
        "A gap of k residues costs gap-open + (k-1) * gap-extend: BLAST's 11/1 is 12/1 here.\n\n"
        + describe_thresholds()
    )
    VERBATIM: ClassVar[bool] = True
    STDOUT_FORMAT: ClassVar[str] = "paf"
    PLACED: ClassVar[dict[type, str]] = {
        one: RESULTS
        for one in (
            *(StrandOptions, KindOfAlignment, ThresholdsOptions, StatisticsOptions, MaskOptions),
            *(FurtherOptions, HitsOptions, WeightOptions, ReportOptions, PairsOptions),
        )
    }

    format: str | None = format_option(FORMAT_NAMES, "paf")
    min_identity: Any = again(
        ThresholdsOptions,
        "min_identity",
        help="leave out pairs with a lower identity, such as 0.97 or 97%%",
    )
    mask: str = again(
        MaskOptions,
        "mask",
        help="bits and E-values of alignments in which repeats of few residues (tantan) or "
        "segments of few kinds of residues (seg) add nothing to the score; scores and alignments "
        "stay",
    )
    max_hits: int | None = again(
        HitsOptions,
        "max_hits",
        help="the K best hits of each query, query by query, best first; of one set each pair "
        "counts for both sequences",
    )
    rank: str | None = again(
        HitsOptions,
        "rank",
        values=RANKS,
        help=f"what the best hits are the best by (default: {RANKS[0]})",
    )
