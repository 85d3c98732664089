"""Damaged files of alignments, distances, clusters and trees: a verdict or a typed error."""

import re

import pytest
from mutants import check_mutants
from verifying import READ_AS

from pairalign.alignments.problem import Problem
from pairalign.base.choices import READER_NAMES
from pairalign.cli.main import main
from pairalign.errors import AlignmentFileError
from pairalign.formats.distances import read_distances
from pairalign.formats.group_files import read_groups
from pairalign.jobs.splits.labels import read_values
from pairalign.jobs.verify.verify import VerifyJob
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.set_reading import read_fasta
from pairalign.trees.tree_text import read_newick

SEQUENCES = """\
>a;size=3 label=x
MKVLWACGGWYTRRSTPQEDLKNHCWVAYGGMFPLLKERDNQSTACW
>b label=y
KVLWCGGHYTRRSTPQEELKNHCWVAYGGGMFPLLKERDNQS
>c label=y
KVLWCGGHYTRRSTPQEELKNHCWVA
"""


@pytest.fixture
def folder(here):
    (here / "s.fa").write_text(SEQUENCES)
    first, second = SEQUENCES.split("\n>b")
    (here / "q.fa").write_text(f"{first}\n")
    (here / "t.fa").write_text(f">b{second}")
    return here


def made(folder, *arguments):
    """The bytes of a file that a command writes."""
    if "tc_lib" in arguments:  # whose names have no ;
        (folder / "s.fa").write_text(SEQUENCES.replace(";size=3", ""))
    assert main([*arguments, "-o", "o", "-q", "--device", "cpu"]) == 0
    return (folder / "o").read_bytes()


def verify(format, sets, mode):
    scoring = make_scoring("protein", mode=mode)

    def read(data):
        with open("x", "wb") as file:
            file.write(data)
        job = VerifyJob("x", Problem(*sets, scoring), format=format, mode=mode)
        with job.open() as results:
            for found in results:
                found.lines(job.scoring)
                list(found.messages(10))

    return read


# What a mode adds to reading is the same in all formats.
OF_MODES = [(one, "local") for one in READ_AS]
OF_MODES += [(one, "global") for one in ("paf", "tsv", "sam", "a3m", "srspair")]


@pytest.mark.parametrize(("format", "mode"), OF_MODES)
def test_alignments(folder, format, mode):
    given = ["q.fa", "t.fa"] if format == "a3m" else ["s.fa"]
    data = made(folder, "align", *given, "--format", format, "--mode", mode)
    sets = [read_fasta(name) for name in given] + [None] * (2 - len(given))
    check_mutants(data, verify(READ_AS[format], sets, mode))


def test_graphs_of_overlaps(folder):
    (folder / "s.fa").write_text(">a\n" + "ACGTTGCA" * 20 + "\n>b\n" + "ACGTTGCA" * 15 + "\n")
    data = made(folder, "overlap", "s.fa", "--format", "gfa")
    sets = [read_fasta("s.fa"), None]
    scoring = make_scoring("dna", mode="semiglobal")
    assert b"\nS\t" in data

    def read(text):
        (folder / "x").write_bytes(text)
        with VerifyJob("x", Problem(*sets, scoring), format="gfa").open() as results:
            list(results)

    check_mutants(data, read)


@pytest.mark.parametrize("format", ["phylip", "tsv", "column", "npy"])
def test_distances(folder, format):
    data = made(folder, "distance", "s.fa", "--format", format)
    names = read_fasta("s.fa").names

    def read(text):
        (folder / "x").write_bytes(text)
        read_distances("x", format, names=names)

    check_mutants(data, read)


@pytest.mark.parametrize("format", ["tsv", "uc", "clstr", "folds"])
def test_clusters_and_folds(folder, format):
    sequences = read_fasta("s.fa")
    if format == "folds":
        data = b"name,label,fold\na;size=3,x,1\n" + b'"b",y,2\nc,y,1\n'
    else:
        data = made(folder, "cluster", "s.fa", "--min-identity", "0.5", "--format", format)

    def read(text):
        (folder / "x").write_bytes(text)
        read_groups("x", format, sequences)

    check_mutants(data, read)


def test_tables_of_labels(folder):
    sequences = read_fasta("s.fa")

    def read(text):
        (folder / "x.csv").write_bytes(text)
        read_values(sequences, "label", "x.csv")

    check_mutants(b'name,label\na;size=3,x\n"b",y\nc,y\n', read)


def test_trees(folder):
    (folder / "s.fa").write_text(SEQUENCES.replace(";size=3", ""))
    data = made(folder, "tree", "s.fa", "--format", "newick")

    def read(text):
        (folder / "x").write_bytes(text)
        read_newick("x", ["a", "b", "c"])

    check_mutants(data, read)


# ---- numbers of any size -------------------------------------------------------------------------


@pytest.mark.parametrize("number", [str(2**63), str(2**64), "9" * 5000, "-" + "9" * 5000, "１２"])
@pytest.mark.parametrize("format", READER_NAMES)
def test_numbers_of_any_size(folder, format, number):
    """In the place of each number of a file, one at a time."""
    if format in ("parquet", "gfa"):
        return
    given = ["q.fa", "t.fa"] if format == "a3m" else ["s.fa"]
    text = made(folder, "align", *given, "--format", format, "--mode", "local").decode()
    sets = [read_fasta(name) for name in given] + [None] * (2 - len(given))
    read = verify(format, sets, "local")
    places = list(re.finditer(r"(?<![A-Za-z0-9.=])\d+(?![\d.])", text))
    for place in places[:60]:
        changed = text[: place.start()] + number + text[place.end() :]
        said = ""
        try:
            read(changed.encode())
        except AlignmentFileError as error:
            said = str(error)
        assert len(said) < 600
