"""What `auto` expects of a GPU's two ways with long similar pairs."""

from types import SimpleNamespace

import numpy as np
import pytest
from bench.families import family
from hypothesis import given
from hypothesis import strategies as st

from pairalign.engines.cuda.pruned import sampling
from pairalign.engines.cuda.pruned.sampling import Sampler, expected_seconds
from pairalign.pairs.windows import Window
from pairalign.sequences.residues import SIMILAR, WORDS, words_in_place
from pairalign.sequences.sets import SequenceSet

MULTIPROCESSORS = 132


def prunes(number: int, length: int, words: int) -> bool:
    lengths = np.full(4, length, np.int32)
    pairs = number * (number - 1) // 2
    pruned, full = expected_seconds(
        lengths, lengths, np.full(4, words, np.int32), pairs, MULTIPROCESSORS
    )
    return pruned < full


@pytest.mark.parametrize(
    ("number", "length", "words", "faster"),
    [
        (13, 125_000, 29, False),  # VZV at 98.8%: 5.0 s pruned, 1.3 s in full on an H200
        (13, 200_000, 27, False),  # mpox at 98%: 7.5 and 2.4 s
        (418, 30_000, 31, True),  # SARS-CoV-2: 2.2 and 37.5 s
        (50, 30_000, 25, True),  # simulated, on an H100: 0.09 and 0.53 s
        (50, 10_000, 26, True),  # 0.024 and 0.075 s
        (50, 30_000, 10, False),  # 1.51 and 0.53 s
        (50, 10_000, 11, False),  # 0.119 and 0.075 s
    ],
)
def test_measured_sets_go_where_they_were_faster(number, length, words, faster):
    assert prunes(number, length, words) == faster


@given(st.integers(2, 500), st.integers(2_000, 300_000), st.integers(SIMILAR, WORDS))
def test_more_pairs_and_fewer_differences_never_speak_against_pruning(number, length, words):
    if prunes(number, length, words):
        assert prunes(number + 1, length, words)
        assert prunes(number, length, min(words + 1, WORDS))


@pytest.mark.parametrize(("identity", "pays"), [(0.995, True), (0.9, False), (0.3, False)])
def test_windows_are_judged_by_a_sample(monkeypatch, identity, pays):
    """As if a few genomes of 6,000 bases were many cells for a device of few multiprocessors."""
    monkeypatch.setattr(sampling, "_LEAST_CELLS", 10**6)
    sequences = SequenceSet.from_strings(family(8, 6_000, identity), alphabet="dna")
    one = SimpleNamespace(sequences=sequences, lengths=sequences.lengths[sequences.order])
    context = SimpleNamespace(queries=one, targets=one, multiprocessors=1)
    window = Window(0, 0, 8, 0, 8, True)
    assert Sampler(context).pays(window, None) == pays  # type: ignore[arg-type]
    similar = words_in_place(sequences.codes_of(0), sequences.codes_of(1)) >= SIMILAR
    assert similar == (identity > 0.5)
