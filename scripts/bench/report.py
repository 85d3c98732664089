"""The table of results, for the terminal and for Markdown."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import date
from pathlib import Path

HEADINGS = ("what", "pairalign", "compared with", "its figure", "ratio (range)", "goal", "met")


@dataclass(frozen=True)
class Row:
    """One comparison; figures are text with their unit."""

    what: str
    ours: str
    other: str
    theirs: str
    ratio: str
    goal: str = ""
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        met = "" if self.met is None else "yes" if self.met else "NO"
        return (self.what, self.ours, self.other, self.theirs, self.ratio, self.goal, met)


def machine() -> str:
    """Processor and Python in a line."""
    model = platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, Python {platform.python_version()}, {date.today():%Y-%m-%d}"


def as_text(rows: list[Row]) -> str:
    """A table with aligned columns."""
    table = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[k]) for line in table) for k in range(len(HEADINGS))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in table]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)


def as_markdown(rows: list[Row], notes: list[str]) -> str:
    """The same for the documentation, with what it was measured on."""
    lines = [f"{note}  " for note in notes] + [""]
    lines.append("| " + " | ".join(HEADINGS) + " |")
    lines.append("|" + " --- |" * len(HEADINGS))
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
    return "\n".join(lines) + "\n"
