"""Figures of matplotlib (the extra ``plot``) that notebooks show, and their files.

Drawn without a display and without touching matplotlib's global state but for the time of saving.
"""

from __future__ import annotations

import io
from typing import Any

from pairalign.base.packages import DRAWS, needed

with needed(*DRAWS):
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

__all__ = ["DOTS", "Axes", "LineCollection", "Picture", "picture_bytes"]

DOTS = 150
"""Dots an inch."""
_DATES = {"svg": "Date", "pdf": "CreationDate"}
"""What formats call the time at which a file is made."""


class Picture(Figure):
    """A figure of matplotlib that a notebook shows; ``savefig`` writes it."""

    def _repr_png_(self) -> bytes:
        return picture_bytes(self, "png")


def picture_bytes(figure: Figure, format: str) -> bytes:
    """Return a figure as a file; equal figures are equal files.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    format : {"svg", "png", "pdf"}
    """
    file = io.BytesIO()
    # Neither the time nor random names of parts: equal pictures are equal files. Text stays text.
    metadata: dict[str, Any] = {_DATES[format]: None} if format in _DATES else {}
    how: Any = {"svg.hashsalt": "pairalign", "svg.fonttype": "none", "pdf.fonttype": 42}
    with matplotlib.rc_context(how):
        figure.savefig(file, format=format, metadata=metadata)
    return file.getvalue()
