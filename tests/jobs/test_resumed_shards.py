"""Shards that go on after a kill, or are complete when they are asked for again."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from resuming import OPTIONS, interrupt, run, write_set

from pairalign.formats import FORMATS, OVERLAP_FORMATS
from pairalign.jobs.run.align import AlignmentJob

SHARDS = 3
LOUD = ["--resume", "--commit-every", "0", "--device", "cpu", "--memory", "64M"]
ALIGN = ("align", "in.fa", "--window", "9", "--mode", "local", "--min-score", "12")
OVERLAP = ("overlap", "reads.fa", "--preset", "hifi")
COMMANDS = [
    *((*ALIGN, "--format", format) for format in FORMATS if format != "a3m"),  # of one query
    *((*OVERLAP, "--format", format) for format in OVERLAP_FORMATS),
    ("distance", "in.fa", "--measure", "score"),
]


@pytest.fixture(autouse=True)
def folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pairalign.cli.align_command.keep_freed_memory", lambda _: None)
    write_set("in.fa", 40, 60)
    genome = "".join(np.random.default_rng(4).choice(list("ACGT"), 3000))
    Path("reads.fa").write_text(
        "".join(f">r{i}\n{genome[i : i + 310]}\n" for i in range(0, 2700, 45))
    )


def make_shards(command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Make the shards of a run, each of which is killed and goes on; return their commands."""
    made = []
    for shard in range(1, SHARDS + 1):
        made.append([*command, "-o", "parts", "--shard", f"{shard}/{SHARDS}", *OPTIONS])
        interrupt(made[-1], monkeypatch, 1)
        run(*made[-1])
    return made


def contents() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path("parts").iterdir()}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: f"{one[0]}-{one[-1]}")
def test_shards_that_went_on_are_merged(command, monkeypatch):
    output = "one.npy" if command[0] == "distance" else "one"
    run(*command, "-o", output, "-q", "--device", "cpu")
    make_shards(command, monkeypatch)
    merged = output.replace("one", "all")
    run("merge", "parts", "-o", merged, "-q")
    assert Path(merged).read_bytes() == Path(output).read_bytes()


def test_distances_of_shards_that_went_on(monkeypatch):
    make_shards(("distance", "in.fa", "--measure", "kimura"), monkeypatch)
    run("tree", "in.fa", "-o", "one.nwk", "-q", "--device", "cpu", "--measure", "kimura")
    run("tree", "parts", "--names", "in.fa", "-o", "all.nwk", "-q")
    assert Path("all.nwk").read_bytes() == Path("one.nwk").read_bytes()
    write_set("more.fa", 44, 60)
    for name, options in (("one", ()), ("all", ("--extend", "parts"))):
        run("distance", "more.fa", "-o", f"{name}.npy", "-q", "--measure", "kimura", *options)
    assert Path("all.npy").read_bytes() == Path("one.npy").read_bytes()


@pytest.mark.parametrize("command", [ALIGN, COMMANDS[-2], COMMANDS[-1]], ids=lambda one: one[0])
def test_complete_shards_are_not_made_again(command, monkeypatch, capfd):
    if command == ALIGN:
        command = (*ALIGN, "--format", "paf")
    made = make_shards(command, monkeypatch)
    before = contents()

    def refuse(_: AlignmentJob) -> Iterator[Any]:
        raise AssertionError("a complete shard is aligned again")

    monkeypatch.setattr(AlignmentJob, "open", refuse)
    for one in made:
        capfd.readouterr()
        run(*[word for word in one if word != "-q"])
        assert "is complete" in capfd.readouterr().err
    assert contents() == before


def summary_of(command: list[str], capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capfd.readouterr()
    run(*command, "--summary", "json")
    line = capfd.readouterr().err.splitlines()[-1]
    how = ("seconds", "gcups", "written_to", "scored", "aligned", "again", "filtered", "reads")
    return {name: value for name, value in json.loads(line).items() if name not in how}


@pytest.mark.parametrize(
    "command",
    [
        ("align", "in.fa", "-o", "out.paf", "--window", "9"),
        (*ALIGN, "-o", "out.sam"),
        (*ALIGN, "-o", "out.tsv", "--max-hits", "2"),
        (*ALIGN, "-o", "parts", "--shard", "2/3", "--format", "paf"),
        ("overlap", "reads.fa", "-o", "parts", "--shard", "2/3", "--format", "paf"),
        ("overlap", "reads.fa", "-o", "out.paf"),
        ("distance", "in.fa", "-o", "out.npy"),
    ],
    ids=lambda one: f"{one[0]}-{one[-1]}",
)
def test_the_summary_is_of_the_whole(command, monkeypatch, capfd):
    expected = summary_of([*command, "--device", "cpu"], capfd)
    for made in [*Path("parts").glob("*"), *Path("parts").glob(".p*")]:
        made.unlink()
    interrupt([*command, *LOUD], monkeypatch, 2 if command[0] == "align" else 1)
    assert summary_of([*command, *LOUD], capfd) == expected
    if "--shard" in command:
        assert summary_of([*command, *LOUD], capfd) == expected
    assert not [name for name in os.listdir() if name.endswith(".parts")]
