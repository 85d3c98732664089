"""What commands with ``--resume`` and ``--shard`` share: where results go, and from where on."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Protocol

from pairalign.base.error_types import PartsError
from pairalign.base.spelling import left_out, spelled
from pairalign.formats.journal import Commit
from pairalign.formats.names import compression_of
from pairalign.formats.output import Output, check_writable, open_output
from pairalign.formats.resumable import Join, Resumable, remove_leftovers
from pairalign.formats.writer import WHOLE
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.part_place import End, PartPlace, choose_part
from pairalign.jobs.run.run_identity import describe_run

log = logging.getLogger("pairalign")


class Written(Protocol):
    """What results are written with."""

    @property
    def shown(self) -> int:
        """How many pairs it has numbered."""

    def flush(self) -> int:
        """Wait until the output has all; return the number of the next pair."""

    def leave(self) -> dict[str, Any]:
        """Return what a writer that goes on must know, see `pairalign.formats.writer.Writer`."""


@dataclass(frozen=True)
class OutputRequest:
    """Where the results of a command are to go.

    Attributes
    ----------
    path : str
        Of a part, its own.
    resume : bool
        Whether the output can be resumed, and goes on where an earlier run was ended.
    commit_seconds : float
        Commit interval, with `resume`.
    place : PartPlace or None
        Where a part goes, with ``--shard``.
    join : callable, optional
        As for `pairalign.formats.resumable.Resumable`.
    """

    path: str
    format: str
    resume: bool
    commit_seconds: float
    place: PartPlace | None = None
    join: Join | None = None


def output_of(options: Any, format: str, suffix: str, join: Join | None = None) -> OutputRequest:
    """Return where the options say that results go; `suffix` is that of a part.

    Raises
    ------
    OutputError, PartsError
        They cannot go there.
    """
    place = choose_part(options, suffix)
    path = options.output if place is None else place.path
    check_writable(path)
    return OutputRequest(path, format, options.resume, options.commit_every, place, join)


class Destination:
    """Where the results of a job go, and how far they have come.

    Parameters
    ----------
    of_block : bool
        Whether results may be those of `AlignmentJob.of_block`.
    **more
        What else decides the bytes, see `pairalign.jobs.run.run_identity.describe_run`.

    Attributes
    ----------
    job : AlignmentJob
        The one that is given, or what is left of it: what is to be done.
    piece : Piece
        What is to be written.
    output : Output or None
        Where to, if it can be resumed.
    is_done, is_resumed : bool
        All, or some, was written before.
    before : dict
        What `summary` returned when that was written.
    summary : callable
        Returns what a summary has to know of the results so far, see
        `pairalign.formats.schemas.SUMMARY_LEFT`; a command with one sets it.
    path, format : str
        As they were asked for.
    """

    def __init__(
        self, request: OutputRequest, job: AlignmentJob, *, of_block: bool = False, **more: Any
    ) -> None:
        place = request.place
        self.job = job
        self._asked = request
        self.path, self.format = request.path, request.format
        self._place = place
        self._pairs = job.pairs
        self._described: dict[str, Any] = {}
        if request.resume or place is not None:  # it digests the sets
            self._described = describe_run(job, format=request.format, **more)
        self.piece = self._start = WHOLE if place is None else place.piece(job)
        self.output: Output | None = None
        self.is_done = self.is_resumed = False
        self.before: dict[str, Any] = {}
        self.summary: Callable[[], dict[str, Any]] = dict
        self._resumable: Resumable | None = None
        self._number = self.piece.number
        self._counts = list(accumulate(piece.pairs for piece in job.pieces))
        self._ends: list[End] = []
        if request.resume and place is not None and self._is_complete(place):
            return
        if request.resume:
            self._resume()
        else:
            replace_leftovers(request.path)
        if place is not None:
            place.begin(self._described, request.format, is_resumed=self.is_resumed)
            if len(job.pieces) > 1 and self.output is None and not self.is_done:
                self.output = open_output(request.path)
        if of_block and not self.is_done:
            self.job = self.job.of_block()

    def _is_complete(self, place: PartPlace) -> bool:
        """Whether a run before has completed the part: then it and its manifest stay."""
        manifest = place.find_complete(self._described, self.format)
        if manifest is None:
            return False
        log.warning("'%s' is complete", place.path)
        self.before, self._place = manifest.summary, None
        self.is_done = self.is_resumed = True
        return True

    def _resume(self) -> None:
        request = self._asked
        described = {
            **self._described,
            "shard": self.job.shard,
            "pairs": (self.job.pieces[0].start if self.job.pieces else 0, self._pairs),
            "gz": bool(compression_of(request.path)),
        }
        resumable = Resumable(
            request.path,
            described,
            threads=self.job.threads,
            seconds=request.commit_seconds,
            join=request.join,
        )
        last = resumable.last
        self.is_done = resumable.is_done
        if last is not None and last.pairs > self._pairs:
            resumable.output.abort()
            raise PartsError(
                f"'{request.path}.journal' is damaged: it has more pairs than there are; "
                f"{left_out('resume', True)} to begin anew"
            )
        if last is not None:
            self._number, self.before = last.number, last.summary
            left = tuple(commit.left for commit in resumable.history if commit.left)
            self.piece = replace(self.piece, first=False, number=last.number, left=left)
            say_resumed(last.pairs, self._pairs)
            self._ends = self._ends_before(resumable)
            if not self.is_done:
                self.job = self._left_by(resumable, last)
        self.is_resumed = last is not None
        self._resumable = resumable
        self.output = resumable.output

    def _ends_before(self, resumable: Resumable) -> list[End]:
        """Return where the pieces end that were written before: each was committed."""
        commits = {
            commit.pairs: End(commit.bytes, commit.number) for commit in reversed(resumable.history)
        }
        return [commits[count] for count in self._counts[:-1] if count in commits]

    def _left_by(self, resumable: Resumable, last: Commit) -> AlignmentJob:
        """Return the job that begins where a commit was."""
        try:
            return self.job.after(last.pairs, last.job)
        except PartsError:
            resumable.output.abort()
            raise

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let go of the place and the output when a block fails, even before there is a writer."""
        try:
            yield
        except BaseException:
            if self.output is not None:
                self.output.abort()
            if self._place is not None:
                self._place.give_up()
            raise

    def wrote(self, writer: Written) -> None:
        """Commit, if it is time, what the job has given so far, all of which was written."""
        ended = self.job.pairs_done in self._counts[len(self._ends) : -1]
        if self._resumable is not None and (ended or self._resumable.is_due):
            self._commit(writer)
        if ended:
            self._ends.append(self._end(writer))

    def _end(self, writer: Written) -> End:
        """Return where the output is; rows of tables are counted, which end by themselves."""
        if self._asked.join is not None:
            return End(0, self.piece.number + writer.shown)
        number = writer.flush()
        descriptor = None if self.output is None else self.output.descriptor
        size = 0 if descriptor is None else os.lseek(descriptor, 0, os.SEEK_CUR)
        return End(size, number)

    def wrote_all(self, writer: Written) -> None:
        """Commit what is left; before the writer is closed."""
        if self._resumable is not None:
            self._commit(writer)
        else:
            self._number = self.piece.number + writer.shown

    def _commit(self, writer: Written) -> None:
        assert self._resumable is not None
        self._number = writer.flush()
        left, job = writer.leave(), self.job.leave()
        summary = self.summary()
        self._resumable.commit(
            self.job.pairs_done, self._number, left=left, job=job, summary=summary
        )

    def finish(self) -> None:
        """Write the manifest of a part, which is in its place."""
        if self._place is not None:
            ends = [*self._ends, *([End(0, self._number)] if self.job.pieces else [])]
            number = self._start.number
            pieces, format = self.job.pieces, self._asked.format
            self._place.finish(
                self._described, format, pieces, ends, number=number, summary=self.summary()
            )

    def take_back(self) -> Resumable:
        """Return what was written, for other results to be made of."""
        assert self._resumable is not None
        return self._resumable


def replace_leftovers(path: str) -> None:
    """Say, and remove, what a dead run with ``--resume`` has left of an output."""
    if remove_leftovers(path):
        log.warning(
            "'%s.part', which a run with %s had left, is replaced: this run begins anew",
            path,
            spelled("resume", True),
        )


def say_resumed(done: int, pairs: int) -> None:
    """Say from where a run goes on."""
    log.warning("resumed after %s of %s pairs", f"{done:,}", f"{pairs:,}")
