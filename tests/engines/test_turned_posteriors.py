"""Pairs whose target is much longer: the same posteriors, in an arithmetic that is narrower."""

import numpy as np
import pytest

from pairalign.engines.cpu.cpu_posterior import PosteriorEngine
from pairalign.engines.posterior_computer import PosteriorRequest
from pairalign.engines.posterior_engines import open_posterior_engine
from pairalign.scoring.posterior_models import posterior_model
from pairalign.sequences.sets import SequenceSet

LENGTHS = {"ACGT": 3_000, "ACDEFGHIKLMNPQRSTVWY": 2_500}


def _set_of(letters: str) -> SequenceSet:
    rng = np.random.default_rng(7)

    def some(length: int) -> str:
        return "".join(rng.choice(list(letters), length))

    core = some(200)
    long = some(LENGTHS[letters] // 2) + core + some(LENGTHS[letters] // 2)
    return SequenceSet.from_strings([core, some(60) + core[20:] + some(40), long, some(20), core])


@pytest.mark.parametrize("letters", LENGTHS)
@pytest.mark.parametrize("match_states", [1, 4])
def test_long_targets_have_the_posteriors_of_long_queries(letters, match_states):
    sequences = _set_of(letters)
    model = posterior_model(sequences.alphabet, match_states=match_states)
    queries, targets = (one.astype(np.int32) for one in np.triu_indices(5, 1))
    plain = PosteriorEngine(sequences, model).compute(queries, targets)
    request = PosteriorRequest(sequences, match_states=match_states)
    engine = open_posterior_engine("cpu", request)
    found = engine.compute(queries, targets)
    engine.close()
    assert np.array_equal(found.queries, queries)
    assert np.array_equal(found.targets, targets)
    for pair in range(len(queries)):
        here, there = (_entries_of(one, pair) for one in (found, plain))
        assert list(here) == sorted(here)
        least = int(0.01 * 65535)  # what is not there is below
        for at in here.keys() | there.keys():
            assert abs(here.get(at, least) - there.get(at, least)) <= 2
    long = (sequences.lengths[targets] > 2_000) & (sequences.lengths[queries] < 1_000)
    assert (found.arithmetic[long] <= plain.arithmetic[long]).all()
    if match_states == 1:
        assert found.arithmetic[long].sum() < plain.arithmetic[long].sum()


def _entries_of(posteriors, pair: int) -> dict[tuple[int, int], int]:
    own = slice(*posteriors.offsets[pair : pair + 2].tolist())
    values = posteriors.values[own].tolist()
    places = zip(posteriors.rows[own].tolist(), posteriors.columns[own].tolist(), strict=True)
    return dict(zip(places, values, strict=True))
