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


def plain_clusters(
    sequences: dict[str, str], values: Values, linkage: str, least: Fraction, cover: Fraction
) -> Partition:
    order = canonical(sequences)
    passes = {pair: x >= least and c >= cover for pair, (x, c) in values.items()}
    if linkage == "greedy":
        members: dict[str, list[str]] = {}
        for k, name in enumerate(order):
            near = [o for o in order[:k] if o in members and passes[o, name]]
            if near:
                best = max(near, key=lambda o: (values[o, name][0], -order.index(o)))
                members[best].append(name)
            else:
                members[name] = [name]
        return {frozenset(names) for names in members.values()}
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
