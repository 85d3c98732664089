"""What ``pairalign align`` writes: the format, and what it shows of each pair."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pairalign.alignments.fields import FIELDS, Field, parse_fields
from pairalign.alignments.tables import COLUMNS
from pairalign.base.choices import PAF_TAGS, SAM_TAGS, STRANDS, WEIGHTS, WEIGHTS_OF_STATISTICS
from pairalign.base.declaration import check
from pairalign.base.error_types import FormatError
from pairalign.base.spelling import spelled
from pairalign.formats import FORMATS, NETWORK_FORMATS, Writer, check_shown
from pairalign.formats.writer import PLAIN_CIGAR, WHOLE, Content, Piece, Shown
from pairalign.jobs.run.align import Job
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.run_request import AlignmentPlan, RunRequest
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignOptions
from pairalign.requests.shared import ShownRules, names_in

if TYPE_CHECKING:
    from pairalign.alignments.tie_counts import OpenTally
    from pairalign.engines.posterior_engines import ColumnConfidence

_TAG, _FIELD = "pp", "confidence"
"""What shows how sure columns are."""


class Table(NamedTuple):
    """What is written.

    Attributes
    ----------
    writer_type : type of Writer
        The format.
    detail : Detail
        What is computed of each pair.
    shown : Shown
        And what is shown besides.
    """

    writer_type: type[Writer]
    detail: Detail
    shown: Shown

    @property
    def shows_statistics(self) -> bool:
        """Whether a column, or the weight of edges, is a bit score or an E-value."""
        fields = self.shown.fields or self.writer_type.default_fields or ()
        by_weight = self.shown.weight in WEIGHTS_OF_STATISTICS
        return by_weight or any(field.of_statistics for field in fields)

    def run_request(self, request: AlignOptions) -> RunRequest:
        """Return how a run wants its results; what the writer takes is left out of its memory."""
        writer = self.writer_type
        return RunRequest(
            detail=self.detail,
            statistics=self.shows_statistics or _are_in_report(request),
            once=writer.pairs_once,
            shard=request.writing.shard,
            result_seconds=request.writing.result_seconds,
            resources=request.resources,
            held_bytes=min(writer.held_bytes, bytes_of(request.resources) // 2),
        )


def table_of(request: AlignOptions) -> Table:
    """Find out what is written in a known format; refuse what cannot be.

    Raises
    ------
    FormatError
        The message says what to leave out or add.
    """
    writer_type = FORMATS[request.writing.known_format]
    _check_weight(request.shown, writer_type)
    columns = request.shown.columns
    fields = () if columns is None else parse_fields(columns)
    if not fields and request.is_by_accuracy:
        fields = _surest_fields(request.shown, writer_type)
    detail = _detail(request.shown, writer_type, fields)
    tags = tags_of(request.shown)
    if request.is_by_accuracy and _TAG in writer_type.known_tags and detail == Detail.CIGAR:
        tags |= {_TAG}
    shown = Shown(
        fields=fields,
        both_ways=request.both_ways,
        tags=tags,
        weight=request.shown.weight,
        strands=request.strand != STRANDS[0],
    )
    check_shown(writer_type, detail, shown)
    table = Table(writer_type, detail, shown)
    is_shown = table.shows_statistics or writer_type.shows_statistics or _are_in_report(request)
    check(replace(request, pairs_once=writer_type.pairs_once, shows_statistics=is_shown))
    return table


def _are_in_report(request: AlignOptions) -> bool:
    """Whether a report has E-values."""
    return request.report is not None and request.scoring.mode == "local"


def _check_weight(shown: ShownRules, writer: type[Writer]) -> None:
    """Refuse ``--weight`` where edges have none; FormatError."""
    if shown.weight == WEIGHTS[0]:
        return
    if not writer.weighted:
        fitting = ", ".join(name for name, kind in FORMATS.items() if kind.weighted)
        raise FormatError(
            f"{spelled('weight')} is for {fitting}, but the format is {writer.name}"
            + ("; its edges have all of them" if writer.name in NETWORK_FORMATS else "")
        )


def _detail(shown: ShownRules, writer: type[Writer], fields: tuple[Field, ...]) -> Detail:
    """How much must be computed: of chosen columns, no more than they show."""
    if shown.score_only:
        return Detail.SCORE
    if writer.name in NETWORK_FORMATS:
        return Detail.STATS
    fields = fields or writer.default_fields or ()
    return max([writer.needs, *(field.detail for field in fields)]) if fields else Detail.CIGAR


def _surest_fields(shown: ShownRules, writer: type[Writer]) -> tuple[Field, ...]:
    """Return the columns of a table with how sure each pair's are, where it can have them."""
    if shown.score_only or not writer.adds_confidence:
        return ()
    return tuple(FIELDS[name] for name in (*COLUMNS[Detail.CIGAR], _FIELD))


def content_of(table: Table, plan: AlignmentPlan, job: Job, piece: Piece = WHOLE) -> Content:
    """Return what is written of a job; its sets may be those of a part of what is planned.

    Raises
    ------
    FormatError
        That is asked for of alignments of either strand.
    """
    significance = plan.significance
    if significance is not None and job.queries is not plan.job.queries:
        significance = significance.of_sets(job.queries, job.problem.others)
    return Content(
        *(job.queries, job.problem.others, job.scoring, job.want.detail),
        shown=table.shown,
        piece=piece,
        significance=significance,
        confidence=confidence_of(table, plan, job),
        open_tally=_open_tally(table, plan, job),
    )


def _open_tally(table: Table, plan: AlignmentPlan, job: Job) -> OpenTally | None:
    """Return what opens devices that count optimal alignments; None: cores do, or nothing does."""
    if not table.shown.has_ties:
        return None
    from pairalign.engines.tie_engines import tallies_on

    resources = plan.run.resources
    return tallies_on(resources.device, job.threads, resources.memory_bytes)


def confidence_of(table: Table, plan: AlignmentPlan, job: Job) -> ColumnConfidence | None:
    """Return what computes how sure columns are; None: the format does not show it.

    Raises
    ------
    FormatError
        It is asked for of alignments of either strand.
    """
    is_shown = table.writer_type.shows_confidence and table.detail == Detail.CIGAR
    by_itself = is_shown and plan.request.is_by_accuracy and not table.shown.fields
    in_table = any(field.name == _FIELD for field in table.shown.fields)
    if _TAG not in table.shown.tags and not by_itself and not in_table:
        return None
    if plan.request.strand != STRANDS[0]:
        raise FormatError("how sure columns are is known of alignments on strand plus alone")
    from pairalign.engines.posterior_engines import ColumnConfidence

    device = plan.run.resources.device
    return ColumnConfidence(device, job.threads, job.memory_bytes, job.cells)


def tags_of(shown: ShownRules) -> frozenset[str]:
    """Return what lines have besides.

    Raises
    ------
    FormatError
        There is no such tag.
    """
    tags: list[str] = [PLAIN_CIGAR] if shown.plain_cigar else []
    for option, text, choices in (
        (spelled("paf_tags"), shown.paf_tags, PAF_TAGS),
        (spelled("sam_tags"), shown.sam_tags, SAM_TAGS),
    ):
        names = names_in(text)
        for name in names:
            if name not in choices:
                raise FormatError(f"{option}: no tag {name!r}, expected {', '.join(choices)}")
        tags += names
    return frozenset(tags)
