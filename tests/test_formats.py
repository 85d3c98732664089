import errno
import gzip
import io
import itertools
import os
import re
import resource
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from Bio import Align, AlignIO
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import random_alignments, random_set, sample

from pairalign.alignments import Alignments
from pairalign.errors import OutputError
from pairalign.formats import (
    FORMATS,
    FormatError,
    find_format,
    open_writer,
    parquet,
)
from pairalign.formats import output as output_module
from pairalign.formats import writer as writer_module
from pairalign.formats.output import open_output
from pairalign.scoring import make_scoring
from pairalign.sequences import SequenceSet
from pairalign.want import Detail

MODES = ("global", "semiglobal", "local")
TEXT = ("paf", "tsv", "fasta", "srspair")
DECIMALS = {"gap_open": "10.25", "gap_extend": "0.5"}
TSV_COLUMNS = [
    *("query", "target", "score", "identity", "columns", "matches", "mismatches", "gap_openings"),
    *("gap_letters", "query_length", "query_start", "query_end", "target_length", "target_start"),
    *("target_end", "cigar"),
]


def detail_of(alignments):
    return Detail(alignments.has_stats + alignments.has_cigar)


def write(alignments, path, format=None, *, cuts=(), threads=1):
    sets = alignments.queries, alignments.targets
    edges = [0, *sorted(cuts), len(alignments)]
    arguments = (*sets, alignments.scoring, detail_of(alignments), threads)
    with open_writer(path, format, *arguments) as writer:
        for a, b in itertools.pairwise(edges):
            writer.write(alignments[a:b])


def written(alignments, format, tmp_path, **options):
    path = tmp_path / f"out.{format}"
    write(alignments, path, format, **options)
    assert os.listdir(tmp_path) == [path.name]
    content = path.read_bytes()
    path.unlink()
    return content if format == "parquet" else content.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all examples of a property test."""
    return tmp_path_factory.mktemp("formats")


def shown(alignments):
    return [a for a in alignments if a.columns > 0]


# ---- PAF ---------------------------------------------------------------------------------------


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(MODES), st.booleans(), st.booleans())
def test_paf_holds_every_field(folder, seed, mode, cigars, scaled):
    detail = Detail.CIGAR if cigars else Detail.STATS
    alignments = sample(seed, mode, pairs=7, detail=detail, **(DECIMALS if scaled else {}))
    lines = written(alignments, "paf", folder).splitlines()
    assert len(lines) == len(shown(alignments))
    for line, a in zip(lines, shown(alignments), strict=True):
        fields = line.split("\t")
        assert fields[:12] == [
            *(a.query.name, str(len(a.query)), str(a.query_start), str(a.query_end), "+"),
            *(a.target.name, str(len(a.target)), str(a.target_start), str(a.target_end)),
            *(str(a.matches), str(a.columns), "255"),
        ]
        tags = {tag[:5]: tag[5:] for tag in fields[12:]}
        assert int(tags.pop("NM:i:")) == a.mismatches + a.gap_letters
        score = tags.pop("AS:f:" if scaled else "AS:i:")
        assert score == alignments.scoring.format_score(a.raw_score)
        assert tags == ({"cg:Z:": a.cigar} if cigars else {})


def test_numbers_of_every_size(tmp_path):
    """Runs in and beyond the table of short ones, and scores at the ends of 32 bits."""
    lengths = [1, 9, 10, 99, 100, 255, 256, 257, 999, 1000, 99_999, 100_000, 1_234_567]
    sequences = SequenceSet.from_strings(["A" * n for n in lengths], alphabet="dna")
    n = len(lengths)
    scores = np.resize([0, -1, 9, -10, 99, 12345678, 2**31 - 1, -(2**31)], n)
    for options, scale in (({}, 1), ({"gap_extend": "0.000001"}, 10**6)):
        alignments = Alignments(
            queries=sequences,
            targets=sequences,
            scoring=make_scoring("dna", **options),
            query=range(n),
            target=range(n),
            raw_score=scores,
            query_start=[0] * n,
            query_end=lengths,
            target_start=[0] * n,
            target_end=lengths,
            matches=lengths,
            mismatches=[0] * n,
            gap_openings=[0] * n,
            gap_letters=[0] * n,
            cigar=[length << 4 | 7 for length in lengths],
            cigar_offsets=range(n + 1),
        )
        assert alignments.scoring.scale == scale
        text = written(alignments, "paf", tmp_path)
        assert re.findall(r"cg:Z:(\d+)=\n", text) == [str(length) for length in lengths]
        expected = [alignments.scoring.format_score(score) for score in scores]
        assert re.findall(r"AS:[if]:(\S+)", text) == expected


# ---- TSV ---------------------------------------------------------------------------------------


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(MODES), st.sampled_from(list(Detail)), st.booleans())
def test_tsv_holds_every_field(folder, seed, mode, detail, scaled):
    alignments = sample(seed, mode, pairs=7, detail=detail, **(DECIMALS if scaled else {}))
    header, *lines = written(alignments, "tsv", folder).splitlines()
    assert header.split("\t") == TSV_COLUMNS[: {0: 3, 1: 15, 2: 16}[detail]]
    assert len(lines) == len(alignments)
    for line, a in zip(lines, alignments, strict=True):
        row = dict(zip(header.split("\t"), line.split("\t"), strict=True))
        assert row.pop("query") == a.query.name
        assert row.pop("target") == a.target.name
        assert row.pop("score") == alignments.scoring.format_score(a.raw_score)
        if detail == Detail.SCORE:
            continue
        assert row.pop("query_length") == str(len(a.query))
        assert row.pop("target_length") == str(len(a.target))
        identity = row.pop("identity")
        assert re.fullmatch(r"[01]\.\d{6}", identity)
        assert abs(float(identity) - a.matches / max(a.columns, 1)) <= 0.5000001e-6
        if detail == Detail.CIGAR:
            assert row.pop("cigar") == a.cigar
        assert row == {name: str(getattr(a, name)) for name in row}
        assert len(row) == 9


def test_tsv_without_alignment(tmp_path):
    alignments = sample(3, "local", pairs=60)
    empty = alignments.take(alignments.columns == 0)[:1]
    line = written(empty, "tsv", tmp_path).splitlines()[1].split("\t")
    lengths = str(len(empty[0].query)), str(len(empty[0].target))
    rest = ["0", "0.000000", *"00000", lengths[0], *"00", lengths[1], *"00", "*"]
    assert line[2:] == rest


def test_pandas_free_readers_get_identity_rounded_half_up(tmp_path):
    rng = np.random.default_rng(0)
    sequences = random_set(rng, [64])
    alignments = Alignments(
        queries=sequences,
        targets=sequences,
        scoring=make_scoring("protein", mode="local"),
        **{name: [0] * 3 for name in ("query", "target", "raw_score", "gap_openings")},
        **{name: [0] * 3 for name in ("query_start", "target_start", "gap_letters")},
        query_end=[64, 3, 1],
        target_end=[64, 3, 1],
        matches=[1, 2, 1],
        mismatches=[63, 1, 0],
    )
    text = written(alignments, "tsv", tmp_path)
    # 1/64 = 0.015625, 2/3
    assert [line.split("\t")[3] for line in text.splitlines()[1:]] == [
        "0.015625",
        "0.666667",
        "1.000000",
    ]


# ---- FASTA pairs -------------------------------------------------------------------------------


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(MODES), st.booleans())
def test_fasta_pairs_are_the_rows(folder, seed, mode, scaled):
    alignments = sample(seed, mode, pairs=7, **(DECIMALS if scaled else {}))
    text = written(alignments, "fasta", folder)
    lines = text.splitlines()
    pairs = shown(alignments)
    assert len(lines) == 4 * len(pairs)
    for k, a in enumerate(pairs):
        score = alignments.scoring.format_score(a.raw_score)
        q, q_row, t, t_row = lines[4 * k : 4 * k + 4]
        spans = f"start={a.query_start} end={a.query_end}"
        assert q == f">{a.query.name} pair={k + 1} {spans} score={score}"
        spans = f"start={a.target_start} end={a.target_end}"
        assert t == f">{a.target.name} pair={k + 1} {spans} score={score}"
        assert (q_row, t_row) == a.rows()
    parsed = list(AlignIO.parse(io.StringIO(text), "fasta", seq_count=2)) if text else []
    assert [tuple(str(r.seq) for r in p) for p in parsed] == [a.rows() for a in pairs]


# ---- EMBOSS srspair ----------------------------------------------------------------------------


def confuses_bio_align(alignments):
    """Whether Bio.Align sees a reversed row: just one letter in the first row that has any."""
    for a in alignments:
        for row in a.rows():
            counts = [len(row[i : i + 50].replace("-", "")) for i in range(0, len(row), 50)]
            if next((count for count in counts if count), 0) == 1:
                return True
    return False


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(MODES), st.booleans())
def test_biopython_reads_srspair_back(folder, seed, mode, scaled):
    alignments = sample(seed, mode, pairs=7, **(DECIMALS if scaled else {}))
    pairs = shown(alignments)
    text = written(alignments, "srspair", folder)
    parsed = list(AlignIO.parse(io.StringIO(text), "emboss"))
    assert len(parsed) == len(pairs)
    for p, a in zip(parsed, pairs, strict=True):
        assert [r.id for r in p] == [a.query.name, a.target.name]
        assert tuple(str(r.seq) for r in p) == a.rows()
        columns = len(a.rows()[0])
        assert p.annotations["identity"] == a.matches
        assert p.annotations["gaps"] == columns - a.matches - a.mismatches
        assert p.annotations["score"] == a.score
    if confuses_bio_align(pairs):
        return
    parsed = list(Align.parse(io.StringIO(text), "emboss"))
    assert len(parsed) == len(pairs)
    for p, a in zip(parsed, pairs, strict=True):
        assert (p[0], p[1]) == a.rows()
        converted = a.to_biopython()
        np.testing.assert_array_equal(p.coordinates, converted.coordinates[::-1])
        assert p.annotations["Score"] == a.score
        assert p.annotations["Similarity"] == a.matches + str_markup(a).count(":")
        assert p.column_annotations["emboss_consensus"] == str_markup(a)


def str_markup(a):
    return a._columns()[2]


def needle_sample(mode="semiglobal", **options):
    """The alignment that heads Biopython's copy of EMBOSS needle output, in our terms."""
    first = (
        "KILIVDD----QYGIRILLNEVFNKEGYQTFQAANGLQALDIVTKERPDLVLLDMKIPGMDGIEILKRMKVIDENIRVIIMTAYGELDM"
        "IQESKELGALTHFAK-PFDIDEIRDAV--------"
    )
    second = (
        "-VLLADDHALVRRGFRLMLED--DPEIEIVAEAGDGAQAVKLAGELHPRVVVMDCAMPGMSGMDATKQIRTQWPDIAVLMLTMHSEDTW"
        "VRLALEAGANGYILKSAIDLDLIQ-AVRRVANGET"
    )
    names = {"ref_rec": first, "gi|94968718|receiver": second}
    sequences = SequenceSet.from_strings(names, alphabet="protein", degap=True)
    ops = [
        1 if b == "-" else 2 if a == "-" else 7 if a == b else 8
        for a, b in zip(first[1:-8], second[1:-8], strict=True)
    ]
    runs = [(len(list(group)) << 4 | op) for op, group in itertools.groupby(ops)]
    gaps = [run for run in runs if run & 15 in (1, 2)]
    return Alignments(
        queries=sequences,
        targets=sequences,
        scoring=make_scoring("protein", mode=mode, gap_open=10, gap_extend="0.5", **options),
        query=[0],
        target=[1],
        raw_score=[1120],
        query_start=[1],
        query_end=[111],
        target_start=[0],
        target_end=[112],
        matches=[ops.count(7)],
        mismatches=[ops.count(8)],
        gap_openings=[len(gaps)],
        gap_letters=[sum(run >> 4 for run in gaps)],
        cigar=runs,
        cigar_offsets=[0, len(runs)],
    )


def test_srspair_looks_like_needle(tmp_path):
    """The layout that EMBOSS needle printed for this pair: numbers, columns and markup."""
    text = written(needle_sample(), "srspair", tmp_path)
    assert text.splitlines()[:4] == [
        "#" * 40,
        "# Program: pairalign",
        "# Align_format: srspair",
        "#" * 40,
    ]
    body = text[text.index("#===") :]
    assert body == SRSPAIR.replace("~", " ")


SRSPAIR = """\
#=======================================
#
# Aligned_sequences: 2
# 1: ref_rec
# 2: gi|94968718|receiver
# Matrix: BLOSUM62
# Gap_penalty: 10.0
# Extend_penalty: 0.5
#
# Length: 124
# Identity:      32/124 (25.8%)
# Similarity:    64/124 (51.6%)
# Gaps:          17/124 (13.7%)
# Score: 112.0
#~
#
#=======================================

ref_rec            1 KILIVDD----QYGIRILLNEVFNKEGYQTFQAANGLQALDIVTKERPDL     46
                      :|:.||    :.|.|::|.:  :.|.....:|.:|.||:.:..:..|.:
gi|94968718|r      1 -VLLADDHALVRRGFRLMLED--DPEIEIVAEAGDGAQAVKLAGELHPRV     47

ref_rec           47 VLLDMKIPGMDGIEILKRMKVIDENIRVIIMTAYGELDMIQESKELGALT     96
                     |::|..:|||.|::..|:::....:|.|:::|.:.|...::.:.|.||..
gi|94968718|r     48 VVMDCAMPGMSGMDATKQIRTQWPDIAVLMLTMHSEDTWVRLALEAGANG     97

ref_rec           97 HFAK-PFDIDEIRDAV--------    111
                     :..| ..|:|.|: ||~~~~~~~~
gi|94968718|r     98 YILKSAIDLDLIQ-AVRRVANGET    120


#---------------------------------------
#---------------------------------------
"""


def test_srspair_of_nothing_is_readable(tmp_path):
    text = written(needle_sample()[:0], "srspair", tmp_path)
    assert list(AlignIO.parse(io.StringIO(text), "emboss")) == []
    assert list(Align.parse(io.StringIO(text), "emboss")) == []


def test_one_letter_in_the_first_row(tmp_path):
    """EMBOSS prints it so; Bio.Align (1.88) takes "1 M--- 1" for a reversed sequence."""
    sequences = SequenceSet.from_strings(["M" * 120, "MK"], alphabet="protein")
    runs = [1 << 4 | 7, 118 << 4 | 1, 1 << 4 | 8]
    alignments = Alignments(
        queries=sequences,
        targets=sequences,
        scoring=make_scoring("protein"),
        query=[0],
        target=[1],
        raw_score=[-120],
        query_start=[0],
        query_end=[120],
        target_start=[0],
        target_end=[2],
        matches=[1],
        mismatches=[1],
        gap_openings=[1],
        gap_letters=[118],
        cigar=runs,
        cigar_offsets=[0, 3],
    )
    assert confuses_bio_align(alignments)
    text = written(alignments, "srspair", tmp_path)
    lines = [line for line in text.splitlines() if line.startswith("seq2")]
    assert lines == [
        "seq2               1 M" + "-" * 49 + "      1",
        "seq2               1 " + "-" * 50 + "      1",
        "seq2               2 " + "-" * 19 + "K      2",
    ]
    (parsed,) = AlignIO.parse(io.StringIO(text), "emboss")
    assert tuple(str(r.seq) for r in parsed) == alignments[0].rows()


def test_srspair_at_large_positions(tmp_path):
    rng = np.random.default_rng(8)
    sequences = random_set(rng, [100_200, 1_000_400], "dna")
    scoring = make_scoring("dna", mode="local")
    starts = 100_050, 999_970
    codes = [sequences.codes_of(k)[start : start + 90] for k, start in enumerate(starts)]
    same = (codes[0] == codes[1]) & (codes[0] < 4)
    runs = [(len(list(group)) << 4 | (7 if op else 8)) for op, group in itertools.groupby(same)]
    alignments = Alignments(
        queries=sequences,
        targets=sequences,
        scoring=scoring,
        query=[0],
        target=[1],
        raw_score=[-3],
        query_start=[starts[0]],
        query_end=[starts[0] + 90],
        target_start=[starts[1]],
        target_end=[starts[1] + 90],
        matches=[same.sum()],
        mismatches=[90 - same.sum()],
        gap_openings=[0],
        gap_letters=[0],
        cigar=runs,
        cigar_offsets=[0, len(runs)],
    )
    text = written(alignments, "srspair", tmp_path)
    (one,) = AlignIO.parse(io.StringIO(text), "emboss")
    assert tuple(str(r.seq) for r in one) == alignments[0].rows()
    (two,) = Align.parse(io.StringIO(text), "emboss")
    np.testing.assert_array_equal(two.coordinates, [[s, s + 90] for s in starts])
    assert two.annotations["Score"] == -3


# ---- Parquet -----------------------------------------------------------------------------------


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(MODES), st.sampled_from(list(Detail)), st.booleans())
def test_parquet_holds_every_field(folder, seed, mode, detail, scaled):
    pq = pytest.importorskip("pyarrow.parquet")
    alignments = sample(seed, mode, pairs=7, detail=detail, **(DECIMALS if scaled else {}))
    table = pq.read_table(io.BytesIO(written(alignments, "parquet", folder)))
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


def test_parquet_without_pairs_is_readable(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(io.BytesIO(written(needle_sample()[:0], "parquet", tmp_path)))
    assert table.num_rows == 0
    assert table.column_names == TSV_COLUMNS


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


# ---- bytes do not depend on threads, nor on how pairs come in ----------------------------------


@pytest.mark.parametrize("format", [*TEXT, "paf.gz", "srspair.gz", "parquet"])
@pytest.mark.parametrize("mode", MODES)
def test_bytes_do_not_depend_on_threads_or_cuts(format, mode, tmp_path, monkeypatch):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    alignments = sample(11, mode, pairs=300)
    path = tmp_path / f"out.{format}"
    write(alignments, path)  # one chunk, one member, one row group
    whole = path.read_bytes()
    monkeypatch.setattr(writer_module, "CHUNK_BYTES", 9000)
    monkeypatch.setattr(output_module, "GZIP_MEMBER_BYTES", 5000)
    monkeypatch.setattr(parquet, "GROUP_PAIRS", 64)
    monkeypatch.setattr(parquet, "GROUP_RUNS", 2000)
    write(alignments, path)
    first = path.read_bytes()
    if format in TEXT:
        assert first == whole
    elif format != "parquet":
        assert gzip.decompress(first) == gzip.decompress(whole)
        assert first.count(b"\x1f\x8b\x08\x00\x00\x00\x00\x00") >= 3  # members without a time
    for threads, cuts in ((2, ()), (3, (1, 1, 130)), (1, range(300)), (2, range(0, 300, 7))):
        write(alignments, path, threads=threads, cuts=cuts)
        assert path.read_bytes() == first
    assert os.listdir(tmp_path) == [path.name]


def test_a_pair_larger_than_the_buffer(tmp_path, monkeypatch):
    alignments = sample(11, pairs=20)
    expected = [written(alignments, format, tmp_path) for format in TEXT]
    monkeypatch.setattr(writer_module, "CHUNK_BYTES", 1)
    for format, text in zip(TEXT, expected, strict=True):
        assert written(alignments, format, tmp_path, threads=2) == text


@pytest.mark.parametrize("name", ["a.paf", "a.tsv.gz"])
def test_a_slow_disk_holds_nobody_up(name, tmp_path, monkeypatch):
    """With several threads, `write` returns while the disk still takes the text."""
    alignments = sample(3, pairs=300)
    write(alignments, tmp_path / f"once.{name}")
    disk_is_ready = threading.Event()
    write_now = output_module.FileOutput.write

    def write_when_ready(output, data):
        if threading.current_thread() is not threading.main_thread():
            assert disk_is_ready.wait(20)
        return write_now(output, data)

    monkeypatch.setattr(output_module.FileOutput, "write", write_when_ready)
    sets = alignments.queries, alignments.targets
    path = tmp_path / name
    with open_writer(path, None, *sets, alignments.scoring, Detail.CIGAR, threads=4) as writer:
        writer.write(alignments)  # would wait for ever
        disk_is_ready.set()
    assert path.read_bytes() == (tmp_path / f"once.{name}").read_bytes()


def test_gz_of_nothing_is_a_gzip_file(tmp_path):
    write(sample(1, pairs=2)[:0], tmp_path / "a.paf.gz")
    content = (tmp_path / "a.paf.gz").read_bytes()
    assert content
    assert gzip.decompress(content) == b""


def test_gz_by_an_independent_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(output_module, "GZIP_MEMBER_BYTES", 1000)
    alignments = sample(2, pairs=50)
    write(alignments, tmp_path / "a.tsv.gz", threads=3)
    result = subprocess.run(
        ["gzip", "-dc", tmp_path / "a.tsv.gz"], capture_output=True, check=True, text=True
    )
    (tmp_path / "a.tsv.gz").unlink()
    assert result.stdout == written(alignments, "tsv", tmp_path)


# ---- columns that contradict each other --------------------------------------------------------


@pytest.mark.parametrize("format", TEXT)
def test_contradictions_never_write_out_of_bounds(format, tmp_path):
    """Any numbers in the columns give text or a ValueError, never a crash."""
    rng = np.random.default_rng(5)
    base = sample(9, "semiglobal", pairs=6)
    names = ["query", "target", *(n for n in vars(base) if n.endswith(("start", "end")))]
    names += ["matches", "mismatches", "gap_openings", "gap_letters", "cigar"]
    refused = 0
    for _ in range(300):
        broken = base.take(range(6))
        for name in rng.choice(names, 2):
            column = getattr(broken, name)
            column[rng.integers(len(column))] = rng.choice([0, 1, 7, 300, 5000, 2**27 + 7])
        try:
            written(broken, format, tmp_path)
        except ValueError:
            refused += 1
        assert os.listdir(tmp_path) == []
    assert refused > 50


# ---- choosing a format -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "format"),
    [
        ("a.paf", "paf"),
        ("x.y/A.PAF.GZ", "paf"),
        ("a.tsv", "tsv"),
        ("a.fa", "fasta"),
        ("a.fasta.gz", "fasta"),
        ("a.srspair", "srspair"),
        ("a.needle", "srspair"),
        ("a.water.gz", "srspair"),
        ("a.parquet", "parquet"),
    ],
)
def test_format_follows_from_the_name(path, format):
    assert find_format(path) is FORMATS[format]


@pytest.mark.parametrize("path", ["a", "a.txt", "a.gz", "paf", ".paf", "/dev/null", "a.paf/b"])
def test_unknown_names_list_what_is_known(path):
    with pytest.raises(FormatError, match=r"paf: \.paf; tsv: \.tsv .*parquet") as caught:
        find_format(path)
    assert isinstance(caught.value, ValueError)


def test_format_errors():
    with pytest.raises(FormatError, match="unknown format 'sam', expected one of paf, tsv"):
        find_format("a.paf", "sam")
    with pytest.raises(FormatError, match="standard output needs a format"):
        find_format("-")
    assert find_format("-", "paf") is FORMATS["paf"]
    assert find_format("a.tsv", "paf") is FORMATS["paf"]


@pytest.mark.parametrize(
    ("format", "detail", "message"),
    [
        ("paf", Detail.SCORE, "paf needs spans, but only scores"),
        ("fasta", Detail.SCORE, "fasta needs alignments, but only scores"),
        ("srspair", Detail.STATS, "srspair needs alignments, but only spans and counts"),
    ],
)
def test_too_little_computed_is_refused_at_once(format, detail, message, tmp_path):
    path = tmp_path / f"a.{format}"
    with pytest.raises(FormatError, match=message):
        write(sample(1, detail=detail), path)
    assert os.listdir(tmp_path) == []


def test_parquet_is_not_compressed_twice(tmp_path):
    with pytest.raises(FormatError, match=r"leave '\.gz' out"):
        write(sample(1), tmp_path / "a.parquet.gz")


# ---- where output goes -------------------------------------------------------------------------


def test_nothing_appears_before_it_is_complete(tmp_path):
    alignments = sample(1)
    path = tmp_path / "a.paf"
    sets = alignments.queries, alignments.targets
    with open_writer(path, None, *sets, alignments.scoring, Detail.CIGAR) as writer:
        writer.write(alignments)
        (temporary,) = os.listdir(tmp_path)
        assert temporary.startswith(".")
        assert "a.paf" in temporary
    assert os.listdir(tmp_path) == ["a.paf"]
    writer.abort()  # too late to do harm
    assert os.listdir(tmp_path) == ["a.paf"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
@pytest.mark.parametrize("name", ["a.paf", "a.srspair.gz", "a.parquet"])
def test_an_interruption_leaves_what_was_there(name, error, tmp_path):
    alignments = sample(1)
    path = tmp_path / name
    path.write_text("before")
    sets = alignments.queries, alignments.targets

    def run():
        arguments = (*sets, alignments.scoring, Detail.CIGAR, 2)
        with open_writer(path, None, *arguments) as writer:
            writer.write(alignments)
            raise error

    with pytest.raises(error):
        run()
    assert os.listdir(tmp_path) == [name]
    assert path.read_text() == "before"


@pytest.mark.parametrize("name", ["a.paf", "a.paf.gz", "a.parquet"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_full_disk(name, threads, tmp_path, monkeypatch):
    """A limit on the size of files stands in for a disk that fills up midway."""
    monkeypatch.setattr(writer_module, "CHUNK_BYTES", 9000)
    monkeypatch.setattr(output_module, "GZIP_MEMBER_BYTES", 9000)
    monkeypatch.setattr(parquet, "GROUP_PAIRS", 64)
    alignments = sample(1, pairs=600)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OutputError, match=re.escape(str(tmp_path / name))) as caught:
            write(alignments, tmp_path / name, threads=threads)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.errno == errno.EFBIG
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("format", [*TEXT, "parquet"])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device(format):
    with pytest.raises(OutputError, match="'/dev/full': No space left") as caught:
        write(sample(1, pairs=600), "/dev/full", format)
    assert caught.value.errno == errno.ENOSPC
    assert os.path.exists("/dev/full")


def test_devices_are_written_directly():
    write(sample(1), "/dev/null", "paf")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_pipes_are_written_directly(tmp_path):
    alignments = sample(1)
    path = tmp_path / "pipe.paf"
    os.mkfifo(path)
    found = []
    reader = threading.Thread(target=lambda: found.append(path.read_text()), daemon=True)
    reader.start()
    write(alignments, path)
    reader.join(10)
    assert stat.S_ISFIFO(os.stat(path).st_mode)
    path.unlink()
    assert found == [written(alignments, "paf", tmp_path)]


def test_places_that_cannot_be_written(tmp_path):
    alignments = sample(1)
    (tmp_path / "folder.paf").mkdir()
    (tmp_path / "file").write_text("")
    for name, message in (
        ("no/where/a.paf", "there is no directory '.*no/where'"),
        ("folder.paf", "Is a directory"),
        ("folder.paf/", "Is a directory"),
        ("new.paf/", "Is a directory"),
        ("file/a.paf", "Not a directory"),
        ("x" * 300 + ".paf", "File name too long"),
    ):
        path = f"{tmp_path}/{name}"
        with pytest.raises(OutputError, match=message) as caught:
            write(alignments, path, "paf")
        assert path in str(caught.value)
        assert isinstance(caught.value, OSError)
    with pytest.raises(OutputError):
        write(alignments, "", "paf")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder.paf"]


@contextmanager
def ordinary_user():
    """Root may write everywhere: be nobody for a while."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_permissions_are_respected():
    alignments = sample(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.paf").write_text("before")
        (folder / "a.paf").chmod(0o444)
        folder.chmod(0o777)
        with ordinary_user(), pytest.raises(OutputError, match=r"a\.paf': Permission denied"):
            write(alignments, folder / "a.paf")
        folder.chmod(0o555)
        with ordinary_user(), pytest.raises(OutputError, match=r"b\.paf': Permission denied"):
            write(alignments, folder / "b.paf")
        folder.chmod(0o755)
        assert os.listdir(folder) == ["a.paf"]
        assert (folder / "a.paf").read_text() == "before"


def test_a_failed_rename_leaves_nothing(tmp_path, monkeypatch):
    def fail(source, target):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "replace", fail)
    for name in ("a.paf", "a.tsv.gz", "a.parquet"):
        with pytest.raises(OutputError, match="not permitted"):
            write(sample(1), tmp_path / name)
    assert os.listdir(tmp_path) == []


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def test_permission_bits(tmp_path):
    path = tmp_path / "a.paf"
    with umask(0o027):
        write(sample(1), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o606)  # kept by a new version of the file
    write(sample(1), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o606


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    os.symlink("there/real.paf", tmp_path / "a.paf")
    for _ in range(2):  # dangling, then not
        write(sample(1), tmp_path / "a.paf")
        assert (tmp_path / "a.paf").is_symlink()
        assert os.listdir(tmp_path / "there") == ["real.paf"]


def test_a_long_name_is_no_problem(tmp_path):
    name = "é" * 125 + ".paf"  # 254 of 255 bytes
    write(sample(1), tmp_path / name)
    assert os.listdir(tmp_path) == [name]


def test_standard_output(tmp_path, capsysbinary):
    alignments = sample(1)
    expected = written(alignments, "paf", tmp_path)
    write(alignments, "-", "paf", threads=2)
    assert capsysbinary.readouterr().out.decode() == expected


def test_standard_output_by_descriptor(tmp_path, capfdbinary):
    alignments = sample(1)
    expected = written(alignments, "tsv", tmp_path)
    print("before")
    write(alignments, "-", "tsv")
    print("after")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out.decode() == f"before\n{expected}after\n"


READER_GONE = """
import errno, sys
from pairalign.errors import OutputError
from pairalign.formats.output import open_output
sys.stdin.read()  # until the reader of our output is gone
try:
    with open_output("-") as output:
        output.write(bytes(1000))
except BrokenPipeError as error:
    assert isinstance(error, OutputError)
    assert error.errno == errno.EPIPE
    assert "standard output" in str(error)
    sys.exit(7)
"""


def test_a_reader_that_goes_away():
    process = subprocess.Popen(
        [sys.executable, "-c", READER_GONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    process.stdout.close()
    process.stdin.close()
    assert process.stderr.read() == b""  # no "Exception ignored ... BrokenPipeError"
    assert process.wait(60) == 7
    process.stderr.close()


def test_an_output_of_its_own(tmp_path):
    """`open_output` serves formats that are not alignments: trees, distances."""
    with open_output(tmp_path / "a.nwk") as output:
        assert output.write(b"(a,") == 3
        output.write(memoryview(np.frombuffer(b"b);", np.uint8)))
    assert (tmp_path / "a.nwk").read_bytes() == b"(a,b);"
    with open_output(tmp_path / "b.nwk.gz", threads=2) as output:
        output.write(bytes(3 << 20))
    assert gzip.decompress((tmp_path / "b.nwk.gz").read_bytes()) == bytes(3 << 20)


@pytest.mark.parametrize("format", ["paf", "tsv", "parquet"])
@pytest.mark.parametrize("detail", [Detail.SCORE, Detail.STATS])
def test_more_than_asked_for_is_not_written(format, detail, tmp_path):
    if format == "paf" and detail == Detail.SCORE:
        return
    path = tmp_path / f"a.{format}"
    alignments = sample(1)
    arguments = (alignments.queries, alignments.targets, alignments.scoring, detail)
    with open_writer(path, None, *arguments) as writer:
        writer.write(alignments)
    content = path.read_bytes()
    write(sample(1, detail=detail), path)
    assert content == path.read_bytes()


def test_two_sets(tmp_path):
    rng = np.random.default_rng(3)
    queries, targets = random_set(rng, [30, 4]), random_set(rng, [9, 50, 2], prefix="t")
    alignments = random_alignments(rng, queries, targets, make_scoring("protein"), 8)
    for line, a in zip(written(alignments, "paf", tmp_path).splitlines(), alignments, strict=True):
        fields = line.split("\t")
        assert (fields[0], fields[5]) == (a.query.name, a.target.name)
    rows = written(alignments, "fasta", tmp_path).splitlines()[1::2]
    assert rows == [row for a in alignments for row in a.rows()]
