"""Circles, ambiguous residues and similarities of `distance`."""

from typing import Any

import numpy as np
import pytest
from conftest import examples
from strand_problems import other_strand

import pairalign
from pairalign.alignments.problem import Problem
from pairalign.cli.main import main
from pairalign.errors import DistanceError
from pairalign.jobs.circular.circular import RotationSearch, align_circular
from pairalign.requests.resources import Resources
from pairalign.results.alignments_result import Alignments
from pairalign.sequences.sets import SequenceSet


def rotated(text: str, cut: int) -> str:
    return text[cut:] + text[:cut]


def random_text(rng: np.random.Generator, length: int) -> str:
    return "".join(rng.choice(list("ACGT"), length))


def mutated(rng: np.random.Generator, text: str, rate: float) -> str:
    letters = []
    for one in text:
        chance = rng.random()
        if chance < rate / 3:
            continue
        letters.append(str(rng.choice(list("ACGT"))) if chance < rate else one)
        if rng.random() < rate / 3:
            letters.append(str(rng.choice(list("ACGT"))))
    return "".join(letters)


def best_rotation(query: str, target: str) -> tuple[float, int]:
    """The best score of all rotations, each aligned, and the first that has it."""
    targets = {str(cut): rotated(target, cut) for cut in range(len(target))}
    found = pairalign.align({"q": query}, targets, detail="score")
    return max((one.score, -int(one.target.name)) for one in found)


@pytest.mark.parametrize("seed", range(6))
def test_no_rotation_scores_more(seed):
    rng = np.random.default_rng(seed)
    whole = random_text(rng, int(rng.integers(40, 90)))
    other = mutated(rng, rotated(whole, int(rng.integers(len(whole)))), 0.15)
    sequences = SequenceSet.from_strings({"q": whole, "t": other}, alphabet="dna")
    problem = Problem(sequences, None, pairalign.make_scoring("dna"))
    pair = np.array([0], np.int32), np.array([1], np.int32)
    (found,) = align_circular(problem, *pair, both_strands=False)
    best = best_rotation(whole, other)[0]
    score = int(found.found.score[0])
    assert score >= best
    pair = Alignments.of(found.found)[0]
    query, target = pair.query.residues, pair.target.residues
    assert query in 2 * whole
    assert target in 2 * other
    again = pairalign.align({"q": query}, {"t": target})[0]
    assert (again.score, again.cigar) == (score, pair.cigar)
    assert score <= max(best_rotation(rotated(whole, cut), other)[0] for cut in range(len(whole)))


def test_the_search_finds_the_best_rotation():
    """From rotations beside it, which score less."""
    improved = proven = 0
    for seed in range(examples(40)):
        rng = np.random.default_rng(seed)
        whole = random_text(rng, int(rng.integers(40, 70)))
        other = mutated(rng, rotated(whole, int(rng.integers(len(whole)))), 0.2)
        queries = SequenceSet.from_strings([whole], alphabet="dna")
        problem = Problem(queries, None, pairalign.make_scoring("dna"))
        zero = np.zeros(1, np.int64)
        search = RotationSearch(
            problem,
            lambda texts: SequenceSet.from_strings([t.decode() for t in texts], alphabet="dna"),
            zero.astype(np.int32),
            Resources(threads=1),
        )
        best, cut = best_rotation(whole, other)
        beside = np.array([[-cut + 1], [-cut + 3]]) % len(other)
        search.try_rotations(zero, [other.encode()], beside)
        before = int(search.scores[0])
        search.improve(zero, [other.encode()], np.array([2 * len(whole)]))
        turned = {"t": rotated(other, int(search.cuts[0]))}
        assert pairalign.align({"q": whole}, turned)[0].score == search.scores[0] <= best
        assert not search.is_best[0] or search.scores[0] == best
        improved += search.scores[0] > before
        proven += bool(search.is_best[0])
    assert improved >= 0.75 * examples(40)
    assert proven >= 0.95 * examples(40) - 1


def test_nothing_is_proven_of_unrelated_sequences():
    rng = np.random.default_rng(2)
    texts = [random_text(rng, 900), random_text(rng, 800)]
    problem = Problem(
        SequenceSet.from_strings(texts, alphabet="dna"), None, pairalign.make_scoring("dna")
    )
    pair = np.array([0], np.int32), np.array([1], np.int32)
    (found,) = align_circular(problem, *pair, both_strands=False)
    assert not found.is_best[0]


def circles() -> dict[str, str]:
    rng = np.random.default_rng(11)
    one = random_text(rng, 300)
    two, three = mutated(rng, one, 0.1), mutated(rng, one, 0.2)
    return {"one": one, "two": two, "three": three, "other": random_text(rng, 280)}


@pytest.mark.parametrize("measure", ["identity", "identity-shorter", "kimura-2p", "score"])
def test_rotation_and_strand_change_no_distance(measure):
    options: dict[str, Any] = {"circular": True, "strand": "both", "measure": measure}
    sequences = circles()
    expected = pairalign.distance(sequences, **options)
    moved = {
        "three": rotated(sequences["three"], 99),
        "one": sequences["one"],
        "two": other_strand(rotated(sequences["two"], 250)),
    }
    found = pairalign.distance(moved, **options)
    names = list(sequences)
    for a, first in enumerate(moved):
        for b, second in enumerate(moved):
            pair = names.index(first), names.index(second)
            assert found[a, b] == pytest.approx(expected[pair], abs=1e-6)
    assert expected[0, 1] < expected[0, 2] < expected[0, 3]


def test_a_circle_is_no_distance_from_itself():
    sequences = circles()
    one = sequences["one"]
    given = {"one": one, "turned": rotated(one, 123), "back": other_strand(rotated(one, 7))}
    assert pairalign.distance(given, circular=True, strand="both").condensed.max() == 0
    assert pairalign.distance(given, measure="identity").condensed.min() > 0.3


def test_similarities():
    sequences = circles()
    distances = pairalign.distance(sequences, measure="identity")
    found = pairalign.distance(sequences, measure="identity", similarity=True)
    assert np.array_equal(found.square(), 1 - distances.square())
    assert np.array_equal(np.diagonal(found.square()), np.ones(4))
    assert (found[1, 1], distances[1, 1]) == (1.0, 0.0)
    with pytest.raises(ValueError, match="similarity is of identities"):
        pairalign.distance(sequences, measure="kimura-2p", similarity=True)
    with pytest.raises(DistanceError, match="expected one of identity"):
        found.similarities()


@pytest.mark.parametrize("ending", ["tsv", "phy", "column", "npy"])
def test_files_of_similarities(ending, tmp_path):
    sequences = circles()
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in sequences.items()))
    output = tmp_path / f"o.{ending}"
    command = ["distance", str(tmp_path / "in.fa"), "-o", str(output), "-q"]
    assert main([*command, "--circular", "--strand", "both", "--similarity"]) == 0
    expected = pairalign.distance(sequences, circular=True, strand="both", similarity=True)
    if ending == "npy":
        assert np.array_equal(np.load(output), expected.condensed)
        return
    words = output.read_text().split()
    numbers = [float(word) for word in words if "." in word]
    if ending == "column":
        assert np.allclose(numbers, expected.condensed, atol=1e-6)
    else:
        assert np.allclose(numbers, expected.square().ravel(), atol=1e-6)
