"""Files say how they were made: scoring, lambda and K, the size of the search space."""

import math
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from align_command import align
from Bio import SearchIO
from readable import needs_program

from pairalign.jobs.run import statistics
from pairalign.jobs.run.statistics import estimate_gumbel
from pairalign.sequences.set_reading import read_fasta

PROTEINS = Path(__file__).parents[2] / "examples" / "cytochrome_p450.fasta"
BLAST = ("--mode", "local", "--gap-open", "12")
STATED = re.compile(r"lambda (\S+), K (\S+) \((.+?)\), database of (\S+) residues in (\S+) seq")
NAMES = (
    *("qseqid", "sseqid", "qlen", "slen", "score", "bitscore", "evalue", "pident", "ppos"),
    *("length", "nident", "mismatch", "positive", "gapopen", "gaps", "qstart", "qend"),
    *("sstart", "send", "qseq", "sseq", "qcovs", "qcovhsp"),
)


@pytest.fixture(autouse=True)
def folder(here, monkeypatch):
    monkeypatch.setenv("PAIRALIGN_CACHE", str(here / "cache"))
    few = 10**8
    monkeypatch.setattr(statistics, "estimate_gumbel", lambda *given: estimate_gumbel(*given, few))
    letters = [s.residues for s in read_fasta(PROTEINS)][:8]
    Path("p.fa").write_text("".join(f">p{k}\n{text[:150]}\n" for k, text in enumerate(letters)))
    Path("q.fa").write_text(f">q0\n{letters[3][:120]}\n")


def parts_of(path):
    """The comments of a table, and its lines."""
    lines = Path(path).read_text().splitlines(keepends=True)
    comments = [line for line in lines if line.startswith("#")]
    assert lines[: len(comments)] == comments
    return "".join(comments), "".join(lines[len(comments) :])


@pytest.mark.parametrize("both_ways", [(), ("--both-ways",)])
def test_blast7_has_the_lines_of_blast6(both_ways):
    for name in ("a.b6", "a.b7"):
        align("p.fa", *BLAST, *both_ways, "-o", name, "-q")
    comments, lines = parts_of("a.b7")
    assert lines == Path("a.b6").read_text()
    assert lines.count("\n") > 20
    assert comments.startswith("# pairalign ")
    assert "\n# Database: p.fa\n" in comments
    assert "\n# Scoring: local, BLOSUM62, gap open 12, gap extend 1;" in comments
    lambda_, k, source, letters, sequences = STATED.search(comments).groups()
    assert (lambda_, k, source) == ("0.267", "0.041", "published")
    assert (letters, sequences) == ("1,200", "8")


def test_blast7_by_biopython():
    align("p.fa", *BLAST, "-o", "a.b7", "-q")
    found = list(SearchIO.parse("a.b7", "blast-tab", comments=True))
    rows = [line.split("\t") for line in parts_of("a.b7")[1].splitlines()]
    read = [
        (result.id, hit.id, hsp.aln_span, hsp.query_start + 1, hsp.hit_end, hsp.bitscore)
        for result in found
        for hit in result
        for hsp in hit
    ]
    expected = [(r[0], r[1], int(r[3]), int(r[6]), int(r[9]), float(r[11])) for r in rows]
    assert read == expected
    assert len(read) > 20
    assert {(result.program, result.target) for result in found} == {("pairalign", "p.fa")}


@needs_program("blastp")
def test_columns_have_blasts_names():
    align("q.fa", "p.fa", *BLAST, "-o", "a.b7", "--columns", ",".join(NAMES), "-q")
    command = ["blastp", "-query", "q.fa", "-subject", "p.fa", "-outfmt", f"7 {' '.join(NAMES)}"]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (expected,) = re.findall(r"# Fields: .*", theirs)
    assert re.findall(r"# Fields: .*", parts_of("a.b7")[0]) == [expected]


def test_columns_that_blast_has_not_keep_their_names():
    align("q.fa", "p.fa", "-o", "a.b7", "--columns", "query,target,qstart,query_start", "-q")
    assert "# Fields: query id, subject id, q. start, query_start\n" in parts_of("a.b7")[0]


@pytest.mark.parametrize(
    ("options", "source"),
    [
        (BLAST, "published"),
        ((*BLAST, "--db-size", "123456789"), "published"),
        (("--mode", "local", "--gap-open", "12.5", "--gap-extend", "1.5"), "estimated"),
    ],
)
def test_bits_and_evalues_follow_from_what_is_stated(options, source):
    """Of one query: with lambda of scores as they are written, also where they have decimals."""
    columns = "qseqid,sseqid,score,bitscore,evalue"
    plain = ("--comp-based-stats", "0")
    align("q.fa", "p.fa", *options, *plain, "--columns", columns, "-o", "a.b7", "-q")
    comments, lines = parts_of("a.b7")
    lambda_, k, said, letters, sequences = STATED.search(comments).groups()
    assert said.startswith(source)
    assert (letters, sequences) == ("123,456,789" if "--db-size" in options else "1,200", "8")
    assert "finite-size correction" in comments
    lambda_, k = float(lambda_), float(k)
    rows = [line.split("\t")[2:] for line in lines.splitlines()]
    assert len(rows) == 8
    for score, bits, evalue in np.array(rows, np.float64):
        assert bits == pytest.approx((lambda_ * score - math.log(k)) / math.log(2), abs=0.06)
        # Of the whole space; the correction only takes of it.
        most = math.log(k) + math.log(120 * float(letters.replace(",", ""))) - lambda_ * score
        if evalue > 1e-300:
            assert math.log(evalue) < most


def test_composition_and_unknown_statistics_are_stated():
    align("p.fa", *BLAST, "-o", "a.b7", "-q")
    assert "composition of each pair, mid-P (--comp-based-stats 1)" in parts_of("a.b7")[0]
    align("p.fa", *BLAST, "--comp-based-stats", "0", "-o", "b.b7", "-q")
    assert "composition" not in parts_of("b.b7")[0]
    align("p.fa", "-o", "c.b7", "-q")
    comments, lines = parts_of("c.b7")
    assert "# Scoring: global, BLOSUM62, gap open 11, gap extend 1;" in comments
    assert "# Statistics: not known\n" in comments
    assert "lambda" not in comments
    assert lines.count("\tnan\tnan\n") == lines.count("\n") > 0


def test_a_search_space_that_is_given_is_taken_as_it_is():
    """E-values no longer depend on what else is in the sets."""
    space = ("--search-space", "1e9", "--comp-based-stats", "0")
    columns = ("--columns", "query,target,score,evalue", "-q")
    align("q.fa", "p.fa", *BLAST, *space, *columns, "-o", "a.b7")
    comments, lines = parts_of("a.b7")
    assert "search space of 1e+09 cells" in comments
    assert "finite-size" not in comments
    for line in lines.splitlines():
        score, evalue = map(float, line.split("\t")[2:])
        if evalue > 1e-300:
            assert evalue == pytest.approx(0.041 * 1e9 * math.exp(-0.267 * score), rel=0.006)


def test_sam_says_it_in_its_program_line():
    pysam = pytest.importorskip("pysam")
    align("p.fa", *BLAST, "-o", "a.sam", "-q")
    align("p.fa", "-o", "b.sam", "-q")
    found = []
    for name in ("a.sam", "b.sam"):
        with pysam.AlignmentFile(name) as file:
            (program,) = file.header.to_dict()["PG"]
            found.append(program["DS"].split(" | "))
            assert len(list(file)) > 20
    stated, plain = found
    assert [line.partition(":")[0] for line in stated] == ["Scoring", "Statistics"]
    assert "lambda 0.267, K 0.041 (published)" in stated[1]
    assert len(plain) == 1
    assert plain[0].startswith("Scoring: global, BLOSUM62, gap open 11, gap extend 1;")


def test_parquet_says_it_in_its_metadata():
    pq = pytest.importorskip("pyarrow.parquet")
    align("p.fa", *BLAST, "--max-evalue", "1", "-o", "a.parquet", "-q")
    metadata = {k.decode(): v.decode() for k, v in pq.read_metadata("a.parquet").metadata.items()}
    found = {k.removeprefix("pairalign."): v for k, v in metadata.items()}
    expected = {"lambda": "0.267", "k": "0.041", "statistics": "published"}
    expected |= {"database_letters": "1200", "database_sequences": "8", "comp_based_stats": "1"}
    space = "finite-size correction (Park et al. 2012; inverse Gaussian lengths)"
    expected |= {"search_space": space}
    assert {key: found[key] for key in expected} == expected
