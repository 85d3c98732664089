"""Kept pairs as a sparse matrix: SciPy reads it, and its entries are the edges of `abc`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from commands import fasta
from verifying import align, family

import pairalign
from pairalign.base.choices import WEIGHTS
from pairalign.cli.main import main
from pairalign.formats import open_writer
from pairalign.pairs.want import Detail

sparse = pytest.importorskip("scipy.sparse")
COSTS = ("--mode", "local", "--gap-open", "12", "--min-score", "40")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    sequences = family("protein")
    names = list(sequences)
    few = {name: sequences[name] for name in names[:3]}
    Path("p.fa").write_text(fasta(sequences))
    Path("few.fa").write_text(fasta({f"few{name}": text for name, text in few.items()}))
    return tmp_path


def edges_of(path: str) -> dict[tuple[str, str], float]:
    rows = (line.split("\t") for line in Path(path).read_text().splitlines())
    return {(query, target): float(weight) for query, target, weight in rows}


def entries_of(path: str, second: str = "names") -> dict[tuple[str, str], float]:
    matrix = sparse.load_npz(path).tocoo()
    with np.load(path) as arrays:
        names, others = arrays["names"].tolist(), arrays[second].tolist()
    assert matrix.shape == (len(names), len(others))
    found = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    return {(names[row], others[column]): value for row, column, value in found}


@pytest.mark.parametrize("weight", WEIGHTS)
def test_entries_are_the_edges(folder: Path, weight: str) -> None:
    for format in ("abc", "npz"):
        align("p.fa", "-o", f"x.{format}", *COSTS, "--weight", weight)
        align("few.fa", "p.fa", "-o", f"two.{format}", *COSTS, "--weight", weight)
    edges = edges_of("x.abc")
    both = edges | {(target, query): value for (query, target), value in edges.items()}
    assert len(both) == 2 * len(edges) > 20
    assert entries_of("x.npz") == pytest.approx(both, rel=1e-5)
    two = edges_of("two.abc")
    assert len(two) > 5
    assert entries_of("two.npz", "target_names") == pytest.approx(two, rel=1e-5)


def test_layout(folder: Path) -> None:
    align("p.fa", "-o", "x.npz", *COSTS)
    matrix = sparse.load_npz("x.npz")
    assert matrix.format == "csr"
    assert matrix.has_canonical_format
    assert not matrix.diagonal().any()
    scoring = pairalign.make_scoring("protein", mode="local", gap_open=12)
    found = pairalign.align("p.fa", scoring=scoring, min_score=40, device="cpu")
    assert (matrix.toarray() == found.to_scipy().toarray()).all()
    with np.load("x.npz") as arrays:
        types = {name: str(arrays[name].dtype) for name in ("data", "indices", "indptr")}
        assert str(arrays["weight"]) == "identity"
    assert types == {"data": "float64", "indices": "int32", "indptr": "int64"}


def test_the_first_of_a_pair_counts_and_unaligned_pairs_do_not(tmp_path: Path) -> None:
    found = pairalign.align(["MKVLAW", "MKVIAW", "GGGG"], mode="local", device="cpu")
    assert (found.columns == 0).sum() == 2

    path = tmp_path / "x.npz"
    sets = found.queries, found.targets
    with open_writer(path, None, *sets, found.scoring, Detail.STATS, weight="score") as writer:
        writer.write(found)
        again = found.take([0])
        again.raw_score[:] += 1
        writer.write(again)
    assert sparse.load_npz(path).nnz == 2
    assert set(sparse.load_npz(path).data) == {found.score[0]}


@pytest.mark.parametrize(("seconds", "shards"), [("0", 1), ("0", 3), (None, 1), (None, 3)])
@pytest.mark.parametrize("inputs", [("p.fa",), ("few.fa", "p.fa")])
def test_parts_and_commits_are_a_single_run(
    folder: Path, inputs: tuple[str, ...], seconds: str | None, shards: int
) -> None:
    options = (*COSTS, "--window", "2", "--format", "npz", "-q")
    align(*inputs, "-o", "one.npz", *options)
    commits = () if seconds is None else ("--resume", "--commit-every", seconds)
    for k in range(shards, 0, -1):
        align(*inputs, "-o", "parts", "--shard", f"{k}/{shards}", *options, *commits)
    assert main(["merge", "parts", "-o", "all.npz", "-q"]) == 0
    align(*inputs, "-o", "resumed.npz", *options, *commits)
    align(*inputs, "-o", "other.npz", *options[:-4], "7", *options[-3:], "-t", "1")
    for path in ("all.npz", "resumed.npz", "other.npz"):
        assert Path(path).read_bytes() == Path("one.npz").read_bytes()


def test_damaged_and_foreign_parts(folder: Path) -> None:
    from pairalign.errors import PartsError
    from pairalign.formats.matrix_csr import MatrixWriter
    from pairalign.formats.output import open_output

    align("p.fa", "-o", "x.npz", *COSTS)
    align("few.fa", "-o", "y.npz", *COSTS)
    whole, other = Path("x.npz").read_bytes(), Path("y.npz").read_bytes()
    for parts in ([whole[:-40]], [b""], [whole, other]):
        output = open_output("z.npz")
        with pytest.raises(PartsError, match=r"a part is no matrix|of different runs"):
            MatrixWriter.join_files(map(memoryview, parts), output)
        output.abort()
