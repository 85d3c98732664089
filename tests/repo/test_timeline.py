"""The script that shows when the steps of a command begin and end."""

import subprocess
import sys
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest
import timeline

ROOT = Path(__file__).parents[2]
PROTEINS = ROOT / "examples" / "cytochrome_p450.fasta"


@pytest.mark.parametrize(("module", "function", "title"), timeline.STEPS)
def test_every_step_is_there(module: str, function: str, title: str) -> None:
    if module.startswith("pycuda"):
        pytest.importorskip("pycuda.driver")
    assert callable(reduce(getattr, function.split("."), import_module(module))), title


def test_a_command_is_measured(tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    command = ["align", str(PROTEINS), "-o", str(out), "--device", "cpu", "--quiet"]
    script = [sys.executable, str(ROOT / "scripts" / "timeline.py"), "--rounds", "2", "--"]
    done = subprocess.run([*script, *command], capture_output=True, text=True, check=True)
    assert len(out.read_text().splitlines()) == 1597
    for step in ("FASTA is read and sorted", "results are waited for", "interpreter ends"):
        assert done.stdout.count(step) == 2  # the first round, and the others
