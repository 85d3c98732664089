"""What the commands make of their parsed options: sequences, a `Scoring`, an `AlignmentPlan`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pairalign.base.choices import STRANDS
from pairalign.cli.console import log
from pairalign.cli.loading import no_collection
from pairalign.errors import FormatError, ScoringError
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.request import AlignmentPlan, AlignRequest, plan_alignment
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.sets import SequenceSet, read_fasta, read_fasta_pair

_Choice = TypeVar("_Choice")


def choose_output(options: argparse.Namespace) -> None:
    """Set the output and, for standard output, the format where they were not given.

    Parameters
    ----------
    options : argparse.Namespace
        With what `add_output` added.

    Raises
    ------
    FormatError
        There is no output, and standard output is a terminal.
    """
    if options.output is None:
        if sys.stdout is None or sys.stdout.isatty():
            raise FormatError(
                "nowhere to write to: give -o OUT, or lead standard output to a file (-o - for "
                "the terminal)"
            )
        options.output = "-"
    in_parts = getattr(options, "shard", None) is not None
    if in_parts and options.output == "-":
        raise FormatError("--shard writes into a folder: give its name with -o")
    if (options.output == "-" or in_parts) and options.format is None:
        options.format = options.default_format


def read_sequences(options: argparse.Namespace) -> tuple[SequenceSet, SequenceSet | None]:
    """Read ``options.input``, and ``options.input2`` if there is one.

    Parameters
    ----------
    options : argparse.Namespace
        With `input`, `input2` (or None) and what `add_input` added.

    Returns
    -------
    queries : SequenceSet
    targets : SequenceSet or None

    Raises
    ------
    FastaError, AlphabetError
        When a file cannot be read.
    """
    alphabet = None if options.alphabet == "auto" else options.alphabet
    with no_collection():
        if options.input2 is None:
            return read_fasta(options.input, alphabet=alphabet, degap=options.degap), None
        first, second = options.input, options.input2
        return read_fasta_pair(first, second, alphabet=alphabet, degap=options.degap)


_COSTS = (
    *("matrix", "match", "mismatch", "gap_open", "gap_extend"),
    *("free_ends", "end_gap_open", "end_gap_extend", "ties"),
)
"""Options that decide the scoring besides the mode; not each command has all of them."""


def _given_costs(options: argparse.Namespace) -> dict[str, Any]:
    costs = {name: getattr(options, name) for name in _COSTS if hasattr(options, name)}
    return {"mode": options.mode or "global", **costs}


def check_scoring(options: argparse.Namespace) -> None:
    """Refuse scores and costs that make no sense for any sequences, before these are read.

    Parameters
    ----------
    options : argparse.Namespace
        What `scoring_of` reads.

    Raises
    ------
    ScoringError
        See `scoring_of`.
    """
    costs = _given_costs(options)
    alphabets = ("dna", "protein") if options.alphabet == "auto" else (options.alphabet,)
    matrix = options.matrix
    if matrix is not None:
        alphabets = alphabets[::-1]  # most are for proteins: what is said of those counts
        if os.path.exists(matrix) and not (os.path.isfile(matrix) or os.path.isdir(matrix)):
            costs["matrix"] = None  # a pipe can be read once
    check_any(alphabets, lambda alphabet: make_scoring(alphabet, **costs))


def check_any(choices: Iterable[_Choice], scoring_of: Callable[[_Choice], Scoring]) -> None:
    """Check that a scoring can be made for at least one choice.

    Parameters
    ----------
    choices : iterable
        Alphabets, presets or the like.
    scoring_of : callable
        Makes the scoring of a choice.

    Raises
    ------
    ScoringError
        That of the first choice, if there is one of each.
    """
    errors = []
    for choice in choices:
        try:
            scoring_of(choice)
        except ScoringError as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def scoring_of(options: argparse.Namespace, queries: SequenceSet) -> Scoring:
    """Make the scoring that the options of `add_scoring` say.

    Parameters
    ----------
    options : argparse.Namespace
    queries : SequenceSet
        Its alphabet chooses the defaults.

    Returns
    -------
    Scoring

    Raises
    ------
    ScoringError
        When there is no such matrix, or costs are out of bounds.
    """
    return make_scoring(queries.alphabet, **_given_costs(options))


def warn_of_letters(scoring: Scoring, *sets: SequenceSet | None) -> None:
    """Warn once of letters that are scored as others, with counts.

    Parameters
    ----------
    scoring : Scoring
    *sets : SequenceSet or None
    """
    message = scoring.replaced_message(*(one for one in sets if one is not None))
    if message:
        log.warning("%s", message)


def progress_of(options: argparse.Namespace) -> Progress:
    """Return how progress is to be shown, of ``--quiet`` and ``--progress``."""
    if options.progress:
        return "lines"
    # A bar would stand between the results.
    results_are_seen = options.output == "-" and sys.stdout is not None and sys.stdout.isatty()
    return not (options.quiet or results_are_seen)


def result_seconds(options: argparse.Namespace) -> float | None:
    """Return how often some results must come: as often as ``--resume`` commits them."""
    seconds: float | None = options.commit_every if getattr(options, "resume", False) else None
    return seconds


def plan_run(
    options: argparse.Namespace,
    queries: SequenceSet,
    targets: SequenceSet | None,
    scoring: Scoring,
    detail: Detail,
    memory_bytes: int | None = None,
    pair_list: PairList | None = None,
    **more: Any,
) -> AlignmentPlan:
    """Plan the alignment of all pairs with what `add_resources` added.

    Parameters
    ----------
    options : argparse.Namespace
        With `min_score` and `window` (or None) besides; `shard` and `hsps` count.
    queries : SequenceSet
    targets : SequenceSet or None
        None: every pair of `queries`.
    scoring : Scoring
    detail : Detail
        How much is wanted of each pair.
    memory_bytes : int, optional
        What aligning may use where results are kept besides; default: all that ``--memory`` says.
    pair_list : PairList, optional
        The only pairs to align.
    **more
        What else an `AlignRequest` has.

    Returns
    -------
    AlignmentPlan
        Not begun yet: nothing is aligned before it is opened.

    Raises
    ------
    FastaError
        There is no pair.
    AlphabetError, ScoringError
        The sequences cannot be scored, or their scores would not fit.
    PairListError
        `pair_list` has a pair twice, or a sequence with itself.
    """
    asked = AlignRequest(
        detail=detail,
        min_score=options.min_score,
        device=options.device,
        threads=options.threads,
        window=options.window,
        memory_bytes=memory_bytes or options.memory,
        progress=progress_of(options),
        kernel=options.kernel,
        pair_list=pair_list,
        shard=getattr(options, "shard", None),
        hsps=getattr(options, "hsps", 1),
        strand=getattr(options, "strand", STRANDS[0]),
        result_seconds=result_seconds(options),
        **more,
    )
    return plan_alignment(asked, queries, targets, scoring)
