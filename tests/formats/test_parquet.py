"""Parquet: every field, how it was made, row groups that are bounded."""

import io
import os
import sys

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import needle_sample, sample
from strategies import MODES
from written_files import DECIMALS, TSV_COLUMNS, write, written

from pairalign.formats import FormatError, parquet
from pairalign.pairs.want import Detail


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(MODES), st.sampled_from(list(Detail)), st.booleans())
def test_parquet_holds_every_field(shared_folder, seed, mode, detail, scaled):
    pq = pytest.importorskip("pyarrow.parquet")
    alignments = sample(seed, mode, pairs=7, detail=detail, **(DECIMALS if scaled else {}))
    table = pq.read_table(io.BytesIO(written(alignments, "parquet", shared_folder)))
    assert table.column_names == TSV_COLUMNS[: {0: 3, 1: 15, 2: 16}[detail]]
    assert str(table.schema.field("score").type) == ("double" if scaled else "int64")
    rows = table.to_pylist()
    for row, a in zip(rows, alignments, strict=True):
        assert row.pop("query") == a.query.name
        assert row.pop("target") == a.target.name
        assert row.pop("score") == a.score
        if detail == Detail.SCORE:
            continue
        assert row.pop("identity") == (a.identity if a.columns else None)
        assert row.pop("query_length") == len(a.query)
        assert row.pop("target_length") == len(a.target)
        if detail == Detail.CIGAR:
            assert row.pop("cigar") == a.runs.tolist()
        assert row.pop("gap_letters") == a.gap_residues
        assert row == {name: getattr(a, name) for name in row}


def test_parquet_says_how_it_was_made(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    metadata = pq.read_metadata(io.BytesIO(written(needle_sample(), "parquet", tmp_path))).metadata
    found = {k.decode(): v.decode() for k, v in metadata.items() if k.startswith(b"pairalign.")}
    assert found.pop("pairalign.version")
    assert found == {
        "pairalign.mode": "semiglobal",
        "pairalign.matrix": "BLOSUM62",
        "pairalign.gap_open": "10",
        "pairalign.gap_extend": "0.5",
        "pairalign.scale": "10",
        "pairalign.alphabet": "protein",
    }


@pytest.mark.parametrize("runs", [1, 300, 1 << 23])
def test_parquet_row_groups_are_bounded(tmp_path, monkeypatch, runs):
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(parquet, "GROUP_PAIRS", 8)
    monkeypatch.setattr(parquet, "GROUP_RUNS", runs)
    alignments = sample(4, pairs=50)
    content = written(alignments, "parquet", tmp_path, cuts=(0, 3, 3, 20, 21))
    meta = pq.read_metadata(io.BytesIO(content))
    groups = [meta.row_group(k).num_rows for k in range(meta.num_row_groups)]
    sizes, expected = np.diff(alignments.cigar_offsets).tolist(), []
    pairs = held = 0
    for size in sizes:  # a group ends with the pair that reaches a limit
        pairs, held = pairs + 1, held + size
        if pairs == 8 or held >= runs:
            expected.append(pairs)
            pairs = held = 0
    assert groups == expected + [pairs] * (pairs > 0)
    table = pq.read_table(io.BytesIO(content))
    assert table["cigar"].to_pylist() == [a.runs.tolist() for a in alignments]


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(FormatError, match=r"pip install 'pairalign\[parquet\]'"):
        write(sample(1), tmp_path / "a.parquet")
    assert os.listdir(tmp_path) == []


def test_parquet_is_not_compressed_twice(tmp_path):
    with pytest.raises(FormatError, match=r"leave '\.gz' out"):
        write(sample(1), tmp_path / "a.parquet.gz")
