"""Abundances of headers: the order of representatives, tables of samples, reports."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from commands import run
from plain_clusters import canonical, plain_greedy, plain_values

from pairalign import SequenceSet, cluster, make_scoring
from pairalign.base.error_types import FastaError
from pairalign.cli.main import main
from pairalign.jobs.clusters.abundances import read_abundances, sample_of

TEXT = """>S1_1;size=3;
ACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT
>S2_7;size=40
ACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACG
>x;sample=S1;size=5 of a header
TTTTGGGGCCCCAAAATTTTGGGGCCCCAAAA
>S2_9
TTTTGGGGCCCCAAAATTTTGGGGCCCCAAA
"""


def reads(seed: int) -> dict[str, str]:
    """Reads of three origins that were seen 1 to 4 times."""
    rng = np.random.default_rng(seed)
    origins = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(3)]
    made = {}
    for number in range(30):
        letters = list(origins[number % 3])
        for place in rng.integers(0, 30, 3):
            letters[place] = rng.choice(["A", "C", "G", "T", ""])
        size = int(rng.integers(1, 5))
        made[f"r{number};size={size}" if size > 1 else f"r{number}"] = "".join(letters)
    return made


def by_abundance(given: dict[str, str]) -> list[str]:
    sizes = {name: int(name.partition(";size=")[2] or 1) for name in given}
    return sorted(canonical(given), key=lambda name: -sizes[name])


@pytest.mark.parametrize("seed", range(4))
def test_what_was_seen_most_often_comes_first(seed):
    given, scoring, least = reads(seed), make_scoring("dna"), Fraction(85, 100)
    values = plain_values(given, scoring, "columns")
    members = plain_greedy(by_abundance(given), values, least)
    asked = {"min_identity": "85%", "order": "size", "scoring": scoring, "device": "cpu"}
    found = cluster(given, **asked)
    names = found.sequences.names
    assert {names[k] for k in found.representatives.tolist()} == set(members)
    assert {frozenset(one) for one in found} == {frozenset(one) for one in members.values()}
    assert len(members) > 3
    back = cluster(dict(reversed(given.items())), **asked)
    assert list(back) == list(found)


def test_without_sizes_the_order_is_that_of_lengths():
    given = {name.split(";")[0]: letters for name, letters in reads(1).items()}
    found = [list(cluster(given, min_identity=0.9, order=one)) for one in ("length", "size")]
    assert found[0] == found[1]


def test_tables(tmp_path):
    (tmp_path / "in.fa").write_text(TEXT)
    asked = ("cluster", "in.fa", "--min-identity", "0.9", "-q", "-o", "-", "--format")
    done = run(*asked, "otutab", cwd=tmp_path)
    assert done.stdout.decode() == "#OTU ID\tS1\tS2\nS1_1\t3\t40\nx\t5\t1\n"
    done = run(*asked, "otutab", "--order", "size", cwd=tmp_path)
    assert done.stdout.decode() == "#OTU ID\tS1\tS2\nS2_7\t3\t40\nx\t5\t1\n"
    header, first, *_ = run(*asked, "tsv", cwd=tmp_path).stdout.decode().splitlines()
    assert header.split("\t")[:4] == ["cluster", "size", "abundance", "representative"]
    assert first.split("\t")[:3] == ["0", "2", "43"]
    (tmp_path / "in.fa").write_text(TEXT.replace(";size", ";number"))
    header = run(*asked, "tsv", cwd=tmp_path).stdout.decode().splitlines()[0]
    assert header.split("\t")[:3] == ["cluster", "size", "representative"]


@pytest.mark.parametrize("version", ["biom", "biom2"])
def test_biom_has_the_counts_of_otutab(version, tmp_path):
    """As the biom-format package reads it, and with names that JSON must escape."""
    biom = pytest.importorskip("biom")
    (tmp_path / "in.fa").write_text(TEXT.replace("x;", 'x"\\;'))
    asked = ("cluster", "in.fa", "--min-identity", "0.9", "-q")
    for ending in ("otutab", version):
        assert run(*asked, "-o", f"t.{ending}", cwd=tmp_path).returncode == 0
    table = biom.load_table(str(tmp_path / f"t.{version}"))
    header, *rows = (tmp_path / "t.otutab").read_text().splitlines()
    assert table.ids("sample").tolist() == header.split("\t")[1:]
    names = [row.split("\t")[0] for row in rows]
    assert table.ids("observation").tolist() == names
    counts = [[float(count) for count in row.split("\t")[1:]] for row in rows]
    assert table.matrix_data.toarray().tolist() == counts
    assert table.type == "OTU table"
    before = (tmp_path / f"t.{version}").read_bytes()
    assert run(*asked, "-o", f"t.{version}", "-t", "2", cwd=tmp_path).returncode == 0
    assert (tmp_path / f"t.{version}").read_bytes() == before


def test_biom_is_refused_before_anything_is_done(here, monkeypatch, capsys):
    (here / "in.fa").write_text(TEXT)
    asked = ["cluster", "in.fa", "--min-identity", "0.9", "-q", "--format", "biom2", "-o"]
    assert main([*asked, "x.biom.gz"]) == 2
    assert "leave .gz or .zst out" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "biom", None)
    assert main([*asked, "x.biom"]) == 2
    assert "pip install 'pairalign[biom]'" in capsys.readouterr().err
    assert [one.name for one in here.iterdir()] == ["in.fa"]


def test_names_of_clusters_stay_different(tmp_path):
    (tmp_path / "in.fa").write_text(">a;1\nAAAAAAAA\n>a;2\nCCCCCCC\n")
    asked = ("cluster", "in.fa", "--min-identity", "0.9", "-q", "-o", "t.otutab")
    assert run(*asked, cwd=tmp_path).returncode == 0
    assert (tmp_path / "t.otutab").read_text() == "#OTU ID\tall\na;1\t1\na;2\t1\n"


def test_report_has_clusters(tmp_path):
    pytest.importorskip("jinja2")
    (tmp_path / "in.fa").write_text(TEXT)
    asked = ("cluster", "in.fa", "--min-identity", "0.9", "-o", "c.uc", "--report", "c.html")
    assert run(*asked, cwd=tmp_path).returncode == 0
    page = (tmp_path / "c.html").read_text()
    for text in (
        "The largest clusters",
        "Abundance",
        "S1_1;size=3;",
        "Size of the clusters",
        "97.7%",
    ):
        assert text in page


@pytest.mark.parametrize(
    ("header", "sample"),
    [
        ("r;sample=S1;size=3", "S1"),
        ("r;size=3;barcodelabel=B2;", "B2"),
        ("L1S203.273731_515 orig=2", "L1S203.273731"),
        ("read1", "all"),
        ("_1", "all"),
        ("S_1_17", "S_1"),
        ("S_2_17;size=4", "S_2"),
        ("ERR12.7 of a run", "ERR12"),
        ("site_A;size=3", "site_A"),
        ("site_B-x", "site_B"),
        ("sample=S_1;r1", "S_1"),
        ("r;xsample=S1", "all"),
    ],
)
def test_samples(header, sample):
    assert sample_of(header) == sample


@pytest.mark.parametrize("size", ["0", "x", "-1", "", "1.5", "9" * 30, "9" * 5000])
def test_sizes_that_are_none(size):
    given = SequenceSet.from_strings({"a": "ACGT", f"b;size={size}": "ACG"})
    with pytest.raises(FastaError, match="record 2 'b;size="):
        read_abundances(given)


def test_samples_are_never_merged_in_silence(tmp_path):
    letters = "ACGTACGTTTGGCCAAACGTACGTACGGTTCA"
    asked = ("cluster", "in.fa", "--min-identity", "0.9", "-o", "t.otutab")
    for names, header, said in (
        (
            ("S_1_1", "S_1_2", "S_2_1"),
            "S_1\tS_2",
            b"3 of 3 headers have no ;sample=: by their names ",
        ),
        (("a_1;sample=S_1", "b_1;sample=S_2", "c"), "S_1\tS_2\tall", b"1 of 3 headers"),
        (("a;sample=S_1", "b;sample=S_1", "c;sample=S_2"), "S_1\tS_2", b""),
    ):
        (tmp_path / "in.fa").write_text("".join(f">{name}\n{letters}\n" for name in names))
        done = run(*asked, cwd=tmp_path)
        assert done.returncode == 0
        assert (tmp_path / "t.otutab").read_text().splitlines()[0] == f"#OTU ID\t{header}"
        assert said in done.stderr
        assert (b"headers have no" in done.stderr) == bool(said)


@pytest.mark.parametrize(
    ("lengths", "more", "said"),
    [
        ((40, 60), (), True),
        ((59, 60), (), False),
        ((40, 60), ("--identity-of", "shorter", "--mode", "semiglobal"), False),
    ],
)
def test_lengths_that_mislead_are_said(lengths, more, said, tmp_path):
    letters = "ACGTTGCAAC" * 6
    reads = (f">r{k}\n{letters[: lengths[k % 2]]}\n" for k in range(10))
    (tmp_path / "in.fa").write_text("".join(reads))
    done = run("cluster", "in.fa", "--min-identity", "0.97", *more, "-o", "c.uc", cwd=tmp_path)
    assert done.returncode == 0
    assert (b"identical by all columns" in done.stderr) == said
