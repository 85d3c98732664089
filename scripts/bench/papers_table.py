"""A table of a paper beside ours, for the terminal and for the documentation."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Table:
    """Cells as text, and what has to be known to read them."""

    title: str
    headings: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [f"**{self.title}**", ""]
        lines.append("| " + " | ".join(self.headings) + " |")
        lines.append("|" + " --- |" * len(self.headings))
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        if self.notes:
            lines += ["", " ".join(self.notes)]
        return "\n".join(lines) + "\n"


def with_range(gcells: float, seconds: Sequence[float]) -> str:
    """GCUPS at the median time, and at the slowest and the fastest."""
    low, high = gcells / max(seconds), gcells / min(seconds)
    return f"{gcells / statistics.median(seconds):.0f} ({low:.0f}-{high:.0f})"
