"""The command line: ``pairalign align`` and ``pairalign devices``.

Exit codes: 0 done, 1 failed, 2 wrong usage. Messages go to stderr, results to files or stdout.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from pairalign import __version__
from pairalign.engines import Detail, Want
from pairalign.engines.selection import list_devices
from pairalign.errors import PairalignError
from pairalign.formats import FORMATS, FormatError, find_format, open_writer
from pairalign.memory import parse_size
from pairalign.pairwise import Run, raw_minimum
from pairalign.scoring import MODES, Scoring, make_scoring
from pairalign.sequences import SequenceSet, read_fasta, read_fasta_pair
from pairalign.summary import Summary
from pairalign.windows import DEFAULT_WINDOW

DONE, FAILED, WRONG_USAGE = 0, 1, 2


class _Terminated(KeyboardInterrupt):
    """SIGTERM: leaves the program the way Ctrl-C does, so that nothing half-written remains."""


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
    logging.basicConfig(format="pairalign: %(message)s", stream=sys.stderr, level=logging.INFO)
    options = _parser().parse_args(arguments)
    if getattr(options, "quiet", False):
        logging.getLogger().setLevel(logging.WARNING)
    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        options.run(options)
    except FormatError as error:
        return _fail(error, WRONG_USAGE)
    except BrokenPipeError:
        # The reader of stdout has gone; what Python still holds for it must not raise at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (PairalignError, OSError, MemoryError) as error:
        return _fail(error, FAILED)
    except KeyboardInterrupt as error:
        stopped = "terminated" if isinstance(error, _Terminated) else "interrupted"
        return _fail(f"{stopped}; no output was left behind", FAILED)
    finally:
        signal.signal(signal.SIGTERM, previous)
    return DONE


def _terminate(signum: int, frame: FrameType | None) -> NoReturn:
    raise _Terminated


def _fail(message: object, code: int) -> int:
    print(f"pairalign: error: {message or type(message).__name__}", file=sys.stderr)
    return code


# ---------------------------------------------------------------------------------------------
# Arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pairalign",
        description="Exact alignment of every pair in a set of sequences, with the alignment itself.",
    )
    parser.add_argument("--version", action="version", version=f"pairalign {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_align(commands)
    _add_devices(commands)
    return parser


def _add_align(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "align",
        help="align every pair of a set, or of one set against another",
        description="Align every pair of the sequences of IN, or every sequence of IN with every one "
        "of IN2.",
        epilog="A gap of length k costs gap-open + (k-1) * gap-extend, so BLAST's 11/1 is 12/1 here.",
    )
    parser.set_defaults(run=_align)
    parser.add_argument("input", metavar="IN", help="FASTA or FASTQ, .gz or not; - is stdin")
    parser.add_argument("input2", metavar="IN2", nargs="?", help="second set")
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="file, or - for stdout"
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
        help="rows and columns of the windows of the pair matrix, which set the order of the output "
        "(default %(default)s)",
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
    group.add_argument("--threads", metavar="N", type=_positive, help="default: all cores")
    group.add_argument(
        "--memory", metavar="SIZE", type=_size, help="such as 4G; default: half of what is free"
    )
    group.add_argument("--quiet", action="store_true", help="no progress, no summary, no warnings")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected at least 1")
    return number


def _number(text: str) -> str:
    float(text)
    return text


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


# ---------------------------------------------------------------------------------------------
# Commands


def _align(options: argparse.Namespace) -> None:
    detail = Detail.SCORE if options.score_only else Detail.CIGAR
    find_format(options.output, options.format)  # wrong usage is said before anything is read
    queries, targets = _read(options)
    scoring = _scoring(options, queries)
    _warn_of_letters(scoring, queries, targets)
    run = _plan(options, queries, targets, scoring, detail)
    summary = Summary(queries, targets, run.cells)
    started = time.perf_counter()
    with open_writer(
        options.output,
        options.format,
        queries,
        queries if targets is None else targets,
        scoring,
        detail,
        threads=run.threads,
    ) as writer:
        for alignments in run:
            writer.write(alignments)
            summary.add(alignments)
    if not options.quiet:
        print(summary.text(time.perf_counter() - started, options.output), file=sys.stderr)


def _devices(options: argparse.Namespace) -> None:
    for device in list_devices():
        print(f"{device.name:8} {'yes' if device.usable else 'no':4} {device.description}")


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
        logging.getLogger("pairalign").info("warning: %s", message)


def _plan(
    options: argparse.Namespace,
    queries: SequenceSet,
    targets: SequenceSet | None,
    scoring: Scoring,
    detail: Detail,
) -> Run:
    run = Run(
        queries,
        targets,
        scoring,
        Want(detail, raw_minimum(options.min_score, scoring)),
        device=options.device,
        window=options.window,
        progress=not options.quiet,
    )
    if options.threads is not None:
        run.threads = options.threads
    if options.memory is not None:
        run.memory_bytes = options.memory
    return run
