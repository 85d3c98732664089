"""`pairalign verify` finds an error that is planted in any field of any format."""

import re

import pytest
from commands import fasta
from verifying import align, family, verify, write_sequences

from pairalign.alignments.fields import FIELDS
from pairalign.cli.main import main


@pytest.fixture
def folder(here):
    write_sequences(here)
    return here


# ---- tables --------------------------------------------------------------------------------------


def test_a_second_name_of_one_column_is_said_not_to_be_checked(folder, capsys):
    align("s.fa", "-o", "a.tsv", "--mode", "local", "--columns", ",".join(FIELDS))
    assert main(["verify", "a.tsv", "s.fa", "--mode", "local"]) == 0
    (said,) = [one for one in capsys.readouterr().err.splitlines() if "not checked" in one]
    assert "tstart" in said
    assert "tend" in said


def test_a_column_without_a_mark(folder):
    columns = "query,target,cigar,confidence"
    align("s.fa", "-o", "a.tsv", "--columns", columns)
    text = (folder / "a.tsv").read_text()
    verify("a.tsv", "s.fa")
    (folder / "x.tsv").write_text(text[:-2] + "\n")
    (row,) = verify("x.tsv", "s.fa", code=1)
    assert row["verdict"] == "columns"


@pytest.mark.parametrize("format", ["paf", "sam"])
def test_marks_in_tags(folder, format):
    align("d.fa", "-o", f"a.{format}", f"--{format}-tags", "pp")
    text = (folder / f"a.{format}").read_text()
    verify(f"a.{format}", "d.fa")
    end = r"(pp:Z:\S*)\S"
    for damaged in (
        re.sub(end, r"\1z", text, count=1),
        re.sub(end, r"\1", text, count=1),
        text.replace("pp:Z:", "pp:Z:*", 1),
    ):
        (folder / f"x.{format}").write_text(damaged)
        (row,) = verify(f"x.{format}", "d.fa", code=1)
        assert row["verdict"] != "ok"


@pytest.mark.parametrize("columns", ["cigar,query_aligned,target_aligned", "qseq,cigar"])
def test_a_cigar_beside_rows(folder, columns):
    """Both are legal by themselves, and not the same alignment."""
    spans = "query,target,query_start,query_end,target_start,target_end"
    names = f"{spans},{columns}".split(",")
    align("s.fa", "-o", "a.tsv", "--mode", "local", "--columns", ",".join(names))
    head, line = (folder / "a.tsv").read_text().splitlines()
    values = dict(zip(names, line.split("\t"), strict=True))
    assert verify("a.tsv", "s.fa")[0]["verdict"] == "ok"
    values["cigar"] = "5M1I22M1D14M"
    (folder / "x.tsv").write_text(f"{head}\n" + "\t".join(values.values()) + "\n")
    (row,) = verify("x.tsv", "s.fa", "--ignore-scores", code="target" in columns)
    assert row["verdict"] == ("alignment" if "target" in columns else "ok")


# ---- planted errors ------------------------------------------------------------------------------

PAF = (
    "a\t47\t1\t43\t+\tb\t42\t0\t42\t39\t43\t255\tNM:i:4\tAS:i:203\t"
    "cg:Z:4=1I3=1X9=1X9=1D14=\tcs:Z::4+a:3*hw:9*ed:9-g:14"
)


SAM_HEADER = "@HD\tVN:1.6\n@SQ\tSN:r\tLN:30\n@SQ\tSN:g\tLN:38\n"
SAM = (
    "g\t16\tr\t2\t60\t9S14=1D7=8S\t*\t0\t0\tCCCGTAGCTGATCGATGCTTAAAAGCTAGCTAACGTAA\t"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKL\tNM:i:1\tAS:i:16\tMD:Z:14^G7\tcs:Z::14-g:7"
)
SAM_COSTS = ("--match", "1", "--mismatch", "-3", "--gap-open", "5", "--gap-extend", "2")
NEEDLE = """\
# Aligned_sequences: 2
# 1: a
# 2: b
# Length: 43
# Identity:      39/43 (90.7%)
# Similarity:    40/43 (93.0%)
# Gaps:           2/43 ( 4.7%)
# Score: 203.0

a                  2 KVLWACGGWYTRRSTPQEDLKNHCWVAY-     29
                     |||| |||.|||||||||:|||||||||
b                  1 KVLW-CGGHYTRRSTPQEELKNHCWVAYG     28

a                 30 GGMFPLLKERDNQS     43
                     ||||||||||||||
b                 29 GGMFPLLKERDNQS     42
"""
PLANTED: dict[str, list[tuple[str, str, str]]] = {
    "b6": [
        ("\t2\t43\t", "\t1\t43\t", "counts"),
        ("\t2\t43\t", "\t2\t42\t", "counts"),
        ("\t1\t42\t", "\t2\t42\t", "counts"),
    ],
    "paf": [
        ("a\t47", "c\t47", "query"),
        ("\t+\t", "\t-\t", "strand"),
        ("\t+\t", "\t.\t", "strand"),
        ("\tb\t", "\tc\t", "target"),
        ("39\t43", "39.5\t43", "matches"),
        ("\t255", "\t256", "mapping_quality"),
        ("\t255", "\t*", "mapping_quality"),
        ("NM:i:4", "NM:Z:4", "number"),
        ("NM:i:4", "NM:i:six", "number"),
        ("NM:i:4", "NMi4", "tag"),
        ("AS:i:203", "AS:i:", "number"),
        ("AS:i:203", "AS:i:203\tAS:i:202", "score"),
        ("4=1I3=", "4=1D3=", "query_cigar"),
        ("4=1I3=", "4=1N3=", "query_cigar"),
        ("4=1I3=", "4=I3=", "cigar"),
        ("4=1I3=", "4=1I0M3=", "cigar"),
        ("cg:Z:", "cg:Z:44M\tcg:Z:", "tag"),
        (":4+a:3", ":4+g:3", "query_letters"),
        (":4+a:3", ":4:1:3", "operation"),
        (":4+a:3", ":4-a:3", "target_letters"),
        (":4+a:3", ":4+:3", "cigar"),
        ("*hw", "*wh", "target_letters"),
        ("*hw", "*hy", "query_letters"),
        (":9*ed", "=TTRRSTPQE*ed", "target_letters"),
        ("\tcs:Z", "\ttp:A:Q\tcs:Z", "tag"),
        ("\tcs:Z", "\tde:f:x\tcs:Z", "tag"),
        ("\tb\t42", "", "number"),
    ],
    "sam": [
        ("g\t16", "h\t16", "query"),
        ("g\t16", "g\t0", "operation"),
        ("g\t16", "g\t4112", "number"),
        ("g\t16", "g\tx", "number"),
        ("\tr\t2", "\ts\t2", "target"),
        ("\t60\t", "\t256\t", "mapping_quality"),
        ("9S14=", "9H14=", "rows"),
        ("9S14=", "9S13=1X", "operation"),
        ("9S14=", "9S14?", "cigar"),
        ("\t*\t0\t0", "\tz\t0\t0", "mate"),
        ("\t*\t0\t0", "\t=\tx\t0", "mate"),
        ("CCCGTAGCT", "CCCGTAGCA", "query_letters"),
        ("CCCGTAGCT", "CCGTAGCT", "rows"),
        ("\tABC", "\tAC", "quality"),
        ("\tABC", "\tA C", "quality"),
        ("NM:i:1", "NM:A:1", "number"),
        ("AS:i:16", "AS:i:", "number"),
        ("MD:Z:14^G7", "MD:Z:14^T7", "md"),
        ("MD:Z:14^G7", "MD:Z:13A0^G7", "md"),
        ("MD:Z:14^G7", "MD:Z:14", "md"),
        ("MD:Z:14^G7", "MD:Z:21", "md"),
        (":14-g:7", ":14-a:7", "target_letters"),
        ("\tNM", "\tN", "tag"),
    ],
    "needle": [
        ("1: a", "1: c", "query"),
        ("2: b", "2: c", "target"),
        ("KVLWACGG", "KVLWACGR", "query_letters"),
        ("KVLW-CGG", "KVL-WCGG", "score"),
        ("|||| |||.", "|||||||| ", "bars"),
        ("|||| |||.", "|||| ||..", "bars"),
        ("|||| |||.", "|||| ||||", "bars"),
        ("|||| |||.", "|||| |||:", "bars"),
        ("                     ||||||||||||||\n", "                     |||||||||||||\n", "bars"),
        ("b                 29 GGMFPLLKERDNQS     42\n", "", "truncated"),
    ],
    "fasta": [
        (">a pair=1 start=1 end=43", ">c pair=1 start=1 end=43", "query"),
        (">b", ">c", "target"),
        ("score=203\nKVLW-", "score=204\nKVLW-", "score"),
        ("KVLWACG", "KVLWACC", "query_letters"),
        ("KVLW-C", "KVLWC-", "score"),
        ("\nKVLW-", "\n-KVLW-", "rows"),
    ],
    "maf": [
        ("score=203", "score=x", "number"),
        ("s b 0 42", "s c 0 42", "target"),
        ("s b 0 42", "s b x 42", "number"),
        ("+ 42 KVLW", "- 42 KVLW", "strand"),
        ("KVLW-CGG", "KVL-WCGG", "score"),
        ("KVLW-CGG", "KVLWCGG", "rows"),
        ("KVLW-CGG", "KVLW-CGH", "target_letters"),
        ("s a 1 42", "s c 1 42", "query"),
        ("+ 47 KVLW", "- 47 KVLW", "strand"),
        ("+ 47 KVLW", "47 KVLW", "truncated"),
        ("s a", "i a", "truncated"),
    ],
    "stockholm": [
        ("\na/2-43", "\nc/2-43", "query"),
        ("\na/2-43", "\na", "query_letters"),
        ("b/1-42", "c/1-42", "target"),
        ("KVLW-CGG", "KVLWCGG", "rows"),
        ("KVLW-CGG", "KVL-WCGG", "score"),
        ("KVLWACGG", "KVLWACGH", "query_letters"),
        ("b/1-42", "#b/1-42", "truncated"),
        ("//\n", "", "truncated"),
    ],
    "a3m": [
        (">a", ">c", "query"),
        (">b", ">c", "target"),
        ("-KVLW-CGG", "KVLW--CGG", "score"),
        ("-KVLW-CGG", "-KVLW-CG", "rows"),
        ("AYgGG", "AYGGG", "query_cigar"),
        ("NQS----", "NQS---", "rows"),
        ("-KVLW-CGG", "-KVLW-CGH", "target_letters"),
    ],
}
"""Of each format: an old text, a new one, the verdict."""
WRITTEN = {"paf": PAF + "\n", "sam": SAM_HEADER + SAM + "\n", "needle": NEEDLE}
"""Legal files; of other formats it is what `align` writes."""
SETS = {"sam": ("d.fa",), **dict.fromkeys(("maf", "stockholm", "a3m"), ("q.fa", "t.fa"))}


@pytest.mark.parametrize(
    ("format", "error"), [(format, one) for format, several in PLANTED.items() for one in several]
)
def test_planted(folder, format, error):
    old, new, verdict = error
    sets, costs = SETS.get(format, ("s.fa",)), SAM_COSTS if format == "sam" else ()
    path = folder / f"x.{format}"
    if format in WRITTEN:
        path.write_text(WRITTEN[format])
    else:
        align(*sets, "-o", path, "--mode", "local")
    legal = path.read_text()
    assert legal.count(old) == 1
    for text, expected in ((legal, "ok"), (legal.replace(old, new), verdict)):
        path.write_text(text)
        (row,) = verify(path, *sets, *costs, code=int(text != legal))
        assert expected in row["verdict"].split(",")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("LN:30", "LN:31", "@SQ 'r' has LN:31, the target has 30 residues"),
        ("LN:30", "LN:x", "x.sam: line 2: @SQ without a name SN and a length LN"),
        ("SN:g", "SN:r", "x.sam: line 3: @SQ 'r' comes a second time"),
    ],
)
def test_header_of_sam(folder, capfd, old, new, message):
    (folder / "x.sam").write_text(SAM_HEADER.replace(old, new) + SAM + "\n")
    assert main(["verify", "x.sam", "d.fa", "-o", "found.tsv"]) == 1
    assert message in capfd.readouterr().err


def test_a_target_that_the_header_of_sam_lacks(folder):
    (folder / "x.sam").write_text(SAM_HEADER.replace("SN:r", "SN:q") + SAM + "\n")
    (row,) = verify("x.sam", "d.fa", *SAM_COSTS, code=1)
    assert row["verdict"] == "header"


# ---- end gaps ------------------------------------------------------------------------------------

END_GAPS = (
    ("--end-gap-open", "3", "--end-gap-extend", "1"),
    ("--free-ends", "query-start,query-end"),
    ("--free-ends", "target-end", "--end-gap-open", "2"),
    ("--gap-open", "20", "--gap-extend", "2", "--end-gap-open", "2", "--end-gap-extend", "1",
     "--ties", "vsearch"),
)  # fmt: skip


@pytest.mark.parametrize("costs", END_GAPS)
@pytest.mark.parametrize(
    ("number", "format"), list(enumerate(["paf", "tsv", "sam", "fasta", "srspair"]))
)
def test_end_gaps(folder, number, format, costs):
    number += END_GAPS.index(costs)
    (folder / "f.fa").write_text(fasta(family(("protein", "dna")[number % 2])))
    align("f.fa", "-o", f"a.{format}", *costs)
    rows = verify(f"a.{format}", "f.fa", *costs, "--optimal")
    assert len(rows) > 30
    assert {(row["verdict"], row["below"]) for row in rows} == {("ok", "0")}
    assert all(row["score"] == row["file_score"] for row in rows)
    verify(f"a.{format}", "f.fa", "--mode", "global", code=1)


def test_letters_left_out_where_the_end_is_not_free(folder):
    line = "a\t47\t1\t43\t+\tb\t42\t0\t42\t39\t43\t255\tcg:Z:4=1I3=1X9=1X9=1D14=\n"
    (folder / "x.paf").write_text(line)
    assert verify("x.paf", "s.fa", "--free-ends", "query-start,query-end")[0]["verdict"] == "ok"
    for ends in ("query-start", "query-end,target-start"):
        assert verify("x.paf", "s.fa", "--free-ends", ends, code=1)[0]["verdict"] == "mode"


# ---- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("maf", "a score=1\n\na score=2\ns\n"),
        ("stockholm", "# STOCKHOLM 1.0\n//\n# STOCKHOLM 1.0\n#=GF SC 1\n//\n"),
    ],
)
def test_blocks_of_nothing(folder, name, text):
    (folder / "q.fa").write_text(">a\nMKV\n")
    (folder / f"x.{name}").write_text(text)
    rows = verify(f"x.{name}", "q.fa", code=1)
    assert [row["verdict"] for row in rows] == ["truncated", "truncated"]


def test_strands_of_maf(folder):
    (folder / "q.fa").write_text(">r\nGGGTACCAAC\n")
    (folder / "t.fa").write_text(">g\nTTGTTGGTACTT\n")
    block = "a score=16 EG2=1\ns g 2 8 + 12 GTTGGTAC\ns r {start} 8 - 10 GTTGGTAC\n\n"
    for start, verdict in ((0, "ok"), (1, "query_letters")):
        (folder / "x.maf").write_text(block.format(start=start))
        (row,) = verify("x.maf", "q.fa", "t.fa", code=verdict != "ok")
        assert row["verdict"] == verdict
