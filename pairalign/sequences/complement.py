"""The other strand of DNA: complements of codes, and reverse complements of sequences."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.errors import AlphabetError
from pairalign.sequences.sets import Alphabet


def complement_of(alphabet: Alphabet, source: str | None = None) -> npt.NDArray[np.uint8]:
    """Complement of each code, uint8 of shape (32,).

    Parameters
    ----------
    alphabet : Alphabet
    source : str, optional
        What a message calls the sequences.

    Raises
    ------
    AlphabetError
        The alphabet has no complements: only DNA has a second strand.
    """
    if alphabet.complement is None:
        where = "" if source is None else f"{source}: "
        raise AlphabetError(
            f"{where}{alphabet.name} sequences have one strand, expected DNA (if it is DNA, say "
            "--alphabet dna)"
        )
    return alphabet.complement


def reverse_complement(codes: npt.NDArray[np.uint8], alphabet: Alphabet) -> npt.NDArray[np.uint8]:
    """Return the other strand of a sequence of codes.

    Raises
    ------
    AlphabetError
        The alphabet has no complements.
    """
    return complement_of(alphabet)[codes[::-1]]
