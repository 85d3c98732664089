"""A first signal ends each phase of each command, whatever the phase does with it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import BASES, PROTEINS, TIMEOUT_SECONDS, fasta, start

from pairalign.cli.main import main
from pairalign.cli.signals import PATIENCE_SECONDS, SIGNAL_CODE

pytestmark = pytest.mark.usefixtures("signals")

ENDLESS = """
import sys, time
from importlib import import_module
from pathlib import Path
from pairalign.cli.main import program

module, names = sys.argv.pop(1).split(":")
place = import_module(module)
*outer, name = names.split(".")
for one in outer:
    place = getattr(place, one)
getattr(place, name)  # or the phase has another name now

def endless(*_, **__):
    Path("reached").touch()
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass

setattr(place, name, endless)
sys.exit(program())
"""
"""A phase that swallows exceptions, as native code and waiting threads do while they run."""

READING = "pairalign.jobs.run.inputs:read_set"
ALIGNING = "pairalign.engines.cpu.cpu_engine:CpuEngine.align"
PHASES = {
    "align": [
        READING,
        "pairalign.cli.align_command:plan_alignment",
        ALIGNING,
        "pairalign.jobs.run.file_destination:open_writer",
    ],
    "distance": ["pairalign.cli.distance_command:write_distances"],
    "tree": ["pairalign.cli.tree_command:build_tree"],
    "overlap": [
        "pairalign.jobs.overlaps.overlap_command:plan_overlap_job",
        "pairalign.jobs.overlaps.overlap:read_candidates",
        "pairalign.jobs.overlaps.overlap:find_candidates",
        "pairalign.jobs.overlaps.overlap_plan:open_filters",
        "pairalign.jobs.run.file_destination:open_writer",
    ],
    "merge": [
        "pairalign.cli.merge_command:read_manifests",
        "pairalign.cli.merge_command:merge_parts",
    ],
    "update": ["pairalign.jobs.update.update:read_manifests", ALIGNING],
    "cluster": ["pairalign.jobs.clusters.cluster_command:write_clusters"],
    "split": ["pairalign.jobs.splits.split_command:write_split"],
    "audit": ["pairalign.jobs.splits.audit_command:Violations.write"],
    "verify": ["pairalign.jobs.verify.verification:VerifyJob"],
    "msa": [
        "pairalign.jobs.msa.msa_plan:align_family",
        "pairalign.jobs.msa.msa_command:open_output",
    ],
    "posterior": ["pairalign.jobs.posterior.posterior_command:open_posteriors"],
    "rotate": ["pairalign.jobs.circular.rotate_command:open_output"],
    "pack": ["pairalign.cli.pack_command:pack", "pairalign.formats.pairset:encode_store"],
}
"""Of `align` each phase; of the others those that are their own."""
COMMANDS = {
    "align": ["align", "in.fa", "-o", "out"],
    "distance": ["distance", "in.fa", "-o", "out", "--format", "tsv"],
    "tree": ["tree", "in.fa", "-o", "out"],
    "overlap": ["overlap", "reads.fa", "-o", "out", "--preset", "short", "--min-overlap", "5"],
    "merge": ["merge", "parts", "-o", "out"],
    "update": ["update", "parts", "in2.fa", "-o", "out"],
    "cluster": ["cluster", "in.fa", "-o", "out", "--min-identity", "0.5"],
    "split": ["split", "in.fa", "-o", "out", "--min-identity", "0.5", "--folds", "2"],
    "audit": ["audit", "in.fa", "in2.fa", "-o", "out", "--min-identity", "0.1"],
    "verify": ["verify", "made.paf", "in.fa", "-o", "out"],
    "msa": ["msa", "in.fa", "-o", "out"],
    "posterior": ["posterior", "in.fa", "-o", "out"],
    "rotate": ["rotate", "in.fa", "-o", "out", "--to", "a"],
    "pack": ["pack", "in.fa", "-o", "out"],
}
FORMATS = {
    "align": "paf",
    "overlap": "paf",
    "cluster": "tsv",
    "msa": "fasta",
    "posterior": "tsv",
    "rotate": "fasta",
    "pack": "pairset",
}
ADDED = {
    "read_candidates": ["--candidates", "pairs.txt"],
    "find_candidates": ["--candidates", "seeds"],
    "open_filters": ["--filter", "bitwise"],
}


def write_inputs(command: str) -> None:
    Path("in.fa").write_text(fasta(PROTEINS))
    Path("in2.fa").write_text(fasta({f"{name}2": one for name, one in PROTEINS.items()}))
    Path("reads.fa").write_text(fasta(BASES))
    Path("pairs.txt").write_text("r1 r2\n")
    for number in "12" if command in ("merge", "update") else "":
        part = ["-o", "parts", "--format", "paf", "--shard", f"{number}/2"]
        assert main(["align", "in.fa", "--quiet", *part]) == 0
    if command == "verify":
        assert main(["align", "in.fa", "--quiet", "-o", "made.paf"]) == 0


def arguments_of(command: str, phase: str) -> list[str]:
    arguments = [*COMMANDS[command], *ADDED.get(phase.rpartition(":")[2], [])]
    if command in FORMATS:
        arguments += ["--format", FORMATS[command]]
    return [*arguments, "--quiet"] if command != "merge" else arguments


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + TIMEOUT_SECONDS
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"no {path}"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("command", "phase"), [(command, one) for command, all in PHASES.items() for one in all]
)
def test_a_first_signal_ends_a_phase(here, command, phase):
    assert PATIENCE_SECONDS < 2
    write_inputs(command)
    Path("out").write_text("before")
    there = sorted(os.listdir())
    program = [sys.executable, "-c", ENDLESS, phase]
    process = start(*arguments_of(command, phase), cwd=here, program=program)
    try:
        wait_for(Path("reached"), process)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == SIGNAL_CODE + signal.SIGTERM, err
    assert out == b""
    assert err.decode().endswith("pairalign: error: terminated; 'out' was not written\n")
    assert sorted(os.listdir()) == sorted([*there, "reached"])
    assert Path("out").read_text() == "before"


def test_a_signal_ends_mappy(here):
    """mappy takes minutes for reads that share everything, and Python waits for it."""
    pytest.importorskip("mappy")
    Path("temporary").mkdir()
    unit = "".join(np.random.default_rng(1).choice(list("ACGT"), 50))
    Path("in.fa").write_text(fasta({f"r{k}": unit * 200 for k in range(300)}))
    command = ["overlap", "in.fa", "-o", "out.paf", "--preset", "hifi", "--candidates", "mappy"]
    environment = {"TMPDIR": str(here / "temporary")}
    process = start(*command, "--quiet", cwd=here, env=environment)
    try:
        end = time.monotonic() + TIMEOUT_SECONDS
        while not workers_in(here):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.05)
        time.sleep(0.5)  # into its work
        assert workers_in(here)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=TIMEOUT_SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == SIGNAL_CODE + signal.SIGTERM
    assert err == b"pairalign: error: terminated; 'out.paf' was not written\n"
    assert sorted(os.listdir()) == ["in.fa", "temporary"]
    assert not os.listdir("temporary")
    assert not workers_in(here)


def workers_in(folder: Path) -> list[str]:
    """Numbers of the processes that name a file in a folder among their arguments."""
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"{folder}/temporary" in one.read_text(errors="replace"):
                found.append(one.parent.name)
        except OSError:
            continue  # it has ended meanwhile
    return found
