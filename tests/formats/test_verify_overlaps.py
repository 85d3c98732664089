"""`pairalign verify` finds planted errors in GFA and in abc."""

import random
import re

import numpy as np
import pytest
from commands import fasta
from verifying import align, family, verify

from pairalign.cli.main import main


@pytest.fixture
def folder(here):
    rng = np.random.default_rng(4)
    genome = "".join(rng.choice(list("ACGT"), 900))
    other = str.maketrans("ACGT", "TGCA")
    reads = {}
    spans = ((0, 300), (150, 450), (300, 700), (320, 600), (550, 900))
    for k, (start, stop) in enumerate(spans):
        read = genome[start : start + 60] + genome[start + 61 : start + 100] + "A"
        read += genome[start + 100 : stop]
        reads[f"r{k}"] = read[::-1].translate(other) if k % 2 else read
    (here / "r.fa").write_text(fasta(reads))
    (here / "p.fa").write_text(fasta(family("protein")))
    return here


def written_gfa(folder):
    assert main(["overlap", "r.fa", "-o", "a.gfa", "--min-overlap", "50", "--quiet"]) == 0
    return (folder / "a.gfa").read_text()


def test_own_gfa_is_legal(folder):
    text = written_gfa(folder)
    rows = verify("a.gfa", "r.fa")
    assert {row["verdict"] for row in rows} == {"ok"}
    lines = text.splitlines()
    assert len(rows) == sum(line[0] in "LC" for line in lines) > 4
    assert any(line[0] == "C" for line in lines)
    assert len({tuple(line.split("\t")[2:5:2]) for line in lines if line[0] == "L"}) > 2
    # The columns are those of overlaps: nearly all bases match.
    assert all(int(row["score"]) > 60 for row in rows)


@pytest.mark.parametrize(
    ("kind", "place", "value", "verdict"),
    [
        ("L", 1, "zz", "target"),
        ("L", 3, "zz", "query"),
        ("L", 2, "x", "truncated"),
        ("L", 4, "", "truncated"),
        ("L", 5, "900M", "number"),
        ("L", 5, "50", "cigar"),
        ("L", 5, "*", "cigar"),
        ("C", 1, "zz", "target"),
        ("C", 5, "x", "number"),
        ("C", 5, "399", "target_span"),
        ("C", 6, "30M", "query_cigar"),
        ("C", 6, "30Q", "cigar"),
        ("L", 6, "NM:i:99", "edits_of_part"),
        ("L", 6, "NM:i:0", "edits_of_part"),
        ("L", 6, "NM:i:", "number"),
        ("L", 6, "NM:i:1\tNM:i:1", "number"),
    ],
)
def test_planted_in_links(folder, kind, place, value, verdict):
    lines = written_gfa(folder).splitlines()
    number = next(k for k, line in enumerate(lines) if line[0] == kind)
    words = lines[number].split("\t")
    words[place] = value
    lines[number] = "\t".join(words)
    (folder / "x.gfa").write_text("\n".join(lines) + "\n")
    rows = verify("x.gfa", "r.fa", code=1)
    (row,) = [row for row in rows if row["verdict"] != "ok"]
    assert row["line"] == str(number + 1)
    assert verdict in row["verdict"].split(",")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("S\tr0\t", "S\tzz\t", "line 2: segment 'zz' is none of the sequences"),
        ("LN:i:300", "LN:i:301", "line 2: segment 'r0' has LN:i:301 and 300 residues"),
        ("S\tr0\tC", "S\tr0\tCC", "line 2: segment 'r0' is none of the sequences, or has other"),
    ],
)
def test_planted_in_segments(folder, capfd, old, new, message):
    text = written_gfa(folder)
    if old.endswith("C"):
        old, new = old[:-1], f"{old[:-1]}A"
    (folder / "x.gfa").write_text(text.replace(old, new, 1))
    assert main(["verify", "x.gfa", "r.fa", "-o", "found.tsv"]) == 1
    assert message in capfd.readouterr().err


COSTS = [
    ("local", 1, -1, 2, 1),  # noisy reads
    ("local", 1, -3, 5, 2),
    ("local", 2, -3, 5, 1),
    ("semiglobal", 1, -2, 3, 1),
]


def _move(runs):
    """Move a gap to the right or to the left by nine columns, where there are so many."""
    left, right = int(runs[1]), int(runs[3])
    by = 9 if right > 9 else -9 if left > 9 else 0
    return f"{left + by}{runs[2]}{right - by}M"


@pytest.mark.parametrize("alphabet", ["ACGT", "ACGT" * 9 + "N"])
@pytest.mark.parametrize(("mode", "match", "mismatch", "gap_open", "gap_extend"), COSTS)
def test_edits_of_overlaps(here, mode, match, mismatch, gap_open, gap_extend, alphabet):
    """Ends that hang over, and second overlaps of a pair, are legal; moved gaps are not."""
    draw = random.Random(match - mismatch)
    unit = "".join(draw.choices(alphabet, k=40))
    ends = ["".join(draw.choices(alphabet, k=250)) for _ in range(2)]
    genome = ends[0] + 3 * unit + ends[1]
    reads = {}
    for k in range(9):
        start = 60 * k
        read = [one for one in genome[start : start + 140] if draw.random() > 0.02]
        read = [draw.choice(alphabet) if draw.random() < 0.02 else one for one in read]
        if mode == "local":
            read = [*draw.choices(alphabet, k=8), *read, *draw.choices(alphabet, k=8)]
        reads[f"r{k}"] = "".join(read)
    (here / "r.fa").write_text(fasta(reads))
    costs = ["--match", match, "--mismatch", mismatch, "--gap-open", gap_open]
    costs = [str(one) for one in (*costs, "--gap-extend", gap_extend)]
    least = ["--min-overlap", "30", "--min-score", "15", "--min-identity", "0.6"]
    least += ["--max-overhang", "40"] if mode == "local" else []
    run = ["overlap", "r.fa", "-o", "a.gfa", "--mode", mode, *least, *costs, "--device", "cpu"]
    assert main([*run, "--quiet"]) == 0
    costs += ["--mode", mode]
    rows = verify("a.gfa", "r.fa", *costs)
    assert len(rows) > 3
    assert {row["verdict"] for row in rows} == {"ok"}
    lines = (here / "a.gfa").read_text().splitlines()
    moved = [re.sub(r"\b(\d+)(M\d+[ID])(\d+)M", _move, line) for line in lines]
    (here / "x.gfa").write_text("\n".join(moved))
    verdicts = {row["line"]: row["verdict"] for row in verify("x.gfa", "r.fa", *costs, code=1)}
    changed = [str(k + 1) for k in range(len(lines)) if lines[k] != moved[k]]
    wrong = [line for line in changed if verdicts[line] == "edits_of_part"]
    assert len(wrong) > len(changed) / 2  # others differ as much as they say, by chance
    assert {row["verdict"] for row in verify("x.gfa", "r.fa", "--ignore-scores")} == {"ok"}


def test_columns_that_are_moved_by_one(here):
    draw = random.Random(2)
    read = "".join(draw.choices("ACGT", k=90))
    reads = {"a": read[:50], "b": f"{read[10:16]}{read[17:]}"}
    (here / "r.fa").write_text(fasta(reads))
    costs = "--match", "1", "--mismatch", "-3", "--gap-open", "5", "--gap-extend", "2"
    verdicts = {}
    for cigar in ("6M1D33M", "5M1D33M", "7M1D33M"):
        (here / "x.gfa").write_text(
            f"H\tVN:Z:1.0\nS\ta\t{reads['a']}\nS\tb\t{reads['b']}\nL\ta\t+\tb\t+\t{cigar}\tNM:i:1\n"
        )
        code = int(cigar != "6M1D33M")
        verdicts[cigar] = verify("x.gfa", "r.fa", *costs, code=code)[0]["verdict"]
    assert verdicts == {"6M1D33M": "ok", "5M1D33M": "edits_of_part", "7M1D33M": "edits_of_part"}


def test_own_networks_are_legal(folder):
    align("p.fa", "-o", "a.abc", "--mode", "local")
    rows = verify("a.abc", "p.fa", "--mode", "local", "--optimal")
    assert len(rows) == 36
    assert {(row["verdict"], row["below"]) for row in rows} == {("ok", "*")}


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [("s|0\t", "zz\t", "query"), ("s|3\t0", "s|3\t-0", "number"), ("s|3\t0", "s|3\tx0", "number")],
)
def test_planted_in_networks(folder, old, new, verdict):
    align("p.fa", "-o", "a.abc", "--mode", "local")
    text = (folder / "a.abc").read_text()
    assert old in text
    (folder / "x.abc").write_text(text.replace(old, new, 1))
    rows = verify("x.abc", "p.fa", code=1)
    assert verdict in {one for row in rows for one in row["verdict"].split(",")}
