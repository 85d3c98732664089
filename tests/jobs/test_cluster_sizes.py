"""vsearch's --sizein and --sizeout, and clusters in the order of their abundance."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from commands import run

from pairalign import cluster
from pairalign.jobs.clusters.abundances import name_size

ASKED = ("cluster", "in.fa", "--min-identity", "0.9", "--order", "size", "-q")
SIZES = (9, 1, 4, 2)
TEXT = """>a;size=2
ACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT
>b;sample=S2;size=40; of a header
TTTTGGGGCCCCAAAATTTTGGGGCCCCAAAA
>c;size=7
TTTTGGGGCCCCAAAATTTTGGGGCCCCAAA
>d
GATTACAGATTACAGATTACA
"""


def reads() -> str:
    """Reads of six origins that are far apart, each with sizes of its own."""
    rng = np.random.default_rng(31)
    lines = []
    for origin in range(6):
        first = rng.choice(list("ACGT"), 200)
        for member in range(4 - origin % 2):
            one = first.copy()
            one[rng.choice(200, member, replace=False)] = "A"
            size = SIZES[member] * (1 + 5 * origin % 7) + origin
            lines.append(f">S{member % 2}_{origin}{member};size={size}\n{''.join(one)}\n")
    return "".join(rng.permutation(lines).tolist())


def headers(path: Path) -> list[str]:
    return [line[1:] for line in path.read_text().splitlines() if line.startswith(">")]


def sizes_of_uc(path: Path) -> dict[str, int]:
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {row[8]: int(row[2]) for row in rows if row[0] == "C"}


@pytest.mark.skipif(shutil.which("vsearch") is None, reason="vsearch is not installed")
@pytest.mark.parametrize("given", [(), ("--sizein",), ("--sizeout",), ("--sizein", "--sizeout")])
def test_sizes_are_those_of_vsearch(given, tmp_path):
    (tmp_path / "in.fa").write_text(reads())
    theirs = ("--id", "0.9", "--centroids", "their.fa", "--uc", "their.uc", "--quiet")
    subprocess.run(
        ["vsearch", "--cluster_size", "in.fa", *theirs, *given], cwd=tmp_path, check=True
    )
    done = run(*ASKED, *given, "-o", "our.uc", "--representatives", "our.fa", cwd=tmp_path)
    assert done.returncode == 0
    ours = headers(tmp_path / "our.fa")
    assert len(ours) == 6
    assert set(ours) == set(headers(tmp_path / "their.fa"))
    assert sizes_of_uc(tmp_path / "our.uc") == sizes_of_uc(tmp_path / "their.uc")


@pytest.mark.parametrize(
    ("given", "names", "sizes"),
    [
        ((), ["a;size=2", "b;sample=S2;size=40; of a header", "d"], [1, 2, 1]),
        (("--sizein",), ["a;size=2", "b;sample=S2;size=40; of a header", "d"], [2, 47, 1]),
        (("--sizeout",), ["a;size=1", "b;sample=S2;size=2 of a header", "d;size=1"], [1, 2, 1]),
        (
            ("--sizein", "--sizeout"),
            ["a;size=2", "b;sample=S2;size=47 of a header", "d;size=1"],
            [2, 47, 1],
        ),
    ],
)
def test_sums(given, names, sizes, tmp_path):
    (tmp_path / "in.fa").write_text(TEXT)
    done = run(*ASKED, *given, "-o", "c.uc", "--representatives", "c.fa", cwd=tmp_path)
    assert done.returncode == 0
    assert headers(tmp_path / "c.fa") == names
    assert list(sizes_of_uc(tmp_path / "c.uc").values()) == sizes
    run(*ASKED, *given, "-o", "only.fa", cwd=tmp_path)
    assert (tmp_path / "only.fa").read_text() == (tmp_path / "c.fa").read_text()


def test_clusters_in_the_order_of_abundance(tmp_path):
    (tmp_path / "in.fa").write_text(reads())
    tables = {}
    for by in ("length", "size"):
        run(*ASKED, "--clusters-by", by, "-o", f"{by}.otutab", cwd=tmp_path)
        header, *tables[by] = (tmp_path / f"{by}.otutab").read_text().splitlines()
        assert header == "#OTU ID\tS0\tS1"
    sums = {row: sum(map(int, row.split("\t")[1:])) for row in tables["length"]}
    assert len(set(sums.values())) == 6
    assert tables["size"] == sorted(sums, key=lambda row: -sums[row]) != tables["length"]


def test_clusters_by_abundance_are_the_same_clusters(tmp_path):
    (tmp_path / "in.fa").write_text(reads())
    found = cluster(tmp_path / "in.fa", min_identity=0.9, linkage="single")
    ranked = found.by_abundance()
    assert sorted(found) == sorted(ranked)
    assert list(found) != list(ranked)
    assert ranked.cluster_abundances.tolist() == sorted(found.cluster_abundances, reverse=True)
    assert ranked.labels[ranked.representatives].tolist() == list(range(len(ranked)))
    assert (ranked.identity == found.identity).all()
    assert (np.diff(ranked.labels[ranked.order]) >= 0).all()
    assert (np.diff(ranked.labels[ranked.alignments.query]) >= 0).all()


@pytest.mark.parametrize(
    ("given", "text", "said"),
    [
        (("--sizein",), ">a\nACGT\n", b"no header has ;size="),
        (("--clusters-by", "size"), ">a\nACGT\n", b"no header has ;size="),
        (("--order", "size"), ">a\nACGT\n", b"no header has ;size="),
        (("--sizeout",), ">a;size=3\nACGT\n", b"which --sizeout counts with --sizein alone"),
        (("--sizeout",), ">a\nACGT\n", b"which are not written: --representatives"),
    ],
)
def test_what_sizes_lack_is_said(given, text, said, tmp_path):
    (tmp_path / "in.fa").write_text(text)
    done = run("cluster", "in.fa", "--min-identity", "1", "-o", "c.uc", *given, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ("a", "a;size=8"),
        ("a b c", "a;size=8 b c"),
        ("a;size=1;ee=0.5;", "a;ee=0.5;size=8"),
        ("a;size=1;size=2;", "a;size=8"),
        ("a b;size=3", "a;size=8 b"),
        ("a; size=3", "a;size=8"),
        ("size=3;a", "size=3;a;size=8"),
        ("", ";size=8"),
    ],
)
def test_sizes_in_headers(header, named):
    assert name_size(header, 8) == named
