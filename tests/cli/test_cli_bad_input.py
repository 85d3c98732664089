"""The command line where something is wrong: it says what and where, and leaves nothing behind."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from Bio.Align import substitution_matrices
from commands import PROTEINS, fasta, listing, run, write_random_set

from pairalign.cli.main import main

GOOD = fasta(PROTEINS).encode()
BLOSUM = str(substitution_matrices.load("BLOSUM62"))


def check_refused(code: int, out: bytes, err: bytes, message: str) -> None:
    """The command failed with one line that has `message` in it, and wrote nothing to stdout."""
    said = err.decode()
    assert code == 1, said
    assert out == b""
    errors = [line for line in said.splitlines() if line.startswith("pairalign: error: ")]
    assert len(errors) == 1, said
    assert "Traceback" not in said
    assert message in errors[0]


def refuse(*arguments: str, message: str, **options) -> None:
    """The command, in a process of its own, fails with `message` and changes no file."""
    before = listing()
    done = run("align", *arguments, cwd=Path.cwd(), **options)
    check_refused(done.returncode, done.stdout, done.stderr, message)
    assert listing() == before


# Input files


def test_devices_may_be_named_twice(here):
    Path("good.fa").write_bytes(GOOD)
    command = ["align", "good.fa", "-o", "/dev/null", "--format", "paf", "--report", "/dev/null"]
    assert main([*command, "--device", "cpu", "--quiet"]) == 0


# Scoring


def test_a_matrix_from_a_pipe_is_read_once(here):
    Path("good.fa").write_bytes(GOOD)
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        pipe.write(BLOSUM)
    matrix = ("--matrix", f"/dev/fd/{reading}")
    done = run("align", "good.fa", "-o", "piped.tsv", *matrix, cwd=here, pass_fds=[reading])
    os.close(reading)
    assert done.returncode == 0, done.stderr
    assert main(["align", "good.fa", "-o", "named.tsv", "--matrix", "BLOSUM62", "-q"]) == 0
    assert Path("piped.tsv").read_bytes() == Path("named.tsv").read_bytes()


@pytest.mark.parametrize(
    ("command", "data"),
    [
        (("align", "bad.fa", "-o", "x.paf"), ">{0}\nMKV\n>{0}\nMKV\n"),
        (("align", "bad.fa", "-o", "x.paf"), ">{0}\nMKV\n>{0}c\nMK-V\n"),
        (("tree", "bad.fa", "-o", "x.nwk"), ">{0}:\nMKV\n>b\nMKV\n>c\nMKV\n"),
        (("tree", "bad.phy", "-o", "x.nwk"), "3\n{0} 0 1 1\n{0} 1 0 1\nc 1 1 0\n"),
        (("distance", "bad.fa", "--strict-names", "-o", "x.phy"), ">{0}\nMKV\n>b\nMKV\n"),
        (("align", "good.fa", "--pairs", "bad.txt", "-o", "x.paf"), "a {0}\n"),
    ],
)
def test_long_names_are_cut_in_messages(here, capfd, command, data):
    Path("good.fa").write_bytes(GOOD)
    name = "".join(f"n{number:05}" for number in range(500))
    Path(next(word for word in command if word.startswith("bad"))).write_text(data.format(name))
    assert main(list(command)) in (1, 2)
    said = capfd.readouterr().err
    assert len(said) < 400
    assert f"'{name[:40]}..." in said


# Memory


@pytest.mark.parametrize("memory", ["1", "10K", "300k"])
def test_memory_too_small_for_a_pair(here, capsys, memory):
    """The error names the pair and says how much it takes, and that is enough."""
    write_random_set(Path("x.fa"), 4, 2000)
    arguments = ["align", "x.fa", "-o", "out.paf", "--threads", "1", "--quiet"]
    assert main([*arguments, "--memory", memory]) == 1
    said = capsys.readouterr().err
    pair = r"'s\d' \(2000 residues\) and 's\d' \(2000 residues\)"
    found = re.search(f"aligning {pair} needs (\\d+ [KM]iB) of memory, only \\d+ KiB allowed", said)
    assert found, said
    assert os.listdir() == ["x.fa"]
    assert main([*arguments, "--memory", found[1]]) == 0
    enough = Path("out.paf").read_bytes()
    assert main(arguments) == 0
    assert Path("out.paf").read_bytes() == enough


# Output


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device(here):
    Path("good.fa").write_bytes(GOOD)
    refuse(
        *("good.fa", "-o", "/dev/full", "--format", "tsv"),
        message="cannot write '/dev/full': No space left on device",
    )
    with open("/dev/full", "wb") as full:
        done = run("align", "good.fa", "-o", "-", "--format", "tsv", cwd=here, stdout=full)
        assert done.returncode == 1
        assert b"error: cannot write standard output: No space left on device\n" in done.stderr
        done = run("devices", cwd=here, stdout=full)
        assert done.returncode == 1
        assert b"No space left" in done.stderr
        assert b"Traceback" not in done.stderr
        assert b"Exception ignored" not in done.stderr


# Standard streams that are closed or full


def close_stream(descriptor: int) -> Callable[[], None]:
    """What a shell does for ``>&-``."""
    return lambda: os.close(descriptor)


def test_closed_standard_streams(here):
    Path("good.fa").write_bytes(GOOD)
    arguments = ("align", "good.fa", "-o", "-", "--format", "tsv")
    expected = run(*arguments, "--quiet", cwd=here).stdout
    assert len(expected.splitlines()) == 7
    done = run(*arguments, cwd=here, preexec_fn=close_stream(1))
    assert done.returncode == 1
    assert b"error: cannot write standard output: it is closed\n" in done.stderr
    # Nobody hears the messages: the results are right all the same, without messages among them.
    done = run(*arguments, cwd=here, preexec_fn=close_stream(2))
    assert (done.returncode, done.stdout) == (0, expected)
    done = run("align", "good.fa", "-o", "out.tsv", cwd=here, preexec_fn=close_stream(2))
    assert (done.returncode, done.stdout) == (0, b"")
    assert Path("out.tsv").read_bytes() == expected
    done = run("align", "-", "-o", "out.paf", cwd=here, preexec_fn=close_stream(0))
    assert done.returncode == 1
    assert b"error: <stdin>: cannot be read: it is closed\n" in done.stderr
    assert sorted(os.listdir()) == ["good.fa", "out.tsv"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_messages_that_cannot_be_written(here):
    Path("good.fa").write_bytes(GOOD)
    with open("/dev/full", "wb") as full:
        done = run("align", "good.fa", "-o", "out.tsv", cwd=here, stderr=full)
        assert (done.returncode, done.stdout) == (0, b"")
        assert len(Path("out.tsv").read_bytes().splitlines()) == 7
        done = run("align", "nothing.fa", "-o", "out.tsv", cwd=here, stderr=full)
        assert (done.returncode, done.stdout) == (1, b"")
