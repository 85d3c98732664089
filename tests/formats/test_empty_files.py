"""A run without results writes the format's empty file, and our readers take it."""

import pytest
from verifying import READ_AS

from pairalign.base.choices import FORMAT_NAMES
from pairalign.cli.main import main

FORMATS = list(FORMAT_NAMES)
NOTHING = (
    ("--min-identity", "0.999"),
    ("--min-identity", "0.999", "--max-hits", "3"),
    ("--min-score", "99999"),
)


@pytest.mark.parametrize(
    ("asked", "kept_in"), [*((one, "fasta") for one in NOTHING), (NOTHING[-1], "store")]
)
@pytest.mark.parametrize("format", FORMATS)
def test_no_results(here, format, kept_in, asked):
    first, second = ">a\nMKVLWACGGWYTRRST\n", ">b\nWWHHCCDDEEKKNNPP\n"
    for name, text in (("q.fa", first), ("t.fa", second), ("s.fa", first + second)):
        (here / name).write_text(text)
    given = ["q.fa", "t.fa"] if format == "a3m" else ["s.fa"]
    if kept_in == "store":
        for number, name in enumerate(given):
            assert main(["pack", name, "-o", f"{number}.pairset", "-q"]) == 0
        given = [f"{number}.pairset" for number in range(len(given))]
    made = ["-o", f"o.{format}", "--format", format, "-q", "--device", "cpu", *asked]
    assert main(["align", *given, *made]) == 0
    if format not in READ_AS:
        return
    checked = ["verify", f"o.{format}", *given, "--from", READ_AS[format], "--mode", "global", "-q"]
    assert main([*checked, "-o", "v.tsv"]) == 0
    assert (here / "v.tsv").read_text().count("\n") == 1
