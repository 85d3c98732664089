"""Clusters against a plain implementation of each linkage, over alignments of all pairs."""

import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from commands import run
from conftest import examples
from family_sets import families
from plain_clusters import Partition, canonical, plain_clusters, plain_values

import pairalign
from pairalign import DNA, PROTEIN, Clusters, SequenceSet, cluster, make_scoring
from pairalign.alignments.identities import count_identity
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.choices import IDENTITIES, LINKAGES
from pairalign.errors import ScoringError
from pairalign.jobs.clusters.cluster import ClusterJob
from pairalign.jobs.clusters.cluster_request import ClusterRequest
from pairalign.requests.resources import Resources

MODES = ("global", "semiglobal", "local")


def partition(found: Clusters) -> Partition:
    return {frozenset(names) for names in found}


BY_PAIR = ("greedy", "single", "complete")
# Each linkage with each mode, each with each identity, and each identity with each mode.
PLAIN = [
    (BY_PAIR[k], identity, MODES[(k + number) % 3])
    for number, identity in enumerate(IDENTITIES)
    for k in range(3)
]
PLAIN += [(linkage, "columns", mode) for linkage in BY_PAIR for mode in MODES]


@pytest.mark.parametrize(("linkage", "identity", "mode"), list(dict.fromkeys(PLAIN)))
def test_as_the_plain_implementation(linkage, identity, mode):
    for seed, alphabet in ((1, DNA), (3, PROTEIN)):
        letters = "ACGT" if alphabet is DNA else "ARNDWKMFP"
        sequences = families(seed, letters=letters)
        scoring = make_scoring(alphabet, mode=mode)
        values = plain_values(sequences, scoring, identity)
        shares = sorted({x for x, _ in values.values()})
        for least in (Fraction("0.9"), Fraction("0.75"), shares[len(shares) // 2]):
            cover = Fraction("0.8") if least == Fraction("0.75") else Fraction(0)
            found = cluster(
                SequenceSet.from_strings(sequences, alphabet=alphabet),
                min_identity=least,
                identity_of=identity,
                min_coverage=cover,
                linkage=linkage,
                scoring=scoring,
                device="cpu",
            )
            expected = plain_clusters(sequences, values, linkage, least, cover)
            assert partition(found) == expected, (seed, least, cover)


def test_average_linkage_as_the_plain_implementation():
    for seed in range(examples(5)):
        sequences = families(seed)
        scoring = make_scoring(DNA)
        values = plain_values(sequences, scoring, "columns")
        for least, cover in (("0.85", "0"), ("0.7", "0.9"), ("0.6", "0")):
            found = cluster(
                sequences, min_identity=least, min_coverage=cover, linkage="average", device="cpu"
            )
            expected = plain_clusters(
                sequences, values, "average", Fraction(least), Fraction(cover)
            )
            assert partition(found) == expected


def test_average_linkage_is_exact_where_means_are_equal_or_just_reach_the_threshold():
    """Short sequences, whose identities are few fractions."""
    random = np.random.default_rng(4)
    joined = 0
    for _ in range(examples(120)):
        texts = dict.fromkeys(
            "".join(random.choice(list("CGT"), random.integers(3, 7))) for _ in range(7)
        )
        sequences = {f"s{k}": text for k, text in enumerate(texts)}
        least = Fraction(int(random.integers(1, 4)), int(random.integers(4, 7)))
        values = plain_values(sequences, make_scoring(DNA), "shorter")
        found = cluster(
            SequenceSet.from_strings(sequences, alphabet=DNA),
            min_identity=least,
            identity_of="shorter",
            linkage="average",
            device="cpu",
        )
        expected = plain_clusters(sequences, values, "average", least, Fraction(0))
        assert partition(found) == expected, (sequences, least)
        joined += any(2 < len(one) < len(sequences) for one in expected)
    assert joined > 5


@pytest.mark.parametrize("linkage", LINKAGES)
def test_windows_and_threads_make_no_difference(linkage, monkeypatch):
    sequences = families(5, 60)
    expected = list(cluster(sequences, min_identity=0.8, linkage=linkage, device="cpu"))
    monkeypatch.setattr("pairalign.jobs.clusters.cluster_work.DEFAULT_WINDOW", 7)
    monkeypatch.setattr("pairalign.jobs.clusters.cluster_work._LISTED_PAIRS", 5)
    for threads in (1, 3):
        found = cluster(sequences, min_identity=0.8, linkage=linkage, device="cpu", threads=threads)
        assert list(found) == expected


def test_medoids_are_the_most_similar_to_the_others():
    sequences = families(11, 30)
    values = plain_values(sequences, make_scoring(DNA), "columns")
    order = canonical(sequences)
    found = cluster(sequences, min_identity=0.75, representative="medoid", device="cpu")
    for names in found:
        sums = {
            one: sum(
                values[min(one, o, key=order.index), max(one, o, key=order.index)][0]
                for o in names
                if o != one
            )
            for one in names
        }
        assert names[0] == max(names, key=lambda one: (round(sums[one], 9), -order.index(one)))


def test_members_are_aligned_with_their_representatives():
    found = cluster(families(3, 30), min_identity=0.7, device="cpu", representative="medoid")
    scoring = make_scoring(DNA)
    assert len(found.alignments) == 30 - len(found)
    for pair in found.alignments:
        label = found.labels[pair.alignments.query[pair.index]]
        assert pair.target.name == found.sequences.names[found.representatives[label]]
        assert found.identity[pair.alignments.query[pair.index]] == pair.identity
    assert scoring == found.alignments.scoring


def test_edges_are_the_pairs_that_pass():
    sequences = families(4)
    values = plain_values(sequences, make_scoring(DNA), "columns")
    expected = {frozenset(pair) for pair, (x, _) in values.items() if x >= Fraction("0.8")}
    for linkage in LINKAGES:
        found = cluster(sequences, min_identity="0.8", linkage=linkage, edges=True, device="cpu")
        assert found.edges is not None
        assert {frozenset((p.query.name, p.target.name)) for p in found.edges} == expected


@pytest.mark.parametrize("linkage", ["greedy", "single", "complete"])
def test_pairs_that_cannot_be_similar_enough_are_not_aligned(linkage):
    sequences = families(3, 40, 90)
    thresholds = PairThresholds(Fraction("0.97"), "shorter", Fraction("0.9"), "aligned")
    request = ClusterRequest(thresholds=thresholds, linkage=linkage)
    problem = Problem(SequenceSet.from_strings(sequences), None, make_scoring(DNA))
    job = ClusterJob(problem, request, Resources(device="cpu"))
    job.run()
    assert job.steps.pairs == 40 * 39 // 2
    assert job.steps.possible > 3 * job.steps.common >= 3 * job.steps.passing > 0


def test_one_sequence_and_no_pair():
    assert list(cluster({"a": "ACGT"}, min_identity=0.9)) == [["a"]]
    far = cluster({"a": "AAAAAA", "b": "CCCCCC"}, min_identity=0.9, edges=True, device="cpu")
    assert list(far) == [["b"], ["a"]] or list(far) == [["a"], ["b"]]
    assert far.edges is not None
    assert len(far.edges) == 0


# ---------------------------------------------------------------------------------------------
# Files


@pytest.fixture
def reads(tmp_path: Path) -> Path:
    path = tmp_path / "reads.fasta"
    made = families(21, 40, 60)
    path.write_text("".join(f">{name} header {name}\n{body}\n" for name, body in made.items()))
    return path


def test_uc_is_laid_out_as_vsearch_does(reads):
    if shutil.which("vsearch") is None:
        pytest.skip("vsearch is not installed")
    folder = reads.parent
    run("cluster", reads, "-o", "ours.uc", "--min-identity", "0.9", cwd=folder)
    subprocess.run(
        "vsearch --cluster_fast reads.fasta --id 0.9 --iddef 1 --minseqlength 1 --uc theirs.uc",
        shell=True, cwd=folder, check=True, capture_output=True,
    )  # fmt: skip

    def shapes(name: str) -> dict[str, tuple[int, tuple[bool, ...]]]:
        lines = (folder / name).read_text().splitlines()
        fields = {line[0]: line.split("\t") for line in lines}
        return {k: (len(f), tuple(x == "*" for x in f)) for k, f in fields.items()}

    assert shapes("ours.uc") == shapes("theirs.uc")


@pytest.mark.parametrize("identity", ["columns", "shorter", "full", "internal"])
def test_pairs_that_no_longer_matter_are_not_aligned(identity):
    # more than a window, so that rows are known to have representatives before they are looked at
    rng = np.random.default_rng(8)
    ancestors = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(40)]
    given = {}
    for k in range(1500):
        body = list(ancestors[k % 40])
        for _ in range(rng.integers(0, 4)):
            body[rng.integers(len(body))] = str(rng.choice(list("ACGTN")))
        given[f"s{k}"] = "".join(body[: 60 - k % 3])
    sequences = SequenceSet.from_strings(given)
    scoring = make_scoring(DNA)
    used = Resources(device="cpu", threads=2)
    asked = [
        ClusterRequest(thresholds=PairThresholds(Fraction("0.93"), identity), edges=keep)
        for keep in (False, True)
    ]
    problem = Problem(sequences, None, scoring)
    jobs = [ClusterJob(problem, one, used) for one in asked]  # with edges, all
    found, every = (job.run() for job in jobs)
    assert found.labels.tolist() == every.labels.tolist()
    assert found.representatives.tolist() == every.representatives.tolist()
    assert found.identity.tolist() == every.identity.tolist()
    few, all_ = (job.steps for job in jobs)
    assert few.scoring < all_.scoring
    assert few.pairs < all_.pairs


def ends_of(found: pairalign.Alignments) -> list[tuple[int, int]]:
    return list(zip(found.query.tolist(), found.target.tolist(), strict=True))


def test_the_best_edges_of_each_sequence():
    sequences = families(3, 30, 90)
    every = cluster(sequences, min_identity=0.5, edges=True, device="cpu").edges
    found = cluster(
        sequences, min_identity=0.5, edges=True, max_hits=1, rank="identity", device="cpu"
    ).edges
    assert found is not None
    assert 0 < len(found) < len(every)
    for end in {*every.query.tolist(), *every.target.tolist()}:
        best, kept = (
            one.identity[(one.query == end) | (one.target == end)].max() for one in (every, found)
        )
        assert kept == best
    asked = {"min_identity": 0.5, "identity_of": "shorter", "edges": True, "device": "cpu"}
    all_shorter = cluster(sequences, **asked).edges
    shorter = cluster(sequences, **asked, max_hits=1, rank="identity").edges
    assert shorter is not None
    counted = count_identity(all_shorter, "shorter")
    values = dict(zip(ends_of(all_shorter), np.divide(*counted).tolist(), strict=True))
    for end in {*all_shorter.query.tolist(), *all_shorter.target.tolist()}:
        kept = max(values[pair] for pair in ends_of(shorter) if end in pair)
        assert kept == max(value for pair, value in values.items() if end in pair)
    with pytest.raises(ScoringError, match="internal in mode global"):
        cluster(
            sequences,
            min_identity=0.5,
            identity_of="internal",
            mode="global",
            edges=True,
            max_hits=1,
            rank="identity",
        )
    with pytest.raises(ValueError, match="edges=True"):
        cluster(sequences, min_identity=0.5, max_hits=1)
    with pytest.raises(ValueError, match="rank 'bits'"):
        cluster(sequences, min_identity=0.5, edges=True, rank="bits")
