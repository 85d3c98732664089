"""A file of alignments checked, for use from Python: what was found, in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pairalign.alignments.problem import Problem
from pairalign.base.arguments import as_several, path_text
from pairalign.base.choices import TABLE_ENDINGS
from pairalign.base.error_types import WrongTypeError
from pairalign.base.function_options import takes
from pairalign.base.notebooks import SHOWN, html_table
from pairalign.formats.names import check_ending, table_format
from pairalign.formats.output import open_table
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import AnyScoring, Sequences, read_problem
from pairalign.jobs.run.progress import Progress, show_progress
from pairalign.jobs.verify.verify import Totals, VerifyJob
from pairalign.jobs.verify.verify_request import VerifyArguments, VerifyOptions
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import Scoring
from pairalign.statistics.low_complexity import mask_problem

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MOST_MESSAGES = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Verification:
    """What was found of each record of a file of alignments.

    Attributes
    ----------
    totals : Totals
        Counts of records by what was found.
    columns : tuple of str
        Of the table.
    table : bytes
        A line a record, as ``pairalign verify`` writes it, without a header.
    messages : tuple of str
        What is wrong with the first 1,000 illegal records.
    not_checked : tuple of str
        Numbers of the file that were not checked.
    """

    totals: Totals
    columns: tuple[str, ...]
    table: bytes
    messages: tuple[str, ...]
    not_checked: tuple[str, ...]

    def __len__(self) -> int:
        return self.totals.records

    def __repr__(self) -> str:
        left_out = f", not checked: {', '.join(self.not_checked)}" if self.not_checked else ""
        return f"<Verification: {len(self)} records, {self.totals.illegal} illegal{left_out}>"

    @property
    def is_legal(self) -> bool:
        """Whether every record is."""
        return self.totals.illegal == 0

    def _repr_html_(self) -> str:
        """Show the first records, for notebooks."""
        lines = self.table.split(b"\n", SHOWN + 1)[:-1]
        return html_table(self, self.columns, (line.decode().split("\t") for line in lines))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table as TSV, as ``pairalign verify`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses.

        Raises
        ------
        FormatError, OutputError
            The name has another ending, or the disk is full.
        """
        check_ending(path, TABLE_ENDINGS, "verdicts are written as a table")
        with open_table(path, table_format(path)) as output:
            output.write(("\t".join(self.columns) + "\n").encode() + self.table)


@takes(VerifyArguments, VerifyOptions, but=("input", "input2"))
def verify(
    alignments: str | os.PathLike[str],
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    columns: str | Iterable[str] = "",
    scoring: AnyScoring | None = None,
    mode: Literal["global", "semiglobal", "local"] | None = None,
    progress: Progress = False,
    **options: Unpack[VerifyArguments],
) -> Verification:
    """Check each alignment of a file against the sequences, and score it.

    Parameters
    ----------
    alignments : str or path
        Ours or another program's.
    sequences, targets
        The queries, and the targets if they are not among them; as for `pairalign.align`.
    columns : str or iterable of str
        Of a table without a header, such as blast6.
    scoring, mode, progress
        As for `pairalign.align`; without a mode, what the file says, or any.

    Returns
    -------
    Verification

    Raises
    ------
    AlignmentFileError
        The file cannot be read at all.
    FastaError, AlphabetError, ScoringError, FormatError, CapacityError, DeviceError
        See `pairalign.errors`.
    """
    call = Call(verify, options, sequences, targets, scoring=scoring, mode=mode, progress=progress)
    named = as_several("columns", columns)
    if not all(isinstance(name, str) for name in named):
        raise WrongTypeError(f"columns {columns!r}: expected names of columns")
    path = path_text("alignments", alignments)
    request = call.request(
        VerifyOptions, mode=mode, alignments=path, input="", columns=",".join(named)
    )
    problem = read_problem(call.problem_request)
    has_mode = request.has_mode or isinstance(scoring, Scoring)
    return _carry_out(
        plan_verification(request, problem, call.resources, has_mode), request, progress
    )


def plan_verification(
    request: VerifyOptions, problem: Problem, resources: Resources, has_mode: bool
) -> VerifyJob:
    """Plan what is checked of the records of a file; `has_mode`: the mode is not any."""
    problem = mask_problem(problem, request.masking.of_scores)
    return VerifyJob(
        request.alignments,
        problem,
        format=request.read_as,
        columns=tuple(request.columns.replace(",", " ").split()),
        mode=problem.scoring.mode if has_mode else None,
        scores=not request.ignore_scores,
        optimal=request.optimal,
        resources=resources,
    )


def _carry_out(job: VerifyJob, request: VerifyOptions, progress: Progress) -> Verification:
    said: list[str] = []
    lines = []
    with (
        job.open() as results,
        show_progress(job.reader.size, progress, "bytes", "checking") as meter,
    ):
        done = 0
        for checked in results:
            said += checked.messages(_MOST_MESSAGES - len(said))
            lines.append((checked.suspicious() if request.illegal else checked).lines(job.scoring))
            meter.update(job.reader.position - done)
            done = job.reader.position
    return Verification(
        job.totals, tuple(job.columns), b"".join(lines), tuple(said), tuple(job.not_checked)
    )
