"""A report: one HTML file without anything outside of it, made of a Jinja2 template."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pairalign.errors import FormatError
from pairalign.formats.output import Path, open_output

_TEMPLATES = FilePath(__file__).parent / "templates"
_WIDTH, _HEIGHT = 380, 130  # of a histogram


class Bins(Protocol):
    """A histogram."""

    @property
    def title(self) -> str:
        """What is counted."""

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Shape (bins + 1,)."""

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Shape (bins,)."""


@dataclass(frozen=True)
class Table:
    """A small table of a report.

    Attributes
    ----------
    title : str
    headings : sequence of str
    rows : sequence of sequences
        Texts and numbers.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class Report:
    """What a report shows.

    Attributes
    ----------
    title : str
    facts : sequence of (str, str)
        What was run: a line each.
    histograms : sequence of Bins
    pairs : sequence of sequences
        See `pairalign.jobs.report.report.pair_rows`.
    all_pairs : int
        How many pairs there were, of which `pairs` are the best.
    definite : str
        Letters that can match.
    picture : bytes or None
        A PNG.
    picture_title : str
    no_picture : str
        Why there is no picture.
    tables : sequence of Table
    """

    title: str
    facts: Sequence[tuple[str, str]]
    histograms: Sequence[Bins]
    pairs: Sequence[Sequence[object]]
    all_pairs: int
    definite: str
    picture: bytes | None = None
    picture_title: str = "Distances, with a tree of them"
    no_picture: str = ""
    tables: Sequence[Table] = ()


def check_jinja() -> None:
    """Raise FormatError if Jinja2 is missing."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise FormatError(
            "a report needs Jinja2, which is not installed: pip install 'pairalign[report]'"
        ) from error


def write_report(path: Path, report: Report) -> None:
    """Write a report.

    Parameters
    ----------
    path : str or path
        The file appears when it is complete.
    report : Report

    Raises
    ------
    FormatError
        Jinja2 is not installed.
    OutputError
        The file cannot be written.
    """
    check_jinja()
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.from_string((_TEMPLATES / "report.html").read_text())
    text = template.render(
        report=report,
        script=(_TEMPLATES / "report.js").read_text(),
        style=(_TEMPLATES / "report.css").read_text(),
        picture=None if report.picture is None else base64.b64encode(report.picture).decode(),
        charts=[_chart(bins) for bins in report.histograms],
        width=_WIDTH,
        height=_HEIGHT,
    )
    with open_output(path) as output:
        output.write(text.encode("utf-8", "replace"))


def _chart(bins: Bins) -> dict[str, object]:
    """Return title, labels and bars (x, y, width, height, range, count) of a histogram."""
    counts, edges = bins.counts, bins.edges
    most = max(int(counts.max(initial=0)), 1)
    step = _WIDTH / len(counts)
    bars = [
        (
            round(k * step, 2),
            round(_HEIGHT - _HEIGHT * count / most, 2),
            round(max(step - 1, 0.5), 2),
            round(_HEIGHT * count / most, 2),
            f"{edges[k]:.4g} to {edges[k + 1]:.4g}",
            f"{count:,}",
        )
        for k, count in enumerate(counts.tolist())
        if count
    ]
    return {
        "title": bins.title,
        "bars": bars,
        "low": f"{edges[0]:.4g}",
        "high": f"{edges[-1]:.4g}",
        "most": f"{most:,}",
    }
