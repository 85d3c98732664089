"""Where the results of a job go: a file, or pieces of a part with ``--shard`` and ``--resume``."""

from __future__ import annotations

import logging
import os
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pairalign.base.console import name_output
from pairalign.base.declaration import stored
from pairalign.base.dry_run import begin
from pairalign.base.error_types import PartsError
from pairalign.formats.output import Output, check_writable, open_output
from pairalign.formats.writer import WHOLE, Piece, Writer
from pairalign.jobs.run.align import Job
from pairalign.requests.shared import OutputOptions, OutputRules

if TYPE_CHECKING:
    from pairalign.formats.part_output import PartOutput
    from pairalign.formats.pieces import Part

log = logging.getLogger("pairalign")


def prepare_output(writing: OutputRules) -> None:
    """Make sure that results can go to an output of a known format; make the folder of a shard.

    Messages name the output, or the manifest of a shard.

    Raises
    ------
    OutputError, PartsError
        They cannot go there, or what is there is not pairalign's.
    """
    part = writing.part
    if part is None or writing.shard is None:
        check_writable(writing.output)
        name_output(writing.output)
        return
    from pairalign.formats.pieces import check_place, prepare_folder

    prepare_folder(part.folder)
    for file in (part.piece(), part.manifest) if os.path.isdir(part.folder) else ():
        check_writable(file)
    check_place(part)
    name_output(part.manifest)


class Destination:
    """Where the results of a job go: a file.

    Attributes
    ----------
    job : Job
        What is left to be done.
    piece : Piece
        What is to be written.
    output : PartOutput or None
        What takes pieces.
    is_done, is_resumed : bool
        All, or some, was written before.
    before : dict
        What `summary` returned when that was written.
    summary : callable
        Returns what a summary has to know of the results so far, see
        `pairalign.formats.schemas.SUMMARY_LEFT`; a command with one sets it.
    path, format : str
        See `OutputRules`.
    """

    output: PartOutput | None = None

    def __init__(self, writing: OutputRules, job: Job, before: Part | None = None) -> None:
        self.path, self.format = writing.path, writing.known_format
        self.job, self.piece = job, WHOLE
        self.before = {} if before is None else before.summary
        self.is_done = before is not None and before.complete
        self.is_resumed = before is not None and (before.complete or before.is_begun)
        self.summary: Callable[[], dict[str, Any]] = dict

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
        """Return what takes the results."""
        return self.output or open_output(self.path, threads=self.job.threads)

    def wrote(self, writer: Writer | None = None) -> None:
        """End a piece if it is time; all that the job has given so far was written."""

    def finish(self) -> None:
        """Make the result of the pieces: a shard, or the file that they are merged to."""


class _Pieces(Destination):
    """A part that takes the results in pieces.

    Raises
    ------
    PartsError
        What was written before is not of this job.
    """

    def __init__(self, writing: OutputRules, job: Job, output: PartOutput) -> None:
        part = output.part
        super().__init__(writing, job, part)
        self.output: PartOutput = output
        self._writing, self._cut_at = writing, time.monotonic()
        self._ranges = job.pieces
        self._ends = list(accumulate(piece.pairs for piece in job.pieces))
        self._done = self._pairs_of(part)
        if self.is_resumed:
            log.warning("resumed after %s of %s pairs", f"{self._done:,}", f"{job.pairs:,}")
            try:
                self.job = job.after(self._done, part.job)
            except PartsError as error:
                raise _damaged(part, str(error)) from error
        is_first, is_last = part.shard == 1 and not part.pieces, part.shard == part.shards
        self.piece = Piece(is_first, is_last, self._place(self._done) + 1)
        output.last = lambda: (*self._until(job.pairs), self.summary())

    def _pairs_of(self, part: Part) -> int:
        """Count the pairs of a part, which are the first ones of the job."""
        done = 0
        for piece in part.pieces:
            if piece.start != self._place(done) or done + piece.pairs > self.job.pairs:
                raise _damaged(part, "it has other pairs than there are")
            done += piece.pairs
        return done

    def _place(self, done: int) -> int:
        """Return the place in the pair matrix of the pair that follows some of the job."""
        if not self._ranges:
            return 0
        place = min(bisect_right(self._ends, done), len(self._ends) - 1)
        start, pairs = self._ranges[place]
        return start + pairs - (self._ends[place] - done)

    def _until(self, done: int) -> tuple[int, int]:
        """Return what a piece has that ends after some pairs of the job: its place, its pairs."""
        return self._place(self._done), done - self._done

    def wrote(self, writer: Writer | None = None) -> None:
        """End a piece if it is time; all that the job has given so far was written."""
        done = self.job.pairs_done
        is_due = time.monotonic() - self._cut_at >= self._writing.commit_every
        if done not in self._ends[:-1] and not (self._writing.resume and is_due):
            return
        if writer is not None:
            writer.flush()
        self.output.cut(*self._until(done), self.summary(), job=self.job.leave())
        self._done, self._cut_at = done, time.monotonic()

    def finish(self) -> None:
        """Make the result of the pieces: a shard, or the file that they are merged to."""
        with self.held():
            if self._writing.shard is not None:
                self.output.finish()
                return
            from pairalign.formats.merge import merge_pieces  # few runs are resumed

            parts, threads = [self.output.part], self.job.threads
            merge_pieces(parts, self.path, threads, by_one_writer=not self.is_resumed)
            self.output.discard()


def _damaged(part: Part, reason: str) -> PartsError:
    from pairalign.formats.part_output import ANEW

    return PartsError(f"'{part.begun}' is damaged: {reason}; {ANEW}")


def open_destination(
    request: OutputOptions, job: Job, *, of_block: bool = False, **more: object
) -> Destination:
    """Find out what was written before, and open what the rest goes to.

    Parameters
    ----------
    request : OutputOptions
        With a format; a shard stores it.
    of_block : bool
        Whether results may be those of `AlignmentJob.of_block`.
    **more
        What else decides the bytes, see `pairalign.jobs.run.kept_results.describe_run`.

    Raises
    ------
    PartsError, OutputError
        See `PartOutput`.
    """
    begin(lambda: job)
    writing, part = request.writing, request.writing.part
    if part is None:
        destination = Destination(writing, job)
    else:
        from pairalign.jobs.run.kept_results import describe_run

        run = describe_run(job, format=writing.known_format, **more)  # it digests the sets
        part = replace(part, format=writing.known_format, run=run)
        if writing.shard is not None:
            part.command, part.request = list(request.command_line), stored(request)
        destination = _open_part(writing, part, job)
    if of_block and not destination.is_done:
        destination.job = destination.job.of_block()
    return destination


def _open_part(writing: OutputRules, part: Part, job: Job) -> Destination:
    """Find out what there is of a part, and open it if it is not complete."""
    from pairalign.formats.part_output import PartOutput
    from pairalign.formats.pieces import find_complete

    if writing.shard is not None and writing.resume:
        complete = find_complete(part)
        if complete is not None:
            log.warning("'%s' is complete", writing.path)
            return Destination(writing, job, complete)
    output = PartOutput(part, resume=writing.resume)
    try:
        return _Pieces(writing, job, output)
    except BaseException:
        output.abort()
        raise
