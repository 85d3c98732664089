"""DNA problems of which some pairs are related on the other strand, and their alignments."""

from dataclasses import replace

import numpy as np
from checks import OpenEngine, concatenate, windows_of
from strategies import SEEDS, Problem, random_problem

from pairalign.pairs.want import Want
from pairalign.results.alignments_result import Alignments
from pairalign.sequences.alphabets import DNA

IUPAC_COMPLEMENT = dict(zip("ACGTRYSWKMBDHVN", "TGCAYRSWMKVHDBN", strict=True))


def dna_problem(seed: int) -> Problem:
    """A problem of DNA of `random_problem`, of two strands, some pairs related on the other one."""
    for attempt in range(seed, seed + 1000):
        problem = random_problem(attempt)
        scoring = problem.scoring
        if scoring.alphabet == DNA and scoring.unlike_complements is None:
            break
    rng = np.random.default_rng(seed)

    def turn_some(sequences: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(other_strand(s) if rng.integers(2) else s for s in sequences)

    second = None if problem.second is None else turn_some(problem.second)
    return replace(problem, first=turn_some(problem.first), second=second)


def other_strand(letters: str) -> str:
    return "".join(IUPAC_COMPLEMENT[letter] for letter in reversed(letters))


problems = SEEDS.map(dna_problem)


def run_minus(
    open_engine: OpenEngine,
    problem: Problem,
    want: Want | None = None,
    window: int = 1 << 20,
    pair_mask: np.ndarray | None = None,
    **options: object,
) -> Alignments:
    """Align every pair of a problem, columns reverse-complemented."""
    sets = problem.sets()
    lengths = [len(one) for one in sets] + [None]
    engine = open_engine(sets, problem.scoring, **options)
    try:
        parts, done = [], 0
        for one in windows_of(lengths[0], lengths[1], window):
            mask = None if pair_mask is None else pair_mask[done : done + one.pairs]
            done += one.pairs
            parts.append(engine.align(replace(one, strand=-1), want or Want(), mask))
    finally:
        engine.close()
    return concatenate(parts)
