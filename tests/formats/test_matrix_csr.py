"""Kept pairs as a sparse matrix: SciPy reads it, and its entries are the edges of `abc`."""

import tracemalloc
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from commands import fasta
from verifying import align, family

import pairalign
from pairalign.alignments.alignments import no_alignments
from pairalign.base.choices import WEIGHTS
from pairalign.cli.main import main
from pairalign.formats import open_writer
from pairalign.formats.writer import Content, Shown
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

sparse = pytest.importorskip("scipy.sparse")
COSTS = ("--mode", "local", "--gap-open", "12", "--min-score", "40")


@pytest.fixture
def folder(here: Path) -> Path:
    sequences = family("protein")
    names = list(sequences)
    few = {name: sequences[name] for name in names[:3]}
    Path("p.fa").write_text(fasta(sequences))
    Path("few.fa").write_text(fasta({f"few{name}": text for name, text in few.items()}))
    return here


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


def own_scores_of(path: str) -> dict[tuple[str, str], float]:
    """What each sequence scores with itself."""
    scoring = pairalign.make_scoring("protein", mode="local", gap_open=12)
    own = {one.name: one.residues for one in pairalign.read_fasta(path)}
    return {
        (name, name): pairalign.align_pair(text, text, scoring=scoring, device="cpu").score
        for name, text in own.items()
    }


@pytest.mark.parametrize("weight", WEIGHTS)
def test_entries_are_the_edges(folder, weight):
    for format in ("abc", "npz"):
        align("p.fa", "-o", f"x.{format}", *COSTS, "--weight", weight)
        align("few.fa", "p.fa", "-o", f"two.{format}", *COSTS, "--weight", weight)
    edges = edges_of("x.abc")
    both = edges | {(target, query): value for (query, target), value in edges.items()}
    assert len(both) == 2 * len(edges) > 20
    if weight == "score":
        both |= own_scores_of("p.fa")
    assert entries_of("x.npz") == pytest.approx(both, rel=1e-5)
    two = edges_of("two.abc")
    assert len(two) > 5
    assert entries_of("two.npz", "target_names") == pytest.approx(two, rel=1e-5)


def test_the_first_of_a_pair_counts_and_unaligned_pairs_do_not(tmp_path):
    found = pairalign.align(["MKVLAW", "MKVIAW", "GGGG"], mode="local", device="cpu")
    assert (found.columns == 0).sum() == 2

    path = tmp_path / "x.npz"
    sets = found.queries, found.targets
    content = Content(*sets, found.scoring, Detail.STATS, shown=Shown(weight="score"))
    with open_writer(path, None, content) as writer:
        writer.write(found)
        again = found.take([0])
        again.raw_score[:] += 1
        writer.write(again)
    matrix = sparse.load_npz(path).tocoo()
    assert matrix.nnz == 2 + 3
    assert set(matrix.data[matrix.row != matrix.col]) == {found.score[0]}
    assert matrix.tocsr().toarray().tolist() == found.to_scipy("score").toarray().tolist()


def test_self_scores_of_parts_commits_and_updates(folder):
    options = (*COSTS, "--window", "2", "--weight", "score", "-q")
    align("p.fa", "--also", "few.fa", "-o", "one.npz", *options)
    expected = Path("one.npz").read_bytes()
    diagonal = own_scores_of("p.fa") | own_scores_of("few.fa")
    assert diagonal.items() <= entries_of("one.npz").items()
    for k in (2, 1):
        both = ("p.fa", "--also", "few.fa", "--format", "npz")
        align(*both, "-o", "parts", "--shard", f"{k}/2", *options)
    assert main(["merge", "parts", "-o", "all.npz", "-q"]) == 0
    commits = ("--resume", "--commit-every", "0")
    align("p.fa", "--also", "few.fa", "-o", "resumed.npz", *options, *commits)
    align("p.fa", "-o", "run", "--format", "npz", "--shard", "1/1", *options)
    assert main(["update", "run", "few.fa", "-o", "updated.npz", "-q"]) == 0
    for path in ("all.npz", "resumed.npz", "updated.npz"):
        assert Path(path).read_bytes() == expected, path


def test_damaged_and_foreign_parts(folder):
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


def write_drawn(path: Path, two_sets: bool, batches: int, size: int) -> list[tuple[int, int, int]]:
    """Write pairs that are drawn at random, some of them again; return those that count."""
    rng = np.random.default_rng(5)
    sets = [
        SequenceSet.from_strings(["ACDEFGHIKL"] * count, alphabet="protein")
        for count in ((3000, 2000) if two_sets else (3000,))
    ]
    scoring = make_scoring(sets[0].alphabet)
    others = sets[-1]
    seen: dict[tuple[int, int], int] = {}
    content = Content(sets[0], others, scoring, Detail.STATS, shown=Shown(weight="score"))
    with open_writer(path, "npz", content, threads=1) as writer:
        for _ in range(batches):
            query, target = (rng.integers(len(one), size=size) for one in (sets[0], others))
            if not two_sets:
                query, target = np.minimum(query, target) % 1500, np.maximum(query, target)
                target = np.maximum(query + 1, target)
            found = no_alignments(sets[0], None if not two_sets else others, scoring, Detail.STATS)
            score = rng.integers(1, 10**6, size).astype(np.int32)
            ones = np.ones(size, np.int32)
            names = [one.name for one in fields(found) if getattr(found, one.name) is not None]
            counts = {name: ones for name in names if isinstance(getattr(found, name), np.ndarray)}
            counts |= {"query": query.astype(np.int32), "target": target.astype(np.int32)}
            writer.write(replace(found, **{**counts, "raw_score": score}))
            for pair in zip(query.tolist(), target.tolist(), score.tolist(), strict=True):
                seen.setdefault(pair[:2], pair[2])
    return [(*pair, score) for pair, score in seen.items()]


@pytest.mark.parametrize("two_sets", [False, True], ids=["one set", "two sets"])
def test_many_entries_are_sorted_on_disk(two_sets, tmp_path, monkeypatch):
    plain, spilled = tmp_path / "plain.npz", tmp_path / "spilled.npz"
    expected = write_drawn(plain, two_sets, 20, 500)
    monkeypatch.setattr("pairalign.formats.matrix_csr._AT_A_TIME", 700)
    monkeypatch.setattr("pairalign.formats.npz._VALUES_AT_A_TIME", 700)
    monkeypatch.setattr("pairalign.formats.npz._IN_MEMORY", 1000)
    assert write_drawn(spilled, two_sets, 20, 500) == expected
    assert spilled.read_bytes() == plain.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain.npz", "spilled.npz"]
    rows, columns, scores = np.array(expected).T
    if not two_sets:
        rows, columns = np.append(rows, columns), np.append(columns, rows)
        scores = np.append(scores, scores)
        own = np.arange(3000)
        rows, columns = np.append(rows, own), np.append(columns, own)
        scores = np.append(scores, np.full(3000, 57))
    found = sparse.load_npz(plain)
    made = sparse.coo_matrix((scores, (rows, columns)), shape=found.shape).tocsr()
    made.sort_indices()
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(found, name), getattr(made, name))


def test_entries_wait_on_disk(tmp_path):
    """2,000,000 pairs would be 32 MB as they come, and several times that where they are sorted."""
    tracemalloc.start()
    try:
        write_in_batches(tmp_path / "x.npz", 200, 10_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20


def write_in_batches(path: Path, batches: int, size: int) -> None:
    """Write different pairs of one set."""
    sequences = SequenceSet.from_strings(["ACDEFGHIKL"] * 3000, alphabet="protein")
    scoring = make_scoring(sequences.alphabet)
    ones = np.ones(size, np.int32)
    content = Content(sequences, sequences, scoring, Detail.STATS)
    with open_writer(path, "npz", content) as writer:
        for number in range(batches):
            pairs = np.arange(size, dtype=np.int64) + number * size
            found = no_alignments(sequences, None, scoring, Detail.STATS)
            names = [one.name for one in fields(found)]
            counts = {name: ones for name in names if isinstance(getattr(found, name), np.ndarray)}
            query, target = (pairs // 1400).astype(np.int32), (pairs % 1400 + 1500).astype(np.int32)
            writer.write(replace(found, **{**counts, "query": query, "target": target}))


@pytest.mark.parametrize("shards", [1, 2])
def test_a_long_name_does_not_make_all_long(folder, shards):
    """An array of texts has the length of the longest for each."""
    names = ["n" * 100_000, *(f"s{k}" for k in range(300))]
    Path("in.fa").write_text(fasta(dict.fromkeys(names, "MKTAYIAK")))
    for k in range(1, shards + 1):
        shard = ["--format", "npz", "--shard", f"{k}/{shards}", "-q"]
        assert main(["align", "in.fa", "-o", "parts", *shard]) == 0
    assert main(["merge", "parts", "-o", "x.npz", "-q"]) == 0
    assert Path("x.npz").stat().st_size < 12 * 300 * 300 + 5 * 100_000
    with np.load("x.npz") as arrays:
        assert arrays["names"].item().split("\n") == names
    assert sparse.load_npz("x.npz").nnz == 301 * 300
    for command in ("posterior", "distance --max-edits 5"):
        assert main([*command.split(), "in.fa", "-o", "y.npz", "-q"]) == 0
        with np.load("y.npz") as arrays:
            assert arrays["names"].item().split("\n") == names
