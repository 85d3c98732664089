"""What sequences that are added can change of the results of others: the table of growing.md."""

from typing import Any

import numpy as np
import pytest

import pairalign

LETTERS = list("ACDEFGHIKLMNPQRSTVWY")


def family(seed: int, count: int, prefix: str, rates: tuple[float, ...]) -> dict[str, str]:
    """Relatives of three proteins, which are the same for each seed."""
    known, rng = np.random.default_rng(77), np.random.default_rng(seed)
    origins = ["".join(known.choice(LETTERS, length)) for length in (60, 75, 90)]
    made = {}
    for k in range(count):
        rate = rates[k % len(rates)]
        text = [str(rng.choice(LETTERS)) if rng.random() < rate else x for x in origins[k % 3]]
        made[f"{prefix}{k}"] = "".join(text[: len(text) - int(rng.integers(6))])
    return made


EARLIER = family(1, 18, "e", (0.2, 0.5, 0.4))
ALL = {**EARLIER, **family(2, 9, "n", (0.1, 0.3))}


def pairs_of(found: Any, *fields: str) -> list[tuple[Any, ...]]:
    """Pairs of the earlier sequences, in the order that they are written."""
    return [
        (one.query.name, one.target.name, *(getattr(one, field) for field in fields))
        for one in found
        if {one.query.name, one.target.name} <= EARLIER.keys()
    ]


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_alignments_do_not_change(mode):
    fields = ("score", "cigar", "query_start", "target_end", "identity")
    fields += ("bits",) if mode == "local" else ()
    before, after = (
        pairs_of(pairalign.align(given, mode=mode), *fields) for given in (EARLIER, ALL)
    )
    assert before == after
    assert len(before) == 18 * 17 // 2


@pytest.mark.parametrize("thresholds", [{"min_score": 40}, {"min_identity": 0.5}])
def test_thresholds_keep_the_same_pairs(thresholds):
    before, after = (
        pairs_of(pairalign.align(one, **thresholds), "score") for one in (EARLIER, ALL)
    )
    assert before == after
    assert 0 < len(before) < 18 * 17 // 2


def test_distances_do_not_change():
    before, after = (pairalign.distance(given) for given in (EARLIER, ALL))
    assert np.array_equal(before.square(), after.square()[:18, :18])


def test_evalues_change_unless_the_search_space_is_given():
    before, after = (
        pairs_of(pairalign.align(one, mode="local"), "evalue") for one in (EARLIER, ALL)
    )
    assert all(one < other for (*_, one), (*_, other) in zip(before, after, strict=True) if one)
    options: dict[str, Any] = {"mode": "local", "search_space": 1e6}
    before, after = (pairs_of(pairalign.align(one, **options), "evalue") for one in (EARLIER, ALL))
    assert before == after
    options["max_evalue"] = 1e-3
    before, after = (pairs_of(pairalign.align(one, **options), "evalue") for one in (EARLIER, ALL))
    assert before == after
    assert 0 < len(before) < 18 * 17 // 2


def test_new_hits_take_the_places_of_others():
    before, after = (
        {pair[:2] for pair in pairs_of(pairalign.align(given, max_hits=3))}
        for given in (EARLIER, ALL)
    )
    assert after < before


def clusters_of(given: dict[str, str], **options: Any) -> set[frozenset[str]]:
    found = pairalign.cluster(given, min_identity=0.5, **options)
    groups: dict[int, set[str]] = {}
    for name, cluster in zip(given, found.labels.tolist(), strict=True):
        groups.setdefault(cluster, set()).add(name)
    earlier = (frozenset(group & EARLIER.keys()) for group in groups.values())
    return {group for group in earlier if group}


def test_single_linkage_joins_clusters():
    before, after = (clusters_of(given, linkage="single") for given in (EARLIER, ALL))
    assert before != after
    assert all(any(one <= other for other in after) for one in before)


@pytest.mark.parametrize("linkage", ["greedy", "complete", "average"])
def test_other_linkages_take_clusters_apart(linkage):
    def are_apart(seed: int) -> bool:
        earlier = family(seed, 18, "e", (0.3, 0.35, 0.4))
        added = {**earlier, **family(seed + 50, 9, "n", (0.25, 0.3))}
        before, after = (clusters_of(given, linkage=linkage) for given in (earlier, added))
        return not all(any(one <= other for other in after) for one in before)

    assert any(map(are_apart, range(12)))
