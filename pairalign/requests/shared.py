"""What several jobs ask: bases of their requests."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypedDict

from pairalign.base.arguments import Shard
from pairalign.base.choices import (
    COMMIT_SECONDS,
    COVERAGES,
    IDENTITIES,
    MASKS,
    MODES,
    NAMES,
    ON_DUPLICATE,
    ON_EMPTY,
    RANKS,
    STRANDS,
    TIES,
)
from pairalign.base.declaration import Request, Rule, choice, flag, option, place, request, value_of
from pairalign.requests.option_kinds import (
    CLUSTER,
    LOCUS,
    MATRIX,
    PATH,
    POSITIVE,
    RATIO,
    SECONDS,
    SHARD,
    SHARE,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from pairalign.alignments.thresholds import PairThresholds
    from pairalign.base.choices import Coverage, Identity
    from pairalign.scoring.given_matrices import Matrix
    from pairalign.scoring.matrices import Number
    from pairalign.sequences.alphabets import Alphabet
    from pairalign.sequences.fasta_records import Source

SEQUENCE_FILE = (
    "FASTA, FASTQ, GenBank, EMBL, UniProt, Stockholm, Clustal, PIR, A3M or AIRR tables, compressed "
    "or not; - is stdin"
)
SCORING = "scoring"
RESULTS = "results"
INPUT = "input"
RESOURCES = "resources"
ON_A_CLUSTER = "on a cluster"
IN_PARTS = "in parts"
TO_GO_ON = "to go on after a kill or a full disk"
GROUPS: dict[str, str | None] = {
    SCORING: "default: BLOSUM62 and gaps 11/1 for proteins, 2/-3 and gaps 5/2 for DNA",
    INPUT: None,
    IN_PARTS: None,
    TO_GO_ON: None,
    ON_A_CLUSTER: None,
    RESOURCES: None,
}
"""Groups of options that several commands have, and what help says under the title."""


@request
class Asked(Request):
    """What every request has: the rules on its options, and how help describes the command."""

    GROUPS: ClassVar[dict[str, str | None]] = GROUPS
    DESCRIPTION: ClassVar[str] = ""
    EPILOG: ClassVar[str | None] = None
    VERBATIM: ClassVar[bool] = False
    """Whether the lines of the epilog stay as they are."""
    PLACED: ClassVar[dict[type, str]] = {}
    """The group of the options of a base that has none itself."""
    STDOUT_FORMAT: ClassVar[str] = ""
    """The format of standard output, where none is named."""
    POSTERIORS: ClassVar[bool] = False
    """Whether the command begins with posteriors of pairs."""
    FAILED: ClassVar[int] = 1
    """The exit code of a command that fails."""

    command_line: tuple[str, ...] = ()
    """The program's arguments."""

    def completed(self) -> Asked:
        """Return the request with what follows from what is asked."""
        return self


@request
class SequencesOptions(Asked):
    """One set of sequences."""

    input: str = place("IN", SEQUENCE_FILE, kind=PATH, decides=False, surface="command")


@request
class InputOptions(Asked):
    """How sequences are read."""

    alphabet: str = choice(
        ("auto", "dna", "protein"),
        "default: guessed",
        about="of the sequences; default: that of the scoring, or guessed",
        group=INPUT,
        decides=False,
    )
    degap: bool = flag(
        "drop - and . from the sequences (of alignments)", group=INPUT, decides=False
    )
    also: tuple[str, ...] = option(
        help="another file of the same set, whose sequences follow; may be given again",
        about="other files of the same set, whose sequences follow",
        metavar="FILE",
        kind=PATH,
        is_several=True,
        group=INPUT,
        decides=False,
    )
    on_empty: str = choice(
        ON_EMPTY, "skip: no records without residues (default: error)", group=INPUT, decides=False
    )
    on_duplicate: str = choice(
        ON_DUPLICATE,
        "rename: NAME_2 of a second NAME; drop: no equal records",
        group=INPUT,
        decides=False,
    )
    names: str = choice(
        NAMES, "whole: whole headers, with _ for blanks", group=INPUT, decides=False
    )
    locus: str | None = option(
        help="of AIRR tables: chains of this locus, such as TRB",
        metavar="LOCUS",
        kind=LOCUS,
        group=INPUT,
        decides=False,
    )


class InputArguments(TypedDict, total=False):
    """Types of `InputOptions` in Python."""

    alphabet: Alphabet | str | None
    degap: bool
    also: str | os.PathLike[str] | Iterable[Source]
    on_empty: Literal["error", "skip"]
    on_duplicate: Literal["error", "rename", "drop"]
    names: Literal["first", "whole"]
    locus: str | None


@request
class OutputOptions(Asked):
    """Where results go, and in which format; `pairalign.cli.planning.with_output` sees to it."""

    output: str = option(
        help="file, or - for stdout, which is the default unless that is a terminal; .gz "
        "compresses",
        flags=("-o", "--output"),
        metavar="OUT",
        kind=PATH,
        is_how=True,
        surface="command",
    )
    format: str | None = option(is_how=True, surface="command")


def format_option(values: Any, default: str) -> Any:
    """Declare the format of an output: some of `values`; for standard output, `default`."""
    return option(
        help=f"default: by the ending of OUT's name; {default} for stdout",
        values=values,
        is_how=True,
        surface="command",
        elsewhere=("--format-mode",),
    )


@request
class CostsOptions(Asked):
    """What residues score, and what gaps cost."""

    match: Any = option(
        help="score of equal residues",
        metavar="N",
        group=SCORING,
        decides=False,
        elsewhere=("-reward", "-A"),
    )
    mismatch: Any = option(
        help="score of different residues, such as -3",
        metavar="N",
        group=SCORING,
        decides=False,
        elsewhere=("-penalty", "-B"),
    )
    gap_open: Any = option(
        help="cost of a gap's first residue", metavar="X", group=SCORING, decides=False
    )
    gap_extend: Any = option(
        help="cost of each further residue",
        metavar="X",
        group=SCORING,
        decides=False,
        elsewhere=("-gapextend", "--gapextend", "--gapext", "-E"),
    )


@request
class EndGapsOptions(Asked):
    """What gaps at the ends of sequences cost."""

    free_ends: str | None = option(
        help="ends where gaps are free: query-start, query-end, target-start, target-end",
        metavar="END,...",
        group=SCORING,
        decides=False,
    )
    end_gap_open: Any = option(
        help="cost of the first residue of a gap at another end",
        metavar="X",
        group=SCORING,
        decides=False,
    )
    end_gap_extend: Any = option(
        help="cost of each further residue there", metavar="X", group=SCORING, decides=False
    )


@request
class TiesOptions(Asked):
    """The rule for ties: vsearch's depends on which sequence is the query."""

    ties: str = choice(
        TIES,
        "which optimal alignment is taken: vsearch's where end gaps cost less, on the CPU (usual)",
        group=SCORING,
        decides=False,
    )


@request
class ModeOptions(Asked):
    """What is aligned: whole sequences, their overlap, or their most similar parts."""

    mode: str | None = choice(
        MODES, "default: %(default)s", group=SCORING, decides=False, elsewhere=("-G",)
    )


@request
class MatrixOptions(ModeOptions):
    """The mode and the substitution matrix."""

    matrix: Any = option(
        help="substitution matrix: a name of Biopython's or NCBI's, or a file in NCBI's format",
        about="substitution matrix, as `pairalign.make_scoring` takes it, in place of `scoring`",
        metavar="NAME|FILE",
        kind=MATRIX,
        group=SCORING,
        decides=False,
        elsewhere=("-matrix", "-datafile", "--sub-mat"),
    )


@request
class SymmetricScoringOptions(MatrixOptions, CostsOptions, EndGapsOptions):
    """A scoring that does not depend on which sequence is the query."""


@request
class ScoringOptions(SymmetricScoringOptions, TiesOptions):
    """All of a scoring."""


@request
class ProblemOptions(ScoringOptions, InputOptions):
    """How sequences are read, and scored."""


class SymmetricProblemArguments(InputArguments, total=False):
    """Types of `SymmetricScoringOptions` and of how sequences are read, in Python."""

    matrix: Matrix | None
    match: Number | None
    mismatch: Number | None
    gap_open: Number | None
    gap_extend: Number | None
    free_ends: str | None
    end_gap_open: Number | None
    end_gap_extend: Number | None


class ProblemArguments(SymmetricProblemArguments, total=False):
    """Types of `ProblemOptions` in Python; functions have a mode of their own."""

    ties: Literal["usual", "vsearch"]


@request
class StrandOptions(Asked):
    """Which strands of DNA are looked at."""

    strand: str = choice(
        STRANDS,
        "both, of DNA: align each pair on the strand with the higher score, plus if equal "
        "(default: %(default)s)",
        decides=False,
        elsewhere=("-strand",),
    )


class StrandArguments(TypedDict, total=False):
    """Types of `StrandOptions` in Python."""

    strand: Literal["plus", "both"]


@request
class ThresholdsOptions(Asked):
    """The lengths, identity and coverage that pairs must reach."""

    min_identity: Fraction | None = option(
        metavar="X",
        kind=SHARE,
        decides=False,
        elsewhere=("-perc_identity", "--id", "-id", "--min-seq-id", "--approx-id"),
    )
    identity_of: str = choice(
        tuple(IDENTITIES),
        "what the identity is, see below (default: %(default)s)",
        about="; ".join(f"{name}: {summary}" for name, summary in IDENTITIES.items()),
        decides=False,
        needs=Rule(
            lambda asked: not asked.uses_identity,
            "{identity_of=.} says what identity is, and none is looked at: give {min_identity=X}",
        ),
        elsewhere=("--iddef", "-iddef", "--seq-id-mode"),
    )
    min_coverage: Fraction | None = option(
        help="the same of coverage",
        about="the same of what is aligned of a pair, its coverage",
        metavar="X",
        kind=SHARE,
        decides=False,
    )
    coverage_of: str = choice(
        tuple(COVERAGES),
        "what the coverage is, see below (default: %(default)s)",
        about="; ".join(f"{name}: {summary}" for name, summary in COVERAGES.items()),
        default="both",
        decides=False,
        elsewhere=("--cov-mode",),
        needs=Rule(
            lambda asked: asked.min_coverage is None,
            "{coverage_of=.} says what coverage is, and none is looked at: give {min_coverage=X}",
        ),
    )
    max_length_ratio: Fraction | None = option(
        help="leave out pairs whose longer sequence has more than X times the residues of the "
        "shorter one",
        metavar="X",
        kind=RATIO,
        decides=False,
    )
    explain: bool = flag(
        "say on stderr how many pairs each step of the thresholds has dropped",
        is_how=True,
        surface="command",
    )

    @property
    def thresholds(self) -> PairThresholds:
        """What is asked of lengths, identity and coverage, exactly."""
        return thresholds_of(self)

    @property
    def uses_identity(self) -> bool:
        """Whether anything depends on the identity of pairs."""
        return self.min_identity is not None


class ThresholdArguments(TypedDict, total=False):
    """Types of `ThresholdsOptions` in Python."""

    min_identity: float | str | Fraction | None
    identity_of: Identity
    min_coverage: float | str | Fraction | None
    coverage_of: Coverage
    max_length_ratio: float | str | Fraction | None


def thresholds_of(asked: ThresholdsOptions) -> PairThresholds:
    """Return the thresholds of a request."""
    from pairalign.alignments.thresholds import make_pair_thresholds

    return make_pair_thresholds(
        asked.min_identity,
        asked.identity_of,
        asked.min_coverage,
        asked.coverage_of,
        asked.max_length_ratio,
    )


def describe_thresholds() -> str:
    """Return what identities and coverages are, for the end of a command's help."""
    lines = []
    for title, known in (("identities", IDENTITIES), ("coverages", COVERAGES)):
        lines += [f"{title}:", *(f"  {name:9} {summary}" for name, summary in known.items())]
    return "\n".join(lines)


class Ranking(NamedTuple):
    """Which pairs of a sequence are the best.

    Attributes
    ----------
    most : int
        That are kept of a sequence.
    by : str
        What they are the best by: one of `pairalign.base.choices.RANKS`.
    """

    most: int = 1
    by: str = RANKS[0]


@request
class HitsOptions(Asked):
    """The best hits of each sequence alone."""

    max_hits: int | None = option(
        flags=("-k", "--max-hits"),
        metavar="K",
        kind=POSITIVE,
        elsewhere=("-max_target_seqs", "--maxaccepts", "--max-seqs", "--max-target-seqs", "-N"),
    )
    rank: str | None = option()

    @property
    def ranking(self) -> Ranking | None:
        """Which hits are the best; None: all are wanted."""
        return None if self.max_hits is None else Ranking(self.max_hits, self.rank or RANKS[0])


class HitsArguments(TypedDict, total=False):
    """Types of `HitsOptions` in Python."""

    max_hits: int | None
    rank: Literal["score", "bits", "evalue", "identity"] | None


RANK_NEEDS_HITS = Rule(
    lambda asked: asked.rank is not None and asked.max_hits is None,
    "{rank} is the order of hits: give {max_hits=K}",
)


@request
class MaskOptions(Asked):
    """Residues of low complexity."""

    mask: str = choice(MASKS)
    mask_scores: bool = flag(
        "residues that --mask finds are X, in DNA N, and score so, in any mode"
    )

    @property
    def scored_mask(self) -> str | None:
        """What finds residues that score as unknown ones; None: none do."""
        return self.mask if self.mask_scores else None


class MaskArguments(TypedDict, total=False):
    """Types of `MaskOptions` in Python."""

    mask: Literal["none", "tantan", "seg"]
    mask_scores: bool


MASK_SCORES_NEED_A_MASK = Rule(
    lambda asked: asked.mask_scores and asked.mask == MASKS[0],
    "{mask_scores} needs {mask=tantan} or {mask=seg}",
)


@request
class TagsOptions(Asked):
    """What lines of PAF and SAM have besides."""

    paf_tags: str | None = option(
        help="PAF: tp (primary), cs (minimap2's traceback), pp",
        metavar="TAG,...",
        surface="command",
    )
    sam_tags: str | None = option(
        help="SAM: MD (the target's residues that differ), pp (how sure columns are)",
        metavar="TAG,...",
        surface="command",
    )
    plain_cigar: bool = flag(
        "PAF, SAM: CIGARs with M in the place of = and X, for programs that know no others",
        surface="command",
    )


def names_in(text: str | None) -> list[str]:
    """Return the names of a list with commas or blanks."""
    return (text or "").replace(",", " ").split()


@request
class ReportOptions(Asked):
    """A page to look at."""

    report: str | None = option(
        help="write a page to look at: histograms, a heat map, the best pairs and their alignments",
        metavar="HTML",
        kind=PATH,
        is_how=True,
        surface="command",
    )


@request
class ShardOptions(Asked):
    """A part of the work."""

    shard: Shard | None = option(
        help="do the K-th of N parts, which take about the same time, and write it into the "
        "folder OUT; see: pairalign merge",
        metavar="K/N",
        kind=SHARD,
        group=IN_PARTS,
        is_how=True,
        surface="command",
    )


@request
class ResumeOptions(Asked):
    """Results that are kept when a run is ended."""

    resume: bool = flag(
        "keep OUT.part and OUT.journal, and go on where a run of the same command was ended",
        group=TO_GO_ON,
        is_how=True,
        surface="command",
    )
    commit_every: float = option(
        COMMIT_SECONDS,
        "commit interval in seconds; 0: as often as results allow (default: %(default)g)",
        metavar="S",
        kind=SECONDS,
        group=TO_GO_ON,
        is_how=True,
        surface="command",
        needs=Rule(lambda asked: not asked.resume, "{commit_every} is for {resume}"),
    )


def report_rules(*names: str) -> tuple[Rule, ...]:
    """Return the rules on a report of options with which a run does not see all pairs."""

    def rule(name: str) -> Rule:
        return Rule(
            lambda asked: asked.report is not None and bool(value_of(asked, name)),
            f"a report needs all pairs of a run: leave {{{name}}} out",
        )

    return tuple(rule(name) for name in names)


DASK_MAKES_SHARDS = Rule(
    lambda asked: asked.dask is not None and asked.shard is not None,
    "{dask} makes shards itself: leave {shard} out",
)
IN_SHARDS_OR_WITH_A_REPORT = (DASK_MAKES_SHARDS, *report_rules("shard", "resume", "dask"))


@request
class ClusterOfMachinesOptions(Asked):
    """Workers of a Dask cluster."""

    dask: str | None = option(
        help="align on the workers of a Dask scheduler (pip install 'pairalign[cluster]'); parts "
        "go into the folder OUT.parts, which all workers must see",
        metavar="ADDRESS",
        formerly="--cluster",
        kind=CLUSTER,
        group=ON_A_CLUSTER,
        is_how=True,
        surface="command",
    )
