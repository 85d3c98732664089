"""Both strands: what is aligned with a reverse complement, and how it comes back."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from checks import assert_same, costs_of, found_alignment, windows_of
from conftest import ALIGNING, examples, open_cpu
from cuda_engines import open_on
from hypothesis import given, settings
from hypothesis import strategies as st
from strand_problems import other_strand, problems, run_minus
from strategies import MODES, SEEDS, Problem, make_scoring, match_matrix, random_sequences

from pairalign.engines import Engine
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.engines.kernels import find_kernel
from pairalign.pairs.want import Detail, Want
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.complement import reverse_complement


def expected_minus(problem: Problem, query: int, target: int) -> reference.Expected:
    """The reference's alignment of a pair of which one sequence is given reverse-complemented.

    That is the one that does not run along the rows.
    """
    sets = problem.sets()
    a, b = sets[0].codes_of(query), sets[-1].codes_of(target)
    swapped = reference.is_swapped(a, b)
    target_turned = not swapped
    if target_turned:
        b = reverse_complement(b, DNA)
    else:
        a = reverse_complement(a, DNA)
    found = reference.align(a, b, costs_of(problem.scoring), swapped=swapped)
    if not found.cigar:
        return found
    if not target_turned:
        return replace(
            found, query_start=len(a) - found.query_end, query_end=len(a) - found.query_start
        )
    return replace(
        found,
        target_start=len(b) - found.target_end,
        target_end=len(b) - found.target_start,
        cigar="".join(re.findall(r"\d+\D", found.cigar)[::-1]),
    )


def assert_as_expected(problem: Problem, found: Alignments, at_most: int = 60) -> None:
    assert found.strand is not None
    assert (found.strand == -1).all()
    chosen = np.arange(len(found))
    if len(chosen) > at_most:
        chosen = np.random.default_rng(len(found)).choice(chosen, at_most, replace=False)
    for k in chosen.tolist():
        query, target = int(found.query[k]), int(found.target[k])
        expected = expected_minus(problem, query, target)
        assert found_alignment(found, k) == expected, (query, target, problem)


@settings(max_examples=examples(25))
@given(problem=problems)
def test_the_minus_strand_is_that_of_the_reference(problem):
    assert_as_expected(problem, run_minus(open_cpu, problem))


@settings(max_examples=examples(8))
@given(problem=problems, window=st.integers(1, 40), threads=st.integers(1, 3))
def test_nothing_but_the_pair_decides_the_minus_strand(problem, window, threads):
    def by_pair(found: Alignments) -> dict[tuple[int, int], tuple[object, ...]]:
        return {
            (int(q), int(t)): (found_alignment(found, k), int(found.strand[k]))
            for k, (q, t) in enumerate(zip(found.query, found.target, strict=True))
        }

    found = by_pair(run_minus(open_cpu, problem))
    others = [{"instruction_set": name} for name in instruction_sets()]
    for options in (*others, {"threads": threads}, {"long_pairs": "always"}):
        assert by_pair(run_minus(open_cpu, problem, window=window, **options)) == found, options


@settings(max_examples=examples(20))
@given(
    problem=problems,
    detail=st.sampled_from(list(Detail)),
    seed=SEEDS,
    share=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    strand=st.sampled_from([1, -1]),
    scored=st.booleans(),
)
def test_only_the_pairs_to_keep_are_aligned(problem, detail, seed, share, strand, scored):
    rng = np.random.default_rng(seed)
    sets = problem.sets()
    engine = open_cpu(sets, problem.scoring)
    try:
        lengths = [len(one) for one in sets] + [None]
        (window,) = windows_of(lengths[0], lengths[1], 1 << 20)
        window = replace(window, strand=strand)
        every = engine.align(window, Want(detail))
        pair_mask = rng.random(window.pairs) < share
        minimum = int(np.median(every.raw_score)) if scored else None
        expected = pair_mask if minimum is None else pair_mask & (every.raw_score >= minimum)
        found = engine.align(window, Want(detail, minimum), pair_mask)
        assert_same(every.take(expected), found, detail, problem)
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("family", "mode"),
    [
        (name, mode)
        for name in ALIGNING
        for mode in MODES
        if mode in find_kernel(name, "cuda").modes
    ],
)
def test_devices_align_the_minus_strand(device, family, mode):
    def open_device(sets: Any, scoring: Scoring) -> Engine:
        return open_on(device, sets, scoring, family=family)

    rng = np.random.default_rng(3)
    scoring = make_scoring(DNA, mode, 5, 2, match_matrix(DNA, 2, -3))
    first = tuple(random_sequences(rng, "ACGTRN", 10, 70, "mixed"))
    second = tuple(random_sequences(rng, "AC", 7, 60, "near"))  # whose complements are others
    for problem in (Problem(first, None, scoring), Problem(first, second, scoring)):
        expected = run_minus(open_cpu, problem, window=8)
        found = run_minus(open_device, problem, window=8)
        assert_same(expected, found, note=problem)
        assert (found.strand == -1).all()
        pair_mask = rng.random(len(expected)) < 0.3
        kept = run_minus(open_device, problem, window=8, pair_mask=pair_mask)
        assert_same(expected.take(pair_mask), kept, note=problem)


def test_a_device_that_is_short_of_memory_asks_the_host(device):
    """What the CPU aligns for it must not be turned twice."""
    rng = np.random.default_rng(5)
    reads = random_sequences(rng, "ACGT", 9, 900, "mixed")
    problem = Problem(
        tuple(reads), None, make_scoring(DNA, "semiglobal", 5, 2, match_matrix(DNA, 2, -3))
    )

    def open_small(sets: Any, scoring: Scoring) -> Engine:
        return open_on(device, sets, scoring, family="pair-per-thread", memory_bytes=1 << 20)

    assert_same(run_minus(open_cpu, problem), run_minus(open_small, problem))


def test_complements():
    letters = "ACGTRYSWKMBDHVN"
    codes = DNA.encoding[np.frombuffer(letters.encode(), np.uint8)]
    back = "".join(DNA.letters[c] for c in reverse_complement(codes, DNA))
    assert back == other_strand(letters)
    assert (reverse_complement(reverse_complement(codes, DNA), DNA) == codes).all()


def test_the_view_shows_the_other_strand():
    scoring = make_scoring(DNA, "semiglobal", 5, 2, match_matrix(DNA, 2, -3))
    query, target = "GGGGGACTTGGCCTGCA", "TTACGTTGCAGGATCCAAGTC"
    one = run_minus(open_cpu, Problem((query, target), None, scoring))[0]
    assert one.strand == -1
    assert (one.query_start, one.query_end, one.target_start, one.target_end) == (4, 17, 6, 21)
    assert one.cigar == "6=2D7="
    rows = ("------TGCAGG--CCAAGTCCCCC", "TTACGTTGCAGGATCCAAGTC----")
    assert one.rows() == rows
    assert str(one).splitlines() == [
        "seq1 x seq2, query reverse-complemented",
        "score 19, 13 of 15 columns identical (86.7%), 2 residues in 1 gaps",
        "",
        "seq1 17 ------TGCAGG--CCAAGTCCCCC 1",
        "              ||||||  |||||||",
        "seq2  1 TTACGTTGCAGGATCCAAGTC---- 21",
    ]
    converted = one.to_biopython()
    assert str(converted.query.seq) == query
    assert (converted[1], converted[0]) == rows
    assert converted.coordinates[1].tolist() == [17, 17, 11, 11, 4, 0]
