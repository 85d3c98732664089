"""Similar sequences: problems for kernels that leave out parts of a matrix."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from checks import assert_same, run, windows_of
from conftest import open_cpu
from hypothesis import strategies as st
from strategies import (
    LETTERS,
    SEEDS,
    Problem,
    blosum_like,
    make_scoring,
    match_matrix,
    random_scoring,
    with_residues,
)

from pairalign.engines.cpu.cpu_engine import CpuEngine, Pruned, Pruning
from pairalign.pairs.want import Detail, Want
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA, PROTEIN

WORSE = st.sampled_from([0, 0, 1, 7, 50, 5000])
"""How much worse than it is the score of the beam is made."""


KIB, MIB = 1 << 10, 1 << 20


DEFAULT = make_scoring(DNA, "global", 5, 2, match_matrix(DNA, 2, -3))


def global_scoring(rng: np.random.Generator, alphabet: type, longest: int) -> Scoring:
    """The defaults as often as any other matrix and costs."""
    if rng.integers(2):
        return DEFAULT if alphabet is DNA else blosum_like("global")
    return replace(random_scoring(rng, alphabet, longest), mode="global")


def mutated(rng: np.random.Generator, letters: list[str], sequence: str, rate: float) -> str:
    """Substitutions, and a gap for every fourth of them."""
    out = []
    k = 0
    while k < len(sequence):
        draw = rng.random()
        if draw < 0.8 * rate:
            out.append(str(rng.choice(letters)))
        elif draw < 0.9 * rate:
            k += int(rng.geometric(0.3))
            continue
        elif draw < rate:
            out.extend(rng.choice(letters, size=int(rng.geometric(0.3))))
            continue
        else:
            out.append(sequence[k])
        k += 1
    return "".join(out) or letters[0]


def rearranged(rng: np.random.Generator, letters: list[str], sequence: str) -> str:
    """One of: as it is, an insertion, a cut end, a longer end, a run of an ambiguous letter."""
    size = int(rng.integers(1, 80))
    where = int(rng.integers(len(sequence)))
    extra = "".join(rng.choice(letters, size=size))
    kind = rng.integers(6)
    if kind == 0:
        return sequence[:where] + extra + sequence[where:]
    if kind == 1:
        return sequence[where:]
    if kind == 2:
        return extra + sequence
    if kind == 3:
        return sequence + extra
    if kind == 4:
        return sequence[:where] + "N" * size + sequence[where + size :]
    return sequence


def related_problem(seed: int) -> Problem:
    """A few sequences that come from one, which may be a repeat or one letter many times."""
    rng = np.random.default_rng(seed)
    alphabet = PROTEIN if rng.integers(3) == 0 else DNA
    letters = list(str(rng.choice(LETTERS[alphabet.name])))
    length = int(rng.choice([1, 2, 5, 30, 100, 400, 1200]))
    ancestor = "".join(rng.choice(letters, size=length))
    kind = rng.integers(8)
    if kind == 0:
        ancestor = letters[0] * length
    elif kind == 1:
        ancestor = (ancestor[:3] * length)[:length]
    sequences = []
    for _ in range(int(rng.integers(2, 5))):
        rate = float(rng.choice([0, 0.002, 0.02, 0.1, 0.3, 0.6]))
        sequences.append(rearranged(rng, letters, mutated(rng, letters, ancestor, rate)))
    longest = max(map(len, sequences))
    return Problem(tuple(with_residues(sequences)), None, global_scoring(rng, alphabet, longest))


related_problems = SEEDS.map(related_problem)


def of_mode(problem: Problem, mode: str) -> Problem:
    """The same sequences and costs, in a mode."""
    return replace(problem, scoring=replace(problem.scoring, mode=mode))


def align(
    problem: Problem, pruning: Pruning, want: Want | None = None, **options: object
) -> tuple[Alignments, Pruned]:
    """Every pair of one set, or of two, and what pruning did."""
    sets = problem.sets()
    engine = open_cpu(sets, problem.scoring, pruning=pruning, **options)
    assert isinstance(engine, CpuEngine)
    try:
        columns = None if len(sets) == 1 else len(sets[1])
        (window,) = windows_of(len(sets[0]), columns, 1 << 20)
        return engine.align(window, want or Want(Detail.CIGAR)), engine.pruned()
    finally:
        engine.close()


def thousands_of_residues(rate: float, number: int = 3, seed: int = 31) -> Problem:
    """Sequences of 5,000 letters with a gap of 700 and a run of N."""
    rng = np.random.default_rng(seed)
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=5000))
    sequences = [mutated(rng, letters, ancestor, rate) for _ in range(number)]
    sequences[0] = sequences[0][:2000] + sequences[0][2700:]
    sequences[-1] = sequences[-1][:3000] + "N" * 300 + sequences[-1][3300:]
    return Problem(tuple(sequences), None, DEFAULT)


def lost_by_an_unsound_bound(use: str, problems: Iterable[Problem]) -> int:
    """How many pairs a bound that is lower by one loses; all alignments are right even so."""
    lost = 0
    for problem in problems:
        found, did = align(problem, Pruning(use, lower_bound=1))
        assert_same(found, run(open_cpu, problem), note=problem)
        lost += did.lost
    return lost


def many_pairs(seed: int) -> tuple[Problem, Pruning]:
    """19,900 small pairs, of any kind of letters, costs and seeds."""
    rng = np.random.default_rng([35, seed])
    alphabet = PROTEIN if rng.integers(3) == 0 else DNA
    letters = list(str(rng.choice(LETTERS[alphabet.name])))
    length = int(rng.choice([3, 12, 30, 60]))
    ancestor = "".join(rng.choice(letters, size=length))
    sequences = []
    for _ in range(200):
        rate = float(rng.choice([0, 0.02, 0.1, 0.3, 0.6]))
        sequences.append(rearranged(rng, letters, mutated(rng, letters, ancestor, rate)))
    scoring = global_scoring(rng, alphabet, max(map(len, sequences)))
    problem = Problem(tuple(sequences), None, scoring)
    return problem, Pruning("forced", int(rng.choice([0, 0, 1, 7, 50])))
