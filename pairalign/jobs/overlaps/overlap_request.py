"""What is asked of overlaps of reads: ``pairalign overlap``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pairalign.base.arguments import ABOVE_ZERO, COUNT, IN_FILE, NUMBER, POSITIVE, SHARE, out_file
from pairalign.base.choices import (
    CLUSTER_SUFFIXES,
    FASTQ_SUFFIXES,
    MUTUAL,
    OVERLAP_FILTERS,
    OVERLAP_FORMAT_NAMES,
    TABLE_ENDINGS,
)
from pairalign.base.declaration import (
    Rule,
    again,
    choice,
    excludes,
    flag,
    group,
    option,
    request,
)
from pairalign.jobs.overlaps.presets import AUTO, PRESETS
from pairalign.requests.resources import ResourceArguments, ResourcesOptions
from pairalign.requests.shared import (
    GROUPS,
    IN_SHARDS_OR_WITH_A_REPORT,
    SCORING,
    CommandOptions,
    DryRunOptions,
    InputArguments,
    InputOptions,
    OutputOptions,
    OutputRules,
    ReportOptions,
    SequencesOptions,
    ShownRules,
    names_in,
    written_as,
)
from pairalign.scoring.scoring_request import ScoringRequest

if TYPE_CHECKING:
    import os
    from fractions import Fraction

    from pairalign.jobs.run.inputs import AnyScoring
    from pairalign.reads.candidates import Candidates
    from pairalign.scoring.matrices import Number

_COSTS = ("match", "mismatch", "gap_open", "gap_extend")
_NEEDING_ALL = (
    *("read_report", "trim", "trimmed", "unitigs"),
    *("remove_weak", "mutual", "remove_contained", "remove_transitive"),
)
_GRAPH = "gfa"
_IN_PARTS = ("shard", "resume", "dask")
_MODES = ("semiglobal", "local")
_OVERLAPS, _TOGETHER = "overlaps", "all overlaps together"


@request
class LinesOptions(CommandOptions):
    """What lines of PAF have."""

    dual: bool = flag("PAF with each pair both ways, as racon -f wants it")
    no_cigar: bool = flag("PAF without CIGARs, and GFA with each overlap as one nM")
    shown: ShownRules = group(ShownRules, but=("columns", "score_only", "weight"))


@request
class PresetOptions(CommandOptions):
    """Scoring and thresholds for a kind of reads."""

    preset: str = choice(
        (AUTO, *PRESETS),
        "scoring and thresholds for a kind of reads; auto (default) looks at a sample",
        about="scoring and thresholds, see `pairalign.jobs.overlaps.presets.PRESETS`; ``auto`` "
        "decides by a sample of the reads, see `pairalign.jobs.overlaps.choice.choose_preset`, and "
        "scales the least overlap to their lengths",
        group=SCORING,
    )
    scoring: ScoringRequest = group(
        ScoringRequest,
        SCORING,
        but=("matrix", "free_ends", "end_gap_open", "end_gap_extend", "ties"),
        mode={
            "default": None,
            "help": "default: semiglobal for short reads, else local",
            "about": "semiglobal alignments end at ends of reads: dovetails and containments. "
            "Local ones end where reads are no longer alike, and may also be internal. Default: "
            "semiglobal for ``short``, else local. One that is not that of `scoring` is an error",
            "values": _MODES,
            "decides": True,
        },
    )


@request
class OverlapThresholdsOptions(CommandOptions):
    """What an overlap must reach, instead of what the preset says."""

    min_overlap: int | None = option(
        help="bases that must overlap, on both reads", metavar="N", kind=COUNT
    )
    min_identity: float | str | Fraction | None = option(
        help="matches by columns: 0.9 or 90%%",
        metavar="X",
        kind=SHARE,
        elsewhere=("-perc_identity", "--id", "-id", "--min-seq-id", "--approx-id"),
    )
    min_score: float | str | None = option(
        help="pairs that score less are not aligned", metavar="N", kind=NUMBER
    )
    max_overhang: int | None = option(
        help="local: bases beyond an overlap that do not make it internal",
        metavar="N",
        kind=COUNT,
    )
    max_false: float | None = option(
        help="raise the least score or identity until X overlaps by chance are expected, by a "
        "sample of reads against reversed reads",
        metavar="X",
        kind=ABOVE_ZERO,
    )
    max_overlaps: int | None = option(
        help="most overlaps of a pair, as circles and repeats have several "
        "(default: 10; short reads: 1)",
        about="non-intersecting overlaps of a pair (Waterman-Eggert): the best, then the best that "
        "reuses no residue pair, while they pass the thresholds; circles and repeats give several. "
        "Default: 10, of ``short`` 1",
        metavar="N",
        kind=POSITIVE,
    )
    candidates: Any = option(
        help="align only these pairs, on their strands: PAF, as minimap2 -x ava-ont writes it, or "
        "two names a line; - is stdin; seeds or mappy find them (the latter needs pip install "
        "'pairalign[overlap]')",
        about="align these pairs alone, on the strands that are given: PAF, or a list of names, "
        "see `pairalign.reads.candidates`; or those that share seeds: ``seeds``, or ``mappy``",
        metavar="FILE|seeds|mappy",
        kind=IN_FILE,
    )


@request
class StrandsOptions(CommandOptions):
    """Which overlaps of a pair are kept, and what finds them."""

    all_strands: bool = flag("keep both strands of a pair where both pass, not just the better one")
    filter: str = choice(
        OVERLAP_FILTERS,
        "what leaves pairs out before they are scored, and loses nothing: scores by bits, or "
        "runs of equal bases that overlaps must have (default: where that is faster)",
    )


@request
class GraphOptions(CommandOptions):
    """What removes reads and overlaps, and what is said of each read."""

    read_report: str | None = option(
        help="write a row a read: depth, bases without overlap, kind, places where overlaps end "
        "suddenly: adapters and chimeras",
        metavar="TABLE",
        kind=out_file("reads are reported in a table", TABLE_ENDINGS),
    )
    trim: bool = flag(
        "cut reads where overlaps end suddenly, at adapters and chimeras, and align them "
        "again: an assembler then needs the cut reads, too (--trimmed)"
    )
    trimmed: str | None = option(
        help="with --trim, which it means: write the cut reads, FASTQ (.fastq, .fq) or FASTA",
        metavar="READS",
        kind=out_file(
            "cut reads are written as FASTQ or FASTA", (".fastq", ".fq", *CLUSTER_SUFFIXES["fasta"])
        ),
    )
    remove_weak: bool = flag(
        "leave out overlaps less than 60%% identical, as far as others cover reads 10 times: "
        "for assemblers, which else take bad ends of reads for good"
    )
    mutual: str = choice(
        MUTUAL,
        "reads that are contained in each other, which miniasm deletes both: keep their "
        "overlaps (default), drop these, or keep one read, the longest, of equals the first",
    )
    remove_contained: bool = flag(
        "leave out reads that are contained in others, and their overlaps"
    )
    remove_transitive: bool = flag("leave out dovetails that two others make superfluous")
    unitigs: bool = flag(
        "GFA of the stretches of the graph without a fork, circles closed, with the bases of "
        "their reads; removes contained reads and transitive overlaps"
    )

    @property
    def cuts(self) -> bool:
        """Whether reads are cut first."""
        return self.trim or self.trimmed is not None

    @property
    def cuts_to_fastq(self) -> bool:
        """Whether reads that are cut are written with their qualities."""
        return (self.trimmed or "").lower().endswith(FASTQ_SUFFIXES)

    @property
    def drops_contained(self) -> bool:
        """Whether contained reads are left out."""
        return self.remove_contained or self.unitigs

    @property
    def drops_transitive(self) -> bool:
        """Whether transitive overlaps are left out."""
        return self.remove_transitive or self.unitigs

    @property
    def is_reduced(self) -> bool:
        """Whether reads or overlaps that others contain are removed."""
        return self.drops_contained or self.drops_transitive

    @property
    def removes(self) -> bool:
        """Whether reads or overlaps are removed."""
        return self.mutual != MUTUAL[0] or self.remove_weak or self.is_reduced


@request
class OverlapRequest(PresetOptions, OverlapThresholdsOptions, StrandsOptions):
    """What is asked of the overlaps of a set of reads, on the command line and in Python.

    Attributes
    ----------
    costs_instead : Scoring, matrix as `make_scoring` takes it, or None
        In Python: instead of the preset's.
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            lambda request: request.costs_instead is not None and bool(request.costs),
            "a scoring has costs: leave out {match}, {mismatch}, {gap_open} and {gap_extend}",
        ),
    )

    costs_instead: AnyScoring | None = None

    @property
    def costs(self) -> dict[str, Any]:
        """The scores and costs that are given instead of the preset's."""
        given = {name: getattr(self.scoring, name) for name in _COSTS}
        return {name: one for name, one in given.items() if one is not None}


class OverlapArguments(InputArguments, ResourceArguments, total=False):
    """Types of what `pairalign.overlap` takes besides reads and scoring."""

    preset: Literal["auto", "short", "hifi", "ont"]
    mode: Literal["semiglobal", "local"] | None
    match: Number | None
    mismatch: Number | None
    gap_open: Number | None
    gap_extend: Number | None
    min_overlap: int | None
    min_identity: float | str | Fraction | None
    min_score: float | str | None
    max_overhang: int | None
    max_false: float | None
    max_overlaps: int | None
    candidates: Candidates | str | os.PathLike[str] | None
    all_strands: bool
    filter: Literal["auto", "none", "bitwise", "runs"]


@request
class OverlapOptions(
    SequencesOptions,
    OutputOptions,
    LinesOptions,
    OverlapRequest,
    ReportOptions,
    GraphOptions,
    InputOptions,
    DryRunOptions,
    ResourcesOptions,
):
    """All that ``pairalign overlap`` is asked."""

    SHORT: ClassVar[str] = (
        "output preset min_overlap min_identity max_overhang candidates report "
        "read_report trim unitigs threads"
    )
    DESCRIPTION: ClassVar[str] = (
        "Align every pair of reads on both strands and write those that overlap: what miniasm, "
        "racon and others take."
    )
    EPILOG: ClassVar[str | None] = (
        "All pairs are scored first; those that score enough are aligned. Presets and their "
        "scoring: " + "; ".join(f"{p.name}: {p.summary}" for p in PRESETS.values()) + "."
    )
    STDOUT_FORMAT: ClassVar[str] = "paf"
    GROUPS: ClassVar[dict[str, str | None]] = {
        **GROUPS,
        SCORING: "instead of the preset's",
        _OVERLAPS: "thresholds instead of the preset's",
    }
    PLACED: ClassVar[dict[type, str]] = {
        OverlapThresholdsOptions: _OVERLAPS,
        ReportOptions: _OVERLAPS,
        StrandsOptions: _OVERLAPS,
        GraphOptions: _TOGETHER,
    }

    RULES: ClassVar[tuple[Rule, ...]] = (
        *OverlapRequest.RULES,
        *(
            rule
            for name in _NEEDING_ALL
            for rule in excludes(name, "needs all overlaps of a run", *_IN_PARTS)
        ),
        *IN_SHARDS_OR_WITH_A_REPORT,
        Rule(
            lambda request: request.unitigs and request.writing.format not in (None, _GRAPH),
            f"{{unitigs}} are GFA: name the output OUT.gfa, or give {{format={_GRAPH}}}",
        ),
        Rule(
            lambda request: request.cuts_to_fastq and "-" in (request.input, *request.reading.also),
            "{trimmed} reads qualities again: write FASTA, or name the reads",
        ),
        Rule(
            lambda request: (
                "pp" in names_in(request.shown.paf_tags) + names_in(request.shown.sam_tags)
            ),
            "{paf_tags}, {sam_tags}: pp is for align, which computes posteriors",
        ),
    )

    input: str = again(SequencesOptions, "input", metavar="READS")
    writing: OutputRules = written_as(OVERLAP_FORMAT_NAMES, "paf", but=())
