"""`pairalign verify`: rows of letters and gaps, of srspair and FASTA."""

import pytest
from verifying import PAIR, verify


@pytest.fixture
def pair(here):
    (here / "s.fa").write_text(PAIR)
    return here


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (
            ">a x start=1 end=12 score=44\r\nKVLWA\r\nCGGWYT\r\n>b start=0 end=10\r\nKVLW-"
            "CGGHYT\r\n",
            "ok",
        ),
        ("; by hand\n\n>a\nMKVLWACGGWYT-\n\n>b\n-KVLW-CGG\nHYTR", "ok"),
        (">a start=one end=12\nKVLWACGGWYT\n>b start=0 end=10\nKVLW-CGGHYT\n", "number"),
        (">a\nMKVLWACGGWYT-\n", "truncated"),
        (">c\nMKVLWACGGWYT-\n>b\n-KVLW-CGGHYTR\n", "query"),
        (">a\nMKVLWACGGWYT-\n>b\n-KVLW-CGGHYT\n", "rows"),
    ],
)
def test_fasta_as_others_write_it(pair, text, verdict):
    (pair / "x.fa").write_bytes(text.encode())
    rows = verify("x.fa", "s.fa", "--ignore-scores", code=verdict != "ok")
    assert [row["verdict"] for row in rows] == [verdict]
    assert rows[0]["line"] == ("3" if text.startswith(";") else "1")
    if verdict == "ok":
        assert rows[0]["score"] == ("44" if "start" in text else "22")


WATER = """\
# Program: water
# Aligned_sequences: 2
# 1: a
# 2: b
# Score: 44.0

a                  2 KVLW      5
                     ||||
b                  1 KVLW      4

a                  6 A         6

b                  5 -         4

a                  7 CGGWYT     12
                     |||.||
b                  5 CGGHYT     10
"""


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("\n", "\r\n", "ok"),
        ("b                  5 -         4\n", "", "truncated"),
        ("6 A         6", "6 AA        6", "rows,coordinates"),
        ("6 A         6", "x A         6", "truncated"),
        ("# Score: 44.0", "# Score: 4,0", "number"),
        ("# Program: water\n", "", "ok"),
    ],
)
def test_srspair_in_blocks(pair, old, new, verdict):
    (pair / "x.water").write_bytes(WATER.replace(old, new).encode())
    rows = verify("x.water", "s.fa", code=verdict != "ok")
    assert [row["verdict"] for row in rows] == [verdict]
    assert rows[0]["line"] == ("1" if "Program" in old else "2")
