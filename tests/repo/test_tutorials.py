"""The tutorials, notebooks in ``examples``: they run from the top to the end, and draw."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_tutorials_run(path):
    for package in ("nbclient", "ipykernel", "matplotlib", "networkx", "pandas"):
        pytest.importorskip(package)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "run_notebooks.py", path],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("cells, 3 pictures\n")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_tutorials_are_kept_with_what_they_show(path):
    cells = json.loads(path.read_text())["cells"]
    outputs = [one for cell in cells for one in cell.get("outputs", ())]
    assert sum("image/png" in one.get("data", {}) for one in outputs) == 3
    assert not [one for one in outputs if one["output_type"] == "error"]
    assert path.stat().st_size < 300_000
