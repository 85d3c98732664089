"""Multiple alignments that are read: aligned FASTA, and other formats with rows.

Those are Stockholm, Clustal, MSF, PHYLIP and PIR, and A3M without residues between columns.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pairalign.base.error_types import AlignmentFileError, shown_name
from pairalign.sequences.alphabets import Alphabet
from pairalign.sequences.fasta_records import GAPS
from pairalign.sequences.input_rules import DEFAULT_RULES, InputRules
from pairalign.sequences.sequence_files import read_file
from pairalign.sequences.sequence_records import Origin, Records, join_records
from pairalign.sequences.sets import SequenceSet

_IS_GAP = np.isin(np.arange(256), np.frombuffer(GAPS, np.uint8))


def read_rows(path: str | os.PathLike[str]) -> tuple[Records, str]:
    """Read the rows of a multiple alignment, ``-`` and ``.`` for gaps.

    Returns
    -------
    records : Records
        All of one length.
    source : str
        What messages call the file.

    Raises
    ------
    FastaError
        The file cannot be read.
    AlignmentFileError
        Rows of several widths; the message names the record.
    """
    records, source = read_file(path, rows=True)
    widths = np.diff(records.offsets)
    for number in np.flatnonzero(widths != widths[:1])[:1].tolist():
        raise AlignmentFileError(
            f"{_title(records, source, number)}: a row of {int(widths[number]):,} columns, "
            f"expected {int(widths[0]):,} as in record 1"
        )
    return records, source


def _title(records: Records, source: str, number: int) -> str:
    return f"{source}: record {number + 1} {shown_name(records.names[number])}"


def read_alignment(
    path: str | os.PathLike[str],
    alphabet: Alphabet | str | None = None,
    rules: InputRules = DEFAULT_RULES,
) -> tuple[SequenceSet, npt.NDArray[np.int32], int]:
    """Read a multiple alignment, and the sequences in it.

    Parameters
    ----------
    path : str or path
        See `read_rows`.
    alphabet : Alphabet or {"dna", "protein"}, optional
        Guessed if not given.
    rules : InputRules
        What is done about what is unusual.

    Returns
    -------
    sequences : SequenceSet
        Without gaps.
    columns : ndarray of int32, shape (total_residues,)
        The column of each residue.
    width : int

    Raises
    ------
    FastaError, AlignmentFileError
        As of `read_rows`, or for the sequences.
    """
    records, source = read_rows(path)
    rows = [_row(records, number) for number in range(len(records.names))]
    filled = [np.flatnonzero(~_IS_GAP[row]) for row in rows]
    bare = join_records(
        records.names,
        records.descriptions,
        [row[places].tobytes() for row, places in zip(rows, filled, strict=True)],
    )
    numbered = Records(*bare[:4], (Origin(source, np.arange(1, len(rows) + 1)),))
    sequences = SequenceSet.from_records(
        numbered, alphabet=alphabet, source=source, rules=replace(rules, qualities=False)
    )
    (origin,) = sequences.origins
    columns = [  # stops at the ends of proteins are left out
        filled[number - 1][:length]
        for number, length in zip(origin.numbers.tolist(), sequences.lengths.tolist(), strict=True)
    ]
    return sequences, np.concatenate(columns).astype(np.int32), len(rows[0])


def _row(records: Records, number: int) -> npt.NDArray[np.uint8]:
    start, stop = records.offsets[number : number + 2].tolist()
    return np.frombuffer(records.residues, np.uint8)[start:stop]


def read_aligned_fasta(
    path: str | os.PathLike[str], sequences: SequenceSet
) -> tuple[npt.NDArray[np.int32], int]:
    """Read a multiple alignment of sequences that are known.

    Parameters
    ----------
    path : str or path
        See `read_rows`; every sequence once, in any order.
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
    records, source = read_rows(path)
    place = {name: index for index, name in enumerate(sequences.names)}
    columns = np.empty(sequences.total_residues, np.int32)
    seen: set[int] = set()
    for number, name in enumerate(records.names):
        row, title = _row(records, number), _title(records, source, number)
        index = place.get(name)
        if index is None or index in seen:
            problem = "is there twice" if index in seen else "is not among the sequences"
            raise AlignmentFileError(f"{title}: {problem} of {sequences.source}")
        seen.add(index)
        filled = np.flatnonzero(~_IS_GAP[row])
        part = slice(int(sequences.offsets[index]), int(sequences.offsets[index + 1]))
        encoding = sequences.alphabet.encoding
        if not np.array_equal(encoding[row[filled]], sequences.codes[part]):
            raise AlignmentFileError(
                f"{title}: its residues are not those of the sequence in {sequences.source}"
            )
        columns[part] = filled
    if len(seen) < len(sequences):
        missing = next(index for index in range(len(sequences)) if index not in seen)
        raise AlignmentFileError(
            f"{source}: no row of {sequences.record(missing)} of {sequences.source}"
        )
    width = int(records.offsets[1]) if len(records.names) else 0
    return columns, width
