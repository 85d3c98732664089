"""Parts of a large family: relatives stay together, sizes keep to their limits."""

import numpy as np
import pytest

from pairalign.jobs.msa.relatives import parts_of_relatives


def _family(twins, seed=3):
    """Return points of pairs of twins, and the distances that a function gives of them."""
    random = np.random.default_rng(seed)
    places = np.repeat(random.random((twins, 2)) * 60_000, 2, axis=0)
    places += random.random((2 * twins, 2)) * 300
    seeds = places[:: twins // 5]

    def apart(some, others):
        return np.hypot(*(some[:, None] - others).transpose(2, 0, 1)).astype(np.int64)

    def of_pairs(indices):
        rows, columns = np.triu_indices(len(indices), 1)
        return apart(places[indices], places[indices])[rows, columns].astype(np.float32)

    return apart(places, seeds), of_pairs


@pytest.mark.parametrize(("together", "most"), [(2, 16), (50, 100)])
def test_twins_are_in_one_part(together, most):
    points, of_pairs = _family(300)
    parts = parts_of_relatives(points, of_pairs, together=together, most=most)
    assert sorted(np.concatenate(parts).tolist()) == list(range(600))
    assert len(parts) > 5
    assert max(map(len, parts)) <= most
    assert all((np.unique(part // 2, return_counts=True)[1] == 2).all() for part in parts)


def test_units_are_no_larger_than_what_is_kept_together():
    points, of_pairs = _family(100)
    parts = parts_of_relatives(points, of_pairs, together=6, most=1)
    assert max(map(len, parts)) == 6
