"""Where the system gives no more threads or memory: one clear line, nothing hangs, none is lost."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from commands import TIMEOUT_SECONDS, write_random_set

from pairalign.cli import program
from pairalign.cli.main import main
from pairalign.formats.text_queue import TextQueue
from pairalign.jobs.run import schedule
from pairalign.pairs.want import Detail, Want
from pairalign.trees import distance_matrix

START = "_start_joinable_thread" if sys.version_info >= (3, 13) else "_start_new_thread"
"""What `threading` begins a thread by."""

FREE_USER = 1_000_000 + os.getpid()
"""Has no processes: the threads of the command are all that is counted."""

FEW_THREADS = """
import ctypes, os, resource, sys
from pairalign.cli.main import main
import pairalign.cli.program

most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
os.setresuid({user}, 0, 0)  # whose threads are counted; files are still those of root
libc = ctypes.CDLL(None, use_errno=True)
header, kept = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert libc.capget(header, kept) == 0
kept[0] &= ~(1 << 21 | 1 << 24)  # CAP_SYS_ADMIN, CAP_SYS_RESOURCE: who has them is not limited
assert libc.capset(header, kept) == 0
sys.exit(main(sys.argv[2:]))
"""

LITTLE_MEMORY = """
import resource, sys
import pairalign.cli.align_command, pairalign.cli.distance_command, pairalign.engines.cpu.cpu_engine
from pairalign.cli.main import main

status = dict(line.split(":", 1) for line in open("/proc/self/status"))
most = (int(status["VmSize"].split()[0]) << 10) + (int(sys.argv[1]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
sys.exit(main(sys.argv[2:]))
"""
ABORTED = 127
"""What the C library ends a process with that has no memory for a thread's variables."""

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    write_random_set(Path("in.fa"), 80, 100)


def run_with(program: str, most: int, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command with a limit; nothing may hang."""
    return subprocess.run(
        [sys.executable, "-c", program, str(most), *command.split(), "--device", "cpu", "-q"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


@pytest.mark.slow
@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize(
    "command",
    [
        "distance in.fa -o out.phylip -t 4",
        "align in.fa -o out.paf -t 2",
        "align in.fa -o out.paf.gz -t 2",
        "align in.fa -o out.paf -t 2 --resume",
        "tree in.fa -o out.nwk -t 4",
    ],
)
def test_threads_that_are_refused(command):
    codes = []
    for most in (1, 2, 3, 4, 5, 9):
        Path(command.split()[3]).unlink(missing_ok=True)
        found = run_with(FEW_THREADS.format(user=FREE_USER), most, command)
        codes.append(found.returncode)
        assert "Traceback" not in found.stderr
        if found.returncode:
            assert found.returncode == 1
            assert found.stderr.startswith("pairalign: error: ")
            assert "thread" in found.stderr
            assert found.stderr.count("\n") == 1
            assert not os.path.exists(command.split()[3])
    assert codes[0] == 1
    assert codes[-1] == 0


@pytest.mark.slow
@linux
@pytest.mark.parametrize(
    "command", ["align in.fa -o out.paf -t 2", "distance in.fa -o out.phylip -t 4"]
)
def test_memory_that_is_nearly_gone(command):
    codes = []
    for mebibytes in (0, 1, 2, 9, 18, 25, 36, 50, 400):
        found = run_with(LITTLE_MEMORY, mebibytes, command)
        codes.append(found.returncode)
        assert "Traceback" not in found.stderr
        if found.returncode not in (0, ABORTED):
            assert found.returncode == 1
            assert found.stderr.startswith("pairalign: error: ")
            assert len(found.stderr.strip()) > len("pairalign: error: ")
    assert codes[0] == 1
    assert codes[-1] == 0


REFUSED_THREAD = "pairalign: error: no thread"  # its stack is memory as well
WHOLE_PROGRAM = """
import resource, sys

most = int(sys.argv.pop(1)) << 20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
from pairalign.__main__ import program
sys.exit(program())
"""


@linux
@pytest.mark.parametrize(
    "command", ["align in.fa -o out.paf", "align in.fa -o out.parquet", "posterior in.fa -o out.pq"]
)
@pytest.mark.parametrize("mebibytes", [60, 140, 240, 350])
def test_memory_that_ends_while_the_program_is_loaded(command, mebibytes):
    if not command.endswith("paf"):
        pytest.importorskip("pyarrow")
    found = run_with(WHOLE_PROGRAM, mebibytes, f"{command} -t 2 --memory 32M")
    if found.returncode:
        assert found.returncode == 1
        assert found.stderr.startswith(("pairalign: error: out of memory; ", REFUSED_THREAD))
        assert found.stderr.count("\n") == 1
        assert os.listdir() == ["in.fa"]


def raises(error: BaseException) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "out of memory; lower --memory or --threads"),
        (MemoryError("no room"), "no room"),
        (OSError(), "OSError"),
        (RuntimeError("can't start new thread"), "the system allows no more threads; lower"),
        (ImportError("x.so: failed to map segment from shared object"), "out of memory; lower"),
    ],
)
def test_what_is_said_of_errors_that_say_nothing(error, message, monkeypatch, capfd):
    monkeypatch.setattr("pairalign.cli.align_command.run_align", raises(error))
    assert main(["align", "in.fa", "-o", "out.paf"]) == program.FAILED
    assert capfd.readouterr().err.startswith(f"pairalign: error: {message}")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["align", "\x1b[31mred\x07.fa", "-o", "out.paf"], 1),
        (["align", "in.fa", "-o", "\x1b[31mred\x07/out.paf"], 1),
        (["align", "in.fa", "-o", "out.paf", "--matrix", "\x1b[31mred\x07"], 2),
        (["align", "in.fa", "-o", "out.paf", "\x1b[31mred\x07", "--\x1b[31mred\x07"], 2),
        (["verify", "\x1b[31mred\x07.paf", "in.fa"], 1),
        (["merge", "\x1b[31mred\x07", "-o", "out.paf"], 1),
        (["tree", "\x1b[31mred\x07.phylip", "-o", "out.nwk"], 1),
        (["align", "\x9b31mred.fa", "-o", "out.paf"], 1),
    ],
)
def test_names_do_not_command_the_terminal(arguments, code, capfd):
    try:
        found = main(arguments)
    except SystemExit as end:
        found = int(str(end.code))
    assert found == code
    said = capfd.readouterr().err
    assert "red" in said
    assert not any(mark in said for mark in "\x1b\x07\x9b")


def in_time(work: Callable[[], None]) -> None:
    """Do some work that may hang."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()


def test_an_error_without_memory_to_explain_it_ends_a_run(monkeypatch):
    class Engine:
        name, is_gpu = "full", False
        align = staticmethod(raises(MemoryError()))

        def cancel(self) -> None: ...

    from pairalign.pairs.windows import plan_windows

    windows = list(plan_windows(4, None, 2))
    monkeypatch.setattr(schedule, "_explain", raises(MemoryError()))
    found: list[BaseException] = []

    def work() -> None:
        try:
            list(schedule.run([Engine()], windows, Want(Detail.SCORE), lambda _: 1, 2))  # type: ignore[list-item]
        except MemoryError as error:
            found.append(error)

    in_time(work)
    assert len(found) == 1


def test_users_without_threads_do_not_wait_for_each_other(monkeypatch):
    monkeypatch.setattr(f"threading.{START}", raises(RuntimeError("refused")))
    users = schedule.Consumers(lambda _: None)
    monkeypatch.undo()
    monkeypatch.setattr(users._pool, "submit", raises(RuntimeError("refused")))

    def work() -> None:
        for _ in range(5):
            with pytest.raises(RuntimeError, match="refused"):
                users.take(None)  # type: ignore[arg-type]

    in_time(work)


def test_a_queue_whose_keeper_gets_no_thread(monkeypatch):
    threads = len(os.listdir("/proc/self/task"))
    refused = raises(RuntimeError("can't start new thread"))
    monkeypatch.setattr(f"threading.{START}", refused)
    with pytest.raises(MemoryError, match="no thread for formatting; lower threads"):
        TextQueue(2, 1 << 16)
    assert len(os.listdir("/proc/self/task")) <= threads  # those of native code have ended


def test_a_small_summary_needs_no_thread(monkeypatch):
    refused = raises(RuntimeError("can't start new thread"))
    monkeypatch.setattr(f"threading.{START}", refused)
    assert distance_matrix.summarize(np.arange(5, dtype=np.float32)) == (0, 4, 2)


FAILING_THREADS = """
import sys, threading
import pairalign.cli.align_command, pairalign.engines.cpu.cpu_engine
from pairalign.cli.main import program

left = int(sys.argv.pop(1))
begin = threading.Thread._bootstrap_inner

def fail(thread):
    global left
    left -= 1
    if left < 0:
        raise MemoryError
    begin(thread)

threading.Thread._bootstrap_inner = fail
sys.exit(program())
"""


@pytest.mark.parametrize("most", [0, 1])
@pytest.mark.parametrize("name", ["out.paf", "out.paf.gz"])
def test_a_thread_without_memory_to_begin(most, name):
    """Python waits forever for a thread that says, before it ends, that it has begun."""
    found = run_with(FAILING_THREADS, most, f"align in.fa -o {name} -t 2")
    assert found.returncode == 1
    said = f"out of memory; lower --memory or --threads; '{name}' was not written"
    told = f"pairalign: error: {said}\n"
    if sys.version_info >= (3, 14):  # whose threads also tell what ended them
        assert found.stderr.endswith(f"MemoryError: \n{told}")
    else:
        assert found.stderr == told
    assert os.listdir() == ["in.fa"]


def test_no_memory_for_options(monkeypatch, capfd):
    monkeypatch.setattr(program, "build_parser", raises(MemoryError()))
    assert main(["align", "in.fa"]) == 1
    said = "pairalign: error: out of memory; lower --memory or --threads\n"
    assert capfd.readouterr().err == said
