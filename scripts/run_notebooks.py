"""Run the tutorials, ``examples/*.ipynb``; with ``--write`` keep what they print and draw.

python scripts/run_notebooks.py [--write] [NOTEBOOK...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples"
SECONDS = 600
PICTURE = "image/png"


def run(path: Path) -> nbformat.NotebookNode:
    """Run a notebook in its folder; return it with its outputs. An error of a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
    return notebook


def count_pictures(notebook: nbformat.NotebookNode) -> int:
    """Return how many pictures a notebook that was run shows."""
    return sum(
        PICTURE in output.get("data", {})
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    )


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="keep the outputs in the notebook")
    options = parser.parse_args()
    for path in options.notebooks or sorted(FOLDER.glob("*.ipynb")):
        notebook = run(path)
        print(f"{path.name}: {len(notebook.cells)} cells, {count_pictures(notebook)} pictures")
        if options.write:
            nbformat.write(notebook, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
