"""`pairalign verify`: our own files are legal and optimal; pieces, messages and errors."""

import gzip
from contextlib import suppress

import numpy as np
import pytest
from commands import fasta
from samples import sample
from strategies import MODES
from verifying import COLUMNS, ROWS, align, family, verify

from pairalign.alignments.alignment_records import FAULTS, RecordChecker, SetNames, fault_names
from pairalign.base.choices import READER_NAMES
from pairalign.cli.main import main
from pairalign.errors import AlignmentFileError
from pairalign.formats.readers import open_reader, reader
from pairalign.sequences.sets import SequenceSet

GRAPHS = ("a3m", "gfa", "abc")
"""Those that have tests of their own."""
FORMATS = [name for name in READER_NAMES if name not in GRAPHS]


@pytest.fixture
def folder(here):
    (here / "p.fa").write_text(fasta(family("protein")))
    (here / "d.fa").write_text(fasta(family("dna")))
    return here


# ---- our own files -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", FORMATS)
def test_own_files_are_legal_and_optimal(folder, format, mode):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    chosen = ["--columns", COLUMNS] if format == "blast6" else []
    align("p.fa", "-o", f"a.{format}", "--mode", mode, *chosen)
    rows = verify(f"a.{format}", "p.fa", "--optimal", "--mode", mode, *chosen)
    assert len(rows) > 30
    assert [row["record"] for row in rows] == [str(k + 1) for k in range(len(rows))]
    assert {row["verdict"] for row in rows} == {"ok"}
    assert {row["below"] for row in rows} == {"0"}
    assert all(row["score"] == row["file_score"] for row in rows)


@pytest.mark.parametrize("mode", MODES)
def test_a3m_of_one_query(folder, mode):
    query, *_ = family("dna").items()
    (folder / "q.fa").write_text(fasta(dict([query])))
    align("q.fa", "d.fa", "-o", "a.a3m", "--mode", mode)
    rows = verify("a.a3m", "q.fa", "d.fa", "--optimal", "--mode", mode)
    assert len(rows) > 7
    assert {(row["verdict"], row["below"]) for row in rows} == {("ok", "0")}
    assert all(row["score"] == row["file_score"] for row in rows)
    rows = verify("a.a3m", "q.fa", "d.fa")
    assert {row["verdict"] for row in rows} == {"ok"}


@pytest.mark.parametrize("mode", MODES)
def test_rows_in_a_table_and_two_sets_of_dna(folder, mode):
    costs = ["--gap-open", "5.5", "--gap-extend", "0.25", "--mode", mode]
    align("d.fa", "d.fa", "-o", "a.b6.gz", "--format", "blast6", "--columns", ROWS, *costs)
    rows = verify(
        "a.b6.gz", "d.fa", "d.fa", "--from", "blast6", "--columns", ROWS, "--optimal", *costs
    )
    assert len(rows) > 70
    assert {row["verdict"] for row in rows} == {"ok"}
    assert {row["below"] for row in rows} == {"0"}


@pytest.mark.parametrize("name", ["m.afa", "m.sto", "m.aln", "m.a2m", "m.msf", "m.phy.gz"])
def test_a_multiple_alignment_is_refused(folder, capfd, name):
    """By its rows where the ending may be that of pairs; else by the ending."""
    if name.endswith((".msf", ".gz")):
        (folder / name).write_bytes(b"")
    else:
        assert main(["msa", "p.fa", "-o", name, "--quiet"]) == 0
    capfd.readouterr()
    assert main(["verify", name, "p.fa", "-o", "found.tsv"]) == 1
    message = f"{name}: rows of a multiple alignment; verify takes pairs of rows"
    assert message in capfd.readouterr().err
    assert not (folder / "found.tsv").exists()


def test_scores_without_alignments(folder):
    align("p.fa", "-o", "a.tsv", "--score-only")
    rows = verify("a.tsv", "p.fa", "--optimal", "--mode", "global")
    assert {(row["score"], row["below"]) for row in rows} == {("*", "0")}
    text = (folder / "a.tsv").read_text().splitlines()
    name, other, score = text[1].split("\t")
    (folder / "a.tsv").write_text("\n".join([text[0], f"{name}\t{other}\t{int(score) - 3}"]))
    assert verify("a.tsv", "p.fa", "--optimal", "--mode", "global")[0]["below"] == "3"


def test_both_strands(folder):
    reads = {f"r{k}": one for k, one in enumerate(family("dna", 6, 8).values())}
    other = str.maketrans("ACGTacgt", "TGCAtgca")
    reads |= {f"m{k}": one[::-1].translate(other) for k, one in enumerate(reads.values())}
    (folder / "r.fa").write_text(fasta(reads))
    costs = ["--match", "2", "--mismatch", "-4", "--gap-open", "6", "--gap-extend", "2"]
    overlap = ["overlap", "r.fa", "-o", "o.paf", "--mode", "local", "--min-overlap", "20", "-q"]
    assert main([*overlap, "--min-score", "20", "--min-identity", "0.5", *costs]) == 0
    rows = verify("o.paf", "r.fa", "--optimal", "--mode", "local", *costs)
    strands = [line.split("\t")[4] for line in (folder / "o.paf").read_text().splitlines()]
    assert strands.count("-") > 10
    assert {(row["verdict"], row["below"]) for row in rows} == {("ok", "0")}


# ---- pieces, messages and errors -----------------------------------------------------------------


@pytest.mark.parametrize("format", [one for one in FORMATS if one != "parquet"])
def test_pieces_make_no_difference(folder, monkeypatch, format):
    chosen = ["--columns", COLUMNS] if format == "blast6" else []
    chosen += ["--mode", "global"]
    align("p.fa", "-o", f"a.{format}", *chosen)
    expected = verify(f"a.{format}", "p.fa", *chosen)
    for size in (50, 1000):
        monkeypatch.setattr(reader, "PIECE_BYTES", size)
        assert verify(f"a.{format}", "p.fa", "-t", "3", *chosen) == expected
    assert verify(f"a.{format}", "p.fa", "--optimal", *chosen) == [
        {**row, "optimum": row["score"], "below": "0"} for row in expected
    ]


def test_standard_input_and_compression(folder, monkeypatch):
    align("p.fa", "-o", "a.paf")
    text = (folder / "a.paf").read_bytes()
    (folder / "b.paf.gz").write_bytes(gzip.compress(text[:100]) + gzip.compress(text[100:]))
    expected = verify("a.paf", "p.fa")
    assert verify("b.paf.gz", "p.fa") == expected
    (folder / "b.paf.gz").write_bytes(gzip.compress(text)[:-20])
    assert main(["verify", "b.paf.gz", "p.fa", "-o", "found.tsv"]) == 1


def test_a_text_that_is_no_fasta(folder, capsys):
    for text, code in (("MKV\nACGT > 3\n", 1), ("", 0)):
        (folder / "x.fa").write_text(text)
        assert main(["verify", "x.fa", "p.fa", "-o", "found.tsv"]) == code
        assert ("error: x.fa: no line begins with '>'" in capsys.readouterr().err) == bool(code)


def test_damaged_bytes_never_crash(folder):
    align("p.fa", "-o", "a.sam")
    align("p.fa", "-o", "a.srspair")
    align("p.fa", "-o", "a.fasta")
    align("p.fa", "-o", "a.b6", "--columns", ROWS)
    sequences = SequenceSet.from_strings(family("protein"))
    names = SetNames(sequences), SetNames(sequences)
    scoring = sample(1, "local").scoring
    checker = RecordChecker(sequences, sequences, scoring, whole=True, scores=True)
    rng = np.random.default_rng(1)
    faults = set()
    for name in ("a.sam", "a.srspair", "a.fasta", "a.b6"):
        columns = tuple(ROWS.split(",")) if name == "a.b6" else ()
        text = (folder / name).read_bytes()[:6000]
        for _ in range(40):
            damaged = np.frombuffer(text, np.uint8).copy()
            places = rng.integers(0, len(damaged), 20)
            damaged[places] = rng.choice(
                np.frombuffer(b"0123456789MIDX=-\t\n>#Aaz*.", np.uint8), 20
            )
            (folder / f"d{name}").write_bytes(damaged.tobytes())
            found = open_reader(f"d{name}", None, names, columns)
            with suppress(AlignmentFileError):  # SAM's header
                for piece in found.pieces():
                    every = checker.check(found.read(piece))["faults"]
                    faults.update(fault_names(int(np.bitwise_or.reduce(every))))
            found.close()
    assert {"query", "target", "query_letters", "cigar", "rows"} <= faults <= set(FAULTS)
