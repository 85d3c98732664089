"""Alphabets: the residues of proteins and of DNA, and their codes.

Residues become small integer codes through a table of 256 entries, one per byte. Conventions:

- Case does not matter to codes; the residues themselves are kept as they were.
- Protein: every letter A-Z has a code, and ``*`` has one. How residues that a matrix lacks are
  scored (U, O, J and others) is up to `pairalign.scoring.scoring.Scoring`.
- DNA: the IUPAC letters; U reads as T; other letters are replaced by N and counted.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from pairalign.base.arrays import Int64s, UInt8s, count_bytes
from pairalign.base.error_types import RecordError, UsageError
from pairalign.base.spelling import spelled
from pairalign.base.texts import counted

INVALID = 255


@dataclass(frozen=True)
class Alphabet:
    """The residues of a kind of sequence and their codes.

    Attributes
    ----------
    name : str
        ``"protein"`` or ``"dna"``.
    letters : str
        The residue of each code; the code is the index. At most 32; the last is the residue that
        stands for any (X, N).
    unambiguous : int
        Codes from `unambiguous` on are ambiguous: they never count as a match, not even with
        themselves.
    encoding : ndarray of uint8, shape (256,)
        Code of each byte, for lower and upper case; 255 is not a sequence character.
    complement : ndarray of uint8, shape (32,), or None
        Code of each code's complement, IUPAC letters included; codes without a residue stay what
        they are. None for proteins.
    """

    name: str
    letters: str
    unambiguous: int
    encoding: UInt8s = field(repr=False, compare=False)
    complement: UInt8s | None = field(default=None, repr=False, compare=False)

    @property
    def unknown(self) -> str:
        """The letter that stands for any residue: X or N."""
        return self.letters[-1]

    @property
    def unit(self) -> str:
        """What lengths are counted in, for messages: residues, or bases of DNA."""
        return "residues" if self.complement is None else "bases"


def _make_alphabet(
    name: str,
    letters: str,
    unambiguous: int,
    aliases: Mapping[str, str],
    complements: str | None = None,
) -> Alphabet:
    codes = {letter: code for code, letter in enumerate(letters)}
    encoding = np.full(256, INVALID, np.uint8)
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + letters:
        code = codes.get(aliases.get(letter, letter), len(letters) - 1)
        encoding[[ord(letter), ord(letter.lower())]] = code
    encoding.flags.writeable = False
    complement = None
    if complements is not None:
        complement = np.arange(32, dtype=np.uint8)
        complement[: len(letters)] = [codes[letter] for letter in complements]
        complement.flags.writeable = False
    return Alphabet(name, letters, unambiguous, encoding, complement)


# U, O and J have codes of their own so that U against C is not shown as a match.
PROTEIN = _make_alphabet("protein", "ARNDCQEGHILKMFPSTWYVBZ*UOJX", 26, {})
DNA = _make_alphabet("dna", "ACGTRYSWKMBDHVN", 4, {"U": "T"}, complements="TGCAYRSWMKVHDBN")
ALPHABETS = {alphabet.name: alphabet for alphabet in (PROTEIN, DNA)}

NO_BASES = b"EFIJLOPQXZefijlopqxz"
"""Bytes of what is no IUPAC code of a base."""
_NO_BASES = [b for b in NO_BASES]
_BASES = [b for b in b"ACGTUNacgtun"]
_LETTERS = [b for b in range(256) if bytes([b]).isalpha()]


def get_alphabet(alphabet: Alphabet | str) -> Alphabet:
    """Return an alphabet given itself or its name; UsageError for another name."""
    if isinstance(alphabet, Alphabet):
        return alphabet
    try:
        return ALPHABETS[alphabet.lower()]
    except (KeyError, AttributeError):
        expected = " or ".join(repr(name) for name in ALPHABETS)
        raise UsageError(f"unknown alphabet {alphabet!r}, expected {expected}") from None


def guess_alphabet(*histograms: Int64s) -> Alphabet:
    """Guess the alphabet of sequences from how often each byte occurs in them.

    Parameters
    ----------
    *histograms : ndarray of int64, shape (256,)
        Of several sets, the guess is for all of them together.

    Returns
    -------
    Alphabet
        `DNA` when at least 90% of all residues are A, C, G, T, U or N, and in each set fewer than
        10% are no IUPAC codes of bases; else `PROTEIN`. What is no letter does not vote: a stray
        ``*`` must not turn DNA into protein.
    """
    counts = np.sum(histograms, axis=0)
    letters = int(counts[_LETTERS].sum())
    if not letters or 10 * int(counts[_BASES].sum()) < 9 * letters:
        return PROTEIN
    if any(has_too_few_bases(histogram) for histogram in histograms):
        return PROTEIN
    return DNA


def has_too_few_bases(counts: Int64s) -> bool:
    """Whether at least 10% of some residues are no IUPAC codes of bases.

    Parameters
    ----------
    counts : ndarray of int64, shape (256,)
        How often each byte occurs.
    """
    return 10 * int(counts[_NO_BASES].sum()) >= max(1, int(counts[_LETTERS].sum()))


def count_replaced(counts: Int64s, alphabet: Alphabet) -> dict[str, int]:
    """Count the upper-case letters that read as X or N since an alphabet lacks them.

    Parameters
    ----------
    counts : ndarray of int64, shape (256,)

    Returns
    -------
    dict of str to int
        Without X and N themselves, and U in DNA.
    """
    exceptions = {alphabet.unknown} | ({"U"} if alphabet == DNA else set())
    letter_counts = {
        chr(byte): int(counts[byte] + counts[byte + 32])
        for byte in range(ord("A"), ord("Z") + 1)
        if alphabet.encoding[byte] == len(alphabet.letters) - 1 and chr(byte) not in exceptions
    }
    return {letter: count for letter, count in letter_counts.items() if count}


log = logging.getLogger("pairalign")


class Guessed(Protocol):
    """What is looked at of a `SequenceSet`."""

    source: str
    alphabet: Alphabet
    residues: UInt8s
    offsets: Int64s
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
            raise RecordError(
                f"{sequences.source}: {sequences.record(index)}: {share:.0%} of its residues are "
                f"no bases, but the sequences together look like DNA; say "
                f"{spelled('alphabet', 'dna')} or {spelled('alphabet', 'protein')}",
                "alphabet",
            )
    log.warning(
        "%s: %s: %s: no base, read as N (%s in %s): the sequences look like DNA; if they are not, "
        "say %s",
        sequences.source,
        sequences.record(int(indices[0])),
        f"'{chr(int(sequences.residues[positions[0]]))}' at position "
        f"{int(positions[0] - sequences.offsets[indices[0]]) + 1:,}",
        counted(len(positions), "residue"),
        counted(len(np.unique(indices)), "record"),
        spelled("alphabet", "protein"),
    )
