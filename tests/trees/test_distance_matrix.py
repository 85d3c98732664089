"""The triangle of distances, and the files that hold it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from samples import random_distances

from pairalign.errors import DistanceError, FormatError
from pairalign.formats.distances import read_distances, write_distances
from pairalign.results.distances_result import DistanceMatrix
from pairalign.trees import distance_matrix
from pairalign.trees.distance_matrix import pair_at


def test_rows_pairs_and_square_agree():
    scipy = pytest.importorskip("scipy.spatial.distance")
    matrix = random_distances(9)
    square = matrix.square()
    np.testing.assert_array_equal(square, scipy.squareform(matrix.condensed))
    for i in range(9):
        np.testing.assert_array_equal(matrix.row(i), square[i])
        for j in range(9):
            assert matrix[i, j] == square[i, j]
    for place in range(len(matrix.condensed)):
        assert matrix[pair_at(place, 9)] == matrix.condensed[place]
    again = DistanceMatrix.from_square(matrix.names, square)
    np.testing.assert_array_equal(again.condensed, matrix.condensed)
    assert matrix.to_biopython()["s3", "s5"] == pytest.approx(matrix[3, 5])


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        (["a"], [], "at least 2"),
        (["a", "a"], [1], "'a' is that of number 1"),
        (["a", "b\tc"], [1], "of a line"),
        (["a", ""], [1], "of a line"),
        (["a", "b"], [1, 2], "expected \\(1,\\)"),
        (["a", "b", "c"], [1, np.nan, 2], "'a' and 'c' is nan"),
        (["a", "b", "c"], [1, 0, -2], "'b' and 'c' is -2"),
        (["a", "b", "c"], [1, 0, np.inf], "'b' and 'c' is inf"),
    ],
)
def test_what_is_no_matrix(names, values, message):
    with pytest.raises(DistanceError, match=message):
        DistanceMatrix(names, np.array(values, np.float32))


def test_what_is_no_square():
    with pytest.raises(DistanceError, match="not symmetric"):
        DistanceMatrix.from_square("ab", [[0, 1], [2, 0]])
    with pytest.raises(DistanceError, match=r"'b' to itself is 1\.0, expected 0: are these"):
        DistanceMatrix.from_square("ab", [[0, 1], [1, 1]])
    with pytest.raises(DistanceError, match="shape"):
        DistanceMatrix.from_square("ab", [[0, 1]])


# ---------------------------------------------------------------------------------------------
# Files


@pytest.mark.parametrize("largest", [0.5, 5.0, 12345.0])
@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("a.phy", {}),
        ("a.phylip.gz", {}),
        ("a.dist", {"lower": True}),
        ("a.mat", {"strict": True}),
        ("a.tsv", {}),
        ("a.tsv.gz", {}),
        ("a.csv.zst", {}),
        ("a.column", {}),
        ("a.npy", {}),
    ],
)
def test_files_come_back(tmp_path, file, options, largest):
    if file.endswith(".zst"):
        pytest.importorskip("zstandard")
    matrix = random_distances(23, largest)
    write_distances(tmp_path / file, matrix, **options)
    again = read_distances(tmp_path / file, names=matrix.names)
    assert again.names == matrix.names
    np.testing.assert_allclose(again.condensed, matrix.condensed, atol=1e-6, rtol=1e-6)
    if "npy" in file:
        assert again.condensed.tobytes() == matrix.condensed.tobytes()
    assert [path.name for path in tmp_path.iterdir()] == [file]


def test_phylip_text(tmp_path):
    matrix = DistanceMatrix(["one", "second", "x"], np.array([0.5, 1.25, 0], np.float32))
    write_distances(tmp_path / "a.phy", matrix)
    assert (tmp_path / "a.phy").read_text() == (
        "3\n"
        "one    0.000000 0.500000 1.250000\n"
        "second 0.500000 0.000000 0.000000\n"
        "x      1.250000 0.000000 0.000000\n"
    )
    write_distances(tmp_path / "b.phy", matrix, lower=True, strict=True)
    assert (tmp_path / "b.phy").read_text() == (
        "3\none       \nsecond     0.500000\nx          1.250000 0.000000\n"
    )
    write_distances(tmp_path / "c.tsv", matrix)
    assert (tmp_path / "c.tsv").read_text().splitlines()[:2] == [
        "\tone\tsecond\tx",
        "one\t0.000000\t0.500000\t1.250000",
    ]


def test_phylip_of_several_lines(tmp_path):
    (tmp_path / "a.phy").write_text("  3 \n\na 0\n 1\n 2\nb 1 0\n 3\nc 2 3 0\n")
    assert read_distances(tmp_path / "a.phy").condensed.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("a.phy", "", "line 1: expected the number of sequences"),
        ("a.phy", ">a\nMKT\n", "is this a PHYLIP distance matrix"),
        ("a.phy", "3\na 0 1 2\nb 1 0 3\n", "ends after 2 sequences, expected 3"),
        ("a.phy", "2\na 0 1\nb 1 0\nc 1 1\n", "line 4: more than 2 sequences"),
        ("a.phy", "2\na 0 1\nb 1\n", "1 distances of 'b', expected 2 \\(square"),
        ("a.phy", "3\na\nb 1\nc 1\n", "1 distances of 'c', expected 2 \\(lower"),
        ("a.phy", "2\na b 0 1\nb 1 0\n", "names must be without blanks"),
        ("a.phy", "3\na 0 1\n", "a.phy: line 2: 2 distances of 'a', expected 3 \\(square"),
        ("a.phy", "3\na 0 1\nb 1 0\n", "a.phy: line 3: found 'b', expected 3 distances of 'a'"),
        ("a.phy", "2\na 0 1\na 1 0\n", "a.phy: name 2 'a' is that of number 1"),
        ("a.phy", "2\na 0 1\nb 2 0\n", "not symmetric"),
        ("a.phy", "2\na 0 -1\nb -1 0\n", "finite number, 0 or more"),
        ("a.phy", "2\na 0 1\na 1 0\n", "must be unique"),
        ("a.tsv", "name\ta\tb\na\t0\t1\n", "1 rows, expected 2"),
        ("a.tsv", "name\ta\tb\nb\t0\t1\n", "found 'b', expected 'a'"),
        ("a.tsv", "name\ta\tb\na\t0\n", "1 distances, expected 2"),
        ("a.tsv", "x", "expected names"),
        ("a.npy", "x", "not a NumPy array"),
    ],
)
def test_files_that_are_no_matrix(tmp_path, file, text, message):
    (tmp_path / file).write_text(text)
    with pytest.raises(DistanceError, match=message):
        read_distances(tmp_path / file, names=["a", "b"] if "npy" in file else None)


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_files_that_are_cut_short(tmp_path, ending):
    if ending == "zst":
        pytest.importorskip("zstandard")
    path = tmp_path / f"a.tsv.{ending}"
    write_distances(path, random_distances(23))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DistanceError, match=f"^{path}: cannot be read"):
        read_distances(path)


def test_numpy_files(tmp_path):
    matrix = random_distances(5)
    np.save(tmp_path / "square.npy", matrix.square(np.float64))
    again = read_distances(tmp_path / "square.npy", names=matrix.names)
    np.testing.assert_array_equal(again.condensed, matrix.condensed)
    with pytest.raises(DistanceError, match="no names"):
        read_distances(tmp_path / "square.npy")
    with pytest.raises(DistanceError, match="of 5 sequences, but 2 names"):
        read_distances(tmp_path / "square.npy", names=["a", "b"])
    write_distances(tmp_path / "a.npy", matrix)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), matrix.condensed)


def test_names_that_are_too_long_for_strict_files(tmp_path):
    matrix = DistanceMatrix(["short", "elevenchars"], np.ones(1, np.float32))
    with pytest.raises(FormatError, match=r"'elevenchars': 11 characters.*strict_names=True out"):
        write_distances(tmp_path / "a.phy", matrix, strict=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("piece", [1, 4, 36, 1000])
def test_summary_whatever_the_pieces(monkeypatch, piece):
    monkeypatch.setattr(distance_matrix, "_PIECE", piece)
    values = random_distances(9).condensed
    expected = values.min(), values.max(), values.mean(dtype=float)
    assert DistanceMatrix([f"s{k}" for k in range(9)], values).summary == pytest.approx(expected)
    with_nan = np.array([0, 1, np.nan, 3, 4], np.float32)
    assert np.isnan(distance_matrix.summarize(with_nan)).all()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_count_from_a_pipe_takes_no_memory():
    """Only what is read of a matrix is held, whatever its first line says."""
    script = (
        "from pairalign.formats.distances import read_distances\n"
        "try: read_distances('-', 'phylip')\n"
        "except Exception as error: print(type(error).__name__)\n"
        "lines = open('/proc/self/status').read().splitlines()\n"
        "print(next(line.split()[1] for line in lines if line.startswith('VmHWM')))\n"
    )
    for count in (60_000, 10**9):
        text = f"{count}\na\nb 1\nc 1 2\n".encode()
        command = [sys.executable, "-c", script]
        found = subprocess.run(command, input=text, capture_output=True, check=True).stdout.split()
        assert found[0] == b"DistanceError"
        assert int(found[1]) < 200_000  # KiB; the matrix would have 7 GB, or 2 EB
