"""`pairalign verify` finds planted errors in MAF, Stockholm, A3M and T-Coffee's library."""

import pytest
from verifying import align, check_planted, verify

QUERY = ">a the query\nMKVLWACGGWYTRRSTPQEDLKNHCWVAYGGMFPLLKERDNQSTACW\n"
TARGET = ">b\nKVLWCGGHYTRRSTPQEELKNHCWVAYGGGMFPLLKERDNQS\n"


@pytest.fixture
def folder(here):
    (here / "q.fa").write_text(QUERY)
    (here / "t.fa").write_text(TARGET)
    return here


def check(folder, name, *error):
    """Plant an error in what `align` writes."""
    align("q.fa", "t.fa", "-o", f"a.{name}", "--mode", "local")
    check_planted(f"x.{name}", (folder / f"a.{name}").read_text(), error, ["q.fa", "t.fa"])


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
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
)
def test_maf(folder, old, new, verdict):
    check(folder, "maf", old, new, verdict)


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


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("\na/2-43", "\nc/2-43", "query"),
        ("\na/2-43", "\na", "query_letters"),
        ("b/1-42", "c/1-42", "target"),
        ("KVLW-CGG", "KVLWCGG", "rows"),
        ("KVLW-CGG", "KVL-WCGG", "score"),
        ("KVLWACGG", "KVLWACGH", "query_letters"),
        ("b/1-42", "#b/1-42", "truncated"),
        ("//\n", "", "truncated"),
    ],
)
def test_stockholm(folder, old, new, verdict):
    check(folder, "stockholm", old, new, verdict)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (">a", ">c", "query"),
        (">b", ">c", "target"),
        ("-KVLW-CGG", "KVLW--CGG", "score"),
        ("-KVLW-CGG", "-KVLW-CG", "rows"),
        ("AYgGG", "AYGGG", "query_cigar"),
        ("NQS----", "NQS---", "rows"),
        ("-KVLW-CGG", "-KVLW-CGH", "target_letters"),
    ],
)
def test_a3m(folder, old, new, verdict):
    check(folder, "a3m", old, new, verdict)
