"""SAM has the qualities of FASTQ, as pysam reads them, however a file comes about."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from overlapping import GENOME, changed
from strand_problems import other_strand

import pairalign
from pairalign.cli.main import main

pysam = pytest.importorskip("pysam")

COSTS = ["--match", "2", "--mismatch", "-3", "--gap-open", "5", "--gap-extend", "2"]
LOCAL = ["--mode", "local", "--min-score", "60", *COSTS, "-q"]


@pytest.fixture(autouse=True)
def reads(here: Path) -> dict[str, tuple[str, str]]:
    """Reads of both strands of which none has the qualities of another; every character occurs."""
    rng = np.random.default_rng(4)
    made = {}
    for k in range(7):
        start = int(rng.integers(0, 100))
        bases = changed(GENOME[start : start + 100 + 10 * k], 0.05, k)
        bases = other_strand(bases) if k % 2 else bases
        qualities = bytes(rng.integers(33, 127, len(bases), np.uint8)).decode()
        made[f"r{k}"] = bases, qualities
    text = "".join(f"@{name} x\n{a}\n+\n{b}\n" for name, (a, b) in made.items())
    Path("r.fastq").write_text(text)
    Path("r.fastq.gz").write_bytes(gzip.compress(text.encode()))
    Path("r.fasta").write_text("".join(f">{name}\n{a}\n" for name, (a, _) in made.items()))
    Path("g.fasta").write_text(f">g\n{GENOME[:300]}\n>h\n{other_strand(GENOME[:300])}\n")
    return made


def check(path: str, reads: dict[str, tuple[str, str]]) -> None:
    turned = set()
    with pysam.AlignmentFile(path) as file:
        for record in file:
            bases, qualities = reads[record.query_name]
            turned.add(record.is_reverse)
            assert record.get_forward_sequence() == bases
            scores = [ord(one) - 33 for one in qualities]
            assert record.get_forward_qualities().tolist() == scores
            assert record.query_qualities.tolist() == scores[:: -1 if record.is_reverse else 1]
    assert turned == {False, True}


@pytest.mark.parametrize("name", ["r.fastq", "r.fastq.gz"])
def test_as_pysam_reads_them(name, reads):
    both = ["align", name, "g.fasta", *LOCAL, "--strand", "both"]
    assert main([*both, "-o", "x.sam"]) == 0
    check("x.sam", reads)
    assert main(["verify", "x.sam", name, "g.fasta", "--mode", "local", *COSTS, "-q"]) == 0
    assert main(["align", "r.fasta", *both[2:], "-o", "none.sam"]) == 0
    lines = [line.split("\t") for line in Path("x.sam").read_text().splitlines() if line[0] != "@"]
    plain = [line for line in Path("none.sam").read_text().splitlines() if line[0] != "@"]
    assert ["\t".join([*line[:10], "*", *line[11:]]) for line in lines] == plain


def test_the_same_bytes_by_parts_stores_python_and_updates():
    own = ["align", "r.fastq", *LOCAL, "--strand", "both"]
    assert main([*own, "-o", "x.sam"]) == 0
    for k in (2, 1):
        assert main([*own, "-o", "parts", "--shard", f"{k}/2", "--format", "sam"]) == 0
    assert main(["merge", "parts", "-o", "merged.sam", "-q"]) == 0
    assert main(["pack", "r.fastq", "-o", "r.pairset", "-q"]) == 0
    assert main(["align", "r.pairset", *own[2:], "-o", "packed.sam"]) == 0
    for k in (1, 2):
        shard = ["--shard", f"{k}/2", "--format", "sam", "-o", "packed"]
        assert main(["align", "r.pairset", *own[2:], *shard]) == 0
    assert main(["merge", "packed", "-o", "merged2.sam", "-q"]) == 0
    scoring = pairalign.make_scoring(
        "dna", match=2, mismatch=-3, gap_open=5, gap_extend=2, mode="local"
    )
    found = pairalign.align("r.fastq", scoring=scoring, strand="both", min_score=60)
    found.write("python.sam")
    lines = Path("r.fastq").read_text().splitlines(keepends=True)
    Path("old.fastq").write_text("".join(lines[:16]))
    Path("new.fastq").write_text("".join(lines[16:]))
    first = ["align", "old.fastq", *own[2:], "--shard", "1/1", "--format", "sam", "-o", "old"]
    assert main(first) == 0
    assert main(["update", "old", "new.fastq", "-o", "updated.sam", "-q"]) == 0
    expected = Path("x.sam").read_bytes()
    assert b"\t*\t0\t0\t" in expected
    for name in ("merged", "packed", "merged2", "python", "updated"):
        assert Path(f"{name}.sam").read_bytes() == expected, name


def test_of_overlaps_and_in_canonical_order(reads):
    overlap = ["overlap", "r.fastq", "--min-overlap", "30", "--min-identity", "0.7", "-q"]
    assert main([*overlap, "-o", "x.sam"]) == 0
    check("x.sam", reads)
    own = ["align", "r.fastq", *LOCAL, "--strand", "both", "--orient", "canonical"]
    assert main([*own, "-o", "y.sam"]) == 0
    check("y.sam", reads)


def test_one_file_without_them_leaves_them_out():
    assert main(["align", "r.fastq", "--also", "g.fasta", *LOCAL, "-o", "x.sam"]) == 0
    lines = [line.split("\t") for line in Path("x.sam").read_text().splitlines() if line[0] != "@"]
    assert {line[10] for line in lines} == {"*"}


def test_a_quality_that_sam_cannot_hold(capfd):
    Path("bad.fastq").write_bytes(b"@a\nACGTACGT\n+\nIIIIIIII\n@b\nACGTACGA\n+\nIIII\x80III\n")
    assert main(["align", "bad.fastq", "-o", "x.sam", "-q"]) == 2
    assert "record 2 'b': the quality of base 5 is none" in capfd.readouterr().err
    assert not Path("x.sam").exists()
