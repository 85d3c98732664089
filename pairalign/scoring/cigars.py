"""CIGAR runs read against the residues that they claim to align; independent of the engines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pairalign.base.arrays import Bools, Int64s, UInt8s, UInt32s
from pairalign.base.error_types import ScoringError
from pairalign.sequences.alphabets import Alphabet

INSERTION, DELETION, MATCH, MISMATCH = 1, 2, 7, 8
"""Operations of a run ``length << 4 | op``, with SAM's codes: I, D, = and X."""
OP_LETTERS = "MIDNSHP=X"
"""The character of each of SAM's codes."""

Span = tuple[int, int]
"""0-based, half-open range of positions of a sequence."""


class Columns(NamedTuple):
    """Columns of an alignment.

    Attributes
    ----------
    query, target : ndarray of uint8, shape (pairs,)
        Codes that stand opposite each other, gaps left out.
    gap_lengths : ndarray of int64, shape (gaps,)
        Lengths of the gaps in either sequence.
    """

    query: UInt8s
    target: UInt8s
    gap_lengths: Int64s


def read_columns(
    query: UInt8s,
    target: UInt8s,
    cigar: UInt32s,
    spans: tuple[Span, Span],
    alphabet: Alphabet,
) -> Columns:
    """Read a CIGAR against two sequences of codes.

    Raises
    ------
    ScoringError
        A run of length 0 or of another operation than I, D, = and X, two neighbouring runs of the
        same operation, lengths that do not fit the spans, ``=`` on residues that do not match
        (ambiguous residues never do) or X on residues that do.
    """
    lengths, operations = _split_runs(np.asarray(cigar, np.uint32))
    aligned = (operations == MATCH) | (operations == MISMATCH)
    query_at = _positions(np.where(operations == DELETION, 0, lengths), spans[0], aligned, "query")
    target_at = _positions(
        np.where(operations == INSERTION, 0, lengths), spans[1], aligned, "target"
    )
    a, b = query[query_at], target[target_at]
    says_match = np.repeat(operations[aligned] == MATCH, lengths[aligned])
    for k in np.flatnonzero(((a == b) & (a < alphabet.unambiguous)) != says_match)[:1]:
        raise ScoringError(
            f"CIGAR has {'=' if says_match[k] else 'X'} for {alphabet.letters[a[k]]!r} at position "
            f"{query_at[k] + 1} of the query and {alphabet.letters[b[k]]!r} at position "
            f"{target_at[k] + 1} of the target"
        )
    return Columns(a, b, lengths[~aligned])


def _split_runs(
    cigar: UInt32s,
) -> tuple[Int64s, Int64s]:
    """Return lengths and operations of the runs."""
    lengths = (cigar >> 4).astype(np.int64)
    operations = (cigar & 15).astype(np.int64)
    for k in np.flatnonzero(~np.isin(operations, (INSERTION, DELETION, MATCH, MISMATCH)))[:1]:
        raise ScoringError(f"CIGAR run {k + 1} has operation {operations[k]}, expected I, D, =, X")
    for k in np.flatnonzero(lengths == 0)[:1]:
        raise ScoringError(f"CIGAR run {k + 1} has length 0")
    for k in np.flatnonzero(operations[1:] == operations[:-1])[:1]:
        raise ScoringError(f"CIGAR runs {k + 1} and {k + 2} have the same operation, expected one")
    return lengths, operations


def _positions(used: Int64s, span: Span, aligned: Bools, name: str) -> Int64s:
    """Return the position of the sequence at each = or X column; `used` is residues per run."""
    start, end = span
    if int(used.sum()) != end - start:
        raise ScoringError(
            f"CIGAR covers {int(used.sum())} residues of the {name}, "
            f"but the span [{start}, {end}) has {end - start}"
        )
    lengths = used[aligned]
    first = start + np.cumsum(used)[aligned] - lengths
    before = np.cumsum(lengths) - lengths
    positions: Int64s = np.arange(lengths.sum()) + np.repeat(first - before, lengths)
    return positions
