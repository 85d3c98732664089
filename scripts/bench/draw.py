"""The subcommand `draw`: plots of figures that `cpu --json` and `gpu --output` have saved.

    python scripts/benchmark.py draw docs/measured -o docs/images

A folder has ``gpu-*-TABLE.json`` and ``cpu.json``; each plot names its machine.
"""

from __future__ import annotations

import json
import statistics
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COLORS = {"global": "#00796b", "semiglobal": "#ef6c00", "local": "#5e35b1"}
OURS, PEER = "#00796b", "#b0bec5"
PAPER_SMALL = {16: 2000.0, 80: 100.0, 256: 40.0, 512: 30.0}
"""Microseconds a pair by sequences: figure 6 of Blazewicz et al. 2011, read off (GTX 280)."""


def gcups_of(run: dict[str, Any]) -> tuple[float, float, float]:
    """Median, and what the slowest and the fastest run fall short of it and exceed it by."""
    each = [run["gcells"] / seconds for seconds in run["seconds"]]
    middle = run["gcells"] / statistics.median(run["seconds"])
    return middle, middle - min(each), max(each) - middle


def runs_of(folder: Path, table: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield kernels and contents of the files with a table of `gpu`."""
    for path in sorted(folder.glob(f"gpu-*-{table}.json")):
        yield path.stem.removeprefix("gpu-").removesuffix(f"-{table}"), json.loads(path.read_text())


def draw_lengths(folder: Path) -> Any:
    """GCUPS by mean length, a panel a family of kernels."""
    from matplotlib import pyplot

    found = dict(runs_of(folder, "lengths"))
    figure, panels = pyplot.subplots(
        1, len(found), figsize=(4.2 * len(found), 3.8), squeeze=False, sharey=True
    )
    for axes, (family, saved) in zip(panels[0], found.items(), strict=True):
        lines: dict[tuple[str, str], list[tuple[float, float, float, float]]] = {}
        for run in saved["runs"]:
            point = (run["mean_length"], *gcups_of(run))
            lines.setdefault((run["mode"], run["detail"]), []).append(point)
        for (mode, detail), points in lines.items():
            x, y, less, more = zip(*sorted(points), strict=True)
            axes.errorbar(
                x, y, yerr=(less, more), color=COLORS[mode], capsize=2, linewidth=1.2,
                linestyle="-" if detail == "CIGAR" else "--",
                label=f"{mode}, {'alignments' if detail == 'CIGAR' else 'scores only'}",
            )  # fmt: skip
        lengths = sorted({round(run["mean_length"]) for run in saved["runs"]})
        axes.set(xscale="log", xlabel="mean length of the proteins", xlim=(40, 1400), ylim=0)
        axes.set_xticks(lengths, [str(length) for length in lengths], fontsize=7)
        axes.minorticks_off()
        axes.set_title(f"{family}\n{saved['machine']}", fontsize=8)
    panels[0][0].set_ylabel("GCUPS (10^9 cells a second)")
    panels[0][-1].legend(fontsize=7)
    return figure


def draw_small(folder: Path) -> Any:
    """Microseconds a pair by number of sequences, with the paper's."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.2, 3.8))
    machine = ""
    for family, saved in runs_of(folder, "small"):
        machine = saved["machine"]
        points = [
            (run["sequences"], statistics.median(run["seconds"]))
            for run in saved["runs"]
            if run["mode"] == "global"
        ]
        x = [size for size, _ in points]
        y = [seconds / (size * (size - 1) / 2) * 1e6 for size, seconds in points]
        axes.plot(x, y, marker="o", markersize=3, label=f"{family}, global, alignments")
    axes.plot(
        list(PAPER_SMALL), list(PAPER_SMALL.values()), "x", color="#5d4037",
        label="Blazewicz et al. 2011, GTX 280",
    )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="sequences", ylabel="microseconds a pair")
    axes.set_title(f"all pairs of small sets, mean length 257\n{machine}", fontsize=8)
    axes.legend(fontsize=7)
    return figure


def figure_of(cell: str) -> float:
    """The number of a cell: ``35.1 GCUPS``."""
    return float(cell.split()[0].replace(",", ""))


def draw_cpu(folder: Path) -> Any:
    """One thread beside other programs, a bar each."""
    from matplotlib import pyplot

    (path,) = folder.glob("cpu.json")
    saved = json.loads(path.read_text())
    groups: dict[str, dict[str, float]] = {}
    for row in saved["rows"]:
        if row["what"].endswith(", one thread"):
            bars = groups.setdefault(row["what"].removesuffix(", one thread"), {})
            bars.setdefault("pairalign", figure_of(row["ours"]))
            bars[row["other"]] = figure_of(row["theirs"])
    names, ticks = [], []
    for group, bars in groups.items():
        names.append(group)
        ticks.append(("bold", 0.0))
        for name, value in bars.items():
            names.append(name)
            ticks.append(("normal", value))
    values = [value for _, value in ticks]
    colors = [OURS if name == "pairalign" else PEER for name in names]
    figure, axes = pyplot.subplots(figsize=(6.4, 0.22 * len(names) + 1))
    axes.barh(range(len(names)), values, color=colors)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    for label, (weight, value), y in zip(
        axes.get_yticklabels(), ticks, range(len(names)), strict=True
    ):
        label.set_fontweight(weight)
        if value:
            axes.text(value, y, f" {value:g}", va="center", fontsize=6)
    axes.invert_yaxis()
    axes.set_xlabel("GCUPS, one thread", fontsize=8)
    axes.set_title("\n".join(saved["notes"][:2]), fontsize=7)
    return figure


PLOTS = {
    "measured-gpu-lengths": draw_lengths,
    "measured-gpu-small": draw_small,
    "measured-cpu": draw_cpu,
}


def run(options: Namespace) -> None:
    """Draw all plots."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "pairalign", "svg.fonttype": "none"})
    options.output.mkdir(parents=True, exist_ok=True)
    for name, draw in PLOTS.items():
        figure = draw(options.folder)
        figure.tight_layout()
        figure.savefig(options.output / f"{name}.svg", metadata={"Date": None})
        pyplot.close(figure)


def add_command(commands: Any) -> None:
    """Options of ``scripts/benchmark.py draw``."""
    parser = commands.add_parser("draw", help="plots of the figures that runs have saved")
    parser.add_argument("folder", type=Path, help="with JSON of `cpu --json` and `gpu --output`")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the SVG files")
    parser.set_defaults(run=run)
