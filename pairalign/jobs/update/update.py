"""Sequences that are added to a run of align: only pairs with a new one are aligned."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pairalign.alignments.alignment_records import SetNames
from pairalign.alignments.alignments import Alignments
from pairalign.alignments.best_hits import BestHits, number_pairs, pairs_of_numbers
from pairalign.base.arguments import as_several, path_text
from pairalign.base.arrays import Int32s
from pairalign.base.choices import READER_NAMES
from pairalign.base.declaration import changed, check, decided_by, make, restored, slots_of
from pairalign.base.error_types import FormatError, PartsError, RecordError, UsageError
from pairalign.base.native import keep_freed_memory
from pairalign.base.spelling import spelled
from pairalign.engines.kernels import AUTO
from pairalign.formats import WRITERS
from pairalign.formats.merge import check_parts_ending, checked_file, join_pieces
from pairalign.formats.output import HeldOutput, Output, map_file, refuse_inputs
from pairalign.formats.pieces import (
    Part,
    Piece,
    check_piece,
    find_differences,
    pieces_of_whole,
    read_manifests,
    without_option,
)
from pairalign.formats.readers import open_reader
from pairalign.jobs.commands.planning import read_problem
from pairalign.jobs.commands.summary import Summary
from pairalign.jobs.run.align import AlignmentJob, Job
from pairalign.jobs.run.destination import Destination, open_destination, prepare_output
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.run.kept_results import describe_run
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.query_slices import can_be_cut, in_whole, jobs_of_queries
from pairalign.jobs.run.run_request import AlignmentPlan, plan_alignment
from pairalign.jobs.run.table import Table, content_of, table_of
from pairalign.jobs.update.interleave import Interleaver
from pairalign.jobs.update.update_request import UpdateOptions
from pairalign.pairs.lists import PairList
from pairalign.requests.align_request import AlignOptions
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.statements import statistics_by_name

Results = Generator[Alignments, None, None]


@dataclass(frozen=True)
class Updated:
    """What was added to a run.

    Attributes
    ----------
    output : str
        Where the results are.
    pairs, aligned : int
        Pairs of all sequences, and those that have a new one.
    """

    output: str
    pairs: int
    aligned: int


def update(
    parts: str | os.PathLike[str],
    new: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    device: str = "auto",
    kernel: str = AUTO,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress = False,
) -> Updated:
    """Add sequences to a run of ``pairalign align``: only pairs with a new one are aligned.

    Parameters
    ----------
    parts : str or path
        The folder of the run, made with ``align -o PARTS --shard 1/1`` or any other number of
        parts.
    new : path, or sequence of paths
        Files of sequences, which come last.
    output : str or path
        The file appears when it is complete; a folder that is there, or a name with a ``/`` at the
        end, takes one part, to which more can be added.
    device, kernel, threads, memory, progress
        As for `pairalign.align`.

    Returns
    -------
    Updated

    Raises
    ------
    PartsError
        The folder has no such run, or a part is damaged.
    FormatError, OutputError
        The name means another format, E-values would change, or the disk is full.
    UsageError
        No file is new.
    FastaError, AlphabetError, CapacityError, DeviceError
        See `pairalign.errors`.

    Notes
    -----
    The bytes are those of a run of all sequences.
    """
    files = [path_text("new", path) for path in as_several("new", new)]
    if not files:
        raise UsageError("new: expected at least one file of sequences")
    values = {**locals(), "new": files, "parts": path_text("parts", parts)}
    values |= {"output": path_text("output", output), "quiet": True}
    request = make(UpdateOptions, values)
    check(request)
    return plan_update(request).write()


@dataclass(frozen=True)
class Update:
    """What is added to which run.

    Attributes
    ----------
    request : AlignOptions
        What the run was asked, with the new files.
    plan : AlignmentPlan
        A run of all sequences.
    old : int
        Sequences of the earlier run.
    parts : list of Part
        Its results.
    pieces : list of Piece
        What these are kept in, in the order of output.
    """

    request: AlignOptions
    table: Table
    plan: AlignmentPlan
    old: int
    parts: list[Part]
    pieces: list[Piece]

    def write(self) -> Updated:
        """Align pairs that have a new sequence, and write all."""
        destination = open_destination(self.request, self.plan.job, **decided_by(self.plan.request))
        with destination.held():
            _write(self, destination)
        destination.finish()
        pairs, known = (
            count * (count - 1) // 2 for count in (len(self.plan.job.queries), self.old)
        )
        return Updated(destination.path, pairs, pairs - known)


def plan_update(request: UpdateOptions) -> Update:
    """Read what a run was asked, and plan a run of all sequences.

    Raises
    ------
    PartsError, FormatError, OutputError, FastaError, AlphabetError
        See `update`.
    """
    parts = read_manifests(request.parts)
    _refuse_what_is_read(request)
    before = _recorded_request(request.parts, parts[0])
    align = _with_new(before, request, parts[0])
    check_files(align)
    table = table_of(align)
    prepare_output(align.writing)
    pieces = pieces_of_whole(parts)
    run = table.run_request(align)._replace(shard=None)
    old = plan_alignment(align, read_problem(before), run)
    described = describe_run(old.job, format=parts[0].format, **decided_by(align))
    differences = find_differences(parts[0].run, described)
    if differences:
        raise PartsError(
            f"'{request.parts}' was made of other sequences or by another version: {differences}"
        )
    rules = replace(align.reading, qualities=table.writer_type.shows_qualities)
    try:
        problem = read_problem(align, rules)
    except RecordError as error:
        if error.advises is not None:
            error.args = (f"{error}; files are read as '{request.parts}' was made",)
        raise
    plan = plan_alignment(align, problem, run)
    _check_statistics(table, old, plan)
    return Update(align, table, plan, len(old.job.queries), parts, pieces)


def _refuse_what_is_read(request: UpdateOptions) -> None:
    """Refuse to write over the run that is read, or among its parts."""
    if os.path.isdir(request.writing.output) and os.path.samefile(
        request.writing.output, request.parts
    ):
        raise FormatError(
            f"'{request.writing.output}' is the run that is read; choose another output"
        )
    refuse_inputs(
        request.writing.output, [*map(str, Path(request.parts).glob("part-*")), *request.new]
    )


def _recorded_request(parts: str, first: Part) -> AlignOptions:
    """Return what the run was asked.

    Raises
    ------
    PartsError
        It is none that can be updated, or what is stored of it makes no sense.
    """
    if first.command[:1] != ["align"]:
        other = first.command[0] if first.command else "another program"
        raise PartsError(
            f"'{parts}' has parts of {other}: update adds to runs of align; distances "
            "go on with distance --extend, clusters with cluster --extend"
        )
    if not first.request:
        raise PartsError(f"'{parts}' does not say what the run was asked: make its parts again")
    try:
        before = restored(AlignOptions, first.request)
    except ValueError as error:
        raise PartsError(f"'{parts}': its manifests are damaged (request: {error})") from error
    if before.input2 is not None:
        raise PartsError(
            f"'{parts}' has parts of one set against another: align the new sequences of "
            "either set with the other set in a run of their own"
        )
    listed = [name for name in ("pairs", "within") if getattr(before, name) is not None]
    if listed or before.orient == "canonical":
        option = spelled(listed[0]) if listed else spelled("orient", before.orient)
        raise PartsError(f"'{parts}' was made with {option}: there is no update of that")
    return before


def _with_new(before: AlignOptions, request: UpdateOptions, first: Part) -> AlignOptions:
    """Return what a run of all sequences is asked, with what this command says of how and where."""
    how = {
        slot.option.name: slot.value(request)
        for slot in slots_of(UpdateOptions)
        if slot.option.is_how
    }
    command = first.command
    for name in ("--shard", "-o", "--output"):
        command = without_option(command, name, values=1)
    also = [word for path in request.new for word in ("--also", path)]
    values = {**how, "format": first.format, "also": (*before.reading.also, *request.new)}
    output = request.writing.output
    if output.endswith(os.sep) or os.path.isdir(output):
        folder = output.rstrip(os.sep)
        words = [*command, *also, "-o", folder, "--shard", "1/1"]
        values |= {"shard": (1, 1), "output": folder, "command_line": tuple(words)}
    elif output != "-":
        check_parts_ending(output, first.format)
    return changed(before, **values)


def _check_statistics(table: Table, old: AlignmentPlan, plan: AlignmentPlan) -> None:
    """Refuse bits and E-values that another database changes.

    Raises
    ------
    FormatError
        The message names ``--search-space`` where that is what differs.
    """
    request = plan.request
    shown = table.shows_statistics or table.writer_type.shows_statistics
    shown = shown or request.evalues.max_evalue is not None or request.ranks_by_statistics
    if not shown or plan.significance is None or old.significance is None:
        return
    statistics = [
        {
            key: value
            for key, value in statistics_by_name(significance, plan.job.scoring).items()
            if request.evalues.searched.cells is None or not key.startswith("database")
        }
        for significance in (old.significance, plan.significance)
    ]
    differences = find_differences(*statistics)
    if differences:
        fixed = request.evalues.searched.cells is not None
        raise FormatError(
            "E-values change with the database, so those of the earlier run would be wrong "
            f"({differences}): "
            + ("run all anew" if fixed else "make it with --search-space, which fixes them")
        )


def _write(update: Update, destination: Destination) -> None:
    """Write old and new pairs: lines are copied, hits and other formats aligned again."""
    fields = [field.name for field in update.table.shown.fields]
    writer_type, job = update.table.writer_type, update.plan.job
    columns = None if writer_type.lines is None else writer_type.lines.columns_of_names(fields)
    summary = Summary(job.problem, update.request, pairs=job.pairs, cells=0)
    destination.summary = summary.leave

    def align(results: Results, output: Output | None = None) -> None:
        keep_freed_memory(job.memory_bytes)
        content = content_of(update.table, update.plan, job)
        with closing(results), destination.open_writer(content, output) as writer:
            destination.write(results, writer, summary.add)

    lines = None if columns is None else _lines_of(update, columns)
    if isinstance(job, HitsJob):
        known = _read_recorded(update) if lines is None else PairList(*lines.pairs())
        align(_results_of(AddedHitsJob.like(job, known=known, old=update.old)))
        return
    if lines is None and not writer_type.adds_pairs:
        align(_align_again(update))
        return
    for part in update.parts:
        summary.go_on(part.summary)
    before = [] if lines is not None else [checked_file(piece) for piece in update.pieces]
    with HeldOutput(update.request.writing.path) as spill_file:
        align(align_added(job, update.old), spill_file)
        with destination.open() as output:
            if lines is None:
                writer_type.join_files([*before, spill_file.text()], output)
                return
            lines.add(spill_file.text(), whole=True)
            lines.write(output)


def _lines_of(update: Update, columns: tuple[int, int]) -> Interleaver:
    """Read the lines of the run's pieces, by the columns of query and target."""
    job = update.plan.job
    lines = Interleaver(update.table.writer_type, columns, job.queries, job.window)
    for place, piece in enumerate(update.pieces):
        lines.add(checked_file(piece), whole=place == 0, old=update.old)
    return lines


def _read_recorded(update: Update) -> PairList:
    """Return the pairs of the run's file, which is put together where there are several pieces."""
    format, queries = update.table.writer_type.name, update.plan.job.queries
    if len(update.pieces) == 1:
        check_piece(update.pieces[0])
        return PairList(*read_recorded_pairs(update.pieces[0].path, format, queries))
    with HeldOutput(update.request.writing.path) as spill_file:
        join_pieces(update.pieces, update.table.writer_type, spill_file)
        return PairList(*read_recorded_pairs(os.fspath(spill_file.path), format, queries))


def _align_again(update: Update) -> Results:
    """Align the pairs that have a new sequence and those that the run has written.

    No other pair can be in the results: one that did not pass does not pass now.
    """
    recorded, job = _read_recorded(update), update.plan.job
    first, second = _candidates(update)
    pairs = PairList(
        np.concatenate((recorded.first, first)), np.concatenate((recorded.second, second))
    )
    if len(pairs):
        request = replace(update.plan.request, pairs=pairs, window=job.window)
        yield from _results_of(plan_alignment(request, job.problem, update.plan.run).job)


def _candidates(update: Update) -> tuple[Int32s, Int32s]:
    """Return the pairs with a new sequence that may be written, the lower input index first.

    Where most do not pass, rows of all are aligned first: a list of them takes longer.
    """
    job, old = update.plan.job, update.old
    if not (can_be_cut(job) and job.procedure.chooses(job)):
        new, first = np.nonzero(np.tri(len(job.queries) - old, len(job.queries), old - 1, np.bool_))
        return first.astype(np.int32), (old + new).astype(np.int32)
    numbers = [np.empty(0, np.int64)]
    numbers += (number_pairs(block.query, block.target) for block in align_added(job, old))
    return pairs_of_numbers(np.unique(np.concatenate(numbers)))


def _results_of(job: Job) -> Results:
    with job.open() as results:
        yield from results


def read_recorded_pairs(path: str, format: str, sequences: SequenceSet) -> tuple[Int32s, Int32s]:
    """Return the pairs of a file, each once: input indices, the lower first.

    Parameters
    ----------
    sequences : SequenceSet
        Aligned with itself.

    Raises
    ------
    PartsError
        The format is not read, or a name is that of no sequence.
    AlignmentFileError
        The file cannot be read.
    """
    if WRITERS[format].adds_pairs:
        return WRITERS[format].pairs_of(map_file(path))
    if format not in READER_NAMES:
        raise PartsError(
            f"{format} is not read back, so nothing can be added: write another format"
        )
    names = SetNames(sequences)
    reader = open_reader(path, format, (names, names))
    numbers = [np.empty(0, np.int64)]
    try:
        for piece in reader.pieces():
            records = reader.read(piece).records
            query, target = records["query"], records["target"]
            if (query < 0).any() or (target < 0).any():
                raise PartsError(f"'{path}': a record has a name that no sequence of its run has")
            low, high = np.minimum(query, target), np.maximum(query, target)
            numbers.append(np.unique(number_pairs(low, high)))
    finally:
        reader.close()
    return pairs_of_numbers(np.unique(np.concatenate(numbers)))


def align_added(job: Job, old: int) -> Generator[Alignments, None, None]:
    """Align the pairs of a set with itself that have a new sequence.

    Parameters
    ----------
    job : Job
        Of all pairs.
    old : int
        Sequences that are not new: the first ones of the input.

    Yields
    ------
    Alignments
        Of the sets of `job`, in an order of their own; each pair once, the earlier sequence is the
        query, as in the results of `job`.
    """
    count = len(job.queries)
    if not can_be_cut(job):
        yield from AlignmentJob.like(job, only=(old, count))
        return
    for part in jobs_of_queries(job, old, count, job.queries.total_residues + 1):
        for block in part:
            yield in_whole(block, job.problem)
        job.steps, job.devices = part.steps, part.devices


@dataclass
class AddedHitsJob(HitsJob):
    """A search for hits of one set, some of whose pairs are known to be none.

    A hit among all sequences that are not new was one among the earlier sequences: of the pairs of
    these, hits alone are ranked again, with the pairs that have a new sequence.

    Attributes
    ----------
    known : PairList
        Pairs of the first `old` sequences that may be hits.
    old : int
        The sequences after these are new.
    """

    known: PairList = field(kw_only=True)
    old: int = field(kw_only=True)

    def _rank(self, best: BestHits, start: int, stop: int) -> Iterator[Alignments]:
        changes = self._changes_to_rank() | {"resources": self.resources}
        if len(self.known):
            listed = AlignmentJob.like(self, **changes, pair_list=self.known)
            for alignments in listed:
                self._add(best, alignments, listed)
        job = AlignmentJob.like(self, **changes)
        for alignments in align_added(job, self.old):
            self._add(best, alignments, job)
            yield self._nothing()
