"""The request of guide trees: ``pairalign tree``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

from pairalign.base.arguments import IN_FILE, out_file
from pairalign.base.choices import (
    ALIGNERS_MEASURE,
    DEFAULT_MEASURE,
    DEFAULT_METHOD,
    DISTANCE_SUFFIXES,
    MEASURE_SUMMARIES,
    NAMES,
    TABLE_ENDINGS,
    TREE_METHODS,
    TREE_PROGRAMS,
    TREE_SUFFIXES,
)
from pairalign.base.declaration import (
    Rule,
    again,
    choice,
    excluded,
    group,
    option,
    options_of,
    request,
)
from pairalign.requests.distance_request import (
    DistanceRequest,
    MeasureArguments,
    MeasureOptions,
)
from pairalign.requests.resources import ResourcesOptions
from pairalign.requests.shared import (
    INPUT,
    CommandOptions,
    DryRunOptions,
    OutputOptions,
    OutputRules,
    ProblemOptions,
    ReportOptions,
    SequencesOptions,
    describe_measures,
    report_rules,
    written_as,
)
from pairalign.scoring.scoring_request import ScoringRequest
from pairalign.sequences.input_rules import InputRules


@request
class TreeRequest(MeasureOptions):
    """The request of a guide tree."""

    method: str = choice(
        TREE_METHODS,
        "default: %(default)s",
        about="``nj`` needs scikit-bio; ``mixed`` is MAFFT's, see `pairalign.trees.tree_joining`",
        default=DEFAULT_METHOD,
    )

    @property
    def distances(self) -> DistanceRequest:
        """The request of the distances, where these are not given."""
        return DistanceRequest(measure=self.measure)


class TreeArguments(MeasureArguments, total=False):
    """Types of what `pairalign.tree` takes besides its source, scoring and mode."""

    method: Literal["upgma", "mixed", "nj"]


@request
class TreeTable(CommandOptions):
    """How a tree is written, and of what it is made."""

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
        kind=IN_FILE,
        surface="command",
    )
    rename: str | None = option(
        help="name the sequences s1, s2, ... in the tree, and write a table of these and the "
        "original names",
        metavar="TABLE",
        kind=out_file("names are written as a table", TABLE_ENDINGS),
        surface="command",
    )


_OF_SEQUENCES = (*options_of(InputRules), *options_of(ScoringRequest))


@request
class TreeOptions(
    SequencesOptions,
    OutputOptions,
    TreeRequest,
    TreeTable,
    ReportOptions,
    ProblemOptions,
    DryRunOptions,
    ResourcesOptions,
):
    """The request of ``pairalign tree``.

    Attributes
    ----------
    are_given : bool or None
        Whether IN has distances, once that is known.
    """

    SHORT: ClassVar[str] = "output format measure method program source rename report mode threads"
    DESCRIPTION: ClassVar[str] = (
        "Make a guide tree: rooted, binary, with branch lengths, on one line."
    )
    EPILOG: ClassVar[str | None] = describe_measures(MEASURE_SUMMARIES)
    STDOUT_FORMAT: ClassVar[str] = "newick"
    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            lambda request: (
                request.program is not None
                and request.writing.format not in (None, request.read_by_program)
            ),
            "{.program} reads {.read_by_program}, but {format} is {.format}",
        ),
        Rule(
            lambda request: (
                request.rename is not None and request.writing.format not in (None, "newick")
            ),
            "{rename} is for names in Newick, but the tree is written as {.format}",
        ),
        Rule(
            lambda request: request.are_given and request.names in NAMES,
            "{names=.} is for sequences, IN are distances",
        ),
        Rule(
            lambda request: request.are_given is False and request.names_file is not None,
            "{names=FASTA} is for distance matrices, IN are sequences",
        ),
        *excluded(
            lambda request: request.are_given,
            "{} is for sequences, IN are distances",
            *(one.name for one in _OF_SEQUENCES if one.name != "names"),
            *("measure", "dask", "resume", "dry_run"),
        ),
        *report_rules("resume", "dask"),
    )

    are_given: bool | None = None
    input: Any = again(
        SequencesOptions,
        "input",
        help="sequences as for distance, a distance matrix, or a folder of parts of distances",
    )
    writing: OutputRules = written_as(tuple(TREE_SUFFIXES), "newick", but=("shard",))
    measure: Any = again(
        MeasureOptions,
        "measure",
        default=None,
        help=f"default: {DEFAULT_MEASURE}, as of distance; with --for {ALIGNERS_MEASURE}",
    )
    reading: InputRules = group(InputRules, INPUT, but=("names",))

    def completed(self) -> TreeOptions:
        """Return the request with names as they are read, where `names` is no file."""
        names = self.names if self.names in NAMES else NAMES[0]
        return replace(self, reading=replace(self.reading, names=names))

    @property
    def distances(self) -> DistanceRequest:
        """The request of the distances: with a program, by default those of its best trees."""
        usual = DEFAULT_MEASURE if self.program is None else ALIGNERS_MEASURE
        return DistanceRequest(measure=self.measure or usual)

    @property
    def read_by_program(self) -> str:
        """The format that the program reads."""
        return "mafft" if self.program == "mafft" else "newick"

    @property
    def names_file(self) -> str | None:
        """The file of the sequences of a matrix."""
        return None if self.names in (None, *NAMES) else self.names
