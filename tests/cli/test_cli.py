"""The command line: formats, input and output, scoring, results, wrong usage."""

import gzip
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from align_command import align, table
from Bio import SeqIO
from Bio.Align import substitution_matrices
from commands import PROTEINS, TIMEOUT_SECONDS, fasta, rows_of, run, write_random_set
from written_files import TSV_COLUMNS

import pairalign
from pairalign.engines.cpu.cpu_engine import instruction_sets

# Input and output


def test_from_a_pipe_to_a_pipe(folder):
    align("proteins.fa", "-o", "x.tsv", "--quiet")
    data = Path("proteins.fa").read_bytes()
    for given in (data, gzip.compress(data)):
        done = run("align", "-", "-o", "-", "--format", "tsv", "--quiet", cwd=folder, input=given)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == Path("x.tsv").read_bytes()


def test_messages_are_on_stderr_only(folder):
    done = run("align", "proteins.fa", "-o", "-", "--format", "tsv", cwd=folder)
    assert len(rows_of(done.stdout)) == 6
    assert b"proteins" in done.stderr
    assert b"written to  standard output" in done.stderr
    done = run("align", "proteins.fa", "-o", "x.tsv", cwd=folder)
    assert done.stdout == b""


def test_lower_case_scores_the_same_and_survives(folder):
    Path("lower.fa").write_text(fasta({name: s.lower() for name, s in PROTEINS.items()}))
    assert table("lower.fa") == table("proteins.fa")
    align("lower.fa", "-o", "x.fasta", "--quiet")
    letters = "".join(str(r.seq) for r in SeqIO.parse("x.fasta", "fasta"))
    assert letters
    assert letters == letters.lower()


def test_one_set_against_another(folder):
    names = list(PROTEINS)
    Path("one.fa").write_text(fasta({n: PROTEINS[n] for n in names[:1]}))
    Path("two.fa").write_text(fasta({n: PROTEINS[n] for n in names[1:]}))
    found = table("one.fa", "two.fa")
    assert [(row["query"], row["target"]) for row in found] == [("a", "b"), ("a", "d"), ("a", "c")]
    every = {(row["query"], row["target"]): row for row in table("proteins.fa")}
    assert found == [every[row["query"], row["target"]] for row in found]
    turned = {(row["target"], row["query"]): row["score"] for row in table("two.fa", "one.fa")}
    assert turned == {(row["query"], row["target"]): row["score"] for row in found}


@pytest.mark.parametrize("piped", [0, 1])
def test_one_of_two_inputs_from_a_pipe(folder, piped):
    arguments = ["proteins.fa", "proteins.fa"]
    align(*arguments, "-o", "x.tsv", "--quiet")
    arguments[piped] = "-"
    data = Path("proteins.fa").read_bytes()
    done = run("align", *arguments, "-o", "y.tsv", "--quiet", cwd=folder, input=data)
    assert (done.returncode, done.stderr) == (0, b"")
    assert Path("y.tsv").read_bytes() == Path("x.tsv").read_bytes()
    assert len(rows_of(Path("x.tsv").read_text())) == 16


# Scoring


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_modes(folder, few, mode):
    """The same as from Python, and each kind of score at least that of the stricter one."""
    rows = table(few, "--mode", mode)
    found = pairalign.align(few, mode=mode)
    assert [row["score"] for row in rows] == [str(a.score) for a in found]
    assert [row["cigar"] for row in rows] == [a.cigar for a in found]
    strict = table(few)
    assert all(int(a["score"]) >= int(b["score"]) for a, b in zip(rows, strict, strict=True))
    assert all(row["query_start"] == "0" for row in strict)


def test_matrix_by_name_and_by_file(folder, few):
    matrix = substitution_matrices.load("BLOSUM50")
    Path("my.mat").write_text(str(matrix))
    options = ["--gap-open", "13", "--gap-extend", "2"]
    named = table(few, "--matrix", "BLOSUM50", *options)
    assert table(few, "--matrix", "my.mat", *options) == named
    assert table(few, "--matrix", "blosum50", *options) == named
    assert table(few, *options) != named


def test_match_and_mismatch(folder):
    default = table("dna.fa")
    assert table("dna.fa", "--match", "2", "--mismatch", "-3") == default
    assert table("dna.fa", "--match=2", "--mismatch=-3") == default
    assert table("dna.fa", "--match", "5", "--mismatch", "-4") != default
    # Twelve equal letters and nothing else.
    Path("equal.fa").write_text(fasta({"x": "ACGTACGTTGCA", "y": "acguacguugca"}))
    (row,) = table("equal.fa", "--match", "1.5")
    assert (row["score"], row["cigar"]) == ("18", "12=")


def test_decimal_costs(folder, few):
    """EMBOSS's costs; ten times everything is ten times the score and the same alignment."""
    found = table(few, "--gap-open", "10", "--gap-extend", "0.5")
    assert any(row["score"].endswith(".5") for row in found)
    matrix = 10 * substitution_matrices.load("BLOSUM62")
    Path("ten.mat").write_text(str(matrix))
    tenfold = table(few, "--matrix", "ten.mat", "--gap-open", "100", "--gap-extend", "5")
    assert [row["cigar"] for row in found] == [row["cigar"] for row in tenfold]
    assert [10 * Decimal(row["score"]) for row in found] == [int(row["score"]) for row in tenfold]


def test_the_alphabet_may_be_said(folder):
    Path("short.fa").write_text(fasta({"x": "ACCA", "y": "ACCA"}))
    assert table("short.fa")[0]["score"] == "8"
    assert table("short.fa", "--alphabet", "dna")[0]["score"] == "8"
    assert table("short.fa", "--alphabet", "protein")[0]["score"] == "26"


# Results


def test_scores_only(folder):
    rows = table("proteins.fa", "--score-only")
    assert [list(row) for row in rows] == [["query", "target", "score"]] * 6
    every = table("proteins.fa")
    assert rows == [{name: row[name] for name in TSV_COLUMNS[:3]} for row in every]


DECIMAL = ["--gap-open", "10.5", "--gap-extend", "0.25"]


@pytest.mark.parametrize(
    ("least", "costs"),
    [
        *((least, []) for least in ("30", "31.5", "-4", "1e1", "-1e99", "1e99")),
        *((least, DECIMAL) for least in ("31.5", "12.250001")),
    ],
)
def test_minimum_score(folder, least, costs):
    every = table("proteins.fa", *costs)
    kept = [row for row in every if Decimal(row["score"]) >= Decimal(least)]
    assert table("proteins.fa", *costs, f"--min-score={least}") == kept
    scores = [{name: row[name] for name in TSV_COLUMNS[:3]} for row in kept]
    assert table("proteins.fa", *costs, f"--min-score={least}", "--score-only") == scores


@pytest.mark.parametrize(
    "options",
    [
        *(["--threads", str(n)] for n in (1, 2, 3)),
        ["--threads", "100000"],
        ["--memory", "2M", "--threads", "1"],
        ["--memory", "4M", "--threads", "3"],
        ["--memory", "16G"],
        ["--memory", "99999999999999T"],
        *({"PAIRALIGN_ISA": name} for name in instruction_sets()),
    ],
    ids=str,
)
def test_bytes_do_not_depend_on_the_machine(folder, few, monkeypatch, options):
    for mode in ("global", "local"):
        arguments = [few, "--mode", mode, "--window", "5", "--quiet"]
        align(*arguments, "-o", f"{mode}.paf")
        expected = Path(f"{mode}.paf").read_bytes()
        if isinstance(options, dict):
            for name, value in options.items():
                monkeypatch.setenv(name, value)
            align(*arguments, "-o", f"{mode}-again.paf")
        else:
            align(*arguments, *options, "-o", f"{mode}-again.paf")
        assert Path(f"{mode}-again.paf").read_bytes() == expected


def test_windows_order_the_pairs(folder):
    """Longest first, windows row by row, pairs row by row inside."""
    for window, expected in (
        ("1", ["ab", "ad", "ac", "bd", "bc", "cd"]),
        ("2", ["ab", "ad", "ac", "bd", "bc", "cd"]),
        ("3", ["ab", "ad", "bd", "ac", "bc", "cd"]),
        ("1024", ["ab", "ad", "ac", "bd", "bc", "cd"]),
    ):
        rows = table("proteins.fa", "--window", window)
        assert [row["query"] + row["target"] for row in rows] == expected


def test_a_large_set_streams(folder):
    """Pairs come in many pieces; all of them arrive, in order."""
    write_random_set(Path("many.fa"), 300, 20)
    align("many.fa", "-o", "x.tsv", "--quiet", "--memory", "8M", "--threads", "2")
    rows = rows_of(Path("x.tsv").read_text())
    order = pairalign.read_fasta("many.fa").order.tolist()
    pairs = [sorted((one, other)) for k, one in enumerate(order) for other in order[k + 1 :]]
    expected = [(f"s{i}", f"s{j}") for i, j in pairs]
    assert [(row["query"], row["target"]) for row in rows] == expected


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_memory_is_bounded(folder):
    """500,000 alignments, 200 MB of results, within 64 MiB beyond what the program itself takes."""
    write_random_set(Path("many.fa"), 1000, 60)
    program = (
        "import sys\n"
        "import pairalign.cli.align_command\n"
        "from pairalign.cli.main import main\n"
        "def peak():\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    return next(int(line.split()[1]) for line in lines if line.startswith('VmHWM'))\n"
        "before = peak()\n"
        "code = main(sys.argv[1:])\n"
        "print(peak() - before)\n"
        "sys.exit(code)\n"
    )
    arguments = ["align", "many.fa", "-o", "x.tsv", "--quiet", "--memory", "64M", "--threads", "2"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, timeout=TIMEOUT_SECONDS
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert int(done.stdout) < 64 << 10
    with Path("x.tsv").open("rb") as lines:
        assert sum(1 for _ in lines) == 1 + 1000 * 999 // 2
