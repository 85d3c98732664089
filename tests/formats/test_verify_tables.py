"""`pairalign verify`: each kind of damage in tables, PAF, SAM and Parquet is caught."""

import pytest
from verifying import PAIR, align, verify

from pairalign.cli.main import main

TABLE = [
    *("query", "target", "score", "identity", "columns", "matches", "mismatches", "gap_openings"),
    *("gap_letters", "query_length", "query_start", "query_end", "target_length", "target_start"),
    *("target_end", "cigar"),
]
RECORD = "a\tb\t44\t0.818182\t11\t9\t1\t1\t1\t12\t1\t12\t11\t0\t10\t4=1I3=1X2="
"""MKVLWACGGWYT and KVLWCGGHYTR from K to T: a gap of one letter, W against H."""


@pytest.fixture
def pair(here):
    (here / "s.fa").write_text(PAIR)
    return here


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
        ("query_length", "11", "query_length", "said to have 11 residues, it has 12"),
        ("target_length", "8", "target_length", "said to have 8 residues, it has 11"),
        ("query_end", "13", "query_span", "residues from 1 to 13 are no part of the query"),
        ("target_start", "11", "target_span", "residues from 11 to 10 are no part of the target"),
        ("query_start", "0", "query_cigar", "have 11 residues of the query, its span has 12"),
        ("target_end", "11", "target_cigar", "have 10 residues of the target, its span has 11"),
        (
            "cigar",
            "4=1I4=2=",
            "operation",
            "not true of residue 10 of the query and 8 of the target",
        ),
        ("cigar", "4=1I3=1X1=1X", "operation", "residue 12 of the query and 10"),
        ("cigar", "4=1I3=0I1X2=", "cigar", "cannot be read"),
        ("cigar", "4=1I3=1Q2=", "cigar", "cannot be read"),
        ("cigar", "4=1I3=1X2", "cigar", "cannot be read"),
        ("cigar", "4=1D3=1X2=", "query_cigar,target_cigar", "columns have 10 residues"),
        ("matches", "seven", "number", "a number cannot be read"),
        ("query_length", "12.5", "query_length", "said to have 12.5 residues, it has 12"),
        ("matches", "8.0", "matches", "says 8, is 9"),
        ("matches", "9.5", "matches", "says 9.5, is 9"),
        ("query_start", "1.5", "number", "a number cannot be read"),
        ("query_start", "", "number", "a number cannot be read"),
    ],
)
def test_each_damage_is_caught(pair, name, value, verdict, detail):
    found = verdict_of(with_column(name, value))
    assert found[0] == verdict
    assert detail in found[1]


@pytest.mark.parametrize(
    ("name", "value"), [("matches", "9.0"), ("columns", "11.00"), ("query_length", "12.0")]
)
def test_counts_may_be_written_with_decimals(pair, name, value):
    with open("x.tsv", "w") as file:
        file.write("\t".join(TABLE) + "\n" + with_column(name, value) + "\n")
    assert verify("x.tsv", "s.fa", code=0)[0]["verdict"] == "ok"


def test_damage_that_makes_a_record_illegal_in_several_ways(pair):
    columns = RECORD.split("\t")
    columns[4], columns[5] = "1", "2"
    assert verdict_of("\t".join(columns))[0] == "matches,columns"


def test_lines_cut_short(pair):
    found = verdict_of("a\tb\t44")
    assert found == ("truncated", "truncated: 3 columns or rows, expected 16")
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


@pytest.mark.parametrize(
    ("query", "target", "columns", "verdict"),
    [
        ("GGGTACC", "TTTTGGTACC", "7 1 7 - b 10 4 10 6 6 255 AS:i:12 cg:Z:6=", "ok"),
        ("GGGTAC", "TTTTGTACCC", "6 0 5 - b 10 5 10 5 5 255 AS:i:10 cg:Z:5=", "mode"),
        ("CTACCGG", "AACCGGT", "7 2 7 - b 7 0 7 5 7 255 AS:i:10 cg:Z:2D5=", "ok"),
    ],
)
def test_ends_of_the_other_strand(pair, query, target, columns, verdict):
    """What is left out before an alignment is behind it in the sequence as it was read."""
    (pair / "s.fa").write_text(f">a\n{query}\n>b\n{target}\n")
    (pair / "x.paf").write_text("a\t" + columns.replace(" ", "\t") + "\n")
    found = verify("x.paf", "s.fa", "--mode", "semiglobal", code=verdict != "ok")[0]
    assert found["verdict"] == verdict


def test_scores_of_another_scoring(pair):
    line = with_column("score", "45")
    assert verdict_of(line, "--ignore-scores", code=0)[0] == "ok"
    with open("x.tsv", "w") as file:
        file.write("\t".join(TABLE) + "\n" + line + "\n")
    rows = verify("x.tsv", "s.fa", "--ignore-scores", "--optimal", "--mode", "local")
    assert (rows[0]["score"], rows[0]["file_score"], rows[0]["below"]) == ("44", "45", "0")


BLAST = "a\tb\t2\t12\t1\t10\t4A-3WH2\tKVLWACGGWYT\tKVLW-CGGHYT"


SPANS = "qseqid,sseqid,qstart,qend,sstart,send"


@pytest.mark.parametrize(
    ("columns", "old", "new", "verdict"),
    [
        ("btop,_,_", "\t", "\t", "ok"),
        ("btop,_,_", "A-", "-A", "target_letters"),
        ("btop,_,_", "WH", "WK", "target_letters"),
        ("btop,_,_", "WH", "VH", "query_letters"),
        ("btop,_,_", "4A-3WH2", "3A-4WH2", "query_letters"),
        ("btop,_,_", "4A-3WH2", "4A-3WH3", "cigar"),
        ("btop,_,_", "4A-3WH2", "4A-3WH", "query_cigar,target_cigar"),
        ("btop,_,_", "4A-3WH2", "4--3WH2", "cigar"),
        ("btop,_,_", "4A-3WH2", "4A-4H", "operation"),
        ("_,qseq,sseq", "\t", "\t", "ok"),
        ("_,qseq,sseq", "GWYT\t", "GWYS\t", "query_letters"),
        ("_,qseq,sseq", "CGGHYT", "CGGKYT", "target_letters"),
        ("_,qseq,sseq", "W-C", "WC", "rows"),
        ("_,qseq,sseq", "WACGGWYT\tKVLW-", "WA-CGGWYT\tKVLW--", "rows"),
        ("_,qseq,sseq", "\t2\t12", "\t1\t12", "query_cigar"),
    ],
)
def test_damaged_btop_and_rows(pair, columns, old, new, verdict):
    (pair / "x.b6").write_text("# a comment\n" + BLAST.replace(old, new, 1) + "\n")
    rows = verify("x.b6", "s.fa", "--columns", f"{SPANS},{columns}", code=verdict != "ok")
    assert (rows[0]["verdict"], rows[0]["line"]) == (verdict, "2")


def test_damaged_parquet(pair, capfd):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    align("s.fa", "-o", "x.parquet", "--mode", "local")
    assert main(["verify", "x.parquet", "s.fa", "-o", "t.tsv"]) == 0
    assert "no known name" not in capfd.readouterr().err
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


@pytest.mark.parametrize(("strand", "verdict"), [(1, "ok"), (0, "strand"), (2, "strand")])
def test_strands_in_parquet(pair, strand, verdict):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    align("s.fa", "-o", "x.parquet", "--mode", "local")
    table = pq.read_table("x.parquet")
    if "strand" in table.column_names:
        table = table.drop_columns(["strand"])
    table = table.append_column("strand", pa.array([strand], pa.int8()))
    pq.write_table(table, "y.parquet")
    assert verify("y.parquet", "s.fa", code=verdict != "ok")[0]["verdict"] == verdict


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
    for cigar, matches, columns, edits in (("5=", 5, 5, 0), ("3=1X1=", 4, 5, 1), ("5M", 4, 4, 1)):
        tags = f"NM:i:{edits}\tcg:Z:{cigar}"
        line = f"a\t5\t0\t5\t+\tb\t5\t0\t5\t{matches}\t{columns}\t0\t{tags}\n"
        (pair / "x.paf").write_text(line)
        assert verify("x.paf", "n.fa")[0]["score"] == "5"
    (pair / "x.paf").write_text(line.replace("\t4\t4\t", "\t4\t3\t"))
    assert verify("x.paf", "n.fa", code=1)[0]["verdict"] == "columns"


def test_messages_and_summary(pair, capfd):
    (pair / "x.tsv").write_text(
        "\t".join(TABLE) + "\n" + RECORD + "\n" + 12 * (with_column("matches", "8") + "\n")
    )
    arguments = ["x.tsv", "s.fa", "-o", "t.tsv", "--mode", "local", "--optimal", "--device", "cpu"]
    assert main(["verify", *arguments]) == 1
    messages = capfd.readouterr().err.splitlines()
    where = "pairalign: warning: x.tsv: record 2 (line 3), 'a' and 'b': matches: says 8, is 9"
    assert messages[0] == where
    assert "x.tsv: 2 more illegal records" in messages[10]
    summary = "\n".join(messages)
    for part in ("records  13", "legal  1", "illegal  12", "matches  12", "13 of 13 (100.00%)"):
        assert part in summary
    assert messages[-1] == "pairalign: error: x.tsv: 12 of 13 records are illegal"


def test_a_table_without_records(pair):
    (pair / "x.tsv").write_text("\t".join(TABLE) + "\n")
    assert verify("x.tsv", "s.fa") == []


def test_tables_that_do_not_say_where_alignments_are(pair, capfd):
    align("s.fa", "-o", "x.tsv", "--mode", "local", "--columns", "query,target,qstart,cigar")
    assert main(["verify", "x.tsv", "s.fa", "-o", "t.tsv", "--mode", "local"]) == 1
    said = capfd.readouterr().err
    assert "x.tsv: no column says where the target begins: it is expected whole" in said
    assert "where the query begins" not in said


def test_columns_of_no_known_name_are_named(pair, capfd):
    (pair / "x.tsv").write_text(f"{chr(9).join(TABLE)}\tscor\t\n{RECORD}\t99\tx\n")
    assert main(["verify", "x.tsv", "s.fa", "-o", "t.tsv"]) == 0
    assert "columns of no known name, not looked at: 'scor', ''" in capfd.readouterr().err


def test_scores_of_other_costs_are_told(pair, capfd):
    head = "\t".join(TABLE) + "\n"
    (pair / "x.tsv").write_text(head + 2 * (with_column("score", "1") + "\n"))
    assert main(["verify", "x.tsv", "s.fa", "-o", "t.tsv", "-q"]) == 1
    told = "2 of 2 records are illegal, by their scores alone: give the matrix and costs"
    assert told in capfd.readouterr().err
    (pair / "x.tsv").write_text(head + RECORD + "\n" + with_column("score", "1") + "\n")
    assert main(["verify", "x.tsv", "s.fa", "-o", "t.tsv", "-q"]) == 1
    assert "1 of 2 records are illegal\n" in capfd.readouterr().err
