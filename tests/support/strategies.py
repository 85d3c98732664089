"""What Hypothesis draws for the tests of engines: sets of sequences and what to score them with.

Small problems are drawn letter by letter, so that a failure shrinks to something to look at. Large
sets are made from a drawn seed and a drawn shape: drawing every letter would take longer than
aligning.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from pairalign.scoring.end_gaps import EndGaps, GapCost
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA, PROTEIN, Alphabet
from pairalign.sequences.sets import SequenceSet

MODES = ("global", "semiglobal", "local")

LETTERS = {
    # Few letters make many equally good alignments. Ambiguous letters are never a match.
    "dna": ("A", "AC", "ACGT", "ACGTN", "ACGTRYN"),
    "protein": ("L", "LK", "WCX", "ARNDCQEGHILKMFPSTWYV", "ARNDCQEGHILKMFPSTWYVBZX*UOJ"),
}

SEEDS = st.integers(0, 1 << 48)


@dataclass(frozen=True)
class Problem:
    """Sequences of one set (or of two) and their scoring."""

    first: tuple[str, ...]
    second: tuple[str, ...] | None
    scoring: Scoring = field(repr=False)

    def __repr__(self) -> str:
        s = self.scoring
        used = sorted({int(c) for one in self.sets() for c in one.codes})
        matrix = s.matrix[np.ix_(used, used)].tolist()
        letters = "".join(s.alphabet.letters[code] for code in used)
        return (
            f"Problem({self.first!r}, {self.second!r}, {s.mode}, open {s.gap_open}, "
            f"extend {s.gap_extend}, {letters}: {matrix}, ends {s.end_gaps and s.end_gaps.numbers})"
        )

    def sets(self) -> tuple[SequenceSet, ...]:
        """The set, or the two sets."""
        both = [self.first] if self.second is None else [self.first, self.second]
        return tuple(make_set(one, self.scoring.alphabet) for one in both)


def make_set(sequences: Sequence[str], alphabet: Alphabet) -> SequenceSet:
    """A set of sequences named s0, s1, ..."""
    return SequenceSet.from_strings(list(sequences), alphabet=alphabet.name)


def make_scoring(
    alphabet: Alphabet,
    mode: str,
    gap_open: int,
    gap_extend: int,
    matrix: np.ndarray,
    ends: Sequence[tuple[int, int]] = (),
) -> Scoring:
    """Scoring with any matrix, without going through a file; `ends` are those of mode end-gaps."""
    size = len(alphabet.letters)
    full = np.zeros((32, 32), dtype=np.int32)
    full[:size, :size] = matrix[:size, :size]
    known = np.zeros(32, dtype=bool)
    known[:size] = True
    return Scoring(
        mode=mode,
        alphabet=alphabet,
        matrix=full,
        known=known,
        gap_open=gap_open,
        gap_extend=gap_extend,
        scale=1,
        matrix_name="made up",
        stand_ins={},
        end_gaps=EndGaps(*(GapCost(*end) for end in ends)) if ends else None,
    )


def random_ends(
    rng: np.random.Generator, gap_open: int, gap_extend: int
) -> tuple[tuple[int, int], ...]:
    """Costs of the four end gaps, each free, as elsewhere or between."""

    def one() -> tuple[int, int]:
        opening = int(rng.choice([0, gap_open, rng.integers(gap_open + 1)]))
        most = min(opening, gap_extend)
        return opening, int(rng.choice([0, most, rng.integers(most + 1)]))

    ends = tuple(one() for _ in range(4))
    return ends[:2] * 2 if rng.integers(3) == 0 else ends


def match_matrix(alphabet: Alphabet, match: int, mismatch: int) -> np.ndarray:
    """`match` for an unambiguous letter and itself, `mismatch` for all others."""
    matrix = np.full((32, 32), mismatch, dtype=np.int64)
    unambiguous = np.arange(alphabet.unambiguous)
    matrix[unambiguous, unambiguous] = match
    return matrix


def random_matrix(rng: np.random.Generator, low: int, high: int) -> np.ndarray:
    """A symmetric matrix of scores between `low` and `high`."""
    matrix = np.tril(rng.integers(low, high, size=(32, 32), endpoint=True))
    return matrix + np.tril(matrix, -1).T


def random_scoring(rng: np.random.Generator, alphabet: Alphabet, longest: int) -> Scoring:
    """Any mode, matrix and gap costs, with a liking for ties and for the limits of 16 bits.

    `longest` is the length of the longest sequence.
    """
    mode = str(rng.choice(MODES))
    # What a letter may score: a little, or so much that `longest` of them come to around 8, 15 or
    # 16 bits, or need 32.
    size = int(rng.choice([1, 3, 12, *(-(-n // longest) for n in (127, 32767, 65535)), 70000]))
    kind = rng.integers(4)
    if kind < 2:
        match = int(rng.integers(size, endpoint=True))
        matrix = match_matrix(alphabet, match, int(rng.integers(-size, match, endpoint=True)))
    else:
        matrix = random_matrix(rng, 1 - size if kind == 3 else -size, size)
    gap_open = int(rng.integers(4) if rng.integers(3) == 0 else rng.integers(2 * size + 1))
    if rng.integers(20) == 0:
        gap_open = 32767
    gap_extend = int(rng.choice([0, gap_open, rng.integers(gap_open + 1), gap_open // longest]))
    return make_scoring(alphabet, mode, gap_open, gap_extend, matrix)


@st.composite
def small_problems(draw: st.DrawFn) -> Problem:
    """A few short sequences, drawn letter by letter."""
    alphabet = draw(st.sampled_from([DNA, PROTEIN]))
    letters = draw(st.sampled_from(LETTERS[alphabet.name]))
    # Stops alone are no sequence.
    sequences = st.text(letters, min_size=1, max_size=12).filter(lambda text: text.strip("*"))
    first = draw(st.lists(sequences, min_size=2, max_size=5))
    second = draw(st.one_of(st.none(), st.lists(sequences, min_size=1, max_size=3)))
    longest = max(map(len, first + (second or [])))
    rng = np.random.default_rng(draw(SEEDS))
    scoring = random_scoring(rng, alphabet, longest)
    return Problem(tuple(first), tuple(second) if second else None, scoring)


def random_sequences(
    rng: np.random.Generator, letters: str, number: int, longest: int, shape: str
) -> list[str]:
    """Sequences whose lengths are mixed as `shape` says; about half are related to one another."""
    if shape == "equal":
        lengths = np.full(number, longest)
    elif shape == "near":
        lengths = rng.integers(max(1, longest - 3), longest, size=number, endpoint=True)
    elif shape == "one long":
        lengths = rng.integers(1, max(1, longest // 8), size=number, endpoint=True)
        lengths[rng.integers(number)] = longest
    else:
        lengths = rng.integers(1, longest, size=number, endpoint=True)
    ancestor = rng.choice(list(letters), size=2 * longest)
    sequences = []
    for length in lengths:
        kind = rng.integers(5)
        if kind == 0:  # a homopolymer
            sequences.append(str(rng.choice(list(letters))) * int(length))
            continue
        sequence = rng.choice(list(letters), size=length)
        if kind >= 2:  # a piece of the ancestor, changed here and there, with a gap
            start = int(rng.integers(len(ancestor) - length + 1))
            piece = ancestor[start : start + length]
            sequence = np.where(rng.random(length) < 0.15, sequence, piece)
            if kind == 4:
                cut = int(rng.integers(length + 1))
                sequence = np.concatenate((sequence[cut:], sequence[:cut]))
        sequences.append("".join(sequence))
    return with_residues(sequences)


def with_residues(sequences: list[str]) -> list[str]:
    """Stops at the end of a protein are no residues: a record needs one."""
    return [one if one.strip("*") else "A" + one[1:] for one in sequences]


def random_problem(seed: int) -> Problem:
    """Sets that fill vector lanes with pairs of different lengths."""
    rng = np.random.default_rng(seed)
    alphabet = DNA if rng.integers(2) else PROTEIN
    letters = str(rng.choice(LETTERS[alphabet.name]))
    longest = int(rng.choice([3, 20, 45, 100]))
    number = int(rng.choice([2, 8, 17, 33, 40, 80]))
    shape = str(rng.choice(["equal", "near", "one long", "mixed"]))
    first = random_sequences(rng, letters, number, longest, shape)
    second = None
    if rng.integers(3) == 0:
        second = tuple(random_sequences(rng, letters, int(rng.choice([1, 16, 35])), longest, shape))
    return Problem(tuple(first), second, random_scoring(rng, alphabet, longest))


large_problems = SEEDS.map(random_problem)


def proteins(number: int, longest: int, seed: int = 1, shape: str = "mixed") -> tuple[str, ...]:
    """Return random proteins of up to some length."""
    rng = np.random.default_rng(seed)
    return tuple(random_sequences(rng, "ARNDCQEGHILKMFPSTWYV", number, longest, shape))


def blosum_like(mode: str, gap_open: int = 11, gap_extend: int = 1) -> Scoring:
    """Return a scoring of proteins with numbers as BLOSUM62 has them."""
    matrix = random_matrix(np.random.default_rng(62), -4, 9)
    return make_scoring(PROTEIN, mode, gap_open, gap_extend, matrix)


def with_ends(problem: Problem, seed: int, symmetric: bool = False) -> Problem:
    """The same problem in mode end-gaps, with random costs of end gaps."""
    scoring = problem.scoring
    ends = random_ends(np.random.default_rng(seed), scoring.gap_open, scoring.gap_extend)
    ends = ends[:2] * 2 if symmetric else ends
    scoring = replace(scoring, mode="end-gaps", end_gaps=EndGaps(*(GapCost(*one) for one in ends)))
    return replace(problem, scoring=scoring)


def with_vsearch_ties(problem: Problem, seed: int) -> Problem:
    """The same problem with costs of end gaps for which vsearch's ties are defined."""
    rng = np.random.default_rng(seed)
    scoring = problem.scoring
    opening = max(2, scoring.gap_open)

    def one(at_end: bool) -> GapCost:
        first = int(rng.integers(1, opening)) if at_end else int(rng.integers(opening))
        return GapCost(first, int(rng.integers(min(first, scoring.gap_extend + 1))) if first else 0)

    ends = EndGaps(one(False), one(True), one(False), one(True), "vsearch")
    return replace(
        problem, scoring=replace(scoring, mode="end-gaps", gap_open=opening, end_gaps=ends)
    )
