"""`pairalign verify`: other programs' files are read as those programs mean them."""

import subprocess

import numpy as np
import pytest
from commands import fasta
from readable import needs_program
from verifying import family, verify


@pytest.fixture
def folder(here):
    (here / "p.fa").write_text(fasta(family("protein")))
    (here / "d.fa").write_text(fasta(family("dna")))
    return here


def run(*command, output=None):
    done = subprocess.run([str(one) for one in command], capture_output=True, check=True)
    if output is not None:
        with open(output, "wb") as file:
            file.write(done.stdout)


@pytest.fixture
def reads(here):
    """Reads of a random genome with errors, on both strands; parts of a few have N."""
    rng = np.random.default_rng(3)
    genome = "".join(rng.choice(list("ACGT"), 20000))
    other = str.maketrans("ACGT", "TGCA")
    records = {}
    for k in range(24):
        start = int(rng.integers(0, 19000))
        read = []
        for one in genome[start : start + 900]:
            error = rng.random()
            if error < 0.03:
                one = str(rng.choice(list("ACGT")))
            elif error < 0.05:
                one = ""
            elif error < 0.07:
                one *= 2
            read.append(one)
        text = "".join(read)
        records[f"r{k}"] = text[::-1].translate(other) if k % 2 else text
    (here / "g.fa").write_text(fasta({"g": genome}))
    (here / "r.fa").write_text(fasta(records))
    return here


MINIMAP2 = ["minimap2", "-A2", "-B4", "-O4", "-E2", "-t1"]
MINIMAP2_COSTS = ["--match", 2, "--mismatch", -4, "--gap-open", 6, "--gap-extend", 2]


@needs_program("minimap2")
@pytest.mark.parametrize("options", [["-c"], ["-c", "--eqx"], ["-a"], ["-a", "--eqx"]])
def test_minimap2(reads, options):
    name = "m.sam" if "-a" in options else "m.paf"
    run(*MINIMAP2, *options, "g.fa", "r.fa", output=name)
    rows = verify(name, "r.fa", "g.fa", *MINIMAP2_COSTS, "--mode", "local", "--optimal")
    assert len(rows) == 24
    assert {row["verdict"] for row in rows} == {"ok"}
    assert all(row["score"] == row["file_score"] for row in rows)
    below = [int(row["below"]) for row in rows]
    assert min(below) == 0  # a heuristic: most are optimal, none is better than that
    assert sum(one == 0 for one in below) > 18


@needs_program("minimap2")
def test_minimap2_damaged(reads):
    run(*MINIMAP2, "-c", "g.fa", "r.fa", output="m.paf")
    lines = (reads / "m.paf").read_text().splitlines()
    fields = lines[3].split("\t")
    fields[9] = str(int(fields[9]) + 1)
    lines[3] = "\t".join(fields)
    (reads / "m.paf").write_text("\n".join(lines))
    rows = verify("m.paf", "r.fa", "g.fa", *MINIMAP2_COSTS, code=1)
    assert [row["record"] for row in rows if row["verdict"] == "matches"] == ["4"]
    assert sum(row["verdict"] == "ok" for row in rows) == 23


@needs_program("needle")
@pytest.mark.parametrize("program", ["needle", "water"])
def test_emboss(folder, program):
    records = {name.replace("|", ""): one for name, one in family("protein").items()}
    (folder / "p.fa").write_text(fasta(records))
    (folder / "q.fa").write_text(fasta(dict(list(records.items())[:1])))
    costs = ["-gapopen", "10", "-gapextend", "0.5", "-auto"]
    files = ["-asequence", "q.fa", "-bsequence", "p.fa", "-outfile", f"x.{program}"]
    run(program, *files, *costs, "-aformat", "srspair")
    rows = verify(
        f"x.{program}", "q.fa", "p.fa", "--gap-open", 10, "--gap-extend", 0.5, "--optimal"
    )
    assert len(rows) == len(records)
    assert {row["verdict"] for row in rows} == {"ok"}
    assert all(row["score"] == row["file_score"] for row in rows)
    assert min(float(row["below"]) for row in rows) == 0


@needs_program("blastp")
def test_blastp(folder):
    # Its BLOSUM62 has other scores for X than the published matrix.
    (folder / "p.fa").write_text(fasta(family("protein")).replace("X", "A").replace("x", "a"))
    names = "qseqid,sseqid,pident,length,mismatch,gapopen,qstart,qend,sstart,send,score,positive"
    options = ["-comp_based_stats", "0", "-seg", "no", "-outfmt"]
    costs = ["--gap-open", 12, "--gap-extend", 1, "--optimal", "--mode", "local"]
    for last in ("btop", "qseq,sseq"):
        columns = f"{names},{last}"
        format = f"6 {columns.replace(',', ' ')}"
        run("blastp", "-query", "p.fa", "-subject", "p.fa", *options, format, output="x.b6")
        rows = verify("x.b6", "p.fa", "--columns", columns, *costs)
        assert len(rows) > 40
        assert {row["verdict"] for row in rows} == {"ok"}


@needs_program("ssearch36")
def test_ssearch36(folder):
    run(
        *("ssearch36", "-q", "-m", "8CB", "-s", "BL62", "-f", "-11", "-g", "-1", "-E", "1000"),
        *("p.fa", "p.fa"),
        output="x.m8",
    )
    columns = "query,target,pident_aligned,aligned,mismatch,gaps,qstart,qend,sstart,send,_,_,btop"
    costs = ["--gap-open", 12, "--gap-extend", 1, "--optimal", "--mode", "local"]
    rows = verify("x.m8", "p.fa", "--columns", columns, *costs)
    assert len(rows) > 60
    assert {row["verdict"] for row in rows} == {"ok"}


@needs_program("diamond")
def test_diamond_sam(folder):
    """Its SEQ is the aligned part, ZS says where that begins; AS has bits and ZR the score."""
    (folder / "p.fa").write_text(fasta(family("protein")).replace("X", "A").replace("x", "a"))
    run("diamond", "makedb", "--in", "p.fa", "-d", "p")
    plain = ["--comp-based-stats", "0", "--masking", "0", "--ultra-sensitive", "-p", "1"]
    for format, columns in (
        ("101", ""),
        (
            "6 qseqid sseqid pident length mismatch gapopen qstart qend sstart send score cigar",
            None,
        ),
    ):
        name = "x.sam" if format == "101" else "x.b6"
        run("diamond", "blastp", "-q", "p.fa", "-d", "p", "-f", *format.split(), *plain, "-o", name)
        chosen = [] if columns is not None else ["--columns", format[2:].replace(" ", ",")]
        costs = ["--gap-open", 12, "--gap-extend", 1, "--mode", "local"]
        rows = verify(name, "p.fa", "p.fa", *chosen, *costs)
        assert len(rows) > 20
        assert {row["verdict"] for row in rows} == {"ok"}
        assert all(row["score"] == row["file_score"] for row in rows)
    text = (folder / "x.sam").read_text()
    (folder / "y.sam").write_text(text.replace("ZS:i:1\t", "ZS:i:2\t"))
    assert "ok" not in {
        row["verdict"]
        for row, line in zip(
            verify("y.sam", "p.fa", "p.fa", *costs, code=1),
            [line for line in text.splitlines() if line[0] != "@" and "\t4\t*" not in line],
            strict=True,
        )
        if "ZS:i:1\t" in line
    }


VSEARCH_COSTS = [
    *("--match", 2, "--mismatch", -4, "--gap-open", 20, "--gap-extend", 2),
    *("--end-gap-open", 2, "--end-gap-extend", 1),
]


@needs_program("vsearch")
def test_vsearch(folder):
    """Its SAM has NM without end gaps, its table spans with and columns without them."""
    (folder / "d.fa").write_text(fasta(family("dna")).upper())
    files = ["--samout", "x.sam", "--samheader", "--blast6out", "x.b6", "--minseqlength", "1"]
    run("vsearch", "--allpairs_global", "d.fa", "--acceptall", "--threads", "1", *files)
    rows = verify("x.sam", "d.fa", *VSEARCH_COSTS)
    assert len(rows) == 36
    assert {row["verdict"] for row in rows} == {"ok"}
    assert {row["verdict"] for row in verify("x.b6", "d.fa")} == {"ok"}
    text = (folder / "x.sam").read_text()
    (folder / "y.sam").write_text(text.replace("\tNM:i:", "\tNM:i:1"))
    assert "edits_internal" in {row["verdict"] for row in verify("y.sam", "d.fa", code=1)}


@pytest.mark.slow
@needs_program("mmseqs")
def test_mmseqs(folder):
    columns = "query,target,fident,alnlen,mismatch,gapopen,qstart,qend,tstart,tend,evalue,bits"
    (folder / "p.fa").write_text(fasta(family("protein")))
    run("mmseqs", "easy-search", "p.fa", "p.fa", "x.m8", "tmp", "-a", "--threads", "1")
    rows = verify("x.m8", "p.fa", "p.fa", "--columns", columns)
    assert len(rows) > 8
    assert {row["verdict"] for row in rows} == {"ok"}
