"""Reads cut at adapters and chimeras: as if they had come so."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from overlapping import changed
from strand_problems import other_strand

import pairalign
from pairalign.cli.main import main
from pairalign.jobs.overlaps.trimming import good_spans

BASES = 3000
OPTIONS = ["--preset", "ont", "--min-overlap", "200", "--device", "cpu", "--quiet"]


def read_set() -> dict[str, tuple[str, int, int]]:
    """Reads of a circle, with where their good part is: some have adapters, one is a chimera."""
    rng = np.random.default_rng(4)
    circle = "".join(rng.choice(list("ACGT"), BASES))
    reads = {}
    for k, start in enumerate(range(0, BASES, 100)):
        good = changed((2 * circle)[start : start + 900], 0.02, k)
        before = "".join(rng.choice(list("ACGT"), 110 if k % 3 == 0 else 0))
        after = "".join(rng.choice(list("ACGT"), 110 if k % 5 == 0 else 0))
        if k == 7:
            after = changed((2 * circle)[start + 1500 : start + 1900], 0.02, k)
        letters, first = before + good + after, len(before)
        if k % 2:
            letters, first = other_strand(letters), len(after)
        reads[f"r{k}"] = letters, first, first + len(good)
    return reads


@pytest.fixture
def fastq(here: Path) -> Path:
    rng = np.random.default_rng(6)
    records = []
    for name, (letters, _, _) in read_set().items():
        quality = "".join(map(chr, rng.integers(33, 73, len(letters))))
        records.append(f"@{name} of a test\n{letters}\n+\n{quality}\n")
    Path("reads.fastq.gz").write_bytes(gzip.compress("".join(records).encode()))
    return Path("reads.fastq.gz")


def records_of(path: Path) -> dict[str, tuple[str, str]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = text.decode().splitlines()
    return {lines[k]: (lines[k + 1], lines[k + 3]) for k in range(0, len(lines), 4)}


def test_reads_are_cut_where_they_are_bad(fastq):
    found = pairalign.overlap(fastq, preset="ont", min_overlap=200, device="cpu")
    trimmed = found.trim_reads()
    for k, (letters, first, last) in enumerate(read_set().values()):
        start, stop = int(trimmed.starts[k]), int(trimmed.stops[k])
        assert abs(start - first) < 60, k
        assert abs(stop - last) < 60, k
        assert trimmed.reads[k].residues == letters[start:stop]
        assert (start, stop) == (0, len(letters)) or (last - first) < len(letters)
    assert trimmed.cut > 12
    assert good_spans(found.report_reads(), found.alignments)[0].tolist() == trimmed.starts.tolist()


@pytest.mark.parametrize("ending", ["paf", "gfa"])
def test_the_output_is_that_of_the_cut_reads(fastq, ending):
    command = ["overlap", str(fastq), "--trimmed", "cut.fq", "-o", f"one.{ending}", *OPTIONS]
    assert main(command) == 0
    assert main(["overlap", "cut.fq", "-o", f"two.{ending}", *OPTIONS]) == 0
    assert Path(f"one.{ending}").read_bytes() == Path(f"two.{ending}").read_bytes()
    assert main(["overlap", str(fastq), "-o", f"all.{ending}", *OPTIONS]) == 0
    assert Path(f"all.{ending}").read_bytes() != Path(f"one.{ending}").read_bytes()
    whole, cut = records_of(fastq), records_of(Path("cut.fq"))
    assert list(whole) == list(cut)
    for title, (letters, quality) in cut.items():
        at = whole[title][0].index(letters)
        assert whole[title][1][at : at + len(letters)] == quality
    if ending == "paf":
        lines = Path("one.paf").read_text().splitlines()
        kinds = [line.split("ov:Z:")[1].split()[0] for line in lines]
        assert len(kinds) > 100
        assert "internal" not in kinds
    assert main(["overlap", str(fastq), "--trim", "-o", f"3.{ending}", *OPTIONS]) == 0
    assert Path(f"3.{ending}").read_bytes() == Path(f"one.{ending}").read_bytes()


def test_fasta_has_no_qualities(fastq):
    command = ["overlap", str(fastq), "-o", "o.paf", *OPTIONS, "--trimmed"]
    assert main([*command, "cut.fa"]) == 0
    assert main(["overlap", "cut.fa", "-o", "p.paf", *OPTIONS]) == 0
    assert Path("o.paf").read_bytes() == Path("p.paf").read_bytes()


def test_without_overlaps_nothing_is_cut(tmp_path):
    rng = np.random.default_rng(1)
    reads = tmp_path / "r.fa"
    reads.write_text("".join(f">r{k}\n{''.join(rng.choice(list('ACGT'), 700))}\n" for k in "12"))
    command = ["overlap", str(reads), "-o", str(tmp_path / "o.paf"), *OPTIONS]
    assert main([*command, "--trimmed", str(tmp_path / "cut.fa")]) == 0
    assert (tmp_path / "cut.fa").read_text() == reads.read_text()
    assert (tmp_path / "o.paf").read_text() == ""
