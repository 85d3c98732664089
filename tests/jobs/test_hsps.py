"""Several local alignments of a pair: against the plain reference, until one does not pass."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import reference
from checks import assert_same, costs_of, found_alignment
from commands import rows_of
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from overlapping import GENOME, changed
from strategies import Problem, small_problems

import pairalign
from pairalign.cli.main import main
from pairalign.results.alignments_result import Alignments


def local(problem: Problem) -> Problem:
    return replace(problem, scoring=replace(problem.scoring, mode="local"))


def by_pair(found: Alignments) -> dict[tuple[int, int], list[int]]:
    """Numbers of the alignments of each pair; those of a pair follow one another."""
    pairs: dict[tuple[int, int], list[int]] = {}
    before = None
    for k, pair in enumerate(zip(found.query.tolist(), found.target.tolist(), strict=True)):
        assert pair == before or pair not in pairs
        pairs.setdefault(pair, []).append(k)
        before = pair
    return pairs


@settings(max_examples=examples(60))
@given(
    problem=small_problems().map(local), hsps=st.integers(2, 5), least=st.sampled_from([None, 3])
)
def test_as_the_reference(problem, hsps, least):
    sets = problem.sets()
    options = {"scoring": problem.scoring, "device": "cpu", "threads": 1}
    found = pairalign.align(*sets, **options, hsps=hsps, min_score=least)
    pairs = by_pair(found)
    assert list(pairs) == list(by_pair(pairalign.align(*sets, **options, min_score=least)))
    costs = costs_of(problem.scoring)
    for (i, j), numbers in pairs.items():
        query, target = sets[0].codes_of(i).tolist(), sets[-1].codes_of(j).tolist()
        expected = reference.align_all(query, target, costs, hsps)
        expected = [one for one in expected if least is None or one.score >= least]
        if not expected:  # nothing is aligned, and nothing was asked for
            assert least is None
            expected = [reference.align(query, target, costs)]
        assert [found_alignment(found, k) for k in numbers] == expected


def test_thresholds_end_a_pair():
    """The first alignment that does not pass is the end, whatever comes after it."""
    core, worse = GENOME[:100], changed(GENOME[200:300], 0.2, 1)
    pair = {"a": core + GENOME[500:600] + GENOME[200:300], "b": worse + GENOME[800:900] + core}
    every = pairalign.align(pair, mode="local", hsps=3)
    assert len(every) == 3
    assert every.identity[0] == 1 > every.identity[1]
    assert len(pairalign.align(pair, mode="local", hsps=3, min_identity=0.99)) == 1
    assert len(pairalign.align(pair, mode="local", hsps=3, min_score=every.score[1])) == 2
    assert len(pairalign.align(pair, mode="local", hsps=2)) == 2
    again = pairalign.align(pair, mode="local", hsps=3, pairs=[("b", "a")])
    assert_same(every, again)
    graph = every.to_networkx()
    assert graph.edges["a", "b"]["score"] == every.score[0]
    assert every.to_igraph().es["score"] == [every.score[0]]
    assert every.to_scipy("score")[0, 1] == every.score[0]


def test_evalues_end_a_pair(folder):
    Path("two.fa").write_text(">a\n" + 2 * "MKVLAAGGWTREWCHMKPYW" + "\n>b\nMKVLAAGGWTREWCHMKPYW\n")
    command = ["align", "two.fa", "--mode", "local", "--hsps", "9", "-q", "--format", "tsv"]
    columns = ["--columns", "score,evalue"]
    assert main([*command, *columns, "-o", "all.tsv"]) == 0
    assert main([*command, *columns, "-o", "some.tsv", "--max-evalue", "0.001"]) == 0
    every, some = (rows_of(Path(name).read_text()) for name in ("all.tsv", "some.tsv"))
    assert [row["score"] for row in some] == [row["score"] for row in every[:2]]
    assert float(every[2]["evalue"]) > 0.001 >= float(every[1]["evalue"])


@pytest.mark.skipif(shutil.which("lalign36") is None, reason="lalign36 is not installed")
def test_scores_are_those_of_lalign(folder):
    repeats = {"a": changed(5 * GENOME[:60], 0.1, 1), "b": changed(4 * GENOME[:60], 0.1, 2)}
    for name, letters in repeats.items():
        Path(f"{name}.fa").write_text(f">{name}\n{letters}\n")
    command = "lalign36 -q -n -3 -r +5/-4 -f -12 -g -4 -K 8 -E 1e9 a.fa b.fa"
    said = subprocess.run(command.split(), capture_output=True, text=True, check=True).stdout
    theirs = [int(score) for score in re.findall(r"Waterman-Eggert score: (\d+)", said)]
    scoring = pairalign.make_scoring(
        "dna", mode="local", match=5, mismatch=-4, gap_open=16, gap_extend=4
    )
    ours = pairalign.align(repeats, scoring=scoring, hsps=8).score.tolist()
    assert len(theirs) > 4
    assert ours[: len(theirs)] == theirs
