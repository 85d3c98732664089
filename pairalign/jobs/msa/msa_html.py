"""A multiple alignment as a page: each residue in the colour of its confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import MultipleAlignment, describe_unlike
from pairalign.base.error_types import cut_name
from pairalign.formats.distance_text import MOST_PADDED

_WIDTH = 80

_COLOURS = (
    *("#b35806", "#c9742b", "#e08214", "#f1a340", "#fdb863", "#fee0b6"),
    *("#e6eef5", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6"),
)
"""Of a confidence in tenths: from brown over white to blue, which the colour-blind tell apart."""

_MARKS = "0123456789*"
"""Of a confidence, as HMMER's PP: 0 for less than 0.05, 1 up to 0.15, ..., ``*`` from 0.95 on."""

_STYLE = """
body { font-family: sans-serif; margin: 1em; background: #fff; color: #000 }
pre { font: 13px/1.35 monospace }
pre span, .key span { color: #000 }
.key span { font-family: monospace; padding: 0 .4em }
.unlike { text-decoration: underline dotted }
"""


def residue_marks(alignment: MultipleAlignment, index: int) -> str:
    """Return the confidence of the residues of a sequence, a mark for each column."""
    part = slice(*alignment.sequences.offsets[index : index + 2].tolist())
    confidence = np.full(alignment.width, np.nan)
    confidence[alignment.columns[part]] = alignment.confidence_of(index)
    return confidence_marks(confidence)


def confidence_marks(confidence: npt.NDArray[np.float64]) -> str:
    """Return a mark for each confidence; ``.`` where there is none: gaps, single residues."""
    tenths = np.floor(np.nan_to_num(confidence) * 10 + 0.5).astype(np.int64)
    return "".join(np.where(np.isnan(confidence), ".", np.array(list(_MARKS))[tenths]).tolist())


def html_lines(alignment: MultipleAlignment, order: Sequence[int]) -> Iterator[str]:
    """Yield a page by itself: blocks of 80 columns, below each the confidence of the columns.

    Residues have the colour of their confidence; those that have none, and gaps, have no colour.
    What is like no other is said, and its name is underlined.
    """
    title = escape(Path(alignment.sequences.source).name)
    yield "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
    yield f"<title>{title}</title>\n<style>{_STYLE}{_rules()}</style>\n</head>\n<body>\n"
    yield f"<h1>{title}</h1>\n<p>{len(alignment)} sequences, {alignment.width} columns</p>\n"
    yield f"<p class='key'>Confidence: {_key()}</p>\n"
    for name, evalue in alignment.named_unlike:
        marked = f"<span class='unlike'>{escape(_shown(name))}</span>"
        yield f"<p>{marked} {describe_unlike(evalue)}</p>\n"
    names = [_shown(alignment.sequences.names[index]) for index in order]
    unlike = {index for index, _ in alignment.unlike}
    labels = [
        f"<span class='unlike'>{escape(name)}</span>" if index in unlike else escape(name)
        for index, name in zip(order, names, strict=True)
    ]
    margin = max(len("confidence"), *map(len, names)) + 2
    rows = [(alignment.text(index), residue_marks(alignment, index)) for index in order]
    below = confidence_marks(alignment.column_confidence)
    for start in range(0, alignment.width, _WIDTH):
        block = slice(start, start + _WIDTH)
        yield "<pre>\n"
        for name, label, (row, marks) in zip(names, labels, rows, strict=True):
            yield f"{label}{' ' * (margin - len(name))}{_coloured(row[block], marks[block])}\n"
        yield f"{'confidence':<{margin}}{_coloured(below[block], below[block])}\n</pre>\n"
    yield "</body>\n</html>\n"


def _shown(name: str) -> str:
    return name if len(name) <= MOST_PADDED else cut_name(name)


def _rules() -> str:
    return "".join(f".c{k} {{ background: {colour} }}\n" for k, colour in enumerate(_COLOURS))


def _key() -> str:
    return "".join(f"<span class='c{k}'>{mark}</span>" for k, mark in enumerate(_MARKS))


def _coloured(text: str, marks: str) -> str:
    """Return text in spans of one mark each."""
    parts, at = [], 0
    for mark, run in groupby(marks):
        stop = at + len(list(run))
        shown = escape(text[at:stop])
        place = _MARKS.find(mark)
        parts.append(shown if place < 0 else f"<span class='c{place}'>{shown}</span>")
        at = stop
    return "".join(parts)
