"""Copies are aligned once: the same bytes as where every pair is."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checks import assert_equal
from made_thresholds import make_pair_thresholds
from overlapping import GENOME
from strand_problems import other_strand

import pairalign
from pairalign import SequenceSet, make_scoring
from pairalign.alignments.problem import Problem
from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_engine import CpuEngine
from pairalign.engines.cpu.cpu_pair_filter import PairFilter
from pairalign.jobs.clusters import cluster_work
from pairalign.jobs.distances import distance
from pairalign.jobs.stages.copies_engine import CopiesEngine
from pairalign.pairs import copies
from pairalign.pairs.windows import Window
from pairalign.results.alignments_result import Alignments

MODES = ("global", "semiglobal", "local")
EVERY = {"detail": "cigar", "threads": 2, "device": "cpu"}


def with_copies(seed: int, *, proteins: bool = False, count: int = 40) -> SequenceSet:
    """Relatives of equal and other lengths, their strands, short ones and ones of N, in copies."""
    rng = np.random.default_rng(seed)
    letters = list("ARNDCQEGHILKMFPSTWYV" if proteins else "ACGT")
    parent = rng.choice(letters, 40)
    kinds = ["".join(rng.choice(letters, k)) for k in (1, 3, 40)]
    for k in range(7):
        child = parent.copy()
        child[rng.integers(0, 40, 5)] = rng.choice(letters, 5)
        kinds.append("".join(child)[k % 3 : 40 - k % 2])
    if not proteins:
        kinds += [other_strand(kinds[3]), "ACGTNNNNNNACGU", "N" * 9, "NN", "acgtNNNNNNACGT"]
    else:
        kinds += ["X" * 9, "MJBZXXUO", kinds[4].lower()]
    chosen = kinds + [kinds[k] for k in rng.integers(0, len(kinds), count - len(kinds))]
    order = rng.permutation(count)
    return SequenceSet.from_strings(
        {f"s{k}": chosen[place] for k, place in enumerate(order)},
        alphabet="protein" if proteins else "dna",
    )


@pytest.fixture
def both_ways(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Any, Any]]:
    """Do something with copies aligned once, and with every pair aligned."""

    def do(what: Callable[..., Any], *given: Any, **asked: Any) -> tuple[Any, Any]:
        once = what(*given, **asked)
        with monkeypatch.context() as patch:
            patch.setattr(CopiesEngine, "worth_choosing", -1)
            patch.setattr(cluster_work, "group_copies", lambda _: None)
            patch.setattr(distance, "distinct_run", lambda _: None)
            return once, what(*given, **asked)

    return do


@pytest.fixture
def aligned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the pairs that an engine aligns."""
    counts: list[int] = []
    plain = CpuEngine.align

    def count(engine: CpuEngine, *given: Any) -> Alignments:
        found = plain(engine, *given)
        counts.append(len(found))
        return found

    monkeypatch.setattr(CpuEngine, "align", count)
    return counts


def test_pairs_of_copies_are_aligned_once(aligned):
    given = SequenceSet.from_strings(["ACGT", "ACCT", "AC"] * 8)
    assert len(pairalign.align(given, **EVERY)) == 24 * 23 // 2
    assert aligned == [6]  # of three sequences, and each with a copy


@pytest.mark.parametrize("asked", [{}, {"max_hits": 3}, {"min_score": 40}, {"mode": "local"}])
@pytest.mark.parametrize("two_sets", [False, True])
def test_pairs_of_a_list_are_aligned_once(both_ways, aligned, two_sets, asked):
    """The list names few pairs of its rectangle: most rows have long gaps in it."""
    sets = [with_copies(1, count=400), *([with_copies(2, count=300)] if two_sets else [])]
    lengths = len(sets[0]), len(sets[-1])
    numbers = np.random.default_rng(3).permutation(lengths[0] * lengths[1])[:4000]
    listed = np.stack(np.divmod(numbers, lengths[1]), axis=1)
    if not two_sets:
        ordered = np.sort(listed[listed[:, 0] != listed[:, 1]])
        listed = np.unique(ordered, axis=0)
    once, every = both_ways(pairalign.align, *sets, **{**EVERY, "pairs": listed, **asked})
    assert_equal(once, every)
    contents = [[one.codes_of(k).tobytes() for k in range(len(one))] for one in sets]
    found = {(contents[0][i], contents[-1][j]) for i, j in listed.tolist()}
    distinct = found if two_sets else {tuple(sorted(pair)) for pair in found}
    assert aligned[0] <= len(distinct) < len(listed) // 4
    assert aligned[0] == len(distinct) or asked


@pytest.mark.parametrize(
    ("free", "more"),
    [
        ((), {}),
        (("query-start",), {}),
        ((), {"min_score": -40}),
        (("query-start",), {"min_score": -40}),
        ((), {"strand": "both"}),
    ],
)
@pytest.mark.parametrize("two_sets", [False, True])
def test_pairs_of_a_list_are_sorted_where_they_are_few(two_sets, free, more, aligned, monkeypatch):
    """Of a sorted list and with a table of all blocks the same pairs are aligned."""
    sets = [with_copies(1, count=120), *([with_copies(2, count=90)] if two_sets else [])]
    asked = {**EVERY, "scoring": make_scoring("dna", free_ends=free), **more}
    numbers = np.random.default_rng(3).permutation(120 * len(sets[-1]))[:2500]
    listed = np.stack(np.divmod(numbers, len(sets[-1])), axis=1)
    if not two_sets:
        listed = np.unique(np.sort(listed[listed[:, 0] != listed[:, 1]]), axis=0)
    found, counts = [], []
    for most in (1 << 23, 1):
        monkeypatch.setattr(copies, "_MOST_BLOCKS", most)
        found.append(pairalign.align(*sets, pairs=listed, **asked))
        assert_equal(found[0], found[-1])
        counts.append(list(aligned))
        aligned.clear()
    assert counts[0] == counts[1]
    assert 0 < max(counts[0]) < len(listed) // 2


@pytest.mark.parametrize("detail", ["score", "stats", "cigar"])
@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize("mode", MODES)
def test_modes_and_strands(both_ways, mode, strand, detail):
    for seed, window in ((1, 7), (2, None)):
        one = with_copies(seed)
        asked = {**EVERY, "detail": detail, "mode": mode, "strand": strand, "window": window}
        assert_equal(*both_ways(pairalign.align, one, **asked))
        other = with_copies(seed + 9, count=25)
        assert_equal(*both_ways(pairalign.align, one, other, **asked))


CHOICES: list[dict[str, Any]] = [
    {"mode": "local", "hsps": 3},
    {"mode": "local", "max_evalue": 1e-3, "both_ways": True},
    {"mode": "local", "max_evalue": 1, "mask": "seg", "mask_scores": True, "db_size": 99999},
    {"mode": "local", "max_hits": 4},
    {"max_hits": 7, "rank": "identity"},
    {"min_score": 20},
    {"min_identity": "60%"},
    {"min_identity": "30%", "min_coverage": "70%", "coverage_of": "query", "mode": "semiglobal"},
    {"max_length_ratio": 1.5},
    {"orient": "canonical"},
    {"objective": "mea"},
    {"pairs": [(f"s{i}", f"s{j}") for i in range(40) for j in range(i) if (i * j) % 3]},
]


@pytest.mark.parametrize("asked", CHOICES, ids=lambda one: "-".join(one))
def test_what_else_is_asked(both_ways, asked):
    for seed in (3, 4):
        given = with_copies(seed, proteins=True)
        assert_equal(*both_ways(pairalign.align, given, **{**EVERY, **asked}))


def test_pairs_of_copies_are_aligned_once_for_each_query(aligned):
    """Where it matters which sequence is the query, a block of pairs has two that are aligned."""
    reads = ["ACGTACGTTA", "ACGTTCGTTA", "ACGGTACGTTA"] * 20
    scoring = make_scoring("dna", free_ends="query-start")
    assert len(pairalign.align(reads, scoring=scoring, **EVERY)) == 60 * 59 // 2
    assert sum(aligned) == 3 + 2 * 3


@pytest.mark.parametrize("asked", [{}, {"linkage": "single"}, {"linkage": "average"}])
@pytest.mark.parametrize(("identity", "mode"), [(0.3, "local"), (0.6, "global"), (1.0, "global")])
def test_clusters(both_ways, asked, identity, mode):
    for given in (with_copies(7), with_copies(8, proteins=True)):
        for more in ({}, {"edges": True}, {"representative": "medoid"}):
            options = {"min_identity": identity, "mode": mode, "device": "cpu", **asked, **more}
            once, every = both_ways(pairalign.cluster, given, **options)
            for name in ("labels", "representatives", "order"):
                assert np.array_equal(getattr(once, name), getattr(every, name)), name
            assert_equal(once.alignments, every.alignments)
            if once.edges is not None:
                assert_equal(once.edges, every.edges)


def test_copies_that_are_not_similar_to_each_other_stand_alone():
    found = pairalign.cluster({"a": "NNNNACGT", "b": "NNNNACGT"}, min_identity=0.9)
    assert sorted(found) == [["a"], ["b"]]
    joined = pairalign.cluster({"a": "N" * 30, "b": "N" * 30}, min_identity=0)
    assert len(list(joined)) == 1


@pytest.mark.parametrize("targets", [0, 1, 50])
@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize(
    ("measure", "mode"),
    [("identity-unambiguous", "global"), ("identity-shorter", "local"), ("score", "semiglobal")],
)
def test_distances(both_ways, mode, measure, strand, targets):
    given: list[Any] = [with_copies(3, count=130)]
    if targets:
        given.append(with_copies(4, count=50)[:targets])
    asked = {"mode": mode, "measure": measure, "strand": strand, "device": "cpu"}
    once, every = both_ways(pairalign.distance, *given, **asked)
    values = [one.values if targets else one.condensed for one in (once, every)]
    np.testing.assert_array_equal(*values)


def test_distances_of_copies_are_measured_once(aligned):
    given = SequenceSet.from_strings(["ACGT", "ACCT", "AC"] * 8 + ["ACC"])
    assert len(pairalign.distance(given, device="cpu").condensed) == 25 * 24 // 2
    assert aligned == [9]  # of four sequences, and three with a copy


COMMANDS = [
    ("distance", "reads.fa", "-o", "out.tsv"),
    ("distance", "reads.fa", "--measure", "kimura-2p", "--strand", "both", "-o", "out.phy"),
    ("tree", "reads.fa", "-o", "out.nwk"),
    ("split", "reads.fa", "--min-identity", "0.8", "-o", "out.csv"),
    ("overlap", "reads.fa", "--min-overlap", "40", "-o", "out.paf"),
    ("msa", "reads.fa", "-o", "out.fa"),
    ("align", "reads.fq", "-o", "out.sam"),
    ("overlap", "reads.fa", "--candidates", "pairs.tsv", "--min-overlap", "40", "-o", "out.paf"),
    ("align", "reads.fa", "--pairs", "pairs.tsv", "--max-hits", "2", "-o", "out.blast6"),
    ("align", "reads.fa", "--hsps", "2", "--mode", "local", "-o", "out.paf"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: "-".join(one[:3]))
def test_commands(both_ways, command, here):
    rng = np.random.default_rng(11)
    pieces = [GENOME[start : start + 90] for start in (0, 30, 65, 110)]
    pieces += [other_strand(GENOME[150:240]), GENOME[180:270]]
    reads = [pieces[k] for k in (*range(6), *rng.integers(0, 6, 14))]
    Path("reads.fa").write_text("".join(f">r{k}\n{one}\n" for k, one in enumerate(reads)))
    qualities = ["".join(map(chr, rng.integers(40, 70, len(one)))) for one in reads]
    lines = zip(range(99), reads, qualities, strict=False)
    Path("reads.fq").write_text("".join(f"@r{k}\n{one}\n+\n{two}\n" for k, one, two in lines))

    listed = np.argwhere(np.triu(rng.random((20, 20)) < 0.8, 1))
    Path("pairs.tsv").write_text("".join(f"r{j}\tr{i}\n" for i, j in listed))

    def written() -> bytes:
        Path(command[-1]).unlink(missing_ok=True)
        assert main([*command, "--device", "cpu", "-q"]) == 0
        return Path(command[-1]).read_bytes()

    once, every = both_ways(written)
    assert once == every


@pytest.mark.parametrize("coverage_of", ["both", "query"])
@pytest.mark.parametrize("two_sets", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_filters_look_at_copies_once(mode, two_sets, coverage_of):
    """With a list of all pairs each is looked at: the same are left by each step."""
    scoring = make_scoring("dna", mode=mode)
    left = set()
    for seed, share, least in ((1, "80%", None), (2, "0.5", 20), (3, "95%", -30)):
        first = with_copies(seed, count=90)
        second = with_copies(seed + 3, count=70) if two_sets else None
        wanted = make_pair_thresholds(share, "columns", "0.9", coverage_of)
        with closing(
            PairFilter(Problem(first, second, scoring), wanted, least, threads=2, subsequences=True)
        ) as one:
            bounds = (0, 70) if two_sets else (40, 90)
            for columns in (bounds, (bounds[0] + 3, bounds[1] - 20)):
                window = Window(0, 5, 61, *columns, triangular=not two_sets)
                found = one.choose(window)
                every = one.choose(window, np.ones(window.pairs, np.bool_))
                assert (found.mask == every.mask).all()
                assert replace(found, mask=None) == replace(every, mask=None)
                left.add(found.left / window.pairs)
    assert any(0.01 < share < 0.99 for share in left)
