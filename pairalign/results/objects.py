"""Rows of an alignment as objects of scikit-bio and biotite, which are imported when used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.base.packages import needed
from pairalign.sequences.alphabets import DNA, Alphabet

if TYPE_CHECKING:
    import biotite.sequence.align
    import skbio

GAP = "-"
_AS_X = str.maketrans("UOJ", "XXX")


def to_tabular_msa(
    rows: Sequence[str], names: Sequence[str], alphabet: Alphabet, **metadata: object
) -> skbio.TabularMSA:
    """Return rows of one width as scikit-bio has them.

    Parameters
    ----------
    rows : sequence of str
        Residues and ``-``.
    names : sequence of str
        Their labels, and the ``id`` of each.
    alphabet : Alphabet
        Of the residues, which are spelled as it has them: in capitals, U of RNA as T.
    **metadata
        Of the whole.

    Raises
    ------
    MissingPackageError
        scikit-bio is not installed.
    """
    with needed("this", "scikit-bio"):
        import skbio
    kind: Any = skbio.DNA if alphabet == DNA else skbio.Protein
    sequences = [
        kind(_spelled(row, alphabet), metadata={"id": name})
        for row, name in zip(rows, names, strict=True)
    ]
    msa: skbio.TabularMSA = skbio.TabularMSA(sequences, metadata=metadata, index=list(names))
    return msa


def to_biotite_alignment(
    rows: Sequence[str],
    sequences: Sequence[str],
    starts: Sequence[int],
    alphabet: Alphabet,
    score: float | None = None,
) -> biotite.sequence.align.Alignment:
    """Return rows of one width as biotite has them: sequences and a trace.

    Parameters
    ----------
    rows : sequence of str
        Residues and ``-``.
    sequences : sequence of str
        The whole sequences.
    starts : sequence of int
        Where in each sequence its row begins.
    alphabet : Alphabet
        Of the residues, which are spelled as it has them; U, O and J, which biotite lacks, as X.
    score : float, optional

    Raises
    ------
    MissingPackageError
        biotite is not installed.
    """
    with needed("this", "biotite"):
        import biotite.sequence
        import biotite.sequence.align
    trace = np.full((len(rows[0]), len(rows)), -1, np.int64)
    for number, (row, start) in enumerate(zip(rows, starts, strict=True)):
        is_residue = np.frombuffer(row.encode("ascii"), np.uint8) != ord(GAP)
        trace[is_residue, number] = start + np.arange(int(is_residue.sum()))
    kind: Any = biotite.sequence.ProteinSequence
    if alphabet == DNA:
        kind = biotite.sequence.NucleotideSequence
    whole = [kind(_spelled(sequence, alphabet).translate(_AS_X)) for sequence in sequences]
    alignment: biotite.sequence.align.Alignment = biotite.sequence.align.Alignment(
        whole, trace, score
    )
    return alignment


def _spelled(row: str, alphabet: Alphabet) -> str:
    """Return a row with the letters of the alphabet: those that it lacks as X or N."""
    residues = np.frombuffer(row.encode("ascii"), np.uint8)
    table = np.frombuffer(alphabet.letters.encode("ascii").ljust(256, GAP.encode()), np.uint8)
    return table[alphabet.encoding[residues]].tobytes().decode("ascii")
