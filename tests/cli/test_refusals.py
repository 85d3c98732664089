"""Wrong usage: what the command refuses before anything is read or written, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import PROTEINS, fasta, listing

from pairalign.cli.main import main

WRONG_USAGE, FAILED = 2, 1

FILES = [
    ("align good.fa -o good.fa", "'good.fa' is an input", WRONG_USAGE),
    ("align good.fa -o ./good.fa", "'./good.fa' is an input", WRONG_USAGE),
    ("align good.fa -o link.fa", "'link.fa' is an input", WRONG_USAGE),
    ("align none.fa good.fa -o link.fa --format tsv", "'link.fa' is an input", WRONG_USAGE),
    ("align good.fa --matrix there -o there --format tsv", "'there' is an input", WRONG_USAGE),
    ("align good.fa --pairs there -o there --format tsv", "'there' is an input", WRONG_USAGE),
    ("align good.fa -o out.paf --report good.fa", "'good.fa' is an input", WRONG_USAGE),
    ("align good.fa -o out.paf --pairs there --report there", "'there' is an input", WRONG_USAGE),
    (
        "align good.fa -o out.paf --matrix ./there --report there",
        "'there' is an input",
        WRONG_USAGE,
    ),
    ("align good.fa -o - --report -", "-o and --report are both standard output", WRONG_USAGE),
    ("audit - - --from uc --min-identity 0.9 -o out", "<stdin>: cannot be read twice", FAILED),
    ("verify - - --from paf -o out", "<stdin>: cannot be read twice", FAILED),
    (
        "align part-1-of-2.paf -o . --format paf --shard 1/2",
        "'./part-1-of-2.paf' is an input",
        WRONG_USAGE,
    ),
    ("distance good.fa -o good.fa --format tsv", "'good.fa' is an input", WRONG_USAGE),
    (
        "distance good.fa -o a.svg --format tsv --plot ./a.svg",
        "-o and --plot are both",
        WRONG_USAGE,
    ),
    (
        "distance good.fa -o out.phy --plot a.svg --report a.svg",
        "--plot and --report are both",
        WRONG_USAGE,
    ),
    (
        "distance none.fa --plot there.svg --matrix there.svg",
        "'there.svg' is an input",
        WRONG_USAGE,
    ),
    ("tree good.fa -o good.fa", "'good.fa' is an input", WRONG_USAGE),
    ("tree m.phy --names there -o out.nwk --report there", "'there' is an input", WRONG_USAGE),
    ("tree m.phy --names there -o there", "'there' is an input", WRONG_USAGE),
    (
        "tree good.fa -o out.nwk --rename ./out.nwk",
        "-o and --rename are both './out.nwk'",
        WRONG_USAGE,
    ),
    (
        "tree good.fa -o out.nwk --rename there --report there",
        "--rename and --report are both",
        WRONG_USAGE,
    ),
    (
        "overlap good.fa -o there --format paf --candidates there",
        "'there' is an input",
        WRONG_USAGE,
    ),
    (
        "overlap good.fa -o out.paf --candidates there --report there",
        "'there' is an input",
        WRONG_USAGE,
    ),
    (
        "overlap good.fa -o out.paf --read-report out.paf",
        "-o and --read-report are both",
        WRONG_USAGE,
    ),
    (
        "overlap good.fa -o out.paf --read-report a --report a",
        "--read-report and --report are",
        WRONG_USAGE,
    ),
    ("cluster good.fa -o good.fa --min-identity 0.9", "'good.fa' is an input", WRONG_USAGE),
    (
        "cluster good.fa -o out.fasta --representatives out.fasta --min-identity 0.9",
        "-o and --representatives are both 'out.fasta'",
        WRONG_USAGE,
    ),
    ("verify there good.fa -o there", "'there' is an input", WRONG_USAGE),
    ("align good.fa -o - --resume", "--resume needs an output that is a file", WRONG_USAGE),
    ("align good.fa -o - --dask local:1", "--dask needs an output that is a file", WRONG_USAGE),
    ("align there -o good.paf", "there: expected '>' (FASTA) or '@' (FASTQ)", FAILED),
]
"""An output is no other file of the run: nobody who writes over their sequences means it."""

SCORING = [
    (
        "align good.fa -o out.paf --gap-open 1 --gap-extend 2",
        "gap_extend 2 exceeds gap_open 1",
        WRONG_USAGE,
    ),
    (
        "align good.fa -o out.paf --gap-open -1",
        "gap_open is a cost, found -1, expected 0 or more: 1?",
        WRONG_USAGE,
    ),
    (
        "align good.fa -o out.paf --gap-extend=-0.5",
        "gap_extend is a cost, found -0.5, expected 0 or more: 0.5?",
        WRONG_USAGE,
    ),
    ("align good.fa -o out.paf --gap-open ten", "gap_open: 'ten' is not a number", WRONG_USAGE),
    (
        "align good.fa -o out.paf --gap-open nan",
        "gap_open: 'nan' is not a finite number",
        WRONG_USAGE,
    ),
    (
        "align good.fa -o out.paf --gap-open 1e999999999",
        "gap_open: 1e999999999 is out of range",
        WRONG_USAGE,
    ),
    (
        "align good.fa -o out.paf --gap-open 0.1234567",
        "gap_open: 0.1234567 has more than 6 decimals",
        WRONG_USAGE,
    ),
    (
        "align good.fa -o out.paf --mismatch 3 --match 4",
        "mismatch is a score, found 3, expected 0 or less",
        WRONG_USAGE,
    ),
    (
        "align good.fa -o out.paf --match 4",
        "match and mismatch must both be given for proteins",
        WRONG_USAGE,
    ),
    (
        "align good.fa -o out.paf --matrix BLOSUM62 --match 1",
        "both a matrix and match or mismatch scores",
        WRONG_USAGE,
    ),
    (
        "align good.fa -o out.paf --matrix BLOSUM6",
        "matrix 'BLOSUM6': neither a file nor a known name",
        WRONG_USAGE,
    ),
    ("align good.fa -o out.paf --matrix NUC.4.4", "NUC.4.4", WRONG_USAGE),
    (
        "align good.fa -o out.paf --free-ends query",
        "free_ends: 'query', expected some of query-start",
        WRONG_USAGE,
    ),
    ("align good.fa -o out.paf --end-gap-open -1", "end_gap_open is a cost, found -1", WRONG_USAGE),
    ("align good.fa -o out.paf --max-evalue 1", "--max-evalue needs --mode local", WRONG_USAGE),
    (
        "align good.fa -o out.paf --match 900000000 --mismatch -1",
        "scores do not fit 32 bits",
        WRONG_USAGE,
    ),
]
"""Scores and costs that make no sense."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with sequences, a link to them, and files that are neither."""
    monkeypatch.chdir(tmp_path)
    for name in ("good.fa", "part-1-of-2.paf"):
        Path(name).write_text(fasta(PROTEINS))
    Path("link.fa").symlink_to("good.fa")
    for name in ("there", "there.svg", "m.phy"):
        Path(name).write_text("no matrix, no alignments, no names")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("arguments", "message", "code"), [*FILES, *SCORING])
def test_refused(
    capfd: pytest.CaptureFixture[str], arguments: str, message: str, code: int
) -> None:
    before = listing()
    assert main(arguments.split()) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("pairalign: error: ")
    assert message in err
    assert len(err.splitlines()) == 1
    assert listing() == before


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("arguments", "message", "code"), SCORING)
def test_refused_where_results_go_to_standard_output(
    capfd: pytest.CaptureFixture[str], arguments: str, message: str, code: int
) -> None:
    assert main(arguments.replace("out.paf", "- --format tsv").split()) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert "pairalign: error: " in err
    assert message in err
