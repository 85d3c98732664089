"""What the bitwise engines share: which scorings they can do, and the bits that scores need.

They compute linear-gap local scores, many pairs to a machine word, with a circuit that compares
neighbouring cells on their lowest bits only (``common/bitwise_cell.h``, docs/bitwise.md).

References
----------
T. Nishimura, J. L. Bordim, Y. Ito, K. Nakano: Accelerating the Smith-Waterman algorithm using
bitwise parallel bulk computation technique on GPU. IPDPS Workshops, 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from pairalign.base.error_types import ScoringError
from pairalign.base.spelling import spelled
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA

MOST_LOW_BITS = 12
"""More would need scores whose ratio nobody uses: ``match + 2 * gap`` up to 2,047."""


@dataclass(frozen=True)
class LinearScores:
    """A match, a mismatch and a gap in the smallest whole numbers; all but `match` are costs.

    Attributes
    ----------
    match : int
        More than 0.
    mismatch : int
        At most ``2 * gap``: two gaps are never worse than a mismatch that costs more.
    gap : int
        Cost of each residue of a gap, 0 or more.
    factor : int
        Raw scores are `factor` times the scores computed with these.
    """

    match: int
    mismatch: int
    gap: int
    factor: int

    @property
    def low_bits(self) -> int:
        """Bits on which neighbouring cells are compared; see ``common/bitwise_cell.h``."""
        difference = (self.match + 2 * self.gap).bit_length() + 1
        step = (max(self.match, self.mismatch) - 1).bit_length() + 2
        return max(3, difference, step)

    def bits(self, rows: int, columns: int) -> int:
        """Bits of the highest score that sequences of these lengths could reach."""
        return max(self.low_bits, (self.match * min(rows, columns)).bit_length())


def why_not(scoring: Scoring) -> str | None:
    """Return None when the bitwise engines can score with `scoring`, else the reason why not."""
    if scoring.mode != "local":
        return f"mode {scoring.mode}, does local only"
    if scoring.alphabet != DNA:
        return f"alphabet {scoring.alphabet.name}, does dna only"
    if scoring.gap_open != scoring.gap_extend:
        return f"affine gaps, needs {spelled('gap_open')} equal to {spelled('gap_extend')}"
    letters = len(DNA.letters)
    expected = np.full((letters, letters), scoring.matrix[0, 1], np.int32)
    unambiguous = np.arange(DNA.unambiguous)
    expected[unambiguous, unambiguous] = scoring.matrix[0, 0]
    if not np.array_equal(scoring.matrix[:letters, :letters], expected):
        return f"matrix {scoring.matrix_name}, needs one score for matches and one for mismatches"
    match, mismatch = int(scoring.matrix[0, 0]), int(scoring.matrix[0, 1])
    if match <= 0 or mismatch > 0:
        return f"match {match} and mismatch {mismatch}, needs one above and one not above 0"
    bits = _normalised(scoring).low_bits
    if bits > MOST_LOW_BITS:
        return (
            f"match {match}, mismatch {mismatch} and gap {scoring.gap_open}, whose ratios need "
            f"{bits} bits of {MOST_LOW_BITS}: use smaller numbers"
        )
    return None


def linear_scores(scoring: Scoring) -> LinearScores:
    """Return a scoring in the smallest whole numbers.

    Raises
    ------
    ScoringError
        The bitwise engines cannot score with it; the message says why.
    """
    reason = why_not(scoring)
    if reason is not None:
        raise ScoringError(f"bitwise scores: {reason}")
    return _normalised(scoring)


def _normalised(scoring: Scoring) -> LinearScores:
    match, gap = int(scoring.matrix[0, 0]), scoring.gap_open
    mismatch = min(-int(scoring.matrix[0, 1]), 2 * gap)
    factor = gcd(match, mismatch, gap)
    return LinearScores(match // factor, mismatch // factor, gap // factor, factor)
