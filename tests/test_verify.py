"""`pairalign verify`: our own files are legal and optimal, each kind of damage is caught, and other
programs' files are read as those programs mean them."""

import gzip
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from commands import fasta, rows_of
from readable import needs_program
from samples import sample
from strategies import MODES

from pairalign.cli.main import main
from pairalign.formats.readers import READERS, open_reader, reader
from pairalign.records import FAULTS, RecordChecker, SetNames, fault_names
from pairalign.sequences import SequenceSet

FORMATS = [one.name for one in READERS]
COLUMNS = "query,target,pident,length,mismatch,gapopen,qstart,qend,sstart,send,evalue,score,cigar"
ROWS = (
    "qseqid,sseqid,nident,positive,gaps,ppos,qseq,sseq,qlen,slen,query_start,query_end,sstart,send"
)


def family(alphabet, count=9, seed=5):
    """Sequences that are alike in parts, some with ambiguous letters and small ones."""
    rng = np.random.default_rng(seed)
    letters = list("ACGT" if alphabet == "dna" else "ARNDCQEGHILKMFPSTWYV")
    root = rng.choice(letters, 90)
    records = {}
    for k in range(count):
        row = [
            str(rng.choice(letters)) if rng.random() < 0.2 else one
            for one in root
            if rng.random() > 0.06
        ]
        row[7] = "N" if alphabet == "dna" else "X"
        if k % 3 == 1:
            row = row[20:]
        if k % 3 == 2:
            row = [one.lower() for one in row[:60]]
        records[f"s|{k}"] = "".join(row)
    return records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.fa").write_text(fasta(family("protein")))
    (tmp_path / "d.fa").write_text(fasta(family("dna")))
    return tmp_path


def verify(*arguments, code=0):
    """Rows of the table."""
    assert main(["verify", *map(str, arguments), "-o", "found.tsv", "--quiet"]) == code
    with open("found.tsv") as file:
        return rows_of(file.read())


def align(*arguments):
    assert main(["align", *map(str, arguments), "--quiet", "--device", "cpu"]) == 0


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
def test_rows_in_a_table_and_two_sets_of_dna(folder, mode):
    costs = ["--gap-open", "5.5", "--gap-extend", "0.25", "--mode", mode]
    align("d.fa", "d.fa", "-o", "a.b6.gz", "--format", "blast6", "--columns", ROWS, *costs)
    rows = verify(
        "a.b6.gz", "d.fa", "d.fa", "--from", "blast6", "--columns", ROWS, "--optimal", *costs
    )
    assert len(rows) > 70
    assert {row["verdict"] for row in rows} == {"ok"}
    assert {row["below"] for row in rows} == {"0"}


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


def test_scores_are_those_of_rescoring(tmp_path):
    spans = ("query_start", "query_end", "target_start", "target_end")
    for seed, mode in enumerate(MODES * 4):
        made = sample(seed, mode, "dna" if seed % 2 else "protein", pairs=40)
        lines = ["\t".join(("query", "target", *spans, "cigar"))]
        for a in made:
            places = [str(getattr(a, name)) for name in spans]
            lines.append("\t".join((a.query.name, a.target.name, *places, a.cigar or "*")))
        (tmp_path / "x.tsv").write_text("\n".join(lines) + "\n")
        names = SetNames(made.queries)
        found = open_reader(str(tmp_path / "x.tsv"), None, (names, names))
        (records,) = [found.read(piece) for piece in found.pieces()]
        scoring = replace(made.scoring, mode="local")
        checker = RecordChecker(made.queries, made.targets, scoring, whole=False, scores=True)
        findings = checker.check(records)
        assert len(findings) == 40
        assert not findings["faults"].any()
        for k, a in enumerate(made):
            expected = scoring.rescore(
                made.queries.codes_of(made.query[k]),
                made.targets.codes_of(made.target[k]),
                made.cigar[made.cigar_offsets[k] : made.cigar_offsets[k + 1]],
                **{name: getattr(a, name) for name in spans},
            )
            assert findings[k]["score"] == expected
        found.close()


# ---- damage --------------------------------------------------------------------------------------

TABLE = [
    *("query", "target", "score", "identity", "columns", "matches", "mismatches", "gap_openings"),
    *("gap_letters", "query_length", "query_start", "query_end", "target_length", "target_start"),
    *("target_end", "cigar"),
]
RECORD = "a\tb\t44\t0.818182\t11\t9\t1\t1\t1\t12\t1\t12\t11\t0\t10\t4=1I3=1X2="
"""MKVLWACGGWYT and KVLWCGGHYTR from K to T: a gap of one letter, W against H."""


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.fa").write_text(">a\nMKVLWACGGWYT\n>b\nKVLWCGGHYTR\n")
    return tmp_path


def with_column(name, value):
    columns = RECORD.split("\t")
    columns[TABLE.index(name)] = value
    return "\t".join(columns)


def verdict_of(line, *options, header=TABLE, code=1):
    with open("x.tsv", "w") as file:
        file.write("\t".join(header) + "\n" + RECORD + "\n" + line + "\n")
    rows = verify("x.tsv", "s.fa", *options, code=code)
    assert rows[0]["verdict"] == "ok"
    assert (rows[1]["record"], rows[1]["line"]) == ("2", "3")
    return rows[1]["verdict"], rows[1]["detail"]


@pytest.mark.parametrize(
    ("name", "value", "verdict", "detail"),
    [
        ("query", "z", "query", "no such name among the queries"),
        ("target", "z", "target", "no such name among the targets"),
        ("score", "45", "score", "says 45, is 44"),
        ("identity", "0.818185", "identity", "says 0.818185, is 0.8181818182"),
        ("columns", "12", "columns", "says 12, is 11"),
        ("matches", "8", "matches", "says 8, is 9"),
        ("mismatches", "2", "mismatches", "says 2, is 1"),
        ("gap_openings", "2", "gap_openings", "says 2, is 1"),
        ("gap_letters", "2", "gap_letters", "says 2, is 1"),
        ("query_length", "11", "query_length", "said to have 11 letters, it has 12"),
        ("target_length", "8", "target_length", "said to have 8 letters, it has 11"),
        ("query_end", "13", "query_span", "letters from 1 to 13 are no part of the query"),
        ("target_start", "11", "target_span", "letters from 11 to 10 are no part of the target"),
        ("query_start", "0", "query_cigar", "have 11 letters of the query, its span has 12"),
        ("target_end", "11", "target_cigar", "have 10 letters of the target, its span has 11"),
        (
            "cigar",
            "4=1I4=2=",
            "operation",
            "not true of letter 10 of the query and 8 of the target",
        ),
        ("cigar", "4=1I3=1X1=1X", "operation", "letter 12 of the query and 10"),
        ("cigar", "4=1I3=0I1X2=", "cigar", "cannot be read"),
        ("cigar", "4=1I3=1Q2=", "cigar", "cannot be read"),
        ("cigar", "4=1I3=1X2", "cigar", "cannot be read"),
        ("cigar", "4=1D3=1X2=", "query_cigar,target_cigar", "columns have 10 letters"),
        ("matches", "seven", "number", "a number cannot be read"),
        ("query_start", "1.5", "number", "a number cannot be read"),
        ("query_start", "", "number", "a number cannot be read"),
    ],
)
def test_each_damage_is_caught(pair, name, value, verdict, detail):
    found = verdict_of(with_column(name, value))
    assert found[0] == verdict
    assert detail in found[1]


def test_damage_that_makes_a_record_illegal_in_several_ways(pair):
    columns = RECORD.split("\t")
    columns[4], columns[5] = "1", "2"
    assert verdict_of("\t".join(columns))[0] == "matches,columns"


def test_lines_cut_short(pair):
    assert verdict_of("a\tb\t44")[0] == "columns"
    assert verdict_of(RECORD + "\r", code=0)[0] == "ok"


def test_spans_and_the_mode(pair):
    (pair / "x.tsv").write_text("\t".join(TABLE) + "\n" + RECORD + "\n")
    assert verify("x.tsv", "s.fa", "--mode", "global", code=1)[0]["verdict"] == "mode"
    assert verify("x.tsv", "s.fa", "--mode", "semiglobal")[0]["verdict"] == "ok"
    assert verify("x.tsv", "s.fa", "--mode", "local")[0]["verdict"] == "ok"
    (pair / "x.tsv").write_text(
        "query\ttarget\tqstart\tqend\tsstart\tsend\tcigar\na\tb\t3\t4\t2\t3\t2M\n"
    )
    assert verify("x.tsv", "s.fa", "--mode", "semiglobal", code=1)[0]["verdict"] == "mode"
    found = verify("x.tsv", "s.fa", "--mode", "local", "--optimal")[0]
    assert (found["score"], found["optimum"], found["below"]) == ("8", "44", "36")
    only = verify("x.tsv", "s.fa", "--mode", "local", "--optimal", "--illegal")
    assert only == [found]


def test_scores_of_another_scoring(pair):
    line = with_column("score", "45")
    assert verdict_of(line, "--ignore-scores", code=0)[0] == "ok"
    with open("x.tsv", "w") as file:
        file.write("\t".join(TABLE) + "\n" + line + "\n")
    rows = verify("x.tsv", "s.fa", "--ignore-scores", "--optimal", "--mode", "local")
    assert (rows[0]["score"], rows[0]["file_score"], rows[0]["below"]) == ("44", "45", "0")


SAM = "a\t0\tb\t1\t255\t1S4=1I3=1X2=\t*\t0\t0\tMKVLWACGGWYT\t*\tNM:i:2\tAS:i:44"


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("\t", "\t", "ok"),
        ("1S", "1H", "rows"),
        ("1S4=", "2S4=", "query_length"),
        ("CGGWYT", "CGGWYS", "query_letters"),
        ("MKVLWACGGWYT", "*", "ok"),
        ("NM:i:2", "NM:i:3", "edits"),
        ("AS:i:44", "AS:f:44.5", "score"),
        ("\tb\t1\t", "\tb\t3\t", "target_span"),
        ("\tb\t1\t", "\tb\t0\t", "target_span"),
        ("a\t0", "a\t16", "strand"),
        ("1S4=1I", "4=1S1I", "cigar"),
    ],
)
def test_damaged_sam(pair, old, new, verdict):
    header = "@SQ\tSN:b\tLN:9\n"
    unmapped = "a\t4\t*\t0\t0\t*\t*\t0\t0\tMKVL\t*\n"
    (pair / "x.sam").write_text(header + unmapped + SAM.replace(old, new, 1) + "\n")
    rows = verify("x.sam", "s.fa", code=verdict != "ok")
    assert [row["verdict"].split(",")[0] for row in rows] == [verdict]
    assert rows[0]["line"] == "3"


BLAST = "a\tb\t2\t12\t1\t10\t4A-3WH2\tKVLWACGGWYT\tKVLW-CGGHYT"


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("\t", "\t", "ok"),
        ("A-", "-A", "target_letters"),
        ("WH", "WK", "target_letters"),
        ("WH", "VH", "query_letters"),
        ("4A-3WH2", "3A-4WH2", "query_letters"),
        ("4A-3WH2", "4A-3WH3", "cigar"),
        ("4A-3WH2", "4A-3WH", "query_cigar,target_cigar"),
        ("4A-3WH2", "4--3WH2", "cigar"),
        ("4A-3WH2", "4A-4H", "cigar"),
    ],
)
def test_damaged_btop(pair, old, new, verdict):
    names = "qseqid,sseqid,qstart,qend,sstart,send,btop,_,_"
    (pair / "x.b6").write_text(BLAST.replace(old, new, 1) + "\n")
    rows = verify("x.b6", "s.fa", "--columns", names, code=verdict != "ok")
    assert rows[0]["verdict"] == verdict


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("\t", "\t", "ok"),
        ("GWYT\t", "GWYS\t", "query_letters"),
        ("CGGHYT", "CGGKYT", "target_letters"),
        ("W-C", "WC", "rows"),
        ("WACGGWYT\tKVLW-", "WA-CGGWYT\tKVLW--", "rows"),
        ("\t2\t12", "\t1\t12", "query_cigar"),
    ],
)
def test_damaged_rows(pair, old, new, verdict):
    names = "qseqid,sseqid,qstart,qend,sstart,send,_,qseq,sseq"
    (pair / "x.b6").write_text("# a comment\n" + BLAST.replace(old, new, 1) + "\n")
    rows = verify("x.b6", "s.fa", "--columns", names, code=verdict != "ok")
    assert rows[0]["verdict"] == verdict
    assert rows[0]["line"] == "2"


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (b"# Length: 11", b"# Length: 10", "columns"),
        (b"# Identity:       9/11", b"# Identity:       8/11", "matches"),
        (b"# Gaps:           1/11", b"# Gaps:           0/11", "gap_letters"),
        (b"# Score: 44.0", b"# Score: 44.5", "score"),
        (b"KVLWACGGWYT     12", b"KVLWACGGWYT     13", "query_span"),
        (b"2 KVLWACGGWYT", b"2 KVLWACGGWYS", "query_letters"),
        (b"# 2: b", b"# 2: c", "target"),
    ],
)
def test_damaged_srspair(pair, old, new, verdict):
    align("s.fa", "-o", "x.srspair", "--mode", "local")
    text = (pair / "x.srspair").read_bytes()
    assert text.count(old) == 1
    (pair / "x.srspair").write_bytes(text.replace(old, new))
    rows = verify("x.srspair", "s.fa", code=1)
    assert [row["verdict"] for row in rows] == [verdict]


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("score=44", "score=43", "score"),
        ("start=1", "start=0", "query_cigar"),
        ("\nKVLWACGGWYT", "\nKVLWACGGWYS", "query_letters"),
        ("KVLW-CGGHYT", "KVLWC-GGHYT", "score"),
        (">b", ">c", "target"),
        ("\nKVLW-CGGHYT", "", "rows"),
    ],
)
def test_damaged_fasta(pair, old, new, verdict):
    align("s.fa", "-o", "x.fasta", "--mode", "local")
    text = (pair / "x.fasta").read_text()
    assert old in text
    (pair / "x.fasta").write_text(text.replace(old, new, 1))
    rows = verify("x.fasta", "s.fa", code=1)
    assert [row["verdict"] for row in rows] == [verdict]


def test_damaged_parquet(pair):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    align("s.fa", "-o", "x.parquet", "--mode", "local")
    table = pq.read_table("x.parquet")
    for name, value, verdict in (
        ("score", 45, "score"),
        ("identity", 0.5, "identity"),
        ("query_end", 13, "query_span"),
        ("cigar", [3 << 4 | 7], "query_cigar,target_cigar"),
        ("target", "c", "target"),
    ):
        column = pa.array([value])
        if name != "target":
            column = column.cast(table.schema.field(name).type)
        damaged = table.set_column(table.schema.get_field_index(name), name, column)
        pq.write_table(damaged, "y.parquet")
        assert verify("y.parquet", "s.fa", code=1)[0]["verdict"] == verdict


def test_paf_without_columns(pair):
    line = "a\t12\t1\t12\t+\tb\t11\t0\t10\t9\t11\t255"
    (pair / "x.paf").write_text(f"{line}\n{line.replace('9', '11', 1)}\n")
    rows = verify("x.paf", "s.fa", code=1)
    assert [row["verdict"] for row in rows] == ["ok", "matches"]
    assert {row["score"] for row in rows} == {"*"}
    (pair / "x.paf").write_text(line.replace("+", "x") + "\n")
    assert verify("x.paf", "s.fa", code=1)[0]["verdict"] == "strand"


def test_ambiguous_letters_may_count_either_way(pair):
    (pair / "n.fa").write_text(">a\nACGNA\n>b\nACGNA\n")
    for cigar, matches, columns, edits in (
        ("5=", 5, 5, 0),
        ("3=1X1=", 4, 5, 1),
        ("5M", 4, 4, 1),
    ):
        tags = f"NM:i:{edits}\tcg:Z:{cigar}"
        line = f"a\t5\t0\t5\t+\tb\t5\t0\t5\t{matches}\t{columns}\t0\t{tags}\n"
        (pair / "x.paf").write_text(line)
        assert verify("x.paf", "n.fa")[0]["score"] == "5"
    (pair / "x.paf").write_text(line.replace("\t4\t4\t", "\t4\t3\t"))
    assert verify("x.paf", "n.fa", code=1)[0]["verdict"] == "columns"


# ---- pieces, messages and errors -----------------------------------------------------------------


@pytest.mark.parametrize("format", [one for one in FORMATS if one != "parquet"])
def test_pieces_make_no_difference(folder, monkeypatch, format):
    chosen = ["--columns", COLUMNS] if format == "blast6" else []
    align("p.fa", "-o", f"a.{format}", *chosen)
    expected = verify(f"a.{format}", "p.fa", *chosen)
    for size in (50, 1000):
        monkeypatch.setattr(reader, "PIECE_BYTES", size)
        assert verify(f"a.{format}", "p.fa", "-t", "3", *chosen) == expected
    assert verify(f"a.{format}", "p.fa", "--optimal", "--mode", "global", *chosen) == [
        {**row, "optimum": row["score"], "below": "0"} for row in expected
    ]


def test_messages_and_summary(pair, capfd):
    (pair / "x.tsv").write_text(
        "\t".join(TABLE) + "\n" + RECORD + "\n" + 12 * (with_column("matches", "8") + "\n")
    )
    assert main(["verify", "x.tsv", "s.fa", "-o", "t.tsv", "--mode", "local", "--optimal"]) == 1
    messages = capfd.readouterr().err.splitlines()
    where = "pairalign: warning: x.tsv: record 2 (line 3), 'a' and 'b': matches: says 8, is 9"
    assert messages[0] == where
    assert "x.tsv: 2 more illegal records" in messages[10]
    summary = "\n".join(messages)
    for part in ("records  13", "legal  1", "illegal  12", "matches  12", "13 of 13 (100.00%)"):
        assert part in summary
    assert messages[-1] == "pairalign: error: x.tsv: 12 of 13 records are illegal"


def test_standard_input_and_compression(folder, monkeypatch):
    align("p.fa", "-o", "a.paf")
    text = (folder / "a.paf").read_bytes()
    (folder / "b.paf.gz").write_bytes(gzip.compress(text[:100]) + gzip.compress(text[100:]))
    expected = verify("a.paf", "p.fa")
    assert verify("b.paf.gz", "p.fa") == expected
    (folder / "b.paf.gz").write_bytes(gzip.compress(text)[:-20])
    assert main(["verify", "b.paf.gz", "p.fa", "-o", "found.tsv"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a.paf", "p.fa", "--optimal"], 2, "--optimal needs --mode"),
        (["a.paf", "p.fa", "--columns", "query"], 2, "--columns is for tables without a header"),
        (["a.paf", "p.fa", "--from", "blast6", "--columns", "a"], 2, "no column 'a': expected"),
        (["a.paf", "p.fa", "--from", "blast6", "--columns", "query"], 2, "no column of the target"),
        (["none.paf", "p.fa"], 1, "none.paf: no such file"),
        (["a.txt", "p.fa"], 2, "does not tell the format"),
        (["-", "p.fa"], 2, "standard input needs a format"),
        (["a.paf", "p.fa", "--from", "tsv"], 1, "a.paf: line 1: no column of the querys' names"),
    ],
)
def test_errors(folder, capfd, arguments, code, message):
    align("p.fa", "-o", "a.paf")
    assert main(["verify", *arguments, "-o", "found.tsv"]) == code
    assert message in capfd.readouterr().err
    assert not (folder / "found.tsv").exists()


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
            for piece in found.pieces():
                every = checker.check(found.read(piece))["faults"]
                faults.update(fault_names(int(np.bitwise_or.reduce(every))))
            found.close()
    assert {"query", "target", "query_letters", "cigar", "rows"} <= faults <= set(FAULTS)


# ---- other programs ------------------------------------------------------------------------------


def run(*command, output=None):
    done = subprocess.run([str(one) for one in command], capture_output=True, check=True)
    if output is not None:
        with open(output, "wb") as file:
            file.write(done.stdout)


@pytest.fixture
def reads(tmp_path, monkeypatch):
    """Reads of a random genome with errors, on both strands; parts of a few have N."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    genome = "".join(rng.choice(list("ACGT"), 20000))
    other = str.maketrans("ACGT", "TGCA")
    records = {}
    for k in range(24):
        start = int(rng.integers(0, 19000))
        read = []
        for one in genome[start : start + 900]:
            error = rng.random()
            if error < 0.03:
                one = str(rng.choice(list("ACGT")))
            elif error < 0.05:
                one = ""
            elif error < 0.07:
                one *= 2
            read.append(one)
        text = "".join(read)
        records[f"r{k}"] = text[::-1].translate(other) if k % 2 else text
    (tmp_path / "g.fa").write_text(fasta({"g": genome}))
    (tmp_path / "r.fa").write_text(fasta(records))
    return tmp_path


MINIMAP2 = ["minimap2", "-A2", "-B4", "-O4", "-E2", "-t1"]
MINIMAP2_COSTS = ["--match", 2, "--mismatch", -4, "--gap-open", 6, "--gap-extend", 2]


@needs_program("minimap2")
@pytest.mark.parametrize("options", [["-c"], ["-c", "--eqx"], ["-a"], ["-a", "--eqx"]])
def test_minimap2(reads, options):
    name = "m.sam" if "-a" in options else "m.paf"
    run(*MINIMAP2, *options, "g.fa", "r.fa", output=name)
    rows = verify(name, "r.fa", "g.fa", *MINIMAP2_COSTS, "--mode", "local", "--optimal")
    assert len(rows) == 24
    assert {row["verdict"] for row in rows} == {"ok"}
    assert all(row["score"] == row["file_score"] for row in rows)
    below = [int(row["below"]) for row in rows]
    assert min(below) == 0  # a heuristic: most are optimal, none is better than that
    assert sum(one == 0 for one in below) > 18


@needs_program("minimap2")
def test_minimap2_damaged(reads):
    run(*MINIMAP2, "-c", "g.fa", "r.fa", output="m.paf")
    lines = (reads / "m.paf").read_text().splitlines()
    fields = lines[3].split("\t")
    fields[9] = str(int(fields[9]) + 1)
    lines[3] = "\t".join(fields)
    (reads / "m.paf").write_text("\n".join(lines))
    rows = verify("m.paf", "r.fa", "g.fa", *MINIMAP2_COSTS, code=1)
    assert [row["record"] for row in rows if row["verdict"] == "matches"] == ["4"]
    assert sum(row["verdict"] == "ok" for row in rows) == 23


@needs_program("needle")
@pytest.mark.parametrize("program", ["needle", "water"])
def test_emboss(folder, program):
    records = {name.replace("|", ""): one for name, one in family("protein").items()}
    (folder / "p.fa").write_text(fasta(records))
    (folder / "q.fa").write_text(fasta(dict(list(records.items())[:1])))
    costs = ["-gapopen", "10", "-gapextend", "0.5", "-auto"]
    files = ["-asequence", "q.fa", "-bsequence", "p.fa", "-outfile", f"x.{program}"]
    run(program, *files, *costs, "-aformat", "srspair")
    rows = verify(
        f"x.{program}", "q.fa", "p.fa", "--gap-open", 10, "--gap-extend", 0.5, "--optimal"
    )
    assert len(rows) == len(records)
    assert {row["verdict"] for row in rows} == {"ok"}
    assert all(row["score"] == row["file_score"] for row in rows)
    assert min(float(row["below"]) for row in rows) == 0


@needs_program("blastp")
def test_blastp(folder):
    # Its BLOSUM62 has other scores for X than the published matrix.
    (folder / "p.fa").write_text(fasta(family("protein")).replace("X", "A").replace("x", "a"))
    names = "qseqid,sseqid,pident,length,mismatch,gapopen,qstart,qend,sstart,send,score,positive"
    options = ["-comp_based_stats", "0", "-seg", "no", "-outfmt"]
    costs = ["--gap-open", 12, "--gap-extend", 1, "--optimal", "--mode", "local"]
    for last in ("btop", "qseq,sseq"):
        columns = f"{names},{last}"
        format = f"6 {columns.replace(',', ' ')}"
        run("blastp", "-query", "p.fa", "-subject", "p.fa", *options, format, output="x.b6")
        rows = verify("x.b6", "p.fa", "--columns", columns, *costs)
        assert len(rows) > 40
        assert {row["verdict"] for row in rows} == {"ok"}


@needs_program("ssearch36")
def test_ssearch36(folder):
    run(
        *("ssearch36", "-q", "-m", "8CB", "-s", "BL62", "-f", "-11", "-g", "-1", "-E", "1000"),
        *("p.fa", "p.fa"),
        output="x.m8",
    )
    columns = "query,target,pident_aligned,aligned,mismatch,gaps,qstart,qend,sstart,send,_,_,btop"
    costs = ["--gap-open", 12, "--gap-extend", 1, "--optimal", "--mode", "local"]
    rows = verify("x.m8", "p.fa", "--columns", columns, *costs)
    assert len(rows) > 60
    assert {row["verdict"] for row in rows} == {"ok"}
