"""The judge: a plain Gotoh alignment that shares no code with pairalign.

It takes codes (any small integers) and a matrix indexed by them, and follows the conventions of
docs/conventions.md to the letter: which sequence runs along the rows, which of several equally good
end cells is taken, which of several equally good ways back. Every engine must return exactly
what `align` does.

There are two fills of the same three matrices: `fill_plain` spells the recurrences out cell by
cell and is what the other one is checked against; `fill_by_rows` does a row of many pairs at a time
with NumPy, so that tests can afford some hundred sequences of some hundred letters.
`test_reference.py` proves both by enumerating every alignment of tiny sequences.

Mode end-gaps: a gap before the first or after the last letter of a sequence costs what
`Costs.ends` says of the letters of the other one that are opposite, which is never more than
elsewhere. Row 0 and column 0 hold the cost of a gap at a start; all other cells are those of mode
global. The alignment ends in the cell of the last row or column whose H, less the cost of the end
gap from there to the last cell, is the best; of equals in the one that an end cell would be in
mode semiglobal. End gaps that cost nothing are left out as there, others are columns of the
alignment. With vsearch's ties it is of equals the last cell, else the one that is nearest to it of
those whose end gap consumes letters of the query, else the nearest of the others; from H a gap in
the target is taken before one in the query, and gaps go on only where closing them is worse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

IMPOSSIBLE = -(10**15)
"""Stands for minus infinity: far below any score, far above where int64 wraps around."""
Codes = Sequence[int]
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Costs:
    """What an alignment is scored with: a gap of k letters costs open + (k - 1) * extend."""

    matrix: Any
    """Scores, ``matrix[i][j]``: a list of lists or an array."""
    gap_open: int
    gap_extend: int
    mode: str = "global"
    unambiguous: int = 1 << 30
    """Codes from here on are ambiguous: they never count as a match, not even with themselves."""
    ends: tuple[tuple[int, int], ...] = ()
    """Mode end-gaps: open and extend of gaps opposite the first letters of the query, opposite its
    last ones, and opposite those of the target."""
    ties: str = "usual"
    """Or vsearch, in mode end-gaps."""

    def __post_init__(self) -> None:
        assert self.gap_open >= self.gap_extend >= 0
        assert self.mode in {"global", "semiglobal", "local", "end-gaps"}
        assert len(self.ends) == (4 if self.mode == "end-gaps" else 0)
        for opening, extension in self.ends:
            assert 0 <= extension <= opening <= self.gap_open
            assert extension <= self.gap_extend

    def turned(self) -> Costs:
        """Those of the two sequences exchanged."""
        return replace(self, ends=self.ends[2:] + self.ends[:2])

    def end_cost(self, end: int, letters: int) -> int:
        """What an end gap of so many letters costs."""
        opening, extension = self.ends[end]
        return opening + (letters - 1) * extension if letters else 0


ROW_START, ROW_END, COLUMN_START, COLUMN_END = range(4)
"""Ends, where the row sequence is the query: which letters are opposite the gap."""


@dataclass(frozen=True)
class Expected:
    """An alignment in terms of the output; spans 0-based and half-open."""

    score: int
    query_start: int
    query_end: int
    target_start: int
    target_end: int
    cigar: str
    matches: int
    mismatches: int
    gap_openings: int
    gap_residues: int


def align(
    query: Codes,
    target: Codes,
    costs: Costs,
    used: frozenset[tuple[int, int]] = frozenset(),
    swapped: bool | None = None,
) -> Expected:
    """Align two sequences of codes; `query` is the one that comes earlier in the input.

    The longer sequence runs along the rows, of two equally long ones that whose codes come first
    (`is_swapped`). In what comes back the query is the query all the same, and a gap that consumes
    it is an ``I``. Residues of row i and column j, counted
    from 1, are not put together where (i, j) is in `used`. `swapped` says which sequence runs along
    the rows where that is not to be seen from these two: one of them was reverse-complemented.
    """
    if swapped is None:
        swapped = is_swapped(query, target)
    rows, columns = (target, query) if swapped else (query, target)
    costs = costs.turned() if swapped else costs
    if used:
        h, e, f = map(np.asarray, fill_plain(rows, columns, costs, used))
        filled = h, e, f
    else:
        (filled,) = fill_by_rows([(rows, columns)], costs)
    return read_out(filled, rows, columns, costs, swapped, used)


def read_out(
    filled: Matrices,
    rows: Codes,
    columns: Codes,
    costs: Costs,
    swapped: bool,
    used: frozenset[tuple[int, int]] = frozenset(),
) -> Expected:
    """The alignment that filled matrices hold; `swapped`: the target runs along the rows."""
    h, _, _ = filled
    at_end = less_end_gaps(h, costs)
    if costs.ties == "vsearch":
        end = end_cell_of_vsearch(at_end, swapped)
        start, path = trace_as_vsearch(filled, end, rows, columns, costs, swapped)
    else:
        end = end_cell(at_end, costs.mode)
        start, path = trace(filled, end, rows, columns, costs, used)
    score = int(at_end[end])
    start, path, end = with_end_gaps(start, path, end, (len(rows), len(columns)), costs)
    if not path:
        start = end = (0, 0)
    letters = path.translate(str.maketrans("EF", "ID" if swapped else "DI"))
    runs = [(len(list(run)), letter) for letter, run in groupby(letters)]
    query_side, target_side = (1, 0) if swapped else (0, 1)
    return Expected(
        score=score,
        query_start=start[query_side],
        query_end=end[query_side],
        target_start=start[target_side],
        target_end=end[target_side],
        cigar="".join(f"{length}{letter}" for length, letter in runs),
        matches=letters.count("="),
        mismatches=letters.count("X"),
        gap_openings=sum(letter in "ID" for _, letter in runs),
        gap_residues=letters.count("I") + letters.count("D"),
    )


def is_swapped(query: Codes, target: Codes) -> bool:
    """Whether the target runs along the rows: it is longer, or as long and its codes come first."""
    if len(query) != len(target):
        return len(query) < len(target)
    return list(target) < list(query)


def align_all(query: Codes, target: Codes, costs: Costs, most: int) -> list[Expected]:
    """The best alignment, then the best that puts no two letters together which one before did.

    After Waterman and Eggert 1987. Each follows the rules of `align`, over the cells that are left:
    in those of letters put together before, H is not attained by the diagonal. It ends with the
    first that scores less than 1.
    """
    swapped = is_swapped(query, target)
    row_side, column_side = ("target", "query") if swapped else ("query", "target")
    used: set[tuple[int, int]] = set()
    found: list[Expected] = []
    while len(found) < most:
        one = align(query, target, costs, frozenset(used))
        if one.score < 1:
            break
        found.append(one)
        i, j = getattr(one, f"{row_side}_start"), getattr(one, f"{column_side}_start")
        for length, letter in re.findall(r"(\d+)([=XID])", one.cigar):
            for _ in range(int(length)):
                i += letter in "=X" or (letter == "D") == swapped
                j += letter in "=X" or (letter == "I") == swapped
                if letter in "=X":
                    used.add((i, j))
    return found


def fill_plain(
    rows: Codes, columns: Codes, costs: Costs, used: frozenset[tuple[int, int]] = frozenset()
) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """The matrices H, E and F, each of (rows + 1) x (columns + 1) cells, cell by cell.

    H is the best score of an alignment that ends in the cell, E of one that ends in a gap which
    consumes a column letter (a step to the right), F of one which ends in a gap that consumes a row
    letter (a step down).
    """
    height, width = len(rows) + 1, len(columns) + 1
    h = [[IMPOSSIBLE] * width for _ in range(height)]
    e = [[IMPOSSIBLE] * width for _ in range(height)]
    f = [[IMPOSSIBLE] * width for _ in range(height)]
    for i in range(height):
        for j in range(width):
            if costs.mode != "global" and (i == 0 or j == 0):
                h[i][j] = border(i, j, costs)
                continue
            if j > 0:
                e[i][j] = max(e[i][j - 1] - costs.gap_extend, h[i][j - 1] - costs.gap_open)
            if i > 0:
                f[i][j] = max(f[i - 1][j] - costs.gap_extend, h[i - 1][j] - costs.gap_open)
            diagonal = IMPOSSIBLE
            if i > 0 and j > 0 and (i, j) not in used:
                diagonal = h[i - 1][j - 1] + int(costs.matrix[rows[i - 1]][columns[j - 1]])
            h[i][j] = max(diagonal, e[i][j], f[i][j])
            if i == 0 and j == 0:
                h[i][j] = 0
            if costs.mode == "local":
                h[i][j] = max(h[i][j], 0)
    return _impossible_again(h), _impossible_again(e), _impossible_again(f)


def border(i: int, j: int, costs: Costs) -> int:
    """H of a cell of row 0 or column 0, but for mode global."""
    if costs.mode != "end-gaps":
        return 0
    return -costs.end_cost(COLUMN_START, j) if i == 0 else -costs.end_cost(ROW_START, i)


def less_end_gaps(h: Any, costs: Costs) -> Any:
    """What an alignment scores that ends in a cell of the last row or column, with its end gap."""
    if costs.mode != "end-gaps":
        return h
    h = np.array(h, dtype=np.int64)
    last_row, last_column = h.shape[0] - 1, h.shape[1] - 1
    for j in range(last_column):
        h[last_row, j] -= costs.end_cost(COLUMN_END, last_column - j)
    for i in range(last_row):
        h[i, last_column] -= costs.end_cost(ROW_END, last_row - i)
    return h


def with_end_gaps(
    start: tuple[int, int], path: str, end: tuple[int, int], lengths: tuple[int, int], costs: Costs
) -> tuple[tuple[int, int], str, tuple[int, int]]:
    """Add the end gaps that cost something to a path, in mode end-gaps: start, path and end."""
    if costs.mode != "end-gaps":
        return start, path, end
    (rows, columns), (i, j), (to_i, to_j) = lengths, start, end
    free = [opening == 0 == extension for opening, extension in costs.ends]
    if not free[ROW_START]:
        path, i = "F" * i + path, 0
    if not free[COLUMN_START]:
        path, j = "E" * j + path, 0
    if not free[ROW_END] and to_j == columns:
        path, to_i = path + "F" * (rows - to_i), rows
    if not free[COLUMN_END] and end[0] == rows:
        path, to_j = path + "E" * (columns - to_j), columns
    return (i, j), path, (to_i, to_j)


def _impossible_again(matrix: list[list[int]]) -> list[list[int]]:
    """Minus infinity less a gap cost is minus infinity."""
    return [[IMPOSSIBLE if cell < IMPOSSIBLE // 2 else cell for cell in row] for row in matrix]


def fill_by_rows(pairs: Sequence[tuple[Codes, Codes]], costs: Costs) -> list[Matrices]:
    """The matrices of `fill_plain` of rows and columns, a row of all pairs at a time.

    Where columns are fewer, a column at a time. Shorter sequences are filled up with code 0: no
    cell depends on those below it or right of it.
    """
    rows, columns = (_side_by_side([pair[side] for pair in pairs]) for side in (0, 1))
    if columns.shape[1] < rows.shape[1]:
        turned = _fill_by_rows(columns, rows, costs.turned(), np.asarray(costs.matrix).T)
        h, f, e = (matrix.transpose(2, 1, 0) for matrix in turned)
    else:
        h, e, f = _fill_by_rows(rows, columns, costs, np.asarray(costs.matrix))
    within = [np.s_[: len(one) + 1, k, : len(other) + 1] for k, (one, other) in enumerate(pairs)]
    return [(h[cells], e[cells], f[cells]) for cells in within]


def _side_by_side(sequences: list[Codes]) -> np.ndarray:
    found = np.zeros((len(sequences), max(map(len, sequences))), dtype=np.int64)
    for row, sequence in zip(found, sequences, strict=True):
        row[: len(sequence)] = sequence
    return found


def _fill_by_rows(
    rows: np.ndarray, columns: np.ndarray, costs: Costs, matrix: np.ndarray
) -> Matrices:
    """Fill matrices by row, pair and column; rows and columns: a row a pair.

    Within a row E(i,j) is the largest of H(i,k) - open - (j-1-k) * extend over all k < j, a running
    maximum; an H(i,k) that itself ends in such a gap can be left out because open >= extend.
    """
    shape = (rows.shape[1] + 1, len(rows), columns.shape[1] + 1)
    h = np.zeros(shape, dtype=np.int64)
    e = np.full(shape, IMPOSSIBLE, dtype=np.int64)
    f = np.full(shape, IMPOSSIBLE, dtype=np.int64)
    if costs.mode == "global":
        h[0, :, 1:] = -costs.gap_open - costs.gap_extend * np.arange(shape[2] - 1)
        h[1:, :, 0] = -costs.gap_open - costs.gap_extend * np.arange(shape[0] - 1)[:, None]
        e[0, :, 1:] = h[0, :, 1:]
        f[1:, :, 0] = h[1:, :, 0]
    if costs.mode == "end-gaps":
        h[0] = [border(0, j, costs) for j in range(shape[2])]
        h[:, :, 0] = [[border(i, 0, costs)] for i in range(shape[0])]
    scores = matrix.astype(np.int64)[:, columns]
    ramp = costs.gap_extend * np.arange(shape[2], dtype=np.int64)
    pairs = np.arange(len(rows))
    for i in range(1, shape[0]):
        above = h[i - 1]
        f[i, :, 1:] = np.maximum(f[i - 1, :, 1:] - costs.gap_extend, above[:, 1:] - costs.gap_open)
        h[i, :, 1:] = np.maximum(above[:, :-1] + scores[rows[:, i - 1], pairs], f[i, :, 1:])
        if costs.mode == "local":
            h[i] = np.maximum(h[i], 0)
        best_before = np.maximum.accumulate(h[i] + ramp, axis=1)[:, :-1]
        e[i, :, 1:] = best_before - costs.gap_open - ramp[:-1]
        h[i] = np.maximum(h[i], e[i])
    return h, e, f


# Ties: the end cell.
def end_cell(h: np.ndarray, mode: str) -> tuple[int, int]:
    """Where the alignment ends: the best score, then the smallest column, then the smallest row."""
    last_row, last_column = h.shape[0] - 1, h.shape[1] - 1
    if mode == "global":
        return last_row, last_column
    if mode in ("semiglobal", "end-gaps"):
        h = h.copy()
        h[:last_row, :last_column] = IMPOSSIBLE
    found_columns, found_rows = np.nonzero((h == h.max()).T)  # in order of columns
    return int(found_rows[0]), int(found_columns[0])


# Ties: the walk back.
def trace(
    filled: Matrices,
    end: tuple[int, int],
    rows: Codes,
    columns: Codes,
    costs: Costs,
    used: frozenset[tuple[int, int]] = frozenset(),
) -> tuple[tuple[int, int], str]:
    """Walk from the end cell back to where the alignment starts.

    From H: the diagonal if it attains H, else E, else F. In E or F: extend the gap if that attains
    the value, else close it.

    Returns
    -------
    start : (int, int)
        Number of row letters and of column letters before the alignment.
    path : str
        One of ``=XEF`` a column of the alignment, first column first.
    """
    h, e, f = filled
    i, j = end
    path = []
    state = "H"
    while True:
        if state == "H":
            if costs.mode == "local" and h[i, j] == 0:
                break
            if costs.mode in ("semiglobal", "end-gaps") and (i == 0 or j == 0):
                break
            if i == 0 and j == 0:
                break
            if i > 0 and j > 0 and (i, j) not in used:
                row, column = int(rows[i - 1]), int(columns[j - 1])
                if h[i, j] == h[i - 1, j - 1] + costs.matrix[row][column]:
                    path.append("=" if row == column and row < costs.unambiguous else "X")
                    i, j = i - 1, j - 1
                    continue
            state = "E" if h[i, j] == e[i, j] else "F"
            assert state == "E" or h[i, j] == f[i, j]
        elif state == "E":
            path.append("E")
            if e[i, j] != e[i, j - 1] - costs.gap_extend:
                assert e[i, j] == h[i, j - 1] - costs.gap_open
                state = "H"
            j -= 1
        else:
            path.append("F")
            if f[i, j] != f[i - 1, j] - costs.gap_extend:
                assert f[i, j] == h[i - 1, j] - costs.gap_open
                state = "H"
            i -= 1
    return (i, j), "".join(reversed(path))


def end_cell_of_vsearch(h: np.ndarray, swapped: bool) -> tuple[int, int]:
    """Where the alignment ends: the best score, the shortest end gap, the query's letters first."""
    last_row, last_column = h.shape[0] - 1, h.shape[1] - 1
    best = max(h[last_row].max(), h[:, last_column].max())
    in_row = [(last_row, int(j)) for j in np.flatnonzero(h[last_row] == best)]
    in_column = [(int(i), last_column) for i in np.flatnonzero(h[:, last_column] == best)]
    if (last_row, last_column) in in_row:
        return last_row, last_column
    of_query, others = (in_row, in_column) if swapped else (in_column, in_row)
    return max(of_query or others)


def trace_as_vsearch(
    filled: Matrices, end: tuple[int, int], rows: Codes, columns: Codes, costs: Costs, swapped: bool
) -> tuple[tuple[int, int], str]:
    """As `trace`, with the ties of vsearch."""
    h, e, f = filled
    i, j = end
    path = []
    state = "H"
    values = {"E": e, "F": f}
    while i > 0 and j > 0:
        row, column = int(rows[i - 1]), int(columns[j - 1])
        if state == "H" and h[i, j] == h[i - 1, j - 1] + costs.matrix[row][column]:
            path.append("=" if row == column and row < costs.unambiguous else "X")
            i, j = i - 1, j - 1
            continue
        if state == "H":
            first, second = "EF" if swapped else "FE"
            state = first if values[first][i, j] == h[i, j] else second
            assert values[state][i, j] == h[i, j]
        path.append(state)
        value = values[state][i, j]
        i, j = (i, j - 1) if state == "E" else (i - 1, j)
        if value == h[i, j] - costs.gap_open:
            state = "H"
    return (i, j), "".join(reversed(path))
