"""A file of alignments checked, for use from Python: what was found, in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pairalign.base.declaration import takes
from pairalign.base.error_types import UsageError
from pairalign.base.notebooks import SHOWN, html_table
from pairalign.base.spelling import spelled
from pairalign.engines.selection import usable_cores
from pairalign.formats.names import check_ending
from pairalign.formats.output import open_output
from pairalign.jobs.run.inputs import (
    AnyScoring,
    ProblemArguments,
    Sequences,
    given_problem,
    read_problem,
)
from pairalign.jobs.run.memory import default_bytes, given_bytes
from pairalign.jobs.run.progress import Progress, show_progress
from pairalign.jobs.verify.verify import Totals, VerifyJob
from pairalign.requests.shared import ProblemOptions
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
        return f"<Verification: {len(self)} records, {self.totals.illegal} illegal>"

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
        check_ending(path, (".tsv", ".tab", ".txt"), "verdicts are written as TSV")
        with open_output(path) as output:
            output.write(("\t".join(self.columns) + "\n").encode() + self.table)


@takes(ProblemOptions)
def verify(
    alignments: str | os.PathLike[str],
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    read_as: str | None = None,
    columns: str | Iterable[str] = "",
    optimal: bool = False,
    ignore_scores: bool = False,
    illegal: bool = False,
    scoring: AnyScoring | None = None,
    mode: Literal["global", "semiglobal", "local"] | None = None,
    mask: Literal["none", "tantan", "seg"] = "none",
    mask_scores: bool = False,
    device: str = "auto",
    kernel: str | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress = False,
    **more: Unpack[ProblemArguments],
) -> Verification:
    """Check each alignment of a file against the sequences, and score it.

    Parameters
    ----------
    alignments : str or path
        Ours or another program's.
    sequences, targets
        The queries, and the targets if they are not among them; as for `pairalign.align`.
    read_as : str, optional
        The format; default: by the end of the name.
    columns : str or iterable of str
        Of a table without a header, such as blast6.
    optimal : bool
        Align the pairs, and say how far each record is from the optimum.
    ignore_scores : bool
        The file's scores are of another scoring: do not compare them.
    illegal : bool
        Keep only records that are illegal or, with `optimal`, not optimal.
    scoring, mode, mask, mask_scores, device, kernel, threads, memory, progress
        As for `pairalign.align`; without a mode, what the file says, or any.
    matrix, match, mismatch, gap_open, gap_extend
    free_ends, end_gap_open, end_gap_extend, ties
    alphabet, degap, also, on_empty, on_duplicate, names, locus
        As for `pairalign.align`.

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
    if mask_scores and mask == "none":
        raise UsageError(f"{spelled('mask_scores', True)} needs {spelled('mask')}")
    problem = read_problem(given_problem(sequences, targets, scoring, mode, more))
    if mask_scores:
        problem = mask_problem(problem, mask)
    ends = (more.get(name) for name in ("free_ends", "end_gap_open", "end_gap_extend"))
    has_mode = mode is not None or isinstance(scoring, Scoring) or any(ends)
    named = columns.replace(",", " ").split() if isinstance(columns, str) else columns
    given = given_bytes(memory)
    used = default_bytes() if given is None else given
    job = VerifyJob(
        os.fspath(alignments),
        problem.queries,
        problem.targets,
        problem.scoring,
        format=read_as,
        columns=tuple(named),
        mode=problem.scoring.mode if has_mode else None,
        scores=not ignore_scores,
        optimal=optimal,
        threads=usable_cores() if threads is None else threads,
        engine_options={"device": device, "kernel": kernel, "memory_bytes": used},
    )
    return _carry_out(job, illegal, progress)


def _carry_out(job: VerifyJob, illegal: bool, progress: Progress) -> Verification:
    said: list[str] = []
    lines = []
    with (
        job.open() as results,
        show_progress(job.reader.size, progress, "bytes", "checking") as meter,
    ):
        done = 0
        for checked in results:
            said += checked.messages(_MOST_MESSAGES - len(said))
            lines.append((checked.suspicious() if illegal else checked).lines(job.scoring))
            meter.update(job.reader.position - done)
            done = job.reader.position
    return Verification(
        job.totals, tuple(job.columns), b"".join(lines), tuple(said), tuple(job.not_checked)
    )
