"""A largest ratio of lengths: every command leaves the same pairs out, exactly those beyond it."""

from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checks import assert_equal
from commands import run
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from made_thresholds import make_pair_thresholds
from relatives import LETTERS, change

import pairalign
from pairalign.alignments.problem import Problem
from pairalign.base.arguments import parse_ratio
from pairalign.base.choices import MODES
from pairalign.base.error_types import ScoringError
from pairalign.engines.cpu.cpu_pair_filter import PairFilter
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

SHARES = ("0.5", "80%", "0.95")


def fits(one: int, other: int, ratio: Any) -> bool:
    """The definition, in fractions."""
    return Fraction(max(one, other), min(one, other)) <= Fraction(ratio)


def fitting(first: SequenceSet, second: SequenceSet | None, ratio: Any) -> list[tuple[int, int]]:
    pairs = (
        combinations(range(len(first)), 2)
        if second is None
        else product(range(len(first)), range(len(second)))
    )
    lengths = first.lengths.tolist(), (first if second is None else second).lengths.tolist()
    return [(a, b) for a, b in pairs if fits(lengths[0][a], lengths[1][b], ratio)]


def pieces(alphabet: str, seed: int, count: int, longest: int = 60) -> SequenceSet:
    """Pieces of one sequence, of all lengths."""
    rng = np.random.default_rng(seed)
    origin = "".join(rng.choice(list(LETTERS[alphabet]), longest))
    rates = rng.choice([0, 0.03, 0.3], count)
    made = [
        change(rng, LETTERS[alphabet], origin[: rng.integers(1, longest + 1)], rate)
        for rate in rates
    ]
    return SequenceSet.from_strings(made, alphabet=alphabet)


@st.composite
def ratios(draw: st.DrawFn) -> str | Fraction:
    """As they are written; often what two lengths have exactly, or hardly less or more."""
    exact = Fraction(draw(st.integers(1, 60)), draw(st.integers(1, 20)))
    exact = max(exact, 1 / exact)
    little = Fraction(draw(st.sampled_from([-1, 0, 0, 1])), 10**15)
    return draw(st.sampled_from(["1", "1.0", "1.25", "1.5", "3"]) | st.just(max(exact + little, 1)))


@settings(max_examples=examples(300), deadline=None)
@given(
    ratio=ratios() | st.decimals(1, 10**9, places=9).map(str),
    lengths=st.lists(st.integers(1, 2**31 - 1), min_size=2, max_size=12),
)
def test_the_ratio_is_exact(ratio, lengths):
    lengths += [1, int(Fraction(ratio)), min(int(Fraction(ratio) * lengths[0]), 2**31 - 1)]
    ends = np.array(list(product(range(len(lengths)), repeat=2)), np.int32).T
    sets = (SimpleNamespace(lengths=np.array(lengths)),) * 2
    found = make_pair_thresholds(max_length_ratio=ratio).fitting(tuple(ends), sets)
    expected = [fits(lengths[a], lengths[b], ratio) for a, b in ends.T]
    assert found.tolist() == np.flatnonzero(expected).tolist()


@pytest.mark.parametrize("wrong", ["0.99", 0, -2, "nan", "inf", "x", "150%", True, "1e19", ""])
def test_what_is_no_ratio(wrong):
    with pytest.raises(ScoringError, match=r"max_length_ratio .*: expected a number of 1 or more"):
        pairalign.align(["ACGT", "ACG"], max_length_ratio=wrong)
    with pytest.raises(ScoringError, match="number of 1 or more"):
        parse_ratio(wrong)


def test_a_float_is_what_it_is_written_as():
    assert parse_ratio(1.1) == Fraction(11, 10)
    assert parse_ratio(4 / 3) == Fraction("1.3333333333333333")
    assert parse_ratio("1e18") == 10**18


@settings(max_examples=examples(60), deadline=None)
@given(
    data=st.data(),
    ratio=ratios(),
    seed=st.integers(0, 1 << 30),
    alphabet=st.sampled_from(sorted(LETTERS)),
    mode=st.sampled_from(MODES),
    window=st.sampled_from([5, 1024]),
)
def test_align_is_that_of_the_pairs_that_fit(data, ratio, seed, alphabet, mode, window):
    queries = pieces(alphabet, seed, 14)
    targets = pieces(alphabet, seed, 9, 35) if data.draw(st.booleans()) else None
    asked: dict[str, Any] = {"scoring": make_scoring(alphabet, mode=mode), "window": window}
    asked["detail"] = data.draw(st.sampled_from(["score", "stats", "cigar"]))
    some: list[dict[str, Any]] = [
        {},
        {"min_identity": data.draw(st.sampled_from(SHARES))},
        {"min_coverage": "0.7", "coverage_of": "query"},
        {"min_score": 20},
        {"max_hits": 2},
        {"max_hits": 1, "rank": "identity", "min_coverage": "0.6", "coverage_of": "target"},
    ]
    if mode == "local":
        some += [{"max_evalue": 1e-3}, {"max_evalue": 1, "max_hits": 2, "rank": "evalue"}]
        some += [{"hsps": 3}]
    if alphabet == "dna":
        some += [{"strand": "both"}]
    elif mode == "global":
        some += [{"objective": "mea"}]
    asked |= data.draw(st.sampled_from(some))
    pairs = fitting(queries, targets, ratio)
    found = pairalign.align(queries, targets, max_length_ratio=ratio, device="cpu", **asked)
    if not pairs:
        assert len(found) == 0
        return
    expected = pairalign.align(queries, targets, pairs=pairs, device="cpu", **asked)
    assert_equal(found, expected)
    parts = list(pairalign.stream(queries, targets, max_length_ratio=ratio, device="cpu", **asked))
    assert sum(map(len, parts)) == len(found)


@settings(max_examples=examples(60), deadline=None)
@given(
    ratio=ratios(),
    seed=st.integers(0, 1 << 30),
    share=st.sampled_from(["90%", "0.95", "1"]),
    identity_of=st.sampled_from(["columns", "aligned", "shorter", "mbl", "longer", "mean"]),
    mode=st.sampled_from(MODES),
    seeds=st.sampled_from([0, 3, 6]),
)
def test_filters_and_indexes_leave_out_the_same(ratio, seed, share, identity_of, mode, seeds):
    sequences, scoring = pieces("dna", seed, 40), make_scoring("dna", mode=mode)
    wanted = make_pair_thresholds(share, identity_of, max_length_ratio=ratio)
    passing = pairalign.align(
        sequences,
        scoring=scoring,
        pairs=fitting(sequences, None, 1000),
        min_identity=share,
        identity_of=identity_of,
        device="cpu",
    )
    lengths = sequences.lengths
    ends = zip(passing.query.tolist(), passing.target.tolist(), strict=True)
    needed = {(a, b) for a, b in ends if fits(int(lengths[a]), int(lengths[b]), ratio)}
    pair_filter = PairFilter(
        Problem(sequences, None, scoring), wanted, None, threads=1, subsequences=True, seeds=seeds
    )
    window = Window(0, 0, 40, 0, 40, triangular=True)
    chosen = pair_filter.choose(window)
    rows, columns = window.positions_of(np.flatnonzero(chosen.mask))
    one, other = sequences.order[rows], sequences.order[columns]
    left = set(zip(np.minimum(one, other).tolist(), np.maximum(one, other).tolist(), strict=True))
    assert needed <= left <= set(fitting(sequences, None, ratio))
    pair_filter.close()


# ---------------------------------------------------------------------------------------------
# On the command line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sequences = pieces("protein", 7, 24)
    records = [f">{one.name}\n{one.residues}\n" for one in sequences]
    (tmp_path / "in.fa").write_text("".join(records))
    return tmp_path


def done(folder: Path, *arguments: str, code: int = 0) -> str:
    ended = run(*arguments, cwd=folder)
    assert ended.returncode == code, ended.stderr
    return ended.stderr.decode()


def test_align_says_what_lengths_dropped(folder):
    left = len(fitting(pairalign.read_fasta(folder / "in.fa"), None, "1.25"))
    said = done(folder, "align", "in.fa", "-o", "x.tsv", "--max-length-ratio", "1.25", "--explain")
    assert f"lengths  {276 - left:,} of 276 pairs dropped" in said


def test_dry_runs_know_it(folder):
    (folder / "in.fa").write_text(">a\nMKVLAAGGWT\n>b\nMKVLAAGGW\n>c\nMKVL\n")
    for ratio, share in (("1.2", b"33.333%"), ("2.5", b"100.000%")):
        ended = run("align", "in.fa", "--max-length-ratio", ratio, "--dry-run", cwd=folder)
        assert b": " + share + b" of the pairs" in ended.stdout + ended.stderr


def test_audits_judge_by_it(folder):
    """What a split under it promises is kept under it alone."""
    (folder / "in.fa").write_text(
        ">a\nMKVLAAGGWTREMKVLAAGG\n>b\nMKVLAAGGWT\n>c\nMKVLAAGGWTREMKVLAAG\n"
    )
    (folder / "folds.csv").write_text("name,fold\na,0\nb,1\nc,0\n")
    asked = ("--min-identity", "0.9", "--identity-of", "shorter", "--min-coverage", "0.1")
    audit = ("audit", "folds.csv", "in.fa", "-o", "v.csv", *asked)
    done(folder, *audit, code=1)
    said = done(folder, *audit, "--max-length-ratio", "1.5", "--explain")
    assert "lengths  2 of 3 pairs dropped" in said
    done(folder, *audit, "--max-length-ratio", "1.89")
    done(folder, *audit, "--max-length-ratio", "1.9", code=1)
    split = ("split", "in.fa", "-o", "s.csv", *asked, "--folds", "2", "--tolerance", "1")
    said = done(folder, *split, "--max-length-ratio", "1.5")
    assert "and a length ratio of at most 1.5" in " ".join(said.split())
    done(folder, "audit", "s.csv", "in.fa", "-o", "v.csv", *asked, "--max-length-ratio", "1.5")
    reached: dict[str, Any] = {"min_identity": 0.9, "identity_of": "shorter", "min_coverage": 0.1}
    found = pairalign.split(
        folder / "in.fa", **reached, max_length_ratio=1.5, folds=2, tolerance=1, device="cpu"
    )
    assert len(pairalign.audit(found, device="cpu")) == 0
