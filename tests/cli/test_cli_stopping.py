"""The command line stopped midway: by Ctrl-C and other signals, or by a reader that goes away."""

import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import PROGRAM, TIMEOUT_SECONDS, open_terminal, start, write_random_set

from pairalign.cli.main import main
from pairalign.cli.signals import IMPATIENCE_SECONDS, SIGNAL_CODE, stop_signals

pytestmark = pytest.mark.usefixtures("signals")

SAID = {
    signal.SIGINT: b"interrupted",
    signal.SIGTERM: b"terminated",
    signal.SIGHUP: b"terminated: the terminal was closed",
    signal.SIGQUIT: b"quit",
}


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Work for minutes (80,000 pairs of 4,000 letters), with little output."""
    path = tmp_path_factory.mktemp("long") / "long.fa"
    write_random_set(path, 400, 4000)
    return path


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half a million short pairs: much output at once."""
    path = tmp_path_factory.mktemp("wide") / "wide.fa"
    write_random_set(path, 1000, 30)
    return path


@contextmanager
def running(*arguments: str | os.PathLike[str], **options) -> Iterator[subprocess.Popen[bytes]]:
    """The command, ended when the block ends."""
    process = start(*arguments, cwd=Path.cwd(), **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(condition, process: subprocess.Popen[bytes]) -> None:
    """Wait until something is so while the command runs."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.01)


def parts() -> list[str]:
    """Files that are being written."""
    return [name for name in os.listdir() if name.endswith(".part")]


@pytest.mark.parametrize(
    ("number", "name"),
    [
        *((number, "out.paf") for number in SAID),
        (signal.SIGINT, "out.tsv.gz"),
        (signal.SIGTERM, "out.parquet"),
    ],
)
def test_signals(here, long, number, name):
    Path(name).write_text("before")
    with running("align", long, "-o", name, "--threads", "2", "--quiet") as process:
        wait_for(parts, process)
        time.sleep(0.2)  # into the work
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 128 + number
    expected = b"pairalign: error: " + SAID[number] + f"; '{name}' was not written\n".encode()
    assert (out, err) == (b"", expected)
    assert os.listdir() == [name]
    assert Path(name).read_text() == "before"


def test_ctrl_c_again_and_again(here, long):
    """Impatience does not keep the command from cleaning up."""
    with running("align", long, "-o", "out.paf", "--threads", "2", "--quiet") as process:
        wait_for(parts, process)
        for _ in range(50):
            process.send_signal(signal.SIGINT)
            time.sleep(0.002)
            if process.poll() is not None:
                break
        _, err = process.communicate(timeout=TIMEOUT_SECONDS)
    assert os.listdir() == []
    assert err.startswith(b"pairalign: error: interrupted; 'out.paf' was not written\n")


SLOW_TO_END = """
import sys, time
from pathlib import Path
from pairalign.cli.main import program
from pairalign.engines.cpu.cpu_engine import CpuEngine

def align(*_):
    Path("aligning").touch()
    time.sleep(600)

CpuEngine.align = align
sys.exit(program())
"""


@pytest.mark.parametrize(
    ("number", "options"), [*((number, ()) for number in SAID), (signal.SIGTERM, ("--resume",))]
)
def test_a_second_signal_ends_at_once(here, number, options):
    """Whatever the first one waits for: one line, and nothing is half-written."""
    Path("out.paf").write_text("before")
    Path("in.fa").write_text(">a\nMKVLAAGG\n>b\nMKVLAGG\n")
    command = ["align", "in.fa", "-o", "out.paf", "--quiet", *options]
    with running(*command, program=[sys.executable, "-c", SLOW_TO_END]) as process:
        wait_for(Path("aligning").exists, process)
        process.send_signal(number)
        time.sleep(IMPATIENCE_SECONDS + 0.2)
        assert process.poll() is None
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 128 + number
    goes_on = b", the same command goes on" if options else b""
    said = b"pairalign: error: " + SAID[number] + b"; 'out.paf' was not written" + goes_on
    assert (out, err) == (b"", said + b"\n")
    kept = ["out.paf", *(["out.paf.parts"] if options else [])]
    assert sorted(os.listdir()) == ["aligning", "in.fa", *kept]
    assert Path("out.paf").read_text() == "before"


def test_a_signal_that_became_another_error(tmp_path, monkeypatch, capfd):
    """A lock that it leaves open is a RuntimeError; an import that it ends an ImportError."""

    def work(options: object) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
            time.sleep(TIMEOUT_SECONDS)
        except KeyboardInterrupt:
            raise RuntimeError("cannot release un-acquired lock") from None

    monkeypatch.setattr("pairalign.cli.align_command.run_align", work)
    assert main(["align", "in.fa", "-o", str(tmp_path / "x.paf")]) == 128 + signal.SIGTERM
    said = f"pairalign: error: terminated; '{tmp_path / 'x.paf'}' was not written\n"
    assert capfd.readouterr().err == said


def test_ctrl_c_at_a_terminal(here, long):
    """The key itself, with the progress bar on the screen."""
    terminal, end = open_terminal()

    def take_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    streams = dict.fromkeys(("stdin", "stdout", "stderr"), end)
    command = ("align", long, "-o", "out.paf", "--threads", "2")
    with running(*command, **streams, preexec_fn=take_terminal) as process:
        os.close(end)
        wait_for(parts, process)
        time.sleep(0.2)
        os.write(terminal, b"\x03")
        shown = b"".join(iter(lambda: read(terminal), b""))
        assert process.wait(TIMEOUT_SECONDS) == 128 + signal.SIGINT
    os.close(terminal)
    assert b"pairalign: error: interrupted; 'out.paf' was not written\r\n" in shown
    assert b"Traceback" not in shown
    assert os.listdir() == []


def read(terminal: int) -> bytes:
    """Read from a terminal; nothing when its other end is closed."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_signals_that_were_ignored_stay_so(here, long):
    """Under nohup a closed terminal ends nothing."""

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    command = ("align", long, "-o", "out.paf", "--threads", "2", "--quiet")
    with running(*command, preexec_fn=ignore) as process:
        wait_for(parts, process)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=TIMEOUT_SECONDS)
    assert b"error: terminated;" in err
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("number", "format"), [(signal.SIGINT, "parquet"), (signal.SIGTERM, "tsv")]
)
def test_signals_while_a_pipe_is_full(here, wide, number, format):
    """The command waits for a reader that does not read."""
    arguments = ("align", wide, "-o", "-", "--format", format, "--quiet", "--memory", "64M")
    with running(*arguments) as process:
        first = os.read(process.stdout.fileno(), 4)
        time.sleep(0.5)  # fill the pipe
        process.send_signal(number)
        assert process.wait(TIMEOUT_SECONDS) == 128 + number
        rest, err = process.communicate()
    assert first
    assert len(rest) < 1 << 20
    assert err == b"pairalign: error: " + SAID[number] + b"\n"


def test_signal_while_waiting_for_input(here):
    with running("align", "-", "-o", "out.paf", stdin=subprocess.PIPE) as process:
        process.stdin.write(b">a\nMKV\n")
        process.stdin.flush()
        pipe = process.stdin.fileno()
        wait_for(lambda: waiting_in(pipe) == 0, process)  # it has read that and wants more
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_SECONDS) == 128 + signal.SIGTERM
        _, err = process.communicate()
    assert err == b"pairalign: error: terminated; 'out.paf' was not written\n"
    assert os.listdir() == []


def waiting_in(pipe: int) -> int:
    """Bytes in a pipe that nobody has read yet."""
    (size,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return int(size)


@pytest.mark.parametrize(
    ("number", "program", "blocked"),
    [
        *((number, [*PROGRAM, "align", "in.fa"], ()) for number in SAID),
        (signal.SIGINT, PROGRAM, ()),
        *((number, PROGRAM, SAID) for number in SAID),
    ],
)
def test_signals_while_the_program_starts(tmp_path, number, program, blocked):
    """A stop in the first second, amid imports, is no traceback.

    Nor is it silent where the main thread does not hear of it, as if it came as a sleep begins.
    """
    slow = tmp_path / "argparse.py", tmp_path / "numpy" / "__init__.py"
    place = slow[len(program) > len(PROGRAM)]
    place.parent.mkdir(exist_ok=True)
    started = tmp_path / "started"
    mask = f"signal.pthread_sigmask(signal.SIG_BLOCK, {[int(one) for one in blocked]})"
    place.write_text(
        f"import signal, time\n{mask}\nopen({str(started)!r}, 'w').close()\ntime.sleep(60)\n"
    )
    process = subprocess.Popen(
        program,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        wait_for(started.exists, process)
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 128 + number
    assert (out, err) == (b"", b"pairalign: error: " + SAID[number] + b"\n")


DROPPED = """
import signal, sys, time
import pairalign.cli.align_command
from pairalign.cli.main import program

class Deleted:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
        time.sleep(0)  # here it is taken

def work(*_):
    Deleted()
    time.sleep(600)

pairalign.cli.align_command.run_align = work
sys.exit(program())
"""


def test_a_signal_is_not_lost_where_python_drops_exceptions(tmp_path):
    """As objects are deleted, which imports do, too: each deletes its lock."""
    done = subprocess.run(
        [sys.executable, "-c", DROPPED, "align", "in.fa", "-o", "x.paf"],
        cwd=tmp_path,
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == SIGNAL_CODE + signal.SIGTERM
    assert done.stderr == b"pairalign: error: terminated; 'x.paf' was not written\n"


def test_a_signal_after_the_work_is_for_what_follows():
    """It raises nothing in here, and is not lost either."""
    taken: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: taken.append(number))
    try:
        with stop_signals() as stop:
            stop.work_begins(str)
            stop.work_is_done()
            signal.raise_signal(signal.SIGTERM)
            assert not taken
    finally:
        signal.signal(signal.SIGTERM, before)
    assert taken == [signal.SIGTERM]


LATE = """
import os, signal, sys, threading
import pairalign.cli.align_command
from pairalign.cli.main import program

class StopsAsPythonEnds:
    def __del__(self, kill=os.kill, own=os.getpid(), number=signal.SIGTERM):
        kill(own, number)

stopping = StopsAsPythonEnds()
if sys.argv.pop(1) == "summary":
    say = pairalign.cli.align_command.say_summary
    stop = lambda: os.kill(os.getpid(), signal.SIGTERM)
    pairalign.cli.align_command.say_summary = lambda *what: say(*what) or stop()
sys.exit(program())
"""


@pytest.mark.parametrize(
    ("moment", "code", "said"), [("end", 0, b""), ("summary", 143, b"'x.paf' is complete\n")]
)
@pytest.mark.parametrize("options", [(), ("--resume",)])
def test_a_signal_after_the_output_is_complete(tmp_path, moment, code, said, options):
    (tmp_path / "in.fa").write_text(">a\nMKVLAAGG\n>b\nMKVLAGG\n")
    done = subprocess.run(
        [sys.executable, "-c", LATE, moment, "align", "in.fa", "-o", "x.paf", *options],
        cwd=tmp_path,
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == code, done.stderr
    assert done.stderr.endswith(said)
    assert sorted(os.listdir(tmp_path)) == ["in.fa", "x.paf"]


@pytest.mark.parametrize("format", ["paf", "parquet"])
def test_a_reader_that_goes_away(here, wide, format):
    """As with ``| head``: the command ends soon, and says nothing about it."""
    with running("align", wide, "-o", "-", "--format", format, "--memory", "64M") as process:
        assert process.stderr is not None
        assert os.read(process.stdout.fileno(), 4)
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0
    assert b"error" not in err
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err
    assert os.listdir() == []
