"""Networks in folds: pieces, the fewest sequences whose removal cuts them, separators."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pairalign.jobs.splits.network import Network, Sizes, find_separator, least_removed

Edges = set[tuple[int, int]]


def make_network(count: int, edges: Edges) -> Network:
    ends = np.array(sorted(edges), np.int32).reshape(-1, 2)
    return Network(count, ends[:, 0].copy(), ends[:, 1].copy())


@st.composite
def networks(draw: st.DrawFn) -> tuple[int, Edges]:
    count = draw(st.integers(2, 9))
    pairs = list(itertools.combinations(range(count), 2))
    return count, set(draw(st.lists(st.sampled_from(pairs), unique=True)))


@given(networks(), st.integers(1, 6))
def test_no_fewer_than_the_bound_can_be_removed(network, most):
    count, edges = network
    made = make_network(count, edges)
    pieces = [piece for piece in made.pieces(range(count)) if len(piece) > most]
    bound = least_removed(made, pieces, most)
    fewest = next(
        size
        for size in range(count + 1)
        if any(
            _largest(made, set(gone)) <= most for gone in itertools.combinations(range(count), size)
        )
    )
    assert bound <= fewest
    assert (bound > 0) == (fewest > 0)


def _largest(network: Network, gone: set[int]) -> int:
    return max(map(len, network.pieces(set(range(len(network))) - gone)), default=0)


def test_the_bound_of_dense_networks_is_sharp():
    clique = set(itertools.combinations(range(12), 2))
    assert least_removed(make_network(12, clique), [list(range(12))], 5) == 7
    star = {(0, k) for k in range(1, 30)}
    assert least_removed(make_network(30, star), [list(range(30))], 3) == 1


@given(networks(), st.integers(0, 3))
def test_a_separator_makes_parts_that_are_less_full(network, seed):
    count, edges = network
    made = make_network(count, edges)
    piece = max(made.pieces(range(count)), key=len)
    if len(piece) < 2:
        return
    sizes = Sizes(np.zeros((count, 1), np.int32), [len(piece) - 1.0])
    separator = find_separator(made, piece, sizes, [1.0] * count, seed)
    assert separator
    assert all(len(part) < len(piece) for part in made.pieces(set(piece) - set(separator)))


@given(networks(), st.lists(st.integers(1, 3), min_size=9, max_size=9), st.integers(1, 6))
def test_a_separator_is_the_cheapest_border_of_regions(network, prices, most):
    count, edges = network
    made = make_network(count, edges)
    piece = max(made.pieces(range(count)), key=len)
    if len(piece) <= most:
        return
    sizes = Sizes(np.zeros((count, 1), np.int32), [float(most)])
    ranked = sorted(piece, key=lambda k: (prices[k], -len(made.neighbours[k]), k))
    best = sorted(ranked[: len(piece) - most])
    least: float = sum(prices[k] for k in best)
    for seed in piece:
        for border, largest in _grow(made, piece, seed, prices):
            cost: float = sum(prices[k] for k in border)
            full, fuller = len(piece) / most, largest / most
            if fuller > 1:
                cost = cost * (full - 1) / (full - fuller) if full > fuller else math.inf
            if cost < least:
                best, least = sorted(border), cost
    for threads in (1, 3):
        assert find_separator(made, piece, sizes, np.array(prices), 0, threads) == best


def _grow(
    network: Network, piece: list[int], seed: int, prices: list[int]
) -> Iterator[tuple[set[int], int]]:
    """Yield the border of each stage, and how many are in the larger of the region and the rest."""
    near = [set(own) for own in network.neighbours]
    region: set[int] = set()
    border = {seed}

    def gain(one: int) -> tuple[int, int]:
        return sum(prices[k] for k in near[one] - region - border) - prices[one], one

    while border:
        joining = min(border, key=gain)
        region.add(joining)
        border = (border | near[joining]) - region
        yield border, max(len(region), len(piece) - len(region) - len(border))


def test_the_cheapest_separator_is_found():
    # two cliques of five with a path between them: one sequence of the path is enough
    edges = set(itertools.combinations(range(5), 2)) | set(itertools.combinations(range(7, 12), 2))
    edges |= {(4, 5), (5, 6), (6, 7)}
    made = make_network(12, edges)
    sizes = Sizes(np.zeros((12, 1), np.int32), [6.0])
    prices = [1.0] * 12
    found = find_separator(made, list(range(12)), sizes, prices, 0)
    assert len(found) == 1
    assert found[0] in (4, 5, 6, 7)
    for dear in (4, 5, 6):
        prices[dear] = 3.0
    assert find_separator(made, list(range(12)), sizes, prices, 0) == [7]


def test_of_sequences_that_are_all_alike_those_go_whose_label_is_too_many():
    clique = make_network(6, set(itertools.combinations(range(6), 2)))
    categories = np.array([(0, 1), (0, 1), (0, 2), (0, 2), (0, 2), (0, 2)], np.int32)
    sizes = Sizes(categories, [6.0, 2.0, 2.0])
    assert find_separator(clique, list(range(6)), sizes, np.ones(6), 0) == [2, 3]
