"""E-values by the letters of each pair: exact ratios of lambda, and hits as often as expected."""

from dataclasses import replace

import numpy as np
import pytest
from align_command import align as run_align
from bench.statistics import background, count_chance_hits
from commands import fasta

from pairalign import align
from pairalign.alignments.alignments import no_alignments
from pairalign.errors import ScoringError
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.composition import PairComposition
from pairalign.statistics.finite_size import LengthLaw, skewed_law
from pairalign.statistics.gumbel_fit import fit_first_passage, pair_composition, ungapped_lambda
from pairalign.statistics.significance import (
    FIRST_PASSAGE,
    PUBLISHED,
    EvalueFilter,
    find_gumbel,
    find_significance,
)

pandas = pytest.importorskip("pandas")

SCORING = make_scoring("protein", mode="local", gap_open=12)
LETTERS = list(PROTEIN.letters[:20])
USUAL_SHARES = background(), background()
USUAL = ungapped_lambda(SCORING.matrix[:20, :20], background(), background())
OF_SCORING = 0.267


def biased(count, length, seed, spread):
    """Random proteins, each with letters of its own, the more so the smaller `spread`."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(spread * background(), count)
    return SequenceSet.from_strings(
        ["".join(rng.choice(LETTERS, length, p=one)) for one in shares], alphabet="protein"
    )


def shares_of(sequences, index):
    """As the letters are, and ten usual ones more."""
    counts = np.bincount(sequences.codes_of(index), minlength=20)[:20] + 10 * background()
    return counts / counts.sum()


def test_residues_are_counted_of_sequences_that_pairs_ask_for(monkeypatch):
    queries, targets = biased(2, 200, 1, 15), biased(1000, 150, 2, 15)
    counted = []
    codes_of = SequenceSet.codes_of
    monkeypatch.setattr(
        SequenceSet, "codes_of", lambda one, k: counted.append((one, k)) or codes_of(one, k)
    )
    of_pairs = PairComposition(SCORING, queries, targets, USUAL_SHARES, USUAL, OF_SCORING)
    few = of_pairs.ratios(np.array([1, 0, 1]), np.array([7, 900, 900]))
    assert sorted(k for one, k in counted if one is targets) == [7, 900]
    more = of_pairs.ratios(np.array([1, 0, 1, 1]), np.array([7, 900, 900, 3]))
    assert more[:3].tolist() == few.tolist()
    assert sorted(k for one, k in counted if one is targets) == [3, 7, 900]


def test_ratios_are_those_of_exact_lambdas():
    queries, targets = biased(12, 200, 1, 15), biased(9, 150, 2, 15)
    query, target = (x.ravel() for x in np.meshgrid(np.arange(12), np.arange(9)))
    of_pairs = PairComposition(SCORING, queries, targets, USUAL_SHARES, USUAL, OF_SCORING)
    found = of_pairs.ratios(query, target)
    expected = []
    for q, t in zip(query, target, strict=True):
        try:
            one = ungapped_lambda(
                SCORING.matrix[:20, :20], shares_of(queries, q), shares_of(targets, t)
            )
        except ScoringError:  # letters that score 0 or more on average
            one = 0.0
        expected.append(min(1.25, max(0.05, 1 + (one - USUAL) / OF_SCORING)))
    assert found == pytest.approx(expected, abs=2e-6)
    assert 5 < sum(one > 1 for one in expected) < len(expected) - 20
    assert {min(expected) < 0.8, max(expected) == 1.25} == {True}


def by_differences(query, target, step=1e-5):
    """What lambda varies by to first order, a sequence at a time, and what is in both."""
    matrix = SCORING.matrix[:20, :20]
    lambda_ = ungapped_lambda(matrix, query, target)

    def slopes(first, second, transposed):
        moved = [(1 - step) * first + step * np.eye(20)[i] for i in range(20)]
        return np.array(
            [(ungapped_lambda(transposed, one, second) - lambda_) / step for one in moved]
        )

    alone = [
        (first * slopes(first, second, one) ** 2).sum()
        for first, second, one in ((query, target, matrix), (target, query, matrix.T))
    ]
    powers = np.exp(lambda_ * matrix)
    rest = powers - (powers @ target)[:, None] - query @ powers
    shares = np.outer(query, target)
    mean = (shares * rest).sum()
    slope = (shares * matrix * powers).sum()
    return (*alone, (shares * (rest - mean) ** 2).sum() / slope**2)


def test_variances_are_those_of_the_delta_method():
    queries, targets = biased(3, 60, 1, 40), biased(3, 45, 2, 40)
    query, target = (x.ravel() for x in np.meshgrid(np.arange(3), np.arange(3)))
    of_pairs = PairComposition(SCORING, queries, targets, USUAL_SHARES, USUAL, OF_SCORING)
    ratios, variances, _ = of_pairs.ratios_and_costs(query, target)
    a, b = 60 / 70**2, 45 / 55**2
    compared = 0
    for q, t, ratio, variance in zip(query, target, ratios, variances, strict=True):
        first, second, both = by_differences(shares_of(queries, q), shares_of(targets, t))
        if ratio < 1.25:
            expected = (a * first + b * second - a * b * both) / OF_SCORING**2
            assert variance == pytest.approx(expected, rel=1e-3)
            compared += 1
    assert compared > 4


@pytest.mark.parametrize("step", [1, 5])
def test_as_many_pairs_as_expected_have_a_small_evalue(step):
    """Of scores that are multiples of a step, whatever the limit is beside them."""
    scaled = replace(SCORING, matrix=SCORING.matrix * step)
    scaled = replace(scaled, gap_open=SCORING.gap_open * step, gap_extend=SCORING.gap_extend * step)
    sets = biased(1, 60, 1, 40), biased(1, 45, 2, 40)
    of_pairs = PairComposition(scaled, *sets, USUAL_SHARES, USUAL / step, OF_SCORING / step)
    for ratio in (0.8, 1.0, 1.2):
        scores = step * np.arange(400)
        exceeding = np.exp(-OF_SCORING / step * ratio * scores)
        evalues = exceeding * np.exp(of_pairs.log_halves(np.array([ratio])))
        limits = np.exp(-np.linspace(5, 50, 100_001))
        found = exceeding[len(scores) - np.searchsorted(evalues[::-1], limits, side="right")]
        assert (found / limits).mean() == pytest.approx(1, abs=0.015)
        assert (exceeding[np.searchsorted(-exceeding, -limits)] / limits).mean() < 0.92


def test_skewed_law_is_the_integral_over_inverse_gaussian_lengths():
    law = LengthLaw(2.0, -30.0, 50.0, -1100.0, 50.0, -1100.0, skewed=True)
    for m, n, score in (
        (25, 25, 40),
        (51, 300, 60),
        (51, 300, 120),
        (300, 350, 100),
        (900, 800, 60),
    ):
        mean, variance = 2.0 * score - 30, 50.0 * score - 1100
        x = np.linspace(0, min(m, n), 400_001)[1:]
        shape = mean**3 / variance
        density = np.sqrt(shape / (2 * np.pi * x**3)) * np.exp(
            -shape * (x - mean) ** 2 / (2 * mean**2 * x)
        )
        area = (density * (m - x) * (n - x)).sum() * (x[1] - x[0])
        found = law.log_evalues(0.25, 0.03, [score], [m], [n])[0]
        expected = np.log(0.03 * area) - 0.25 * score - np.log(n)
        assert found == pytest.approx(expected, abs=2e-3)


def test_evalues_of_a_skewed_law_fall_with_the_score_and_rise_with_the_length():
    law = find_gumbel(SCORING).pair_law
    lengths = np.array([10, 25, 51, 52, 100, 300, 301, 1000, 30_000])
    scores = np.arange(1, 2000)
    of_scores = [
        law.log_evalues(0.267, 0.041, scores, scores * 0 + m, scores * 0 + 300) for m in lengths
    ]
    assert all((np.diff(one) < 0).all() for one in of_scores)
    assert (np.diff(np.array(of_scores), axis=0) > -1e-9).all()


@pytest.mark.parametrize("matrix", FIRST_PASSAGE)
def test_evalues_fall_with_every_score_from_some_residues_on(matrix):
    lambdas = {row[:2]: row[2] for row in PUBLISHED[matrix]}
    scores = np.arange(0.5, 1000, 0.5)
    for costs, row in FIRST_PASSAGE[matrix].items():
        law = skewed_law(*row)
        for m in np.ceil(law.falls_from(lambdas[costs]) * np.array([1, 1.3, 4])).tolist():
            for n in (m, 2 * m, 3000):
                lengths = (np.full(len(scores), one) for one in (m, n))
                values = law.log_evalues(lambdas[costs], 0.04, scores, *lengths)
                assert (np.diff(values) < 0).all()


def test_a_law_of_lengths_is_found_again():
    """From the counts that it expects itself."""
    law = LengthLaw(1.7, -28.0, 32.0, -700.0, 32.0, -700.0, skewed=True)
    counts, pairs = {}, 10**8
    for length in (25, 35, 50, 75, 110, 160):
        scores = np.arange(1, 140)
        sides = np.full(len(scores), length)
        expected = length * np.exp(law.log_evalues(0.267, 0.041, scores, sides, sides))
        tail = np.concatenate(([1], -np.expm1(-expected), [0]))
        counts[length] = np.rint(pairs * -np.diff(tail)).astype(np.int64)
    start = LengthLaw(1.9, -30.0, 42.0, -900.0, 42.0, -900.0)
    found = fit_first_passage(counts, 0.267, 0.041, start)
    assert (found.a, found.b) == pytest.approx((law.a, law.b), rel=0.02)
    assert (found.alpha, found.beta) == pytest.approx((law.alpha, law.beta), rel=0.05)


@pytest.mark.parametrize(("opening", "extension"), [(12, 1), (10, 1)])
def test_inverse_gaussian_lengths_of_short_sequences(opening, extension):
    """Usual residues, 25 to 60 of them: with normal lengths half as many, or fewer, at 10/1.

    What is expected is the E-value of the least score that passes: scores are whole.
    """
    scoring = make_scoring("protein", mode="local", gap_open=opening, gap_extend=extension)
    gumbel = find_gumbel(scoring)
    for length in (25, 40, 60):
        sets = biased(300, length, 7, 1e9), biased(2000, length, 8, 1e9)
        found = align(*sets, scoring=scoring, detail="score", device="cpu")
        sides = np.full(len(found), length)
        known = gumbel.lambda_, gumbel.k, found.raw_score, sides, sides
        values = length * np.exp(gumbel.pair_law.log_evalues(*known))
        for most in (1e-2, 1e-3, 1e-4):
            hits = (values <= most).sum()
            expected = values[values <= most].max() * len(found)
            assert hits == pytest.approx(expected, rel=0.25, abs=3 * np.sqrt(expected))


def test_as_many_chance_hits_as_expected_of_short_sequences():
    """Without what few residues cost, or with normal lengths, at least a quarter fewer or more.

    Scores are whole: the least one that passes has an E-value from ``exp(-lambda)`` to the limit.
    """
    sets = biased(500, 51, 5, 1e9), biased(2000, 51, 6, 1e9)
    found = count_chance_hits(SCORING, *sets, by_composition=True)
    whole = -np.expm1(-0.267) / 0.267
    for most in (10, 1):
        hits, expected = found[most]
        assert hits == pytest.approx(whole * expected, rel=0.15)
    hits, expected = found[0.1]
    expected *= whole
    assert hits == pytest.approx(expected, abs=2 * np.sqrt(expected))


def test_sequences_without_letters_that_have_scores():
    sequences = SequenceSet.from_strings(["XXXX", 500 * "W", "MKV"], alphabet="protein")
    ratios = PairComposition(SCORING, sequences, sequences, USUAL_SHARES, USUAL, OF_SCORING)
    assert ratios.ratios(np.array([0, 1]), np.array([1, 1])).tolist()[1] == 0.05
    alone = SequenceSet.from_strings(["X"], alphabet="protein")
    usual = PairComposition(SCORING, alone, alone, USUAL_SHARES, USUAL, OF_SCORING)
    assert usual.ratios(np.array([0]), np.array([0])).tolist() == [1.0]


def test_usual_letters_of_a_set_are_its_own_where_nothing_is_published():
    reads = SequenceSet.from_strings(["ACGT" * 20, "AAAT" * 20], alphabet="dna")
    scoring = make_scoring("dna", mode="local")
    found = pair_composition(scoring, reads).ratios(np.array([0, 1]), np.array([0, 1]))
    assert 1 < found[0] <= 1.25
    assert found[1] < 0.9


def test_as_many_chance_hits_as_expected_whatever_the_letters():
    """Plain E-values of sequences with unusual letters are too small, the more so the smaller."""
    sets = biased(160, 250, 3, 40), biased(160, 250, 4, 40)
    plain = count_chance_hits(SCORING, *sets)
    assert plain[1][0] > 2 * plain[1][1]
    assert plain[0.1][0] > 4 * plain[0.1][1]
    adjusted = count_chance_hits(SCORING, *sets, by_composition=True)
    for most in (10, 1):
        hits, expected = adjusted[most]
        assert hits == pytest.approx(expected, rel=0.2)
    hits, expected = adjusted[0.1]  # 16: by chance from 8 to 24
    assert expected / 2 < hits < 1.5 * expected
    assert adjusted[0.001][0] <= 1


DNA = {"match": 1, "mismatch": -3, "gap_open": 4, "gap_extend": 2}  # its scores are far apart


@pytest.mark.parametrize(
    ("letters", "scoring"),
    [(LETTERS, SCORING), (list("ACGT"), make_scoring("dna", mode="local", **DNA))],
)
def test_what_may_not_pass_whatever_its_letters_does_not_pass(letters, scoring):
    """E-values are found of the pairs alone that a bound leaves; of all they say the same."""
    rng = np.random.default_rng(6)
    sets = [
        SequenceSet.from_strings(
            [
                "".join(rng.choice(letters, n, p=one))
                for n, one in zip(lengths, shares, strict=True)
            ],
            alphabet=scoring.alphabet.name,
        )
        for lengths, shares in (
            (rng.integers(5, most, 60), rng.dirichlet(np.full(len(letters), 0.4), 60))
            for most in (60, 400)
        )
    ]
    composition = pair_composition(scoring, *sets)
    significance = find_significance(scoring, *sets, composition=composition, strands=2)
    query, target = (one.ravel().astype(np.int32) for one in np.mgrid[:60, :60])
    scores = rng.integers(1, 50 / significance.gumbel.lambda_, len(query)).astype(np.int32)
    found = replace(
        no_alignments(*sets, scoring, Detail.SCORE), query=query, target=target, raw_score=scores
    )
    values = np.min(significance.log_evalues_each_way(found), axis=0)
    for most in (1e-12, 1e-3, 3):
        kept = EvalueFilter(significance, most, either_way=True)
        passes = values <= np.log(most)
        assert 0 < passes.sum() < len(found)
        assert (kept.passes(found) == passes).all()
        assert scores[passes].min() >= kept.min_raw_score


def test_the_option(here, capsys):
    sets = biased(30, 120, 5, 20)
    (here / "p.fa").write_text(fasta({f"p{k}": one.residues for k, one in enumerate(sets)}))
    options = ("--mode", "local", "--gap-open", "12", "--format", "tsv")
    columns = ("--columns", "query,target,score,bits,evalue", *options)
    adjust = ()  # as is done by default
    run_align("p.fa", *columns, "-o", "plain.tsv", "--comp-based-stats", "0")
    assert "by the composition" not in capsys.readouterr().err
    run_align("p.fa", *columns, *adjust, "-o", "all.tsv")
    said = capsys.readouterr().err
    assert "2012; inverse Gaussian lengths), lambda by the composition of each pair" in said
    run_align("p.fa", *columns, *adjust, "-o", "few.tsv", "--max-evalue", "2")
    run_align("p.fa", *columns, *adjust, "-o", "both.tsv", "--max-evalue", "2", "--both-ways")
    plain, every, few, both = (
        pandas.read_csv(f"{name}.tsv", sep="\t") for name in ("plain", "all", "few", "both")
    )
    assert (every.score == plain.score).all()
    assert (every.evalue > 2 * plain.evalue).sum() > 20
    assert few.equals(every[every.evalue <= 2].reset_index(drop=True))
    assert 0 < len(few) < (plain.evalue <= 2).sum()
    passes = both.evalue.to_numpy().reshape(-1, 2).min(axis=1) <= 2
    assert len(both) >= 2 * len(few)
    assert passes.all()
    run_align("p.fa", *columns, *adjust, "-o", "again.tsv", "--window", "7")
    again, first = ((here / f"{name}.tsv").read_text() for name in ("again", "all"))
    assert sorted(again.splitlines()) == sorted(first.splitlines())
