"""What the index of seeds does not find cannot pass; with it results are the same bytes."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from relatives import change, relatives

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Int32s
from pairalign.engines.cpu.cpu_pair_filter import PairFilter
from pairalign.jobs.clusters.cluster import cluster
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.align_all import align
from pairalign.jobs.stages import threshold_engine
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

SHARES = [Fraction(share, 100) for share in (60, 80, 90, 95, 97, 100)]
RULES = (
    ("columns", "global", False),
    ("columns", "semiglobal", True),
    ("columns", "local", True),
    ("internal", "global", True),
    ("internal", "semiglobal", True),
    *((whole, mode, False) for whole in ("full", "longer", "mean") for mode in ("global", "local")),
)


def near(seed: int, alphabet: str, longest: int, rate: float) -> SequenceSet:
    """Relatives, ends of them, copies, and sequences of a residue or a few."""
    rng = np.random.default_rng(seed)
    made = [one.residues for one in relatives(alphabet, seed, 24, longest, rate)]
    made += made[:2] + [one[: rng.integers(1, 5)] for one in made[:4]]
    made += ["".join(one) for one in itertools.repeat("N" if alphabet == "dna" else "X", 2)]
    return SequenceSet.from_strings(made, alphabet=alphabet)


def places(found_queries: Int32s, found_targets: Int32s, sets: list[SequenceSet]) -> set[object]:
    rows, columns = (sets[0].positions[found_queries], sets[-1].positions[found_targets])
    if len(sets) == 1:
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


@settings(max_examples=examples(150))
@given(data=st.data())
def test_what_passes_is_found(data):
    alphabet = data.draw(st.sampled_from(["dna", "protein"]))
    seed, rate = data.draw(st.integers(0, 1 << 30)), data.draw(st.sampled_from([0.02, 0.1, 0.3]))
    whole, mode, covered = data.draw(st.sampled_from(RULES))
    coverage = data.draw(st.sampled_from(SHARES)) if covered else Fraction(0)
    thresholds = PairThresholds(data.draw(st.sampled_from(SHARES)), whole, coverage, "aligned")
    costs = data.draw(
        st.sampled_from([{}, {"gap_open": 0, "gap_extend": 0}, {"gap_open": 1, "gap_extend": 1}])
    )
    scoring = make_scoring(alphabet, mode=mode, **costs)
    queries = near(seed, alphabet, 60, rate)
    sets = [queries] if data.draw(st.booleans()) else [queries, near(seed, alphabet, 45, rate)]
    targets = sets[1] if len(sets) > 1 else None
    pair_filter = PairFilter(
        Problem(queries, targets, scoring),
        thresholds,
        None,
        threads=1,
        seeds=data.draw(st.integers(2, 12)),
    )
    first = data.draw(st.integers(0, 5))
    window = Window(0, first, len(queries), 0 if targets else 2, len(sets[-1]), targets is None)
    mask, looked_at = pair_filter.index.find(window)
    assert looked_at == window.pairs
    rows, columns = window.positions()
    is_found = dict(
        zip(zip(rows.tolist(), columns.tolist(), strict=True), mask.tolist(), strict=True)
    )
    every = align(queries, targets, scoring=scoring, device="cpu", threads=1)
    passing = every.take(thresholds.passing(every))
    for place in places(passing.query, passing.target, sets):
        assert is_found.get(place, True)  # type: ignore[call-overload]
    counts = pair_filter.index.count(window, 1, 7)
    by_column = np.bincount((columns[mask] - window.column_start) // 7, minlength=len(counts))
    assert counts.tolist() == by_column.tolist()
    reached = pair_filter.index.reach(window)
    assert not mask[columns >= reached.column_stop].any()
    pair_filter.close()


@pytest.mark.parametrize(
    ("whole", "coverage_of", "mode"),
    [
        ("shorter", "aligned", "global"),
        ("aligned", "aligned", "global"),
        ("mbl", "aligned", "global"),
        ("internal", "both", "global"),
        ("columns", "query", "local"),
    ],
)
def test_thresholds_that_permit_no_seeds(whole, coverage_of, mode):
    """Gaps cost nothing there, or ends do without coverage."""
    given = near(3, "dna", 40, 0.1)
    thresholds = PairThresholds(Fraction(97, 100), whole, Fraction(9, 10), coverage_of)
    scoring = make_scoring("dna", mode=mode)
    made = PairFilter(Problem(given, None, scoring), thresholds, None, threads=1, seeds=4)
    assert made.index is None
    made.choose(Window(0, 0, len(given), 0, len(given), True))


def test_identities_below_a_half_permit_no_seeds():
    given, thresholds = near(3, "dna", 40, 0.1), PairThresholds(Fraction(49, 100))
    scoring = make_scoring("dna")
    assert (
        PairFilter(Problem(given, None, scoring), thresholds, None, threads=1, seeds=4).index
        is None
    )


@pytest.fixture
def reads() -> SequenceSet:
    """Reads of 1 to 90 bases: copies, ends, IUPAC codes, lower case."""
    rng = np.random.default_rng(5)
    origins = ["".join(rng.choice(list("ACGT"), rng.integers(60, 90))) for _ in range(9)]
    made = [change(rng, "ACGTN", origins[k % 9], 0.03) for k in range(160)]
    made += [one[: rng.integers(1, 41)] for one in made[:40]] + made[:20]
    made += [one.lower() for one in made[20:30]]
    made += [one[:30] + "R" + one[31:] for one in made[30:40]]
    return SequenceSet.from_strings(made, alphabet="dna")


def with_seeds(patch: pytest.MonkeyPatch, letters: int) -> None:
    patch.setattr(threshold_engine.Requirement, "may_have_seeds", letters)


@pytest.mark.parametrize("letters", [4, 9])
@pytest.mark.parametrize("window", [7, 64, 1024])
def test_same_alignments_in_the_same_order(reads, letters, window, monkeypatch):
    thresholds = PairThresholds(Fraction(95, 100))
    made = (reads, None, make_scoring("dna"), Want())
    used = Resources(device="cpu", threads=2)
    given = {"window": window, "pair_thresholds": thresholds, "resources": used}
    expected = [part for part in AlignmentJob(*made, **given)]
    with_seeds(monkeypatch, letters)
    job = AlignmentJob(*made, **given)
    found = list(job)
    assert (job.steps.seed, job.steps.pairs) == (letters, job.pairs)
    for name in ("query", "target", "raw_score", "cigar"):
        parts = [np.concatenate([getattr(one, name) for one in some]) for some in (found, expected)]
        assert parts[0].tolist() == parts[1].tolist()
    for start in (0, 500, 9001):  # as a run goes on that was stopped there
        rest = [one for part in AlignmentJob(*made, **given).after(start) for one in part.raw_score]
        monkeypatch.undo()
        whole = [
            one for part in AlignmentJob(*made, **given).after(start) for one in part.raw_score
        ]
        with_seeds(monkeypatch, letters)
        assert rest == whole


@pytest.mark.parametrize("linkage", ["greedy", "single", "complete"])
@pytest.mark.parametrize("rule", [("columns", None, "global"), ("internal", "0.9", "semiglobal")])
def test_same_clusters(reads, linkage, rule, monkeypatch):
    whole, coverage, mode = rule
    asked = {"min_identity": "95%", "identity_of": whole, "min_coverage": coverage, "mode": mode}
    given = {**asked, "linkage": linkage, "device": "cpu"}
    expected = cluster(reads, **given)
    with_seeds(monkeypatch, 6)
    found = cluster(reads, **given)
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.representatives.tolist() == expected.representatives.tolist()
    assert found.order.tolist() == expected.order.tolist()


def test_it_is_opened_where_it_is_faster(monkeypatch):
    rng = np.random.default_rng(7)
    unlike = SequenceSet.from_strings(["".join(rng.choice(list("ACGT"), 80)) for _ in range(2000)])
    alike = SequenceSet.from_strings(
        [change(rng, "ACGT", unlike[0].residues, 0.01) for _ in range(300)]
    )
    scoring, made = make_scoring("dna"), (PairThresholds(Fraction(95, 100)), None)
    for reads, is_faster in ((unlike, True), (alike, False)):
        problem = Problem(reads, None, scoring)
        opened = PairFilter(problem, *made, threads=1, subsequences=True, seeds=True)
        assert (opened.index is not None) == is_faster
