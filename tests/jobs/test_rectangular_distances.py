"""Distances of two sets: those of the same pairs among all of both, in every format."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from strand_problems import other_strand

import pairalign
from pairalign.cli.main import main
from pairalign.errors import DistanceError, PartsError, UsageError
from pairalign.jobs.distances.measures import MEASURES
from pairalign.results.distances_result import RectangularDistances

GLOBINS = Path(__file__).parents[1] / "data" / "globins.fasta"
FORMATS = ("tsv", "column", "npy", "npz", "parquet")


def genes() -> dict[str, str]:
    """Related DNA with ambiguous bases, and copies in both halves."""
    rng = np.random.default_rng(5)
    base = rng.choice(list("ACGT"), 200)
    rows = {}
    for k, rate in enumerate((0, 0.02, 0.3, 0.1, 0.2, 0.05, 0.5, 0.1, 0.02)):
        changed = np.where(rng.random(200) < rate, rng.choice(list("ACGTNR"), 200), base)
        rows[f"g{k}"] = "".join(changed[rng.random(200) >= rate / 5])
    rows["copy"], rows["turned"] = rows["g1"], other_strand(rows["g2"])
    return rows


SETS = genes()
FIRST = {name: SETS[name] for name in list(SETS)[:4]}
SECOND = {name: SETS[name] for name in list(SETS)[4:]}


def write(name: str, sequences: dict[str, str]) -> None:
    Path(name).write_text("".join(f">{n}\n{s}\n" for n, s in sequences.items()))


@pytest.fixture
def folder(here: Path) -> Path:
    write("a.fa", FIRST)
    write("b.fa", SECOND)
    write("all.fa", SETS)
    return here


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_rectangle_is_a_block_of_the_square(measure, mode):
    first, second = FIRST, SECOND
    if MEASURES[measure].alphabet == pairalign.PROTEIN:
        globins = {one.name: str(one) for one in pairalign.read_fasta(GLOBINS)}
        names = list(globins)[:11]
        first = {name: globins[name] for name in names[:4]}
        second = {name: globins[name] for name in names[4:]}
    square = pairalign.distance({**first, **second}, measure=measure, mode=mode).square()
    found = pairalign.distance(first, second, measure=measure, mode=mode)
    assert (found.query_names, found.target_names) == (list(first), list(second))
    assert found.measure == measure
    np.testing.assert_array_equal(found.values, square[: len(first), len(first) :])


def test_sets_that_share_names_and_sets_of_one():
    one = {"g2": FIRST["g2"]}
    found = pairalign.distance(one, FIRST)
    assert (found.query_names, found.target_names) == (["g2"], list(FIRST))
    square = pairalign.distance(FIRST)
    np.testing.assert_array_equal(found.row(0)[[0, 1, 3]], square.row(2)[[0, 1, 3]])
    assert pairalign.distance(FIRST, one).shape == (4, 1)
    assert pairalign.distance(one, {"x": SETS["copy"]}).shape == (1, 1)
    # A set with itself is two sets: with its diagonal, where N matches nothing.
    twice = pairalign.read_fasta(GLOBINS)
    whole = pairalign.distance(twice, twice).values
    np.testing.assert_array_equal(np.triu(whole, 1), np.triu(pairalign.distance(twice), 1))
    assert (np.diag(whole) == 0).all()


def read(path: str) -> tuple[list[str], list[str], np.ndarray]:
    """Names and values of a file, by other programs' readers."""
    ending = path.rpartition(".")[2]
    if ending == "npy":
        return list(FIRST), list(SECOND), np.load(path)
    if ending == "npz":
        with np.load(path) as file:
            assert str(file["measure"]) == "identity-aligned"
            sides = file["names"].tolist(), file["target_names"].tolist()
            return *sides, file["distances"]
    pandas = pytest.importorskip("pandas")
    if ending == "tsv":
        frame = pandas.read_csv(path, sep="\t", index_col=0)
        return list(frame.index), list(frame.columns), frame.to_numpy()
    if ending == "column":
        frame = pandas.read_csv(path, sep=" ", names=["query", "target", "distance"])
    else:
        pytest.importorskip("pyarrow")
        frame = pandas.read_parquet(path)
    rows, columns = (list(dict.fromkeys(frame[side])) for side in ("query", "target"))
    assert frame["query"].tolist() == [row for row in rows for _ in columns]
    return rows, columns, frame["distance"].to_numpy().reshape(len(rows), -1)


@pytest.mark.parametrize("format", FORMATS)
def test_files_have_the_block(format, folder):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    name = f"x.{format}"
    assert main(["distance", "a.fa", "b.fa", "-o", name, "-q"]) == 0
    expected = pairalign.distance(SETS).square()[:4, 4:]
    rows, columns, values = read(name)
    assert (rows, columns) == (list(FIRST), list(SECOND))
    np.testing.assert_allclose(values, expected, rtol=0, atol=0 if format[0] in "np" else 6e-7)
    pairalign.distance("a.fa", "b.fa").write(f"again.{format}")
    assert Path(f"again.{format}").read_bytes() == Path(name).read_bytes()


def test_similarities_and_python(folder):
    found = pairalign.distance("a.fa", "b.fa", measure="identity")
    same = pairalign.distance("a.fa", "b.fa", measure="identity", similarity=True)
    np.testing.assert_array_equal(same.values, 1 - found.values)
    assert main(["distance", "a.fa", "b.fa", "--similarity", "-o", "x.npy", "-q"]) == 0
    np.testing.assert_array_equal(np.load("x.npy"), 1 - pairalign.distance("a.fa", "b.fa").values)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(np.asarray(again), found.to_numpy())
    assert repr(again) == "<RectangularDistances: 4 by 7 sequences, identity>"
    assert again.target_names == list(SECOND)
    assert "<th>g4</th>" in found._repr_html_()
    assert found[1, 2] == found.row(1)[2]
    assert found.summary[0] == found.values.min()
    frame = pytest.importorskip("pandas") and found.to_pandas()
    assert frame.loc["g1", "copy"] == found[1, 5]
    with pytest.raises(DistanceError, match="a similarity of 'score'"):
        pairalign.distance("a.fa", "b.fa", measure="score").similarities()


def test_pictures(folder):
    pytest.importorskip("matplotlib")
    assert main(["distance", "a.fa", "b.fa", "--plot", "x.svg", "-q"]) == 0
    assert "4 by 7 sequences" in Path("x.svg").read_text()
    values = np.random.default_rng(1).random((3, 5000), np.float32)
    wide = RectangularDistances(list("abc"), [f"t{k}" for k in range(5000)], values)
    shown = wide.plot().axes[0].images[0].get_array()
    np.testing.assert_allclose(shown[:, 0], values[:, :3].mean(1), rtol=1e-5)


@pytest.mark.parametrize("limit", [("--max-edits", 40), ("--max-drop", 150)])
def test_pairs_within_a_limit(limit, folder):
    sparse = pytest.importorskip("scipy.sparse")
    option, most = limit
    asked = {option[2:].replace("-", "_"): most, "sparse": True}
    whole = pairalign.distance(SETS, **asked)
    found = pairalign.distance(FIRST, SECOND, **asked)
    block = whole.csr()[:4, 4:]
    assert found.csr().shape == (4, 7)
    np.testing.assert_array_equal(found.csr().toarray(), block.toarray())
    assert 0 < len(found) < 28
    names = list(SECOND)
    lines = [
        f"{whole.names[a]}\t{whole.names[b]}\t{value}"
        for a, b, value in zip(whole.queries, whole.targets, whole.values, strict=True)
        if a < 4 <= b
    ]
    for ending in ("tsv", "npz", "parquet"):
        if ending == "parquet":
            pytest.importorskip("pyarrow")
        command = ["distance", "a.fa", "b.fa", option, str(most), "-o", f"x.{ending}", "-q"]
        assert main(command) == 0
        found.write(f"again.{ending}")
        assert Path(f"again.{ending}").read_bytes() == Path(f"x.{ending}").read_bytes()
    assert Path("x.tsv").read_text().splitlines()[1:] == lines
    assert (sparse.load_npz("x.npz") != block).nnz == 0
    assert np.load("x.npz")["target_names"].tolist() == names
    short = pairalign.distance(FIRST, SECOND, **asked, max_length_ratio=1)
    lengths = [[len(text) for text in side.values()] for side in (FIRST, SECOND)]
    kept = np.equal.outer(*lengths)
    np.testing.assert_array_equal(short.csr().toarray(), np.where(kept, block.toarray(), 0))


@pytest.mark.parametrize("measure", ["score", "kimura-2p"])
def test_parts(measure, folder, capfd):
    asked = ["a.fa", "b.fa", "--measure", measure, "--strand", "both", "-q"]
    assert main(["distance", *asked, "-o", "one.npz"]) == 0
    for k in (2, 1, 3):
        assert main(["distance", *asked, "-o", "parts", "--shard", f"{k}/3"]) == 0
    assert main(["merge", "parts", "-o", "all.npz", "-q"]) == 0
    assert Path("all.npz").read_bytes() == Path("one.npz").read_bytes()
    assert main(["distance", *asked, "-o", "resumed.npz", "--resume"]) == 0
    assert Path("resumed.npz").read_bytes() == Path("one.npz").read_bytes()
    for command, said in (
        (["merge", "parts", "-o", "all.phy"], "does not tell the format of distances of two sets"),
        (["tree", "parts", "-o", "all.nwk"], "'parts': distances of two sets"),
        (["distance", "all.fa", "-o", "y.npy", "--extend", "parts"], "distances of two sets"),
    ):
        assert main([*command, "-q"]) in (1, 2)
        assert said in capfd.readouterr().err
        assert not Path(command[command.index("-o") + 1]).exists()


def test_a_damaged_head(folder):
    from pairalign.formats.distance_parts import read_values

    head = b'{"names": ["a"], "order": [0], "measure": "", "window": 9'
    two = head + b', "target_names": ["b"], "target_order": [0]}\n'
    assert read_values([two, b"\0\0\0?"], 4)[0, 0] == 0.5
    for damaged in (
        head + b"}\n",
        head + b', "target_names": ["b"]}\n',
        head + b', "target_order": [0]}\n',
        head + b', "target_names": ["b"], "target_order": [1]}\n',
        head + b', "target_names": [], "target_order": []}\n',
    ):
        with pytest.raises(PartsError, match="is none of the names"):
            read_values([damaged, b"\0\0\0?"], 4)


def test_what_cannot_be(folder):
    with pytest.raises(UsageError, match=r"^circular is of one set, not of two: leave it out$"):
        pairalign.distance(FIRST, SECOND, circular=True)
    with pytest.raises(UsageError, match=r"^extend is of one set"):
        pairalign.distance(FIRST, SECOND, extend=pairalign.distance(FIRST))
    found = pairalign.distance(FIRST, SECOND)
    with pytest.raises(DistanceError, match="distances of two sets have no tree"):
        pairalign.tree(found)
    with pytest.raises(pairalign.CapacityError, match=r"4 sequences and 7 others have 28 pairs"):
        pairalign.distance(FIRST, SECOND, memory=1 << 20)
    for names, values, said in (
        ((["a"], ["b", "b"]), [[1, 2]], "'b' is that of number 1"),
        ((["a"], []), np.empty((1, 0)), "at least 1"),
        ((["a"], ["b"]), [[np.nan]], "'a' and 'b' is nan"),
        ((["a"], ["b"]), [1], r"shape \(1,\) for 1 and 1 names"),
    ):
        with pytest.raises(DistanceError, match=said):
            RectangularDistances(*names, np.array(values))
