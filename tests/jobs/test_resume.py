"""Runs that are killed go on, and give the bytes of a run that was not."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from resuming import OPTIONS, interrupt, md5, run, write_set

from pairalign.errors import PartsError
from pairalign.formats import FORMATS
from pairalign.formats import journal as journal_module
from pairalign.formats.journal import Journal
from pairalign.formats.resumable import Resumable, ResumableFile
from pairalign.jobs.run import slabs as slabs_module


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def command() -> list[str]:
    write_set("in.fa", 40, 60)
    run("align", "in.fa", "-o", "one.paf", "-q", "--window", "9")
    return ["align", "in.fa", "-o", "out.paf", "--window", "9", *OPTIONS]


def begun_anew(command: list[str]) -> list[str]:
    """The command without what is of `--resume` alone."""
    place = command.index("--commit-every")
    return [word for word in (*command[:place], *command[place + 2 :]) if word != "--resume"]


def test_it_goes_on_and_does_not_begin_anew(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    interrupt(command, monkeypatch)
    done = json.loads(Path("out.paf.journal").read_text().splitlines()[-1].rpartition(" #")[0])
    capfd.readouterr()
    run(*[word for word in command if word != "-q"])
    assert f"resumed after {done['pairs']} of 780 pairs" in capfd.readouterr().err
    assert done["pairs"] > 0
    assert md5("out.paf") == md5("one.paf")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--gap-open", "12"), "scoring.gap_open: 11 and 12"),
        (("--min-score", "3"), "want.min_raw_score: None and 3"),
        (("--format", "tsv"), "format: paf and tsv"),
    ],
)
def test_another_run_is_refused(
    command: list[str],
    change: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    interrupt(command, monkeypatch)
    run(*command, *change, code=1)
    assert said in capfd.readouterr().err
    run(*command)  # nothing was lost
    assert md5("out.paf") == md5("one.paf")


def test_another_input_or_version_is_refused(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    interrupt(command, monkeypatch)
    text = Path("in.fa").read_text()
    Path("in.fa").write_text(text.replace("A", "W", 1))
    run(*command, code=1)
    assert "queries.digest" in capfd.readouterr().err
    Path("in.fa").write_text(text)
    with monkeypatch.context() as patch:
        patch.setattr("pairalign.base.version.__version__", "99")
        run(*command, code=1)
    assert "and 99" in capfd.readouterr().err
    run(*command)
    assert md5("out.paf") == md5("one.paf")


def test_another_machine_may_go_on(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads and memory decide slabs, and may be others."""
    interrupt(command, monkeypatch)
    run(*command[:-1], "1G", "--threads", "2")
    assert md5("out.paf") == md5("one.paf")


@pytest.mark.parametrize("damage", range(6))
def test_damage_is_refused(
    damage: int,
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    interrupt(command, monkeypatch)
    journal, part = Path("out.paf.journal"), Path("out.paf.part")
    lines = journal.read_bytes().splitlines(keepends=True)
    committed = json.loads(lines[-1].rpartition(b" #")[0])["bytes"]
    edits = [
        lambda: journal.write_bytes(b"".join(lines).replace(b'"pairs": ', b'"pairs": 1')),
        lambda: journal.write_bytes(lines[0].replace(b"BLOSUM62", b"BLOSUM50")),
        lambda: journal.write_bytes(lines[0][:-20]),
        lambda: journal.write_bytes(lines[0] + b"\n" + lines[1]),
        lambda: part.write_bytes(part.read_bytes()[: committed - 1]),
        lambda: part.write_bytes(b"X" + part.read_bytes()[1:]),
    ]
    edits[damage]()
    run(*command, code=1)
    assert "leave --resume out to begin anew" in capfd.readouterr().err
    assert not Path("out.paf").exists()
    run(*(word for word in begun_anew(command) if word != "-q"))
    assert "'out.paf.part', which a run with --resume had left, is" in capfd.readouterr().err
    assert md5("out.paf") == md5("one.paf")
    assert not journal.exists()
    assert not part.exists()


def test_an_empty_journal_is_nobodys(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    interrupt(command, monkeypatch)
    journal, part = Path("out.paf.journal"), Path("out.paf.part")
    journal.write_bytes(b"")
    before = part.read_bytes()
    run(*command, code=1)
    assert "'out.paf.journal' is no journal of pairalign" in capfd.readouterr().err.replace(
        f"{Path.cwd()}/", ""
    )
    run(*begun_anew(command))
    assert md5("out.paf") == md5("one.paf")
    assert journal.read_bytes() == b""
    assert part.read_bytes() == before


def test_half_a_commit_does_not_count(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(command, monkeypatch)
    journal = Path("out.paf.journal")
    journal.write_bytes(journal.read_bytes()[:-5])
    run(*command)
    assert md5("out.paf") == md5("one.paf")


def test_a_long_journal_is_shortened(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What only the last commit needs is kept of that one alone; the lock stays."""
    monkeypatch.setattr(journal_module, "_MOST_BYTES", 4000)
    command = [word.replace("out.paf", "out.sam.gz") for word in command]
    run(*(word.replace("out.sam", "one.sam") for word in begun_anew(command)))
    interrupt(command, monkeypatch, 4)
    journal = Journal("out.sam.gz.journal", _run_in("out.sam.gz.journal"))
    assert journal.last is not None
    assert journal.last.state["rest"]
    assert [bool(commit.left) for commit in journal.history].count(True) >= 2
    lines = Path("out.sam.gz.journal").read_bytes().splitlines()
    assert [b'"rest"' in line for line in lines[1:3]] == [False, False]
    with pytest.raises(PartsError, match="another run is writing"):
        Journal("out.sam.gz.journal", _run_in("out.sam.gz.journal"))
    journal.close()
    run(*command)
    assert md5("out.sam.gz") == md5("one.sam.gz")


def _run_in(journal: str) -> dict[str, object]:
    """The description of the run that a journal is of."""
    line = Path(journal).read_bytes().splitlines()[0]
    run: dict[str, object] = json.loads(line.rpartition(b" #")[0])["run"]
    return run


def test_two_runs_of_one_output(capfd: pytest.CaptureFixture[str]) -> None:
    write_set("in.fa", 30, 60)
    held = Resumable("out.paf", {"run": 1})
    for options in ((), ("--resume",)):
        run("align", "in.fa", "-o", "out.paf", "-q", *options, code=1)
        assert "another run is writing this output" in capfd.readouterr().err
    held.output.abort()
    run("align", "in.fa", "-o", "out.paf", "-q")
    descriptor = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.unlink("gone")
    with pytest.raises(PartsError, match="another run has just finished"):
        journal_module.lock_journal(descriptor, "gone")
    os.close(descriptor)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_file_systems_without_locks(
    number: int,
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """As Lustre without ``-o flock``: a run goes on, a new one replaces what it has left."""

    def refuse(descriptor: int, how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    interrupt(command, monkeypatch)
    capfd.readouterr()
    run(*[word for word in command if word != "-q"])
    said = capfd.readouterr().err
    assert f"out.paf.journal' cannot be locked ({os.strerror(number)})" in said
    assert "resumed after " in said
    assert md5("out.paf") == md5("one.paf")
    interrupt(command, monkeypatch)
    run("align", "in.fa", "-o", "out.paf", "-q")
    assert sorted(os.listdir()) == ["in.fa", "one.paf", "out.paf"]


@pytest.mark.parametrize("seconds", ["0", "1e6"])
@pytest.mark.parametrize("command", ["align", "listed", "distance", "overlap"])
def test_results_are_committed_as_often_as_they_are_to_be(
    monkeypatch: pytest.MonkeyPatch, command: str, seconds: str
) -> None:
    """Also where memory has room for all of them: work may take hours and give few bytes."""
    write_set("in.fa", 40, 60)
    options = ["in.fa", "-o", "out", "--device", "cpu", "-q", "-t", "1"]
    if command == "listed":
        Path("pairs.txt").write_text("".join(f"p{i}\tp{j}\n" for j in range(40) for i in range(j)))
        options += ["--pairs", "pairs.txt"]
    if command == "overlap":
        Path("in.fa").write_text("".join(f">r{i}\n{'ACGGTCAT' * 8}\n" for i in range(40)))
        options += ["--min-overlap", "20"]
    options += ["--format", "phylip" if command == "distance" else "paf"]
    words = ["align" if command == "listed" else command, *options]
    run(*words)
    expected = md5("out")
    monkeypatch.setattr(slabs_module, "_CORE_SPEED", 10)
    commits = []
    commit = ResumableFile.commit

    def counted(self: ResumableFile, pairs: int, **more: Any) -> None:
        commits.append(pairs)
        commit(self, pairs, **more)

    monkeypatch.setattr(ResumableFile, "commit", counted)
    run(*words, "--resume", "--commit-every", seconds)
    assert md5("out") == expected
    assert commits == sorted(commits)
    assert len(set(commits)) > 10 if seconds == "0" else len(set(commits)) == 1


def test_a_part_is_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    write_set("in.fa", 40, 60)
    options = ("--window", "9", "--mode", "local", "--min-score", "12")
    run("align", "in.fa", "-o", "one.fasta", "-q", *options)
    for k in (2, 3, 1):
        shard = ("--shard", f"{k}/3", "--format", "fasta")
        command = ["align", "in.fa", "-o", "parts", *shard, *options, *OPTIONS]
        interrupt(command, monkeypatch, 2)
        run(*command)
    run("merge", "parts", "-o", "all.fasta", "-q")
    assert md5("all.fasta") == md5("one.fasta")


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "a3m"])  # of one query
def test_every_format_is_resumed(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_set("in.fa", 40, 60)
    options = ("--window", "9", "--mode", "local", "--min-score", "12", "--format", format)
    run("align", "in.fa", "-o", "one", "-q", *options)
    command = ["align", "in.fa", "-o", "out", *options, *OPTIONS]
    interrupt(command, monkeypatch, 3)
    interrupt(command, monkeypatch, 2)
    run(*command)
    assert md5("out") == md5("one")


def test_overlaps_are_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    genome = "".join(rng.choice(list("ACGT"), 9000))
    Path("reads.fa").write_text(
        "".join(f">r{i}\n{genome[i : i + 110]}\n" for i in range(0, 8700, 8))
    )
    run("overlap", "reads.fa", "-o", "one.gfa", "-q")
    assert Path("one.gfa").read_bytes().count(b"\nL\t") > 1000
    command = ["overlap", "reads.fa", "-o", "out.gfa", *OPTIONS]
    interrupt(command, monkeypatch, 1)
    run(*command)
    assert md5("out.gfa") == md5("one.gfa")


@pytest.mark.parametrize("output", ["out.tsv", "out.nwk"])
def test_distances_and_trees_are_resumed(
    output: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write_set("in.fa", 1100, 12)  # more than a window
    name = "tree" if output == "out.nwk" else "distance"
    run(name, "in.fa", "-o", f"one.{output}", "-q")
    command = [name, "in.fa", "-o", output, *OPTIONS[:-1], "64M"]
    interrupt(command, monkeypatch, 2)
    capfd.readouterr()
    run(*[word for word in command if word != "-q"])
    assert "resumed after " in capfd.readouterr().err
    assert md5(output) == md5(f"one.{output}")
    interrupt(command, monkeypatch, 1)
    run(name, "in.fa", "-o", output)
    assert f"'{output}.distances.part', which a run with" in capfd.readouterr().err
    assert sorted(os.listdir()) == ["in.fa", f"one.{output}", output]


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system of 256 KiB, and what makes it larger."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a file system")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount a file system: {mounted.stderr.decode().strip()}")
    yield (
        place,
        lambda: subprocess.run(["mount", "-o", "remount,size=64m", "tmpfs", place], check=True),
    )
    subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize("format", ["tsv", "tsv.gz", "tsv.zst"])
def test_a_full_disk_gets_room(small_disk, format: str, capfd: pytest.CaptureFixture[str]) -> None:
    place, enlarge = small_disk
    write_set("in.fa", 160, 200)
    run("align", "in.fa", "-o", f"one.{format}", "-q", "--window", "20")
    out = str(place / f"out.{format}")
    command = ["align", "in.fa", "-o", out, "--window", "20", *OPTIONS]
    run(*command, code=1)
    assert "No space left on device" in capfd.readouterr().err
    run(*command, code=1)  # still full
    enlarge()
    run(*command)
    assert md5(out) == md5(f"one.{format}")
    assert os.listdir(place) == [f"out.{format}"]
