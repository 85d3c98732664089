"""Greedy clusters that align the most similar first: the bounds hold, the clusters are the same."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from relatives import COSTS, change, relatives

from pairalign.alignments.identities import count_identity
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Int32s
from pairalign.clusters.edge_clustering import GreedyLinkage
from pairalign.engines.cpu import representative_index
from pairalign.engines.cpu.cpu_engine import instruction_set_of, instruction_sets
from pairalign.engines.cpu.cpu_pair_filter import Grams, PairFilter
from pairalign.engines.cpu.representative_index import Representatives
from pairalign.jobs.clusters import greedy
from pairalign.jobs.clusters.cluster import cluster
from pairalign.jobs.clusters.greedy import GreedyClustering
from pairalign.jobs.run.align_all import align
from pairalign.pairs.want import Detail
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.sets import SequenceSet

SHARES = [Fraction(share, 100) for share in (60, 80, 90, 95, 97, 100)]
RULES = (
    ("columns", "global", False),
    ("columns", "semiglobal", True),
    ("internal", "global", True),
    ("internal", "semiglobal", True),
    *((whole, mode, False) for whole in ("full", "longer", "mean") for mode in ("global", "local")),
)
DNA_COSTS = [*COSTS, {"match": 1, "mismatch": -1, "gap_open": 2, "gap_extend": 2}]


def near(seed: int, alphabet: str, longest: int, rate: float) -> SequenceSet:
    """Relatives, ends of them, copies, and sequences of a residue or a few, in canonical order."""
    rng = np.random.default_rng(seed)
    made = [one.residues for one in relatives(alphabet, seed, 24, longest, rate)]
    made += made[:2] + [one[: rng.integers(1, 5)] for one in made[:4]]
    made += [made[0][:3] + letter + made[0][4:] for letter in "ACGT"]
    made += ["N" if alphabet == "dna" else "X"] * 2
    given = SequenceSet.from_strings(made, alphabet=alphabet)
    return given.reordered(given.canonical_order())


@st.composite
def problems(draw: st.DrawFn) -> tuple[SequenceSet, Scoring, PairThresholds]:
    alphabet = draw(st.sampled_from(["dna", "protein"]))
    whole, mode, covered = draw(st.sampled_from(RULES))
    coverage = draw(st.sampled_from(SHARES)) if covered else Fraction(0)
    thresholds = PairThresholds(draw(st.sampled_from(SHARES)), whole, coverage, "aligned")
    costs = draw(st.sampled_from(DNA_COSTS if alphabet == "dna" else COSTS))
    given = near(draw(st.integers(0, 1 << 30)), alphabet, 50, draw(st.sampled_from([0.05, 0.2])))
    return given, make_scoring(alphabet, mode=mode, **costs), thresholds


@settings(max_examples=examples(150), deadline=None)
@given(problem=problems(), letters=st.integers(2, 9))
def test_candidates(problem, letters):
    """All pairs that pass are candidates; none is more similar than its bound, or than is known."""
    sequences, scoring, thresholds = problem
    pair_filter = PairFilter(
        Problem(sequences, None, scoring), thresholds, None, threads=1, grams=Grams.NONE
    )
    index = pair_filter.open_representatives(letters)
    assert index.residues == letters
    compare_candidates(index, *problem)
    index.close()
    pair_filter.close()


def compare_candidates(
    index: Representatives, sequences: SequenceSet, scoring: Scoring, thresholds: PairThresholds
) -> None:
    """All pairs that pass are candidates; bounds and what is known hold."""
    count = len(sequences)
    index.add(np.arange(count, dtype=np.int32))
    nothing = GreedyLinkage(count)
    found = index.find(0, count, 0, nothing.best, nothing.leaders())
    ends = zip(found.rows.tolist(), found.columns.tolist(), strict=True)
    bounds = dict(
        zip(ends, zip(found.parts.tolist(), found.wholes.tolist(), strict=True), strict=True)
    )
    assert len(bounds) == len(found) <= index.found
    every = align(sequences, scoring=scoring, device="cpu", threads=1)
    parts, wholes = count_identity(every, thresholds.identity_of)
    passing = set(thresholds.passing(every).tolist())
    known = {pair for pair, is_known in zip(bounds, found.are_known, strict=True) if is_known}
    for place, (row, column) in enumerate(
        zip(every.query.tolist(), every.target.tolist(), strict=True)
    ):
        if place in passing:
            part, whole = bounds[row, column]
            assert parts[place] * whole <= part * wholes[place]
        if (row, column) in known:
            part, whole = bounds[row, column]
            assert place in passing
            assert parts[place] * whole == part * wholes[place]


@st.composite
def problems_of_lanes(draw: st.DrawFn) -> tuple[SequenceSet, Scoring, PairThresholds]:
    alphabet = draw(st.sampled_from(["dna", "protein"]))
    whole = draw(st.sampled_from(["shorter", "longer", "mean", "full", "columns"]))
    mode = draw(st.sampled_from(["global", "semiglobal", "local", "end-gaps"]))
    coverage = draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(9, 10)]))
    thresholds = PairThresholds(draw(st.sampled_from(SHARES)), whole, coverage, "aligned")
    costs = draw(st.sampled_from(DNA_COSTS if alphabet == "dna" else COSTS))
    longest = draw(st.sampled_from([30, 90, 140]))  # residues: one word, and several
    given = near(
        draw(st.integers(0, 1 << 30)), alphabet, longest, draw(st.sampled_from([0.05, 0.2]))
    )
    if mode == "end-gaps":
        at_ends = min(1, float(costs.get("gap_open", 1)))
        mode, costs = "global", {**costs, "end_gap_open": at_ends, "end_gap_extend": 0}
    return given, make_scoring(alphabet, mode=mode, **costs), thresholds


@pytest.mark.parametrize("isa", instruction_sets())
@settings(max_examples=examples(40), deadline=None)
@given(problem=problems_of_lanes())
def test_candidates_in_lanes(isa, problem):
    """As by seeds; a sequence that is a start and an end of another is known to match."""
    sequences, scoring, thresholds = problem
    pair_filter = PairFilter(
        Problem(sequences, None, scoring), thresholds, None, threads=2, grams=Grams.NONE
    )
    assert pair_filter._handle
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(representative_index, "LEAST_DROPPED", 0)
        index = representative_index.open_lane_index(pair_filter._handle, isa)
    compare_candidates(index, *problem)
    index.close()
    pair_filter.close()


def plainly(
    sequences: SequenceSet, scoring: Scoring, thresholds: PairThresholds, order: list[int]
) -> list[int]:
    """Greedy clusters by their definition; sequences become representatives in an order."""
    every = align(sequences, scoring=scoring, device="cpu", threads=1)
    passing = every.take(thresholds.passing(every))
    ends = zip(passing.query.tolist(), passing.target.tolist(), strict=True)
    shares = zip(*count_identity(passing, thresholds.identity_of), strict=True)
    identities = {
        frozenset(pair): Fraction(int(part), int(whole))
        for pair, (part, whole) in zip(ends, shares, strict=True)
    }
    leaders = list(range(len(sequences)))
    representatives: list[int] = []
    for place in order:
        near = [one for one in representatives if frozenset((one, place)) in identities]
        if near:
            leaders[place] = max(near, key=lambda one: identities[frozenset((one, place))])
        else:
            representatives.append(place)
    return leaders


def orders(sequences: SequenceSet, seed: int | None) -> Int32s:
    """Places in their order, or in another."""
    count = len(sequences)
    made = np.arange(count) if seed is None else np.random.default_rng(seed).permutation(count)
    return made.astype(np.int32)


@settings(max_examples=examples(80), deadline=None)
@given(
    problem=problems(),
    letters=st.integers(2, 9),
    block=st.sampled_from([1, 3, 8, 1000]),
    chunk=st.sampled_from([1, 4, 512]),
    threads=st.sampled_from([1, 2]),
    seed=st.none() | st.integers(0, 99),
)
def test_same_clusters_as_by_definition(problem, letters, block, chunk, threads, seed):
    sequences, scoring, thresholds = problem
    order = orders(sequences, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy, "_BLOCK", block)
        patch.setattr(greedy, "_CHUNK", chunk)
        made = GreedyClustering(
            sequences,
            scoring,
            thresholds,
            Detail.CIGAR if thresholds.identity_of == "internal" else Detail.STATS,
            Resources(device="cpu", threads=threads, memory=1 << 28),
            None if seed is None else order,
        )
        leaders = made.find_leaders(letters)
    assert leaders.tolist() == plainly(*problem, order.tolist())
    steps = made.steps
    assert steps.pairs == steps.seedless + steps.possible
    assert steps.possible >= steps.common >= steps.beatable == steps.known + steps.scoring
    assert steps.scoring >= steps.passing


@pytest.mark.parametrize("isa", instruction_sets())
@settings(max_examples=examples(40), deadline=None)
@given(
    problem=problems_of_lanes(),
    block=st.sampled_from([1, 3, 8, 1000]),
    candidates=st.sampled_from([1, 40, 1 << 22]),
    seed=st.none() | st.integers(0, 99),
)
def test_same_clusters_by_lanes(isa, problem, block, candidates, seed):
    sequences, scoring, thresholds = problem
    order = orders(sequences, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAIRALIGN_ISA", isa)
        patch.setattr(representative_index, "LEAST_DROPPED", 0)
        patch.setattr(greedy, "_BLOCK", block)
        patch.setattr(greedy, "_MOST_CANDIDATES", candidates)
        patch.setattr(PairFilter, "open_representatives", open_lanes)
        resources = Resources(device="cpu", threads=2, memory=1 << 28)
        made = GreedyClustering(
            *(sequences, scoring, thresholds, Detail.STATS, resources),
            None if seed is None else order,
        )
        leaders = made.find_leaders()
    assert leaders.tolist() == plainly(*problem, order.tolist())
    steps = made.steps
    assert steps.pairs >= steps.possible >= steps.common >= steps.beatable
    assert steps.beatable == steps.known + steps.scoring


def open_lanes(pair_filter: PairFilter, letters: int) -> Representatives | None:
    assert pair_filter._handle
    return representative_index.open_lane_index(pair_filter._handle, instruction_set_of(None))


def test_what_subsequences_do_not_drop_is_not_for_lanes():
    """Half of the residues in common is what unrelated DNA has."""
    rng = np.random.default_rng(4)
    made = ["".join(rng.choice(list("ACGT"), 90)) for _ in range(60)]
    given = SequenceSet.from_strings(made, alphabet="dna")
    for share, is_open in ((Fraction(1, 2), False), (Fraction(9, 10), True)):
        thresholds = PairThresholds(share, "shorter")
        taken = Problem(given, None, make_scoring("dna")), thresholds, None
        pair_filter = PairFilter(*taken, threads=1, grams=Grams.NONE)
        index = pair_filter.open_representatives()
        assert (index is not None) == is_open
        if index is not None:
            index.close()
        pair_filter.close()


def test_the_best_come_first():
    """A copy of a representative is aligned with no other; nor is what differs in two bases."""
    rng = np.random.default_rng(3)
    origin = "".join(rng.choice(list("ACGT"), 100))
    others = [change(rng, "ACGT", origin, 0.05)[:99] for _ in range(20)]
    near_origin = ("T" if origin[0] != "T" else "A") + origin[1:]
    given = SequenceSet.from_strings([origin, origin, near_origin, *others], alphabet="dna")
    given = given.reordered(given.canonical_order())
    made = GreedyClustering(
        given,
        make_scoring("dna"),
        PairThresholds(Fraction(97, 100)),
        Detail.STATS,
        Resources(device="cpu", threads=1),
    )
    leaders = made.find_leaders(8)
    assert leaders[:3].tolist() == [0, 0, 0]
    assert made.steps.known >= 2


def test_local_ends_have_no_bound():
    """A local alignment ends where it likes, so that errors beside a seed say nothing."""
    given = near(1, "dna", 40, 0.1)
    thresholds = PairThresholds(Fraction(97, 100), "columns", Fraction(9, 10), "aligned")
    scoring = make_scoring("dna", mode="local")
    made = GreedyClustering(given, scoring, thresholds, Detail.STATS, Resources(device="cpu"))
    leaders = made.find_leaders(4)
    assert leaders.tolist() == plainly(given, scoring, thresholds, list(range(len(given))))
    assert made.steps.seed == 0  # by common subsequences


@pytest.mark.parametrize("rule", [("columns", None), ("internal", "0.9"), ("shorter", None)])
def test_the_command_has_the_same_clusters(rule, monkeypatch):
    rng = np.random.default_rng(5)
    origins = ["".join(rng.choice(list("ACGT"), rng.integers(60, 90))) for _ in range(9)]
    reads = [change(rng, "ACGTN", origins[k % 9], 0.03) for k in range(400)]
    reads += [one[: rng.integers(1, 41)] for one in reads[:40]] + reads[:20]
    reads += [one.lower() for one in reads[20:30]]
    asked = {"min_identity": "97%", "identity_of": rule[0], "min_coverage": rule[1]}
    expected = cluster(reads, **asked, device="cpu")
    monkeypatch.setattr(greedy, "LEAST_SEQUENCES", 2)
    found = cluster(reads, **asked, device="cpu")
    for name in ("labels", "representatives", "order"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


def test_it_is_for_cores_and_high_identities():
    given, sure = near(2, "dna", 60, 0.1), PairThresholds(Fraction(97, 100))
    many = SequenceSet.from_strings(["ACGT"] * greedy.LEAST_SEQUENCES, alphabet="dna")
    on_cores = Resources(device="cpu")
    assert greedy.may_be_greedy(many, sure, on_cores)
    assert greedy.may_be_greedy(many, sure, replace(on_cores, kernel="auto"))
    assert not greedy.may_be_greedy(given, sure, on_cores)
    assert not greedy.may_be_greedy(many, PairThresholds(Fraction(94, 100)), on_cores)
    assert greedy.may_be_greedy(many, PairThresholds(Fraction(94, 100), "shorter"), on_cores)
    assert not greedy.may_be_greedy(many, sure, Resources(device="opencl"))
    assert not greedy.may_be_greedy(many, sure, replace(on_cores, kernel="byte"))
