"""Low complexity: residues of repeats and of few kinds, and what they do to E-values.

Repeats of a few residues come about again and again without a common origin: unrelated sequences
that are rich in them score far more than random ones. tantan [1]_ says how likely each residue is
to be part of a repeat; SEG [3]_ finds segments of proteins that have few kinds of residues. In
"gentle masking" [2]_ a column with a masked residue scores what it does, but 0 at most, and the
score of an alignment is that of its best stretch. Here bits and E-values are of that score; raw
scores and alignments stay as they are.

References
----------
.. [1] M. C. Frith. A new repeat-masking method enables specific detection of homologous sequences.
   Nucleic Acids Research 39:e23, 2011.
.. [2] M. C. Frith. Gentle masking of low-complexity sequences improves homology search. PLoS ONE
   6:e28819, 2011.
.. [3] J. C. Wootton, S. Federhen. Statistics of local complexity in amino acid sequences and
   sequence databases. Computers & Chemistry 17:149-163, 1993.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, runs_of
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Bools, Doubles, Float32s, Int32s
from pairalign.base.error_types import ScoringError
from pairalign.base.native import Struct, library, struct_fields
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import Alphabet
from pairalign.sequences.complement import complement_of
from pairalign.sequences.sets import SequenceSet

_LEAST = 0.5
_START, _END, _DECAY = 0.005, 0.05, 0.9
_PERIODS = {"protein": 50, "dna": 100}
_RESIDUES = {"protein": 20, "dna": 4}

_WINDOW, _LOW, _HIGH, _MOST_UNKNOWN = 12, 2.2, 2.5, 2

_probabilities = library.pairalign_repeat_probabilities
_scores = library.pairalign_masked_scores
_segments = library.pairalign_low_complexity


class _NativeMasked(Struct):
    """pairalign_masked_set."""

    _fields_ = struct_fields("pointer codes is_masked offsets")


def repeat_probabilities(sequences: SequenceSet) -> Float32s:
    """Return how likely each residue is to be part of a repeat.

    Returns
    -------
    ndarray of float32, shape (total_residues,)
        In the order of the input.

    Notes
    -----
    tantan's parameters: repeats of up to 50 residues (DNA: 100 bases), BLOSUM62 (DNA: 1 and -1).
    Time is linear in residues times the longest period.
    """
    kind = sequences.alphabet.name
    ratios = _likelihoods(sequences.alphabet)
    probabilities = np.empty(sequences.total_residues, np.float32)
    _probabilities(
        *(len(sequences), sequences.offsets, sequences.codes, len(ratios), ratios),
        *(_PERIODS[kind], _START, _END, _DECAY, probabilities),
    )
    return probabilities


def mask_repeats(sequences: SequenceSet) -> Bools:
    """Return which residues are more likely than not part of a repeat, shape (total_residues,)."""
    masked: Bools = repeat_probabilities(sequences) >= _LEAST
    return masked


def find_segments(
    sequences: SequenceSet, window: int = _WINDOW, low: float = _LOW, high: float = _HIGH
) -> Bools:
    """Return which residues are in segments of low complexity, shape (total_residues,).

    Parameters
    ----------
    sequences : SequenceSet
        Proteins.
    window : int
        Residues of a window.
    low, high : float
        Bits of a window that begins a segment, and of those that it grows by.

    Raises
    ------
    ScoringError
        The sequences are DNA.

    Notes
    -----
    SEG with the parameters that it was published with. The part that is kept of what windows find
    has the least probability, and is at most 50 residues shorter; of equal probabilities it is the
    longest, then the first. Windows with more than two ambiguous residues find nothing. BLAST's
    segmasker does the same but for ties.
    """
    check_mask(sequences.alphabet, "seg")
    masked = np.zeros(sequences.total_residues, np.bool_)
    _segments(
        *(len(sequences), sequences.offsets, sequences.codes),
        *(window, low, high, _MOST_UNKNOWN, masked),
    )
    return masked


def check_mask(alphabet: Alphabet, mask: str) -> None:
    """Refuse a mask that sequences of an alphabet cannot have.

    Raises
    ------
    ScoringError
        SEG, and the sequences are DNA.
    """
    if mask == "seg" and alphabet.name != "protein":
        raise ScoringError("mask seg is for proteins: take tantan")


def mask_residues(sequences: SequenceSet, mask: str) -> Bools:
    """Return which residues a mask covers, one of `pairalign.base.choices.MASKS` but none.

    Returns
    -------
    ndarray of bool, shape (total_residues,)
        In the order of the input.
    """
    return {"tantan": mask_repeats, "seg": find_segments}[mask](sequences)


def mask_problem(problem: Problem, mask: str | None) -> Problem:
    """Return a problem whose masked residues are X, in DNA N, and score as that does."""
    if mask is None:
        return problem
    queries, *others = (
        sequences.masked(mask_residues(sequences, mask)) for sequences in problem.sets
    )
    return Problem(queries, others[0] if others else None, problem.scoring)


def _likelihoods(alphabet: Alphabet) -> Doubles:
    """Return the likelihood of each residue as a copy of another, by that of it alone.

    ``exp(lambda s)``, with the lambda at which scores are those of some residues in equilibrium.
    Ambiguous residues copy nothing.
    """
    is_dna = alphabet.name == "dna"
    scoring = make_scoring(alphabet, match=1, mismatch=-1) if is_dna else make_scoring(alphabet)
    count = _RESIDUES[alphabet.name]
    scores = scoring.matrix[:count, :count] / scoring.scale

    def shares(value: float) -> float:
        return float(np.linalg.inv(np.exp(value * scores)).sum())

    low, high = (1.0, 1.2) if is_dna else (0.3, 0.35)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if (shares(middle) > 1) == (shares(high) > 1) else (middle, high)
    likelihoods: Doubles = np.zeros_like(scoring.matrix, np.float64)
    likelihoods[:count, :count] = np.exp(low * scores)
    return likelihoods


@dataclass(frozen=True, eq=False)
class ResidueMasks:
    """Which residues of two sets are masked.

    Attributes
    ----------
    mask : str
        One of `pairalign.base.choices.MASKS` but none.
    """

    queries: SequenceSet
    targets: SequenceSet
    mask: str

    @cached_property
    def masked(self) -> tuple[Bools, Bools]:
        """Of all residues of the queries, and of the targets."""
        first = mask_residues(self.queries, self.mask)
        if self.targets is self.queries:
            return first, first
        return first, mask_residues(self.targets, self.mask)

    def raw_scores(self, alignments: Alignments) -> Int32s:
        """Return the raw score of the best stretch of each alignment, int32.

        Parameters
        ----------
        alignments : Alignments
            With CIGARs; on either strand of the query.
        """
        scoring = alignments.scoring
        matrix = np.ascontiguousarray(scoring.matrix, np.int32)
        complement = None if alignments.strand is None else complement_of(scoring.alphabet)
        sides = [
            _NativeMasked(sequences.codes, masked, sequences.offsets)
            for sequences, masked in zip((self.queries, self.targets), self.masked, strict=True)
        ]
        spans = (alignments.field(name) for name in ("query_start", "query_end", "target_start"))
        arrays: list[npt.NDArray[Any] | None] = [alignments.query, alignments.target, *spans]
        arrays += [alignments.strand, complement]
        arrays += [*runs_of(alignments), matrix]
        best = np.empty(len(alignments), np.int32)
        _scores(
            *(len(alignments), *sides, *arrays),
            *(len(matrix), scoring.gap_open, scoring.gap_extend, best),
        )
        return best
