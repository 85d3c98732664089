"""Our files in HMMER, Biopython, samtools and paftools, and tags of ours as `verify` reads them."""

import re
import shutil
import subprocess

import pytest
from commands import fasta
from readable import needs_program
from strategies import MODES
from verifying import align, family, verify

from pairalign.cli.main import main

COSTS = ["--match", "1", "--mismatch", "-1", "--gap-open", "2", "--gap-extend", "1"]


@pytest.fixture
def folder(here):
    reads = {f"r{k}": one.upper() for k, one in enumerate(family("dna", 6, 8).values())}
    other = str.maketrans("ACGT", "TGCA")
    reads |= {f"m{k}": one[::-1].translate(other) for k, one in enumerate(reads.values())}
    (here / "r.fa").write_text(fasta(reads))
    (here / "p.fa").write_text(fasta(family("protein")))
    (here / "d.fa").write_text(fasta(family("dna")))
    return here


def overlap(*arguments):
    limits = [
        "--mode",
        "local",
        "--min-overlap",
        "20",
        "--min-score",
        "20",
        "--min-identity",
        "0.5",
    ]
    assert main(["overlap", "r.fa", *limits, *arguments, "--quiet"]) == 0


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@needs_program("hmmbuild")
@pytest.mark.parametrize("mode", MODES)
def test_hmmbuild_reads_all_alignments(folder, mode):
    align("p.fa", "-o", "a.sto", "--mode", mode)
    blocks = (folder / "a.sto").read_text().count("# STOCKHOLM")
    assert blocks > 30
    run("hmmbuild", "--fragthresh", "0", "--amino", "a.hmm", "a.sto")
    names = re.findall(r"^NAME  (.*)$", (folder / "a.hmm").read_text(), re.MULTILINE)
    assert names == [f"pair{k + 1}" for k in range(blocks)]


@pytest.mark.parametrize("options", [[], ["--sam-tags", "MD"], ["--plain-cigar"]])
def test_sam_by_biopython(folder, options):
    sam = pytest.importorskip("Bio.Align.sam")
    overlap("-o", "o.sam", *options, *COSTS)
    lines = [one for one in (folder / "o.sam").read_text().splitlines() if one[0] != "@"]
    found = list(sam.AlignmentIterator("o.sam"))
    assert len(found) == len(lines) > 30
    for alignment, line in zip(found, lines, strict=True):
        fields = line.split("\t")
        assert (alignment.query.id, alignment.target.id) == (fields[0], fields[2])
        assert alignment.coordinates[0].min() == int(fields[3]) - 1
    with open("o.sam") as file:
        program = next(line for line in file if line.startswith("@PG"))
    assert "\tDS:Scoring: local, match" in program


@needs_program("samtools")
def test_md_is_that_of_samtools(folder):
    align("d.fa", "-o", "a.sam", "--mode", "local", "--sam-tags", "MD")
    align("d.fa", "-o", "b.sam", "--mode", "local")
    (folder / "t.fa").write_text((folder / "d.fa").read_text())
    run("samtools", "faidx", "t.fa")
    theirs = run("samtools", "calmd", "b.sam", "t.fa")
    found = [
        dict(re.findall(r"\t(MD|NM):.:(\S+)", one)) for one in theirs.splitlines() if one[0] != "@"
    ]
    lines = [one for one in (folder / "a.sam").read_text().splitlines() if one[0] != "@"]
    ours = [dict(re.findall(r"\t(MD|NM):.:(\S+)", one)) for one in lines]
    assert len(ours) > 30
    assert [one["MD"] for one in ours] == [one["MD"] for one in found]


@pytest.mark.parametrize("options", [[], ["--paf-tags", "tp,cs"], ["--plain-cigar"]])
def test_paf_by_readpaf(folder, options):
    readpaf = pytest.importorskip("readpaf")
    overlap("-o", "o.paf", *options, *COSTS)
    lines = [line.split("\t") for line in (folder / "o.paf").read_text().splitlines()]
    with open("o.paf") as file:
        found = list(readpaf.parse_paf(file))
    assert len(found) == len(lines) > 30
    for record, line in zip(found, lines, strict=True):
        assert str(record).split("\t")[:12] == line[:12]
        tags = {tag: record.tags[tag].value for tag in record.tags}
        for text in line[12:]:
            tag, kind, value = text.split(":", 2)
            assert tags[tag] == (int(value) if kind == "i" else value)
        assert record.blast_identity() == int(line[9]) / int(line[10])


@pytest.mark.parametrize("more", [[], ["--plain-cigar"], ["--dual"]])
def test_tags_are_those_of_the_alignments(folder, more):
    """verify reads cs and MD letter by letter, on both strands and both ways."""
    overlap("-o", "o.paf", "--paf-tags", "tp,cs", *more, *COSTS)
    text = (folder / "o.paf").read_text()
    lines = text.splitlines()
    strands = [line.split("\t")[4] for line in lines]
    assert strands.count("-") > 10
    assert all("\ttp:A:P\t" in line and "\tcs:Z:" in line for line in lines)
    assert any("\tcs:Z::" in line and "*" in line and "+" in line for line in lines)
    assert {row["verdict"] for row in verify("o.paf", "r.fa", *COSTS)} == {"ok"}
    assert bool(re.search(r"cg:Z:\S*=", text)) == ("--plain-cigar" not in more)
    plain = re.sub(r"\t(tp:A:P|cs:Z:\S+)", "", text)
    overlap("-o", "b.paf", *more, *COSTS)
    assert plain == (folder / "b.paf").read_text()
    if "--dual" not in more:
        overlap("-o", "o.sam", "--sam-tags", "MD", *more, *COSTS)
        assert {row["verdict"] for row in verify("o.sam", "r.fa", *COSTS)} == {"ok"}


def test_tags_of_proteins_with_ambiguous_and_small_letters(folder):
    align("p.fa", "-o", "a.paf", "--paf-tags", "cs")
    align("p.fa", "-o", "a.sam", "--sam-tags", "MD")
    for name in ("a.paf", "a.sam"):
        assert {row["verdict"] for row in verify(name, "p.fa")} == {"ok"}


PAFTOOLS = shutil.which("paftools.js") or shutil.which("paftools")


@pytest.mark.skipif(PAFTOOLS is None, reason="paftools.js is not installed")
def test_paftools(folder):
    overlap("-o", "o.paf", "--paf-tags", "tp,cs", "--plain-cigar")
    shown = run(PAFTOOLS, "view", "o.paf")
    assert shown.count(">") >= 1
