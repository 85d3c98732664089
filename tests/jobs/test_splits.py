"""Splits: no pair across folds reaches the threshold, as all alignments say; bounds are bounds."""

import csv
import io
import json
import random
from fractions import Fraction

import pytest
from brute_splits import brute_identities
from commands import run
from conftest import examples
from family_sets import families
from hypothesis import given, settings
from hypothesis import strategies as st

import pairalign
from pairalign.errors import SplitError


@pytest.mark.filterwarnings("ignore:no sequence in fold")
@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
@settings(max_examples=examples(12))
@given(data=st.data())
def test_no_pair_across_folds_reaches_the_threshold(mode, data):
    seed = data.draw(st.integers(0, 99))
    given = families(seed, count=data.draw(st.sampled_from([6, 24, 40])))
    identity_of = data.draw(st.sampled_from(["full", "columns", "longer", "mean", "shorter"]))
    values = brute_identities(given, mode, identity_of)
    share = data.draw(
        st.sampled_from([*map(Fraction, ("0.5", "0.7", "0.9")), max(values.values())])
    )
    folds = data.draw(st.sampled_from([2, 3, 5]))
    labels = [("x", "y")[k % 3 == 0] for k in range(len(given))]
    found = pairalign.split(
        given,
        min_identity=share,
        identity_of=identity_of,
        mode=mode,
        folds=folds,
        labels=labels,
        nearest_from=0,
        seed=seed,
        device="cpu",
    )
    names = list(given)
    fold_of = dict(zip(names, found.folds.tolist(), strict=True))
    for pair, identity in values.items():
        one, other = (fold_of[name] for name in pair)
        assert one == other or -1 in (one, other) or identity < share
    assert found.edges == sum(identity >= share for identity in values.values())
    assert found.least_removed <= len(found.removed)
    assert found.sizes.sum() + len(found.removed) == len(given)
    assert found.sizes.max() <= -(-len(given) * 105 // (100 * folds))
    check_nearest(found, values)


def first_of(sequences: pairalign.SequenceSet, k: int) -> tuple[int, bytes, str]:
    """What decides between equally near sequences."""
    codes = sequences.codes_of(k).tobytes()
    return -len(codes), codes, sequences.names[k]


def check_nearest(found: pairalign.Split, values: dict[frozenset[str], Fraction]) -> None:
    names = found.sequences.names
    for k, name in enumerate(names):
        others = [
            (-values[frozenset((name, names[other]))], *first_of(found.sequences, other), other)
            for other in range(len(names))
            if found.folds[k] >= 0 <= found.folds[other] != found.folds[k]
        ]
        if not others:
            assert found.nearest[k] == -1
            continue
        identity, *_, other = min(others)
        assert found.nearest[k] == other
        assert found.nearest_identity[k] == pytest.approx(float(-identity))


def chain(count: int, seed: int = 3) -> dict[str, str]:
    """Sequences of which each is like the one before: one cluster."""
    rng = random.Random(seed)
    made = ["".join(rng.choices("ACGT", k=60))]
    while len(made) < count:
        one = list(made[-1])
        for at in rng.sample(range(60), 6):
            one[at] = rng.choice("ACGT".replace(one[at], ""))
        made.append("".join(one))
    return {f"s{k}|kind={'ab'[k % 2]}|keep={int(k == 5)}": one for k, one in enumerate(made)}


def test_what_is_larger_than_a_fold_is_cut():
    given = chain(40)
    found = pairalign.split(given, min_identity="85%", folds=4, labels="kind", device="cpu")
    assert len(set(found.clusters.tolist())) == 1
    assert 3 <= len(found.removed) <= 8
    assert found.sizes.min() >= 7
    counts = found.count_labels()
    assert all(abs(a - b) <= 4 for a, b in zip(counts["a"], counts["b"], strict=True))
    with pytest.raises(SplitError, match="a cluster of 40 sequences fits into no fold: a fold may"):
        pairalign.split(given, min_identity="85%", folds=4, remove=False, device="cpu")


def test_what_has_a_high_priority_stays():
    given = chain(12)
    for names in ("s5", "s6"):
        kept = {name: float(name.startswith(names)) * 9 for name in given}
        found = pairalign.split(
            given, min_identity="85%", folds=2, priorities=list(kept.values()), device="cpu"
        )
        assert len(found.removed) == 1
        assert not found.sequences.names[found.removed[0]].startswith(names)


def test_sets_for_training_and_testing():
    given = families(4, count=120, length=60)
    found = pairalign.split(given, min_identity=0.9, test=0.1, val="20%", device="cpu")
    assert found.fold_names == ("train", "val", "test")
    train, val, test = found.sizes.tolist()
    assert 70 <= train <= 89
    assert 18 <= val <= 26
    assert 9 <= test <= 13


def test_seeds_draw_where_cuts_begin():
    """Several results, each as good: of a chain one cut is as cheap as another."""
    given = chain(120)
    found = [pairalign.split(given, min_identity=0.85, seed=k, device="cpu") for k in range(8)]
    assert len({parts.folds.tobytes() for parts in found}) > 2
    again = pairalign.split(given, min_identity=0.85, seed=7, device="cpu")
    assert again.folds.tobytes() == found[7].folds.tobytes()


def test_the_files(tmp_path):
    given = chain(40)
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in given.items()))
    rows = "".join(f"{name},k{k % 2},0\n" for k, name in enumerate(given))
    (tmp_path / "table.csv").write_text("name,sort,weight\n" + rows)
    done = run(
        *("split", "in.fa", "-o", "folds.csv", "--removed", "gone.csv", "--folds", "3"),
        *("--min-identity", "85%", "--table", "table.csv", "--label", "sort"),
        *("--priority", "weight", "--report", "x.html", "--device", "cpu", "--explain"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    folds = list(csv.DictReader(io.StringIO((tmp_path / "folds.csv").read_text())))
    gone = list(csv.DictReader(io.StringIO((tmp_path / "gone.csv").read_text())))
    assert {row["name"] for row in folds} | {row["name"] for row in gone} == set(given)
    assert len(folds) + len(gone) == 40
    assert {row["fold"] for row in folds} == {"0", "1", "2"}
    assert {row["label"] for row in folds} == {"k0", "k1"}
    assert list(folds[0]) == [
        "name",
        "label",
        "fold",
        "cluster",
        "nearest",
        "nearest_identity_full",
    ]
    assert all(
        0.75 <= float(row["nearest_identity_full"]) < 0.85 for row in folds if row["nearest"]
    )
    assert f"removed  {len(gone)}; no folds of these sizes".encode() in done.stderr
    assert b"or more" in done.stderr
    report = (tmp_path / "x.html").read_text()
    assert "The largest clusters" in report
    assert "<h2>Folds</h2>" in report


@pytest.mark.parametrize("priority", [float("nan"), float("inf"), -1, None])
def test_priorities_are_numbers_in_python_as_well(priority):
    with pytest.raises(SplitError, match=r"of 's0.*expected a number of at least 0"):
        pairalign.split(chain(4), min_identity=0.8, folds=2, priorities=[priority] * 4)


def test_edges_are_what_graphpart_reads(tmp_path):
    given = chain(6)
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in given.items()))
    done = run(
        *("align", "in.fa", "-o", "x.edges", "--mode", "semiglobal", "--device", "cpu"),
        *("--min-identity", "0.5", "--identity-of", "full"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    values = brute_identities(given, "semiglobal", "full")
    expected = {
        tuple(sorted(name.split("|")[0] for name in pair)): float(identity)
        for pair, identity in values.items()
        if identity >= Fraction(1, 2)
    }
    found = {}
    for line in (tmp_path / "x.edges").read_text().splitlines():
        one, other, identity = line.split(",")
        found[tuple(sorted((one, other)))] = float(identity)
    assert found == pytest.approx(expected, abs=5e-7)


ONE_CLUSTER = {f"s{k}": "MKVLAAGGWTREHHKLAMNPQRSTVWYMKLV" + "ACDEFGHIKL"[k] for k in range(10)}


def test_a_test_set_without_sequences_is_an_error(tmp_path):
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in ONE_CLUSTER.items()))
    asked = ("split", "in.fa", "--min-identity", "0.5", "-o", "f.csv", "--device", "cpu")
    done = run(*asked, "--test", "0.3", cwd=tmp_path)
    message = "in.fa: no sequence in fold test: the sequences that are left make 1 cluster"
    assert done.returncode == 1
    assert message in done.stderr.decode()
    assert not (tmp_path / "f.csv").exists()
    with pytest.raises(SplitError, match="folds val, test"):
        pairalign.split(ONE_CLUSTER, min_identity=0.5, test=0.3, val=0.2)


def test_folds_without_sequences_are_a_warning(tmp_path):
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in ONE_CLUSTER.items()))
    asked = ("split", "in.fa", "--min-identity", "0.5", "-o", "f.csv", "--device", "cpu")
    done = run(*asked, "--folds", "3", cwd=tmp_path)
    assert done.returncode == 0
    assert "no sequence in folds 1, 2: the sequences that are left make" in done.stderr.decode()
    with pytest.warns(UserWarning, match="no sequence in folds 1, 2"):
        found = pairalign.split(ONE_CLUSTER, min_identity=0.5, folds=3)
    assert found.sizes.tolist()[1:] == [0, 0]
    apart = {name: text * (1 + k % 2) for k, (name, text) in enumerate(ONE_CLUSTER.items())}
    assert pairalign.split(apart, min_identity=0.6, folds=2).remark == ""


def test_fragments_across_folds_are_counted(tmp_path):
    rng = random.Random(5)
    letters = ["".join(rng.choices("ACDEFGHIKLMNPQRSTVWY", k=120)) for _ in range(8)]
    wholes = "".join(f">w{k}\n{text}\n" for k, text in enumerate(letters))
    (tmp_path / "in.fa").write_text(
        wholes + "".join(f">q{k}\n{text[40:70]}\n" for k, text in enumerate(letters))
    )
    asked = ("in.fa", "--min-identity", "0.5", "--summary", "json", "--device", "cpu")
    done = run("split", *asked, "-o", "f.csv", "--folds", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "f.csv").read_text())))
    fold = {row["name"]: row["fold"] for row in rows}
    apart = sum(fold[f"w{k}"] != fold[f"q{k}"] for k in range(8))
    assert apart > 0
    assert json.loads(done.stderr)["fragments_across"] == apart
    done = run("audit", "f.csv", *asked, "-o", "v.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stderr)["fragments_across"] == apart
    (tmp_path / "w.fa").write_text(wholes)
    done = run("audit", "w.fa", *asked, "-o", "v.csv", cwd=tmp_path)
    assert json.loads(done.stderr.splitlines()[0])["fragments_across"] == 16
