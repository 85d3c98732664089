"""What would stop a command at its end stops it before anything is aligned."""

import os
from pathlib import Path

import pytest
from commands import BASES, PROTEINS, fasta, run, write_random_set

from pairalign import FastaError, distance
from pairalign.formats.output import check_writable

COMMANDS = {
    "align": ("align", "in.fa", "-o", "{}.paf"),
    "align.gz": ("align", "in.fa", "-o", "{}.tsv.gz"),
    "distance": ("distance", "in.fa", "-o", "{}.phy"),
    "plot": ("distance", "in.fa", "-o", "good.phy", "--plot", "{}.svg"),
    "tree": ("tree", "in.fa", "-o", "{}.nwk"),
    "overlap": ("overlap", "in.fa", "-o", "{}.paf"),
}


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    """Start in a folder with a file whose alignments would take long."""
    write_random_set(Path("in.fa"), 1500, 1500)


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["run", "dry run"])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_an_output_that_cannot_be_written(command, more):
    done = run(*(word.format("nodir/x") for word in command), *more, cwd=Path.cwd())
    assert done.returncode == 1
    assert b"there is no directory" in done.stderr
    assert b"nodir" in done.stderr
    assert os.listdir() == ["in.fa"]


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["run", "dry run"])
@pytest.mark.parametrize(
    "command",
    [
        ("align", "-o", "file/x", "--shard", "1/2", "--format", "paf"),
        ("msa", "in.fa", "-o", "file/x"),
        ("msa", "in.fa", "-o", "file"),
        ("split", "--min-identity", "0.5", "-o", "x.csv", "--folds-dir", "file/x"),
    ],
    ids=["shard", "families", "a file", "folds"],
)
def test_a_folder_that_cannot_be_made(command, more):
    Path("file").write_text("no folder")
    Path("more.fa").write_bytes(Path("in.fa").read_bytes())
    done = run(command[0], "more.fa", *command[1:], "--alphabet", "protein", *more, cwd=Path.cwd())
    assert done.returncode == 1
    assert b"cannot use 'file" in done.stderr
    assert done.stderr.count(b"\n") == 1
    assert sorted(os.listdir()) == ["file", "in.fa", "more.fa"]


@pytest.mark.parametrize(
    ("name", "command", "said"),
    [
        ("a\u2003b", ("tree", "-o", "x.nwk"), "sequence 1 'a\\u2003b': Newick cannot hold"),
        ("a:b", ("tree", "-o", "x.nwk"), "sequence 1 'a:b': Newick cannot hold ':'"),
        ("a" * 11, ("distance", "--strict-names", "-o", "x.phy"), "sequence 1 'aaaaaaaaaaa': 11"),
        ("a" * 128, ("tree", "--for", "clustalo", "-o", "x"), "a name of 128 characters"),
        ("*a", ("overlap", "-o", "x.gfa"), "GFA names"),
    ],
)
def test_a_name_that_the_output_cannot_hold(name, command, said):
    text = Path("in.fa").read_text().replace("M", "A")  # for overlaps
    if command[0] == "overlap":
        text = "".join(f">{i}\n{'ACGT' * 500}\n" for i in range(300))
    _, _, rest = text.partition("\n")
    Path("in.fa").write_text(f">{name}\n{rest}", encoding="utf-8")
    done = run(command[0], "in.fa", *command[1:], cwd=Path.cwd())
    assert done.returncode in (1, 2)
    last = done.stderr.decode().splitlines()[-1]
    assert last.startswith("pairalign: error: in.fa: ")
    assert said in last
    assert os.listdir() == ["in.fa"]


@pytest.mark.parametrize(
    ("command", "out"),
    [
        (("align", "--device", "cpu:0"), "x.paf"),
        (("align",), "x.sam"),  # which cannot hold the name
        (("align", "--memory", "1"), "x.tsv.gz"),
        (("align", "--memory", "1"), "x.parquet"),
        (("distance", "--memory", "1"), "x.phy"),
        (("overlap", "--device", "cpu:0"), "x.paf"),
    ],
)
def test_a_run_that_fails_before_its_first_commit_leaves_nothing_to_go_on_with(command, out):
    letters = BASES if command[0] == "overlap" else PROTEINS
    Path("in.fa").write_text(fasta({"a@é": "ACGTA", **letters}), encoding="utf-8")
    done = run(*command, "in.fa", "-o", out, "--resume", cwd=Path.cwd())
    assert done.returncode in (1, 2)
    assert os.listdir() == ["in.fa"]


def test_names_in_python():
    with pytest.raises(FastaError, match="record 2 'b c': white space"):
        distance({"a": "M" * 100_000, "b c": "M" * 100_000, "c": "M" * 100_000})


def test_checking_leaves_nothing():
    Path("there").write_text("before")
    for name in ("new", "there", "new.gz"):
        check_writable(name)
    assert sorted(os.listdir()) == ["in.fa", "there"]
    assert Path("there").read_text() == "before"


def test_checking_does_not_open_a_pipe():
    """It would wait for a reader, and tell one that all was over."""
    os.mkfifo("pipe")
    check_writable("pipe")
