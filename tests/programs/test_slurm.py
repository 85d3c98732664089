"""The job array of examples/slurm: its tasks as plain processes, and under Slurm if it runs."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import TIMEOUT_SECONDS, write_random_set

from pairalign.cli.main import main

SCRIPT = Path(__file__).parents[2] / "examples/slurm/align.sh"
PROGRAM = f"{sys.executable} -m pairalign"
OPTIONS = ("--mode", "local", "--min-score", "25", "--format", "tsv", "--device", "cpu")


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    write_random_set(Path("in.fa"), 90, 80)
    assert main(["align", "in.fa", "-o", "one.tsv", "-q", *OPTIONS]) == 0


def check_merged() -> None:
    assert main(["merge", "parts", "-o", "all.tsv", "-q"]) == 0
    merged, expected = (hashlib.md5(Path(name).read_bytes()) for name in ("all.tsv", "one.tsv"))
    assert merged.digest() == expected.digest()


def run_task(task: int, **more: str) -> None:
    variables = {"SLURM_ARRAY_TASK_ID": str(task), "PAIRALIGN": PROGRAM, **more}
    command = [SCRIPT, "in.fa", "parts", *OPTIONS]
    subprocess.run(command, env={**os.environ, **variables}, check=True, timeout=TIMEOUT_SECONDS)


def test_as_plain_processes(capfd):
    for task in (2, 4, 1):
        run_task(task, SLURM_ARRAY_TASK_COUNT="4", SLURM_CPUS_PER_TASK="1")
    capfd.readouterr()
    assert main(["merge", "parts", "--plan"]) == 0
    assert "1 of 4 parts are missing: 3\n" in capfd.readouterr().out
    run_task(3, SLURM_ARRAY_TASK_COUNT="1", SHARDS="4")
    check_merged()


@pytest.mark.slow
def test_under_slurm():
    if shutil.which("sbatch") is None:
        pytest.skip("needs Slurm (Debian: slurm-wlm)")
    found = subprocess.run(["sinfo", "-h"], capture_output=True, timeout=TIMEOUT_SECONDS)
    if found.returncode or not found.stdout:
        pytest.skip(f"Slurm is there but does not run: {found.stderr.decode().strip()}")
    submit = ["sbatch", "--parsable", "--array=1-4", f"--export=ALL,PAIRALIGN={PROGRAM}"]
    job = subprocess.check_output([*submit, SCRIPT, "in.fa", "parts", *OPTIONS], text=True).strip()
    end = time.monotonic() + 3 * TIMEOUT_SECONDS
    while subprocess.check_output(["squeue", "-h", "-j", job], text=True).strip():
        assert time.monotonic() < end, "the job array does not end"
        time.sleep(0.5)
    check_merged()
