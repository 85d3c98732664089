"""Multiple alignments that are given: objects, aligned FASTA, and other formats with rows.

Those are Stockholm, Clustal, MSF, PHYLIP and PIR, and A3M without residues between columns.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import MultipleAlignment
from pairalign.base.error_types import AlignmentFileError, UsageError, shown_name
from pairalign.jobs.msa.large import residues_of
from pairalign.sequences.alphabets import Alphabet
from pairalign.sequences.fasta_records import GAPS
from pairalign.sequences.input_rules import DEFAULT_RULES, InputRules
from pairalign.sequences.sequence_files import read_file
from pairalign.sequences.sequence_records import Origin, Records, join_records
from pairalign.sequences.sets import SequenceSet

AnyAlignment = MultipleAlignment | str | os.PathLike[str]
"""A path is of aligned FASTA, Stockholm and others, ours or another program's."""

Rows = tuple[SequenceSet, npt.NDArray[np.int32], int]
"""Sequences without gaps, the column of each of their residues, and how many columns there are."""

_IS_GAP = np.isin(np.arange(256), np.frombuffer(GAPS, np.uint8))


def read_alignment(
    alignment: AnyAlignment,
    alphabet: Alphabet | str | None = None,
    rules: InputRules = DEFAULT_RULES,
) -> Rows:
    """Read a multiple alignment, and the sequences in it.

    Parameters
    ----------
    alignment : MultipleAlignment or path
        In files ``-`` and ``.`` are gaps.
    alphabet : Alphabet or {"dna", "protein"}, optional
        Of a file; guessed if not given.
    rules : InputRules
        What is done about what is unusual in a file.

    Raises
    ------
    FastaError
        The file cannot be read.
    AlignmentFileError
        Rows of several widths; the message names the record.
    UsageError
        The columns of an object are none of its sequences.
    """
    if isinstance(alignment, MultipleAlignment):
        return alignment.sequences, _checked(alignment), alignment.width
    records, source = read_file(alignment, rows=True)
    widths = np.diff(records.offsets)
    for number in np.flatnonzero(widths != widths[:1])[:1].tolist():
        raise AlignmentFileError(
            f"{source}: record {number + 1} {shown_name(records.names[number])}: a row of "
            f"{int(widths[number]):,} columns, expected {int(widths[0]):,} as in record 1"
        )
    width = int(widths[0]) if len(widths) else 0
    rows = np.frombuffer(records.residues, np.uint8).reshape(len(widths), width)
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
    return sequences, np.concatenate(columns).astype(np.int32), width


def columns_in(
    alignment: AnyAlignment, sequences: SequenceSet
) -> tuple[npt.NDArray[np.int32], int]:
    """Return the column of each residue in an alignment of some sequences, and its width.

    Parameters
    ----------
    alignment : MultipleAlignment or path
        Of these sequences, in any order; case does not matter.

    Raises
    ------
    FastaError, AlignmentFileError, UsageError
        See `read_alignment`; or it is of other sequences.
    """
    own, columns, width = read_alignment(alignment, sequences.alphabet)
    place = {name: index for index, name in enumerate(own.names)}
    members = np.array([place.pop(name, -1) for name in sequences.names])
    for index in place.values():
        raise AlignmentFileError(
            f"{own.source}: {own.record(index)}: is not among the sequences of {sequences.source}"
        )
    for index in np.flatnonzero(members < 0).tolist():
        raise AlignmentFileError(
            f"{own.source}: no row of {sequences.record(index)} of {sequences.source}"
        )
    for index, member in enumerate(members.tolist()):
        residues, row = (
            one.codes[slice(*one.offsets[k : k + 2].tolist())]
            for one, k in ((sequences, index), (own, member))
        )
        if not np.array_equal(residues, row):
            raise AlignmentFileError(
                f"{own.source}: {own.record(member)}: its residues are not those of the sequence "
                f"in {sequences.source}"
            )
    return columns[residues_of(own, members)], width


def _checked(alignment: MultipleAlignment) -> npt.NDArray[np.int32]:
    """Return the columns of residues; UsageError unless those of each sequence rise."""
    sequences, width = alignment.sequences, alignment.width
    values = np.asarray(alignment.columns)
    if values.shape != (sequences.total_residues,) or values.dtype.kind not in "iu":
        raise UsageError(
            f"columns: found an array of {values.dtype} of shape {values.shape}, expected whole "
            f"numbers of shape ({sequences.total_residues},)"
        )
    if len(values) and not 0 <= values.min() <= values.max() < width:
        raise UsageError(
            f"columns: found {values.min()} to {values.max()}, expected 0 to {width - 1}"
        )
    rises = np.diff(values.astype(np.int64)) > 0
    rises[sequences.offsets[1:-1] - 1] = True
    if not rises.all():
        index = int(np.searchsorted(sequences.offsets, rises.argmin(), "right")) - 1
        raise UsageError(f"columns: those of {sequences.record(index)} do not rise")
    return values.astype(np.int32)
