"""Distances within a limit: of the command, of Python, and as other programs compute them."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import pairalign
from pairalign.cli.main import main
from pairalign.errors import CapacityError, DeviceError, DistanceError
from pairalign.results.distances_result import SparseDistances

BLOSUM62 = pairalign.make_scoring("protein", gap_open=11, gap_extend=11)
"""As scirpy scores: a gap costs 11 a residue."""


def receptors(count: int, seed: int = 0) -> dict[str, str]:
    """Peptides like CDR3s: of few letters at their ends, some of them related, one twice."""
    rng = np.random.default_rng(seed)
    letters = list("ACDEFGHIKLMNPQRSTVWY")
    made: list[str] = []
    for _ in range(count - 1):
        if made and rng.random() < 0.6:
            text = list(made[int(rng.integers(len(made)))])
            for _ in range(int(rng.integers(1, 3))):
                place = int(rng.integers(3, len(text) - 2))
                text[place : place + 1] = rng.choice(letters, int(rng.integers(0, 3))).tolist()
            made.append("".join(text))
        else:
            made.append("CAS" + "".join(rng.choice(letters, int(rng.integers(4, 13)))) + "YF")
    return {f"c{k}": text for k, text in enumerate([*made, made[0]])}


def found_pairs(found: SparseDistances) -> dict[tuple[int, int], int]:
    pairs = zip(found.queries.tolist(), found.targets.tolist(), strict=True)
    return dict(zip(pairs, found.values.tolist(), strict=True))


def pairs_of(texts: list[str]) -> list[tuple[int, int]]:
    return [(a, b) for a in range(len(texts)) for b in range(a + 1, len(texts))]


@pytest.mark.parametrize("limit", [0, 10, 25])
def test_drops_are_scirpys(limit):
    """scirpy's `AlignmentDistanceCalculator` is this of parasail."""
    parasail = pytest.importorskip("parasail")
    sequences = receptors(150)
    texts = list(sequences.values())

    def score(a: int, b: int) -> int:
        found = parasail.nw_scan_16(texts[a], texts[b], 11, 11, parasail.blosum62)
        return int(found.score)

    own = [score(k, k) for k in range(len(texts))]
    expected = {(a, b): min(own[a], own[b]) - score(a, b) for a, b in pairs_of(texts)}
    expected = {pair: drop for pair, drop in expected.items() if drop <= limit}
    found = pairalign.distance(sequences, scoring=BLOSUM62, max_drop=limit, sparse=True)
    assert found_pairs(found) == expected
    assert found.measure == "drop"
    assert len(expected) > 0


@pytest.fixture
def folder(here: Path) -> Path:
    sequences = receptors(80, seed=5)
    (here / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in sequences.items()))
    return here


AMBIGUOUS = {"c1": "CASSXGTGELFF", "c2": "CASSAGTGELFF", "c3": "CASSXXTGELFF", "c4": "CASSASTGELFF"}
"""X scores 0 with A and S, -1 with itself: pairs score more than that."""


def test_a_drop_is_never_below_0_in_any_format(folder):
    sparse = pytest.importorskip("scipy.sparse")
    parquet = pytest.importorskip("pyarrow.parquet")
    Path("x.fa").write_text("".join(f">{name}\n{text}\n" for name, text in AMBIGUOUS.items()))
    gaps = ["--gap-open", "11", "--gap-extend", "11"]
    for name in ("x.tsv", "x.npz", "x.parquet"):
        assert main(["distance", "x.fa", "--max-drop", "10", *gaps, "-o", name, "-q"]) == 0
    # c1 with c4: -1 of X and A, 6 of G and G; then 0 of G and S.
    expected = {(0, 1): 0, (0, 2): 0, (0, 3): 5, (1, 2): 0, (1, 3): 4, (2, 3): 0}
    rows = [line.split("\t") for line in Path("x.tsv").read_text().splitlines()[1:]]
    names = list(AMBIGUOUS)
    assert {(names.index(a), names.index(b)): int(d) for a, b, d in rows} == expected
    assert parquet.read_table("x.parquet")["distance"].to_pylist() == list(expected.values())
    matrix = sparse.load_npz("x.npz").toarray()
    assert {(a, b): int(matrix[a, b]) - 1 for a, b in expected} == expected


def test_a_sequence_scores_with_itself_what_its_best_alignment_does(tmp_path):
    """Where no gap costs as much as a mismatch with itself, the diagonal is not the best."""
    letters = "ACGTN"
    scores = [[-9 if "N" in a + b else 4 if a == b else -1 for b in letters] for a in letters]
    rows = [f"{a} {' '.join(map(str, row))}" for a, row in zip(letters, scores, strict=True)]
    (tmp_path / "m").write_text("\n".join(["  A C G T N", *rows]) + "\n")
    scoring = pairalign.make_scoring("dna", matrix=str(tmp_path / "m"), gap_open=1, gap_extend=1)
    sequences = {"a": "ANC", "b": "ANC", "c": "AC", "d": "NA"}  # with themselves: 6, 6, 8, 2
    found = pairalign.distance(sequences, scoring=scoring, max_drop=9, sparse=True)
    expected = {(0, 1): 0, (0, 2): 0, (0, 3): 1, (1, 2): 0, (1, 3): 1, (2, 3): 0}
    assert found_pairs(found) == expected


def test_npz_is_a_matrix_of_scipy(folder):
    sparse = pytest.importorskip("scipy.sparse")
    assert main(["distance", "in.fa", "--max-drop", "20", "-o", "o.npz", "-q"]) == 0
    matrix = sparse.load_npz("o.npz")
    found = pairalign.distance("in.fa", max_drop=20, sparse=True)
    expected = np.zeros((80, 80), np.uint8)
    expected[found.queries, found.targets] = found.values + 1
    expected += expected.T
    np.fill_diagonal(expected, 1)
    assert matrix.dtype == np.uint8
    assert matrix.has_sorted_indices
    assert np.array_equal(matrix.toarray(), expected)
    assert np.array_equal(found.csr().toarray(), expected)
    with np.load("o.npz") as arrays:
        assert arrays["names"].tolist() == found.names == list(receptors(80, seed=5))
        assert (str(arrays["measure"]), int(arrays["limit"])) == ("drop", 20)


def test_names_with_quotes_are_quoted_in_tables(tmp_path):
    named = pairalign.SequenceSet.from_strings({'"a': "MKVLAAG", 'b"c': "MKVLAAG", "d": "MKVLASG"})
    pairalign.distance(named, max_edits=1, sparse=True).write(tmp_path / "o.tsv")
    with (tmp_path / "o.tsv").open(newline="") as file:
        rows = [row[:2] for row in csv.reader(file, delimiter="\t")]
    assert rows[1:] == [['"a', 'b"c'], ['"a', "d"], ['b"c', "d"]]


def test_standard_output_is_a_table(folder, capfdbinary):
    assert main(["distance", "in.fa", "--max-edits", "0", "-o", "-", "-q"]) == 0
    said = io.BytesIO(capfdbinary.readouterr().out).readlines()
    assert said == [b"query\ttarget\tdistance\n", b"c0\tc79\t0\n"]


def test_arguments_that_make_no_sense():
    sequences = {"a": "CASS", "b": "CAST"}
    with pytest.raises(ValueError, match="one limit"):
        pairalign.distance(sequences, sparse=True)
    with pytest.raises(ValueError, match="one limit"):
        pairalign.distance(sequences, max_drop=3, sparse=False)  # type: ignore[call-overload]
    with pytest.raises(DeviceError, match="on the CPU and on CUDA GPUs"):
        pairalign.distance(sequences, max_edits=1, sparse=True, device="opencl")  # type: ignore[call-overload]
    with pytest.raises(DistanceError, match="at least 2"):
        pairalign.distance({"a": "CASS"}, max_drop=1, sparse=True)


def test_larger_limits_have_larger_numbers():
    found = pairalign.distance({"a": "W" * 60, "b": "P" * 60}, max_drop=5000, sparse=True)
    assert found.dtype == np.uint16
    data, indices, indptr = found.csr_arrays()
    assert data.tolist() == [1, found.values[0] + 1, found.values[0] + 1, 1]
    assert (indices.tolist(), indptr.tolist()) == ([0, 1, 0, 1], [0, 2, 4])
    assert repr(found) == "<SparseDistances: 1 pair of 2 sequences, drop of at most 5000>"


def test_blocks_of_rows_are_the_matrix(monkeypatch):
    """However many pairs are put in order at a time."""
    sequences = receptors(150)
    plain = pairalign.distance(sequences, max_edits=4, sparse=True)
    arrays = plain.csr_arrays()
    rows = np.concatenate((plain.queries, plain.targets, np.arange(150)))
    columns = np.concatenate((plain.targets, plain.queries, np.arange(150)))
    order = np.lexsort((columns, rows))
    assert arrays[1].tolist() == columns[order].tolist()
    values = np.concatenate((plain.values, plain.values, np.zeros(150, np.int32))) + 1
    assert arrays[0].tolist() == values[order].tolist()
    monkeypatch.setattr("pairalign.trees.sparse_distances.BLOCK", 7)
    monkeypatch.setattr("pairalign.engines.cpu.near_pairs._SORTED_AT_ONCE", 11)
    cut = pairalign.distance(sequences, max_edits=4, sparse=True)
    assert found_pairs(cut) == found_pairs(plain)
    for one, other in zip(cut.csr_arrays(), arrays, strict=True):
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())


def test_more_pairs_than_the_memory_holds_are_refused():
    sequences = {f"s{k}": "CASSF" for k in range(2500)}
    with pytest.raises(CapacityError, match="3,123,750 pairs within the limit"):
        pairalign.distance(sequences, max_edits=1, sparse=True, memory=64 << 20)
