"""Clusters by a plain implementation of each linkage, over alignments of all pairs."""

from fractions import Fraction
from itertools import combinations

from identity_words import identity_in_words

from pairalign import SequenceSet, align
from pairalign.scoring.scoring import Scoring

Partition = set[frozenset[str]]
Values = dict[tuple[str, str], tuple[Fraction, Fraction]]


def canonical(sequences: dict[str, str]) -> list[str]:
    codes = SequenceSet.from_strings(sequences)
    of = {name: codes.codes_of(k).tobytes() for k, name in enumerate(codes.names)}
    return sorted(sequences, key=lambda name: (-len(sequences[name]), of[name], name))


def plain_values(sequences: dict[str, str], scoring: Scoring, identity: str) -> Values:
    """Identity and coverage of each pair, first in canonical order first."""
    order = canonical(sequences)
    given = SequenceSet.from_strings(sequences, alphabet=scoring.alphabet)
    values = {}
    for pair in align(given, scoring=scoring, device="cpu"):
        one, other = sorted((pair.query.name, pair.target.name), key=order.index)
        longer = max(len(pair.query), len(pair.target))
        coverage = Fraction(pair.matches + pair.mismatches, longer)
        values[one, other] = identity_in_words(pair, identity), coverage
    return values


def plain_greedy(
    order: list[str], values: Values, least: Fraction, cover: Fraction = Fraction(0)
) -> dict[str, list[str]]:
    """Members of each representative, of sequences that come in an order."""
    values = values | {pair[::-1]: value for pair, value in values.items()}
    members: dict[str, list[str]] = {}
    for name in order:
        known = [(values[one, name], one) for one in members]
        near = [(-x, order.index(one), one) for (x, c), one in known if x >= least and c >= cover]
        members.setdefault(min(near)[2] if near else name, []).append(name)
    return members


def plain_clusters(
    sequences: dict[str, str], values: Values, linkage: str, least: Fraction, cover: Fraction
) -> Partition:
    order = canonical(sequences)
    passes = {pair: x >= least and c >= cover for pair, (x, c) in values.items()}
    if linkage == "greedy":
        return set(map(frozenset, plain_greedy(order, values, least, cover).values()))
    clusters = [[name] for name in order]

    def value(one: list[str], other: list[str]) -> tuple[bool, Fraction]:
        pairs = [tuple(sorted((a, b), key=order.index)) for a in one for b in other]
        if linkage == "single":
            return any(passes[p] for p in pairs), max(values[p][0] for p in pairs)
        if linkage == "complete":
            return all(passes[p] for p in pairs), min(values[p][0] for p in pairs)
        mean = sum(values[p][0] if values[p][1] >= cover else Fraction(0) for p in pairs) / len(
            pairs
        )
        return mean >= least, mean

    while True:
        joined = [
            (value(one, other)[1], -i, -j)
            for (i, one), (j, other) in combinations(enumerate(clusters), 2)
            if value(one, other)[0]
        ]
        if not joined:
            return {frozenset(names) for names in clusters}
        _, i, j = max(joined)
        clusters[-i] += clusters.pop(-j)
