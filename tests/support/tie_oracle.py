"""How many optimal alignments a pair has, counted in two other ways than pairalign's.

`enumerate_ties` lists every alignment of tiny sequences and keeps those with the best score, as
docs/ties.md defines them; it knows no recurrence. `count_ties` is the recurrence with integers of
any size, for longer ones. Costs are those of `reference.Costs`, of the query as the row sequence.
"""

from collections.abc import Callable, Iterator
from functools import cache
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
    first = last = ""
    if runs[0][0] in ends:
        first = runs.pop(0)
        i, j = (len(first) * (first[0] == letter) for letter in "ID")
        score += _end_score(ends[first[0]][0], len(first), costs)
    if runs and runs[-1][0] in ends:
        last = runs.pop()
        score += _end_score(ends[last[0]][1], len(last), costs)
    score += score_of(query[i:], target[j:], "".join(runs), costs)
    if first and not _is_free(ends[first[0]][0], costs):
        runs.insert(0, first)
        i = j = 0
    if last and not _is_free(ends[last[0]][1], costs):
        runs.append(last)
    return (i, j, "".join(runs)), score


def _is_free(end: int, costs: Costs) -> bool:
    if costs.mode == "end-gaps":
        return costs.ends[end] == (0, 0)
    return costs.mode == "semiglobal"


def _end_score(end: int, size: int, costs: Costs) -> int:
    if costs.mode == "end-gaps":
        return -costs.end_cost(end, size)
    return 0 if costs.mode == "semiglobal" else -costs.gap_open - (size - 1) * costs.gap_extend


def count_ties(query: Codes, target: Codes, costs: Costs) -> tuple[int, int]:
    """Return the best score, and how many alignments have it and at least one column."""
    if costs.mode == "local":
        best = max(score for score, _ in _local_ends(query, target, costs, None))
        ends = _local_ends(query, target, costs, best)
        return best, sum(count for score, count in ends if score == best > 0)
    height, width = len(query), len(target)
    rest = _rest_of(query, target, costs)
    found = []
    for i, j in [*((i, 0) for i in range(height + 1)), *((0, j) for j in range(1, width + 1))]:
        gap = ROW_START if i else COLUMN_START
        start = _end_score(gap, i + j, costs) if i + j else 0
        score, count = rest(i, j, "")
        is_gaps_alone = (i, j) in {(height, 0), (0, width)}
        end = COLUMN_END if i else ROW_END
        if not (is_gaps_alone and _is_free(gap, costs) and _is_free(end, costs)):
            found.append((start + score, count))
        else:
            found.append((start + score, 0))
    return _best_of(found)


def _best_of(found: list[tuple[int, int]]) -> tuple[int, int]:
    best = max(score for score, _ in found)
    return best, sum(count for score, count in found if score == best)


def _rest_of(query: Codes, target: Codes, costs: Costs) -> Callable[..., tuple[int, int]]:
    """Return what says the best that columns from a cell on score, and how many ways do."""
    height, width = len(query), len(target)

    @cache
    def rest(i: int, j: int, last: str) -> tuple[int, int]:
        if i == height or j == width:
            end, size = (COLUMN_END, width - j) if i == height else (ROW_END, height - i)
            return (_end_score(end, size, costs) if size else 0), 1
        steps = [("M", int(costs.matrix[query[i]][target[j]]), i + 1, j + 1)]
        for letter, inside, to in (("I", j > 0, (i + 1, j)), ("D", i > 0, (i, j + 1))):
            cost = costs.gap_extend if last == letter else costs.gap_open
            steps += [(letter, -cost, *to)] if inside else []
        found = []
        for letter, score, *to in steps:
            more, count = rest(*to, letter)
            found.append((score + more, count))
        return _best_of(found)

    return rest


def _local_ends(
    query: Codes, target: Codes, costs: Costs, best: int | None
) -> Iterator[tuple[int, int]]:
    """Yield the best score of columns up to each cell that score more than 0, and how many do.

    None goes on where it has scored `best`.
    """
    yield 0, 1
    cells: dict[tuple[int, int, str], tuple[int, int]] = {}
    for i in range(1, len(query) + 1):
        for j in range(1, len(target) + 1):
            pair = int(costs.matrix[query[i - 1]][target[j - 1]])
            for letter, di, dj in (("M", 1, 1), ("I", 1, 0), ("D", 0, 1)):
                found = [(pair, 1)] if letter == "M" else []
                for last in "MID":
                    score, count = cells.get((i - di, j - dj, last), (0, 0))
                    cost = costs.gap_extend if last == letter else costs.gap_open
                    more = pair if letter == "M" else -cost
                    if score > 0:
                        found.append((score + more, count))
                if found and _best_of(found)[0] > 0:
                    score, count = _best_of(found)
                    yield score, count
                    cells[i, j, letter] = score, 0 if score == best else count
