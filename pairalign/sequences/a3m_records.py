"""A3M, the alignments of HH-suite and ColabFold, as sequences.

Upper-case letters and ``-`` are columns of the alignment, lower-case letters residues between
columns. All rows have the same number of columns; another number means that the file is damaged,
or something else. HH-suite puts rows into a file that are no sequences: secondary structures and
how sure they are. Those are left out, with a message.
"""

from __future__ import annotations

import logging

import numpy as np

from pairalign.base.choices import COMPRESSED_INPUTS
from pairalign.base.error_types import FastaError, shown_name
from pairalign.base.texts import without_endings
from pairalign.sequences.fasta_records import parse_records
from pairalign.sequences.sequence_records import Origin, Records, join_records

log = logging.getLogger("pairalign")

_MARK = b"#A3M#"
_BETWEEN = bytes(range(ord("a"), ord("z") + 1)) + b"."
_NO_SEQUENCES = ("ss_dssp", "sa_dssp", "ss_pred", "ss_conf", "aa_dssp", "aa_pred")
"""Names of HH-suite's rows that are no sequences."""


def is_a3m(text: bytes, name: str) -> bool:
    """Whether a text is A3M: by its first line, or by the ending of the file's name."""
    bare = without_endings(name.lower(), COMPRESSED_INPUTS)
    return bare.endswith(".a3m") or text.startswith(_MARK)


def parse_a3m(text: bytes, name: str, *, degap: bool) -> Records:
    """Return the sequences of A3M: in capitals, with its gaps or without.

    Parameters
    ----------
    name : str
        What messages call it.
    degap : bool
        Drop ``-`` and ``.``.

    Raises
    ------
    FastaError
        A row has another number of columns than the first one.
    """
    rows = parse_records(text, name)
    kept: list[int] = []
    bodies: list[bytes] = []
    columns: int | None = None
    for index, title in enumerate(rows.names):
        if title.startswith(_NO_SEQUENCES):
            continue
        row = rows.residues[rows.offsets[index] : rows.offsets[index + 1]]
        width = len(row.translate(None, _BETWEEN))
        columns = width if columns is None else columns
        if width != columns:
            raise FastaError(
                f"{name}: record {index + 1} {shown_name(title)}: {width:,} columns (capitals and "
                f"-), expected {columns:,} as in record {kept[0] + 1}: this is no A3M"
            )
        kept.append(index)
        bodies.append(row.translate(None, b"-.").upper() if degap else row.upper())
    left_out = len(rows.names) - len(kept)
    if left_out:
        log.info("%s: %s rows are left out: no sequences, such as ss_pred", name, left_out)
    names = [rows.names[index] for index in kept]
    joined = join_records(names, [rows.descriptions[index] for index in kept], bodies)
    origin = Origin(name, np.array(kept, np.int64) + 1)
    return Records(joined.names, joined.descriptions, joined.residues, joined.offsets, (origin,))
