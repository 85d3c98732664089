"""Joining clusters: against a plain implementation, SciPy's averages, and what equal ones need."""

import math
from fractions import Fraction

import numpy as np
import pytest
from commands import fasta

import pairalign
from pairalign.base.choices import TREE_METHODS
from pairalign.cli.main import main
from pairalign.jobs.distances.guide_tree import build_tree
from pairalign.results.distances_result import DistanceMatrix
from pairalign.results.tree_result import GuideTree
from pairalign.trees.distance_matrix import number_of_pairs
from pairalign.trees.tree_joining import average_clusters, cluster

JOINING = ("upgma", "mixed")
WHOLE = "MKVLAAGGWTREWWPHCMKVLDDEFGHKLM"


def join_plainly(condensed: np.ndarray, first: np.ndarray, method: str) -> np.ndarray:
    """The closest pair of all, again and again; clusters are known by their first sequence."""
    count = len(first)
    square = np.zeros((count, count))
    square[np.triu_indices(count, 1)] = condensed
    square += square.T
    node, size, rows = list(range(count)), [1] * count, []
    alive = list(range(count))

    def join(one: int, other: int, distance: float) -> None:
        for third in alive:
            a, b = square[third, one], square[third, other]
            if method == "mixed":
                joined = min(a, b) + 0.05 * (max(a, b) - min(a, b))
            else:
                joined = (size[one] * a + size[other] * b) / (size[one] + size[other])
            square[third, one] = square[one, third] = joined
        size[one] += size[other]
        rows.append((*sorted((node[one], node[other])), distance, size[one]))
        node[one] = count + len(rows) - 1
        alive.remove(other)

    for copy in np.flatnonzero(first != np.arange(count)).tolist():
        join(int(first[copy]), copy, 0.0)
    while len(alive) > 1:
        pairs = [
            (square[one, other], one, other) for one in alive for other in alive if one < other
        ]
        distance, one, other = min(pairs)
        join(one, other, float(distance))
    return np.array(rows)


def random_triangle(rng: np.random.Generator, count: int, kind: str) -> np.ndarray:
    values = rng.random(number_of_pairs(count))
    if kind == "ties":
        values = np.ceil(values * 4) / 4
    elif kind == "zeros":
        values = np.floor(values * 3) / 4
    return values.astype(np.float32)


@pytest.mark.parametrize("kind", ["random", "ties", "zeros"])
@pytest.mark.parametrize("method", JOINING)
def test_as_defined(method, kind):
    rng = np.random.default_rng(len(kind))
    for count in [2, 3, 4, 5, *rng.integers(6, 40, 60).tolist(), 150]:
        values = random_triangle(rng, count, kind)
        first = np.arange(count)
        if rng.random() < 0.3:  # some are copies
            first = np.minimum(first, rng.integers(0, count, count))
            first = first[first]
            while (first[first] != first).any():
                first = first[first]
        expected = join_plainly(values, first, method)
        found = cluster(values, first.astype(np.int32), method)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("count", [2, 3, 50, 700])
def test_means_are_those_of_scipy(count):
    """Another algorithm, which joins in another order: the same tree where no two are equal."""
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    values = random_triangle(np.random.default_rng(count), count, "random")
    expected = hierarchy.linkage(values.astype(np.float64), "average")
    found = cluster(values, np.arange(count, dtype=np.int32), "upgma")
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_mixed_is_between_the_nearest_and_the_mean():
    """A, B join at 2; C is 4 and 6 from them: 0.9 * 4 + 0.1 * 5; D 7 and 8, then 7.05 and 9."""
    square = [[0, 2, 4, 7], [2, 0, 6, 8], [4, 6, 0, 9], [7, 8, 9, 0]]
    tree = build_tree(DistanceMatrix.from_square("ABCD", square), "mixed")
    assert tree.linkage[:, 2].tolist() == pytest.approx([2, 4.1, 0.9 * 7.05 + 0.1 * 8.025])
    assert tree.method == "mixed"


# ---------------------------------------------------------------------------------------------
# Equal sequences


def groups_of(tree: GuideTree) -> list[set[int]]:
    """Sequences below each merge, in the order of merges."""
    below = [{leaf} for leaf in range(len(tree))]
    for one, other in tree.children:
        below.append(below[one] | below[other])
    return below[len(tree) :]


@pytest.mark.parametrize("measure", ["identity", "score"])
@pytest.mark.parametrize("method", TREE_METHODS)
def test_equal_sequences_are_joined_first(method, measure):
    """Also where a part of a sequence is at distance 0, and where letters differ in case."""
    if method == "nj":
        pytest.importorskip("skbio", reason="scikit-bio is not installed")
    part = WHOLE[:9]
    letters = [WHOLE, part, "MKWLAGREDDEFGH", WHOLE.lower(), part, "WWPHCMKVL", WHOLE, part]
    tree = pairalign.tree(letters, method=method, measure=measure)
    groups = groups_of(tree)
    for copies in ({0, 3, 6}, {1, 4, 7}):
        assert copies in groups
        assert all(not group & copies or group <= copies for group in groups[:4])
    both = [tree.lengths[k].max() for k, group in enumerate(groups) if len(group) == 2]
    assert both.count(0) >= 2


@pytest.mark.parametrize("distinct", [1, 2, 3])
@pytest.mark.parametrize("method", TREE_METHODS)
def test_hardly_anything_but_copies(method, distinct):
    if method == "nj":
        pytest.importorskip("skbio", reason="scikit-bio is not installed")
    kinds = [WHOLE, "MKWLAGREDDEFGH", "WWPHCMKVL"][:distinct]
    tree = pairalign.tree([kinds[k % distinct] for k in range(9)], method=method)
    groups = groups_of(tree)
    assert groups[-1] == set(range(9))
    for kind in range(distinct):
        assert set(range(kind, 9, distinct)) in groups
    assert (tree.lengths >= 0).all()


def test_equal_rows_of_a_matrix_are_joined_first():
    """Number 2 is at no distance from any; 0 and 3 are equal, as all their distances say."""
    square = np.array([[0, 3, 0, 0], [3, 0, 0, 3], [0, 0, 0, 0], [0, 3, 0, 0]], float)
    tree = build_tree(DistanceMatrix.from_square("abcd", square), "upgma")
    assert groups_of(tree)[0] == {0, 3}


def test_sequences_tell_which_are_equal_for_a_matrix(tmp_path):
    """`--names`: the matrix of another measure, whose zeros say less."""
    records = {"a": WHOLE, "b": WHOLE[:9], "c": WHOLE, "d": "WWPHCMKVL"}
    (tmp_path / "in.fa").write_text(fasta(records))
    matrix, tree = tmp_path / "in.phy", tmp_path / "out.nwk"
    matrix.write_text("4\na\nb 0\nc 0.1 0\nd 1 1 1\n")
    names = ["--names", str(tmp_path / "in.fa"), "--quiet"]
    assert main(["tree", str(matrix), "-o", str(tree), *names]) == 0
    assert "(a:0.0,c:0.0)" in tree.read_text()


def test_nothing_but_ties():
    """Each merge changes the nearest of all others."""
    count = 3000
    values = np.full(number_of_pairs(count), 0.5, np.float32)
    for method in JOINING:
        merges = cluster(values, np.arange(count, dtype=np.int32), method)
        assert math.isclose(merges[:, 2].sum(), 0.5 * (count - 1))


def test_average_clusters_of_fractions_without_a_common_unit():
    """Wholes that no unit is a multiple of: rounded down, by far less than means differ here."""
    random = np.random.default_rng(3)
    count = 30
    wholes = random.integers(10**6, 2**31 - 1, count * (count - 1) // 2).astype(np.int32)
    parts = (random.random(len(wholes)) * wholes).astype(np.int32)
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    tree = hierarchy.linkage(parts / wholes, "average")
    for farthest in (Fraction(1, 5), Fraction(3, 7), Fraction(1, 2), Fraction(1)):
        found = average_clusters(parts, wholes, count, farthest)
        labels = hierarchy.fcluster(tree, float(farthest), "distance")
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        assert (found == first[inverse]).all()
    assert average_clusters(parts, wholes, count, Fraction(0)).tolist() == list(range(count))
