"""The drawn example in docs/choosing.md, each of its numbers counted by the program."""

import csv
import re
from fractions import Fraction
from pathlib import Path

import pytest
from commands import run

import pairalign
from pairalign.alignments.identities import count_identity, name_identity
from pairalign.base.choices import IDENTITIES, MEASURE_SUMMARIES

PAGE = (Path(__file__).parents[2] / "docs" / "choosing.md").read_text()
DRAWN = dict(re.findall(r"^([qt])  1 ([A-Z-]+) \d+$", PAGE, re.MULTILINE))
SEQUENCES = {name: row.replace("-", "") for name, row in DRAWN.items()}
TABLE = re.findall(
    r"^\| `(\w+)`(?: \(default\))? \| `(\w+)` \| (?:`([\w-]+)`)? ?\|.*\| "
    r"(\d+/\d+) \| (\d+/\d+) \|$",
    PAGE,
    re.MULTILINE,
)


def test_the_table_has_them_all():
    assert [row[0] for row in TABLE] == list(IDENTITIES)
    named = [row[2] for row in TABLE if row[2]]
    measures = [name for name in MEASURE_SUMMARIES if name.startswith("identity")]
    assert named == [
        name for name in measures if name != "identity-unambiguous"
    ]  # of distances alone


@pytest.mark.parametrize(("mode", "column"), [("global", 3), ("semiglobal", 4)])
def test_the_numbers_are_those_of_the_alignment(mode, column, tmp_path):
    found = pairalign.align(SEQUENCES, mode=mode)
    if mode == "global":
        assert found[0].rows() == (DRAWN["q"], DRAWN["t"])
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in SEQUENCES.items()))
    names = ",".join(row[1] for row in TABLE)
    run("align", "in.fa", "-o", "x.tsv", "--mode", mode, "--columns", names, cwd=tmp_path)
    with (tmp_path / "x.tsv").open() as lines:
        (shown,) = csv.DictReader(lines, delimiter="\t")
    for row in TABLE:
        expected = Fraction(row[column])
        (part,), (whole,) = count_identity(found, row[0])
        assert Fraction(int(part), int(whole)) == expected
        assert row[1] == name_identity(row[0])
        assert float(shown[row[1]]) == pytest.approx(float(expected), abs=5.1e-7)
        if row[2]:
            distance = pairalign.distance(SEQUENCES, measure=row[2], mode=mode)[0, 1]
            assert distance == pytest.approx(1 - float(expected), abs=1e-6)
