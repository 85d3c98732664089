"""The limit of memory: what is held counts, and what does not fit is refused before aligning."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import TIMEOUT_SECONDS, write_random_set

from pairalign import CapacityError, distance, tree
from pairalign.jobs.run.memory import bytes_of, distance_bytes
from pairalign.requests.resources import Resources

MIB = 1 << 20
COUNT, LETTERS = 6000, 8
TRIANGLE = COUNT * (COUNT - 1) // 2 * 4  # 69 MiB

# The peak of the process itself: what a child is said to have used includes what its parent had.
PROGRAM = """
import sys
from pairalign.cli.main import main
code = main(sys.argv[1:])
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) << 10)
sys.exit(code)
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="peaks as Linux tells them")


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    write_random_set(Path("many.fa"), COUNT, LETTERS)
    write_random_set(Path("half.fa"), COUNT // 2, LETTERS)
    write_random_set(Path("few.fa"), 4, LETTERS)


def peak(*arguments: str) -> int:
    """Most memory that the command had at a time, in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments, "--quiet", "--device", "cpu"],
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


LIMITS = {
    "distance -o x.npy": 96 * MIB,
    "distance -o x.npy --measure score": 96 * MIB,
    "distance -o x.tsv --measure identity": 120 * MIB,
    "tree -o x.nwk": 4 * TRIANGLE + 32 * MIB,
    "align -o x.tsv --score-only": 32 * MIB,
    "align -o x.paf": 32 * MIB,
}


@linux
@pytest.mark.parametrize(
    "command", [pytest.param(one, marks=[pytest.mark.slow] * ("paf" not in one)) for one in LIMITS]
)
def test_the_limit_holds(command):
    """Beside the interpreter with its libraries, which is what a tiny set takes."""
    name, *rest = command.split()
    many = "half.fa" if "x.paf" in rest else "many.fa"  # alignments take more than distances
    without = peak(name, "few.fa", *rest)
    assert peak(name, many, *rest, "--memory", str(LIMITS[command])) - without <= LIMITS[command]


@pytest.mark.slow
@linux
def test_alignments_in_parquet_hold_the_limit():
    pytest.importorskip("pyarrow")
    write_random_set(Path("proteins.fa"), 800, 400)
    command = ("align", "-o", "x.parquet", "-t", "2")
    without = peak(*command, "few.fa")
    assert peak(*command, "proteins.fa", "--memory", "64M") - without <= 64 * MIB


@linux
@pytest.mark.parametrize(
    ("name", "threshold"),
    [
        ("x.npz", "0.01"),
        *(
            pytest.param(name, "0.001", marks=pytest.mark.slow)
            for name in ("x.npz", "x.tsv", "x.tc_lib", "x.parquet")
        ),
    ],
)
def test_posteriors_hold_the_limit(name, threshold):
    """Entries that would take three times the limit are never in memory together."""
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    write_random_set(Path("proteins.fa"), 32, 600)
    command = ("posterior", "--threshold", threshold, "-o", name)
    without = peak(*command, "few.fa")
    assert peak(*command, "proteins.fa", "--memory", "64M", "-t", "2") - without <= 64 * MIB


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (("distance", "-o", "x.phy"), TRIANGLE + 16 * MIB),
        (("tree", "-o", "x.nwk"), 4 * TRIANGLE + 32 * MIB),
        (("tree", "-o", "x.nwk", "--method", "mixed"), 4 * TRIANGLE + 32 * MIB),
    ],
)
def test_too_little_is_refused_before_aligning(arguments, needed):
    command = [sys.executable, "-m", "pairalign", arguments[0], "many.fa", *arguments[1:]]
    command += ["--device", "cpu", "--memory"]
    done = subprocess.run([*command, str(needed - 1)], capture_output=True, check=False)
    assert done.returncode == 1
    mebibytes = -(-needed // MIB)
    said = f"17,997,000 pairs, whose distances need {mebibytes} MiB of memory in all; "
    assert done.stderr.decode().startswith(f"pairalign: error: 6,000 sequences have {said}")
    assert sorted(path.name for path in Path().iterdir()) == ["few.fa", "half.fa", "many.fa"]


def test_too_little_in_python():
    for function in (distance, tree):
        with pytest.raises(CapacityError) as caught:
            function("many.fa", memory=64 * MIB)
        assert caught.value.available_bytes == 64 * MIB
        assert caught.value.needed_bytes > TRIANGLE


def test_what_is_left_for_aligning(monkeypatch):
    assert distance_bytes(COUNT, 512 * MIB) == TRIANGLE
    assert bytes_of(Resources(memory=512 * MIB), TRIANGLE) == 512 * MIB - TRIANGLE
    monkeypatch.setattr("pairalign.base.limits.free_bytes", lambda: 1024 * MIB)
    assert bytes_of(Resources(), TRIANGLE) == (1024 * MIB - TRIANGLE) // 2
    monkeypatch.setattr("pairalign.jobs.run.memory.free_bytes", lambda: TRIANGLE - 1)
    with pytest.raises(CapacityError, match="are free"):
        distance_bytes(COUNT, None)


def test_parts_of_results_give_the_same_distances(monkeypatch):
    whole = distance("few.fa", measure="kimura")
    monkeypatch.setattr("pairalign.jobs.distances.distance._PART_PAIRS", 1)
    assert np.array_equal(distance("few.fa", measure="kimura").condensed, whole.condensed)
