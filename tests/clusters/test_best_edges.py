"""The best edges of each node, as pairs come."""

import numpy as np
import pytest

import pairalign
from pairalign.jobs.clusters.cluster import BestEdges


def plain_best(found: pairalign.Alignments, best: int, rank: str) -> set[tuple[int, int]]:
    ends: dict[tuple[int, int], list[tuple[float, int, tuple[int, str, str], int]]] = {}
    second = int(found.targets is not found.queries)
    for k, pair in enumerate(found):
        value = -pair.identity if rank == "identity" else 0.0
        one, other = pair.query_index, pair.target_index
        for node, near in (((0, one), pair.target), ((second, other), pair.query)):
            partner = -len(near.residues), near.residues, near.name
            ends.setdefault(node, []).append((value, -pair.raw_score, partner, k))
    kept = {k for ranked in ends.values() for *_, k in sorted(ranked)[:best]}
    return {(found[k].query_index, found[k].target_index) for k in kept}


@pytest.mark.parametrize("rank", ["score", "identity"])
@pytest.mark.parametrize("two_sets", [False, True])
def test_the_best_of_each_node(two_sets, rank, monkeypatch):
    monkeypatch.setattr("pairalign.jobs.clusters.cluster._LEAST_HELD", 10)
    rng = np.random.default_rng(1)
    made = ["".join(rng.choice(list("ACG"), 9)) for _ in range(20)]
    found = pairalign.align(made, made[:7] if two_sets else None, device="cpu")
    for best in (1, 3, 100):
        kept = BestEdges(best, rank)
        for start in range(0, len(found), 7):
            kept.add(found[start : start + 7])
        result = kept.kept()
        pairs = list(zip(result.query.tolist(), result.target.tolist(), strict=True))
        assert set(pairs) == plain_best(found, best, rank)
        every = list(zip(found.query.tolist(), found.target.tolist(), strict=True))
        assert pairs == [pair for pair in every if pair in set(pairs)]
