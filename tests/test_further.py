"""Further alignments of a pair: against the plain reference, on every instruction set."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from checks import costs_of, found_alignment
from overlapping import GENOME, changed

import pairalign
from pairalign.alignments import Alignments
from pairalign.engines.cpu import further
from pairalign.engines.cpu.engine import instruction_sets
from pairalign.engines.cpu.further import FurtherAligner
from pairalign.sequences import SequenceSet
from pairalign.windows import Window

SCORINGS = {
    "simple": {"match": 1, "mismatch": -1, "gap_open": 2, "gap_extend": 1},
    "linear": {"match": 2, "mismatch": -3, "gap_open": 2, "gap_extend": 2},
    "free gaps": {"match": 1, "mismatch": -1, "gap_open": 0, "gap_extend": 0},
    "matrix": {"matrix": "NUC.4.4", "gap_open": 6, "gap_extend": 1},
    "wide": {"match": 9000, "mismatch": -9000, "gap_open": 9000, "gap_extend": 1},
}


def repetitive(seed: int, alphabet: str = "ACGT") -> list[str]:
    """Short sequences of few different words, and ambiguous letters: many alignments, many ties."""
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list(alphabet), 4)) for _ in range(3)]
    return ["".join(rng.choice([*words, "N"], int(rng.integers(2, 8)))) for _ in range(4)]


def every(reads: SequenceSet, scoring: pairalign.Scoring, isa: str, most: int) -> list[Alignments]:
    """All pairs, then their next alignments for as long as there are any of some pair."""
    window = Window(0, 0, len(reads), 0, len(reads), True)
    known = [pairalign.align(reads, scoring=scoring, device="cpu")]
    aligner = FurtherAligner(reads, reads, scoring, 2, isa)
    alive = np.flatnonzero(known[0].raw_score > 0)
    chains = {int(k): [known[0].take([k])] for k in alive}
    while len(alive) and len(chains[int(alive[0])]) < most:
        depth = max(len(chains[int(k)]) for k in alive)
        layers = [
            pairalign.alignments.concatenate([chains[int(k)][d] for k in alive])
            for d in range(depth)
        ]
        found, numbers = aligner.next_of(layers, window, 1)
        for place, number in enumerate(numbers):
            chains[int(alive[number])].append(found.take([place]))
        alive = alive[numbers]
    return [pairalign.alignments.concatenate(chain) for chain in chains.values()]


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("mode", ["local", "semiglobal"])
@pytest.mark.parametrize("name", SCORINGS)
def test_as_the_reference(name: str, mode: str, isa: str) -> None:
    scoring = pairalign.make_scoring("dna", mode=mode, **SCORINGS[name])
    checked = 0
    for seed in range(6):
        reads = SequenceSet.from_strings(repetitive(seed), alphabet="dna")
        for chain in every(reads, scoring, isa, 5):
            query, target = int(chain.query[0]), int(chain.target[0])
            expected = reference.align_all(
                reads.codes_of(query).tolist(),
                reads.codes_of(target).tolist(),
                costs_of(scoring),
                5,
            )
            assert [found_alignment(chain, k) for k in range(len(chain))] == expected
            checked += len(expected) > 1
    assert checked > 15


def test_proteins_and_long_repeats() -> None:
    """A matrix that is not simple; and blocks of the traceback of which a path needs several."""
    rng = np.random.default_rng(4)
    proteins = ["".join(rng.choice(list("ACDWKX"), int(n))) for n in rng.integers(20, 60, 4)]
    unit = GENOME[:40]
    repeats = [changed(4 * unit, 0.05, 1), changed(3 * unit, 0.05, 2), unit + GENOME[900:960]]
    for letters, options in (
        (proteins, {"alphabet": "protein"}),
        (repeats, {"alphabet": "dna", "match": 1, "mismatch": -1, "gap_open": 2, "gap_extend": 1}),
    ):
        alphabet = str(options.pop("alphabet"))
        reads = SequenceSet.from_strings(letters, alphabet=alphabet)
        scoring = pairalign.make_scoring(alphabet, mode="local", **options)
        for chain in every(reads, scoring, instruction_sets()[0], 4):
            query, target = int(chain.query[0]), int(chain.target[0])
            expected = reference.align_all(
                reads.codes_of(query).tolist(),
                reads.codes_of(target).tolist(),
                costs_of(scoring),
                4,
            )
            assert [found_alignment(chain, k) for k in range(len(chain))] == expected


def test_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = SequenceSet.from_strings([2 * GENOME, GENOME])
    scoring = pairalign.make_scoring("dna", mode="local")
    first = pairalign.align(reads, scoring=scoring, device="cpu")
    aligner = FurtherAligner(reads, reads, scoring, 1)
    window = Window(0, 0, 2, 0, 2, True)
    found, _ = aligner.next_of([first], window, 100)
    assert found.raw_score.tolist() == [4000]
    align = further._align

    def cancelled(*arguments: object) -> int:
        aligner.cancel()
        return int(align(*arguments))

    monkeypatch.setattr(further, "_align", cancelled)
    with pytest.raises(InterruptedError):
        aligner.next_of([first], window, 100)
