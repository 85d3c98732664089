"""What is asked of distances and of trees: ``pairalign distance`` and ``pairalign tree``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from pairalign.base.choices import (
    DEFAULT_MEASURE,
    DEFAULT_METHOD,
    DEFAULT_TREE_MEASURE,
    DEFAULT_WINDOW,
    DISTANCE_SUFFIXES,
    MEASURE_SUMMARIES,
    SPARSE_SUFFIXES,
    TREE_METHODS,
    TREE_PROGRAMS,
    TREE_SUFFIXES,
)
from pairalign.base.declaration import Rule, again, choice, flag, option
from pairalign.requests.kinds import PATH, WHOLE
from pairalign.requests.shared import (
    GROUPS,
    Asked,
    ClusterOfMachinesOptions,
    InputOptions,
    OutputOptions,
    ReportOptions,
    ResourcesOptions,
    ResumeOptions,
    ScoringOptions,
    SequencesOptions,
    ShardOptions,
    StrandOptions,
    ThresholdsOptions,
    format_option,
)

_LIMIT = "pairs within a limit"


def _describe_measures() -> str:
    lines = [f"  {name:17} {summary}" for name, summary in MEASURE_SUMMARIES.items()]
    return "measures:\n" + "\n".join(lines)


@dataclass(frozen=True)
class LimitsOptions(Asked):
    """Pairs of short sequences within a limit."""

    max_drop: int | None = option(
        help="keep pairs with min(S(a,a), S(b,b)) - S(a,b) of at most D; S: the global score",
        metavar="D",
        kind=WHOLE,
        group=_LIMIT,
    )
    max_edits: int | None = option(
        help="keep pairs of at most K edits", metavar="K", kind=WHOLE, group=_LIMIT
    )
    max_length_ratio: Fraction | None = again(
        ThresholdsOptions, "max_length_ratio", group=_LIMIT, decides=True
    )


@dataclass(frozen=True)
class CirclesOptions(Asked):
    """Sequences that begin anywhere."""

    circular: bool = flag(
        "genomes that begin anywhere: align each pair with one of the two rotated to where it "
        "scores most; of DNA that may be on either strand add --strand both"
    )


@dataclass(frozen=True)
class DistanceTable(Asked):
    """How distances are written."""

    similarity: bool = flag("write identities, 1 less the distances", surface="command")
    lower: bool = flag("PHYLIP: lower triangle instead of square", surface="command")
    strict_names: bool = flag("PHYLIP: names of ten characters", surface="command")
    extend: str | None = option(
        help="distances of the first sequences, made with the same options, or a folder of their "
        "parts: align only pairs with another sequence, as --also names them",
        metavar="NPY",
        kind=PATH,
        surface="command",
    )


@dataclass(frozen=True)
class PlotOptions(Asked):
    """A picture."""

    plot: str | None = option(
        help="heat map with a tree, .svg or .png",
        metavar="FILE",
        kind=PATH,
        decides=False,
        surface="command",
    )


@dataclass(frozen=True)
class MeasureOptions(Asked):
    """How far apart two sequences are."""

    measure: str = choice(tuple(MEASURE_SUMMARIES), "default: %(default)s", default=DEFAULT_MEASURE)


@dataclass(frozen=True)
class DistanceOptions(
    SequencesOptions,
    OutputOptions,
    LimitsOptions,
    CirclesOptions,
    DistanceTable,
    StrandOptions,
    PlotOptions,
    ShardOptions,
    MeasureOptions,
    ReportOptions,
    ScoringOptions,
    InputOptions,
    ResumeOptions,
    ClusterOfMachinesOptions,
    ResourcesOptions,
):
    """All that ``pairalign distance`` is asked."""

    DESCRIPTION: ClassVar[str] = (
        "Align every pair of the sequences of IN and write how far apart they are."
    )
    EPILOG: ClassVar[str | None] = _describe_measures()
    VERBATIM: ClassVar[bool] = True
    STDOUT_FORMAT: ClassVar[str] = "phylip"
    FIXED: ClassVar[dict[str, Any]] = {"input2": None, "min_score": None, "window": DEFAULT_WINDOW}
    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            lambda asked: (
                asked.max_length_ratio is not None
                and asked.max_drop is None
                and asked.max_edits is None
            ),
            "{max_length_ratio} needs {max_drop} or {max_edits}",
        ),
    )
    GROUPS: ClassVar[dict[str, str | None]] = {
        **GROUPS,
        _LIMIT: "of many short sequences, as .npz (SciPy's CSR), TSV or Parquet",
    }

    format: str | None = format_option(tuple({**DISTANCE_SUFFIXES, **SPARSE_SUFFIXES}), "phylip")


@dataclass(frozen=True)
class TreeTable(Asked):
    """How a tree is made and written, and of what."""

    method: str = choice(TREE_METHODS, "default: %(default)s", default=DEFAULT_METHOD)
    program: str | None = option(
        help="write what this program reads, and make sure that it can read the names",
        flags=("--for",),
        values=(*TREE_PROGRAMS, "mafft"),
    )
    source: str | None = option(
        help="what IN is; default: by its ending "
        f"({', '.join(ending for endings in DISTANCE_SUFFIXES.values() for ending in endings)}), "
        "else sequences",
        flags=("--from",),
        values=("sequences", *DISTANCE_SUFFIXES),
        surface="command",
    )
    names: str | None = option(
        help="the sequences of a matrix, for its names; or, of sequences, first or whole: what of "
        "a header is the name",
        metavar="FASTA|first|whole",
        kind=PATH,
        surface="command",
    )
    rename: str | None = option(
        help="name the sequences s1, s2, ... in the tree, and write a table of these and the "
        "original names",
        metavar="TABLE",
        kind=PATH,
        surface="command",
    )


@dataclass(frozen=True)
class TreeOptions(
    SequencesOptions,
    OutputOptions,
    TreeTable,
    MeasureOptions,
    ReportOptions,
    ScoringOptions,
    InputOptions,
    ResumeOptions,
    ClusterOfMachinesOptions,
    ResourcesOptions,
):
    """All that ``pairalign tree`` is asked."""

    DESCRIPTION: ClassVar[str] = (
        "Make a guide tree: rooted, binary, with branch lengths, on one line."
    )
    EPILOG: ClassVar[str | None] = _describe_measures()
    VERBATIM: ClassVar[bool] = True
    STDOUT_FORMAT: ClassVar[str] = "newick"
    FIXED: ClassVar[dict[str, Any]] = {**DistanceOptions.FIXED, "shard": None}

    input: Any = again(
        SequencesOptions,
        "input",
        help="sequences as for distance, a distance matrix, or a folder of parts of distances",
    )
    format: str | None = format_option(tuple(TREE_SUFFIXES), "newick")
    measure: Any = again(MeasureOptions, "measure", default=DEFAULT_TREE_MEASURE)
