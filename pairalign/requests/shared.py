"""What several jobs ask: bases of their requests."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict

from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arguments import (
    CLUSTER,
    IN_FILE,
    OUT_FILE,
    POSITIVE,
    SECONDS,
    SHARD,
    Shard,
    out_file,
)
from pairalign.base.choices import (
    COMMIT_SECONDS,
    COVERAGES,
    IDENTITIES,
    MASKS,
    RANKS,
    STRANDS,
    WEIGHTS,
)
from pairalign.base.declaration import (
    Request,
    Rule,
    choice,
    excluded,
    flag,
    group,
    option,
    place,
    request,
)
from pairalign.scoring.scoring_request import ScoringRequest
from pairalign.sequences.input_rules import InputRules

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from pairalign.base.choices import Coverage, Identity
    from pairalign.formats.pieces import Part
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
class CommandOptions(Request):
    """What every request has: the rules on its options, and how help describes the command."""

    GROUPS: ClassVar[dict[str, str | None]] = GROUPS
    LAST: ClassVar[tuple[str, ...]] = (IN_PARTS, TO_GO_ON, ON_A_CLUSTER, RESOURCES)
    """Titles that help shows last."""
    DESCRIPTION: ClassVar[str] = ""
    EPILOG: ClassVar[str | None] = None
    SHORT: ClassVar[str] = ""
    """Names of the options that ``--help`` shows, where ``--help all`` has more; empty: all."""
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

    def completed(self) -> CommandOptions:
        """Return the request with what follows from its options."""
        return self


@request
class SequencesOptions(CommandOptions):
    """One set of sequences."""

    input: str = place("IN", SEQUENCE_FILE, kind=IN_FILE, decides=False, surface="command")


@request
class InputOptions(CommandOptions):
    """How sequences are read."""

    reading: InputRules = group(InputRules, INPUT)


class RecordArguments(TypedDict, total=False):
    """Types of `InputOptions` in Python, where there is no file."""

    alphabet: Alphabet | str | None
    degap: bool
    on_empty: Literal["error", "skip"]
    on_duplicate: Literal["error", "rename", "drop"]
    names: Literal["first", "whole"]
    locus: str | None


class InputArguments(RecordArguments, total=False):
    """Types of `InputOptions` in Python."""

    also: str | os.PathLike[str] | Iterable[Source]


@request
class OutputRules(Request):
    """Where results go, in which format, and in which parts and pieces they are made."""

    output: str = option(
        help="file, or - for stdout, which is the default unless that is a terminal; .gz "
        "compresses",
        flags=("-o", "--output"),
        metavar="OUT",
        kind=OUT_FILE,
        is_how=True,
        surface="command",
    )
    format: str | None = option(is_how=True, surface="command", elsewhere=("--format-mode",))
    shard: Shard | None = option(
        help="do the K-th of N parts, which take about the same time, and write it into the "
        "folder OUT; see: pairalign merge",
        metavar="K/N",
        kind=SHARD,
        group=IN_PARTS,
        is_how=True,
        surface="command",
    )
    resume: bool = flag(
        "keep pieces in OUT.parts, and go on after those that a run of the same command has left",
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
        needs=Rule(lambda request: not request.writing.resume, "{commit_every} is for {resume}"),
    )
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

    @property
    def part(self) -> Part | None:
        """What results are kept in: a shard, or pieces beside an output that can be resumed."""
        if self.shard is None and not self.resume:
            return None
        from pairalign.formats.part_output import whole_part
        from pairalign.formats.pieces import Part

        if self.shard is not None:
            return Part(self.output, *self.shard, self.format or "")
        return whole_part(self.output)

    @property
    def path(self) -> str:
        """The file that results go to; of a shard, its first piece."""
        part = None if self.shard is None else self.part
        return self.output if part is None else part.piece()

    @property
    def known_format(self) -> str:
        """The format, once it is known."""
        assert self.format is not None
        return self.format

    @property
    def result_seconds(self) -> float | None:
        """The interval at which results must come: that of pieces, where these are kept."""
        return self.commit_every if self.resume else None


AT_ONCE = ("shard", "resume", "commit_every", "dask")
"""What a command does without that writes its results at once."""


@request
class OutputOptions(CommandOptions):
    """Where results go; see `pairalign.jobs.commands.planning`."""

    writing: OutputRules = group(OutputRules)


def written_as(values: tuple[str, ...], default: str, but: tuple[str, ...] = AT_ONCE) -> Any:
    """Declare outputs with some formats; of standard output, `default`. See `Group.but`."""
    text = f"default: by the ending of OUT's name; {default} for stdout"
    return group(OutputRules, but=but, format={"values": values, "help": text})


@request
class ScoringOptions(CommandOptions):
    """All of a scoring."""

    scoring: ScoringRequest = group(ScoringRequest, SCORING)


@request
class ProblemOptions(ScoringOptions, InputOptions):
    """How sequences are read, and scored."""


class CostsArguments(TypedDict, total=False):
    """Types of `ScoringOptions` in Python less `ties`; functions have a mode of their own."""

    matrix: Matrix | None
    match: Number | None
    mismatch: Number | None
    gap_open: Number | None
    gap_extend: Number | None
    free_ends: str | None
    end_gap_open: Number | None
    end_gap_extend: Number | None


class SymmetricProblemArguments(InputArguments, CostsArguments, total=False):
    """Types of `ProblemOptions` less `ties`, which depend on which sequence is the query."""


class ProblemArguments(SymmetricProblemArguments, total=False):
    """Types of `ProblemOptions` in Python."""

    ties: Literal["usual", "vsearch"]


@request
class StrandOptions(CommandOptions):
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
class ThresholdsOptions(CommandOptions):
    """The lengths, identity and coverage that pairs must reach."""

    thresholds: PairThresholds = group(PairThresholds)
    explain: bool = flag(
        "say on stderr how many pairs each step of the thresholds has dropped",
        is_how=True,
        surface="command",
    )

    @property
    def uses_identity(self) -> bool:
        """Whether anything depends on the identity of pairs."""
        return self.thresholds.min_identity is not None


class ThresholdArguments(TypedDict, total=False):
    """Types of `ThresholdsOptions` in Python."""

    min_identity: float | str | Fraction | None
    identity_of: Identity
    min_coverage: float | str | Fraction | None
    coverage_of: Coverage
    max_length_ratio: float | str | Fraction | None


def describe_measures(measures: Mapping[str, str]) -> str:
    """Return what measures are, for the end of a command's help."""
    lines = [f"  {name:17} {summary}" for name, summary in measures.items()]
    return "measures:\n" + "\n".join(lines)


def describe_thresholds() -> str:
    """Return what identities and coverages are, for the end of a command's help."""
    lines = []
    for title, known in (("identities", IDENTITIES), ("coverages", COVERAGES)):
        lines += [f"{title}:", *(f"  {name:9} {summary}" for name, summary in known.items())]
    return "\n".join(lines)


@request
class Ranking(Request):
    """Which pairs of a sequence are the best; it is true where these alone are wanted."""

    max_hits: int | None = option(
        flags=("-k", "--max-hits"),
        metavar="K",
        kind=POSITIVE,
        elsewhere=("-max_target_seqs", "--maxaccepts", "--max-seqs", "--max-target-seqs", "-N"),
    )
    rank: str | None = option(
        needs=Rule(
            lambda request: not request.ranking, "{rank} is the order of hits: give {max_hits=K}"
        )
    )

    def __bool__(self) -> bool:
        return self.max_hits is not None

    @property
    def most(self) -> int:
        """How many of a sequence are kept."""
        assert self.max_hits is not None
        return self.max_hits

    def at_most(self, count: int) -> Ranking:
        """Return the same where a sequence has no more pairs than some."""
        return replace(self, max_hits=min(self.most, count))

    @property
    def by(self) -> str:
        """What they are the best by: one of `pairalign.base.choices.RANKS`."""
        return self.rank or RANKS[0]


@request
class HitsOptions(CommandOptions):
    """The best hits of each sequence alone."""

    ranking: Ranking = group(Ranking)


class HitsArguments(TypedDict, total=False):
    """Types of `HitsOptions` in Python."""

    max_hits: int | None
    rank: Literal["score", "bits", "evalue", "identity"] | None


@request
class Masking(Request):
    """Residues of low complexity: bits and E-values leave them out, or they score as X."""

    mask: str = choice(MASKS)
    mask_scores: bool = flag(
        "residues that --mask finds are X, in DNA N, and score so, in any mode",
        needs=Rule(
            lambda request: request.masking.mask == MASKS[0],
            "{mask_scores} needs {mask=tantan} or {mask=seg}",
        ),
    )

    @property
    def of_scores(self) -> str | None:
        """What finds residues that score as unknown ones; None: none do."""
        return self.mask if self.mask_scores else None

    @property
    def of_statistics(self) -> str | None:
        """What finds residues that bits and E-values alone leave out; None: none."""
        return None if self.mask_scores or self.mask == MASKS[0] else self.mask


@request
class MaskOptions(CommandOptions):
    """Residues of low complexity."""

    masking: Masking = group(Masking)


class MaskArguments(TypedDict, total=False):
    """Types of `Masking` in Python."""

    mask: Literal["none", "tantan", "seg"]
    mask_scores: bool


@request
class ShownRules(Request):
    """What files show of pairs besides what their format has."""

    columns: str | None = option(
        help="columns of tables such as tsv, by our names, BLAST's or MMseqs2's: "
        "query,target,evalue,qseq",
        metavar="NAME,NAME...",
        surface="command",
        elsewhere=("--userfields", "--format-output"),
    )
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
    score_only: bool = flag(
        "scores without alignments", group=RESULTS, decides=False, surface="command"
    )
    weight: str = choice(
        WEIGHTS,
        "abc, gexf and npz: the weight of an edge (%(default)s); mcxload takes the negative "
        "logarithm of evalue with --stream-neg-log10",
        group=RESULTS,
        surface="command",
    )


def names_in(text: str | None) -> list[str]:
    """Return the names of a list with commas or blanks."""
    return (text or "").replace(",", " ").split()


@request
class ReportOptions(CommandOptions):
    """A page to look at."""

    report: str | None = option(
        help="write a page to look at: histograms, a heat map, the best pairs and their alignments",
        metavar="HTML",
        kind=out_file("a report is written as HTML", (".html", ".htm")),
        is_how=True,
        job="report",
        surface="command",
    )


@request
class DryRunOptions(CommandOptions):
    """What a run would take."""

    dry_run: bool = flag(
        "write nothing: say how many pairs, cells and bytes a run has, and how long it takes here",
        group=RESOURCES,
        is_how=True,
        surface="command",
        needs=Rule(
            lambda request: (
                request.messages.quiet or request.messages.log or request.messages.multiqc
            ),
            "{dry_run} writes nothing and says what a run takes: leave {quiet}, {log} and "
            "{multiqc} out",
        ),
    )


def report_rules(*names: str) -> tuple[Rule, ...]:
    """Return the rules on a report of options with which a run does not see all pairs."""
    says = "a report needs all pairs of a run: leave {} out"
    return excluded(lambda request: request.report is not None, says, *names)


def needs_local(*names: str) -> tuple[Rule, ...]:
    """Return the rules on options that are of local alignments."""
    says = "{} needs {mode=local}, but the mode is {.mode}"
    return excluded(lambda request: request.scoring.mode != "local", says, *names)


DASK_MAKES_SHARDS = Rule(
    lambda request: request.writing.dask is not None and request.writing.shard is not None,
    "{dask} makes shards itself: leave {shard} out",
)
IN_SHARDS_OR_WITH_A_REPORT = (DASK_MAKES_SHARDS, *report_rules("shard", "resume", "dask"))
