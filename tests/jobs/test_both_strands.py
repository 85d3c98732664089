"""--strand both: each pair on its better strand, in every job that has it, on every engine."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checks import assert_same, concatenate, run, windows_of
from commands import fasta
from conftest import examples, open_cpu
from cuda_engines import open_on_host
from hypothesis import given, settings
from opencl_engines import open_opencl
from overlapping import GENOME, changed
from strand_problems import other_strand, problems, run_minus
from strategies import Problem

import pairalign
from pairalign.cli.main import main
from pairalign.errors import AlphabetError, ScoringError
from pairalign.formats import FORMATS
from pairalign.jobs.stages.strand_engine import StrandEngine
from pairalign.pairs.want import Detail, Want
from pairalign.results.alignments_result import Alignments

CPU: dict[str, Any] = {"device": "cpu", "threads": 1}


def reads(count: int, seed: int, turned: bool = True) -> dict[str, str]:
    """Parts of a genome with errors, a third of them of the other strand."""
    rng = np.random.default_rng(seed)
    made = {}
    for k in range(count):
        start = int(rng.integers(0, 200))
        one = changed(GENOME[start : start + int(rng.integers(60, 160))], 0.08, seed + k)
        made[f"r{k}"] = other_strand(one) if turned and k % 3 == 0 else one
    return made


def better(plus: Alignments, minus: Alignments) -> Alignments:
    """Of each pair the strand that scores more, of equals plus."""
    minus = replace(minus, queries=plus.queries, targets=plus.targets)
    both = concatenate([replace(plus, strand=np.ones(len(plus), np.int8)), minus])
    numbers = np.arange(len(plus))
    return both.take(np.where(minus.raw_score > plus.raw_score, numbers + len(plus), numbers))


def expected_of(problem: Problem, window: int = 1 << 20) -> Alignments:
    return better(
        run(open_cpu, problem, window=window), run_minus(open_cpu, problem, window=window)
    )


@pytest.mark.slow
@settings(max_examples=examples(24))
@given(problem=problems)
def test_the_better_strand(problem):
    if problem.scoring.end_gaps is not None:
        return
    expected = expected_of(problem, 3)
    sets = problem.sets()
    found = pairalign.align(*sets, scoring=problem.scoring, strand="both", window=3, **CPU)
    assert_same(expected, found)
    assert found.strand.tolist() == expected.strand.tolist()
    scores = pairalign.align(
        *sets, scoring=problem.scoring, strand="both", window=3, detail="score", **CPU
    )
    assert scores.raw_score.tolist() == expected.raw_score.tolist()
    middle = int(np.median(expected.raw_score))
    some = pairalign.align(
        *sets,
        scoring=problem.scoring,
        strand="both",
        window=3,
        min_score=middle / problem.scoring.scale,
        **CPU,
    )
    assert_same(expected.take(expected.raw_score >= middle), some)


def tiny_reads(seed: int) -> list[str]:
    """Short DNA, half of it palindromes: many alignments of both strands score the same."""
    rng = np.random.default_rng(seed)
    made = set()
    while len(made) < 14:
        half = "".join(rng.choice(list("ACGT"), int(rng.integers(1, 5))))
        more = "".join(rng.choice(list("ACGT"), int(rng.integers(0, 3))))
        made.add(half + other_strand(half) + more if rng.integers(2) else half + more)
    return sorted(made, key=lambda one: rng.random())


def by_names(found: Alignments) -> dict[tuple[str, str], tuple[Any, ...]]:
    """What is found of each pair, as seen from the sequence whose name comes first."""
    seen = {}
    for one in found:
        sides = {
            one.query.name: (one.query_start, one.query_end),
            one.target.name: (one.target_start, one.target_end),
        }
        pair = tuple(sorted(sides))
        seen[pair] = (one.raw_score, one.strand, one.matches, sides[pair[0]], sides[pair[1]])
    return seen


@pytest.mark.parametrize("mode", ["local", "semiglobal", "global"])
@pytest.mark.parametrize(
    "open_on",
    [
        open_cpu,
        pytest.param(open_on_host, marks=pytest.mark.slow),
        pytest.param(open_opencl, marks=pytest.mark.slow),
    ],
)
def test_one_set_two_sets_and_any_order(open_on, mode):
    scoring = pairalign.make_scoring("dna", mode=mode, match=1, mismatch=-1, gap_open=1)

    def of(*sets: dict[str, str]) -> dict[tuple[str, str], tuple[Any, ...]]:
        made = [pairalign.SequenceSet.from_strings(one) for one in sets]
        engine = StrandEngine(open_on(made, scoring))
        lengths = [len(one) for one in made] + [None]
        try:
            windows = windows_of(lengths[0], lengths[1], 9)
            return by_names(concatenate([engine.align(one, Want(Detail.CIGAR)) for one in windows]))
        finally:
            engine.close()

    minus = 0
    for seed in range(3):
        letters = {f"r{k:02}": one for k, one in enumerate(tiny_reads(seed))}
        items = list(letters.items())
        expected = of(letters)
        minus += sum(one[1] == -1 for one in expected.values())
        assert of(dict(items[::-1])) == expected
        for first, second in ((items[::2], items[1::2]), (items[1::2], items[::2])):
            found = of(dict(first), dict(second))
            assert found == {pair: expected[pair] for pair in found}
            assert len(found) == len(first) * len(second)
    assert minus > 20


def test_suboptimal_alignments_are_of_the_strand():
    unit, other = GENOME[:60], GENOME[300:360]
    some = {"a": unit + other + unit, "b": other_strand(unit + "ACGT" + unit), "c": unit}
    found = pairalign.align(some, mode="local", strand="both", hsps=3, min_score=60, **CPU)
    plain = pairalign.align(
        {"a": some["a"], "b": other_strand(some["b"]), "c": some["c"]},
        mode="local",
        hsps=3,
        min_score=60,
        **CPU,
    )
    assert found.raw_score.tolist() == plain.raw_score.tolist()
    with_b = (found.query == 1) | (found.target == 1)
    assert (found.strand[with_b] == -1).all()
    assert (found.strand[~with_b] == 1).all()
    assert with_b.sum() > 4


def test_hits():
    some = reads(30, 6)
    asked: dict[str, Any] = {"mode": "local", "strand": "both", **CPU}
    found = pairalign.align(some, max_hits=3, **asked)
    scores = pairalign.align(some, detail="score", **asked)
    matrix = np.full((30, 30), -1)
    matrix[scores.query, scores.target] = matrix[scores.target, scores.query] = scores.raw_score
    best = np.sort(matrix, axis=1)[:, ::-1][:, :3]
    assert found.raw_score.tolist() == best[best > 0].tolist()
    turned = next(one for one in found if one.strand < 0 and one.query_index > one.target_index)
    every = {(a.query_index, a.target_index): a for a in pairalign.align(some, **asked)}
    same = every[(turned.target_index, turned.query_index)]
    assert (turned.query_start, turned.query_end) == (same.target_start, same.target_end)
    runs = re.findall(r"\d+[=XID]", same.cigar)
    assert turned.cigar == "".join(runs[::-1]).translate(str.maketrans("ID", "DI"))


@pytest.mark.parametrize("measure", ["identity", "jukes-cantor", "kimura-2p", "score"])
def test_distances(measure):
    """Of reads that are turned as of those that are not."""
    asked: dict[str, Any] = {"measure": measure, "mode": "semiglobal", "device": "cpu"}
    turned = pairalign.distance(reads(24, 7), strand="both", **asked)
    straight = pairalign.distance(reads(24, 7, turned=False), strand="both", **asked)
    close = np.isclose(turned.condensed, straight.condensed)
    assert close.mean() > 0.9  # ties are decided along one of the strands
    plus = pairalign.distance(reads(24, 7), **asked)
    assert not np.isclose(turned.condensed, plus.condensed).all()


@pytest.mark.parametrize("linkage", ["greedy", "single", "complete", "average"])
def test_clusters(linkage, folder):
    made = {f"g{g}r{k}": changed(GENOME[200 * g : 200 * g + 150], 0.02, 10 * g + k)
            for g in range(3) for k in range(6)}  # fmt: skip
    turned = {n: other_strand(s) if k % 2 else s for k, (n, s) in enumerate(made.items())}
    asked: dict[str, Any] = {"min_identity": 0.9, "linkage": linkage, "device": "cpu"}
    both = pairalign.cluster(turned, strand="both", **asked)
    assert len(both) == 3
    assert both.labels.tolist() == pairalign.cluster(made, **asked).labels.tolist()
    assert len(pairalign.cluster(turned, **asked)) == 6
    Path("in.fa").write_text(fasta(turned))
    command = ["cluster", "in.fa", "--min-identity", "0.9", "--linkage", linkage, "-q"]
    for name in ("x.uc", "x.clstr", "x.abc"):
        assert main([*command, "--strand", "both", "-o", name]) == 0
    rows = [line.split("\t") for line in Path("x.uc").read_text().splitlines()]
    strands = {row[8]: row[4] for row in rows if row[0] == "H"}
    centres = {row[8]: row[9] for row in rows if row[0] == "H"}
    numbers = {name: k for k, name in enumerate(turned)}
    for name, strand in strands.items():
        same = numbers[name] % 2 == numbers[centres[name]] % 2
        assert strand == "+-"[not same]
    text = Path("x.clstr").read_text()
    assert text.count("at -/") == list(strands.values()).count("-") > 3
    assert len(Path("x.abc").read_text().splitlines()) == 3 * 15


@pytest.mark.parametrize("format", [n for n, writer in FORMATS.items() if not writer.either_strand])
def test_formats_without_a_strand(folder, format, capsys):
    Path("in.fa").write_text(fasta(reads(4, 9)))
    command = ["align", "in.fa", "-o", "out", "--format", format, "--strand", "both"]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert f"{format} has no strands: leave --strand both out, or write paf, tsv" in said
    assert not Path("out").exists()


def test_refused():
    with pytest.raises(AlphabetError, match="protein sequences have one strand"):
        pairalign.align(["MKVLAWEEF", "MKVLAWEEF"], strand="both")
    with pytest.raises(AlphabetError, match="protein sequences have one strand"):
        pairalign.cluster(["MKVLAWEEF", "MKVLAWEEF"], min_identity=1, strand="both")
    with pytest.raises(ValueError, match="strand 'minus': expected one of plus, both"):
        pairalign.distance(["ACGT", "ACGT"], strand="minus")
    scoring = pairalign.make_scoring("dna", free_ends="query-start")
    with pytest.raises(ScoringError, match="strand both: end gaps"):
        pairalign.align(["ACGT", "ACGT"], scoring=scoring, strand="both")


@pytest.mark.parametrize(
    "job",
    [
        lambda reads, **options: pairalign.align(reads, strand="both", **options),
        lambda reads, **options: pairalign.align(reads, reads, strand="both", **options),
        lambda reads, **options: pairalign.distance(reads, strand="both", **options),
        lambda reads, **options: pairalign.distance(reads, strand="both", circular=True, **options),
        lambda reads, **options: pairalign.cluster(
            reads, strand="both", min_identity=0.9, **options
        ),
        lambda reads, **options: pairalign.rotate(reads, to="a", strand="both", **options),
        lambda reads, matrix: pairalign.overlap(reads, scoring=str(matrix)),
    ],
)
def test_a_matrix_that_complementing_changes(job, tmp_path):
    """AAA with TTTTT scored 3 or 9, by which of them was turned."""
    rows = "   A  C  G  T  N\nA  5 -3 -1 -4 -2\nC -3  2 -2 -1 -2\n"
    rows += "G -1 -2  4 -3 -2\nT -4 -1 -3  1 -2\nN -2 -2 -2 -2 -2\n"
    (tmp_path / "m.mat").write_text(rows)
    reads = {"a": GENOME[:90], "t": GENOME[40:160]}
    expected = "strand both: AA scores 5 and TT, its complement, 1: the score would depend"
    with pytest.raises(ScoringError, match=expected):
        job(pairalign.SequenceSet.from_strings(reads, alphabet="dna"), matrix=tmp_path / "m.mat")
