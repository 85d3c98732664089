"""Joins of alignments as profiles, against all alignments of small ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pairalign
from pairalign.engines.cpu.cpu_msa import Side, join_profiles
from pairalign.jobs.msa import large
from pairalign.scoring.posterior_models import ProfileCosts

BOTH, FIRST, SECOND = range(3)
Path = tuple[int, ...]


def random_side(random: np.random.Generator, width: int) -> Side:
    """One to three sequences with gaps; no column is empty."""
    count = int(random.integers(1, 4))
    rows = random.random((count, width)) < 0.7
    rows[0, ~rows.any(axis=0)] = True
    columns = [np.flatnonzero(row) for row in rows]
    starts = np.cumsum([0, *map(len, columns)])
    codes = random.integers(0, 20, starts[-1])
    return Side(codes.astype(np.uint8), np.concatenate(columns).astype(np.int32), starts, width)


def counts(side: Side) -> tuple[Any, ...]:
    """Return how many have each code, a residue, and twice this and that of the column before."""
    codes, through = np.zeros((side.width, 32), int), np.zeros(side.width + 1, int)
    for start, stop in zip(side.starts[:-1], side.starts[1:], strict=True):
        own = side.columns[start:stop].tolist()
        for column, code in zip(own, side.codes[start:stop].tolist(), strict=True):
            codes[column, code] += 1
            through[column] += 2 * (column - 1 in own)
    present = codes.sum(axis=1)
    through[0], through[-1] = present[0], present[-1]
    return codes, present, through


def paths(i: int, j: int) -> Iterator[Path]:
    """All alignments of i and j columns; FIRST is not followed by SECOND."""
    if i == j == 0:
        yield ()
    if i and j:
        yield from ((*path, BOTH) for path in paths(i - 1, j - 1))
    if i:
        yield from ((*path, FIRST) for path in paths(i - 1, j))
    if j:
        yield from ((*path, SECOND) for path in paths(i, j - 1) if path[-1:] != (FIRST,))


def score(path: Path, first: Side, second: Side, costs: ProfileCosts, posteriors: Any) -> int:
    """Score an alignment of two alignments, step by step."""
    (codes, present, through), (others, other_present, other_through) = map(counts, (first, second))
    worth = costs.posterior * (len(first.starts) - 1) * (len(second.starts) - 1) / (65535 * 3)
    i = j = total = 0
    for place, state in enumerate(path):
        begins = place == 0 or path[place - 1] != state
        ends = place + 1 == len(path) or path[place + 1] != state
        i, j = i + (state != SECOND), j + (state != FIRST)
        if state == BOTH:
            total += int(codes[i - 1] @ costs.scores @ others[j - 1])
            total += int(posteriors[i - 1, j - 1] * worth)
            continue
        own, parted = (present[i - 1], int(other_through[j]))
        if state == SECOND:
            own, parted = (other_present[j - 1], int(through[i]))
        total -= (int(begins) + int(ends)) * (costs.gap_open // 4 * own * parted)
    return total


@pytest.mark.parametrize("seed", range(30))
def test_joins_are_the_best_of_all(seed):
    random = np.random.default_rng(seed)
    first, second = (random_side(random, int(random.integers(1, 5))) for _ in range(2))
    costs = ProfileCosts(
        random.integers(-60, 120, (32, 32)).astype(np.int32),
        int(random.integers(0, 150)),
        int(random.integers(0, 300)),
    )
    count = int(random.integers(0, 8))
    rows = random.integers(0, first.width, count).astype(np.int32)
    columns = random.integers(0, second.width, count).astype(np.int32)
    values = random.integers(655, 65535, count).astype(np.uint16)
    table = np.zeros((first.width, second.width), int)
    np.add.at(table, (rows, columns), values)
    one, other, width = join_profiles(first, second, costs, (rows, columns, values), 3)
    assert (np.diff(one) > 0).all()
    assert (np.diff(other) > 0).all()
    assert set(one.tolist()) | set(other.tolist()) == set(range(width))
    kinds = {(True, True): BOTH, (True, False): FIRST, (False, True): SECOND}
    found = tuple(kinds[column in one, column in other] for column in range(width))
    best = max(score(path, first, second, costs, table) for path in paths(*table.shape))
    assert score(found, first, second, costs, table) == best


def test_wide_alignments_are_joined_by_posteriors_alone(monkeypatch):
    random = np.random.default_rng(1)
    letters = np.array(list("ARNDCQEGHILKMFPSTWYV"))
    two = ["".join(random.choice(letters, 20)) for _ in range(2)]
    changes = [(at, letter) for at in range(20) for letter in "ARN"]  # copies are aligned once
    strings = [one[:at] + letter + one[at + 1 :] for at, letter in changes for one in two]
    strings = list(dict.fromkeys(strings))
    sequences = pairalign.SequenceSet.from_strings(strings, alphabet="protein")
    calls = []

    def counted(*given: Any) -> Any:
        calls.append(given)
        return join_profiles(*given)

    monkeypatch.setattr(large, "join_profiles", counted)
    pairalign.msa(sequences, confidence=False)
    assert calls
    calls.clear()
    monkeypatch.setattr(large, "MOST_CELLS", 399)
    pairalign.msa(sequences, confidence=False)
    assert not calls


def test_few_of_thousands_decide_where_they_alone_have_residues():
    """One of 5,000 has a tail on either side, the second with a residue more behind it."""
    count, codes, few, costs = 5000, [0, 0, 0], [1, 2, 3], np.full((32, 32), -50, np.int32)
    np.fill_diagonal(costs, 100)
    first, second = (
        Side(
            np.array(codes + tail + codes * (count - 1), np.uint8),
            np.array([*range(3 + len(tail)), *[0, 1, 2] * (count - 1)], np.int32),
            np.append(0, 3 + len(tail) + 3 * np.arange(count)),
            3 + len(tail),
        )
        for tail in (few, [*few, 4])
    )
    none = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint16))
    one, other, _ = join_profiles(first, second, ProfileCosts(costs, 100, 100), none, 1)
    assert (one[3:] == other[3:-1]).all()
