"""Lambda and K of scorings that nobody has published: estimated, exact where they can be."""

import json
import os
import re

import numpy as np
import pytest
from align_command import align, table
from bench.statistics import KNOWN, background
from commands import fasta

import pairalign
from pairalign.errors import ScoringError
from pairalign.jobs.run import statistics
from pairalign.jobs.run.statistics import estimate_gumbel, find_or_estimate_gumbel
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.finite_size import LengthLaw
from pairalign.statistics.gumbel_fit import composition, fit_gumbel, ungapped_lambda
from pairalign.statistics.significance import BACKGROUND, PUBLISHED, find_gumbel, find_significance

SHARES = background()
NO_LENGTH = LengthLaw(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""Of alignments that take no residues: all starting points are left."""
BASES = np.full(4, 0.25)


@pytest.fixture(autouse=True)
def folder(here, monkeypatch, request):
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(statistics, "_TRACED_PAIRS", 400)
    monkeypatch.setenv("PAIRALIGN_CACHE", str(here / "cache"))
    return here


def local(alphabet="protein", **options):
    return make_scoring(alphabet, mode="local", **options)


@pytest.mark.parametrize(
    ("scoring", "shares", "expected"),
    [
        (local(), SHARES, 0.3176),  # Altschul and others 2001
        (local(matrix="BLOSUM45"), SHARES, 0.2291),
        (local("dna", match=1, mismatch=-3), BASES, 1.374),  # what blastn prints
        (local("dna", match=1, mismatch=-2), BASES, 1.3327),
        (local("dna", match=1, mismatch=-1), BASES, np.log(3)),
    ],
)
def test_lambda_without_gaps_is_exact(scoring, shares, expected):
    letters = len(shares)
    found = ungapped_lambda(scoring.matrix[:letters, :letters], shares, shares)
    assert found == pytest.approx(expected, rel=5e-4 if letters == 20 else 2e-3)


def test_published_matrices_are_those_of_blast():
    """Biopython's BLOSUM80 is in other units than BLAST's, so it is not among them."""
    half_bits = {"BLOSUM62": 0.3176, "BLOSUM45": 0.2291}
    assert set(PUBLISHED) == set(half_bits)
    for name, expected in half_bits.items():
        matrix = local(matrix=name).matrix[:20, :20]
        assert ungapped_lambda(matrix, SHARES, SHARES) == pytest.approx(expected, rel=1e-3)
    assert find_gumbel(local(matrix="BLOSUM80", gap_open=11, gap_extend=1)) is None


def test_a_known_distribution_is_found_again():
    rng = np.random.default_rng(4)
    lambda_, k, length = 0.25, 0.05, 1000
    continuous = (np.log(k * length**2) - np.log(rng.exponential(size=40_000))) / lambda_
    for step in (1, 3):
        scores = (np.floor(continuous / step) * step).astype(np.int64)
        found = fit_gumbel(scores, length, step, NO_LENGTH, 9.0)
        assert found == pytest.approx((lambda_, k), rel=0.1)
        assert found[0] == pytest.approx(lambda_, rel=0.015)
    assert fit_gumbel(scores, length, 3, NO_LENGTH, 0.2)[0] == 0.2


def test_estimates_are_near_published_values():
    scoring = local(gap_open=12)
    found = estimate_gumbel(scoring, (SHARES, SHARES), cells=10**9)
    assert found.lambda_ == pytest.approx(0.267, rel=0.04)
    assert found.k == pytest.approx(0.041, rel=0.4)
    assert found.alpha == pytest.approx(1.9, rel=0.4)


def test_estimates_do_not_depend_on_threads():
    one, three = (estimate_gumbel(local(), (SHARES, SHARES), n, cells=10**8) for n in (1, 3))
    assert one == three


@pytest.mark.slow
@pytest.mark.parametrize(("name", "opening", "extension", "expected", "k"), KNOWN)
def test_estimates_are_within_two_per_cent(name, opening, extension, expected, k):
    scoring = local(matrix=name, gap_open=opening + extension, gap_extend=extension)
    found = estimate_gumbel(scoring, (SHARES, SHARES))
    assert found.lambda_ == pytest.approx(expected, rel=0.02)
    assert found.k == pytest.approx(k, rel=0.25)


@pytest.mark.slow
def test_gaps_that_cost_too_much_change_nothing():
    scoring = local("dna", gap_open=1000, gap_extend=1000)
    exact = ungapped_lambda(scoring.matrix[:4, :4], BASES, BASES)
    found = estimate_gumbel(scoring, (BASES, BASES), cells=4 * 10**9)
    assert 0.96 * exact < found.lambda_ <= exact + 5e-4


def test_decimals_are_of_raw_scores(folder):
    whole = estimate_gumbel(local(gap_open=12), (SHARES, SHARES), cells=8 * 10**8)
    lines = ["   " + "  ".join(PROTEIN.letters[:20])]
    for letter, row in zip(PROTEIN.letters, local().matrix[:20, :20], strict=False):
        lines.append(" ".join([letter, *(str(0.5 * int(score)) for score in row)]))
    (folder / "half.txt").write_text("\n".join(lines))
    halved = make_scoring("protein", mode="local", matrix="half.txt", gap_open=6, gap_extend="0.5")
    assert halved.scale == 10
    found = estimate_gumbel(halved, (SHARES, SHARES), cells=8 * 10**8)
    assert found.lambda_ * 5 == pytest.approx(whole.lambda_, rel=1e-3)
    assert found.k == pytest.approx(whole.k, rel=1e-2)


@pytest.mark.parametrize(
    ("scoring", "shares", "message"),
    [
        (local(gap_open=1, gap_extend=1), SHARES, "scores grow with lengths"),
        (local(matrix="PAM250", gap_open=12, gap_extend=1), SHARES, "scores grow with lengths"),
        (local("dna", match=1, mismatch=0), BASES, "0 or more on average"),
        (local("dna"), np.array([1.0, 0, 0, 0]), "0 or more on average"),
    ],
)
def test_scorings_without_statistics(scoring, shares, message):
    with pytest.raises(ScoringError, match=message):
        estimate_gumbel(scoring, (shares, shares), cells=10**8)


def test_composition():
    sequences = SequenceSet.from_strings(["ACGTNNacgu", "AAAA"], alphabet="dna")
    assert composition(sequences).tolist() == pytest.approx(
        [6 / 12, 2 / 12, 2 / 12, 2 / 12], abs=1e-3
    )
    with pytest.raises(ScoringError, match="no unambiguous residues"):
        composition(SequenceSet.from_strings(["NNN"], alphabet="dna"))


def test_estimates_are_kept(folder, monkeypatch):
    made = []

    def estimate(scoring, shares, threads=1):
        made.append(scoring)
        return statistics._gumbel([0.5, 0.25, 1.0, -3.0, 9.0, -50.0, 9.5, -60.0, 0])

    monkeypatch.setattr(statistics, "estimate_gumbel", estimate)
    reads = SequenceSet.from_strings(["ACGTACGGTA"] * 3)
    first = find_or_estimate_gumbel(local("dna"), reads)
    (kept,) = (folder / "cache").iterdir()
    assert find_or_estimate_gumbel(local("dna"), reads) == first
    assert len(made) == 1
    find_or_estimate_gumbel(local("dna", gap_open=9), reads)
    find_or_estimate_gumbel(local("dna"), SequenceSet.from_strings(["AAAACCCGTG"]))
    assert len(made) == 3
    for damaged in ("", "{}", json.dumps({"lambda": -1, "k": 1, "alpha": 1, "beta": 0}), "[1]"):
        kept.write_text(damaged)
        assert find_or_estimate_gumbel(local("dna"), reads) == first
    assert len(made) == 7
    os.chmod(kept, 0o666)  # anybody may have written it
    find_or_estimate_gumbel(local("dna"), reads)
    assert len(made) == 8
    assert find_or_estimate_gumbel(local(gap_open=12), reads).source == "published"
    assert len(made) == 8


def test_evalues_of_dna_on_the_command_line(folder, capsys, monkeypatch):
    few = 10**8
    monkeypatch.setattr(statistics, "estimate_gumbel", lambda *given: estimate_gumbel(*given, few))
    rng = np.random.default_rng(1)
    reads = {f"r{k}": "".join(rng.choice(list("ACGT"), 80)) for k in range(6)}
    reads["same"] = reads["r1"][10:60]
    (folder / "r.fa").write_text(fasta(reads))
    align("r.fa", "--mode", "local", "-o", "a.b6", "--max-evalue", "1e-6")
    said = capsys.readouterr().err
    assert "E-values: lambda 0.5" in said
    assert "(estimated from random pairs with the residues of the sequences)" in said
    lines = (folder / "a.b6").read_text().splitlines()
    assert [line.split("\t")[:2] for line in lines] == [["r1", "same"]]
    usual = ("--comp-based-stats", "0", "--columns", "query,target,score,bits,evalue")
    rows = table("r.fa", "--mode", "local", *usual)
    (best,) = [row for row in rows if row["target"] == "same" and row["query"] == "r1"]
    lambda_, k = map(float, re.search(r"lambda (\S+), K (\S+) ", said).groups())
    bits = (100 * lambda_ - np.log(k)) / np.log(2)
    assert (best["score"], float(best["bits"])) == ("100", pytest.approx(bits, abs=0.06))
    assert float(best["evalue"]) < 1e-15


@pytest.mark.slow
def test_as_many_chance_hits_as_expected():
    """Of random proteins as many hits pass as their E-values say, within a fifth."""
    scoring = local(gap_open=13, gap_extend="1.5")
    rng = np.random.default_rng(2)
    letters = list(BACKGROUND)
    shares = np.array(list(BACKGROUND.values())) / sum(BACKGROUND.values())
    queries, targets = (
        SequenceSet.from_strings(
            ["".join(rng.choice(letters, n, p=shares)) for n in rng.integers(100, 700, 200)],
            alphabet=scoring.alphabet,
        )
        for _ in range(2)
    )
    both = composition(queries), composition(targets)
    gumbel = estimate_gumbel(scoring, both, cells=12 * 10**9)
    found = pairalign.align(queries, targets, scoring=scoring, detail="score")
    significance = find_significance(scoring, queries, targets, gumbel=gumbel)
    evalues = significance.evalues(found)
    for most in (1, 10):
        assert (evalues <= most).sum() == pytest.approx(expected_hits(significance, most), rel=0.2)


def expected_hits(significance, most):
    """Scores are whole: the least one of a pair that passes has a smaller E-value than `most`."""
    counts = [len(one) for one in significance.lengths]
    query, target = (x.ravel() for x in np.meshgrid(*map(np.arange, counts)))
    of_pair = np.zeros(len(query))

    def evalues_of(score):
        scores = np.full(len(query), float(score))
        return np.exp(significance.log_evalues_of(scores, query, target))

    all_pass = next(k for k in range(1000, 0, -50) if evalues_of(k - 50).max() > most)
    for score in range(all_pass, 0, -1):
        values = evalues_of(score)
        if values.min() > most:
            break
        of_pair = np.where(values <= most, values, of_pair)
    # Of each pair by its share of the database.
    return (of_pair * significance.lengths[1][target] / significance.database[0]).sum()
