"""AIRR Rearrangement: a table of immune receptors, a chain a row, with tabs between its columns.

The name of a receptor is its ``sequence_id``, its residues are its ``junction_aa``: CDR3 with the
conserved residues on both sides of it (C, and F or W).
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairalign.base.error_types import FastaError, shown_name
from pairalign.sequences.fasta_records import clean
from pairalign.sequences.python_sequences import field_of
from pairalign.sequences.sequence_records import Origin, Records, join_records

log = logging.getLogger("pairalign")

NAME, JUNCTION, PRODUCTIVE = "sequence_id", "junction_aa", "productive"
LOOP_COLUMNS = {"cdr1": "cdr1_aa", "cdr2": "cdr2_aa", "cdr2.5": "cdr2.5_aa"}
_KNOWN = {JUNCTION, "junction", "rearrangement_id", "v_call", PRODUCTIVE}
_GENES = ("j_call", "v_call")
_COUNTS = ("umi_count", "duplicate_count", "consensus_count")
_NOT_PRODUCTIVE = {"f", "false", "0"}
_MOST_FIELD = 1 << 24


@dataclass(frozen=True)
class Chain:
    """A row: one chain of a receptor.

    Attributes
    ----------
    number : int
        Which row of the table, counted from 1.
    name, cell, locus, v_gene : str
        `locus` as ``TRB``; empty where the table does not say.
    junction : bytes
    loops : dict of str to str
        Residues of CDR1 and others that the table has columns of.
    seen : float
        How often it was seen.
    """

    number: int
    name: str
    cell: str
    locus: str
    v_gene: str
    junction: bytes
    loops: dict[str, str]
    seen: float


def is_airr(text: bytes) -> bool:
    """Whether a text is AIRR Rearrangement, by the names of its columns."""
    titles = set(_titles(text))
    return NAME in titles and bool(titles & _KNOWN)


def is_airr_file(path: str) -> bool:
    """Whether a file on disk, not compressed, is such a table; False where it cannot be read."""
    if not os.path.isfile(path):  # what a pipe has can be read once
        return False
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return is_airr(file.readline(_MOST_FIELD))
    return False


def _titles(text: bytes) -> list[str]:
    line = text.partition(b"\n")[0]
    if b"\t" not in line:
        return []
    return [one.strip().strip('"') for one in line.decode("utf-8", "replace").split("\t")]


def read_chains(text: bytes, source: str, *, degap: bool = False) -> list[Chain]:
    """Read the rows of a table, less those whose ``productive`` is false: how many is logged.

    Such a junction has a stop codon or is out of frame, so it is of no receptor.

    Parameters
    ----------
    text : bytes
    source : str
        What messages call it.
    degap : bool
        Drop ``-`` and ``.`` from junctions.

    Raises
    ------
    FastaError
        It is no such table; the message names the row.
    """
    import csv  # most files are no tables

    csv.field_size_limit(_MOST_FIELD)
    decoded = io.StringIO(text.decode("utf-8", "replace"), newline="")
    reader = csv.reader(decoded, "excel-tab", strict=True)
    try:
        titles = [one.strip() for one in next(reader)]
        _check_titles(titles, source)
        rows = enumerate((row for row in reader if row), 1)
        return _productive(titles, rows, source, degap=degap)
    except csv.Error as error:
        raise FastaError(f"{source}: line {reader.line_num}: {error}") from error


def chains_of_table(table: Any, source: str = "the table") -> list[Chain]:
    """Return the rows of a DataFrame with the columns of AIRR; see `read_chains`."""
    titles = [str(one) for one in getattr(table, "column_names", table.columns)]
    _check_titles(titles, source)
    rows = zip(*([field_of(one) for one in table[title]] for title in titles), strict=True)
    return _productive(titles, enumerate(rows, 1), source)


def _check_titles(titles: list[str], source: str) -> None:
    twice = [one for one in titles if one and titles.count(one) > 1]
    if twice:
        raise FastaError(f"{source}: two columns are called '{twice[0]}'")
    for needed in (NAME, JUNCTION):
        if needed not in titles:
            raise FastaError(f"{source}: AIRR rearrangements without a column '{needed}'")


def _productive(
    titles: list[str],
    rows: Iterable[tuple[int, Iterable[str]]],
    source: str,
    *,
    degap: bool = False,
) -> list[Chain]:
    numbered = [(number, list(row)) for number, row in rows]
    column = titles.index(PRODUCTIVE) if PRODUCTIVE in titles else None
    kept = [
        (number, row)
        for number, row in numbered
        if column is None
        or "".join(row[column : column + 1]).strip().lower() not in _NOT_PRODUCTIVE
    ]
    if len(kept) < len(numbered):
        left = f"{len(numbered) - len(kept):,}"
        log.info("%s: %s rearrangements that are not productive left out", source, left)
    return list(_chains(titles, kept, source, degap=degap))


def _chains(
    titles: list[str],
    rows: Iterable[tuple[int, list[str]]],
    source: str,
    *,
    degap: bool = False,
) -> Iterator[Chain]:
    for number, values in rows:
        if len(values) != len(titles):
            raise FastaError(
                f"{source}: record {number} has {len(values)} fields, expected {len(titles)}"
            )
        fields = dict(zip(titles, map(str.strip, values), strict=True))
        name = fields.get(NAME, "")
        if not name:
            raise FastaError(f"{source}: record {number} has no {NAME}")
        yield Chain(
            number,
            name,
            fields.get("cell_id", ""),
            _locus_of(fields),
            fields.get("v_call", ""),
            clean(fields.get(JUNCTION, "").encode(), degap=degap),
            {loop: fields[title] for loop, title in LOOP_COLUMNS.items() if title in fields},
            _count_of(fields, f"{source}: record {number} {shown_name(name)}"),
        )


def _locus_of(fields: Mapping[str, str]) -> str:
    if fields.get("locus"):
        return fields["locus"].upper()
    genes = (gene_of(fields.get(one, "")) for one in _GENES)
    return next((gene[:3].upper() for gene in genes if gene), "")


def gene_of(call: str) -> str:
    """Return the first gene of a call: of ``Homsap TRBV9*01 F, or TRBV9*02`` ``TRBV9*01``."""
    for word in call.replace(",", " ").split():
        if word[:2].upper() in ("TR", "IG"):
            return word
    return ""


def _count_of(fields: Mapping[str, str], what: str) -> float:
    for title in _COUNTS:
        if fields.get(title):
            try:
                return float(fields[title])
            except ValueError:
                raise FastaError(f"{what}: {title} is {fields[title]!r}, no number") from None
    return 0.0


def of_loci(chains: list[Chain], loci: tuple[str, ...], source: str) -> list[list[Chain]]:
    """Return the chains of each locus, such as ``TRB``; how many others there are is logged.

    Raises
    ------
    FastaError
        There is none of a locus.
    """
    found = [[one for one in chains if one.locus == locus] for locus in loci]
    for locus, some in zip(loci, found, strict=True):
        if chains and not some:
            others = ", ".join(sorted({one.locus or "none that is said" for one in chains}))
            raise FastaError(f"{source}: no chain of locus {locus}; there is {others}")
    left = len(chains) - sum(map(len, found))
    if left:
        log.info("%s: %s chains of other loci left out", source, f"{left:,}")
    return found


def parse_airr(
    text: bytes, source: str, *, degap: bool = False, locus: str | None = None
) -> Records:
    """Return the junctions of a table as sequences; of one locus where that is given.

    Raises
    ------
    FastaError
        See `read_chains` and `of_loci`.
    """
    if locus is not None and "," in locus:
        raise FastaError(f"{source}: two loci are for measure tcrdist: give one")
    chains = read_chains(text, source, degap=degap)
    if locus is not None:
        (chains,) = of_loci(chains, (locus,), source)
    return records_of_chains(chains, source)


def records_of_chains(chains: list[Chain], source: str) -> Records:
    """Return chains as sequences that know their rows."""
    names = [one.name for one in chains]
    joined = join_records(names, names, [one.junction for one in chains])
    numbers = np.array([one.number for one in chains], np.int64)
    return Records(*joined[:4], origins=(Origin(source, numbers),))
