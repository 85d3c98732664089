"""Alignments as tables of Arrow, pandas and polars: what is in the file is in the table."""

import sys

import numpy as np
import pytest
from commands import BASES
from samples import sample

import pairalign
from pairalign.alignments.tables import COLUMNS
from pairalign.cli.main import main
from pairalign.errors import MissingPackageError
from pairalign.formats import open_writer
from pairalign.formats.writer import Content
from pairalign.pairs.want import Detail
from pairalign.results.alignments_result import Alignments
from pairalign.results.tabular import with_text_cigars

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
READS = {
    "r1": "ACGTTGCAAGGCTTACCGATTTGACCAGTA" * 3,
    "r2": "AGGCTTACCGATTTGACCAGTAACGTTGCA" * 3,
    "r3": BASES["r1"] * 6,
}


@pytest.fixture(params=list(Detail), ids=lambda detail: detail.name)
def found(request: pytest.FixtureRequest) -> Alignments:
    """Random alignments; of some nothing is aligned."""
    return sample(7, mode="semiglobal", detail=request.param, pairs=60)


def test_arrow_is_what_parquet_holds(found, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    detail = Detail.CIGAR if found.has_cigar else Detail(int(found.has_stats))
    path = tmp_path / "out.parquet"
    content = Content(found.queries, found.targets, found.scoring, detail)
    with open_writer(path, None, content) as writer:
        writer.write(found)
    table = found.to_arrow()
    assert tuple(table.column_names) == COLUMNS[detail]
    read = parquet.read_table(path)
    assert read.schema.equals(table.schema)
    # The names of a file are in the order in which they appear, those of a table in the set's.
    assert read.to_pydict() == table.to_pydict()
    assert table.schema.metadata[b"pairalign.mode"] == b"semiglobal"
    table.validate(full=True)


def test_pandas(found):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(found)
    assert frame["query"].tolist() == [found.queries.names[k] for k in found.query]
    assert frame["score"].tolist() == found.score.tolist()
    if found.has_stats:
        np.testing.assert_array_equal(frame["identity"], found.identity)
        np.testing.assert_array_equal(frame["target_end"], found.target_end)
    if found.has_cigar:
        assert frame["cigar"].tolist() == [one.cigar for one in found]


def test_polars(found):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = found.to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame["target"].to_list() == [found.targets.names[k] for k in found.target]
    assert frame["score"].to_list() == found.score.tolist()
    if found.has_stats:
        assert frame["matches"].to_list() == found.matches.tolist()
    if found.has_cigar:
        assert frame["cigar"].to_list() == [one.cigar for one in found]


def test_text_cigars_of_a_part_of_a_table(found):
    if not found.has_cigar:
        return
    table = pa.concat_tables([found.to_arrow()[7:31], found.to_arrow()[2:9]])
    texts = with_text_cigars(table)["cigar"].to_pylist()
    every = [one.cigar for one in found]
    assert texts == every[7:31] + every[2:9]


def test_bits_and_evalues(tmp_path):
    """Fields, tables, Parquet and TSV say the same."""
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(4)
    made = {f"p{k}": "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 60)) for k in range(8)}
    made["copy"] = made["p3"][:50]
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in made.items()))
    scoring = pairalign.make_scoring("protein", mode="local", gap_open=12)
    found = pairalign.align(made, scoring=scoring, device="cpu")
    assert found.evalue.shape == (36,)
    best = int(np.argmin(found.evalue))
    assert found[best].target.name == "copy"
    assert found[best].evalue == found.evalue[best] < 1e-20
    assert found[best].bits == found.bits[best] > 80
    assert found.take([best]).evalue[0] == found.evalue[best]
    table = found.to_arrow()
    assert table.column_names[:5] == ["query", "target", "score", "bits", "evalue"]
    assert table["evalue"].to_pylist() == found.evalue.tolist()
    command = ["align", str(tmp_path / "in.fa"), "-q", "--mode", "local", "--gap-open", "12"]
    assert main([*command, "-o", str(tmp_path / "x.parquet")]) == 0
    read = parquet.read_table(tmp_path / "x.parquet")
    assert read["bits"].to_pylist() == found.bits.tolist()
    assert read["evalue"].to_pylist() == found.evalue.tolist()
    with pytest.raises(ValueError, match="bits and E-values are not known"):
        _ = pairalign.align(made, device="cpu").evalue


def test_libraries_of_arrow_data_take_alignments_as_they_are(found):
    assert pa.table(found).equals(found.to_arrow())


def test_a_frame_made_of_alignments_shows_alignments():
    """Not their insides: `pandas` takes dataclasses apart, and copied everything for each pair."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    found = pairalign.align(BASES)
    frame = pandas.DataFrame(found)
    assert frame.shape == (3, 1)
    assert list(frame[0]) != []
    assert all(isinstance(one, pairalign.Alignment) for one in frame[0])
    assert "r1 x r2" in repr(frame)


def test_overlaps_have_strand_and_kind():
    found = pairalign.overlap(READS, preset="short", min_overlap=20, min_identity=0.5)
    assert len(found) > 0
    table = found.to_arrow()
    assert table["kind"].to_pylist() == found.kind.tolist()
    assert table["strand"].to_pylist() == found.strand.tolist()
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = found.to_pandas()
    assert frame["kind"].tolist() == found.kind.tolist()
    assert frame["matches"].tolist() == found.matches.tolist()


@pytest.mark.parametrize("name", ["arrow", "pandas", "polars"])
def test_a_missing_library_is_named(name, monkeypatch):
    module = "pyarrow" if name == "arrow" else name
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError, match=rf"needs {module}.*pairalign\[tables\]"):
        getattr(pairalign.align(BASES), f"to_{name}")()
