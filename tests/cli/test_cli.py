"""The command line: formats, input and output, scoring, results, wrong usage."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from align_command import align, table
from Bio import AlignIO, SeqIO
from Bio.Align import substitution_matrices
from commands import PROTEINS, TIMEOUT_SECONDS, fasta, rows_of, run, write_random_set
from written_files import TSV_COLUMNS

import pairalign
from pairalign.engines.cpu.cpu_engine import instruction_sets

# Formats


def test_paf_of_a_family(folder: Path, family: Path) -> None:
    align(family, "-o", "out.paf", "--quiet")
    lines = [line.split("\t") for line in Path("out.paf").read_text().splitlines()]
    n = len(list(SeqIO.parse(family, "fasta")))
    assert len(lines) == n * (n - 1) // 2
    assert all(len(line) == 15 for line in lines)
    assert {tuple(tag[:5] for tag in line[12:]) for line in lines} == {("NM:i:", "AS:i:", "cg:Z:")}


def test_all_formats_of_a_family_agree(folder: Path, family: Path) -> None:
    """The same pairs in the same order, with the same scores."""
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("out.tsv", "out.paf", "out.fasta", "out.srspair", "out.parquet"):
        align(family, "-o", name, "--quiet")
    rows = rows_of(Path("out.tsv").read_text())
    assert list(rows[0]) == TSV_COLUMNS
    pairs = [(row["query"], row["target"], row["score"], row["cigar"]) for row in rows]
    paf = [line.split("\t") for line in Path("out.paf").read_text().splitlines()]
    assert [
        (r[0], r[5], r[13].removeprefix("AS:i:"), r[14].removeprefix("cg:Z:")) for r in paf
    ] == (pairs)
    titles = [record.description.split() for record in SeqIO.parse("out.fasta", "fasta")]
    scores = [title[-1].removeprefix("score=") for title in titles]
    assert [
        (q[0], t[0], s) for q, t, s in zip(titles[::2], titles[1::2], scores[::2], strict=True)
    ] == [pair[:3] for pair in pairs]
    emboss = list(AlignIO.parse("out.srspair", "emboss"))
    assert [(a[0].id, a[1].id) for a in emboss] == [(q[:13], t[:13]) for q, t, *_ in pairs]
    columns = parquet.read_table("out.parquet").to_pydict()
    assert list(columns) == TSV_COLUMNS
    found = zip(columns["query"], columns["target"], map(str, columns["score"]), strict=True)
    assert list(found) == [pair[:3] for pair in pairs]


def test_the_format_may_be_said(folder: Path) -> None:
    align("proteins.fa", "-o", "x.tsv", "--quiet")
    align("proteins.fa", "-o", "x.paf", "--format", "tsv", "--quiet")
    align("proteins.fa", "-o", "x", "--format", "tsv", "--quiet")
    assert Path("x").read_bytes() == Path("x.paf").read_bytes() == Path("x.tsv").read_bytes()


# Input and output


def test_from_a_pipe_to_a_pipe(folder: Path) -> None:
    align("proteins.fa", "-o", "x.tsv", "--quiet")
    data = Path("proteins.fa").read_bytes()
    for given in (data, gzip.compress(data)):
        done = run("align", "-", "-o", "-", "--format", "tsv", "--quiet", cwd=folder, input=given)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == Path("x.tsv").read_bytes()


def test_messages_are_on_stderr_only(folder: Path) -> None:
    done = run("align", "proteins.fa", "-o", "-", "--format", "tsv", cwd=folder)
    assert len(rows_of(done.stdout)) == 6
    assert b"proteins" in done.stderr
    assert b"written to  standard output" in done.stderr
    done = run("align", "proteins.fa", "-o", "x.tsv", cwd=folder)
    assert done.stdout == b""


@pytest.mark.parametrize("name", ["tsv", "paf", "srspair", "fasta"])
def test_gz_in_and_out(folder: Path, name: str) -> None:
    Path("zipped").write_bytes(gzip.compress(Path("proteins.fa").read_bytes()))
    align("proteins.fa", "-o", f"x.{name}", "--quiet")
    align("zipped", "-o", f"y.{name}.gz", "--quiet")
    assert gzip.decompress(Path(f"y.{name}.gz").read_bytes()) == Path(f"x.{name}").read_bytes()


@pytest.mark.parametrize(
    "data",
    [
        fasta(PROTEINS).replace("\n", "\r\n"),
        "\n \n\n" + fasta(PROTEINS),
        "; made by hand\n" + fasta(PROTEINS).replace(">b", ";b comes next\n>b"),
        fasta(PROTEINS).replace("MKV", "\nM K\tV\n\n"),
        "".join(f"@{n} x\n{s}\n+\n{'I' * len(s)}\n" for n, s in PROTEINS.items()),
        fasta({name: f".{letters[:3]}--{letters[3:]}-" for name, letters in PROTEINS.items()}),
    ],
    ids=["CRLF", "blank lines", "comments", "white space", "FASTQ", "gaps"],
)
def test_other_ways_to_write_sequences(folder: Path, data: str) -> None:
    expected = table("proteins.fa")
    Path("other.fa").write_bytes(data.encode())
    options = ["--degap"] if "--" in data else []
    assert table("other.fa", *options) == expected


def test_lower_case_scores_the_same_and_survives(folder: Path) -> None:
    Path("lower.fa").write_text(fasta({name: s.lower() for name, s in PROTEINS.items()}))
    assert table("lower.fa") == table("proteins.fa")
    align("lower.fa", "-o", "x.fasta", "--quiet")
    letters = "".join(str(r.seq) for r in SeqIO.parse("x.fasta", "fasta"))
    assert letters
    assert letters == letters.lower()


def test_one_set_against_another(folder: Path) -> None:
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
def test_one_of_two_inputs_from_a_pipe(folder: Path, piped: int) -> None:
    arguments = ["proteins.fa", "proteins.fa"]
    align(*arguments, "-o", "x.tsv", "--quiet")
    arguments[piped] = "-"
    data = Path("proteins.fa").read_bytes()
    done = run("align", *arguments, "-o", "y.tsv", "--quiet", cwd=folder, input=data)
    assert (done.returncode, done.stderr) == (0, b"")
    assert Path("y.tsv").read_bytes() == Path("x.tsv").read_bytes()
    assert len(rows_of(Path("x.tsv").read_text())) == 16


def test_an_earlier_output_is_replaced(folder: Path) -> None:
    Path("x.tsv").write_text("before")
    assert len(table("proteins.fa")) == 6
    assert sorted(os.listdir()) == ["dna.fa", "proteins.fa", "table.tsv", "x.tsv"]


# Scoring


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_modes(folder: Path, few: Path, mode: str) -> None:
    """The same as from Python, and each kind of score at least that of the stricter one."""
    rows = table(few, "--mode", mode)
    found = pairalign.align(few, mode=mode)
    assert [row["score"] for row in rows] == [str(a.score) for a in found]
    assert [row["cigar"] for row in rows] == [a.cigar for a in found]
    strict = table(few)
    assert all(int(a["score"]) >= int(b["score"]) for a, b in zip(rows, strict, strict=True))
    assert all(row["query_start"] == "0" for row in strict)


def test_matrix_by_name_and_by_file(folder: Path, few: Path) -> None:
    matrix = substitution_matrices.load("BLOSUM50")
    Path("my.mat").write_text(str(matrix))
    options = ["--gap-open", "13", "--gap-extend", "2"]
    named = table(few, "--matrix", "BLOSUM50", *options)
    assert table(few, "--matrix", "my.mat", *options) == named
    assert table(few, "--matrix", "blosum50", *options) == named
    assert table(few, *options) != named


def test_match_and_mismatch(folder: Path) -> None:
    default = table("dna.fa")
    assert table("dna.fa", "--match", "2", "--mismatch", "-3") == default
    assert table("dna.fa", "--match=2", "--mismatch=-3") == default
    assert table("dna.fa", "--match", "5", "--mismatch", "-4") != default
    # Twelve equal letters and nothing else.
    Path("equal.fa").write_text(fasta({"x": "ACGTACGTTGCA", "y": "acguacguugca"}))
    (row,) = table("equal.fa", "--match", "1.5")
    assert (row["score"], row["cigar"]) == ("18", "12=")


def test_decimal_costs(folder: Path, few: Path) -> None:
    """EMBOSS's costs; ten times everything is ten times the score and the same alignment."""
    found = table(few, "--gap-open", "10", "--gap-extend", "0.5")
    assert any(row["score"].endswith(".5") for row in found)
    matrix = 10 * substitution_matrices.load("BLOSUM62")
    Path("ten.mat").write_text(str(matrix))
    tenfold = table(few, "--matrix", "ten.mat", "--gap-open", "100", "--gap-extend", "5")
    assert [row["cigar"] for row in found] == [row["cigar"] for row in tenfold]
    assert [10 * Decimal(row["score"]) for row in found] == [int(row["score"]) for row in tenfold]


def test_the_alphabet_may_be_said(folder: Path) -> None:
    Path("short.fa").write_text(fasta({"x": "ACCA", "y": "ACCA"}))
    assert table("short.fa")[0]["score"] == "8"
    assert table("short.fa", "--alphabet", "dna")[0]["score"] == "8"
    assert table("short.fa", "--alphabet", "protein")[0]["score"] == "26"


# Results


def test_scores_only(folder: Path) -> None:
    rows = table("proteins.fa", "--score-only")
    assert [list(row) for row in rows] == [["query", "target", "score"]] * 6
    every = table("proteins.fa")
    assert rows == [{name: row[name] for name in TSV_COLUMNS[:3]} for row in every]


@pytest.mark.parametrize("costs", [[], ["--gap-open", "10.5", "--gap-extend", "0.25"]])
@pytest.mark.parametrize("least", ["30", "31.5", "-4", "1e1", "-1e99", "1e99", "12.250001"])
def test_minimum_score(folder: Path, few: Path, least: str, costs: list[str]) -> None:
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
def test_bytes_do_not_depend_on_the_machine(
    folder: Path, few: Path, monkeypatch: pytest.MonkeyPatch, options: list[str] | dict[str, str]
) -> None:
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


def test_windows_order_the_pairs(folder: Path) -> None:
    """Longest first, windows row by row, pairs row by row inside."""
    for window, expected in (
        ("1", ["ab", "ad", "ac", "bd", "bc", "cd"]),
        ("2", ["ab", "ad", "ac", "bd", "bc", "cd"]),
        ("3", ["ab", "ad", "bd", "ac", "bc", "cd"]),
        ("1024", ["ab", "ad", "ac", "bd", "bc", "cd"]),
    ):
        rows = table("proteins.fa", "--window", window)
        assert [row["query"] + row["target"] for row in rows] == expected


def test_window_alone_changes_the_order_only(folder: Path, few: Path) -> None:
    expected = sorted(map(str, table(few)))
    for window in ("1", "5", "12"):
        assert sorted(map(str, table(few, "--window", window))) == expected


# Wrong usage: exit code 2, said before anything is read or written


def test_a_large_set_streams(folder: Path) -> None:
    """Pairs come in many pieces; all of them arrive, in order."""
    write_random_set(Path("many.fa"), 300, 20)
    align("many.fa", "-o", "x.tsv", "--quiet", "--memory", "8M", "--threads", "2")
    rows = rows_of(Path("x.tsv").read_text())
    order = pairalign.read_fasta("many.fa").order.tolist()
    pairs = [sorted((one, other)) for k, one in enumerate(order) for other in order[k + 1 :]]
    expected = [(f"s{i}", f"s{j}") for i, j in pairs]
    assert [(row["query"], row["target"]) for row in rows] == expected


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_memory_is_bounded(folder: Path) -> None:
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


def test_parquet_and_tsv_hold_the_same(folder: Path, few: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    align(few, "-o", "x.parquet", "--quiet", "--mode", "local")
    rows = table(few, "--mode", "local")
    columns = parquet.read_table("x.parquet").to_pydict()
    letters = "MIDNSHP=X"
    columns["cigar"] = [
        "".join(f"{one >> 4}{letters[one & 15]}" for one in runs) for runs in columns["cigar"]
    ]
    for name in TSV_COLUMNS:
        if name == "identity":
            found = [float(row[name]) for row in rows]
            assert np.allclose(found, columns[name], atol=5.01e-7, rtol=0)
        else:
            assert [row[name] for row in rows] == list(map(str, columns[name]))
