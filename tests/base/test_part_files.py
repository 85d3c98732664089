"""Files that are being written: what a killed run leaves, the next one of that output removes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import TIMEOUT_SECONDS, start, write_random_set

from pairalign.base import part_file, run_files
from pairalign.base.part_file import PartFile, forget_published, was_published
from pairalign.formats.output import FileOutput, check_writable


def parts() -> list[str]:
    return sorted(name for name in os.listdir() if name.endswith(".part"))


pytestmark = pytest.mark.usefixtures("here")


def write(path: str, text: bytes = b"new") -> None:
    with FileOutput(path) as output:
        output.write(text)


def test_a_killed_command_is_cleaned_up_after():
    write_random_set(Path("in.fa"), 2000, 1000)  # work for minutes, which is written bit by bit
    options = ("--window", "50", "--threads", "1", "--quiet")
    process = start("align", "in.fa", "-o", "x.tsv", *options, cwd=Path.cwd())
    end = time.monotonic() + TIMEOUT_SECONDS
    size = 0
    while size == 0:  # really at work
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
        size = sum(os.stat(name).st_size for name in parts() if os.path.exists(name))
    alive = parts()
    assert len(alive) == 1
    write("x.tsv")  # while it lives, its file stays
    assert parts() == alive
    process.kill()
    process.communicate()
    assert parts() == alive
    write("other.tsv")
    assert parts() == alive
    write("x.tsv")
    assert parts() == []
    assert Path("x.tsv").read_bytes() == b"new"


def test_a_signal_while_it_is_made_leaves_nothing(monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(part_file.fcntl, "flock", interrupt)
    with pytest.raises(KeyboardInterrupt):
        PartFile("x.paf", None)
    assert parts() == []


def test_a_signal_before_anybody_has_the_descriptor(monkeypatch):
    """The file is there, and Python has not yet stored what was opened."""
    really = os.open

    def interrupted(path: str, *given: int) -> int:
        os.close(really(path, *given))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(part_file.os, "open", interrupted)
        with pytest.raises(KeyboardInterrupt):
            PartFile("x.tsv", None)
    assert len(parts()) == 1
    part_file.remove_unfinished()
    assert parts() == []


def test_another_file_of_that_name_stays(monkeypatch):
    monkeypatch.setattr(run_files.os, "urandom", bytes)
    foreign = Path(run_files.new_hidden_name("x.tsv"))
    os.symlink("elsewhere", foreign)
    with pytest.raises(FileExistsError):
        PartFile("x.tsv", None)
    part_file.remove_unfinished()
    assert foreign.is_symlink()


def test_what_a_signal_leaves_to_nobody_is_removed():
    kept = PartFile("kept.paf", None)
    kept.publish()
    PartFile("lost.paf", None)
    part_file.remove_unfinished()
    assert sorted(os.listdir()) == ["kept.paf"]


def test_only_what_is_dead_and_of_this_output_goes():
    dead = [run_files.new_hidden_name("x.paf") for _ in range(2)]
    ours = run_files.new_hidden_name("x.paf")
    others = [
        ".x.paf.01234567.part",
        ".x.paf.0123456789abcdef.part",  # its last digits are not the checksum
        f"{ours}2",
        ours.replace(".paf.", ".paf.gz."),
        ours.replace("x", "y", 1),
        ours[1:],
        run_files.new_hidden_name("x.paf.gz"),
        run_files.new_hidden_name("y.paf"),
    ]
    for name in dead + others:
        Path(name).write_text("text")
    left = [run_files.new_hidden_name("x.paf") for _ in range(2)]
    os.mkdir(left[0])
    os.symlink("x", left[1])
    with FileOutput("x.paf") as first, FileOutput("x.paf") as second:
        first.write(b"1")
        second.write(b"2")
    assert Path("x.paf").read_bytes() == b"1"  # which closes last
    assert sorted(set(os.listdir()) - {"x.paf"}) == sorted([*others, *left])


def test_a_check_removes_them_too():
    Path(run_files.new_hidden_name("x.paf")).write_text("text")
    check_writable("x.paf")
    assert os.listdir() == []


def test_a_file_stays_locked_until_it_has_its_name():
    part = PartFile(os.path.abspath("x"), None)
    os.close(part.descriptor)
    write("x")
    assert len(parts()) == 1
    part.publish()
    assert os.listdir() == ["x"]
    part.remove()
    assert os.listdir() == ["x"]


def test_many_processes_that_write_one_output():
    """None takes another's file for a dead one."""
    code = (
        "import sys\nfrom pairalign.formats.output import FileOutput\n"
        "for i in range(300):\n"
        "    with FileOutput('x') as output: output.write(b'text')\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(4)
    ]
    for process in running:
        _, err = process.communicate(timeout=TIMEOUT_SECONDS)
        assert (process.returncode, err) == (0, b"")
    assert os.listdir() == ["x"]


def test_a_signal_as_a_file_gets_its_name(tmp_path, monkeypatch):
    """The name says whether it is complete, not how far the program had come."""
    final = str(tmp_path / "x")

    def interrupted(source: str, target: str) -> None:
        assert not was_published(final)
        rename(source, target)
        raise KeyboardInterrupt

    rename = os.replace
    monkeypatch.setattr(os, "replace", interrupted)
    forget_published()
    (tmp_path / "x").write_text("before")
    part = PartFile(final, None)
    os.close(part.descriptor)
    with pytest.raises(KeyboardInterrupt):
        part.publish()
    assert was_published(final)
    part.remove()
    assert os.listdir(tmp_path) == ["x"]
    forget_published()
    assert not was_published(final)
