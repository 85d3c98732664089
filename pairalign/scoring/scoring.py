"""What an alignment is worth: substitution scores, gap costs and the mode, as exact integers.

A gap of k residues costs ``gap_open + (k - 1) * gap_extend``. Decimal scores and costs are
multiplied by the smallest power of ten that makes all of them whole (`Scoring.scale`); a raw score
is the sum of such integers, ``raw / scale`` the score.

How residues that a matrix lacks are scored is written at
`pairalign.scoring.matrices.complete_table`; one that cannot be scored at all is an `AlphabetError`
once a sequence holds it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Doubles, Int32s, Int64s, UInt8s, UInt32s
from pairalign.base.choices import END_GAPS, MODES, TIES
from pairalign.base.error_types import AlphabetError, ScoringError
from pairalign.scoring.cigars import Span, read_columns
from pairalign.scoring.end_gaps import EndGaps, GapCost, choose_end_costs
from pairalign.scoring.given_matrices import Matrix, given_table
from pairalign.scoring.matrices import (
    Number,
    Table,
    common_scale,
    complete_table,
    load_table,
    match_table,
    to_decimal,
)
from pairalign.sequences.alphabets import DNA, INVALID, Alphabet, get_alphabet
from pairalign.sequences.sets import SequenceSet

_Scalar = TypeVar("_Scalar", bound=np.generic)

CODES = 32
SCORE_LIMIT = 2**30
"""Raw scores stay below this in size: 32 bits with room for one more step and for sentinels."""


@dataclass(frozen=True, eq=False, repr=False)
class Scoring:
    """Everything that decides which alignment is the best; made by `make_scoring`.

    Attributes
    ----------
    mode : {"global", "semiglobal", "local", "end-gaps"}
    alphabet : Alphabet
    matrix : ndarray of int32, shape (32, 32)
        Scaled score of each pair of codes; symmetric; 0 for codes that cannot be scored.
    known : ndarray of bool, shape (32,)
        Codes that can be scored.
    gap_open, gap_extend : int
        Scaled cost of the first residue of a gap and of each further one.
    scale : int
        1, 10, 100 and so on: a raw score divided by `scale` is the score.
    matrix_name : str
    stand_ins : Mapping of str to str
        Residues that score as others because the matrix lacks them: ``{"U": "C"}``. For messages.
    end_gaps : EndGaps or None
        Costs of the four end gaps in mode end-gaps, else None.
    """

    mode: str
    alphabet: Alphabet
    matrix: Int32s
    known: Bools
    gap_open: int
    gap_extend: int
    scale: int
    matrix_name: str
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    end_gaps: EndGaps | None = None

    def __repr__(self) -> str:
        costs = map(self.format_score, (self.gap_open, self.gap_extend))
        return "<Scoring: {}, {}, gap open {}, gap extend {}>".format(
            self.mode, self.matrix_name, *costs
        )

    @property
    def max_score(self) -> int:
        """Largest (scaled) score of two residues."""
        return int(self.matrix[np.ix_(self.known, self.known)].max())

    @property
    def min_score(self) -> int:
        """Smallest (scaled) score of two residues."""
        return int(self.matrix[np.ix_(self.known, self.known)].min())

    def gap_cost(self, residues: int) -> int:
        """Scaled cost of a gap of `length` residues; 0 for none."""
        return self.gap_open + (residues - 1) * self.gap_extend if residues else 0

    @property
    def scores_strands_alike(self) -> bool:
        """Whether two bases score what their complements do."""
        return self.unlike_complements is None

    @property
    def unlike_complements(self) -> tuple[tuple[str, str], tuple[str, str]] | None:
        """The first two bases and their score, and their complements and theirs, that differ."""
        complement, letters = self.alphabet.complement, self.alphabet.letters
        if complement is None:
            return None
        turned = self.matrix[np.ix_(complement, complement)]
        for a, b in np.argwhere(turned != self.matrix)[:1].tolist():
            return (
                (letters[a] + letters[b], self.format_score(int(self.matrix[a, b]))),
                (
                    letters[complement[a]] + letters[complement[b]],
                    self.format_score(int(turned[a, b])),
                ),
            )
        return None

    def score_bounds(self, rows: int, columns: int) -> tuple[int, int]:
        """Bound every value H(i, j) of the matrix of two sequences.

        Parameters
        ----------
        rows, columns : int
            Lengths of the two sequences, in either order.

        Returns
        -------
        low : int
        high : int
            Raw scores with ``low <= H(i, j) <= high`` for all ``0 <= i <= rows`` and
            ``0 <= j <= columns``, borders included.

        Notes
        -----
        With n, m the smaller and the larger length and s, S the smallest and largest score of two
        residues:

        - *High.* A path has at most n diagonal steps, each worth at most S, and gaps cost at least
          nothing; an empty path is worth 0. So ``high = n * max(S, 0)``.
        - *Low, local.* 0 by definition.
        - *Low, semiglobal.* H is at least the score of any path that ends in the cell. One is a
          single gap from the nearer border (at least ``-gap_cost(n)``), one is all diagonal
          steps from a border (at least ``n * min(s, 0)``); the better of the two counts.
        - *Low, global*, and end-gaps, which cost no more. One path deletes all residues of both (at
          least ``-gap_cost(n) - gap_cost(m)``). Another takes k diagonal steps and one gap of d
          residues, k <= n and k + d <= m, worth ``k * min(s, 0) - gap_cost(d)`` or more. For a
          fixed k the longest gap, d = m - k, is worst; over k that is a straight line but for the
          step at d = 0, so it is smallest at k = 0, k = n or, when n = m, k = m - 1.

        E and F of the same cells lie in ``[low - gap_open, high]``, since
        ``E(i, j) >= H(i, j-1) - gap_open``, but for their borders of minus infinity.
        """
        n, m = min(rows, columns), max(rows, columns)
        worst = min(self.min_score, 0)
        high = n * max(self.max_score, 0)
        if self.mode == "local":
            return 0, high
        if self.mode == "semiglobal":
            return max(-self.gap_cost(n), n * worst), high
        only_gaps = -self.gap_cost(n) - self.gap_cost(m)
        steps = {0, n, max(min(n, m - 1), 0)}
        one_gap = min(k * worst - self.gap_cost(m - k) for k in steps)
        return max(only_gaps, one_gap), high

    def check_sets(self, queries: SequenceSet, targets: SequenceSet | None = None) -> None:
        """Check that every sequence can be scored and that no score leaves 32 bits.

        Parameters
        ----------
        queries, targets : SequenceSet
            Without `targets`, one set with itself.

        Raises
        ------
        AlphabetError
            A residue that the matrix cannot score; the message names record and position.
        ScoringError
            The longest sequences could reach a score that does not fit.
        """
        targets = queries if targets is None else targets
        for sequences in (queries, targets):
            self._check_residues(sequences)
        longest = [int(sequences.sorted_lengths[0]) for sequences in (queries, targets)]
        low, high = self.score_bounds(*longest)
        # Engines may keep H + (i+j) * gap_extend, and a few gaps below the lowest of those.
        shifted = high + (sum(longest) + 4) * self.gap_extend + 4 * self.gap_open - self.min_score
        if max(high, self.gap_open - low, shifted) >= SCORE_LIMIT:
            raise ScoringError(
                f"scores do not fit 32 bits: sequences of {longest[0]} and {longest[1]} residues "
                f"could score from {self.format_score(low)} to {self.format_score(high)}"
                f"{f' (in units of 1/{self.scale})' if self.scale > 1 else ''}; "
                "use smaller scores and costs, or fewer decimals"
            )

    def replaced_message(self, *sets: SequenceSet) -> str | None:
        """Say in one line which residues of some sets do not count as themselves, or None.

        Both the residues that the alphabet lacks (`SequenceSet.replaced`) and those for which
        another letter stands in with this matrix.

        Parameters
        ----------
        *sets : SequenceSet
            What was read.

        Returns
        -------
        str or None
            The line, without an end.
        """
        read: Counter[str] = Counter()
        for sequences in sets:
            read.update(sequences.replaced)
        parts = [
            f"{letter} read as {self.alphabet.unknown} ({count})"
            for letter, count in sorted(read.items())
        ]
        for letter, other in self.stand_ins.items():
            cases = [ord(letter), ord(letter.lower())]
            count = sum(int(sequences.byte_counts[cases].sum()) for sequences in sets)
            parts += [f"{letter} scored as {other} ({count})"] if count else []
        if not parts:
            return None
        return f"residues without a score of their own in {self.matrix_name}: {', '.join(parts)}"

    def rescore(
        self,
        query: UInt8s,
        target: UInt8s,
        cigar: UInt32s,
        *,
        query_start: int = 0,
        query_end: int | None = None,
        target_start: int = 0,
        target_end: int | None = None,
    ) -> int:
        """Score an alignment from its residues and CIGAR alone, and check that they agree.

        Shares nothing with the engines. Whether the alignment is the best one is not looked at.

        Parameters
        ----------
        query, target : ndarray of uint8
            Codes of the two whole sequences.
        cigar : ndarray of uint32, shape (runs,)
            ``length << 4 | op`` with SAM's codes for I (query only), D (target only), = and X.
        query_start, query_end, target_start, target_end : int
            What the CIGAR covers, 0-based and half-open; default: all.

        Returns
        -------
        int
            Raw score.

        Raises
        ------
        ScoringError
            A run of length 0 or of another operation, two runs that should be one, lengths that
            do not fit the spans, ``=`` on residues that do not match or X on residues that do, or
            spans that the mode does not allow.

        Notes
        -----
        Time and memory are linear in the number of alignment columns.
        """
        spans = (
            (query_start, len(query) if query_end is None else query_end),
            (target_start, len(target) if target_end is None else target_end),
        )
        self._check_spans(spans, (len(query), len(target)), empty=len(cigar) == 0)
        columns = read_columns(query, target, cigar, spans, self.alphabet)
        gaps = columns.gap_lengths
        cost = len(gaps) * self.gap_open + int((gaps - 1).sum()) * self.gap_extend
        if self.end_gaps is not None:
            internal = GapCost(self.gap_open, self.gap_extend)
            cost -= self.end_gaps.saved(internal, cigar, spans, (len(query), len(target)))
        return int(self.matrix[columns.query, columns.target].sum(dtype=np.int64)) - cost

    def format_score(self, raw: int) -> str:
        """Return a raw score as exact decimal text without trailing zeros: ``-12``, ``56.5``."""
        if self.scale == 1:
            return str(int(raw))
        whole, rest = divmod(abs(int(raw)), self.scale)
        decimals = f"{rest:0{len(str(self.scale)) - 1}d}".rstrip("0")
        return f"{'-' if raw < 0 else ''}{whole}{'.' if decimals else ''}{decimals}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scoring) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        costs = (self.gap_open, self.gap_extend, self.scale, self.end_gaps)
        arrays = (self.matrix.tobytes(), self.known.tobytes())
        return (self.mode, self.alphabet, self.matrix_name, costs, arrays)

    def _check_residues(self, sequences: SequenceSet) -> None:
        if sequences.alphabet != self.alphabet:
            raise AlphabetError(
                f"{sequences.source}: {sequences.alphabet.name} sequences, "
                f"but the scoring is for {self.alphabet.name}"
            )
        unscored = np.ones(256, bool)
        valid = self.alphabet.encoding != INVALID
        unscored[valid] = ~self.known[self.alphabet.encoding[valid]]
        if sequences.byte_counts[unscored].any():
            index, place = sequences.locate(int(np.argmax(unscored[sequences.residues])))
            letter = sequences[index].residues[place]
            raise AlphabetError(
                f"{sequences.source}: {sequences.record(index)}: letter {letter!r} at position "
                f"{place + 1} has no score in {self.matrix_name}; "
                "take another matrix, or add the residue to a matrix file"
            )

    def _check_spans(
        self, spans: tuple[Span, Span], lengths: tuple[int, int], *, empty: bool
    ) -> None:
        """Check that the mode allows an alignment of these spans."""
        for (start, end), length in zip(spans, lengths, strict=True):
            if not 0 <= start <= end <= length:
                raise ScoringError(f"span [{start}, {end}) of a sequence of {length} residues")
        at_start = [start == 0 for start, _ in spans]
        at_end = [end == length for (_, end), length in zip(spans, lengths, strict=True)]
        shown = f"spans {list(spans[0])} and {list(spans[1])}"
        if self.mode == "global" and not all(at_start + at_end):
            raise ScoringError(f"{shown} leave residues out of a global alignment")
        if empty:
            if any(end for _, end in spans):
                raise ScoringError(f"{shown} of an alignment without columns, expected 0")
        elif self.mode in ("semiglobal", END_GAPS) and not (any(at_start) and any(at_end)):
            raise ScoringError(f"{shown} leave out residues of both sequences at the same end")
        if self.end_gaps is not None:
            self.end_gaps.check_spans(spans, lengths, empty=empty)


def make_scoring(
    alphabet: Alphabet | str,
    *,
    mode: str = "global",
    matrix: Matrix | None = None,
    match: Number | None = None,
    mismatch: Number | None = None,
    gap_open: Number | None = None,
    gap_extend: Number | None = None,
    free_ends: str | Iterable[str] | None = None,
    end_gap_open: Number | None = None,
    end_gap_extend: Number | None = None,
    ties: str = TIES[0],
) -> Scoring:
    """Make a `Scoring` from a matrix, or a match and a mismatch score, and gap costs.

    Parameters
    ----------
    alphabet : Alphabet or {"protein", "dna"}
        Of the sequences to align.
    mode : {"global", "semiglobal", "local"}
        End gaps cost like others, are free at both ends of both sequences, or there are none.
    matrix : str, path, or matrix as an object, optional
        A name or a file, see `pairalign.scoring.matrices.load_table`; or an array of Biopython, a
        mapping of pairs of residues to scores, or an array with its residues, ``(array, "ARND")``,
        see `pairalign.scoring.given_matrices.given_table`. Default for proteins: BLOSUM62.
    match, mismatch : int, float, str or Decimal, optional
        Scores instead of a matrix. Equal unambiguous residues score `match`, all others `mismatch`,
        which is not positive. For DNA one may be left out; default for DNA: 2 and -3.
    gap_open, gap_extend : int, float, str or Decimal, optional
        Cost of the first residue of a gap and of each further one, with
        ``gap_open >= gap_extend >= 0``. Default: 11 and 1 for proteins, 5 and 2 for DNA, with any
        matrix. If only one is given, the other takes its default, or the given value if the
        default would make `gap_extend` exceed `gap_open`.
    free_ends : str or iterable of str, optional
        In mode global: where end gaps cost nothing, some of `pairalign.scoring.end_gaps.ENDS`.
    end_gap_open, end_gap_extend : int, float, str or Decimal, optional
        In mode global: costs of the other end gaps, at most those of internal gaps (default).
    ties : {"usual", "vsearch"}
        Which of equally good alignments is taken. vsearch's rule needs end gaps that cost
        something, and less than others; alignments then come from the CPU.

    Returns
    -------
    Scoring
        Mode global becomes semiglobal where all end gaps are free, and end-gaps where they cost
        anything else than internal ones.

    Raises
    ------
    ScoringError
        The matrix or the costs make no sense; the message says where and what was expected.
    WrongTypeError
        The matrix is nothing that one can be.

    Examples
    --------
    >>> import pairalign
    >>> scoring = pairalign.make_scoring("protein", matrix="BLOSUM50", gap_open=13, gap_extend=2)
    >>> scoring.mode, scoring.gap_cost(3)
    ('global', 17)
    >>> pairalign.make_scoring("dna", gap_open="2.5", gap_extend="0.5").scale
    10
    """
    alphabet = get_alphabet(alphabet)
    if mode not in MODES:
        raise ScoringError(f"mode {mode!r}: expected {', '.join(MODES)}")
    costs = choose_gap_costs(alphabet, gap_open, gap_extend)
    at_ends = choose_end_costs(mode, free_ends, end_gap_open, end_gap_extend, costs)
    table, stand_ins = choose_table(alphabet, matrix, match, mismatch)
    scale = common_scale([*table.scores.values(), *costs, *chain.from_iterable(at_ends)])
    scores, known_codes = _to_arrays(table, alphabet, scale)
    internal, first, second, third, fourth = (
        GapCost(*(int(cost * scale) for cost in pair)) for pair in (costs, *at_ends)
    )
    ends = EndGaps(first, second, third, fourth, ties)
    ends.check_ties(internal)
    mode = ends.mode(internal) if mode == "global" else mode
    if max(internal.open, int(np.abs(scores).max())) >= SCORE_LIMIT:
        raise ScoringError(
            f"scores and costs do not fit 32 bits in units of 1/{scale}; "
            "use smaller ones, or fewer decimals"
        )
    return Scoring(
        mode=mode,
        alphabet=alphabet,
        matrix=_read_only(scores.astype(np.int32)),
        known=_read_only(known_codes),
        gap_open=internal.open,
        gap_extend=internal.extend,
        scale=scale,
        matrix_name=table.name,
        stand_ins=stand_ins,
        end_gaps=ends if mode == END_GAPS else None,
    )


def _to_arrays(table: Table, alphabet: Alphabet, scale: int) -> tuple[Int64s, Bools]:
    """Return the scaled scores by code and which codes have some."""
    scores = np.zeros((CODES, CODES), np.int64)
    known_codes = np.zeros(CODES, bool)
    codes = {letter: code for code, letter in enumerate(alphabet.letters)}
    for (row, column), score in table.scores.items():
        scores[codes[row], codes[column]] = int(score * scale)
        known_codes[codes[row]] = True
    return scores, known_codes


def _read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    array.flags.writeable = False
    return array


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


def own_scores(sequences: SequenceSet, scoring: Scoring) -> Doubles:
    """Return the score of the best alignment of each sequence with itself.

    Returns
    -------
    ndarray of float64, shape (n,)
        nan where it is not certain.

    Notes
    -----
    With d(x) = s(x,x), let no two residues x, y of the set have 2 s(x,y) > d(x) + d(y). Then an
    alignment scores at most half of the sum of d over the aligned residues of both sequences, and
    the alignment without gaps attains that for all residues where no d is below 0. A residue with
    d < 0 that is not aligned saves d / 2 at most. Where that is no more than extending a gap costs,
    nothing is gained in mode global, and in mode local the best stretch without gaps is best.
    """
    diagonal = np.diagonal(scoring.matrix).astype(np.int64)
    present = np.flatnonzero(np.bincount(sequences.codes, minlength=len(diagonal)))
    doubled = 2 * scoring.matrix[np.ix_(present, present)].astype(np.int64)
    is_odd = np.zeros(len(diagonal), bool)
    is_odd[present] = (doubled > diagonal[present][:, np.newaxis] + diagonal[present]).any(axis=1)
    if scoring.mode not in ("global", "local"):
        is_odd |= diagonal < 0
    is_odd |= -diagonal > 2 * scoring.gap_extend
    scores: Doubles = scores_without_gaps(sequences, scoring) / np.float64(scoring.scale)
    scores[np.logical_or.reduceat(is_odd[sequences.codes], sequences.offsets[:-1])] = np.nan
    return scores


def scores_without_gaps(sequences: SequenceSet, scoring: Scoring) -> Int64s:
    """Return the raw score of each sequence with itself, residue by residue; int64 of shape (n,).

    In mode local that of the best stretch. It is the best of all alignments with itself if no two
    residues score more than the mean of each with itself, ``2 s(x,y) <= s(x,x) + s(y,y)``, and no
    residue less than 0 with itself, as X or N: see `own_scores`.
    """
    diagonal = np.diagonal(scoring.matrix).astype(np.int64)
    values = diagonal[sequences.codes]
    if scoring.mode == "local" and (values < 0).any():
        return _best_stretches(values, sequences.offsets)
    sums: Int64s = np.add.reduceat(values, sequences.offsets[:-1])
    return sums


def _best_stretches(values: Int64s, offsets: Int64s) -> Int64s:
    """Return the largest sum of neighbouring values of each sequence, 0 at least."""
    sums = np.concatenate(([0], np.cumsum(values)))
    best = np.zeros(len(offsets) - 1, np.int64)
    for index, (start, stop) in enumerate(pairwise(offsets.tolist())):
        part = sums[start : stop + 1]
        best[index] = (part - np.minimum.accumulate(part)).max()
    return best
