"""SAM of overlaps: both strands, as pysam, samtools and `pairalign verify` read them."""

import re
import subprocess

import numpy as np
import pytest
from commands import fasta
from readable import needs_program
from verifying import verify

from pairalign.cli.main import main

pysam = pytest.importorskip("pysam")

COSTS = ["--match", "2", "--mismatch", "-4", "--gap-open", "6", "--gap-extend", "2"]
COMPLEMENT = str.maketrans("ACGTNacgtn", "TGCANtgcan")


def other_strand(letters):
    return letters[::-1].translate(COMPLEMENT)


@pytest.fixture
def reads(here):
    """Reads of both strands with errors; overlaps of them as SAM and PAF."""
    rng = np.random.default_rng(7)
    genome = "".join(rng.choice(list("ACGT"), 900))
    found = {}
    for k in range(12):
        start = int(rng.integers(0, 500))
        letters = list(genome[start : start + int(rng.integers(200, 400))])
        for place in rng.integers(0, len(letters), 8):
            letters[place] = str(rng.choice(["", "A", "c", "GT", "N"]))
        text = "".join(letters)
        found[f"r{k}"] = other_strand(text) if k % 2 else text
    (here / "r.fa").write_text(fasta(found))
    for format in ("sam", "paf"):
        options = ["--min-overlap", "60", "--mode", "local", "-q", "--device", "cpu"]
        assert main(["overlap", "r.fa", "-o", f"o.{format}", *options, *COSTS]) == 0
    return found


def test_records_are_those_of_paf(tmp_path, reads):
    lines = [line.split("\t") for line in (tmp_path / "o.paf").read_text().splitlines()]
    with pysam.AlignmentFile("o.sam") as file:
        assert dict(zip(file.references, file.lengths, strict=True)) == {
            name: len(one) for name, one in reads.items()
        }
        records = list(file)
    assert len(records) == len(lines) > 20
    assert {line[4] for line in lines} == {"+", "-"}
    seen = set()
    for record, line in zip(records, lines, strict=True):
        query, length, start, end, strand, target, _, target_start, target_end = line[:9]
        length, start, end = int(length), int(start), int(end)
        minus = strand == "-"
        assert (record.query_name, record.reference_name) == (query, target)
        assert (record.is_reverse, record.is_unmapped) == (minus, False)
        assert record.is_secondary == (query in seen)
        seen.add(query)
        assert (record.reference_start, record.reference_end) == (
            int(target_start),
            int(target_end),
        )
        span = (length - end, length - start) if minus else (start, end)
        assert (record.query_alignment_start, record.query_alignment_end) == span
        letters = other_strand(reads[query]) if minus else reads[query]
        assert record.query_sequence == letters.upper()
        assert record.get_forward_sequence() == reads[query].upper()
        (cigar,) = (tag[5:] for tag in line if tag.startswith("cg:Z:"))
        assert re.sub(r"\d+S", "", record.cigarstring) == cigar


def test_verify_finds_them_legal_and_optimal(reads):
    rows = verify("o.sam", "r.fa", "--mode", "local", "--optimal", *COSTS)
    assert {(row["verdict"], row["below"]) for row in rows} == {("ok", "0")}


@needs_program("samtools")
def test_samtools_counts_primary_and_secondary_records(tmp_path, reads):
    def samtools(*arguments):
        done = subprocess.run(["samtools", *arguments], check=True, capture_output=True, text=True)
        return done.stdout

    samtools("view", "-b", "-o", "o.bam", "o.sam")
    samtools("quickcheck", "-v", "o.bam")
    counts = {
        line.split(" ", 3)[3].split(" (")[0]: int(line.split()[0])
        for line in samtools("flagstat", "o.bam").splitlines()
    }
    lines = [line.split("\t") for line in (tmp_path / "o.paf").read_text().splitlines()]
    queries = {line[0] for line in lines}
    assert counts["primary"] == counts["primary mapped"] == len(queries)
    assert counts["secondary"] == len(lines) - len(queries) > 0
    minus = sum(line[4] == "-" for line in lines)
    assert int(samtools("view", "-c", "-f", "16", "o.bam")) == minus > 0
