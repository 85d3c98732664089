"""The program: its parser, how a command is carried out, and what ends it.

A command's code is imported when the command is used: help on the program as a whole loads none.
Exit codes: 0 done, 1 failed, 2 wrong usage, 128 and its number after a signal. Messages go to
stderr, results to files or stdout.
"""

from __future__ import annotations

import argparse
import errno
import gc
import logging
import sys
import time
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pairalign.base.console import give_up_stdout, log, log_into, messages, named_output, say
from pairalign.base.declaration import check, has_job, make, values_of
from pairalign.base.error_types import (
    FormatError,
    MatrixFileError,
    PairalignError,
    ScoringError,
    out_of_memory,
)
from pairalign.base.interpreter import no_collection
from pairalign.base.option_parser import add_options
from pairalign.base.spelling import options_are_spelled
from pairalign.cli.parser import Parser, add_help
from pairalign.cli.signals import SIGNAL_CODE, StopHandler
from pairalign.requests.resources import CoreOptions, Messages, Resources, ResourcesOptions

if TYPE_CHECKING:
    from pairalign.requests.resources import Progress
    from pairalign.requests.shared import CommandOptions

DONE, FAILED, WRONG_USAGE = 0, 1, 2
_NOT_MAPPED = "failed to map segment"
"""What the loader says of a library for which there is no memory."""
_LITTLE_BYTES = 32 << 20
"""Where there are fewer left, whatever nobody has foreseen is for want of memory."""
_NUMPY_BYTES = 128 << 20
"""That NumPy maps, with OpenBLAS."""
_BLAS_BYTES = 48 << 20
"""That OpenBLAS maps at its first product; without them it ends the process."""
_keeps = _has_blas = False


class Command(NamedTuple):
    """A command of the program: its request is ``NameOptions``, carried out by ``run_name``.

    Attributes
    ----------
    name, help : str
        What it is called, and a line about it.
    job : str
        The folder of `pairalign.jobs` that has its request and its work; empty: it is no job of
        its own, and has them in `pairalign.requests` and `pairalign.cli`. Where the folder is not
        there, the command is not, either.
    request_module : str
        Where that is not ``name_request``.
    """

    name: str
    help: str
    job: str = ""
    request_module: str = ""

    def load_request(self) -> type[CommandOptions]:
        """Return the class of its request, which declares its options."""
        folder = f"pairalign.jobs.{self.job}" if self.job else "pairalign.requests"
        module = import_module(self.request_module or f"{folder}.{self.name}_request")
        request: type[CommandOptions] = getattr(module, f"{self.name.capitalize()}Options")
        return request

    def runner(self) -> Callable[[Any], None]:
        """Return what carries out a request; its code is loaded when it is called."""
        folder = f"pairalign.jobs.{self.job}" if self.job else "pairalign.cli"
        module, function = f"{folder}.{self.name}_command", f"run_{self.name}"
        if module == self.request_module:  # loaded, and little
            run: Callable[[Any], None] = getattr(import_module(module), function)
            return run
        return later(module, function)


_ALL = (
    Command("align", "align every pair of a set, or of one set against another"),
    Command("distance", "distances of all pairs, for programs that make trees"),
    Command("tree", "a guide tree for Clustal Omega, MAFFT, MUSCLE, FAMSA"),
    Command("overlap", "find the overlaps of DNA reads, for assemblers", "overlaps"),
    Command(
        "merge",
        "put the parts of a result together, made with --shard",
        request_module="pairalign.requests.files_request",
    ),
    Command("update", "add sequences to a run of align: only new pairs are aligned", "update"),
    Command("cluster", "put sequences that are similar enough together", "clusters"),
    Command(
        "split",
        "make folds without similar sequences across them, for training and testing",
        "splits",
    ),
    Command(
        "audit",
        "list the pairs that break what folds or clusters promise, ours or another program's",
        "splits",
    ),
    Command(
        "verify", "check and score the alignments of a file, ours or another program's", "verify"
    ),
    Command(
        "msa",
        "align a family: the multiple alignment, with a confidence of each column",
        "msa",
    ),
    Command(
        "posterior", "how likely each two residues of each pair are to be aligned", "posterior"
    ),
    Command("rotate", "rotate circular sequences to a common start", "circular"),
    Command(
        "pack",
        "write sequences into a store that opens at once, for large sets and many machines",
        request_module="pairalign.requests.files_request",
    ),
    Command(
        "devices",
        "list what pairalign can run on here",
        request_module="pairalign.cli.devices_command",
    ),
    Command("help", "show the help of a command", request_module="pairalign.cli.help_command"),
    Command(
        "completion",
        "print what makes a shell complete commands and options",
        request_module="pairalign.cli.completion_command",
    ),
)
COMMANDS = tuple(command for command in _ALL if not command.job or has_job(command.job))


def run(arguments: Sequence[str] | None, stop: StopHandler) -> int:
    """Carry out a command line; see `pairalign.cli.main.main`."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        build_parser(words).print_help(sys.stderr)
        return WRONG_USAGE
    try:
        with no_collection():
            options = build_parser(words).parse_args(words)
            request: CommandOptions = make(
                options.request, {**vars(options), "command_line": tuple(words)}
            )
            request = with_progress(request.completed())
            said = getattr(request, "messages", Messages())
    except MemoryError as error:
        return _fail(error, FAILED)
    from pairalign.base.part_file import forget_published  # help makes no files
    from pairalign.cli.early_start import start_early

    with messages(quiet=said.quiet, verbose=said.verbose):
        forget_published()
        try:
            stop.work_begins(lambda stopped: _give_up(stopped, request))
            with options_are_spelled():
                _start_log(request, said)
                check(request)
                start_early(request)
                _carry_out(options.run, request)
            _say_what_it_took()
            if sys.stdout is not None:
                sys.stdout.flush()
            stop.work_is_done()
        except BaseException as error:
            code = _say_end(error, request, stop)
            if code is None:
                raise
            return code
    return DONE


def _carry_out(run: Callable[[Any], None], request: CommandOptions) -> None:
    """Carry out a command; with ``--dry-run`` say what it takes."""
    if not values_of(request).get("dry_run"):
        run(request)
        return
    from pairalign.cli.dry_run_command import foretell_run

    foretell_run(run, request)


def with_progress(request: CommandOptions) -> CommandOptions:
    """Return a request that says how progress is shown, of ``--quiet`` and ``--progress``."""
    if not isinstance(request, (CoreOptions, ResourcesOptions)):
        return request
    resources: Resources = request.resources
    # A bar would stand between the results.
    sees_results = sys.stdout is not None and sys.stdout.isatty()
    is_among = sees_results and values_of(request).get("output") == "-"
    shown: Progress = "lines" if resources.progress else not (request.messages.quiet or is_among)
    return replace(request, resources=replace(resources, progress=shown))


def _say_end(error: BaseException, request: CommandOptions, stop: StopHandler) -> int | None:
    """Say what has ended a command; return the exit code, None for what nobody has foreseen."""
    # Whatever a signal has become on its way: where it leaves a lock open it is a RuntimeError.
    stopped = stop.stopped or error
    if isinstance(stopped, KeyboardInterrupt):
        message = _give_up(stopped, request)
        give_up_stdout()
        stop.work_is_done()
        return _fail(message, getattr(stopped, "exit_code", SIGNAL_CODE + 2))  # as after Ctrl-C
    stop.work_is_done()
    if _is_refused_thread(error):
        error = MemoryError("the system allows no more threads; lower --threads")
    if _is_out_of_memory(error):
        error = MemoryError()
    if not isinstance(error, (PairalignError, OSError, MemoryError)):
        return None
    give_up_stdout()
    if getattr(error, "errno", None) == errno.EPIPE and _output(request) == "-":
        return DONE  # the reader has what it wanted
    is_usage = isinstance(error, (FormatError, ScoringError))
    is_usage &= not isinstance(error, MatrixFileError)
    code = WRONG_USAGE if is_usage else getattr(request, "FAILED", FAILED)
    return _fail(error, getattr(error, "exit_code", code))


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether a library, or the interpreter, has said in its own words that memory has ended."""
    if isinstance(error, MemoryError):
        return type(error).__module__.startswith(("numpy", "pyarrow"))
    if isinstance(error, ImportError) and _NOT_MAPPED in str(error):
        return True
    from pairalign.base.limits import has_room  # help asks nothing

    foreseen = isinstance(error, (PairalignError, OSError))
    return isinstance(error, Exception) and not foreseen and not has_room(_LITTLE_BYTES)


def _is_refused_thread(error: BaseException) -> bool:
    """Whether Python could start no thread, for a limit of processes or for want of memory."""
    return isinstance(error, RuntimeError) and str(error) == "can't start new thread"


def build_parser(used: Container[str] | None = None) -> argparse.ArgumentParser:
    """Make the parser of the command line.

    Parameters
    ----------
    used : container of str, optional
        Words of a command line: commands that are not among them stay without options, and their
        code is not loaded. Default: all commands are complete.
    """
    parser = Parser(
        prog="pairalign",
        description="Exact alignment of every pair in a set of sequences.",
    )
    parser.add_argument(
        "-V",
        "--version",
        action=_Version,
        nargs=0,
        help="show the version and exit",
    )
    parser.add_argument(
        "--cite", action=_Cite, nargs=0, help="show how to cite pairalign, and the papers, and exit"
    )
    commands = parser.add_commands(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        subparser = commands.add_parser(command.name, help=command.help, add_help=False)
        subparser.examples = command.name
        if used is None or command.name in used:
            declared = command.load_request()
            add_help(subparser, declared)
            add_options(subparser, declared)
            subparser.set_defaults(run=command.runner(), request=declared)
    parser.finish()
    return parser


def keep_what_is_loaded() -> None:
    """Look for no garbage in what `later` loads: it stays as long as the process.

    Of 57 proteins `align` takes 0.33 s of CPU instead of 0.40, `tree` 0.34 instead of 0.42
    (medians of 24 runs in turn; quartiles 0.31 to 0.38, 0.39 to 0.48).
    """
    global _keeps
    _keeps = True


def later(module: str, function: str) -> Callable[[Any], None]:
    """Return what carries out a command by a function whose module is not loaded before.

    Parameters
    ----------
    module, function : str
        The function takes the request of the command.
    """

    def run(request: CommandOptions) -> None:
        with no_collection():
            from pairalign.base.limits import check_room  # help asks nothing

            if "numpy" not in sys.modules:
                check_room(_NUMPY_BYTES)
            work = getattr(import_module(module), function)
            if _keeps:
                gc.freeze()
        _start_blas()
        work(request)

    return run


def _start_blas() -> None:
    """Let OpenBLAS take its memory now, if NumPy is loaded."""
    global _has_blas
    if "numpy" in sys.modules and not _has_blas:
        import numpy as np

        from pairalign.base.limits import check_room

        check_room(_BLAS_BYTES)
        some = np.ones((2, 2))
        _has_blas = bool((some @ some).all())


class _Version(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from pairalign.base.version import __version__

        print(f"pairalign {__version__}")
        parser.exit(DONE)


class _Cite(argparse.Action):
    """Prints how to cite the program, which is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from pairalign.cli.cite import citation

        print(citation())
        parser.exit(DONE)


def _start_log(request: CommandOptions, said: Messages) -> None:
    """Open the file of ``--log``, and say what runs."""
    if said.log is not None:
        from pairalign.jobs.run.file_checks import check_log

        check_log(request)
        log_into(said.log, request.command_line)
    if log.isEnabledFor(logging.DEBUG):
        import platform

        from pairalign.base.version import __version__

        what = __version__, platform.python_version(), platform.platform()
        log.debug("pairalign %s, Python %s, %s", *what)


def _say_what_it_took() -> None:
    """Say, with ``--verbose``, how much time and memory the process has taken."""
    if log.isEnabledFor(logging.DEBUG):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        log.debug("%.2f s of CPU, %.0f MiB at most", time.process_time(), used.ru_maxrss / 1024)


def _fail(message: object, code: int) -> int:
    said = str(message) or type(message).__name__
    if isinstance(message, MemoryError) and not str(message):
        with options_are_spelled():
            said = out_of_memory()
    say(f"pairalign: error: {said}")
    return code


def _give_up(stopped: BaseException, request: CommandOptions) -> str:
    """Remove what is half-written; return what is to be said of a command that was stopped."""
    from pairalign.base.part_file import remove_unfinished

    remove_unfinished()
    return f"{stopped}{_left_by(request)}"


def _left_by(request: CommandOptions) -> str:
    """Say what a run that was stopped has made of its output."""
    output = _output(request)
    if output == "-":
        return ""
    from pairalign.base.part_file import count_published, was_published

    if was_published(output):
        return f"; '{output}' is complete"
    values = values_of(request)
    goes_on = ", the same command goes on" if values.get("resume") else ""
    if finished := count_published(output):
        goes_on = goes_on or (", with --resume it goes on" if "resume" in values else "")
        return f"; {finished:,} files in '{output}' are complete{goes_on}"
    return f"; '{output}' was not written{goes_on}"


def _output(request: CommandOptions) -> str:
    return named_output() or values_of(request).get("output") or "-"
