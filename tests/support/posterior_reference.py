"""What a posterior is: plain float64, and the same by every path of a tiny pair.

The recurrences are those at the head of ``cpu/posterior/model.h``.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from pairalign.scoring.posterior_models import PosteriorModel


def hmm_tables(x, y, model: PosteriorModel):
    """Return the pair HMM's forward and backward values, and the pair's whole.

    Float64 of shape (states, len(x) + 1, len(y) + 1), row and column 0 of backward values unused;
    the match states, X1, X2, Y1, Y2.
    """
    m, n, k = len(x), len(y), model.match_states
    gaps = _gaps_of(model)
    e = model.hmm_emission[:, x][:, :, y]
    f = np.zeros((k + 4, m + 1, n + 1))  # match states, X1, X2, Y1, Y2
    b = np.zeros((k + 4, m + 2, n + 2))
    for i in range(m + 1):
        for j in range(n + 1):
            if i and j:
                before = f[:, i - 1, j - 1]
                hub = model.start_match if i == j == 1 else model.leave @ before[:k]
                for kind, (_, _, _, close) in enumerate(gaps):
                    hub += close * (before[k + kind] + before[k + 2 + kind])
                f[:k, i, j] = e[:, i - 1, j - 1] * (model.stay * before[:k] + model.enter * hub)
            for kind, (start, open_, extend, _) in enumerate(gaps):
                for state, (p, q) in ((k + kind, (i - 1, j)), (k + 2 + kind, (i, j - 1))):
                    if p >= 0 and q >= 0:
                        begin = start if p == q == 0 else open_ @ f[:k, p, q]
                        f[state, i, j] = begin + extend * f[state, p, q]
    ends = [model.start_match] * k + [model.start_short, model.start_long] * 2
    total = sum(end * f[state, m, n] for state, end in enumerate(ends))
    b[:, m, n] = ends
    for i in range(m, 0, -1):
        for j in range(n, 0, -1):
            if (i, j) == (m, n):
                continue
            match = (e[:, i, j] if i < m and j < n else 0) * b[:k, i + 1, j + 1]
            entered = model.enter @ match
            b[:k, i, j] = model.stay * match + model.leave * entered
            for kind, (_, open_, extend, close) in enumerate(gaps):
                along_x, along_y = b[k + kind, i + 1, j], b[k + 2 + kind, i, j + 1]
                b[:k, i, j] += open_ * (along_x + along_y)
                b[k + kind, i, j] = close * entered + extend * along_x
                b[k + 2 + kind, i, j] = close * entered + extend * along_y
    return f, b[:, : m + 1, : n + 1], total


def hmm_posteriors(x, y, model: PosteriorModel):
    """Return the pair HMM's posteriors, float64 of shape (len(x), len(y))."""
    k = model.match_states
    f, b, total = hmm_tables(x, y, model)
    return (f[:k, 1:, 1:] * b[:k, 1:, 1:]).sum(0) / total


def _gaps_of(model: PosteriorModel):
    """Return how gaps of the two kinds begin or end a pair, open, extend and close."""
    return (
        (model.start_short, model.open_short, model.extend_short, model.close_short),
        (model.start_long, model.open_long, model.extend_long, model.close_long),
    )


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
    """Sum over the match states of a path, and over whether each of its gaps is short or long."""
    entering = model.start_match if path[0] == "M" else 0.0  # a run of M
    opening: list[float] = []  # a gap of each kind; a pair that begins with one opens it so
    if path[0] != "M":
        opening = [start for start, *_ in _gaps_of(model)]
    for move, run in itertools.groupby(zip(path, cells, strict=True), key=lambda step: step[0]):
        places = [place for _, place in run]
        if move == "M":
            match = np.zeros(model.match_states)
            for _, i, j in places:
                hub = entering + model.leave @ match
                match = model.hmm_emission[:, x[i - 1], y[j - 1]] * (
                    model.stay * match + model.enter * hub
                )
                entering = 0.0
            opening = [open_ @ match for _, open_, _, _ in _gaps_of(model)]
            ending = model.start_match * match.sum()
        else:
            inside = [
                begin * extend ** (len(places) - 1)
                for begin, (_, _, extend, _) in zip(opening, _gaps_of(model), strict=True)
            ]
            kinds = list(zip(inside, _gaps_of(model), strict=True))
            entering = sum(weight * close for weight, (*_, close) in kinds)
            ending = sum(weight * start for weight, (start, *_) in kinds)
    return float(ending)


def _partition_weight(cells, x, y, model: PosteriorModel) -> float:
    weight, before = 1.0, "M"
    for move, i, j in cells:
        if move == "M":
            weight *= model.partition_emission[x[i - 1], y[j - 1]]
        elif not ((move == "X" and j in (0, len(y))) or (move == "Y" and i in (0, len(x)))):
            weight *= model.gap_extend if before == move else model.gap_open
        before = move
    return weight
