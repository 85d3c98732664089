"""Clusters by a plain implementation of each linkage, over the reference's alignments."""

from fractions import Fraction
from itertools import combinations

import reference

from pairalign import SequenceSet
from pairalign.scoring.scoring import Scoring

Partition = set[frozenset[str]]
Values = dict[tuple[str, str], tuple[Fraction, Fraction]]


def canonical(sequences: dict[str, str]) -> list[str]:
    codes = SequenceSet.from_strings(sequences)
    of = {name: codes.codes_of(k).tobytes() for k, name in enumerate(codes.names)}
    return sorted(sequences, key=lambda name: (-len(sequences[name]), of[name], name))


_found: dict[str, dict[tuple[str, str], reference.Expected]] = {}
"""Alignments of the reference, by what was aligned: each identity is of the same ones."""


def plain_alignments(
    sequences: dict[str, str], scoring: Scoring
) -> dict[tuple[str, str], reference.Expected]:
    """The alignment of each pair by the reference, first in canonical order first."""
    key = f"{sequences} {scoring}"
    if key in _found:
        return _found[key]
    codes = codes_by_name(sequences, scoring)
    costs = reference.Costs(
        scoring.matrix.tolist(),
        int(scoring.gap_open),
        int(scoring.gap_extend),
        scoring.mode,
        scoring.alphabet.unambiguous,
    )
    _found[key] = {
        (one, other): reference.align(codes[one], codes[other], costs)
        for one, other in combinations(canonical(sequences), 2)
    }
    return _found[key]


def codes_by_name(sequences: dict[str, str], scoring: Scoring) -> dict[str, list[int]]:
    given = SequenceSet.from_strings(sequences, alphabet=scoring.alphabet)
    return {name: given.codes_of(k).tolist() for k, name in enumerate(given.names)}


def plain_values(sequences: dict[str, str], scoring: Scoring, identity: str) -> Values:
    """Identity and coverage of each pair, first in canonical order first."""
    codes = codes_by_name(sequences, scoring)
    return {
        (one, other): identity_of(found, identity, scoring.mode, codes[one], codes[other])
        for (one, other), found in plain_alignments(sequences, scoring).items()
    }


def identity_of(
    found: reference.Expected, identity: str, mode: str, one: list[int], other: list[int]
) -> tuple[Fraction, Fraction]:
    columns = found.matches + found.mismatches + found.gap_residues
    coverage = Fraction(found.matches + found.mismatches, max(len(one), len(other)))
    if not columns:
        return Fraction(0), coverage
    if identity == "columns":
        return Fraction(found.matches, columns), coverage
    if identity == "shorter":
        return Fraction(found.matches, min(len(one), len(other))), coverage
    if identity == "aligned":
        aligned = found.matches + found.mismatches
        return Fraction(found.matches, aligned) if aligned else Fraction(0), coverage
    if identity == "full":
        unpaired = len(one) + len(other) - 2 * (found.matches + found.mismatches)
        whole = found.matches + found.mismatches + unpaired
        return Fraction(found.matches, whole), coverage
    if identity == "longer":
        return Fraction(found.matches, max(len(one), len(other))), coverage
    if identity == "mean":
        return Fraction(2 * found.matches, len(one) + len(other)), coverage
    if identity == "mbl":
        longer = max(len(one), len(other))
        return max(
            Fraction(0), 1 - Fraction(found.mismatches + found.gap_openings, longer)
        ), coverage
    inner = columns
    if mode == "global":
        runs = reference_runs(found.cigar)
        ends = runs[:1] + (runs[1:][-1:])
        inner -= sum(length for length, operation in ends if operation in "ID")
    return Fraction(found.matches, inner) if inner else Fraction(0), coverage


def reference_runs(cigar: str) -> list[tuple[int, str]]:
    runs, number = [], ""
    for letter in cigar:
        if letter.isdigit():
            number += letter
        else:
            runs.append((int(number), letter))
            number = ""
    return runs


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
