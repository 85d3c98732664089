"""E-values of sequences of few kinds of residues, and of DNA of any composition."""

import math

import numpy as np
import pytest
from align_command import align as run_align
from bench.statistics import background
from commands import fasta

from pairalign import align
from pairalign.alignments.problem import Problem
from pairalign.jobs.run.run_request import find_statistics
from pairalign.jobs.run.statistics import estimate_gumbel
from pairalign.requests.align_request import AlignRequest
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.composition import MOST_RATIO
from pairalign.statistics.gumbel_fit import composition, pair_composition
from pairalign.statistics.significance import Searched, find_gumbel, find_significance

SCORING = make_scoring("protein", mode="local", gap_open=12)
BIASED = {
    "malaria repeat": "NANP" * 37,
    "keratin-associated": "MGCCGCGGCRGGCGGCGGCGGCGGCGGCGSCGGCGGCCCVPVVYCCCHPCGCGSCGCGSCGCSSCGCGC",
    "glycine and alanine": "GAGGAGAGGGGAGAGGGAGAGGGAGGAGAGGAGGAGGAGAGGAGAGGGAGGAGAGGGAGAGG" * 2,
    "collagen": "GPPGAPGEKGPQGDAGPPGSRGLPGADGRAGVMGPPGPAGKRGEQGPAGSPGFQGLPGPPGE" * 6,
    "proline-rich": "SQGPPPHPGKPERPPPQGGNQSQGPPPRPGKPEGPPPQEGNK" * 4,
    "metallothionein": "MDPNCSCATGGSCTCTGSCKCKECKCTSCKKSCCSCCPMSCAKCAQGCICKGASEKCSCCA",
    "serine and glycine": "GS" * 20,
}
"""What real proteins have: repeats of few kinds of residues."""
HUMAN_PROTEOME = 11_000_000


def found_with(scoring, queries, targets, database=None, gumbel=None):
    composition = pair_composition(scoring, queries, targets, gumbel)
    known = find_significance(scoring, queries, targets, Searched(database), gumbel, composition)
    found = align(queries, targets, scoring=scoring, detail="score", device="cpu")
    return known, found


def proteins(letters):
    return SequenceSet.from_strings(list(letters), alphabet="protein")


def shuffled(rng, letters):
    return ["".join(rng.permutation(list(one))) for one in letters]


def random_residues(length, seed=1):
    return "".join(np.random.default_rng(seed).choice(list("ARNDCQEGHILKMFPSTWYV"), length))


@pytest.mark.parametrize("name", BIASED)
def test_a_sequence_finds_itself_whatever_its_composition(name):
    """And a copy in which one residue in ten is another; shuffled it finds neither."""
    rng = np.random.default_rng(3)
    itself = BIASED[name]
    copy = list(itself)
    for place in range(5, len(copy), 10):
        copy[place] = "T" if copy[place] != "T" else "S"
    others = [random_residues(300, seed) for seed in range(20)]
    shuffles = [one for _ in range(10) for one in shuffled(rng, [itself])]
    targets = proteins([itself, "".join(copy), *shuffles, *others])
    known, found = found_with(SCORING, proteins([itself]), targets, HUMAN_PROTEOME)
    evalues = known.evalues(found)[np.argsort(found.target)]
    assert evalues[0] < 1e-6
    assert evalues[1] < 1e-3
    assert evalues[0] == evalues.min()
    assert evalues[2:].min() > 0.01


def test_the_option(here, capsys):
    records = {"repeat": BIASED["malaria repeat"]}
    (here / "q.fa").write_text(fasta(records))
    records |= {f"r{k}": random_residues(300, k) for k in range(30)}
    (here / "t.fa").write_text(fasta(records))
    options = ("--mode", "local", "--gap-open", "12", "--max-evalue", "0.001", "--format", "blast6")
    run_align("q.fa", "t.fa", *options, "-o", "hits.b6")
    (hit,) = (here / "hits.b6").read_text().splitlines()
    assert hit.split("\t")[:3] == ["repeat", "repeat", "100.000"]
    assert float(hit.split("\t")[10]) < 1e-40


def test_evalues_fall_with_the_score_and_ratios_stay_in_their_limits():
    """Across all scores of a pair: what the least score of a window rests on."""
    sequences = proteins([*BIASED.values(), random_residues(200), "W" * 60])
    composition = pair_composition(SCORING, sequences)
    scores = np.arange(1, 700, dtype=np.int32)
    for query in range(len(sequences)):
        for target in range(query, len(sequences)):
            sides = np.full(len(scores), query), np.full(len(scores), target)
            worth, costs = composition.worth_and_costs(*sides, scores)
            assert (np.diff(worth) > -1e-3).all()
            assert (np.diff(costs) > -1e-9).all()
            assert (worth >= 0).all()
            assert (worth <= MOST_RATIO * scores + 1e-9).all()


def best_by_search(composition, matrix, columns, score, gain, theta):
    """The largest of theta S - n max(0, ln sum + gain), on a grid."""
    growth = np.array([math.log((composition * np.exp(one * matrix)).sum()) for one in theta])
    return (theta * score - columns * np.maximum(growth + gain, 0)).max()


def test_what_a_score_is_worth_is_the_bound_that_is_stated():
    sequences = proteins([BIASED["malaria repeat"], BIASED["collagen"]])
    of_pairs = pair_composition(SCORING, sequences)
    matrix = SCORING.matrix[:20, :20].astype(float)
    usual = of_pairs._sets[0][1]
    chances = np.outer(usual, usual)
    added = -math.log((chances * np.exp(0.267 * matrix)).sum())
    theta = np.arange(1e-4, 3.1, 1e-4)
    for index, scores in ((0, (200, 500, 851)), (1, (300, 700, 1900))):
        codes = np.bincount(sequences.codes_of(index), minlength=20)[:20] + 10 * usual
        shares = codes / codes.sum()
        weights = np.outer(shares, shares)
        square = (weights * matrix**2).sum() / (chances * matrix**2).sum()
        gain = 0.23 * math.sqrt(added * square)
        for score in scores:
            one = np.array([index])
            worth, _ = of_pairs.worth_and_costs(one, one, np.array([score], np.int32))
            columns = sequences.lengths[index]
            expected = best_by_search(weights, matrix, columns, score, gain, theta)
            assert 0.267 * worth[0] == pytest.approx(max(expected, 0), abs=0.02, rel=1e-3)


def test_well_behaved_pairs_are_as_before():
    """A ratio of 0.7 or more multiplies the score, and nothing else does."""
    sequences = proteins(random_residues(200, seed) for seed in range(8))
    composition = pair_composition(SCORING, sequences)
    query, target = (x.ravel() for x in np.meshgrid(np.arange(8), np.arange(8)))
    scores = np.full(len(query), 90, np.int32)
    ratios = composition.ratios(query, target)
    assert ratios.min() > 0.7
    assert (composition.worth_and_costs(query, target, scores)[0] == ratios * scores).all()


def test_no_more_chance_hits_than_expected_of_biased_sequences():
    """300 against 300 with twelve biased compositions; with lambdas alone many times as many."""
    rng = np.random.default_rng(11)
    shares = np.repeat(rng.dirichlet(8 * background(), 12), 25, axis=0)
    letters = list(PROTEIN.letters[:20])
    queries, targets = (
        proteins("".join(rng.choice(letters, 300, p=one)) for one in shares) for _ in range(2)
    )
    known, found = found_with(SCORING, queries, targets)
    evalues = known.evalues(found)
    plain = known.composition.ratios(found.query, found.target) * found.raw_score
    by_lambda = np.exp(known.log_evalues_of(plain, found.query, found.target))
    for most in (1, 0.1):
        expected = most * len(queries)
        assert (by_lambda <= most).sum() > 2 * expected
        assert 0.3 * expected < (evalues <= most).sum() < 1.25 * expected
    assert (evalues <= 0.001).sum() <= 2


DNA = [
    *(((2, -3, 7, 2), gc) for gc in (0.3, 0.5, 0.7)),
    # Of these nothing is published: estimates take their time.
    pytest.param((2, -3, 5, 2), 0.7, marks=pytest.mark.slow),
    *(pytest.param((1, -3, 7, 2), gc, marks=pytest.mark.slow) for gc in (0.3, 0.5)),
]


@pytest.mark.parametrize(("costs", "gc"), DNA)
def test_as_many_chance_hits_of_dna_as_expected(costs, gc):
    """In the mean over limits: scores are far apart, so at one limit the number is not 1."""
    rng = np.random.default_rng(9)
    queries, targets = (reads(rng, 500, gc) for _ in range(2))
    assert 0.8 < rate_of_chance_hits(queries, targets, costs) < 1.25


def reads(rng, count, gc):
    shares = [(1 - gc) / 2, gc / 2, gc / 2, (1 - gc) / 2]
    lengths = rng.integers(200, 500, count)
    letters = ["".join(rng.choice(list("ACGT"), n, p=shares)) for n in lengths]
    return SequenceSet.from_strings(letters, alphabet="dna")


def rate_of_chance_hits(queries, targets, costs):
    names = ("match", "mismatch", "gap_open", "gap_extend")
    scoring = make_scoring("dna", mode="local", **dict(zip(names, costs, strict=True)))
    both = composition(queries), composition(targets)
    gumbel = find_gumbel(scoring) or estimate_gumbel(scoring, both, cells=4 * 10**9)
    known, found = found_with(scoring, queries, targets, gumbel=gumbel)
    evalues = known.evalues(found)
    limits = np.geomspace(0.25, 4, 25)
    return np.mean([(evalues <= one).sum() / (one * len(queries)) for one in limits])


CHEAP_GAPS = [
    (2, -3, 4, 2),
    *(pytest.param(one, marks=pytest.mark.slow) for one in ((2, -3, 4, 4), (1, -2, 2, 1))),
]


@pytest.mark.parametrize("costs", CHEAP_GAPS)
@pytest.mark.parametrize("other", [0.3, 0.7])
def test_cheap_gaps_take_more_from_a_smaller_lambda(costs, other):
    """Of reads with 30% GC and with `other`; with one loss of lambda 0.5 to 2.8 times as many."""
    rng = np.random.default_rng(12)
    queries, targets = reads(rng, 700, 0.3), reads(rng, 700, other)
    assert 0.8 < rate_of_chance_hits(queries, targets, costs) < 1.25


def test_what_gaps_take_from_lambda_of_dna_is_the_law_that_is_stated():
    scoring = make_scoring("dna", mode="local", match=2, mismatch=-3, gap_open=4, gap_extend=2)
    sequences = reads(np.random.default_rng(3), 20, 0.3)
    every, usual = np.arange(20), lambda_of(0.25)
    ratios = pair_composition(scoring, sequences).ratios(every, every)
    for index, ratio in enumerate(ratios):
        counts = np.bincount(sequences.codes_of(index), minlength=4)[:4] + 10 / 4
        plain = lambda_of(float(((counts / counts.sum()) ** 2).sum()))
        taken = (usual - 0.515) * (1 + 0.8 * 4 * (usual - plain))
        assert 0.515 * ratio == pytest.approx(plain - taken, abs=1e-5)


def lambda_of(equal):
    """Of a match of 2 that is as likely as `equal`, and a mismatch of -3; by halving."""
    low, high = 0.01, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        mean = equal * math.exp(2 * middle) + (1 - equal) * math.exp(-3 * middle)
        low, high = (middle, high) if mean < 1 else (low, middle)
    return low


def test_two_strands_double_evalues():
    rng = np.random.default_rng(2)
    letters = ["".join(rng.choice(list("ACGT"), 300)) for _ in range(6)]
    sequences = SequenceSet.from_strings(letters, alphabet="dna")
    scoring = make_scoring("dna", mode="local", match=2, mismatch=-3, gap_open=7, gap_extend=2)
    requests = [
        (AlignRequest(strand=strand), Problem(sequences, None, scoring))
        for strand in ("plus", "both")
    ]
    found = align(sequences, scoring=scoring, device="cpu")
    one, both = (find_statistics(*each).significance.evalues(found) for each in requests)
    assert both == pytest.approx(2 * one)


@pytest.mark.parametrize("length", [20, 40, 100, 2000])
def test_evalues_below_the_least_double_are_0(length, here):
    """As BLAST writes them: other readers of doubles refuse smaller ones."""
    one = random_residues(5 * length)
    (here / "p.fa").write_text(fasta({"a": one, "b": one}))
    scoring = ("--mode", "local", "--gap-open", "12")
    shown = []
    for form in ("blast6", "tsv"):
        run_align("p.fa", *scoring, "--format", form, "--columns", "evalue", "-o", "p.out")
        shown.append((here / "p.out").read_text().split()[-1])
    assert shown[0] == shown[1]
    sequences = proteins([one, one])
    evalue = align(sequences, scoring=SCORING).evalue[0]
    least = np.finfo(float).tiny
    assert (shown[0] == "0.0") == (evalue == 0)
    assert evalue == 0 or evalue >= least
    assert evalue == pytest.approx(float(shown[0]), rel=0.01)
    assert (evalue == 0) == (length > 40)
