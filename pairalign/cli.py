"""The command line: ``pairalign align`` and ``pairalign devices``.

Exit codes: 0 done, 1 failed, 2 wrong usage. Messages go to stderr, results to files or stdout.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TypeVar

from pairalign import __version__
from pairalign.console import give_up_stdout, log, messages, say, stop_signals
from pairalign.engines import Detail, Want
from pairalign.engines.selection import list_devices, usable_cores
from pairalign.errors import FormatError, OutputError, PairalignError
from pairalign.formats import FORMATS, find_format, open_writer
from pairalign.memory import default_bytes, parse_size
from pairalign.pairwise import Run, raw_minimum
from pairalign.scoring import MODES, Scoring, make_scoring
from pairalign.sequences import SequenceSet, read_fasta, read_fasta_pair
from pairalign.summary import Summary
from pairalign.windows import DEFAULT_WINDOW

DONE, FAILED, WRONG_USAGE = 0, 1, 2
_Value = TypeVar("_Value")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: ``sys.argv[1:]``.

    Returns
    -------
    int
        The exit code.
    """
    options = _parser().parse_args(arguments)
    with messages(quiet=getattr(options, "quiet", False)), stop_signals():
        try:
            options.run(options)
            if sys.stdout is not None:
                sys.stdout.flush()
        except FormatError as error:
            return _fail(error, WRONG_USAGE)
        except (PairalignError, OSError, MemoryError) as error:
            give_up_stdout()
            if getattr(error, "errno", None) == errno.EPIPE and _output(options) == "-":
                return FAILED  # the reader has what it wanted
            return _fail(error, FAILED)
        except KeyboardInterrupt as error:
            give_up_stdout()
            output = _output(options)
            unwritten = "" if output == "-" else f"; '{output}' was not written"
            return _fail(f"{error}{unwritten}", FAILED)
    return DONE


def _fail(message: object, code: int) -> int:
    say(f"pairalign: error: {message or type(message).__name__}")
    return code


# ---------------------------------------------------------------------------------------------
# Arguments


def _parser() -> argparse.ArgumentParser:
    from pairalign import cli_trees  # which takes much from here

    parser = argparse.ArgumentParser(
        prog="pairalign",
        description="Exact alignment of every pair in a set of sequences.",
    )
    parser.add_argument("--version", action="version", version=f"pairalign {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_align(commands)
    cli_trees.add_commands(commands)
    _add_devices(commands)
    return parser


def _add_align(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "align",
        help="align every pair of a set, or of one set against another",
        description="Align every pair of the sequences of IN, or every sequence of IN with every "
        "one of IN2.",
        epilog="A gap of k letters costs gap-open + (k-1) * gap-extend: BLAST's 11/1 is 12/1 here.",
    )
    parser.set_defaults(run=_align)
    parser.add_argument(
        "input", metavar="IN", type=_path, help="FASTA or FASTQ, .gz or not; - is stdin"
    )
    parser.add_argument("input2", metavar="IN2", type=_path, nargs="?", help="second set")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=_path,
        required=True,
        help="file, or - for stdout; .gz compresses",
    )
    parser.add_argument(
        "--format", choices=list(FORMATS), help="default: by the ending of OUT's name"
    )
    _add_scoring(parser)
    results = parser.add_argument_group("results")
    results.add_argument("--min-score", metavar="N", type=_number, help="leave out lower scores")
    results.add_argument("--score-only", action="store_true", help="scores without alignments")
    results.add_argument(
        "--window",
        metavar="N",
        type=_positive,
        default=DEFAULT_WINDOW,
        help="rows and columns of the windows of the pair matrix, which set the order of the "
        "output (default %(default)s)",
    )
    _add_input(parser)
    _add_resources(parser)


def _add_devices(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("devices", help="list what pairalign can run on here")
    parser.set_defaults(run=_devices)


def _add_scoring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "scoring", "default: BLOSUM62 and gaps 11/1 for proteins, 2/-3 and gaps 5/2 for DNA"
    )
    group.add_argument("--mode", choices=MODES, default="global", help="default: %(default)s")
    group.add_argument(
        "--matrix",
        metavar="NAME|FILE",
        help="substitution matrix: Biopython's name, or NCBI format",
    )
    group.add_argument("--match", metavar="N", help="score of equal letters")
    group.add_argument("--mismatch", metavar="N", help="score of different letters, such as -3")
    group.add_argument("--gap-open", metavar="X", help="cost of a gap's first letter")
    group.add_argument("--gap-extend", metavar="X", help="cost of each further letter")


def _add_input(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input")
    group.add_argument(
        "--alphabet", choices=("auto", "dna", "protein"), default="auto", help="default: guessed"
    )
    group.add_argument(
        "--degap", action="store_true", help="drop - and . from the sequences (aligned FASTA)"
    )


def _add_resources(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("resources")
    group.add_argument("--device", metavar="auto|cpu|cuda[:0,1]", default="auto")
    group.add_argument(
        "--kernel",
        metavar="NAME",
        help="GPU kernels: packed (the default where it can) or pair-per-thread (gpu-pairAlign)",
    )
    group.add_argument("--threads", metavar="N", type=_positive, help="default: all cores")
    group.add_argument(
        "--memory", metavar="SIZE", type=_size, help="such as 4G; default: half of what is free"
    )
    group.add_argument("--quiet", action="store_true", help="no progress, no summary, no warnings")


def _converter(convert: Callable[[str], _Value], expected: str) -> Callable[[str], _Value]:
    """Make a type for argparse whose message says what was expected."""

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


def _parse_path(text: str) -> str:
    if not text:
        raise ValueError
    return text


_path = _converter(_parse_path, "the name of a file")
_positive = _converter(_parse_positive, "a whole number of at least 1")
_number = _converter(_parse_number, "a number")
_size = _converter(parse_size, "a number with K, M, G or T, such as 512M")


# ---------------------------------------------------------------------------------------------
# Commands


def _align(options: argparse.Namespace) -> None:
    detail = Detail.SCORE if options.score_only else Detail.CIGAR
    find_format(options.output, options.format)  # wrong usage is said before anything is read
    _check_output(options)
    queries, targets = _read(options)
    scoring = _scoring(options, queries)
    _warn_of_letters(scoring, queries, targets)
    run = _plan(options, queries, targets, scoring, detail)
    summary = Summary(
        queries, targets, scoring, pairs=run.pairs, cells=run.cells, min_score=options.min_score
    )
    started = time.perf_counter()
    with (
        run.open() as results,
        open_writer(
            options.output,
            options.format,
            queries,
            queries if targets is None else targets,
            scoring,
            detail,
            threads=run.threads,
        ) as writer,
    ):
        for alignments in results:
            writer.write(alignments)
            summary.add(alignments)
            del alignments  # or they would stay in memory while the next ones are waited for
    if not options.quiet:
        say(summary.text(time.perf_counter() - started, options.output))


def _devices(options: argparse.Namespace) -> None:
    for device in list_devices():
        print(f"{device.name:8} {'yes' if device.usable else 'no':4} {device.description}")


def _output(options: argparse.Namespace) -> str:
    output: str = getattr(options, "output", "-")
    return output


def _check_output(options: argparse.Namespace) -> None:
    """Refuse to replace a file that is read."""
    for path in (options.input, options.input2, options.matrix):
        # Not devices: /dev/stdin and /dev/stdout may well be one terminal.
        if path is None or not (os.path.isfile(path) and os.path.exists(options.output)):
            continue
        if os.path.samefile(path, options.output):
            raise OutputError(f"'{options.output}' is an input; choose another output")


def _read(options: argparse.Namespace) -> tuple[SequenceSet, SequenceSet | None]:
    alphabet = None if options.alphabet == "auto" else options.alphabet
    if options.input2 is None:
        return read_fasta(options.input, alphabet=alphabet, degap=options.degap), None
    return read_fasta_pair(options.input, options.input2, alphabet=alphabet, degap=options.degap)


def _scoring(options: argparse.Namespace, queries: SequenceSet) -> Scoring:
    return make_scoring(
        queries.alphabet,
        mode=options.mode,
        matrix=options.matrix,
        match=options.match,
        mismatch=options.mismatch,
        gap_open=options.gap_open,
        gap_extend=options.gap_extend,
    )


def _warn_of_letters(scoring: Scoring, queries: SequenceSet, targets: SequenceSet | None) -> None:
    message = scoring.replaced_message(*(s for s in (queries, targets) if s is not None))
    if message:
        log.warning("%s", message)


def _plan(
    options: argparse.Namespace,
    queries: SequenceSet,
    targets: SequenceSet | None,
    scoring: Scoring,
    detail: Detail,
) -> Run:
    return Run(
        queries,
        targets,
        scoring,
        Want(detail, raw_minimum(options.min_score, scoring)),
        device=options.device,
        threads=options.threads or usable_cores(),
        window=options.window,
        memory_bytes=options.memory or default_bytes(),
        progress=not options.quiet,
        kernel=options.kernel,
    )
