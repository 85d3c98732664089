"""Running an engine on a problem, and comparing what it returns with the reference."""

import hashlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import reference
from strategies import Problem

from pairalign.alignments import alignments
from pairalign.engines import Engine
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import Scoring

OpenEngine = Callable[..., Engine]

SCORE_FIELDS = ("query", "target", "raw_score")
STATS_FIELDS = (
    *("query_start", "query_end", "target_start", "target_end"),
    *("matches", "mismatches", "gap_openings", "gap_residues"),
)
CIGAR_FIELDS = ("cigar", "cigar_offsets")
CIGAR_CODES = "MIDNSHP=X"
CELLS_AT_ONCE = 1 << 18
"""Of the reference's matrices of pairs."""


def windows_of(rows: int, columns: int | None, size: int) -> Iterator[Window]:
    """Square windows, row by row; `columns` is None for one set against itself."""
    width = rows if columns is None else columns
    index = 0
    for row in range(0, rows, size):
        for column in range(row if columns is None else 0, width, size):
            row_stop, column_stop = min(row + size, rows), min(column + size, width)
            yield Window(index, row, row_stop, column, column_stop, columns is None)
            index += 1


def run(
    open_engine: OpenEngine,
    problem: Problem,
    want: Want | None = None,
    window: int = 1 << 20,
    **options: object,
) -> Alignments:
    """Align every pair of a problem."""
    want = want or Want(Detail.CIGAR)
    sets = problem.sets()
    lengths = [len(one) for one in sets] + [None]
    engine = open_engine(sets, problem.scoring, **options)
    try:
        parts = [engine.align(w, want) for w in windows_of(lengths[0], lengths[1], window)]
    finally:
        engine.close()
    return concatenate(parts)


def concatenate(parts: Sequence[alignments.Alignments]) -> Alignments:
    """Join what engines and jobs return, as results that show pairs."""
    return Alignments.of(alignments.concatenate(parts))


def columns_of(found: Alignments, detail: Detail = Detail.CIGAR) -> dict[str, np.ndarray]:
    """The columns that alignments of the given detail have."""
    names = SCORE_FIELDS
    if detail >= Detail.STATS:
        names += STATS_FIELDS
    if detail >= Detail.CIGAR:
        names += CIGAR_FIELDS
    return {name: getattr(found, name) for name in names}


def assert_same(
    left: Alignments, right: Alignments, detail: Detail = Detail.CIGAR, note: object = ""
) -> None:
    """Both hold the same bytes in every column of `detail`."""
    for name, column in columns_of(left, detail).items():
        other = getattr(right, name)
        assert column.dtype == other.dtype, (name, note)
        assert column.shape == other.shape, (name, note)
        if not np.array_equal(column, other):
            at = np.flatnonzero(column != other)[:3]
            raise AssertionError(f"{name} at {at}: {column[at]} and {other[at]} {note}")


def by_pair(found: Alignments) -> dict[tuple[int, int], tuple]:
    """Everything about each pair, whatever the order of the pairs."""
    offsets = found.cigar_offsets
    rows = zip(*(getattr(found, n).tolist() for n in SCORE_FIELDS + STATS_FIELDS), strict=True)
    return {
        (row[0], row[1]): (*row[2:], found.cigar[offsets[k] : offsets[k + 1]].tobytes())
        for k, row in enumerate(rows)
    }


def cigar_text(runs: np.ndarray) -> str:
    """The text of CIGAR runs; decoded here so as not to trust the code under test."""
    return "".join(f"{run >> 4}{CIGAR_CODES[run & 15]}" for run in runs.tolist())


def found_alignment(found: Alignments, k: int) -> reference.Expected:
    """Alignment number `k` in the terms of the reference."""
    runs = found.cigar[found.cigar_offsets[k] : found.cigar_offsets[k + 1]]
    stats = {name: int(getattr(found, name)[k]) for name in STATS_FIELDS}
    return reference.Expected(score=int(found.raw_score[k]), cigar=cigar_text(runs), **stats)


def costs_of(scoring: Scoring) -> reference.Costs:
    """The scoring as the reference takes it."""
    return reference.Costs(
        scoring.matrix.astype(np.int64),
        scoring.gap_open,
        scoring.gap_extend,
        scoring.mode,
        scoring.alphabet.unambiguous,
        ()
        if scoring.end_gaps is None
        else tuple((one.open, one.extend) for one in scoring.end_gaps.costs),
        "usual" if scoring.end_gaps is None else scoring.end_gaps.ties,
    )


def assert_every_pair(problem: Problem, found: Alignments) -> None:
    """The pairs are those of the sets, each once, the query being the earlier of the two."""
    n = len(problem.first)
    if problem.second is None:
        expected = {(i, j) for i in range(n) for j in range(i + 1, n)}
    else:
        expected = {(i, j) for i in range(n) for j in range(len(problem.second))}
    pairs = list(zip(found.query.tolist(), found.target.tolist(), strict=True))
    assert len(pairs) == len(expected)
    assert set(pairs) == expected


def align_pairs(
    pairs: Sequence[tuple[reference.Codes, reference.Codes]], costs: reference.Costs
) -> list[reference.Expected]:
    """`reference.align` of each pair, with their matrices filled together."""
    found: dict[int, reference.Expected] = {}
    for swapped in (False, True):
        numbers = [k for k, pair in enumerate(pairs) if reference.is_swapped(*pair) == swapped]
        numbers.sort(key=lambda k: max(map(len, pairs[k])))
        turned = costs.turned() if swapped else costs
        while numbers:
            count = max(1, CELLS_AT_ONCE // (1 + max(map(len, pairs[numbers[-1]]))) ** 2)
            numbers, batch = numbers[:-count], numbers[-count:]
            sides = [pairs[k][::-1] if swapped else pairs[k] for k in batch]
            for k, side, filled in zip(
                batch, sides, reference.fill_by_rows(sides, turned), strict=True
            ):
                found[k] = reference.read_out(filled, *side, turned, swapped)
    return [found[k] for k in range(len(pairs))]


_expected: dict[tuple[bytes, bytes, bytes], reference.Expected] = {}
"""What the reference has found before: every engine goes through the same examples."""


def assert_as_reference(problem: Problem, found: Alignments, at_most: int = 300) -> None:
    """Each alignment (of many pairs: a random choice of them) is the one of the reference."""
    sets = problem.sets()
    costs = costs_of(problem.scoring)
    scoring = repr(
        (costs.gap_open, costs.gap_extend, costs.mode, costs.unambiguous, costs.ends)
    ).encode()
    scoring += hashlib.sha256(costs.matrix.tobytes()).digest()
    chosen = np.arange(len(found))
    if len(chosen) > at_most:
        chosen = np.random.default_rng(len(found)).choice(chosen, at_most, replace=False)
    pairs = [(int(found.query[k]), int(found.target[k])) for k in chosen.tolist()]
    codes = [(sets[0].codes_of(i), sets[-1].codes_of(j)) for i, j in pairs]
    keys = [(query.tobytes(), target.tobytes(), scoring) for query, target in codes]
    unknown = {key: pair for key, pair in zip(keys, codes, strict=True) if key not in _expected}
    expected = align_pairs(list(unknown.values()), costs)
    _expected.update(zip(unknown, expected, strict=True))
    for k, (i, j), key in zip(chosen.tolist(), pairs, keys, strict=True):
        assert found_alignment(found, k) == _expected[key], (
            f"pair {i}, {j}: {sets[0][i].residues!r} against "
            f"{sets[-1][j].residues!r} in {problem!r}"
        )


def assert_equal(one: Alignments, two: Alignments, names: bool = True) -> None:
    """The same pairs, in the same order, with the same results."""
    for name in (*SCORE_FIELDS, *STATS_FIELDS, "cigar", "cigar_offsets"):
        first, second = getattr(one, name), getattr(two, name)
        assert (first is None) == (second is None), name
        assert first is None or np.array_equal(first, second), name
    if names:
        for sets in ((one.queries, two.queries), (one.targets, two.targets)):
            assert sets[0].names == sets[1].names
