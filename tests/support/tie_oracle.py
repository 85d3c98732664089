"""How many optimal alignments a pair has, counted in two other ways than pairalign's.

`enumerate_ties` lists every alignment of tiny sequences and keeps those with the best score, as
docs/ties.md defines them; it knows no recurrence. `count_ties` is the recurrence with integers of
any size, for longer ones. Costs are those of `reference.Costs`, of the query as the row sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from reference import COLUMN_END, COLUMN_START, ROW_END, ROW_START, Codes, Costs

Alignment = tuple[int, int, str]
"""Residues of the query and of the target before it, and a character a column: M, I or D."""


def enumerate_ties(query: Codes, target: Codes, costs: Costs) -> tuple[int, set[Alignment]]:
    """Return the best score, and all alignments that have it and at least one column."""
    scored: dict[Alignment, int] = {}
    if costs.mode == "local":
        for i in range(len(query) + 1):
            for j in range(len(target) + 1):
                for path in _paths_from(len(query) - i, len(target) - j):
                    if is_local(query[i:], target[j:], path, costs):
                        scored[i, j, path] = score_of(query[i:], target[j:], path, costs)
    else:
        for path in _paths_between(len(query), len(target)):
            scored |= dict([_without_free_ends(query, target, path, costs)])
    best = max(scored.values(), default=0)
    if costs.mode == "local":
        best = max(best, 0)
    return best, {one for one, score in scored.items() if score == best and one[2]}


def _paths_between(rows: int, columns: int) -> Iterator[str]:
    """Yield all sequences of columns of so many residues."""
    if rows == 0 == columns:
        yield ""
    if rows and columns:
        yield from ("M" + path for path in _paths_between(rows - 1, columns - 1))
    if rows:
        yield from ("I" + path for path in _paths_between(rows - 1, columns))
    if columns:
        yield from ("D" + path for path in _paths_between(rows, columns - 1))


def _paths_from(rows: int, columns: int) -> Iterator[str]:
    """Yield all sequences of at least one column of at most so many residues."""
    for i in range(rows + 1):
        for j in range(columns + 1):
            yield from (path for path in _paths_between(i, j) if path)


def score_of(query: Codes, target: Codes, path: str, costs: Costs) -> int:
    """What columns score whose first residues are the first of query and target."""
    score = i = j = 0
    for letter, run in groupby(path):
        size = len(list(run))
        if letter == "M":
            pairs = zip(query[i : i + size], target[j : j + size], strict=True)
            score += sum(int(costs.matrix[a][b]) for a, b in pairs)
        else:
            score -= costs.gap_open + (size - 1) * costs.gap_extend
        i += size * (letter != "D")
        j += size * (letter != "I")
    return score


def is_local(query: Codes, target: Codes, path: str, costs: Costs) -> bool:
    """Whether neither some first nor some last columns score 0 or less."""
    for cut in range(1, len(path)):
        i, j = (sum(letter != other for letter in path[:cut]) for other in "DI")
        first = score_of(query, target, path[:cut], costs)
        last = score_of(query[i:], target[j:], path[cut:], costs)
        if first <= 0 or last <= 0:
            return False
    return score_of(query, target, path, costs) > 0


def _without_free_ends(
    query: Codes, target: Codes, path: str, costs: Costs
) -> tuple[Alignment, int]:
    """Cut end gaps that cost nothing off the columns of both whole sequences; also the score.

    A gap before the first or after the last residue of a sequence is an end gap. Of gaps alone, the
    first run is one at the start.
    """
    runs = [letter * len(list(run)) for letter, run in groupby(path)]
    ends = {"I": (ROW_START, ROW_END), "D": (COLUMN_START, COLUMN_END)}
    i = j = score = 0
    if runs and runs[0][0] in ends:
        score += _end_score(ends[runs[0][0]][0], len(runs[0]), costs)
        if _is_free(ends[runs[0][0]][0], costs):
            i, j = len(runs[0]) * (runs[0][0] == "I"), len(runs[0]) * (runs[0][0] == "D")
            runs[0] = runs[0].translate({ord("I"): "i", ord("D"): "d"})
        else:
            runs[0] = runs[0].translate({ord("I"): "<", ord("D"): ">"})
    if len(runs) > 0 and runs[-1][0] in ends:
        end = ends[runs[-1][0]][1]
        score += _end_score(end, len(runs[-1]), costs)
        marks = "id" if _is_free(end, costs) else "<>"
        runs[-1] = runs[-1].translate(str.maketrans("ID", marks))
    inner = [run for run in runs if run[0] in "MID"]
    first = sum(len(run) for run in runs[:1] if run[0] in "i<"), sum(
        len(run) for run in runs[:1] if run[0] in "d>"
    )
    score += score_of(query[first[0] :], target[first[1] :], "".join(inner), costs)
    shown = "".join(run for run in runs if run[0] in "MID<>").translate(str.maketrans("<>", "ID"))
    return (i, j, shown), score


def _is_free(end: int, costs: Costs) -> bool:
    if costs.mode == "end-gaps":
        return costs.ends[end] == (0, 0)
    return costs.mode == "semiglobal"


def _end_score(end: int, size: int, costs: Costs) -> int:
    if costs.mode == "end-gaps":
        return -costs.end_cost(end, size)
    return 0 if costs.mode == "semiglobal" else -costs.gap_open - (size - 1) * costs.gap_extend
