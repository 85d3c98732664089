"""Stores of sequences (``.pairset``) that are written; `pairalign.sequences` reads them."""

from __future__ import annotations

from collections.abc import Iterable

from pairalign.base.choices import NAMES, ON_DUPLICATE, ON_EMPTY
from pairalign.formats.output import Path, open_output
from pairalign.sequences.alphabets import Alphabet
from pairalign.sequences.fasta_records import Source
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.store_format import encode_store

SUFFIXES = {"pairset": (".pairset",)}
"""What ``--format`` calls a store, and how its name ends."""


def pack(
    sequences: SequenceSet | Source,
    output: Path,
    *,
    also: Iterable[Source] = (),
    alphabet: Alphabet | str | None = None,
    degap: bool = False,
    on_empty: str = ON_EMPTY[0],
    on_duplicate: str = ON_DUPLICATE[0],
    names: str = NAMES[0],
    locus: str | None = None,
) -> SequenceSet:
    """Write sequences into a store, which every command and function takes in the place of FASTA.

    Parameters
    ----------
    sequences : SequenceSet, str, path or file object
        A set, or a file as for `pairalign.read_fasta`. Qualities of FASTQ are kept.
    output : str or path
        ``.pairset``; it appears under its name when it is complete.
    also, alphabet, degap, on_empty, on_duplicate, names, locus
        As for `pairalign.read_fasta`; of a SequenceSet they say nothing.

    Returns
    -------
    SequenceSet
        What was written.

    Raises
    ------
    FastaError
        A file cannot be read, or is not what it should be.
    OutputError
        The store cannot be written.
    """
    if not isinstance(sequences, SequenceSet):
        sequences = read_fasta(
            sequences,
            also=also,
            alphabet=alphabet,
            degap=degap,
            on_empty=on_empty,
            on_duplicate=on_duplicate,
            names=names,
            locus=locus,
        )
    with open_output(output) as file:
        for block in encode_store(sequences):
            file.write(block)
    return sequences
