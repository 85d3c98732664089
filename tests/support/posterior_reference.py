"""What a posterior is: plain float64, and the same by every path of a tiny pair.

The recurrences are those at the head of ``cpu/posterior/model.h``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pairalign.scoring.posterior_models import PosteriorModel


def hmm_posteriors(x, y, model: PosteriorModel):
    """Return the pair HMM's posteriors, float64 of shape (len(x), len(y))."""
    m, n = len(x), len(y)
    states = (
        (model.start_short, model.open_short, model.extend_short, model.close_short),
        (model.start_long, model.open_long, model.extend_long, model.close_long),
    )
    e = model.hmm_emission[np.ix_(x, y)]
    f = np.zeros((5, m + 1, n + 1))  # M, X1, X2, Y1, Y2
    b = np.zeros((5, m + 2, n + 2))
    for i in range(m + 1):
        for j in range(n + 1):
            if i and j:
                arrive = model.start_match if i == j == 1 else model.stay * f[0, i - 1, j - 1]
                for k, (_, _, _, close) in enumerate(states):
                    arrive += close * (f[1 + k, i - 1, j - 1] + f[3 + k, i - 1, j - 1])
                f[0, i, j] = e[i - 1, j - 1] * arrive
            for k, (start, open_, extend, _) in enumerate(states):
                if i:
                    begin = start if i == 1 and j == 0 else open_ * f[0, i - 1, j]
                    f[1 + k, i, j] = begin + extend * f[1 + k, i - 1, j]
                if j:
                    begin = start if j == 1 and i == 0 else open_ * f[0, i, j - 1]
                    f[3 + k, i, j] = begin + extend * f[3 + k, i, j - 1]
    ends = [model.start_match] + [model.start_short, model.start_long] * 2
    total = sum(end * f[state, m, n] for state, end in enumerate(ends))
    b[:, m, n] = ends
    for i in range(m, 0, -1):
        for j in range(n, 0, -1):
            if (i, j) == (m, n):
                continue
            match = (e[i, j] if i < m and j < n else 0) * b[0, i + 1, j + 1]
            b[0, i, j] = model.stay * match
            for k, (_, open_, extend, close) in enumerate(states):
                b[0, i, j] += open_ * (b[1 + k, i + 1, j] + b[3 + k, i, j + 1])
                b[1 + k, i, j] = close * match + extend * b[1 + k, i + 1, j]
                b[3 + k, i, j] = close * match + extend * b[3 + k, i, j + 1]
    return f[0, 1:, 1:] * b[0, 1 : m + 1, 1 : n + 1] / total


def partition_posteriors(x, y, model: PosteriorModel):
    """Return the partition function's posteriors, float64 of shape (len(x), len(y))."""
    m, n = len(x), len(y)
    z = model.partition_emission[np.ix_(x, y)]
    f = np.zeros((3, m + 1, n + 1))  # M, X, Y
    b = np.zeros((3, m + 2, n + 2))
    f[0, 0, 0] = 1
    for i in range(m + 1):
        for j in range(n + 1):
            if i and j:
                f[0, i, j] = z[i - 1, j - 1] * f[:, i - 1, j - 1].sum()
            if i:
                open_, extend = _gap(model, j in (0, n))
                f[1, i, j] = open_ * f[0, i - 1, j] + extend * f[1, i - 1, j]
            if j:
                open_, extend = _gap(model, i in (0, m))
                f[2, i, j] = open_ * f[0, i, j - 1] + extend * f[2, i, j - 1]
    total = f[:, m, n].sum()
    b[:, m, n] = 1
    for i in range(m, 0, -1):
        for j in range(n, 0, -1):
            if (i, j) == (m, n):
                continue
            match = (z[i, j] if i < m and j < n else 0) * b[0, i + 1, j + 1]
            open_x, extend_x = _gap(model, j == n)
            open_y, extend_y = _gap(model, i == m)
            b[0, i, j] = match + open_x * b[1, i + 1, j] + open_y * b[2, i, j + 1]
            b[1, i, j] = match + extend_x * b[1, i + 1, j]
            b[2, i, j] = match + extend_y * b[2, i, j + 1]
    return f[0, 1:, 1:] * b[0, 1 : m + 1, 1 : n + 1] / total


def posteriors(x, y, model: PosteriorModel):
    """Return the root of the mean of the squares of both models' posteriors."""
    hmm, partition = hmm_posteriors(x, y, model), partition_posteriors(x, y, model)
    return np.sqrt((hmm**2 + partition**2) / 2)


def _gap(model: PosteriorModel, at_end: bool) -> tuple[float, float]:
    return (1.0, 1.0) if at_end else (model.gap_open, model.gap_extend)


def enumerated_posteriors(x, y, model: PosteriorModel):
    """Return both models' posteriors as sums over all paths: HMM, partition function."""
    hmm, partition = np.zeros((len(x), len(y))), np.zeros((len(x), len(y)))
    totals = [0.0, 0.0]
    for path in _paths(len(x), len(y)):
        cells = _cells(path)
        aligned = [(i - 1, j - 1) for move, i, j in cells if move == "M"]
        weights = _hmm_weight(path, cells, x, y, model), _partition_weight(cells, x, y, model)
        for number, (table, weight) in enumerate(zip((hmm, partition), weights, strict=True)):
            totals[number] += weight
            for cell in aligned:
                table[cell] += weight
    return hmm / totals[0], partition / totals[1]


def _paths(m: int, n: int) -> Iterator[str]:
    """Yield all strings of M, X, Y through the matrix in which no X is beside a Y."""

    def go(i: int, j: int, path: str) -> Iterator[str]:
        if (i, j) == (m, n):
            yield path
        last = path[-1:]
        if i < m and j < n:
            yield from go(i + 1, j + 1, path + "M")
        if i < m and last != "Y":
            yield from go(i + 1, j, path + "X")
        if j < n and last != "X":
            yield from go(i, j + 1, path + "Y")

    return go(0, 0, "")


def _cells(path: str) -> list[tuple[str, int, int]]:
    cells, i, j = [], 0, 0
    for move in path:
        i, j = i + (move != "Y"), j + (move != "X")
        cells.append((move, i, j))
    return cells


def _hmm_weight(path, cells, x, y, model: PosteriorModel) -> float:
    """Sum over whether each gap of a path is short or long."""
    short = (model.start_short, model.open_short, model.extend_short, model.close_short)
    long = (model.start_long, model.open_long, model.extend_long, model.close_long)
    weight, k = 1.0, 0
    if path[0] == "M":
        weight *= model.start_match
    if path[-1] == "M":
        weight *= model.start_match
    while k < len(path):
        stop = k + 1
        if path[k] == "M":
            _, i, j = cells[k]
            weight *= model.hmm_emission[x[i - 1], y[j - 1]]
            weight *= model.stay if path[k : k + 2] == "MM" else 1
        else:
            while path[stop : stop + 1] == path[k]:
                stop += 1
            weight *= sum(
                (start if k == 0 else open_)
                * extend ** (stop - k - 1)
                * (start if stop == len(path) else close)
                for start, open_, extend, close in (short, long)
            )
        k = stop
    return weight


def _partition_weight(cells, x, y, model: PosteriorModel) -> float:
    weight, before = 1.0, "M"
    for move, i, j in cells:
        if move == "M":
            weight *= model.partition_emission[x[i - 1], y[j - 1]]
        elif not ((move == "X" and j in (0, len(y))) or (move == "Y" and i in (0, len(x)))):
            weight *= model.gap_extend if before == move else model.gap_open
        before = move
    return weight
