"""Audits list each pair that breaks a promise, and no other, as all alignments say."""

import csv
import io
import random
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from brute_splits import brute_identities
from commands import run
from family_sets import families

import pairalign
from pairalign.cli.main import main

LEAST = Fraction(4, 5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    (folder / "in.fa").write_text("".join(f">{n} of a test\n{s}\n" for n, s in GIVEN.items()))
    return folder


GIVEN = families(11, count=40, length=60)
NAMES = list(GIVEN)
VALUES = brute_identities(GIVEN, "global", "full")


def audit(folder: Path, *arguments: str, least: Fraction = LEAST) -> tuple[int, list[dict]]:
    files, options = arguments[:2], arguments[2:]
    output = folder / "violations.csv"
    output.unlink(missing_ok=True)
    given = ["audit", *(str(folder / file) for file in files), *options, "-o", str(output)]
    code = main([*given, "--min-identity", str(float(least)), "--device", "cpu", "-q"])
    return code, list(csv.DictReader(io.StringIO(output.read_text())))


def expected_across(groups: dict[str, str]) -> set[frozenset[str]]:
    return {
        pair
        for pair, identity in VALUES.items()
        if identity >= LEAST and len({groups.get(name) for name in pair} - {None}) == 2
    }


def check(rows: list[dict], groups: dict[str, str], leaders: dict[str, str] | None) -> None:
    across = [row for row in rows if row["violation"] == "across"]
    under = [row for row in rows if row["violation"] == "under"]
    assert len(across) + len(under) == len(rows)
    assert {frozenset((row["name"], row["other"])) for row in across} == expected_across(groups)
    assert len(across) == len(expected_across(groups))
    fails = {
        (name, leader)
        for name, leader in (leaders or {}).items()
        if name != leader and VALUES[frozenset((name, leader))] < LEAST
    }
    assert {(row["name"], row["other"]) for row in under} == fails
    for row in rows:
        identity = VALUES[frozenset((row["name"], row["other"]))]
        assert float(row["identity_full"]) == pytest.approx(float(identity), abs=5e-7)


FOLDS = {name: "abc"[k % 3] for k, name in enumerate(NAMES) if k % 7}
LEADERS = {name: NAMES[k - k % 4] for k, name in enumerate(NAMES)}


def test_folds(folder):
    lines = "".join(f"{name},{fold}\n" for name, fold in FOLDS.items())
    (folder / "folds.csv").write_text("name,fold\n" + lines)
    code, rows = audit(folder, "folds.csv", "in.fa")
    assert code == 1
    check(rows, FOLDS, None)
    # GraphPart's table
    lines = "".join(f"{name},False,0,0,{ord(fold) - 97}.0\n" for name, fold in FOLDS.items())
    (folder / "gp.csv").write_text("AC,priority,label-val,between_connectivity,cluster\n" + lines)
    check(audit(folder, "gp.csv", "in.fa")[1], FOLDS, None)


def test_clusters_of_other_programs(folder, capfd):
    number = {leader: k for k, leader in enumerate(dict.fromkeys(LEADERS.values()))}
    (folder / "x.tsv").write_text("".join(f"{r}\t{n}\n" for n, r in LEADERS.items()))
    clstr, uc = "", ""
    for leader, k in number.items():
        clstr += f">Cluster {k}\n"
        for at, name in enumerate(n for n, r in LEADERS.items() if r == leader):
            place = "*" if name == leader else "at +/97.00%"
            clstr += f"{at}\t60nt, >{name}... {place}\n"
            kind, other = ("S", "*") if name == leader else ("H", leader)
            uc += f"{kind}\t{k}\t60\t97.0\t+\t0\t0\t*\t{name}\t{other}\n"
        uc += f"C\t{k}\t4\t*\t*\t*\t*\t*\t{leader}\t*\n"
    (folder / "x.clstr").write_text(clstr)
    (folder / "x.uc").write_text(uc)
    for file in ("x.tsv", "x.clstr", "x.uc"):
        code, rows = audit(folder, file, "in.fa")
        assert code == 1
        check(rows, LEADERS, LEADERS)
        code, rows = audit(folder, file, "in.fa", "--across", "none")
        assert {row["violation"] for row in rows} == {"under"}
    asked = ("audit", "-", "in.fa", "--from", "uc", "-o", "-", "--min-identity", "0.8")
    done = run(*asked, "--across", "none", cwd=folder, input=(folder / "x.uc").read_bytes())
    assert done.stdout.decode().splitlines() == (folder / "violations.csv").read_text().splitlines()
    said = f"{len(rows)} members not reaching it with the representative, from"
    assert said in done.stderr.decode()
    capfd.readouterr()
    audit(folder, "x.uc", "in.fa", "--explain")
    assert "of 780 pairs dropped" in capfd.readouterr().err


def test_what_split_and_cluster_promise(folder):
    for command in (
        ("split", "in.fa", "-o", "ours.csv", "--folds", "3", "--tolerance", "0.3"),
        *(
            ("cluster", "in.fa", "-o", f"ours.{end}", "--linkage", "single")
            for end in ("tsv", "uc", "clstr")
        ),
    ):
        done = run(*command, "--min-identity", "0.8", "--device", "cpu", cwd=folder)
        assert done.returncode == 0, done.stderr
    assert audit(folder, "ours.csv", "in.fa") == (0, [])
    for file in ("ours.tsv", "ours.uc", "ours.clstr"):
        _, rows = audit(folder, file, "in.fa")
        assert "across" not in {row["violation"] for row in rows}


@pytest.mark.parametrize(
    ("program", "command", "file"),
    [
        ("vsearch", "--cluster_fast in.fa --id 0.8 --uc p.uc --minseqlength 1", "p.uc"),
        ("cd-hit-est", "-i in.fa -o p -c 0.8 -n 5", "p.clstr"),
        ("mmseqs", "easy-cluster in.fa p tmp --min-seq-id 0.8 --threads 1 -k 5", "p_cluster.tsv"),
    ],
)
def test_files_of_programs(folder, program, command, file):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    done = subprocess.run([program, *command.split()], cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr
    _, rows = audit(folder, file, "in.fa")
    groups: dict[str, str] = {}
    text = (folder / file).read_text()
    if file.endswith("tsv"):
        groups = {n: r for r, n in (line.split("\t") for line in text.splitlines())}
    elif file.endswith("uc"):
        fields = [line.split("\t") for line in text.splitlines()]
        groups = {f[8]: f[1] for f in fields if f[0] in "SH"}
    else:
        for line in text.splitlines():
            if line.startswith(">"):
                cluster = line
            else:
                groups[line.split(">")[1].split("...")[0]] = cluster
    assert set(groups) == set(NAMES)
    across = {frozenset((r["name"], r["other"])) for r in rows if r["violation"] == "across"}
    assert across == expected_across(groups)


def test_names_that_programs_cut(tmp_path):
    sequences = pairalign.SequenceSet.from_strings(
        {
            **{"sp|P1|A_HUMAN": "MKVLA", "P2|kind=x": "MKVLW", "a_very_long_name;size=3": "MKWLA"},
            **{"gi|7|gb|AAP1.1|": "MKVLV", "gnl|own|q1": "MKVLV"},  # as MMseqs2 names them
        }
    )
    from pairalign.clusters.groups import Membership, make_groups

    said = [("P1", "1"), ("P2", "1"), ("a_very...", "2"), ("AAP1.1", "2"), ("q1", "1")]
    lines = [Membership(name, group, None, k) for k, (name, group) in enumerate(said, 1)]
    groups = make_groups(sequences, lines, "x")
    assert groups.labels.tolist() == [0, 0, 1, 1, 0]


def test_a_representative_that_is_named_as_one_alone_is_a_member(folder):
    lines = [f"{leader}\t{name}\n" for name, leader in LEADERS.items() if name != leader]
    (folder / "others.tsv").write_text("".join(lines))
    check(audit(folder, "others.tsv", "in.fa")[1], LEADERS, LEADERS)


def test_both_strands(tmp_path):
    rng = random.Random(8)
    other = str.maketrans("ACGT", "TGCA")
    reads = {}
    for k in range(4):
        read = "".join(rng.choices("ACGT", k=80))
        for copy in range(3):
            own = "".join(rng.choice("ACGT") if rng.random() < 0.05 else base for base in read)
            reads[f"r{k}_{copy}"] = own.translate(other)[::-1] if copy == 1 else own
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in reads.items()))
    made = ["cluster", str(tmp_path / "in.fa"), "--min-identity", "0.8", "-q"]
    assert main([*made, "--strand", "both", "-o", str(tmp_path / "c.uc")]) == 0
    code, rows = audit(tmp_path, "c.uc", "in.fa")
    assert code == 1
    assert {row["violation"] for row in rows} == {"under"}
    assert audit(tmp_path, "c.uc", "in.fa", "--strand", "both") == (0, [])
    asked = "--folds", "4", "--tolerance", "1", "--min-identity", "0.8", "-q"
    for strand, expected in (("plus", 1), ("both", 0)):
        output, report = (str(tmp_path / f"f.{end}") for end in ("csv", "html"))
        options = "--strand", strand, "--report", report
        assert main(["split", str(tmp_path / "in.fa"), *asked, *options, "-o", output]) == 0
        assert audit(tmp_path, "f.csv", "in.fa", "--strand", "both")[0] == expected


def test_bad_input_is_no_violation(folder):
    (folder / "one.csv").write_text(f"name,fold\n{NAMES[0]},0\n")
    (folder / "broken.fa").write_text(">a\nMKV\n>a\nMKV\n")
    asked = ("--min-identity", "0.8", "-o", "v.csv")
    for groups, sequences in (
        ("one.csv", "none.fa"),
        ("none.csv", "in.fa"),
        ("one.csv", "broken.fa"),
    ):
        done = run("audit", groups, sequences, *asked, cwd=folder)
        assert (done.returncode, done.stderr.count(b"error")) == (2, 1)


def test_the_table_of_cluster_with_abundances(tmp_path):
    reads = {f"r{k};size={k + 1}": text for k, text in enumerate(families(3, 6, 60).values())}
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in reads.items()))
    asked = ("in.fa", "--min-identity", "0.8", "--linkage", "single")
    assert run("cluster", *asked, "-o", "c.tsv", cwd=tmp_path).returncode == 0
    assert "abundance" in (tmp_path / "c.tsv").read_text().partition("\n")[0]
    done = run(
        "audit", "c.tsv", *asked[:3], "-o", "v.csv", "--identity-of", "columns", cwd=tmp_path
    )
    assert done.returncode in (0, 1), done.stderr
    assert "across" not in (tmp_path / "v.csv").read_text().partition("\n")[2]
    done = run("cluster", *asked, "--extend", "c.tsv", "-o", "d.tsv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c.tsv").read_bytes() == (tmp_path / "d.tsv").read_bytes()


LEAK = {"a": "MKVLAAGIVGLLLAQWERTYH", "b": "MKWWWQERTPLIASDF", "c": "MKVLAAGIVGLLLAQWERTYA"}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("f.csv", "name,fold\na,train\na,test\nb,train\n", [("a", "train", "a", "test")]),
        (
            "f.csv",
            "name,fold\na,x\na,y\na,z\n",
            [("a", "x", "a", "y"), ("a", "x", "a", "z"), ("a", "y", "a", "z")],
        ),
        ("f.csv", "name,fold\na,x\na,y\nc,y\n", [("a", "x", "a", "y"), ("a", "x", "c", "y")]),
        ("c.tsv", "b\tb\nc\tc\nb\tc\n", [("c", "b", "c", "c")]),
    ],
)
def test_a_sequence_in_two_groups_is_a_violation(tmp_path, name, text, expected):
    """However short it is: with itself it is the same sequence."""
    groups = tmp_path / name
    groups.write_text(text)
    found = pairalign.audit(groups, LEAK, min_identity=0.9, device="cpu")
    across = [row[1:5] for row in found if row[0] == "across"]
    assert across == expected
    path = tmp_path / "s.fa"
    path.write_text("".join(f">{key}\n{value}\n" for key, value in LEAK.items()))
    run = ["audit", str(groups), str(path), "-q", "--min-identity", "0.9", "-o"]
    assert main([*run, str(tmp_path / "out.csv")]) == 1
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + len([*found])


def test_a_table_with_sequences_has_one_in_two_folds(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("".join(["name,seq,fold\n", *(f"a,{LEAK['a']},{k}\n" for k in ("x", "y"))]))
    run = ["audit", str(table), "--sequence-column", "seq", "-q", "-o", str(tmp_path / "out.csv")]
    assert main(run) == 1
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == ["across,a,x,a,y,1.000000"]


def test_what_python_has_is_audited():
    """Splits and clusters with their own thresholds; names and folds."""
    with pytest.raises(pairalign.errors.UsageError, match="a split or clusters alone"):
        pairalign.audit({"a": "x"})
    parts = pairalign.split(LEAK, min_identity=0.5, folds=2, tolerance=0.9, device="cpu")
    assert len(pairalign.audit(parts, device="cpu")) == 0
    moved = replace(parts, folds=np.array([0, 1, 1], np.int32))
    assert [row[1:5] for row in pairalign.audit(moved, device="cpu")] == [("a", "0", "c", "1")]
    clusters = pairalign.cluster(LEAK, min_identity=0.9, device="cpu")
    assert len(pairalign.audit(clusters, device="cpu")) == 0
    wrong = replace(clusters, labels=np.array([0, 0, 1], np.int32))
    kinds = {row[0] for row in pairalign.audit(wrong, device="cpu")}
    assert kinds == {"across", "under"}
    for folds in ({"a": 0, "b": 1, "c": 1}, {"a": "x", "b": "y", "c": "y"}):
        found = pairalign.audit(folds, LEAK, min_identity=0.5, device="cpu")
        first, second = str(folds["a"]), str(folds["c"])
        assert [row[1:5] for row in found] == [("a", first, "c", second)]
    with pytest.raises(pairalign.errors.SplitError, match="no sequence 'z'"):
        pairalign.audit({"a": "x", "z": "y"}, LEAK, device="cpu")
    with pytest.raises(pairalign.errors.UsageError, match="read_as='folds'"):
        pairalign.audit({"a": "x", "b": "y", "c": "z"}, LEAK, device="cpu")
    assert len(pairalign.audit(LEAK, LEAK, min_identity=0.9, device="cpu")) == 5  # train and test


def test_the_identity_of_pairs_that_need_no_threshold_is_counted():
    folds = {"a": 0, "b": 1, "c": 1}
    options = {"min_identity": 0, "identity_of": "internal", "device": "cpu"}
    assert len(pairalign.audit(folds, LEAK, **options)) == 2
