"""What is said of a guess that sequences are DNA: residues in them that are no bases."""

from __future__ import annotations

import logging
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pairalign.base.byte_counts import count_bytes
from pairalign.base.error_types import FastaError
from pairalign.base.spelling import spelled
from pairalign.sequences.alphabets import DNA, NO_BASES, Alphabet, has_too_few_bases

log = logging.getLogger("pairalign")


class Guessed(Protocol):
    """What is looked at of a `SequenceSet`."""

    source: str
    alphabet: Alphabet
    residues: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    replaced: dict[str, int]

    def record(self, index: int) -> str:
        """Return what messages call a sequence."""


def check_guess(sequences: Guessed) -> None:
    """Warn of residues that are no bases in a set that was taken for DNA: they are read as N.

    Raises
    ------
    FastaError
        At least 10% of a sequence are such: it may be a protein among DNA. The message names it.
    """
    if sequences.alphabet != DNA or not sequences.replaced:
        return
    is_none = np.zeros(256, np.bool_)
    is_none[list(NO_BASES)] = True
    positions = np.flatnonzero(is_none[sequences.residues])
    indices = np.searchsorted(sequences.offsets, positions, side="right") - 1
    for index in np.unique(indices).tolist():
        start, stop = sequences.offsets[index : index + 2]
        if has_too_few_bases(count_bytes(sequences.residues[start:stop])):
            share = np.count_nonzero(indices == index) / (stop - start)
            raise FastaError(
                f"{sequences.source}: {sequences.record(index)}: {share:.0%} of its residues are "
                f"no bases, but the sequences together look like DNA; say "
                f"{spelled('alphabet', 'dna')} or {spelled('alphabet', 'protein')}"
            )
    log.warning(
        "%s: %s: %s: no base, read as N (%s in %s): the sequences look like DNA; if they are not, "
        "say %s",
        sequences.source,
        sequences.record(int(indices[0])),
        f"'{chr(int(sequences.residues[positions[0]]))}' at position "
        f"{int(positions[0] - sequences.offsets[indices[0]]) + 1:,}",
        _counted(len(positions), "residue"),
        _counted(len(np.unique(indices)), "record"),
        spelled("alphabet", "protein"),
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number > 1)}"
