"""Where the results of a job go: a file, or pieces of a part with ``--shard`` and ``--resume``."""

from __future__ import annotations

import logging
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Protocol

from pairalign.base.declaration import stored
from pairalign.base.error_types import PartsError
from pairalign.base.run_files import remove_regular
from pairalign.base.spelling import left_out
from pairalign.formats.output import Output, check_writable, open_output
from pairalign.formats.part_output import PartOutput, replace_leftovers, whole_part
from pairalign.formats.pieces import (
    Manifest,
    Part,
    check_place,
    find_complete,
    prepare_folder,
)
from pairalign.formats.writer import WHOLE, Piece
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.run_identity import describe_run

log = logging.getLogger("pairalign")


class Written(Protocol):
    """What results are written with."""

    @property
    def shown(self) -> int:
        """How many pairs it has numbered."""

    def flush(self) -> int:
        """Wait until the output has all; return the number of the next pair."""


@dataclass(frozen=True)
class OutputRequest:
    """Where the results of a command are to go.

    Attributes
    ----------
    path : str
        Of a shard, that of its first piece.
    resume : bool
        Whether pieces are kept when the run is ended, and it goes on after those that are there.
    commit_seconds : float
        Interval of pieces, with `resume`.
    part : Part or None
        Where pieces go, if results come in pieces.
    is_shard : bool
        Whether the pieces are the result, to be merged with other shards.
    command : list of str
        The program's arguments.
    stored : dict
        What the run stores of what is asked.
    """

    path: str
    format: str
    resume: bool = False
    commit_seconds: float = 0
    part: Part | None = None
    is_shard: bool = False
    command: list[str] = field(default_factory=list)
    stored: dict[str, Any] = field(default_factory=dict)


def output_of(options: Any, format: str) -> OutputRequest:
    """Return where the options say that results go; nothing is written yet.

    Raises
    ------
    OutputError, PartsError
        They cannot go there, or what is there is not pairalign's.
    """
    path, resume = options.output, options.resume
    if options.shard is None:
        check_writable(path)
        part = whole_part(path) if resume else None
        return OutputRequest(path, format, resume, options.commit_every, part)
    part = Part(path, *options.shard)
    path = part.piece(format)
    check_files(replace(options, output=path))
    prepare_folder(part.folder)
    for file in (path, part.manifest):
        check_writable(file)
    check_place(part, format)
    command, request = list(options.command_line), stored(options)
    return OutputRequest(path, format, resume, options.commit_every, part, True, command, request)


class Destination:
    """Where the results of a job go, and how far they have come.

    Parameters
    ----------
    job : AlignmentJob
        All that is to be done.
    output : PartOutput, optional
        Where to, if results come in pieces.
    complete : Manifest, optional
        Of a shard of which all was written before.

    Attributes
    ----------
    job : AlignmentJob
        What is left to be done.
    piece : Piece
        What is to be written.
    output : PartOutput or None
        As given.
    is_done, is_resumed : bool
        All, or some, was written before.
    before : dict
        What `summary` returned when that was written.
    summary : callable
        Returns what a summary has to know of the results so far, see
        `pairalign.formats.schemas.SUMMARY_LEFT`; a command with one sets it.
    path, format : str
        As they were asked for.

    Raises
    ------
    PartsError
        What was written before is not of this job.
    """

    def __init__(
        self,
        request: OutputRequest,
        job: AlignmentJob,
        output: PartOutput | None = None,
        complete: Manifest | None = None,
    ) -> None:
        manifest = complete if output is None else output.manifest
        self.path, self.format = request.path, request.format
        self.job, self.output, self._request = job, output, request
        self.piece, self.before = WHOLE, {} if manifest is None else manifest.summary
        self.is_done = manifest is not None and manifest.complete
        self.is_resumed = self.is_done or (output is not None and output.is_resumed)
        self.summary: Callable[[], dict[str, Any]] = dict
        self._ranges, self._done, self._pairs = job.pieces, 0, job.pairs
        self._ends = list(accumulate(piece.pairs for piece in job.pieces))
        self._cut_at = time.monotonic()
        if output is not None and manifest is not None:
            number, shards = output.part[1:]
            is_first = number == 1 and not manifest.pieces
            self.piece = Piece(is_first, number == shards, manifest.next)
            self._go_on(manifest)

    def _go_on(self, manifest: Manifest) -> None:
        """Leave out what the pieces of a manifest have."""
        for piece in manifest.pieces:
            starts = piece.start == self._place(self._done)
            self._done += piece.pairs
            ends = piece.start + piece.pairs == self._place(self._done, before=piece.pairs > 0)
            if not (starts and ends) or self._done > self._pairs:
                raise PartsError(
                    f"the manifest of '{self.path}' is damaged: it has other pairs than there are; "
                    f"{left_out('resume', True)} to begin anew"
                )
        if not self.is_resumed:
            return
        log.warning("resumed after %s of %s pairs", f"{self._done:,}", f"{self._pairs:,}")
        if not self.is_done:
            self.job = self.job.after(self._done, manifest.job)

    def _place(self, done: int, *, before: bool = False) -> int:
        """Return how many pairs of the pair matrix come before those that follow some of the job.

        Where these are the last of a range: `before` what is between it and the next one.
        """
        if not self._ranges:
            return 0
        find = bisect_left if before else bisect_right
        place = min(find(self._ends, done), len(self._ends) - 1)
        start, pairs = self._ranges[place]
        return start + pairs - (self._ends[place] - done)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let go of the output when a block fails, even before there is a writer."""
        try:
            yield
        except BaseException:
            if self.output is not None:
                self.output.abort()
            raise

    def open(self) -> Output:
        """Return what takes the results: the output, or a file."""
        return self.output or open_output(self.path, threads=self.job.threads)

    def wrote(self, writer: Written) -> None:
        """End a piece if it is time; all that the job has given so far was written."""
        if self.output is None:
            return
        done = self.job.pairs_done
        is_due = time.monotonic() - self._cut_at >= self._request.commit_seconds
        if done not in self._ends[:-1] and not (self._request.resume and is_due):
            return
        start, pairs = self._place(self._done), done - self._done
        self.output.cut(start, pairs, writer.flush(), job=self.job.leave(), summary=self.summary())
        self._done, self._cut_at = done, time.monotonic()

    def wrote_all(self, writer: Written) -> None:
        """Say what the last piece is; before the writer is closed."""
        if self.output is not None:
            start, pairs = self._place(self._done), self._pairs - self._done
            number = self.piece.number + writer.shown
            self.output.ends_with(start, pairs, number, summary=self.summary())

    def finish(self) -> None:
        """Make the result of the pieces: a shard, or the file that they are merged to."""
        if self.output is None:
            return
        with self.held():
            if self._request.is_shard:
                self.output.finish()
                return
            from pairalign.formats.merge import merge_pieces  # few runs are resumed

            folder, manifest = self.output.part.folder, self.output.manifest
            merge_pieces(
                folder,
                [manifest],
                self.path,
                self.job.threads,
                by_one_writer=not self.output.is_resumed,
            )
            self.output.discard()


def open_destination(
    request: OutputRequest, job: AlignmentJob, *, of_block: bool = False, **more: Any
) -> Destination:
    """Find out what was written before, and open what the rest goes to.

    Parameters
    ----------
    of_block : bool
        Whether results may be those of `AlignmentJob.of_block`.
    **more
        What else decides the bytes, see `pairalign.jobs.run.run_identity.describe_run`.

    Raises
    ------
    PartsError, OutputError
        See `PartOutput`.
    """
    part = request.part
    if part is None:
        replace_leftovers(request.path)
        destination = Destination(request, job)
    else:
        run = describe_run(job, format=request.format, **more)  # it digests the sets
        complete = None
        if request.is_shard and request.resume:
            complete = find_complete(part, run, request.format)
        if complete is None:
            destination = _open_part(request, part, job, run)
        else:
            log.warning("'%s' is complete", request.path)
            remove_regular(part.begun)
            destination = Destination(request, job, complete=complete)
    if of_block and not destination.is_done:
        destination.job = destination.job.of_block()
    return destination


def _open_part(
    request: OutputRequest, part: Part, job: AlignmentJob, run: dict[str, Any]
) -> Destination:
    first = job.pieces[0].start + 1 if job.pieces else 1
    begun = Manifest(run, request.format, part.shard, part.shards, first)
    begun.command, begun.request = request.command, request.stored
    output = PartOutput(part, begun, resume=request.resume, owns_folder=not request.is_shard)
    try:
        return Destination(request, job, output)
    except BaseException:
        output.abort()
        raise
