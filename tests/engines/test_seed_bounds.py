"""Each bound of the index of seeds against all alignments of short sequences, the bad ones too."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from pairalign.alignments.thresholds import PairThresholds

SOURCE = Path(__file__).resolve().parents[1] / "native" / "bounds" / "bounds.cpp"
SHARES = [Fraction(share, 100) for share in (50, 60, 67, 75, 80, 90, 97, 100)]
AMBIGUOUS = 4
words = st.lists(st.integers(0, AMBIGUOUS), min_size=1, max_size=5).map(tuple)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    path = tmp_path_factory.mktemp("bounds") / "bounds.so"
    made = ["-std=c++17", "-O1", "-shared", "-fPIC", str(SOURCE), "-o", str(path)]
    subprocess.run([compiler, *made], check=True)
    library = ctypes.CDLL(str(path))
    for name in ("pair", "one"):
        getattr(library, f"most_errors_of_{name}").restype = ctypes.c_int64
    library.most_residues_outside.restype = library.least_matches_of.restype = ctypes.c_int64
    return library


class Aligned(NamedTuple):
    """An alignment from end to end: places of the columns with residues of both, and those of gaps.

    `ends` are the residues in gaps at both ends.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    gaps: int
    ends: int


def alignments(n: int, m: int) -> Iterator[Aligned]:
    """All ways to put residues of both into common columns, those beside them in gaps."""
    for aligned in range(min(n, m) + 1):
        for rows in itertools.combinations(range(n), aligned):
            for columns in itertools.combinations(range(m), aligned):
                ends = n + m
                if aligned:
                    ends = max_end(rows[0], columns[0]) + max_end(
                        n - 1 - rows[-1], m - 1 - columns[-1]
                    )
                yield Aligned(rows, columns, n + m - 2 * aligned, ends)


def max_end(one: int, other: int) -> int:
    """Residues of the gap at an end: of two there, one after the other, that of the longer."""
    return max(one, other)


class Counted(NamedTuple):
    matches: int
    errors: int
    passes: bool
    matched: list[tuple[int, int]]


def count(a: tuple[int, ...], b: tuple[int, ...], one: Aligned, t: PairThresholds) -> Counted:
    """What an alignment has and whether it passes; errors are those that its identity counts."""
    matched = [
        (i, j)
        for i, j in zip(one.rows, one.columns, strict=True)
        if a[i] == b[j] and a[i] != AMBIGUOUS
    ]
    matches, aligned = len(matched), len(one.rows)
    mismatches = aligned - matches
    gaps = one.gaps - (one.ends if t.identity_of == "internal" else 0)
    errors = mismatches + gaps
    part, whole = {
        "columns": (matches, matches + errors),
        "full": (matches, matches + errors),
        "internal": (matches, matches + errors),
        "longer": (matches, max(len(a), len(b))),
        "mean": (2 * matches, len(a) + len(b)),
        "shorter": (matches, min(len(a), len(b))),
    }[t.identity_of]
    is_covered = aligned >= t.min_coverage * max(len(a), len(b))
    passes = whole > 0 and part >= t.least_identity * whole and is_covered
    if t.identity_of in ("longer", "mean"):
        errors = len(a) + len(b) - 2 * matches
    return Counted(matches, errors, passes, matched)


@st.composite
def problems(
    draw: st.DrawFn, rules: tuple[str, ...] = ("columns", "full", "longer", "mean", "internal")
) -> tuple[tuple[int, ...], tuple[int, ...], PairThresholds]:
    a, b = draw(words), draw(words)
    if draw(st.booleans()):  # alike: of most others nothing passes
        b = (*a[:-1], draw(st.integers(0, AMBIGUOUS)))
    rule = draw(st.sampled_from(rules))
    coverage = draw(st.sampled_from(SHARES)) if rule == "internal" else Fraction(0)
    return a, b, PairThresholds(draw(st.sampled_from(SHARES)), rule, coverage, "aligned")


def passing(
    a: tuple[int, ...], b: tuple[int, ...], t: PairThresholds
) -> Iterator[tuple[Aligned, Counted]]:
    for one in alignments(len(a), len(b)):
        counted = count(a, b, one, t)
        if counted.passes:
            yield one, counted


def taken(t: PairThresholds) -> ctypes._CArgObject:
    return ctypes.byref(t.native("global"))


@settings(max_examples=examples(60), deadline=None)
@given(problem=problems())
def test_errors(native, problem):  # type: ignore[type-arg]
    a, b, t = problem
    shorter, longer = sorted((len(a), len(b)))
    most = native.most_errors_of_pair(taken(t), shorter, longer)
    for length in (shorter, longer):
        assert most <= native.most_errors_of_one(taken(t), length)
    for _, counted in passing(a, b, t):
        assert counted.errors <= most


@settings(max_examples=examples(50), deadline=None)
@given(problem=problems(), size=st.integers(1, 2), data=st.data())
def test_seeds(native, problem, size, data):  # type: ignore[type-arg]
    """Of k + x disjoint seeds of either sequence at least x are whole, wherever they lie."""
    a, b, t = problem
    longer = max(len(a), len(b))
    errors = native.most_errors_of_pair(taken(t), min(len(a), len(b)), longer)
    side = data.draw(st.sampled_from([0, 1]))
    own = (a, b)[side]
    outside = native.most_residues_outside(taken(t), len(own), longer)
    starts: list[int] = []
    place = outside + data.draw(st.integers(0, 1))
    while place + size <= len(own) - outside:
        starts.append(place)
        place += size + data.draw(st.integers(0, 1))
    for _, counted in passing(a, b, t):
        partner = {pair[side]: pair[1 - side] for pair in counted.matched}
        whole = [
            start
            for start in starts
            if all(
                place in partner and partner[place] - place == partner.get(start, 0) - start
                for place in range(start, start + size)
            )
        ]
        assert len(whole) >= len(starts) - errors


@settings(max_examples=examples(60), deadline=None)
@given(problem=problems())
def test_diagonals(native, problem):  # type: ignore[type-arg]
    a, b, t = problem
    found = (ctypes.c_int64 * 2)()
    native.diagonals_of(taken(t), len(a), len(b), found)
    for _, counted in passing(a, b, t):
        for i, j in counted.matched:
            assert found[0] <= i - j <= found[1]


@settings(max_examples=examples(60), deadline=None)
@given(problem=problems(("columns", "full", "longer", "mean", "internal", "shorter")))
def test_common_subsequences(native, problem):  # type: ignore[type-arg]
    """What passes has the least number of matches, and they are a common subsequence."""
    a, b, t = problem
    least = native.least_matches_of(taken(t), len(a), len(b))
    common = max(count(a, b, one, t).matches for one in alignments(len(a), len(b)))
    for _, counted in passing(a, b, t):
        assert least <= counted.matches <= common


def with_margins(word: tuple[int, ...], margin: int, ambiguous: int) -> np.ndarray:
    letters = [ambiguous if letter == AMBIGUOUS else letter for letter in word]
    return np.array([margin] * 8 + letters + [margin] * 8, np.uint8)


def distances(a: tuple[int, ...], b: tuple[int, ...]) -> np.ndarray:
    """The plain recurrence of edit distances of all pairs of starts."""
    table = np.add.outer(np.arange(len(a) + 1), np.arange(len(b) + 1))
    for i, j in itertools.product(range(len(a)), range(len(b))):
        same = a[i] == b[j] and a[i] != AMBIGUOUS
        table[i + 1, j + 1] = min(
            table[i, j] + (not same), table[i, j + 1] + 1, table[i + 1, j] + 1
        )
    return table


@settings(max_examples=examples(300), deadline=None)
@given(
    a=st.lists(st.integers(0, AMBIGUOUS), max_size=24).map(tuple),
    b=st.lists(st.integers(0, AMBIGUOUS), max_size=24).map(tuple),
    most=st.integers(0, 30),
    alike=st.booleans(),
)
def test_edit_distances(native, a, b, most, alike):
    b = a[2:9] + b[:2] + a[9:] if alike else b
    table = distances(a, b)
    backwards = distances(a[::-1], b[::-1])
    expected = {
        0: table[-1, -1],
        1: min(table[-1, :].min(), table[:, -1].min()),
        -1: min(backwards[-1, :].min(), backwards[:, -1].min()),
    }
    rows, columns = with_margins(a, 0xFE, AMBIGUOUS), with_margins(b, 0xFF, 0xFF)
    for way, least in expected.items():
        found = native.edit_distance(
            ctypes.c_void_p(rows.ctypes.data + 8),
            len(a),
            ctypes.c_void_p(columns.ctypes.data + 8),
            len(b),
            most,
            way,
        )
        assert found == min(least, most + 1)
