"""Where the results of a job go: a file, which `pairalign.jobs.run.in_parts` makes of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pairalign.alignments.alignments import Alignments
from pairalign.formats import open_writer
from pairalign.formats.output import Output, open_output
from pairalign.formats.writer import WHOLE, Content, Writer
from pairalign.jobs.run.align import Job
from pairalign.requests.shared import OutputRules

if TYPE_CHECKING:
    from pairalign.formats.part_output import PartOutput
    from pairalign.formats.pieces import Part


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
    parts : list of Part
        What is kept of the results.
    before : list of dict
        What `summary` returned when some were written before, in each part.
    is_done, is_resumed : bool
        All, or some, was written before.
    summary : callable
        Returns what a summary has to know of the results so far, see
        `pairalign.formats.schemas.SUMMARY_LEFT`; a command with one sets it.
    path, format : str
        See `OutputRules`.
    """

    output: PartOutput | None = None
    is_done = is_resumed = False

    def __init__(self, writing: OutputRules, job: Job) -> None:
        self.path, self.format = writing.path, writing.known_format
        self.job, self.piece = job, WHOLE
        self.parts: list[Part] = []
        self.before: list[dict[str, Any]] = []
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

    def open_writer(self, content: Content, output: Output | None = None) -> Writer:
        """Open what writes the results, into another output if that is given."""
        threads, output = self.job.threads, output or self.output
        return open_writer(self.path, self.format, content, threads=threads, output=output)

    def write(
        self, results: Iterator[Alignments], writer: Writer, *see: Callable[[Alignments], None]
    ) -> None:
        """Write results, and show them to others."""
        for alignments in results:
            writer.write(alignments)
            for one in see:
                one(alignments)
            del alignments  # or they would stay in memory while the next ones are waited for
            self.wrote(writer)

    def wrote(self, writer: Writer | None = None) -> None:
        """End a piece if it is time; all that the job has given so far was written."""

    def finish(self) -> None:
        """Make the result of the parts: a shard is one, others are merged to the file."""

    def remove(self) -> None:
        """Remove the parts: what was made of them is there."""
