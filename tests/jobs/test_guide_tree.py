"""Guide trees: what they must be, that they are the right ones, and how they are written."""

import io
import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from Bio import Phylo
from Bio.Nexus.Nexus import safename
from hypothesis import given
from hypothesis import strategies as st

import pairalign
from pairalign.base.choices import TREE_METHODS
from pairalign.cli.main import main
from pairalign.errors import FormatError
from pairalign.formats.distances import write_distances
from pairalign.results.distances_result import DistanceMatrix
from pairalign.results.tree_result import GuideTree
from pairalign.trees.distance_matrix import number_of_pairs
from pairalign.trees.tree_text import format_length

GLOBINS = Path(__file__).parents[1] / "data" / "globins.fasta"


@pytest.fixture(autouse=True)
def _need_scikit_bio(request: pytest.FixtureRequest) -> None:
    method = getattr(request.node, "callspec", None) and request.node.callspec.params.get("method")
    if method == "nj":
        pytest.importorskip("skbio", reason="scikit-bio is not installed")


def matrix_of(values: np.ndarray, names: list[str] | None = None) -> DistanceMatrix:
    count = (1 + math.isqrt(1 + 8 * len(values))) // 2
    return DistanceMatrix(names or [f"s{k}" for k in range(count)], values.astype(np.float32))


def random_matrix(count: int, *, ties: bool = False) -> DistanceMatrix:
    rng = np.random.default_rng(count)
    values = rng.random(number_of_pairs(count))
    return matrix_of(np.ceil(values * 3) / 4 if ties else values)


def additive_matrix(count: int) -> DistanceMatrix:
    """Ways through a random tree: sequences are hung one by one onto a random branch."""
    rng = np.random.default_rng(count)
    square = np.zeros((count, count))
    square[0, 1] = square[1, 0] = 1
    for new in range(2, count):
        one, other = rng.choice(new, 2, replace=False)
        at = rng.uniform(0.1, 0.9) * square[one, other]
        way = np.maximum(square[one, :new] - at, square[other, :new] + at - square[one, other])
        square[new, :new] = square[:new, new] = way + rng.uniform(0.05, 0.2)
    return DistanceMatrix.from_square([f"s{k}" for k in range(count)], square)


def ways(tree: GuideTree) -> np.ndarray:
    """Length of the way through the tree between every two sequences."""
    count = len(tree)
    below: list[dict[int, float]] = [{leaf: 0.0} for leaf in range(count)]
    square = np.zeros((count, count))
    for pair, lengths in zip(tree.children, tree.lengths, strict=True):
        one, other = (
            {leaf: way + length for leaf, way in below[child].items()}
            for child, length in zip(pair, lengths, strict=True)
        )
        for i, a in one.items():
            for j, b in other.items():
                square[i, j] = square[j, i] = a + b
        below.append({**one, **other})
    return square


def check_shape(tree: GuideTree, count: int) -> None:
    """Binary, rooted, each node used once and after its children, lengths 0 or more."""
    assert tree.children.shape == tree.lengths.shape == (count - 1, 2)
    assert sorted(tree.children.ravel()) == list(range(2 * count - 2))
    assert (tree.children < np.arange(count, 2 * count - 1)[:, None]).all()
    assert (tree.lengths >= 0).all()
    assert np.isfinite(tree.lengths).all()
    first = tree.first_leaves()
    assert (first[tree.children[:, 0]] < first[tree.children[:, 1]]).all()
    assert sorted(tree.leaves()) == list(range(count))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("count", [3, 4, 5, 17, 100])
@pytest.mark.parametrize("method", TREE_METHODS)
def test_shape_and_repeat(method, count, ties):
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    matrix = random_matrix(count, ties=ties)
    tree = pairalign.tree(matrix, method=method)
    check_shape(tree, count)
    assert hierarchy.is_valid_linkage(tree.linkage)
    assert hierarchy.is_monotonic(tree.linkage)
    again = pairalign.tree(matrix, method=method)
    assert again.newick() == tree.newick()
    assert again.mafft() == tree.mafft()


@pytest.mark.parametrize("method", TREE_METHODS)
def test_all_equal(method):
    """Nothing but ties, and no lengths at all."""
    for value in (0.0, 0.5):
        tree = pairalign.tree(matrix_of(np.full(number_of_pairs(9), value)), method=method)
        check_shape(tree, 9)
        np.testing.assert_allclose(ways(tree)[np.triu_indices(9, 1)], value, atol=1e-6)


@pytest.mark.parametrize("count", [3, 4, 8, 40, 150])
def test_neighbour_joining_finds_the_tree_that_made_the_distances(count):
    pytest.importorskip("skbio", reason="scikit-bio is not installed")
    matrix = additive_matrix(count)
    tree = pairalign.tree(matrix, method="nj")
    found = ways(tree)
    np.testing.assert_allclose(found, matrix.square(), atol=2e-6)
    # Rooted in the middle of the longest way.
    depths = tree.depths()[:count]
    assert depths.max() == pytest.approx(found.max() / 2, abs=1e-6)
    one, other = np.unravel_index(found.argmax(), found.shape)
    assert depths[one] == pytest.approx(depths[other], abs=2e-6)


def test_upgma_averages_over_sequences():
    """A, B merge at 2; C joins at the mean of 4 and 6, D at the mean of three."""
    square = [[0, 2, 4, 7], [2, 0, 6, 8], [4, 6, 0, 9], [7, 8, 9, 0]]
    tree = pairalign.tree(DistanceMatrix.from_square("ABCD", square))
    assert tree.newick() == "(((A:1.0,B:1.0):1.5,C:2.5):1.5,D:4.0);\n"
    assert tree.mafft() == "1 2 1.0 1.0\n1 3 1.5 2.5\n1 4 1.5 4.0\n"
    assert tree.linkage[:, 2].tolist() == [2, 5, 8]


def test_neighbour_joining_has_no_negative_branches():
    pytest.importorskip("skbio", reason="scikit-bio is not installed")
    square = np.array([[0, 1, 9, 1], [1, 0, 1, 9], [9, 1, 0, 1], [1, 9, 1, 0]], float)
    check_shape(pairalign.tree(DistanceMatrix.from_square("abcd", square), method="nj"), 4)


@pytest.mark.slow
@pytest.mark.parametrize("method", TREE_METHODS)
def test_a_tree_like_a_ladder(method):
    """Nothing in it may recurse: as deep as there are sequences."""
    count = 1500
    rows, columns = np.triu_indices(count, 1)
    tree = pairalign.tree(matrix_of(np.maximum(rows, columns) / count), method=method)
    assert tree.newick().count("(") == count - 1
    assert len(tree.ascii().splitlines()) == 2 * count - 1
    assert tree.to_biopython().root.clades


# ---------------------------------------------------------------------------------------------
# How it is written


@pytest.mark.parametrize("method", TREE_METHODS)
def test_newick_is_what_biopython_reads(method):
    tree = pairalign.tree(GLOBINS, method=method)
    text = tree.newick()
    assert text.endswith(";\n")
    assert text.count("\n") == 1
    read = Phylo.read(io.StringIO(text), "newick")
    own = tree.to_biopython()
    assert read.is_bifurcating()
    assert own.is_bifurcating()
    assert own.rooted
    expected = ways(tree)
    for i, one in enumerate(tree.names):
        for j in range(i):
            other = tree.names[j]
            assert read.distance(one, other) == pytest.approx(expected[i, j], abs=1e-6)
            assert own.distance(one, other) == pytest.approx(expected[i, j], abs=1e-9)


@given(st.floats(0, 1e9))
def test_lengths_have_no_exponent(length):
    text = format_length(length)
    assert set(text) <= set("0123456789.")
    assert float(text) == pytest.approx(length, rel=1e-8)


@pytest.mark.parametrize("character", "()[]{},:;'\"")
def test_names_that_newick_cannot_hold(character):
    tree = pairalign.tree({f"a{character}b": "MKTA", "c": "MKTW", "d": "MKKA"})
    with pytest.raises(FormatError, match=r"\(rename\).*\(program='mafft'\)"):
        tree.newick()
    assert tree.mafft()


def test_names_that_are_fine():
    names = ["sp|P69905|HBA_HUMAN", "gi#1/2-3", "a=b&c*d@e.f_g~h+i%j"]
    tree = pairalign.tree(dict(zip(names, ("MKTA", "MKTW", "MKKA"), strict=True)))
    for program in (None, "clustalo", "muscle", "famsa"):
        assert all(name in tree.newick(program) for name in names)


def test_names_that_are_too_long_for_a_program():
    names = ["x" * 128, "y" * 1023, "z"]
    tree = pairalign.tree(dict(zip(names, ("MKTA", "MKTW", "MKKA"), strict=True)))
    assert tree.newick()
    assert tree.newick("famsa")
    with pytest.raises(FormatError, match="of 128 characters, of which clustalo reads 127"):
        tree.newick("clustalo")
    with pytest.raises(FormatError, match="of 1023 characters, of which muscle reads 1022"):
        tree.newick("muscle")
    with pytest.raises(FormatError, match="unknown program 'tcoffee'"):
        tree.newick("tcoffee")


def test_nexus_is_read_with_any_name():
    """Biopython puts quotes around some names itself; DendroPy 5.1.3 reads this file, too."""
    names = ["sp|P69905|HBA_HUMAN", "it's", "a(b)", "x:y,c;d[e]", "1", "a-b+c/d", 'q"r', "plain"]
    drawn = np.random.default_rng(8).choice(list("ACDEFGHIKLMNPQRSTVWY"), (len(names), 30))
    own = pairalign.tree({n: "".join(row) for n, row in zip(names, drawn, strict=True)})
    text = own.nexus()
    assert "2 'it''s'," in text
    read, tree = Phylo.read(io.StringIO(text), "nexus"), own.to_biopython()
    for one, other in itertools.combinations(names, 2):
        way = read.distance(safename(one), safename(other))
        assert way == pytest.approx(tree.distance(one, other), abs=1e-6)


def test_ascii():
    tree = pairalign.tree(DistanceMatrix.from_square("ABC", [[0, 2, 6], [2, 0, 6], [6, 6, 0]]))
    assert tree.ascii(13).splitlines() == [
        "        /----- A",
        "/--------",
        "|       \\----- B",
        "|",
        "\\----------- C",
    ]


def test_pictures(tmp_path):
    pytest.importorskip("matplotlib")
    tree = pairalign.tree(GLOBINS)
    for name, start in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")):
        assert main(["tree", str(GLOBINS), "-o", str(tmp_path / name), "--quiet"]) == 0
        assert (tmp_path / name).read_bytes().startswith(start)
        tree.write(tmp_path / f"again.{name}")
        assert (tmp_path / f"again.{name}").read_bytes() == (tmp_path / name).read_bytes()
    assert b"HBA1" in (tmp_path / "a.svg").read_bytes()


# ---------------------------------------------------------------------------------------------
# The command, and wrong uses


@pytest.mark.parametrize("method", TREE_METHODS)
def test_command_from_sequences_and_from_each_matrix(tmp_path, method, capsys):
    matrix = pairalign.distance(GLOBINS)
    expected = pairalign.tree(matrix, method=method)
    assert expected.newick() == pairalign.tree(GLOBINS, method=method).newick()
    common = ["--method", method, "--quiet"]
    assert main(["tree", str(GLOBINS), "-o", "-", *common]) == 0
    assert capsys.readouterr().out == expected.newick()
    for name in ("a.phy", "b.tsv.gz", "c.npy"):
        path = tmp_path / name
        write_distances(path, matrix)
        assert main(["tree", str(path), "--names", str(GLOBINS), "-o", "-", *common]) == 0
        read = Phylo.read(io.StringIO(capsys.readouterr().out), "newick")
        own = expected.to_biopython()
        for other in matrix.names[1:]:
            way = own.distance(matrix.names[0], other)
            assert read.distance(matrix.names[0], other) == pytest.approx(way, abs=1e-5)


def test_command_formats(tmp_path):
    """For a program the distances are those that make the best guide trees."""
    tree, guide = pairalign.tree(GLOBINS), pairalign.tree(GLOBINS, measure="score")
    assert tree.newick() != guide.newick()
    for name, options, text in (
        ("a.nwk", [], tree.newick()),
        ("a", [], tree.newick()),
        ("a.mafft", [], tree.mafft()),
        ("a.nexus", [], tree.nexus()),
        ("b.nwk", ["--for", "mafft"], guide.mafft()),
        ("c.nwk", ["--format", "mafft"], tree.mafft()),
        ("d.mafft", ["--for", "famsa"], guide.newick()),
        ("d.nwk", ["--for", "famsa", "--measure", "identity-aligned"], tree.newick()),
        ("e.txt", [], tree.ascii()),
    ):
        assert main(["tree", str(GLOBINS), "-o", str(tmp_path / name), "--quiet", *options]) == 0
        assert (tmp_path / name).read_text() == text


def test_missing_scikit_bio(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "skbio", None)
    monkeypatch.setitem(sys.modules, "skbio.tree", None)
    assert main(["tree", str(GLOBINS), "-o", str(tmp_path / "a"), "--method", "nj"]) == 1
    assert "pip install 'pairalign[nj]'" in capsys.readouterr().err
    assert main(["tree", str(GLOBINS), "-o", str(tmp_path / "a"), "--quiet"]) == 0
