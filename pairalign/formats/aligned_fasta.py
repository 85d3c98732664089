"""Aligned FASTA that is read: the columns of the residues of known sequences."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from pairalign.base.errors import AlignmentFileError, shown_name
from pairalign.sequences.fasta import GAPS, read_records
from pairalign.sequences.sets import SequenceSet


def read_aligned_fasta(
    path: str | os.PathLike[str], sequences: SequenceSet
) -> tuple[npt.NDArray[np.int32], int]:
    """Read a multiple alignment of sequences.

    Parameters
    ----------
    path : str or path
        Rows of one width, ``-`` and ``.`` for gaps; every sequence once, in any order.
    sequences : SequenceSet
        Names and residues have to be those of the rows; case does not matter.

    Returns
    -------
    columns : ndarray of int32, shape (total_residues,)
        The column of each residue, in the order of `sequences`.
    width : int

    Raises
    ------
    FastaError
        The file cannot be read.
    AlignmentFileError
        Rows of several widths, or that are not the sequences; the message names the record.
    """
    records, source = read_records(path)
    place = {name: index for index, name in enumerate(sequences.names)}
    columns = np.empty(sequences.total_residues, np.int32)
    seen: set[int] = set()
    width = int(records.offsets[1] - records.offsets[0]) if len(records.names) else 0
    residues = np.frombuffer(records.residues, np.uint8)
    gaps = np.frombuffer(bytes(GAPS), np.uint8)
    for number, name in enumerate(records.names):
        row = residues[records.offsets[number] : records.offsets[number + 1]]
        title = f"{source}: record {number + 1} {shown_name(name)}"
        if len(row) != width:
            raise AlignmentFileError(
                f"{title}: a row of {len(row):,} columns, expected {width:,} as in record 1"
            )
        index = place.get(name)
        if index is None or index in seen:
            found = "is there twice" if index in seen else "is not among the sequences"
            raise AlignmentFileError(f"{title}: {found} of {sequences.source}")
        seen.add(index)
        filled = np.flatnonzero(~np.isin(row, gaps))
        own = slice(int(sequences.offsets[index]), int(sequences.offsets[index + 1]))
        encoding = sequences.alphabet.encoding
        if not np.array_equal(encoding[row[filled]], sequences.codes[own]):
            raise AlignmentFileError(
                f"{title}: its residues are not those of the sequence in {sequences.source}"
            )
        columns[own] = filled
    if len(seen) < len(sequences):
        missing = next(index for index in range(len(sequences)) if index not in seen)
        raise AlignmentFileError(
            f"{source}: no row of {sequences.record(missing)} of {sequences.source}"
        )
    return columns, width
