"""`verify` in Python does what the command does."""

from pathlib import Path

import pytest

import pairalign
from pairalign.cli.main import main
from pairalign.errors import FormatError

GLOBINS = Path(__file__).parents[1] / "data" / "globins.fasta"


@pytest.mark.parametrize("optimal", [False, True])
def test_as_the_command(optimal, tmp_path):
    file = tmp_path / "a.paf"
    pairalign.align(GLOBINS, max_hits=2).write(file)
    found = pairalign.verify(file, GLOBINS, optimal=optimal, mode="global")
    assert found.is_legal
    assert len(found) == 24
    assert "Verification" in found._repr_html_()
    words = [
        "verify",
        str(file),
        str(GLOBINS),
        "-o",
        str(tmp_path / "b.tsv"),
        "--quiet",
        "--mode",
        "global",
    ]
    assert main([*words, *["--optimal"] * optimal]) == 0
    found.write(tmp_path / "c.tsv")
    assert (tmp_path / "c.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()
    with pytest.raises(FormatError):
        found.write(tmp_path / "c.json")


def test_illegal_records_are_said(tmp_path):
    file = tmp_path / "a.paf"
    pairalign.align(GLOBINS).write(file)
    lines = file.read_text().splitlines(keepends=True)
    fields = lines[3].split("\t")
    fields[9] = str(int(fields[9]) + 1)
    file.write_text("".join([*lines[:3], "\t".join(fields), *lines[4:]]))
    found = pairalign.verify(file, GLOBINS, illegal=True)
    assert not found.is_legal
    assert found.totals.illegal == len(found.messages) == found.table.count(b"\n") == 1
    assert found.messages[0].startswith("record 4 ")
