"""Every format holds every field, whatever the alignments; which format a file name means."""

import io
import os
import re

import numpy as np
import pytest
from Bio import AlignIO
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import sample
from strategies import MODES
from written_files import DECIMALS, TEXT, TSV_COLUMNS, shown, write, written

from pairalign.formats import FORMATS, FormatError, find_format, open_writer
from pairalign.formats.writer import Content
from pairalign.pairs.want import Detail
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

# ---- PAF ---------------------------------------------------------------------------------------


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(MODES), st.booleans(), st.booleans())
def test_paf_holds_every_field(shared_folder, seed, mode, cigars, scaled):
    detail = Detail.CIGAR if cigars else Detail.STATS
    alignments = sample(seed, mode, pairs=7, detail=detail, **(DECIMALS if scaled else {}))
    lines = written(alignments, "paf", shared_folder).splitlines()
    assert len(lines) == len(shown(alignments))
    for line, a in zip(lines, shown(alignments), strict=True):
        fields = line.split("\t")
        assert fields[:12] == [
            *(a.query.name, str(len(a.query)), str(a.query_start), str(a.query_end), "+"),
            *(a.target.name, str(len(a.target)), str(a.target_start), str(a.target_end)),
            *(str(a.matches), str(a.columns), "255"),
        ]
        tags = {tag[:5]: tag[5:] for tag in fields[12:]}
        assert int(tags.pop("NM:i:")) == a.mismatches + a.gap_residues
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
            gap_residues=[0] * n,
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
def test_tsv_holds_every_field(shared_folder, seed, mode, detail, scaled):
    alignments = sample(seed, mode, pairs=7, detail=detail, **(DECIMALS if scaled else {}))
    header, *lines = written(alignments, "tsv", shared_folder).splitlines()
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
        assert row.pop("gap_letters") == str(a.gap_residues)
        assert row == {name: str(getattr(a, name)) for name in row}
        assert len(row) == 8


# ---- FASTA pairs -------------------------------------------------------------------------------


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32), st.sampled_from(MODES), st.booleans())
def test_fasta_pairs_are_the_rows(shared_folder, seed, mode, scaled):
    alignments = sample(seed, mode, pairs=7, **(DECIMALS if scaled else {}))
    text = written(alignments, "fasta", shared_folder)
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


# ---- columns that contradict each other --------------------------------------------------------


@pytest.mark.parametrize("format", TEXT)
def test_contradictions_never_write_out_of_bounds(format, tmp_path):
    """Any numbers in the columns give text or a ValueError, never a crash."""
    rng = np.random.default_rng(5)
    base = sample(9, "semiglobal", pairs=6)
    names = ["query", "target", *(n for n in vars(base) if n.endswith(("start", "end")))]
    names += ["matches", "mismatches", "gap_openings", "gap_residues", "cigar"]
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
        ("a.jsonl.gz", "jsonl"),
        ("a.m8", "blast6"),
        ("a.outfmt7.gz", "blast7"),
        ("a.sam.gz", "sam"),
        ("a.a3m", "a3m"),
        ("a.sto", "stockholm"),
        ("a.maf", "maf"),
        ("a.tc_lib", "tc_lib"),
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
    with pytest.raises(FormatError, match="unknown format 'bam', expected one of paf, tsv"):
        find_format("a.paf", "bam")
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


@pytest.mark.parametrize("format", ["paf", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("detail", [Detail.SCORE, Detail.STATS])
def test_more_than_asked_for_is_not_written(format, detail, tmp_path):
    if format == "paf" and detail == Detail.SCORE:
        return
    path = tmp_path / f"a.{format}"
    alignments = sample(1)
    content = Content(alignments.queries, alignments.targets, alignments.scoring, detail)
    with open_writer(path, None, content) as writer:
        writer.write(alignments)
    text = path.read_bytes()
    write(sample(1, detail=detail), path)
    assert text == path.read_bytes()
