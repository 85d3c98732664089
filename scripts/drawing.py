"""What `draw_kernels.py` and `draw_jobs.py` draw with: boxes, grids, arrows, words; y downwards."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
INK, PALE, DARK, MARK, PATH = "#37474f", "#e0f2f1", "#4db6ac", "#ffb74d", "#d84315"
SHADES = ("#b2dfdb", "#80cbc4", "#4db6ac", "#26a69a")


def canvas(title: str, width: float, height: float, panels: int = 1) -> list[Axes]:
    """Panels side by side, y downwards as in a matrix, without axes."""
    figure, axes = pyplot.subplots(1, panels, figsize=(width, height), squeeze=False)
    figure.suptitle(title, fontsize=10, color=INK)
    for one in axes[0]:
        one.set_aspect("equal")
        one.invert_yaxis()
        one.axis("off")
    return list(axes[0])


def box(
    axes: Axes,
    x: float,
    y: float,
    width: float,
    height: float,
    color: str = "none",
    line: float = 0.6,
) -> None:
    axes.add_patch(Rectangle((x, y), width, height, facecolor=color, edgecolor=INK, linewidth=line))


def grid(axes: Axes, x: float, y: float, columns: int, rows: int, color: str = "none") -> None:
    """Cells of one color; their borders are one path, which keeps files small."""
    axes.add_patch(Rectangle((x, y), columns, rows, facecolor=color, edgecolor="none"))
    gap = float("nan")
    lines = [(x, y + k, x + columns, y + k) for k in range(rows + 1)]
    lines += [(x + k, y, x + k, y + rows) for k in range(columns + 1)]
    xs = [value for x0, _, x1, _ in lines for value in (x0, x1, gap)]
    ys = [value for _, y0, _, y1 in lines for value in (y0, y1, gap)]
    axes.plot(xs, ys, color=INK, linewidth=0.15)


def say(axes: Axes, x: float, y: float, text: str, size: float = 8, **more: object) -> None:
    options = {"ha": "center", "va": "center", "color": INK, **more}
    axes.text(x, y, text, fontsize=size, **options)


def arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str = INK
) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=9,
            color=color,
            linewidth=1.1,
            shrinkA=0,
            shrinkB=0,
        )
    )


def fit(axes: Axes, x0: float, x1: float, y0: float, y1: float) -> None:
    axes.set_xlim(x0, x1)
    axes.set_ylim(y1, y0)


def path(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    axes.plot(*zip(*points, strict=True), color=PATH, linewidth=1.6, solid_capstyle="round")


def draw_all(
    drawings: Mapping[str, Callable[[], None]], description: str, arguments: list[str] | None
) -> None:
    """Write each drawing as SVG."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="default: docs/images")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in drawings.items():
        draw()
        save(folder / f"{name}.svg")


def save(path: Path) -> None:
    """Write what was drawn as SVG, the same bytes each time: identifiers from a seed, no date."""
    fonts = {"svg.fonttype": "none", "font.family": "sans-serif"}
    pyplot.rcParams.update({"svg.hashsalt": "pairalign", **fonts})
    pyplot.tight_layout()
    pyplot.savefig(path, metadata={"Date": None})
    pyplot.close()
