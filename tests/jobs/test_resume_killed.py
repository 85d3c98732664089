"""Runs that are killed at any moment go on, and give the bytes of a run that was not."""

import contextlib
import functools
import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import TIMEOUT_SECONDS, start
from resuming import OPTIONS, Killed, md5, run, write_set

from pairalign.base import part_file, run_files
from pairalign.cli.main import main
from pairalign.formats import merge, part_output, pieces
from pairalign.formats.part_output import PartOutput

ENDINGS = ("parquet", "tsv.gz", "sam", "gexf", "npz", "a3m", "phylip", "newick")
"""Of those that go on in other ways."""


pytestmark = pytest.mark.usefixtures("here")


def kill_after(seconds: float, *arguments: str) -> bool:
    """Run a command and kill it; False if it was done before. Whatever it says is no error."""
    process = start(*arguments, cwd=Path.cwd())
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    _, said = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode in (0, -9), said
    return process.returncode != 0


def kill_and_resume(chance: random.Random, command: list[str], output: str, kills: int) -> int:
    """Kill a command at random moments until it is done; return how often it was killed."""
    began = time.monotonic()
    assert not kill_after(TIMEOUT_SECONDS, *command)
    whole = time.monotonic() - began
    expected = md5(output)
    done = 0
    while done < kills:
        os.unlink(output)
        before, began = done, time.monotonic()
        while done < kills and not os.path.exists(output):
            done += kill_after(chance.uniform(0.2, 1.1) * whole, *command)
        if done == before:
            whole = time.monotonic() - began  # the machine is less busy than it was
        if not os.path.exists(output) or os.path.exists(f"{output}.parts"):
            assert not kill_after(TIMEOUT_SECONDS, *command)
        assert md5(output) == expected
        assert not os.path.exists(f"{output}.parts")
    return done


KILLS = int(os.environ.get("PAIRALIGN_KILLS", "3"))
"""In each format."""


@pytest.mark.slow
@pytest.mark.parametrize("format", ENDINGS)
def test_killed_at_random_moments(format):
    name = {"phylip": "distance", "newick": "tree"}.get(format, "align")
    inputs = ["in.fa"]
    options = ["--mode", "local", "--format", format.removesuffix(".gz")]
    if name != "align":
        write_set("in.fa", 1100, 20)  # more than a window
        options += ["--memory", "64M"]
    elif format == "a3m":  # of one query
        write_set("in.fa", 1, 400)
        write_set("other.fa", 3000, 200, 6)
        inputs.append("other.fa")
        options += ["--min-score", "30", "--window", "300"]
    else:
        write_set("in.fa", 140, 300)
        options += ["--min-score", "30", "--window", "20"]
    run(name, *inputs, "-o", f"one.{format}", *options, "-q", "--device", "cpu")
    command = [name, *inputs, "-o", f"out.{format}", *OPTIONS, *options, "-t", "1"]
    kill_and_resume(random.Random(format), command, f"out.{format}", KILLS)
    assert md5(f"out.{format}") == md5(f"one.{format}")


# Every step of writing, without a process that is killed: it ends in an exception, and what would
# have been cleaned up stays as a kill leaves it.


STEPS = [
    (part_output.os, "fdatasync"),
    (part_file, "publish"),
    (pieces.os, "fsync"),
    (run_files.os, "unlink"),
    (run_files.os, "rmdir"),
    (pieces, "_sync_folder"),
    (pieces, "check_piece"),
    (PartOutput, "_open"),
    (merge, "merge_pieces"),
]


@pytest.fixture(scope="module")
def whole_runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The digest of what a run in a format gives that nobody kills."""
    inside = tmp_path_factory.mktemp("whole")

    @functools.cache
    def whole(format: str) -> str:
        output = inside / f"one.{format}"
        run("align", "in.fa", "-o", str(output), "-q", *BRIEF)
        return md5(output)

    return whole


BRIEF = ("--window", "9", "--mode", "local", "--min-score", "12")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", range(len(STEPS)), ids=[name for _, name in STEPS])
def test_killed_at_every_step(step, after, monkeypatch, whole_runs):
    format = ("fasta", "tsv.gz", "parquet")[step % 3]
    write_set("in.fa", 40, 60)
    expected = whole_runs(format)
    command = ("align", "in.fa", "-o", f"out.{format}", *BRIEF, *OPTIONS)
    module, name = STEPS[step]
    real = getattr(module, name)
    calls = 0
    for last in (0, 1, 3, 8):

        def killed(*arguments: Any, last: int = last, **more: Any) -> object:
            nonlocal calls
            calls += 1
            if calls <= last:
                return real(*arguments, **more)
            if after:
                real(*arguments, **more)
            raise Killed

        calls = 0
        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            patch.setattr(module, name, killed)
            main(list(command))
        assert not Path(f"out.{format}").exists() or md5(f"out.{format}") == expected
    if Path(f"out.{format}").exists() and not Path(f"out.{format}.parts").exists():
        os.unlink(f"out.{format}")
    run(*command)
    assert md5(f"out.{format}") == expected
    assert not Path(f"out.{format}.parts").exists()
