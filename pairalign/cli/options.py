"""What the subcommands of the command line share: options, and what is made of them.

A subcommand adds groups of options to its parser with `add_scoring`, `add_input` and
`add_resources`, and its function then turns the parsed options into sequences, a `Scoring` and a
`AlignmentJob` with `read_sequences`, `scoring_of` and `plan_run`.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeVar

from pairalign.arguments import parse_shard, parse_size
from pairalign.choices import MODES, TIES
from pairalign.cli.console import log
from pairalign.engines.kernels import AUTO, kernel_names
from pairalign.engines.selection import usable_cores
from pairalign.errors import FormatError, OutputError
from pairalign.formats.output import check_writable
from pairalign.jobs.align import AlignmentJob
from pairalign.jobs.memory import default_bytes
from pairalign.jobs.progress import Progress
from pairalign.pair_lists import PairList
from pairalign.scoring import Scoring, make_scoring
from pairalign.sequences import SequenceSet, read_fasta, read_fasta_pair
from pairalign.thresholds import raw_minimum
from pairalign.want import Detail, Want
from pairalign.windows import default_window

_Value = TypeVar("_Value")


# ---------------------------------------------------------------------------------------------
# Types of arguments, for argparse's `type`


def converter(convert: Callable[[str], _Value], expected: str) -> Callable[[str], _Value]:
    """Make a type for argparse whose message says what was expected.

    Parameters
    ----------
    convert : callable
        Makes the value of an argument's text; raises ValueError or ArithmeticError.
    expected : str
        What a right argument is, for the message: "a number".

    Returns
    -------
    callable
        For `type` of ``add_argument``.
    """

    def converted(text: str) -> _Value:
        try:
            return convert(text)
        except (ValueError, ArithmeticError):
            raise argparse.ArgumentTypeError(f"found '{text}', expected {expected}") from None

    return converted


def _parse_positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _parse_number(text: str) -> str:
    if not Decimal(text).is_finite():
        raise ValueError
    return text


def _parse_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < math.inf:
        raise ValueError
    return seconds


def _parse_path(text: str) -> str:
    if not text:
        raise ValueError
    return text


PATH = converter(_parse_path, "the name of a file")
POSITIVE = converter(_parse_positive, "a whole number of at least 1")
NUMBER = converter(_parse_number, "a number")
"""The text of a finite decimal number, which is kept as it is: costs are exact."""
_COMPLETE_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files"}
"""What shtab asks each shell for."""
SECONDS = converter(_parse_seconds, "a number of seconds, 0 or more")
SHARD = converter(parse_shard, "K/N with K from 1 to N, such as 3/64")
SIZE = converter(parse_size, "a number with K, M, G or T, such as 512M")


# ---------------------------------------------------------------------------------------------
# Groups of options


def add_path(parser: Any, *names: str, **options: Any) -> None:
    """Add an argument that is the name of a file, which shells complete.

    Parameters
    ----------
    parser : argparse.ArgumentParser, or a group of one
        Of a subcommand.
    *names, **options
        As for ``add_argument``, without ``type``.
    """
    action: Any = parser.add_argument(*names, type=PATH, **options)
    action.complete = _COMPLETE_FILES


def add_output(
    parser: argparse.ArgumentParser, formats: Iterable[str], default: str = "paf"
) -> None:
    """Add ``-o`` and ``--format``, which `choose_output` reads.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    formats : iterable of str
        Names of the formats.
    default : str
        The one for standard output.
    """
    parser.set_defaults(default_format=default)
    add_path(
        parser,
        "-o",
        "--output",
        metavar="OUT",
        help="file, or - for stdout, which is the default unless that is a terminal; .gz "
        "compresses",
    )
    parser.add_argument(
        "--format",
        choices=list(formats),
        help=f"default: by the ending of OUT's name; {default} for stdout",
    )


def add_sequences(parser: argparse.ArgumentParser, metavar: str = "IN") -> None:
    """Add the name of the file with the sequences.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    metavar : str
        What the help calls the file.
    """
    add_path(parser, "input", metavar=metavar, help="FASTA or FASTQ, .gz or not; - is stdin")


def add_scoring(parser: argparse.ArgumentParser, mode: str = "global") -> None:
    """Add the options that `scoring_of` reads.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    mode : str
        The default of ``--mode``.
    """
    group = parser.add_argument_group(
        "scoring", "default: BLOSUM62 and gaps 11/1 for proteins, 2/-3 and gaps 5/2 for DNA"
    )
    group.add_argument("--mode", choices=MODES, default=mode, help="default: %(default)s")
    group.add_argument(
        "--matrix",
        metavar="NAME|FILE",
        help="substitution matrix: Biopython's name, or NCBI format",
    )
    add_costs(group)
    group.add_argument(
        "--free-ends",
        metavar="END,...",
        help="letters that may be left out for nothing: query-start, query-end, target-start, "
        "target-end",
    )
    group.add_argument(
        "--end-gap-open", metavar="X", help="cost of the first letter of a gap at another end"
    )
    group.add_argument("--end-gap-extend", metavar="X", help="cost of each further letter there")
    group.add_argument(
        "--ties",
        choices=TIES,
        default=TIES[0],
        help="which of equally good alignments is taken: vsearch's where end gaps cost less than "
        "others, on the CPU (usual)",
    )


def add_costs(group: argparse._ArgumentGroup) -> None:
    """Add the scores of letters and the costs of gaps.

    Parameters
    ----------
    group : argparse._ArgumentGroup
        What `add_argument_group` of a subcommand's parser returned.
    """
    group.add_argument("--match", metavar="N", help="score of equal letters")
    group.add_argument("--mismatch", metavar="N", help="score of different letters, such as -3")
    group.add_argument("--gap-open", metavar="X", help="cost of a gap's first letter")
    group.add_argument("--gap-extend", metavar="X", help="cost of each further letter")


def add_input(parser: argparse.ArgumentParser) -> None:
    """Add the options that `read_sequences` reads beside the names of the files.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    """
    group = parser.add_argument_group("input")
    group.add_argument(
        "--alphabet", choices=("auto", "dna", "protein"), default="auto", help="default: guessed"
    )
    group.add_argument(
        "--degap", action="store_true", help="drop - and . from the sequences (aligned FASTA)"
    )


def add_resources(parser: argparse.ArgumentParser) -> None:
    """Add what may be used for the work: devices, kernels, threads, memory; and ``--quiet``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    """
    group = parser.add_argument_group("resources")
    group.add_argument("--device", metavar="auto|cpu|cuda[:0,1]|opencl[:0,1]", default="auto")
    group.add_argument(
        "--kernel",
        metavar="auto|NAME",
        choices=kernel_names(),
        default=AUTO,
        help="the way to align, see: pairalign devices --kernels (default: %(default)s)",
    )
    group.add_argument("-t", "--threads", metavar="N", type=POSITIVE, help="default: all cores")
    group.add_argument(
        "--memory",
        metavar="SIZE",
        type=SIZE,
        help="what may be held in memory, such as 4G; default: half of what is free",
    )
    loudness = group.add_mutually_exclusive_group()
    loudness.add_argument(
        "-q", "--quiet", action="store_true", help="no progress, no summary, no warnings"
    )
    loudness.add_argument(
        "--progress",
        action="store_true",
        help="a line every 30 s on how far it is, as in a log, also on a terminal instead of a bar",
    )


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Add ``--shard``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    """
    group = parser.add_argument_group("in parts")
    group.add_argument(
        "--shard",
        metavar="K/N",
        type=SHARD,
        help="do the K-th of N parts, which take about the same time, and write it into the "
        "folder OUT; see: pairalign merge",
    )


# ---------------------------------------------------------------------------------------------
# What is made of the options


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


def check_output(output: str, *inputs: str | None) -> None:
    """Refuse what cannot be written, and to replace a file that is read, before any work.

    Parameters
    ----------
    output : str
        The path of a file to write, or ``-``.
    *inputs : str or None
        Paths that are read; names that are no files (a matrix's, ``-``) do no harm.

    Raises
    ------
    OutputError
        When the output is one of the inputs, or cannot be written.
    """
    for path in inputs:
        # Not devices: /dev/stdin and /dev/stdout may well be one terminal.
        if path is None or not (os.path.isfile(path) and os.path.exists(output)):
            continue
        if os.path.samefile(path, output):
            raise OutputError(f"'{output}' is an input; choose another output")
    check_writable(output)


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
    if options.input2 is None:
        return read_fasta(options.input, alphabet=alphabet, degap=options.degap), None
    return read_fasta_pair(options.input, options.input2, alphabet=alphabet, degap=options.degap)


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
    return make_scoring(
        queries.alphabet,
        mode=options.mode,
        matrix=options.matrix,
        match=options.match,
        mismatch=options.mismatch,
        gap_open=options.gap_open,
        gap_extend=options.gap_extend,
        free_ends=options.free_ends,
        end_gap_open=options.end_gap_open,
        end_gap_extend=options.end_gap_extend,
        ties=options.ties,
    )


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
    return "lines" if options.progress else not options.quiet


def plan_run(
    options: argparse.Namespace,
    queries: SequenceSet,
    targets: SequenceSet | None,
    scoring: Scoring,
    detail: Detail,
    memory_bytes: int | None = None,
    pair_list: PairList | None = None,
) -> AlignmentJob:
    """Plan the alignment of all pairs with what `add_resources` added.

    Parameters
    ----------
    options : argparse.Namespace
        With `min_score` and `window` (or None) besides; `shard` and `top` count.
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

    Returns
    -------
    AlignmentJob
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
    return AlignmentJob(
        queries,
        targets,
        scoring,
        Want(detail, raw_minimum(options.min_score, scoring)),
        device=options.device,
        threads=options.threads or usable_cores(),
        window=options.window or default_window(pair_list is not None),
        memory_bytes=memory_bytes or options.memory or default_bytes(),
        progress=progress_of(options),
        kernel=options.kernel,
        pair_list=pair_list,
        shard=getattr(options, "shard", None),
        top=getattr(options, "top", 1),
    )
