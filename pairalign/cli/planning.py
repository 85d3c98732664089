"""What the commands make of their parsed options: a `Problem`, thresholds, `Resources`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pairalign.alignments.problem import Problem
from pairalign.base.choices import NAMES
from pairalign.base.errors import FormatError
from pairalign.cli.console import log, name_output
from pairalign.cli.loading import no_collection
from pairalign.formats.names import format_by_suffix, suffixes_of
from pairalign.jobs.run import inputs
from pairalign.jobs.run.inputs import ProblemRequest, read_sets
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.resources import Resources
from pairalign.scoring.request import ScoringRequest
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.tidying import InputRules

if TYPE_CHECKING:
    from pairalign.formats import Writer

_Asked = TypeVar("_Asked")


def with_output(
    asked: _Asked,
    writers: Mapping[str, type[Writer]] | None = None,
    default: str | None = "",
) -> _Asked:
    """Return a request with an output and, for standard output or parts, a format.

    Parameters
    ----------
    asked : Asked
        Of a command with an output.
    writers : mapping of str to type, optional
        Of formats that the end of a folder's name may mean, with ``--shard``.
    default : str or None
        The format of standard output, instead of that of the command.

    Raises
    ------
    FormatError
        There is no output, and standard output is a terminal.
    """
    given: Any = asked
    if default == "":
        default = given.STDOUT_FORMAT
    output, format = _find_output(given, writers, default)
    more = {"format": format} if hasattr(given, "format") else {}
    chosen: _Asked = replace(given, output=name_output(output), **more)
    return chosen


def _find_output(
    options: Any, writers: Mapping[str, type[Writer]] | None, default: str | None
) -> tuple[str, str | None]:
    output, format = options.output, getattr(options, "format", None)
    if output is None:
        if sys.stdout is None or sys.stdout.isatty():
            raise FormatError(
                "nowhere to write to: give -o OUT, or lead standard output to a file (-o - for "
                "the terminal)"
            )
        output = "-"
    in_parts = getattr(options, "shard", None) is not None
    if in_parts and output == "-":
        raise FormatError("--shard writes into a folder: give its name with -o")
    if format is None and in_parts and writers is not None:
        format = format_by_suffix(output, suffixes_of(writers))
    if format is None and (output == "-" or in_parts):
        format = default
    return output, format


def sequences_request(
    options: Any,
    rules: InputRules | None = None,
    input: str | None = None,
    input2: str | None = None,
) -> ProblemRequest:
    """Return what the options say of the sequences; `rules` and files: instead of theirs."""
    return ProblemRequest(
        input or options.input,
        input2 or getattr(options, "input2", None),
        alphabet=_alphabet_of(options),
        also=tuple(options.also),
        rules=rules or rules_of(options),
    )


def problem_request(options: Any, *, qualities: bool = False) -> ProblemRequest:
    """Return what the options say of the sequences, and of how they are scored.

    With `qualities` those of FASTQ are kept.
    """
    rules = replace(rules_of(options), qualities=qualities)
    return replace(sequences_request(options, rules), scoring=scoring_request(options))


def read_sequences(
    options: Any, rules: InputRules | None = None
) -> tuple[SequenceSet, SequenceSet | None]:
    """Read the sequences, see `sequences_request`.

    Raises
    ------
    FastaError, AlphabetError
        When a file cannot be read.
    """
    return read_sets_of(sequences_request(options, rules))


def read_sets_of(request: ProblemRequest) -> tuple[SequenceSet, SequenceSet | None]:
    """Read the sequences of a request; see `read_sequences`."""
    with no_collection():
        return read_sets(request)


def rules_of(options: Any) -> InputRules:
    """Return what the options of `add_input` say about unusual records."""
    names = options.names if options.names in NAMES else NAMES[0]  # tree: a file
    return InputRules(options.degap, options.on_empty, options.on_duplicate, names=names)


def problem_of(options: Any, queries: SequenceSet, targets: SequenceSet | None = None) -> Problem:
    """Score sequences as the options say; warn once of residues that are scored as others.

    Raises
    ------
    ScoringError
        There is no such matrix, or costs are out of bounds.
    """
    problem = Problem(queries, targets, scoring_request(options).scoring(queries.alphabet))
    _warn_of_replaced(problem)
    return problem


def read_problem(options: Any) -> Problem:
    """Read what is to be aligned, see `problem_request`."""
    return read_asked(problem_request(options))


def read_asked(request: ProblemRequest) -> Problem:
    """Read what is to be aligned; warn once of residues that are scored as others.

    Raises
    ------
    FastaError, AlphabetError
        When a file cannot be read.
    ScoringError
        There is no such matrix, or costs are out of bounds.
    """
    with no_collection():
        problem = inputs.read_problem(request)
    _warn_of_replaced(problem)
    return problem


def _warn_of_replaced(problem: Problem) -> None:
    message = problem.replaced_message
    if message:
        log.warning("%s", message)


def scoring_request(options: Any) -> ScoringRequest:
    """Return what the options of `add_scoring` ask for; not each command has all of them."""
    names = [one.name for one in fields(ScoringRequest) if hasattr(options, one.name)]
    asked = {name: getattr(options, name) for name in names}
    return ScoringRequest(**{**asked, "mode": options.mode or "global"})


def check_scoring(options: Any) -> None:
    """Refuse scores and costs that make no sense for any sequences, before these are read."""
    scoring_request(options).check(_alphabet_of(options))


def _alphabet_of(options: Any) -> str | None:
    return None if options.alphabet == "auto" else options.alphabet


def progress_of(options: Any) -> Progress:
    """Return how progress is to be shown, of ``--quiet`` and ``--progress``."""
    if getattr(options, "progress", False):
        return "lines"
    # A bar would stand between the results.
    results_are_seen = options.output == "-" and sys.stdout is not None and sys.stdout.isatty()
    return not (options.quiet or results_are_seen)


def result_seconds(options: Any) -> float | None:
    """Return the interval at which results must come: the commit interval of ``--resume``."""
    seconds: float | None = options.commit_every if getattr(options, "resume", False) else None
    return seconds


def resources_of(options: Any) -> Resources:
    """Return what `add_resources` or `add_core_resources` has added."""
    return Resources(
        getattr(options, "device", "auto"),
        getattr(options, "kernel", None),
        options.threads,
        options.memory,
        progress_of(options),
    )
