"""Suboptimal alignments of a pair: against the plain reference, on every instruction set."""

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same, costs_of, found_alignment
from conftest import examples
from overlapping import GENOME, changed

import pairalign
from pairalign.alignments.problem import Problem
from pairalign.engines import EngineRequest
from pairalign.engines.cpu import suboptimal
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.engines.cpu.suboptimal import SuboptimalAligner
from pairalign.engines.selection import open_engines
from pairalign.errors import DeviceError
from pairalign.jobs.overlaps.stages import OverlapThresholds
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.results.alignments_result import Alignments
from pairalign.sequences.sets import SequenceSet

SCORINGS = {
    "simple": {"match": 1, "mismatch": -1, "gap_open": 2, "gap_extend": 1},
    "linear": {"match": 2, "mismatch": -3, "gap_open": 2, "gap_extend": 2},
    "free gaps": {"match": 1, "mismatch": -1, "gap_open": 0, "gap_extend": 0},
    "matrix": {"matrix": "NUC.4.4", "gap_open": 6, "gap_extend": 1},
    "wide": {"match": 9000, "mismatch": -9000, "gap_open": 9000, "gap_extend": 1},
}


def repetitive(seed: int, alphabet: str = "ACGT") -> list[str]:
    """Short sequences of few different words, and ambiguous letters: many alignments, many ties."""
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list(alphabet), 4)) for _ in range(3)]
    return ["".join(rng.choice([*words, "N"], int(rng.integers(2, 8)))) for _ in range(4)]


def every(reads: SequenceSet, scoring: pairalign.Scoring, isa: str, most: int) -> list[Alignments]:
    """All pairs, then their next alignments for as long as there are any of some pair."""
    window = Window(0, 0, len(reads), 0, len(reads), True)
    known = [pairalign.align(reads, scoring=scoring, device="cpu")]
    aligner = SuboptimalAligner(reads, reads, scoring, 2, isa)
    alive = np.flatnonzero(known[0].raw_score > 0)
    chains = {int(k): [known[0].take([k])] for k in alive}
    while len(alive) and len(chains[int(alive[0])]) < most:
        depth = max(len(chains[int(k)]) for k in alive)
        layers = [
            pairalign.alignments.alignments.concatenate([chains[int(k)][d] for k in alive])
            for d in range(depth)
        ]
        found, numbers = aligner.next_of(layers, window, 1)
        for place, number in enumerate(numbers):
            chains[int(alive[number])].append(found.take([place]))
        alive = alive[numbers]
    return [pairalign.alignments.alignments.concatenate(chain) for chain in chains.values()]


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("mode", ["local", "semiglobal"])
@pytest.mark.parametrize("name", SCORINGS)
def test_as_the_reference(name, mode, isa):
    scoring = pairalign.make_scoring("dna", mode=mode, **SCORINGS[name])
    checked = 0
    for seed in range(examples(6)):
        reads = SequenceSet.from_strings(repetitive(seed), alphabet="dna")
        for chain in every(reads, scoring, isa, 5):
            query, target = int(chain.query[0]), int(chain.target[0])
            expected = reference.align_all(
                reads.codes_of(query).tolist(),
                reads.codes_of(target).tolist(),
                costs_of(scoring),
                5,
            )
            assert [found_alignment(chain, k) for k in range(len(chain))] == expected
            checked += len(expected) > 1
    assert checked > 2 * examples(6)


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("limit", [60, 64, 127, 8000, 16384, 30000, 32768])
def test_no_cell_comes_again_at_the_limits_of_widths(limit, isa):
    """What is put in the place of a used cell is never positive, whatever letters score."""
    reads = SequenceSet.from_strings(["A", "AC", "ACA", "CAAC"], alphabet="dna")
    for match in (limit - 1, limit, limit + 1):
        for mismatch, gap_open, gap_extend in (
            (-1, 4005, 4000),
            (-limit, 1, 0),
            (-7, limit, limit),
        ):
            scoring = pairalign.make_scoring(
                "dna",
                mode="local",
                match=match,
                mismatch=mismatch,
                gap_open=gap_open,
                gap_extend=gap_extend,
            )
            for chain in every(reads, scoring, isa, 4):
                codes = [
                    reads.codes_of(int(one[0])).tolist() for one in (chain.query, chain.target)
                ]
                expected = reference.align_all(*codes, costs_of(scoring), 4)
                assert [found_alignment(chain, k) for k in range(len(chain))] == expected


COSTS: list[dict[str, Any]] = [
    {},
    {"gap_open": 3, "gap_extend": 0},
    {"gap_open": 1, "gap_extend": 1},
]


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("costs", COSTS)
def test_pairs_with_the_same_columns_are_filled_together(costs, isa):
    """More than lanes, of several lengths, with ties and scores beyond 8 bits: as one by one."""
    rng = np.random.default_rng(7)
    proteins = ["".join(rng.choice(list("ACDWX"), int(n))) for n in rng.integers(28, 150, 70)]
    proteins[:5] = [protein + 26 * "W" for protein in proteins[:5]]
    proteins.append(26 * "W")
    reads = SequenceSet.from_strings(proteins, alphabet="protein")
    scoring = pairalign.make_scoring("protein", mode="local", **costs)
    window = Window(0, 0, len(reads), 0, len(reads), True)
    everything = pairalign.align(reads, scoring=scoring, device="cpu")
    aligner = SuboptimalAligner(reads, reads, scoring, 2, isa)
    scores: list[int] = []
    for column in reads.order[-2:].tolist():
        has_it = (everything.query == column) | (everything.target == column)
        layers = [everything.take(has_it & (everything.raw_score > 0))]
        for _ in range(3):
            together, numbers = aligner.next_of(layers, window, 1)
            layers = [layer.take(numbers) for layer in layers]
            for k in range(len(numbers)):
                alone, _ = aligner.next_of([one.take([k]) for one in layers], window, 1)
                assert found_alignment(together, k) == found_alignment(alone, 0)
            layers.append(together)
            scores += together.raw_score.tolist()
    assert min(scores) < 20
    assert max(scores) > 255


@pytest.mark.parametrize("isa", instruction_sets())
def test_the_environment_says_which_instruction_set(isa, monkeypatch):
    reads = SequenceSet.from_strings([2 * GENOME, GENOME])
    scoring = pairalign.make_scoring("dna", mode="local")
    first = pairalign.align(reads, scoring=scoring, device="cpu")
    monkeypatch.setenv("PAIRALIGN_ISA", isa)
    align, asked = suboptimal._align, []

    def noted(pairs: object, count: int, name: bytes, *arguments: object) -> int:
        asked.append(name.decode())
        return int(align(pairs, count, name, *arguments))

    monkeypatch.setattr(suboptimal, "_align", noted)
    found, _ = SuboptimalAligner(reads, reads, scoring, 1).next_of(
        [first], Window(0, 0, 2, 0, 2, True), 100
    )
    assert asked == [isa]
    assert found.raw_score.tolist() == [4000]
    monkeypatch.setenv("PAIRALIGN_ISA", "mmx")
    with pytest.raises(DeviceError, match="instruction set 'mmx' cannot run"):
        SuboptimalAligner(reads, reads, scoring, 1)


def test_cancelled(monkeypatch):
    reads = SequenceSet.from_strings([2 * GENOME, GENOME])
    scoring = pairalign.make_scoring("dna", mode="local")
    first = pairalign.align(reads, scoring=scoring, device="cpu")
    aligner = SuboptimalAligner(reads, reads, scoring, 1)
    window = Window(0, 0, 2, 0, 2, True)
    found, _ = aligner.next_of([first], window, 100)
    assert found.raw_score.tolist() == [4000]
    align = suboptimal._align

    def cancelled(*arguments: object) -> int:
        aligner.cancel()
        return int(align(*arguments))

    monkeypatch.setattr(suboptimal, "_align", cancelled)
    with pytest.raises(InterruptedError):
        aligner.next_of([first], window, 100)


@pytest.mark.parametrize("strand", [1, -1])
@pytest.mark.parametrize("run", [1, 3, 5, 8, 12, 40])
def test_pairs_without_a_run_on_free_cells_are_not_aligned(run, strand):
    scoring = pairalign.make_scoring("dna", mode="local", **SCORINGS["simple"])
    skipped = kept = 0
    for seed in range(examples(12)):
        reads = SequenceSet.from_strings(repetitive(seed), alphabet="dna")
        window = Window(0, 0, len(reads), 0, len(reads), True, strand)
        (engine,) = open_engines("cpu", EngineRequest(Problem(reads, None, scoring)))
        first = engine.align(window, Want(Detail.CIGAR))
        engine.close()
        first = first.take(first.raw_score > 0)
        aligner = SuboptimalAligner(reads, reads, scoring, 1)
        everything, numbers = aligner.next_of([first], window, 1)
        found, others = aligner.next_of([first], window, 1, run)
        left_out = set(numbers.tolist()) - set(others.tolist())
        for k, number in enumerate(numbers):
            if number in left_out:  # the alignment has no such run
                assert longest_run(everything, k) < run
        at = [numbers.tolist().index(number) for number in others.tolist()]
        assert_same(everything.take(at), found)
        skipped += len(left_out)
        kept += len(others)
    assert kept > 0 or run > 5
    assert skipped > 0 or run < 5


def longest_run(found: Alignments, number: int) -> int:
    runs = found.cigar[found.cigar_offsets[number] : found.cigar_offsets[number + 1]]
    return max((int(one >> 4) for one in runs if one & 15 == 7), default=0)


@pytest.mark.parametrize(("letters", "identity", "run"), [(500, "0.97", 31), (500, "0.64", 0)])
def test_the_run_that_thresholds_force(letters, identity, run):
    thresholds = OverlapThresholds(min_overlap=letters, min_identity=Fraction(identity))
    assert thresholds.forced_run == run
    if run:  # no alignment of so many columns or more gets by with shorter runs
        for columns in range(letters, 3 * letters):
            others = columns - math.ceil(thresholds.min_identity * columns)
            assert (others + 1) * (run - 1) < columns - others


# Sequences of several strips


def masked_matrices(
    rows: Any, columns: Any, used: set[tuple[int, int]], scoring: pairalign.Scoring
) -> tuple[Any, Any, Any]:
    """H, E and F of local alignments on free cells, an antidiagonal at a time."""
    m, n = len(rows), len(columns)
    h = np.zeros((m + 1, n + 1), np.int32)
    e, f = np.full_like(h, -(1 << 20)), np.full_like(h, -(1 << 20))
    scores = np.asarray(scoring.matrix, np.int32)[np.ix_(rows, columns)]
    for row, column in used:
        scores[row - 1, column - 1] = -(1 << 20)
    opening, extending = scoring.gap_open, scoring.gap_extend
    for d in range(2, m + n + 1):
        i = np.arange(max(1, d - n), min(m, d - 1) + 1)
        j = d - i
        e[i, j] = np.maximum(e[i, j - 1] - extending, h[i, j - 1] - opening)
        f[i, j] = np.maximum(f[i - 1, j] - extending, h[i - 1, j] - opening)
        aligned = h[i - 1, j - 1] + scores[i - 1, j - 1]
        h[i, j] = np.maximum(np.maximum(np.maximum(e[i, j], f[i, j]), aligned), 0)
    return h, e, f


def path_back(
    rows: Any, columns: Any, used: set[tuple[int, int]], scoring: pairalign.Scoring
) -> tuple[int, list[tuple[int, int]]]:
    """Score of the best alignment on free cells, and the letters that it puts together."""
    h, e, f = masked_matrices(rows, columns, used, scoring)
    score = int(h.max())
    ends = np.argwhere(h == score)
    row, column = min(ends.tolist(), key=lambda end: (end[1], end[0]))
    letters, state = [], "h"
    while True:
        if state == "h":
            if h[row, column] == 0:
                return score, letters[::-1]
            value = scoring.matrix[rows[row - 1], columns[column - 1]]
            free = (row, column) not in used
            if free and h[row, column] == h[row - 1, column - 1] + value:
                letters.append((row, column))
                row, column = row - 1, column - 1
                continue
            state = "e" if h[row, column] == e[row, column] else "f"
        gap = e if state == "e" else f
        before = (row, column - 1) if state == "e" else (row - 1, column)
        if gap[row, column] != gap[before] - scoring.gap_extend:
            state = "h"
        row, column = before


def residues_of(found: Alignments, pair: int) -> list[tuple[int, int]]:
    """Row and column, counted from 1, of the letters that an alignment puts together."""
    row, column = (int(found.field(f"{side}_start")[pair]) for side in ("query", "target"))
    letters = []
    for run in found.cigar[found.cigar_offsets[pair] : found.cigar_offsets[pair + 1]].tolist():
        operation, count = run & 15, run >> 4
        if operation in (7, 8):
            letters += [(row + k, column + k) for k in range(1, count + 1)]
        row += count if operation in (1, 7, 8) else 0
        column += count if operation in (2, 7, 8) else 0
    return letters


STRIPS_COSTS = [(1, -4, 6, 1), (1, -1, 2, 1), (20, -3, 5, 0)]


@cache
def through_strips(
    costs: tuple[int, ...],
) -> tuple[SequenceSet, pairalign.Scoring, list[tuple[int, list[tuple[int, int]]]]]:
    """Two long reads that share several pieces, and their four best alignments."""
    rng = np.random.default_rng(9)
    parts = ["".join(rng.choice(list("ACGT"), n)) for n in (600, 300, 90, 300)]
    one = parts[0] + parts[1] + parts[2] + parts[3] + "N" + parts[1][:200]
    other = changed(parts[1], 0.02, 3) + parts[3][:250] + parts[2] + changed(parts[0], 0.1, 5)
    reads = SequenceSet.from_strings([one, other], alphabet="dna")
    names = ("match", "mismatch", "gap_open", "gap_extend")
    scoring = pairalign.make_scoring("dna", mode="local", **dict(zip(names, costs, strict=True)))
    found: list[tuple[int, list[tuple[int, int]]]] = []
    for _ in range(4):
        used = {cell for _, letters in found for cell in letters}
        found.append(path_back(reads.codes_of(0), reads.codes_of(1), used, scoring))
    return reads, scoring, found


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("costs", STRIPS_COSTS)
def test_alignments_through_several_strips(costs, isa):
    """Scores beyond 8 bits and below them, from strip to strip and from tile to tile."""
    reads, scoring, expected = through_strips(costs)
    (chain,) = every(reads, scoring, isa, 4)
    assert chain.raw_score.tolist() == [score for score, _ in expected]
    for rank, (_, letters) in enumerate(expected):
        assert residues_of(chain, rank) == letters


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("match", [1, 3, 13, 60])
def test_strips_in_8_bits_are_as_those_in_16(match, isa):
    """Scores end below, at and above what 8 bits are trusted with, 191, and what they hold."""
    rng = np.random.default_rng(match)
    most = 260 // match + 2
    piece = "".join(rng.choice(list("ACGT"), most))
    at_limit = 0
    for limit in (191, 256):
        for matches in range(max(1, limit // match - 1), limit // match + 2):
            for start in (0, 512 - matches // 2, 513 - matches, 512):
                rest = (800 - start - matches) * "N"
                reads = SequenceSet.from_strings(
                    [start * "N" + piece[:matches] + rest + piece, piece], alphabet="dna"
                )
                found = []
                for times in (1, 61):  # costs above 60 take 16 bits
                    scoring = pairalign.make_scoring(
                        "dna",
                        mode="local",
                        match=match * times,
                        mismatch=-min(60, 2 * match) * times,
                        gap_open=min(60, 3 * match) * times,
                        gap_extend=match * times,
                    )
                    (chain,) = every(reads, scoring, isa, 3)
                    numbers = range(len(chain))
                    found.append(
                        [(chain.raw_score[k] // times, residues_of(chain, k)) for k in numbers]
                    )
                assert found[0] == found[1]
                at_limit += found[0][1][0] == matches * match
    assert at_limit >= 16
