"""The command line: ``pairalign align`` and ``pairalign devices``.

Exit codes: 0 done, 1 failed, 2 wrong usage. Messages go to stderr, results to files or stdout.
"""

from __future__ import annotations

import argparse
import errno
import sys
import time
from collections.abc import Sequence

from pairalign import __version__
from pairalign.cli import overlaps as cli_overlaps
from pairalign.cli import trees as cli_trees
from pairalign.cli.console import give_up_stdout, messages, say, stop_signals
from pairalign.cli.options import (
    NUMBER,
    PATH,
    POSITIVE,
    add_input,
    add_output,
    add_resources,
    add_scoring,
    add_sequences,
    check_output,
    plan_run,
    read_sequences,
    scoring_of,
    warn_of_letters,
)
from pairalign.cli.summary import Summary
from pairalign.engines.kernels import kernel_table
from pairalign.engines.selection import list_devices
from pairalign.errors import FormatError, PairalignError
from pairalign.formats import FORMATS, find_format, open_writer
from pairalign.want import Detail
from pairalign.windows import DEFAULT_WINDOW

DONE, FAILED, WRONG_USAGE = 0, 1, 2


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
    parser = argparse.ArgumentParser(
        prog="pairalign",
        description="Exact alignment of every pair in a set of sequences.",
    )
    parser.add_argument("--version", action="version", version=f"pairalign {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_align(commands)
    cli_trees.add_commands(commands)
    cli_overlaps.add_commands(commands)
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
    add_sequences(parser)
    parser.add_argument("input2", metavar="IN2", type=PATH, nargs="?", help="second set")
    add_output(parser, FORMATS)
    add_scoring(parser)
    results = parser.add_argument_group("results")
    results.add_argument("--min-score", metavar="N", type=NUMBER, help="leave out lower scores")
    results.add_argument("--score-only", action="store_true", help="scores without alignments")
    results.add_argument(
        "--window",
        metavar="N",
        type=POSITIVE,
        default=DEFAULT_WINDOW,
        help="rows and columns of the windows of the pair matrix, which set the order of the "
        "output (default %(default)s)",
    )
    add_input(parser)
    add_resources(parser)


def _add_devices(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("devices", help="list what pairalign can run on here")
    parser.add_argument(
        "--kernels", action="store_true", help="list the kernels and what each can do instead"
    )
    parser.set_defaults(run=_devices)


# ---------------------------------------------------------------------------------------------
# Commands


def _align(options: argparse.Namespace) -> None:
    detail = Detail.SCORE if options.score_only else Detail.CIGAR
    find_format(options.output, options.format)  # wrong usage is said before anything is read
    check_output(options.output, options.input, options.input2, options.matrix)
    queries, targets = read_sequences(options)
    scoring = scoring_of(options, queries)
    warn_of_letters(scoring, queries, targets)
    run = plan_run(options, queries, targets, scoring, detail)
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
    if options.kernels:
        print(*kernel_table(), sep="\n")
        return
    for device in list_devices():
        print(f"{device.name:8} {'yes' if device.usable else 'no':4} {device.description}")


def _output(options: argparse.Namespace) -> str:
    output: str = getattr(options, "output", "-")
    return output
