"""Runs that are killed go on, and give the bytes of a run that was not."""

import errno
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from resuming import OPTIONS, interrupt, md5, run, write_set

from pairalign.errors import PartsError
from pairalign.formats.part_output import PartOutput, take, whole_part
from pairalign.formats.pieces import Part
from pairalign.jobs.run import slabs as slabs_module

BEGUN = "out.paf.parts/.part-1-of-1.begun"


pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def command() -> list[str]:
    write_set("in.fa", 40, 60)
    run("align", "in.fa", "-o", "one.paf", "-q", "--window", "9")
    return ["align", "in.fa", "-o", "out.paf", "--window", "9", *OPTIONS]


def test_another_input_or_version_is_refused(command, monkeypatch, capfd):
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


@pytest.mark.parametrize("damage", range(6))
def test_damage_is_refused(damage, command, monkeypatch, capfd):
    interrupt(command, monkeypatch)
    manifest, piece = Path(BEGUN), Path("out.paf.parts/part-1-of-1.2.paf")
    text = manifest.read_bytes()
    edits = [
        lambda: manifest.write_bytes(text.replace(b'"pieces": [[0, ', b'"pieces": [[0, 1')),
        lambda: manifest.write_bytes(text.replace(b"BLOSUM62", b"BLOSUM50")),
        lambda: manifest.write_bytes(text[:-20]),
        lambda: piece.unlink(),
        lambda: piece.write_bytes(piece.read_bytes()[:-1]),
        lambda: piece.write_bytes(b"X" + piece.read_bytes()[1:]),
    ]
    edits[damage]()
    run(*command, code=1)
    said = capfd.readouterr().err
    assert "delete it and" in said
    assert (piece if damage > 2 else manifest).name in said
    assert not Path("out.paf").exists()
    shutil.rmtree("out.paf.parts")
    run(*command)
    assert md5("out.paf") == md5("one.paf")
    assert not manifest.parent.exists()


def test_a_run_that_does_not_go_on_leaves_what_was_kept(command, monkeypatch):
    interrupt(command, monkeypatch)
    before = {path: path.read_bytes() for path in Path("out.paf.parts").iterdir()}
    run(*command[: -len(OPTIONS)], "-q")
    assert md5("out.paf") == md5("one.paf")
    assert {path: path.read_bytes() for path in Path("out.paf.parts").iterdir()} == before


def test_two_runs_of_one_output(capfd):
    write_set("in.fa", 30, 60)
    part = replace(whole_part("out.paf"), format="paf", run={"run": 1})
    held = PartOutput(part, resume=True)
    run("align", "in.fa", "-o", "out.paf", "-q", "--resume", code=1)
    assert "another run is writing this output" in capfd.readouterr().err
    held.abort()
    run("align", "in.fa", "-o", "out.paf", "-q", "--resume")
    assert not Path("out.paf.parts").exists()


def test_a_run_that_has_just_finished(monkeypatch):
    part = Part(".", 1, 1, "paf")
    os.close(part.write(part.begun))

    def finish(descriptor: int, how: int) -> None:
        os.unlink(part.begun)

    monkeypatch.setattr("fcntl.flock", finish)
    with pytest.raises(PartsError, match="another run has just finished"):
        take(part)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_file_systems_without_locks(number, command, monkeypatch, capfd):
    """As Lustre without ``-o flock``: a run goes on."""

    def refuse(descriptor: int, how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    interrupt(command, monkeypatch)
    capfd.readouterr()
    run(*[word for word in command if word != "-q"])
    said = capfd.readouterr().err
    assert f".part-1-of-1.begun' cannot be locked ({os.strerror(number)})" in said
    assert "resumed after " in said
    assert md5("out.paf") == md5("one.paf")


@pytest.mark.parametrize("seconds", ["0", "1e6"])
@pytest.mark.parametrize("command", ["align", "listed", "distance", "overlap"])
def test_results_are_committed_as_often_as_they_are_to_be(monkeypatch, command, seconds):
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
    end = PartOutput._end

    def counted(self: PartOutput, start: int, pairs: int, *more: Any) -> None:
        commits.append(start + pairs)
        end(self, start, pairs, *more)

    monkeypatch.setattr(PartOutput, "_end", counted)
    run(*words, "--resume", "--commit-every", seconds)
    assert md5("out") == expected
    assert commits == sorted(commits)
    assert len(set(commits)) > 10 if seconds == "0" else len(set(commits)) == 1


@pytest.mark.parametrize("output", ["out.tsv", "out.nwk"])
def test_distances_and_trees_are_resumed(output, monkeypatch, capfd):
    write_set("in.fa", 1100, 12)  # more than a window
    name = "tree" if output == "out.nwk" else "distance"
    run(name, "in.fa", "-o", f"one.{output}", "-q")
    command = [name, "in.fa", "-o", output, *OPTIONS[:-1], "64M"]
    interrupt(command, monkeypatch, 2)
    capfd.readouterr()
    run(*[word for word in command if word != "-q"])
    assert "resumed after " in capfd.readouterr().err
    assert md5(output) == md5(f"one.{output}")
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
def test_a_full_disk_gets_room(small_disk, format, capfd):
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
