"""AIRR Rearrangement: a table of immune receptors, a chain a row, with tabs between its columns.

The name of a receptor is its ``sequence_id``, or the number of its row, its residues are its
``junction_aa``: CDR3 with the conserved residues on both sides of it (C, and F or W). Contigs of
10x (``filtered_contig_annotations.csv``) are the same table under other names.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pairalign.base.error_types import FastaError, shown_name
from pairalign.sequences.fasta_records import clean
from pairalign.sequences.python_sequences import DataTable, field_of, titles_of
from pairalign.sequences.sequence_records import Origin, Records, join_records

log = logging.getLogger("pairalign")

NAME, JUNCTION, PRODUCTIVE = "sequence_id", "junction_aa", "productive"
LOOP_COLUMNS = {"cdr1": "cdr1_aa", "cdr2": "cdr2_aa", "cdr2.5": "cdr2.5_aa"}
_KNOWN = {JUNCTION, "junction", "rearrangement_id", "v_call", PRODUCTIVE}
_OF_10X = {
    "contig_id": NAME,
    "barcode": "cell_id",
    "sample": "sample_id",
    "chain": "locus",
    "v_gene": "v_call",
    "j_gene": "j_call",
    "cdr3": JUNCTION,
    "cdr1": "cdr1_aa",
    "cdr2": "cdr2_aa",
    "umis": "umi_count",
    "reads": "consensus_count",
}
"""Columns of 10x's contigs, and what AIRR calls them."""
_GENES = ("j_call", "v_call")
_COUNTS = ("umi_count", "duplicate_count", "consensus_count")
MISSING = {"", "na", "n/a", "none", "nan", "null", "<na>"}
"""Fields, in small letters, that say that nothing is known."""
_TRUTHS = {
    **dict.fromkeys(("t", "true", "1", "1.0", "y", "yes", "productive"), True),
    **dict.fromkeys(("f", "false", "0", "0.0", "n", "no", "unproductive"), False),
}
_IN_FRAME = {"vj_in_frame": False, "stop_codon": True}
"""What of a row says that it is not productive, where it does not say so itself."""
_OF_NO_CELL = {"is_cell": False, "high_confidence": False}
_MOST_FIELD = 1 << 24


@dataclass(frozen=True)
class Chain:
    """A row: one chain of a receptor.

    Attributes
    ----------
    number : int
        Which row of the table, counted from 1.
    name, sample, cell, locus, v_gene : str
        `locus` as ``TRB``; empty where the table does not say. `sample` is that of the cell: its
        ``repertoire_id`` or ``sample_id``.
    loops : dict of str to str
        Residues of CDR1 and others that the table has columns of.
    seen : float
        How often it was seen.
    """

    number: int
    name: str
    sample: str
    cell: str
    locus: str
    v_gene: str
    junction: bytes
    loops: dict[str, str]
    seen: float


def is_airr(text: bytes) -> bool:
    """Whether a text is AIRR Rearrangement, or 10x's contigs, by the names of its columns."""
    return are_of_airr(_titles(text.partition(b"\n")[0]))


def are_of_airr(titles: Iterable[str]) -> bool:
    """Whether columns are those of rearrangements."""
    names = {_name_in_airr(title) for title in titles}
    return NAME in names and bool(names & _KNOWN)


def is_airr_file(path: str) -> bool:
    """Whether a file on disk, not compressed, is such a table; False where it cannot be read."""
    if not os.path.isfile(path):  # what a pipe has can be read once
        return False
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return is_airr(file.readline(_MOST_FIELD))
    return False


def _titles(line: bytes) -> list[str]:
    words = line.decode("utf-8", "replace").split(_delimiter(line))
    return [word.strip().strip('"') for word in words] if len(words) > 1 else []


def _delimiter(line: bytes) -> str:
    return "\t" if b"\t" in line else ","


def _name_in_airr(title: str) -> str:
    return _OF_10X.get(title, title)


def read_chains(text: bytes, source: str, *, degap: bool = False) -> list[Chain]:
    """Read the rows of a table, less those that are of no receptor: how many is logged.

    A junction that is not ``productive`` has a stop codon or is out of frame; where the table does
    not say so, ``vj_in_frame`` and ``stop_codon`` do.

    Parameters
    ----------
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
    delimiter = _delimiter(text.partition(b"\n")[0])
    reader = csv.reader(decoded, "excel-tab", delimiter=delimiter, strict=True)
    rows = []
    try:
        titles = [title.strip() for title in next(reader)]
        for row in reader:
            if any("\n" in field for field in row):
                raise FastaError(f"{source}: line {reader.line_num}: a field goes over its line")
            if row:
                rows.append(row)
    except csv.Error as error:
        raise FastaError(f"{source}: line {reader.line_num}: {error}") from error
    return _chains(titles, rows, source, degap=degap)


def chains_of_table(table: DataTable) -> list[Chain]:
    """Return the rows of a DataFrame with the columns of AIRR; see `read_chains`."""
    titles = titles_of(table)
    columns = [[field_of(value) for value in table[title]] for title in titles]
    return _chains(titles, zip(*columns, strict=True), "the table")


def _check_titles(titles: list[str], source: str) -> None:
    twice = [title for title in titles if title and titles.count(title) > 1]
    if twice:
        raise FastaError(f"{source}: two columns are called '{twice[0]}'")
    for needed in (NAME, JUNCTION):
        if needed not in titles:
            raise FastaError(f"{source}: AIRR rearrangements without a column '{needed}'")


def _chains(
    titles: list[str], rows: Iterable[Sequence[str]], source: str, *, degap: bool = False
) -> list[Chain]:
    is_10x = NAME not in titles
    titles = [_name_in_airr(title) for title in titles] if is_10x else titles
    _check_titles(titles, source)
    loops = {loop: title for loop, title in LOOP_COLUMNS.items() if title in titles}
    chains, left = [], 0
    for number, row in enumerate(rows, 1):
        if len(row) != len(titles):
            raise FastaError(
                f"{source}: record {number} has {len(row)} fields, expected {len(titles)}"
            )
        pairs = zip(titles, map(str.strip, row), strict=True)
        fields = {title: text for title, text in pairs if text.lower() not in MISSING}
        name = fields.get(NAME, str(number))
        what = f"{source}: record {number} {shown_name(name)}"
        if is_10x and PRODUCTIVE in titles:  # None is said of contigs without CDR3
            fields.setdefault(PRODUCTIVE, "F")
        if _is_of_none(fields, what):
            left += 1
            continue
        chain = Chain(
            number,
            name,
            fields.get("repertoire_id") or fields.get("sample_id", ""),
            fields.get("cell_id", ""),
            _locus_of(fields),
            fields.get("v_call", ""),
            clean(fields.get(JUNCTION, "").encode(), degap=degap),
            {loop: fields.get(title, "") for loop, title in loops.items()},
            _count_of(fields, what),
        )
        chains.append(chain)
    if left:
        log.info("%s: %s rearrangements that are not productive left out", source, f"{left:,}")
    return chains


def _is_of_none(fields: Mapping[str, str], what: str) -> bool:
    """Whether a row is of no receptor."""
    reasons = {PRODUCTIVE: False} if PRODUCTIVE in fields else _IN_FRAME
    return any(
        _truth(fields, title, what) is truth for title, truth in (reasons | _OF_NO_CELL).items()
    )


def _truth(fields: Mapping[str, str], title: str, what: str) -> bool | None:
    said = fields.get(title)
    if said is not None and said.lower() not in _TRUTHS:
        raise FastaError(f"{what}: {title} is {shown_name(said)}, expected T or F")
    return None if said is None else _TRUTHS[said.lower()]


def _locus_of(fields: Mapping[str, str]) -> str:
    if fields.get("locus"):
        return fields["locus"].upper()
    genes = (gene_of(fields.get(title, "")) for title in _GENES)
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
    by_locus = [[chain for chain in chains if chain.locus == locus] for locus in loci]
    for locus, some in zip(loci, by_locus, strict=True):
        if chains and not some:
            others = ", ".join(sorted({chain.locus or "none that is said" for chain in chains}))
            raise FastaError(f"{source}: no chain of locus {locus}; there is {others}")
    left = len(chains) - sum(map(len, by_locus))
    if left:
        log.info("%s: %s chains of other loci left out", source, f"{left:,}")
    return by_locus


def parse_airr(
    text: bytes, source: str, *, degap: bool = False, locus: str | None = None
) -> Records:
    """Return the junctions of a table as sequences; of one locus where that is given.

    Raises
    ------
    FastaError
        It is no such table or has no chain of the locus, or `locus` names two.
    """
    if locus is not None and "," in locus:
        raise FastaError(f"{source}: two loci are for measure tcrdist: give one")
    chains = read_chains(text, source, degap=degap)
    if locus is not None:
        (chains,) = of_loci(chains, (locus,), source)
    return records_of_chains(chains, source)


def records_of_chains(chains: list[Chain], source: str) -> Records:
    """Return chains as sequences that know their rows."""
    names = [chain.name for chain in chains]
    joined = join_records(names, names, [chain.junction for chain in chains])
    numbers = np.array([chain.number for chain in chains], np.int64)
    return Records(*joined[:4], origins=(Origin(source, numbers),))
