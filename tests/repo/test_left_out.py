"""Tests that are left out are counted, and a run of nothing but such tests is no success."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import TIMEOUT_SECONDS

TESTS = """
import pytest

def test_plain():
    pass

@pytest.mark.gpu
@pytest.mark.parametrize("number", [1, 2])
def test_on_a_gpu(number):
    raise AssertionError("there is none")

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.parametrize("mode", ["a", "b", "c"])
@pytest.mark.parametrize("number", range(4))
def test_many(mode, number):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tests: a plain one, two that need a GPU, a slow one, a dozen of which some are drawn."""
    (tmp_path / "test_some.py").write_text(TESTS)
    markers = "gpu\n    slow"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nmarkers =\n    {markers}\n")
    return tmp_path


def run_tests(folder: Path, *options: str, profile: str = "") -> tuple[int, str]:
    """Exit code and output of pytest, on a machine where no GPU is to be seen."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    environment |= {
        "CUDA_VISIBLE_DEVICES": "",
        "HYPOTHESIS_PROFILE": profile,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1] / "support"), *sys.path]),
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "left_out", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "2"]], ids=["here", "in workers"])
def test_each_kind_is_a_line(folder, workers):
    (folder / "test_other.py").write_text(
        "import pytest\n"
        "def test_package():\n    pytest.importorskip('no_such_package')\n"
        "def test_program():\n    pytest.skip('miniasm is not installed')\n"
        "def test_device():\n    pytest.skip('OpenCL: no platform')\n"
        "def test_other():\n    pytest.skip('there is no such mode')\n"
    )
    code, said = run_tests(folder, *workers, "-m", "not slow", profile="few")
    assert code == 0, said
    assert "4 passed, 4 skipped" in said
    assert "Left out: 2 tests that need a GPU (" in said
    assert "make test-gpu\n" in said
    line = "Left out: 1 slow tests and 9 cases of others; to run everything: make test-all\n"
    assert line in said
    (line,) = re.findall(r"^Skipped: .*", said, re.MULTILINE)
    assert line.startswith("Skipped: 3 tests of what is not installed: an OpenCL device")
    assert "miniasm (1), no_such_package (1); packages: pip install NAME" in line


def test_cases_are_drawn_that_differ_and_are_always_the_same(folder):
    options = ("-k", "many", "--collect-only", "-q")
    first, again = (run_tests(folder, *options, profile="few")[1] for _ in range(2))
    drawn = re.findall(r"test_many\[(\d)-(\w)\]", first)
    assert drawn == re.findall(r"test_many\[(\d)-(\w)\]", again)
    assert len(drawn) == 3
    assert len({number for number, _ in drawn}) == 3
    assert {mode for _, mode in drawn} == {*"abc"}


def test_slow_tests_run_unless_deselected(folder):
    code, said = run_tests(folder)
    assert code == 0, said
    assert "14 passed" in said
    assert "Left out: 2 tests that need a GPU (" in said
    assert "slow tests" not in said


def test_tests_of_gpus_alone_are_an_error(folder):
    code, said = run_tests(folder, "-m", "gpu")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "these tests need a GPU: " in said
