"""What the commands make of their requests: outputs, sequences that are read, `Resources`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pairalign.alignments.problem import Problem
from pairalign.base.console import log, name_output
from pairalign.base.dry_run import is_dry_run
from pairalign.base.error_types import FormatError
from pairalign.formats.names import choose_format, format_by_suffix, suffixes_of
from pairalign.jobs.run.inputs import ProblemRequest, read_sets
from pairalign.requests.shared import CommandOptions, InputOptions, OutputOptions, ProblemOptions
from pairalign.scoring.scoring_request import ScoringRequest
from pairalign.sequences.input_rules import InputRules
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.formats import Writer
    from pairalign.jobs.report.report_option import ReportedCommand, RunReport

_Options = TypeVar("_Options", bound=OutputOptions)


def with_output(
    request: _Options,
    writers: Mapping[str, type[Writer]] | None = None,
    default: str | None = "",
) -> _Options:
    """Return a request with an output and, where `writers` or none has to be named, a format.

    Parameters
    ----------
    request : OutputOptions
        Of a command.
    writers : mapping of str to type, optional
        Of the formats of alignments that the end of a file's or a folder's name may mean.
    default : str or None
        The format of standard output, instead of that of the command.

    Raises
    ------
    FormatError
        There is no output, and standard output is a terminal; or the name tells no format.
    """
    output: str | None = request.writing.output
    if output is None:
        if not is_dry_run() and (sys.stdout is None or sys.stdout.isatty()):
            raise FormatError(
                "nowhere to write to: give -o OUT, or lead standard output to a file (-o - for "
                "the terminal)"
            )
        output = "-"
    in_parts, format = request.writing.shard is not None, request.writing.format
    if in_parts and output == "-":
        raise FormatError("--shard writes into a folder: give its name with -o")
    suffixes = {} if writers is None else suffixes_of(writers)
    if format is None and in_parts:
        format = format_by_suffix(output, suffixes)
    if format is None and (output == "-" or in_parts):
        format = request.STDOUT_FORMAT if default == "" else default
    if writers is not None:
        format = choose_format(output, format, suffixes, "alignments")
    writing = replace(request.writing, output=name_output(output), format=format)
    return replace(request, writing=writing)


def read_sequences(
    request: InputOptions, rules: InputRules | None = None
) -> tuple[SequenceSet, SequenceSet | None]:
    """Read the sequences of ``IN`` and ``IN2``.

    Raises
    ------
    FastaError, AlphabetError
        When a file cannot be read.
    """
    return read_sets(ProblemRequest(*files_of(request), rules or request.reading))


def problem_of(
    costs: ScoringRequest, queries: SequenceSet, targets: SequenceSet | None = None
) -> Problem:
    """Score sequences as the options say; warn once of residues that are scored as others.

    Raises
    ------
    ScoringError
        There is no such matrix, or costs are out of bounds.
    """
    problem = Problem(queries, targets, costs.scoring(queries.alphabet))
    if problem.replaced_message:
        log.warning("%s", problem.replaced_message)
    return problem


def read_problem(request: ProblemOptions, rules: InputRules | None = None) -> Problem:
    """Read what is to be aligned; warn once of residues that are scored as others.

    Raises
    ------
    FastaError, AlphabetError
        When a file cannot be read.
    ScoringError
        There is no such matrix, or costs are out of bounds.
    """
    return problem_of(request.scoring, *read_sequences(request, rules))


def files_of(request: CommandOptions) -> tuple[str, str | None]:
    """Return the names of ``IN`` and ``IN2``."""
    values = vars(request)
    return values["input"], values.get("input2")


def report_of(request: ReportedCommand, *inputs: str | None) -> RunReport | None:
    """Return the report of a command with ``--report``, if one is wanted.

    Parameters
    ----------
    inputs : str or None
        The files that the command reads, besides those of ``--also``.

    Raises
    ------
    FormatError, OutputError
        It cannot be made, or not be written.
    """
    if request.report is None:
        return None
    from pairalign.jobs.report.report_option import open_report

    return open_report(request, *inputs)
