"""Files of a multiple alignment: FASTA, Clustal, Stockholm, A2M, HTML, a table of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import GAP, MultipleAlignment, describe_unlike
from pairalign.base.choices import MSA_WITH_CONFIDENCE, TABLES
from pairalign.base.error_types import cut_name
from pairalign.formats.distance_text import MOST_PADDED, padded_width
from pairalign.formats.names import CLUSTAL, FASTA, STOCKHOLM
from pairalign.formats.output import CsvOutput, Output
from pairalign.sequences.sets import SequenceSet

_FASTA_WIDTH = 60
_CLUSTAL_WIDTH = 60
_HTML_WIDTH = 80
_TEXT_AT_ONCE = 1 << 18  # a write a line takes longer than the lines

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


def fasta_lines(alignment: MultipleAlignment, order: Sequence[int]) -> Iterator[str]:
    """Aligned FASTA: whole headers, ``-`` for gaps, 60 columns a line."""
    for index in order:
        yield f">{alignment.sequences.descriptions[index]}\n"
        yield _wrapped(alignment.row(index))


def a2m_lines(alignment: MultipleAlignment, order: Sequence[int]) -> Iterator[str]:
    """A2M: columns in which at least half of the sequences have a residue are upper case and ``-``.

    In the others residues are lower case, and gaps ``.``.
    """
    is_match = 2 * alignment.occupancy >= len(alignment)
    for index in order:
        row = alignment.row(index)
        letters = row != GAP
        upper = np.where(letters & (row >= ord("a")), row - 32, row)
        shown = np.where(is_match, upper, np.where(letters, upper + 32, ord("."))).astype(np.uint8)
        shown[letters & (row == ord("*"))] = ord("*")
        yield f">{alignment.sequences.descriptions[index]}\n"
        yield _wrapped(shown)


def clustal_lines(alignment: MultipleAlignment, order: Sequence[int]) -> Iterator[str]:
    """Clustal: blocks of 60 columns; ``*`` below where all residues are equal, case apart."""
    names = [alignment.sequences.names[index] for index in order]
    rows = [alignment.text(index) for index in order]
    conserved = _conserved(alignment)
    margin = max(map(len, names)) + 4
    yield "CLUSTAL multiple sequence alignment by pairalign\n\n"
    for start in range(0, alignment.width, _CLUSTAL_WIDTH):
        stop = start + _CLUSTAL_WIDTH
        yield "\n"
        for name, row in zip(names, rows, strict=True):
            yield f"{name:<{margin}}{row[start:stop]}\n"
        yield f"{'':<{margin}}{conserved[start:stop]}\n"


def stockholm_lines(alignment: MultipleAlignment, order: Sequence[int]) -> Iterator[str]:
    """Stockholm: a row a sequence, ``#=GR PP`` and ``#=GC PP_cons``, and ``#=GF ID``.

    What follows the name in a header is ``#=GS NAME DE``. What is like no other has a comment,
    ``#=GS NAME CC``.
    """
    names = alignment.sequences.names
    margin = max(len("#=GC PP_cons"), len("#=GR  PP") + padded_width(names))
    yield "# STOCKHOLM 1.0\n#=GF ID pairalign\n"
    for index in order:
        if text := _description(alignment.sequences, index):
            yield f"#=GS {names[index]} DE {text}\n"
    for name, evalue in alignment.named_unlike:
        yield f"#=GS {name} CC {describe_unlike(evalue)}\n"
    for index in order:
        marks = residue_marks(alignment, index)
        yield f"{names[index]:<{margin}}  {alignment.text(index)}\n"
        yield f"{f'#=GR {names[index]} PP':<{margin}}  {marks}\n"
    columns = confidence_marks(alignment.column_confidence)
    yield f"{'#=GC PP_cons':<{margin}}  {columns}\n//\n"


def _description(sequences: SequenceSet, index: int) -> str:
    """Return what follows the name in a header."""
    name, header = sequences.names[index], sequences.descriptions[index]
    return header[len(name) :].replace("\t", " ").strip(" ") if header.startswith(name) else ""


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


def table_lines(alignment: MultipleAlignment, order: Sequence[int]) -> Iterator[str]:
    """TSV: a line a column: its number from 1, its residues, its confidence, and its outliers.

    The confidence is how likely pairs of its residues are right, with four decimals; empty for a
    single residue. Outliers: how many residues are of sequences that are like no other; 0 for
    ``--confidence-of``.
    """
    del order
    yield "column\tresidues\tconfidence\toutliers\n"
    columns = zip(
        alignment.occupancy.tolist(),
        alignment.column_confidence.tolist(),
        alignment.unlike_occupancy.tolist(),
        strict=True,
    )
    for number, (residues, confidence, outliers) in enumerate(columns, 1):
        shown = "" if np.isnan(confidence) else f"{confidence:.4f}"
        yield f"{number}\t{residues}\t{shown}\t{outliers}\n"


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
    for start in range(0, alignment.width, _HTML_WIDTH):
        block = slice(start, start + _HTML_WIDTH)
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


MSA_LINES: dict[str, Callable[[MultipleAlignment, Sequence[int]], Iterator[str]]] = {
    "fasta": fasta_lines,
    "clustal": clustal_lines,
    "stockholm": stockholm_lines,
    "a2m": a2m_lines,
    **dict.fromkeys(TABLES, table_lines),
    "html": html_lines,
}
"""By the names in `pairalign.base.choices.MSA_SUFFIXES`."""

WITH_CONFIDENCE = MSA_WITH_CONFIDENCE
"""Those that show it."""


NAME_RULES = {"fasta": FASTA, "a2m": FASTA, "stockholm": STOCKHOLM, "clustal": CLUSTAL}
"""Which names formats can hold; the others hold all."""


def write_alignment(output: Output, format: str, alignment: MultipleAlignment, order: str) -> None:
    """Write a multiple alignment.

    Parameters
    ----------
    format : str
        One of `MSA_LINES`.
    order : str
        Of the rows, one of `pairalign.base.choices.MSA_ORDERS`.

    Raises
    ------
    FormatError
        The format cannot hold a name, see `check_msa_names`.
    """
    check_msa_names(alignment.sequences, format)
    target = CsvOutput(output) if format == "csv" else output
    some: list[str] = []
    size = 0
    for line in MSA_LINES[format](alignment, alignment.order(order)):
        some.append(line)
        size += len(line)
        if size >= _TEXT_AT_ONCE:
            target.write("".join(some).encode())
            some, size = [], 0
    target.write("".join(some).encode())


def check_msa_names(sequences: SequenceSet, format: str) -> None:
    """Raise FormatError for a name that a format of `MSA_LINES` cannot hold."""
    if format in NAME_RULES:
        NAME_RULES[format].check(sequences)


def _wrapped(row: npt.NDArray[np.uint8]) -> str:
    """Return a row in lines of 60 columns."""
    whole, rest = divmod(len(row), _FASTA_WIDTH)
    lines = np.full((whole + 1, _FASTA_WIDTH + 1), ord("\n"), np.uint8)
    lines[:whole, :_FASTA_WIDTH] = row[: whole * _FASTA_WIDTH].reshape(whole, _FASTA_WIDTH)
    lines[whole, :rest] = row[whole * _FASTA_WIDTH :]
    size = whole * lines.shape[1] + (rest + 1 if rest else 0)
    return lines.tobytes()[:size].decode("ascii")


def _conserved(alignment: MultipleAlignment) -> str:
    first = alignment.row(0) & 0xDF
    equal = np.ones(alignment.width, bool)
    for index in range(len(alignment)):
        row = alignment.row(index)
        equal &= (row != GAP) & (row & 0xDF == first)
    return "".join(np.where(equal, "*", " "))
