"""`pairalign update`, killed at every step: the earlier run is untouched, a second try succeeds."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pairalign.cli.main import main

SUPPORT = Path(__file__).parents[1] / "support"


def write_set(path: str, count: int, prefix: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    with Path(path).open("w") as file:
        for number in range(count):
            letters = "".join(rng.choice(list("ACDE"), rng.integers(8, 30)))
            file.write(f">{prefix}{number}\n{letters}\n")


def check(ended: bool) -> None:
    """The run that was added to is as it was; results are whole, or not there."""
    for path in Path("kept").iterdir():
        assert (Path("parts") / path.name).read_bytes() == path.read_bytes()
    assert len(os.listdir("parts")) == len(os.listdir("kept"))
    out, whole = Path(os.environ["OUT"]), Path("fresh").read_bytes()
    part = out if out.suffix else out / f"part-1-of-1.{os.environ['FORMAT']}"
    if out.suffix:
        assert part.exists() or not ended
        assert not part.exists() or part.read_bytes() == whole
    elif ended or (out / "part-1-of-1.json").exists():
        assert (out / "part-1-of-1.json").exists()
        assert part.read_bytes() == whole
    if ended:
        kept = out.parent if out.suffix else out
        assert [name for name in os.listdir(kept) if name.endswith((".part", ".begun"))] == []
        shutil.rmtree(out) if out.is_dir() else out.unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format", "into"),
    [
        *(("tsv", "file"), ("tsv", "folder"), ("parquet", "file"), ("npz", "folder")),
        ("tsv of hits", "file"),
    ],
)
def test_killed_at_every_step(format, into, here):
    write_set("old.fa", 9, "p", 1)
    write_set("new.fa", 3, "q", 2)
    format, _, hits = format.partition(" of ")
    options = ["--format", format, "-q", "--device", "cpu", "--threads", "1"]
    options += ["--max-hits", "2"] if hits else []
    assert main(["align", "old.fa", "--also", "new.fa", "-o", "fresh", *options]) == 0
    for k in (1, 2):
        assert main(["align", "old.fa", "-o", "parts", "--shard", f"{k}/2", *options]) == 0
    shutil.copytree("parts", "kept")
    out = f"out.{format}" if into == "file" else "out/"
    environment = {
        **os.environ,
        **{
            "OUT": out,
            "FORMAT": format,
            "PYTHONPATH": f"{SUPPORT.parents[1]}:{SUPPORT}:{Path(__file__).parent}",
        },
    }
    command = ["update", "parts", "new.fa", "-o", out, "-q", "--device", "cpu", "--threads", "1"]
    done = subprocess.run(
        [sys.executable, SUPPORT / "kill_at_steps.py", "test_update_killed:check", *command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) >= 8
