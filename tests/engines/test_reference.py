"""The reference itself, proved by enumerating every alignment and by hand."""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import groupby

import numpy as np
import pytest
from conftest import examples
from reference import Costs, Expected, align, fill_by_rows, fill_plain
from strategies import MODES


def simple(
    match: int, mismatch: int, gap_open: int, gap_extend: int, mode: str, letters: int = 4
) -> Costs:
    matrix = [[match if i == j else mismatch for j in range(letters)] for i in range(letters)]
    return Costs(matrix, gap_open, gap_extend, mode)


@cache
def all_paths(rows: int, columns: int) -> list[str]:
    """Every way to align so many letters, columns written M (both), E (column) and F (row)."""
    if rows == 0 and columns == 0:
        return [""]
    paths = []
    if rows and columns:
        paths += [path + "M" for path in all_paths(rows - 1, columns - 1)]
    if columns:
        paths += [path + "E" for path in all_paths(rows, columns - 1)]
    if rows:
        paths += [path + "F" for path in all_paths(rows - 1, columns)]
    return paths


def path_score(path: str, i: int, j: int, rows: list[int], columns: list[int], costs: Costs) -> int:
    """Score of a path that starts after i row letters and j column letters."""
    score = 0
    for step, run in groupby(path):
        length = len(list(run))
        if step == "M":
            score += sum(costs.matrix[rows[i + k]][columns[j + k]] for k in range(length))
        else:
            score -= costs.gap_open + (length - 1) * costs.gap_extend
        i += length * (step != "E")
        j += length * (step != "F")
    return score


def decisions(path: str) -> list[int]:
    """The choices of somebody who walks the path backwards, each as its rank among the choices.

    In H: stop 0, diagonal 1, E 2, F 3; in a gap: extend 0, close 1. The rule for ties is to take
    the first possible choice every time, so of all best paths the one with the smallest list.
    """
    ranks: list[int] = []
    for step, run in groupby(reversed(path)):
        length = len(list(run))
        if step == "M":
            ranks += [1] * length
        else:
            ranks += [2 if step == "E" else 3] + [0] * (length - 1) + [1]
    return [*ranks, 0]


def spans(height: int, width: int, mode: str) -> Iterator[tuple[int, int, int, int]]:
    """Where an alignment of the mode may start and end."""
    for i1 in range(height + 1):
        for j1 in range(width + 1):
            for i0 in range(i1 + 1):
                for j0 in range(j1 + 1):
                    at_start, at_end = i0 == j0 == 0, (i1, j1) == (height, width)
                    starts = i0 == 0 or j0 == 0
                    ends = i1 == height or j1 == width
                    if (
                        mode == "local"
                        or (mode == "global" and at_start and at_end)
                        or (mode == "semiglobal" and starts and ends)
                    ):
                        yield i0, j0, i1, j1


def enumerate_best(rows: list[int], columns: list[int], costs: Costs) -> tuple[int, int, int, str]:
    """Score, start and path of the alignment that the rules ask for: try every one there is."""
    best = max(
        (
            path_score(path, i0, j0, rows, columns, costs),
            -j1,  # the smallest end column, then the smallest end row
            -i1,
            [-rank for rank in decisions(path)],
            i0,
            j0,
            path,
        )
        for i0, j0, i1, j1 in spans(len(rows), len(columns), costs.mode)
        for path in all_paths(i1 - i0, j1 - j0)
    )
    return best[0], best[4], best[5], best[6]


def residues_of(
    path: str, rows: list[int], columns: list[int], i: int, j: int
) -> tuple[str, int, int]:
    """Each step of a path from row i and column j as a CIGAR's letter; the rows are the query.

    Also returns where it ends.
    """
    letters = ""
    for step in path:
        if step == "M":
            letters += "=" if rows[i] == columns[j] else "X"
        else:
            letters += "D" if step == "E" else "I"
        i += step != "E"
        j += step != "F"
    return letters, i, j


def expect(rows: list[int], columns: list[int], costs: Costs) -> Expected:
    """What `align` must return, from the enumeration; the rows are the query."""
    score, i, j, path = enumerate_best(rows, columns, costs)
    i0, j0 = (i, j) if path else (0, 0)
    letters, i, j = residues_of(path, rows, columns, i0, j0)
    runs = [(letter, len(list(run))) for letter, run in groupby(letters)]
    return Expected(
        score=score,
        query_start=i0,
        query_end=i,
        target_start=j0,
        target_end=j,
        cigar="".join(f"{length}{letter}" for letter, length in runs),
        matches=letters.count("="),
        mismatches=letters.count("X"),
        gap_openings=sum(letter in "ID" for letter, _ in runs),
        gap_residues=sum(length for letter, length in runs if letter in "ID"),
    )


@pytest.mark.parametrize(
    "mode", ["global", "semiglobal", pytest.param("local", marks=pytest.mark.slow)]
)
def test_every_alignment_of_tiny_sequences(mode):
    """Score, span and path, ties included, are those found by trying every alignment."""
    rng = random.Random(f"tiny {mode}")
    for _ in range(examples(1500)):
        letters = rng.choice((1, 2, 3))
        height = rng.randrange(5)
        rows = [rng.randrange(letters) for _ in range(height)]
        columns = [rng.randrange(letters) for _ in range(rng.randrange(height + 1))]
        gap_open = rng.randrange(6)
        gap_extend = rng.choice((0, gap_open, rng.randint(0, gap_open)))
        matrix = [[rng.randint(-4, 4) for _ in range(letters)] for _ in range(letters)]
        for i in range(letters):
            for j in range(i):
                matrix[i][j] = matrix[j][i]
        costs = Costs(matrix, gap_open, gap_extend, mode)
        found = align(rows, columns, costs, swapped=False)
        assert found == expect(rows, columns, costs), (rows, columns, costs)


def split_ends(path: str) -> tuple[str, str, str]:
    """A path from corner to corner as its first gap, what is between, and its last gap.

    The gaps are those in row 0 or column 0, and in the last row or column. A path that is two gaps
    has nothing between.
    """
    first = path[: len(path) - len(path.lstrip(path[0]))] if path[0] != "M" else ""
    rest = path[len(first) :]
    last = rest[len(rest.rstrip(rest[-1])) :] if rest[-1:] not in ("", "M") else ""
    return first, rest[: len(rest) - len(last)], last


def path_score_with_ends(path: str, rows: list[int], columns: list[int], costs: Costs) -> int:
    """Score of a path from corner to corner: every gap priced by where it is in its sequence."""
    score = i = j = 0
    for step, run in groupby(path):
        length = len(list(run))
        if step == "M":
            score += sum(costs.matrix[rows[i + k]][columns[j + k]] for k in range(length))
        else:
            at, letters, ends = (j, len(columns), 0) if step == "F" else (i, len(rows), 2)
            opening, extension = (
                costs.ends[ends]
                if at == 0
                else costs.ends[ends + 1]
                if at == letters
                else (costs.gap_open, costs.gap_extend)
            )
            score -= opening + (length - 1) * extension
        i += length * (step != "E")
        j += length * (step != "F")
    return score


def best_with_ends(rows: list[int], columns: list[int], costs: Costs) -> tuple[int, str, str, str]:
    """Score, first gap, middle and last gap of the path that the rules ask for."""
    best = None
    for path in all_paths(len(rows), len(columns)):
        first, middle, last = split_ends(path)
        end_column = len(columns) - last.count("E")
        end_row = len(rows) - last.count("F")
        rank = (
            path_score_with_ends(path, rows, columns, costs),
            -end_column,
            -end_row,
            [-one for one in decisions(middle)],
        )
        best = max(best or (rank, ()), (rank, (first, middle, last)))
    return best[0][0], *best[1]


@pytest.mark.parametrize("seed", range(3))
def test_every_alignment_with_end_gaps(seed):
    """Each gap costs what its place says; the end cell and the path are those of the rules."""
    rng = random.Random(f"ends {seed}")
    for _ in range(examples(500)):
        letters = rng.choice((1, 2, 3))
        height = rng.randint(1, 4)
        rows = [rng.randrange(letters) for _ in range(height)]
        columns = [rng.randrange(letters) for _ in range(rng.randint(1, height))]
        gap_open = rng.randrange(6)
        gap_extend = rng.choice((0, gap_open, rng.randint(0, gap_open)))
        ends = tuple(end_costs(rng, gap_open, gap_extend) for _ in range(4))
        matrix = [[0] * letters for _ in range(letters)]
        for i in range(letters):
            for j in range(i + 1):
                matrix[i][j] = matrix[j][i] = rng.randint(-4, 4)
        costs = Costs(matrix, gap_open, gap_extend, "end-gaps", ends=ends)
        found = align(rows, columns, costs, swapped=False)
        score, first, middle, last = best_with_ends(rows, columns, costs)
        free = [pair == (0, 0) for pair in ends]
        shown_first = "" if free[0 if "F" in first else 2] else first
        shown_last = "" if free[1 if "F" in last else 3] else last
        path = shown_first + middle + shown_last
        assert found.score == score, (rows, columns, costs)
        assert found.cigar == cigar_of(path, first if not shown_first else "", rows, columns), costs
        start = (
            ((first.count("F"), first.count("E")) if not shown_first else (0, 0)) if path else None
        )
        if start is not None:
            assert (found.query_start, found.target_start) == start
            assert found.query_end == start[0] + sum(step != "E" for step in path)
            assert found.target_end == start[1] + sum(step != "F" for step in path)


def end_costs(rng: random.Random, gap_open: int, gap_extend: int) -> tuple[int, int]:
    """Costs of an end gap: free, as elsewhere, or between."""
    opening = rng.choice((0, gap_open, rng.randint(0, gap_open)))
    extension = rng.choice((0, min(gap_extend, opening)))
    return opening, extension


def cigar_of(path: str, skipped: str, rows: list[int], columns: list[int]) -> str:
    """A path as a CIGAR whose query is the row sequence, after so many steps of a gap."""
    i, j = skipped.count("F"), skipped.count("E")
    letters, _, _ = residues_of(path, rows, columns, i, j)
    return "".join(f"{len(list(run))}{letter}" for letter, run in groupby(letters))


def test_end_gaps_that_are_free_or_cost_as_others_are_the_other_modes():
    """All free: mode semiglobal, ties included; all as elsewhere: the scores of mode global."""
    rng = random.Random("same")
    for _ in range(examples(200)):
        gap_open = rng.randint(1, 5)
        gap_extend = rng.randint(0, gap_open)
        costs = simple(rng.randint(0, 3), -rng.randint(0, 3), gap_open, gap_extend, "semiglobal")
        rows = [rng.randrange(3) for _ in range(rng.randint(1, 20))]
        columns = [rng.randrange(3) for _ in range(rng.randint(1, 20))]
        free = replace(costs, mode="end-gaps", ends=((0, 0),) * 4)
        assert align(rows, columns, free) == align(rows, columns, costs)
        like = replace(costs, mode="end-gaps", ends=((gap_open, gap_extend),) * 4)
        whole = replace(costs, mode="global")
        assert align(rows, columns, like).score == align(rows, columns, whole).score


def mirrored(expected: Expected) -> Expected:
    """The same alignment with query and target exchanged."""
    return Expected(
        score=expected.score,
        query_start=expected.target_start,
        query_end=expected.target_end,
        target_start=expected.query_start,
        target_end=expected.query_end,
        cigar=expected.cigar.translate(str.maketrans("ID", "DI")),
        matches=expected.matches,
        mismatches=expected.mismatches,
        gap_openings=expected.gap_openings,
        gap_residues=expected.gap_residues,
    )


@pytest.mark.parametrize("mode", MODES)
def test_plain_and_by_rows_agree(mode):
    rng = random.Random(f"fills {mode}")
    for _ in range(examples(60)):
        gap_open = rng.randrange(8)
        costs = simple(rng.randint(0, 5), rng.randint(-5, 1), gap_open, 0, mode)
        costs = Costs(costs.matrix, gap_open, rng.randint(0, gap_open), mode)
        pairs = [
            tuple([rng.randrange(3) for _ in range(rng.randrange(30))] for _ in range(2))
            for _ in range(rng.randrange(1, 4))
        ]
        for pair, by_rows in zip(pairs, fill_by_rows(pairs, costs), strict=True):
            assert np.array_equal(np.array(fill_plain(*pair, costs)), np.array(by_rows))


@pytest.mark.parametrize("mode", MODES)
def test_it_does_not_matter_which_sequence_is_the_query(mode):
    """The pair decides which sequence runs along the rows: no tie depends on the order."""
    rng = random.Random(f"turn {mode}")
    for _ in range(examples(200)):
        costs = simple(rng.randint(0, 3), -rng.randint(0, 3), rng.randint(1, 3), 1, mode)
        query = [rng.randrange(2) for _ in range(rng.randrange(12))]
        target = [rng.randrange(2) for _ in range(len(query) + rng.choice((0, 0, 1, 5)))]
        assert query == target or align(query, target, costs) == mirrored(
            align(target, query, costs)
        )


BY_HAND = [
    # (what it shows, query, target, match, mismatch, open, extend, mode,
    #  score, query span, target span, CIGAR)
    # Three letters against one: the diagonal is taken first from the end, so the last A is paired.
    ("diagonal first", "AAA", "A", 1, -1, 1, 1, "global", -1, (0, 3), (0, 1), "2I1="),
    ("and so turned round", "A", "AAA", 1, -1, 1, 1, "global", -1, (0, 1), (0, 3), "2D1="),
    # A mismatch costs as much as two gaps: still the diagonal.
    ("diagonal before gaps", "A", "C", 1, -2, 1, 1, "global", -2, (0, 1), (0, 1), "1X"),
    # Two gaps are better than the mismatch. H = E is taken before H = F, so going back the column
    # letter is consumed first: the query (rows) comes first in the alignment.
    ("E before F", "A", "C", 1, -3, 1, 1, "global", -2, (0, 1), (0, 1), "1I1D"),
    # With open = extend one gap of two and two gaps of one cost the same. The walk pairs the last A
    # and the A before it, and only then is a gap left.
    ("gaps late", "ACAA", "AA", 1, -9, 1, 1, "global", 0, (0, 4), (0, 2), "2I2="),
    # Extension costs nothing; one gap of three, at the latest place, which is before the last A.
    ("extend first", "AACCA", "AA", 1, -9, 2, 0, "global", 0, (0, 5), (0, 2), "1=3I1="),
    ("no cost at all", "AA", "A", 0, 0, 0, 0, "global", 0, (0, 2), (0, 1), "1I1="),
    # A local score of 1 is reached in rows 2 and 4 of column 1: the smaller row.
    ("smaller row", "GAGA", "AC", 1, -1, 1, 1, "local", 1, (1, 2), (0, 1), "1="),
    # In column 2 row 1, in column 1 row 3: the smaller column counts before the smaller row.
    ("column before row", "CGA", "AC", 1, -1, 1, 1, "local", 1, (2, 3), (0, 1), "1="),
    ("stop at the first zero", "ACGT", "AGGT", 1, -1, 9, 9, "local", 2, (2, 4), (2, 4), "2="),
    ("no match at all", "AAA", "CC", 1, -1, 1, 1, "local", 0, (0, 0), (0, 0), ""),
    ("nothing to pair", "AAA", "CC", 1, -1, 1, 1, "semiglobal", 0, (0, 0), (0, 0), ""),
    ("overlap", "AACG", "CGTT", 1, -1, 2, 1, "semiglobal", 2, (2, 4), (0, 2), "2="),
    ("overlap, other side", "CGTT", "AACG", 1, -1, 2, 1, "semiglobal", 2, (0, 2), (2, 4), "2="),
    ("within", "TTACGTT", "ACG", 1, -1, 2, 1, "semiglobal", 3, (2, 5), (0, 3), "3="),
    ("nothing against something", "", "ACG", 1, -1, 5, 2, "global", -9, (0, 0), (0, 3), "3D"),
    ("something against nothing", "AC", "", 1, -1, 5, 2, "global", -7, (0, 2), (0, 0), "2I"),
    ("nothing, end gaps free", "AC", "", 1, -1, 5, 2, "semiglobal", 0, (0, 0), (0, 0), ""),
    ("nothing, local", "", "ACG", 1, -1, 5, 2, "local", 0, (0, 0), (0, 0), ""),
    ("nothing at all", "", "", 1, -1, 5, 2, "global", 0, (0, 0), (0, 0), ""),
]


@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: case[0].replace(" ", "-"))
def test_worked_by_hand(case):
    _, query, target, match, mismatch, gap_open, gap_extend, mode, score, *spans_, cigar = case
    costs = simple(match, mismatch, gap_open, gap_extend, mode)
    codes = {letter: code for code, letter in enumerate("ACGT")}
    found = align([codes[c] for c in query], [codes[c] for c in target], costs)
    assert found.score == score
    assert (found.query_start, found.query_end) == spans_[0]
    assert (found.target_start, found.target_end) == spans_[1]
    assert found.cigar == cigar


def test_ambiguous_letters_are_never_a_match():
    costs = Costs([[5, 1], [1, 5]], 4, 1, "global", unambiguous=1)
    found = align([0, 1, 0], [0, 1, 0], costs)
    assert (found.score, found.cigar, found.matches) == (15, "1=1X1=", 2)
