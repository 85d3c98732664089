"""Results that go to parts of a whole, which become the file in the end.

Parts are in pieces, see `pairalign.formats.pieces`: with ``--shard`` and ``--resume`` this run
writes one, with ``--dask`` others have written all of them.
"""

from __future__ import annotations

import logging
import os
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from pairalign.base.console import name_output
from pairalign.base.declaration import stored
from pairalign.base.error_types import PartsError
from pairalign.formats.output import check_writable
from pairalign.formats.part_output import ANEW, PartOutput
from pairalign.formats.pieces import Part, check_place, find_complete, prepare_folder, remove_parts
from pairalign.formats.writer import Piece, Writer
from pairalign.jobs.run.align import Job
from pairalign.jobs.run.file_destination import Destination
from pairalign.jobs.run.kept_results import describe_run
from pairalign.requests.shared import OutputOptions, OutputRules

log = logging.getLogger("pairalign")


def prepare_shard(writing: OutputRules) -> None:
    """Make sure that a shard can be written, see `prepare_output`."""
    part = writing.part
    assert part is not None
    prepare_folder(part.folder)
    for file in (part.piece(), part.manifest) if os.path.isdir(part.folder) else ():
        check_writable(file)
    check_place(part)
    name_output(part.manifest)


class _Parts(Destination):
    """Parts of which all, or some, is there."""

    def __init__(
        self, writing: OutputRules, job: Job, parts: list[Part], *, is_done: bool = True
    ) -> None:
        super().__init__(writing, job)
        self.parts, self.is_done = parts, is_done
        self.is_resumed = any(part.is_begun for part in parts)
        self.before = [part.summary for part in parts]
        self._is_shard = writing.shard is not None

    def finish(self) -> None:
        """Make the result of the parts: a shard is one, others are merged to the file."""
        if not self._is_shard:
            from pairalign.formats.merge import merge_pieces  # a shard has no need of it

            by_one_writer = not self.is_resumed
            merge_pieces(self.parts, self.path, self.job.threads, by_one_writer=by_one_writer)
            self.remove()

    def remove(self) -> None:
        """Remove the parts: what was made of them is there."""
        remove_parts(self.parts)


class _Pieces(_Parts):
    """A part that takes the results in pieces.

    Raises
    ------
    PartsError
        What was written before is not of this job.
    """

    def __init__(self, writing: OutputRules, job: Job, output: PartOutput) -> None:
        part = output.part
        super().__init__(writing, job, [part], is_done=False)
        self.output: PartOutput = output
        self._cut_at = time.monotonic()
        self._seconds = writing.result_seconds
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
        done, seconds = self.job.pairs_done, self._seconds
        is_due = seconds is not None and time.monotonic() - self._cut_at >= seconds
        if done not in self._ends[:-1] and not is_due:
            return
        if writer is not None:
            writer.flush()
        self.output.cut(*self._until(done), self.summary(), job=self.job.leave())
        self._done, self._cut_at = done, time.monotonic()

    def finish(self) -> None:
        """Make the result of the parts: a shard is one, others are merged to the file."""
        with self.held():
            if self._is_shard:
                self.output.finish()
            super().finish()

    def remove(self) -> None:
        """Remove the part: what was made of it is there."""
        self.output.discard()


def _damaged(part: Part, reason: str) -> PartsError:
    return PartsError(f"'{part.begun}' is damaged: {reason}; {ANEW}")


def open_parts(
    request: OutputOptions, job: Job, *, of_block: bool, command: Sequence[str], **more: object
) -> Destination:
    """Open the parts of a request that makes some, see `open_destination`."""
    writing, part = request.writing, request.writing.part
    run = describe_run(job, format=writing.known_format, **more)  # it digests the sets
    if writing.dask is not None:
        from pairalign.jobs.run.dask_cluster import make_parts  # few runs have a cluster

        return _Parts(writing, job, make_parts(request, job, run, command))
    assert part is not None
    part = replace(part, format=writing.known_format, run=run)
    if writing.shard is not None:
        part.command, part.request = list(request.command_line), stored(request)
        complete = find_complete(part) if writing.resume else None
        if complete is not None:
            log.warning("'%s' is complete", writing.path)
            return _Parts(writing, job, [complete])
    output = PartOutput(part, resume=writing.resume)
    try:
        destination = _Pieces(writing, job, output)
    except BaseException:
        output.abort()
        raise
    if of_block:
        destination.job = destination.job.of_block()
    return destination
