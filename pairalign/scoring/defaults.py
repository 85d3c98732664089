"""Scores of residues and costs of gaps where not all of them are given.

Proteins score by BLOSUM62, bases by a match and a mismatch; what is given is checked.
"""

from __future__ import annotations

import os
from decimal import Decimal

from pairalign.base.error_types import ScoringError
from pairalign.scoring.given_matrices import Matrix, given_table
from pairalign.scoring.matrices import (
    Number,
    Table,
    complete_table,
    load_table,
    match_table,
    to_decimal,
)
from pairalign.sequences.alphabets import DNA, Alphabet

_DEFAULT_MATRIX = "BLOSUM62"
_DEFAULT_MATCH = (Decimal(2), Decimal(-3))
_DEFAULT_GAPS = {"protein": (Decimal(11), Decimal(1)), "dna": (Decimal(5), Decimal(2))}


def choose_table(
    alphabet: Alphabet,
    matrix: Matrix | None,
    match: Number | None,
    mismatch: Number | None,
) -> tuple[Table, dict[str, str]]:
    """Return the substitution scores of all residues, and which of them stand in for others."""
    if matrix is not None and (match is not None or mismatch is not None):
        raise ScoringError("both a matrix and match or mismatch scores are given, expected one")
    if matrix is None and (alphabet == DNA or match is not None or mismatch is not None):
        return match_table(alphabet, *_choose_match(alphabet, match, mismatch)), {}
    if matrix is None or isinstance(matrix, (str, os.PathLike)):
        table = load_table(_DEFAULT_MATRIX if matrix is None else matrix)
    else:
        table = given_table(matrix, alphabet)
    return complete_table(table, alphabet)


def _choose_match(
    alphabet: Alphabet, match: Number | None, mismatch: Number | None
) -> tuple[Decimal, Decimal]:
    if alphabet != DNA and (match is None or mismatch is None):
        raise ScoringError("match and mismatch must both be given for proteins")
    same = _DEFAULT_MATCH[0] if match is None else to_decimal(match, "match")
    other = _DEFAULT_MATCH[1] if mismatch is None else to_decimal(mismatch, "mismatch")
    if other > 0:
        raise ScoringError(f"mismatch is a score, found {other}, expected 0 or less: {-other}?")
    if same < other:
        raise ScoringError(f"match scores {same}, less than a mismatch with {other}")
    return same, other


def choose_gap_costs(
    alphabet: Alphabet, gap_open: Number | None, gap_extend: Number | None
) -> tuple[Decimal, Decimal]:
    """Return the costs of a gap's first residue and of each further one."""
    default_open, default_extend = _DEFAULT_GAPS[alphabet.name]
    opening = default_open if gap_open is None else to_decimal(gap_open, "gap_open")
    extension = default_extend if gap_extend is None else to_decimal(gap_extend, "gap_extend")
    for name, cost in (("gap_open", opening), ("gap_extend", extension)):
        if cost < 0:
            raise ScoringError(f"{name} is a cost, found {cost}, expected 0 or more: {-cost}?")
    if gap_open is None:
        opening = max(opening, extension)
    if gap_extend is None:
        extension = min(opening, extension)
    if extension > opening:
        raise ScoringError(
            f"gap_extend {extension} exceeds gap_open {opening}; the first residue of a gap costs "
            "gap_open, each further one gap_extend"
        )
    return opening, extension
