"""How results show in notebooks: the first lines of a table or a text, in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from pairalign.base.error_types import cut_name

SHOWN = 10
"""Rows of a table that are shown."""
SHOWN_LINES = 60
_WIDEST = 160


def html_table(title: object, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table of the first rows.

    Parameters
    ----------
    title : object
        What is shown; its ``repr`` is the caption.
    rows : iterable of sequences
        Cells, as Python has them; no more rows are read than are shown, and one.
    """
    first_rows = list(islice(rows, SHOWN + 1))
    lines = [_row("td", cells) for cells in first_rows[:SHOWN]]
    table = "".join([_row("th", heads), *lines])
    return f"<table>{_caption(title, len(first_rows) > SHOWN, SHOWN)}{table}</table>"


def html_text(title: object, lines: Iterable[str]) -> str:
    """Return the first lines of a text, in type of one width; else as `html_table`."""
    first_lines = list(islice(lines, SHOWN_LINES + 1))
    from html import escape

    text = escape("\n".join(cut_name(line, _WIDEST) for line in first_lines[:SHOWN_LINES]))
    caption = _caption(title, len(first_lines) > SHOWN_LINES, SHOWN_LINES)
    style = "text-align:left;line-height:1.1"
    return f"<table>{caption}<tr><td><pre style='{style}'>{text}</pre></td></tr></table>"


def _caption(title: object, is_cut: bool, shown: int) -> str:
    from html import escape

    more = f", the first {shown}" if is_cut else ""
    return f"<caption>{escape(cut_name(repr(title)[1:-1]))}{more}</caption>"


def _row(tag: str, cells: Iterable[object]) -> str:
    from html import escape

    return f"<tr>{''.join(f'<{tag}>{escape(_text(cell))}</{tag}>' for cell in cells)}</tr>"


def _text(cell: object) -> str:
    """Numbers as people read them, names cut."""
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else cut_name(str(cell))
