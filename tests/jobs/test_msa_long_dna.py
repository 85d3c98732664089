"""Families of similar long DNA: distances from common words, and what is aligned by them."""

import numpy as np
import pytest

import pairalign
from pairalign.engines.cpu.cpu_words import CommonWords
from pairalign.jobs.msa import word_distances
from pairalign.jobs.msa.grouping import ScoreDistances
from pairalign.jobs.msa.word_distances import WordDistances, family_distances


def _changed(gene, share, random):
    letters = np.array(list(gene))
    which = random.random(len(gene)) < share
    letters[which] = random.choice(list("ACGT"), which.sum())
    return "".join(letters[random.random(len(gene)) > share / 10])


def _family(count, length, share, seed=1):
    random = np.random.default_rng(seed)
    gene = "".join(random.choice(list("ACGT"), length))
    strings = {f"s{k}": _changed(gene, share, random) for k in range(count)}
    return pairalign.SequenceSet.from_strings(strings, alphabet="dna")


def _words(residues, bases):
    words = (residues[k : k + bases] for k in range(len(residues) - bases + 1))
    return {word for word in words if set(word) <= set("ACGT")}


@pytest.mark.parametrize("bases", [3, 8, 12])
def test_common_words_are_those_of_sets_of_strings(bases):
    strings = ["ACGTNACGTACGTTTACGTRACGTACGTAAC" * 3, "ACG", "N" * 20, "ACGTACGTACGTTTACG" * 2]
    sequences = pairalign.SequenceSet.from_strings(strings, alphabet="dna")
    sets = [_words(one, bases) for one in strings]
    found = CommonWords(sequences, bases, threads=3)
    assert found.counts.tolist() == list(map(len, sets))
    few, others = np.array([3, 0]), np.array([2, 0, 1])
    table = found.between(few, others)
    assert table.tolist() == [[len(sets[a] & sets[b]) for b in others] for a in few]
    order = np.array([2, 0, 3, 1])
    pairs = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :]]
    assert found.of_pairs(order).tolist() == [len(sets[a] & sets[b]) for a, b in pairs]


@pytest.mark.parametrize(("length", "share"), [(1500, 0.02), (1500, 0.2), (6000, 0.02)])
def test_a_distance_is_the_share_of_bases_that_have_changed(length, share):
    sequences = _family(2, length, share)
    everything = np.arange(2)
    distances = WordDistances(sequences, 1, 1 << 28).between(everything, everything)
    changed = 1 - (1 - share * 3 / 4) ** 2 + share / 5  # about: two sequences, two ends of each gap
    assert distances[0, 0] == distances[1, 1] == 0
    assert distances[0, 1] / 65536 == pytest.approx(changed, rel=0.25)


def test_words_are_for_families_of_similar_long_dna_alone(monkeypatch):
    monkeypatch.setattr(word_distances, "_LEAST_CELLS", 10**6)
    similar = _family(30, 600, 0.1)
    assert isinstance(family_distances(similar, 1, 1 << 28), WordDistances)
    for other in (_family(30, 300, 0.1), _family(30, 600, 0.7)):
        assert type(family_distances(other, 1, 1 << 28)) is ScoreDistances
    assert type(family_distances(_family(2, 420, 0.1), 1, 1 << 28)) is ScoreDistances


def test_what_is_related_by_words():
    related, strangers = _family(6, 800, 0.15), _family(2, 800, 0.0, seed=2)
    strings = [one.residues for one in (*related, *strangers)] + [related[0].residues[:250]]
    both = pairalign.SequenceSet.from_strings(strings, alphabet="dna")
    words, everything = WordDistances(both, 1, 1 << 28), np.arange(9)
    found = words.above_chance(words.between(everything, everything), everything, everything)
    is_one = np.array([1, 1, 1, 1, 1, 1, 0, 0, 1], bool)
    expected = is_one[:, np.newaxis] & is_one
    expected[6:8, 6:8] = True  # copies of one gene, nearly
    np.fill_diagonal(expected, False)
    assert np.array_equal(found, expected)


def test_a_large_family_by_words_is_aligned_as_it_has_come_about(monkeypatch):
    monkeypatch.setattr(word_distances, "_LEAST_CELLS", 10**6)
    sequences = _family(102, 410, 0.04)
    asked = []
    between = WordDistances.of_pairs
    monkeypatch.setattr(
        WordDistances, "of_pairs", lambda *given: asked.append(1) or between(*given)
    )
    one, other = (pairalign.msa(sequences, device="cpu", threads=k) for k in (1, 3))
    assert asked
    assert np.array_equal(one.columns, other.columns)
    assert one.width < 460
    assert np.nanmean(one.column_confidence) > 0.9
