"""Draw how sure the columns of a multiple alignment are: the picture of docs/msa-tutorial.md.

pairalign msa examples/cytochrome_p450.fasta -o columns.tsv
python scripts/draw_confidence.py columns.tsv -o docs/images/msa-confidence.svg
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import numpy as np
from drawing import DARK, INK, PALE, PATH
from matplotlib import pyplot

WINDOW = 15
"""Columns that the line is the mean of."""


def draw(table: Path, output: Path) -> None:
    """Draw a table of columns as ``pairalign msa -o columns.tsv`` writes it."""
    with open(table, encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    residues = np.array([int(row["residues"]) for row in rows])
    confidence = np.array([float(row["confidence"] or "nan") for row in rows])
    columns = np.arange(1, len(rows) + 1)
    figure, axes = pyplot.subplots(figsize=(8, 2.6), layout="constrained")
    axes.fill_between(columns, residues / residues.max(), step="mid", color=PALE)
    axes.plot(columns, confidence, linewidth=0.4, color=DARK)
    known = np.isfinite(confidence)
    sums = np.convolve(np.where(known, confidence, 0), np.ones(WINDOW), "same")
    counts = np.convolve(known, np.ones(WINDOW), "same")
    axes.plot(
        columns,
        np.where(counts > 0, sums / np.maximum(counts, 1), np.nan),
        color=PATH,
        linewidth=1.2,
    )
    axes.axhline(0.5, color=INK, linewidth=0.5, linestyle=":")
    axes.set(xlim=(1, len(rows)), ylim=(0, 1.02), xlabel="column", ylabel="confidence")
    axes.set_title(
        f"thin: columns; thick: mean of {WINDOW}; shaded: share of sequences with a residue",
        fontsize=8,
        color=INK,
    )
    figure.savefig(output, metadata={"Date": None})


def main() -> None:
    """Read the command line and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("table", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    matplotlib.rcParams.update({"svg.hashsalt": "pairalign", "svg.fonttype": "none"})
    draw(options.table, options.output)


if __name__ == "__main__":
    main()
