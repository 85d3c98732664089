"""Interactions of two sets in folds: no similar pair across folds in either; most are kept."""

import csv
import itertools
import json
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from brute_splits import brute_identities
from commands import fasta, run
from conftest import examples
from family_sets import families
from hypothesis import given, settings
from hypothesis import strategies as st

import pairalign
from pairalign.errors import SplitError, UsageError
from pairalign.jobs.splits.interaction_folds import Interactions, Shares, place_clusters

FAR = "MKVLAAGGWTREHHDDFFPPQQRS"
Rows = list[tuple[str, str, str]]


def some_rows(first: list[str], second: list[str], count: int, seed: int) -> Rows:
    rng = random.Random(seed)
    return [(rng.choice(first), rng.choice(second), f"{rng.random():.2f}") for _ in range(count)]


@pytest.mark.filterwarnings("ignore:the shares are not reached")
@settings(max_examples=examples(12))
@given(data=st.data())
def test_no_pair_across_folds_reaches_the_threshold_in_either_set(data):
    seed, is_one = data.draw(st.integers(0, 99)), data.draw(st.booleans())
    first = families(seed, count=data.draw(st.sampled_from([6, 24])))
    second = None if is_one else families(seed + 1, count=20, letters="ARNDWQEGHILK")
    of_second = None if is_one else {"min_identity": "0.6", "mode": "global"}
    rows = some_rows(list(first), list(second or first), 60, seed)
    found = pairalign.split(
        first,
        second,
        pairs=rows,
        second=of_second,
        min_identity=0.8,
        folds=data.draw(st.sampled_from([2, 3])),
        remove=data.draw(st.booleans()),
        device="cpu",
    )
    fold_of = []
    for side, own, least in zip(
        found.sides, [first, second], [Fraction(4, 5), Fraction(3, 5)], strict=False
    ):
        folds = dict(zip(side.names, side.folds.tolist(), strict=True))
        for pair, identity in brute_identities(own or {}, "global", "full").items():
            one, other = (folds[name] for name in pair)
            assert one == other or -1 in (one, other) or identity < least
        fold_of.append(folds)
    for row, fold in zip(rows, found.folds.tolist(), strict=True):
        one, other = fold_of[0][row[0]], fold_of[-1][row[1]]
        assert fold == (one if one == other else -1)
    assert sum(map(len, found)) + len(found.removed) == len(rows)
    distinct = {tuple(sorted(row[:2])) if is_one else row[:2] for row in rows}
    assert found.repeated == len(rows) - len(distinct)


def worth_of(graph: Interactions, shares: Shares, folds: tuple[int, ...]) -> tuple[float, int]:
    kept = [0] * len(shares.shares)
    for one, near in enumerate(graph.near):
        kept[folds[one]] += graph.own[one]
        for other, n in near:
            kept[folds[one]] += n * (other < one and folds[other] == folds[one])
    return shares.worth(kept)


def test_as_many_are_kept_as_in_the_best_of_all_assignments():
    """Of small sets nearly always; never much less."""
    as_good, tried = 0, 60
    for seed in range(tried):
        rng = random.Random(seed)
        count = rng.randint(4, 8)
        half = count // 2
        ends = [
            (rng.randrange(half), rng.randrange(half, count)) for _ in range(rng.randint(4, 30))
        ]
        graph = Interactions(count, np.array(ends, np.int32))
        shares = Shares(rng.choice([(0.8, 0.2), (0.5, 0.5), (0.7, 0.1, 0.2)]), 0.05)
        of_all = itertools.product(range(len(shares.shares)), repeat=count)
        best = max(worth_of(graph, shares, folds) for folds in of_all)
        found = worth_of(graph, shares, tuple(place_clusters(graph, shares, 0)))
        assert found[0] >= 0.8 * best[0]
        as_good += found == best
    assert as_good >= 0.95 * tried


@pytest.mark.parametrize(("first", "second", "folds"), [(10, 20, 5), (16, 8, 4), (30, 200, 5)])
def test_a_table_of_all_interactions_goes_into_many_folds(first, second, folds):
    """As in screens of each drug on each target: a fold has its share of both."""
    ends = [(one, first + other) for one in range(first) for other in range(second)]
    graph = Interactions(first + second, np.array(ends, np.int32))
    shares = Shares((1 / folds,) * folds, 0.05)
    kept = worth_of(graph, shares, tuple(place_clusters(graph, shares, 0)))[1]
    assert kept == first * second // folds


def write_sets(folder: Path) -> tuple[dict[str, str], dict[str, str], Rows]:
    first = families(1, count=40)
    second = families(2, count=30, letters="ARNDWQEGHILK")
    rows = some_rows(list(first), list(second), 200, 3)
    (folder / "a.fa").write_text(fasta(first))
    (folder / "b.fa").write_text(fasta(second))
    text = "".join("\t".join(row) + "\n" for row in rows)
    (folder / "i.tsv").write_text("drug\ttarget\taffinity\n" + text)
    return first, second, rows


def read_csv(path: Path) -> list[list[str]]:
    with open(path, newline="") as file:
        return list(csv.reader(file))


ASKED = ("--min-identity", "0.9", "--second", "--min-identity 0.8", "--device", "cpu")


def test_the_command_writes_what_python_returns_and_its_audit_finds_nothing(tmp_path):
    first, second, rows = write_sets(tmp_path)
    asked = ("a.fa", "b.fa", *ASKED)
    wanted = ("--test", "0.2", "--val", "0.1", "--members", "m.csv", "--removed", "r.csv")
    done = run(
        *("split", *asked, *wanted, "--pairs", "i.tsv", "-o", "kept.csv", "--folds-dir", "sets"),
        *("--summary", "json"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stderr.splitlines()[-1])
    found = pairalign.split(
        tmp_path / "a.fa",
        tmp_path / "b.fa",
        pairs=tmp_path / "i.tsv",
        min_identity=0.9,
        second={"min_identity": 0.8},
        test=0.2,
        val=0.1,
        device="cpu",
    )
    found.write(tmp_path / "python.csv")
    kept = read_csv(tmp_path / "kept.csv")
    assert kept == read_csv(tmp_path / "python.csv")
    assert kept[0] == ["drug", "target", "affinity", "fold"]
    removed = read_csv(tmp_path / "r.csv")
    assert sorted(row[:3] for row in kept[1:] + removed[1:]) == sorted(map(list, rows))
    assert {"fragments_across_1", "fragments_across_2"} <= facts.keys()
    assert facts["folds"] == dict(zip(found.fold_names, map(int, found.sizes), strict=True))
    members = read_csv(tmp_path / "m.csv")[1:]
    fold_of = {(row[0], row[1]): row[2] for row in members}
    assert len(members) == len(first) + len(second)
    for one, other, _, fold in kept[1:]:
        assert fold_of["1", one] == fold_of["2", other] == fold
    for one, other, _, *folds in removed[1:]:
        assert [fold_of["1", one], fold_of["2", other]] == folds
    assert all(
        n >= 0.95 * share * sum(found.sizes)
        for n, share in zip(found.sizes, (0.7, 0.1, 0.2), strict=True)
    )
    assert read_csv(tmp_path / "sets" / "test.csv") == [
        kept[0],
        *(r for r in kept if r[3] == "test"),
    ]
    own = pairalign.read_fasta(tmp_path / "sets" / "train.2.fasta", alphabet="protein")
    assert list(own.names) == [
        name for (k, name), f in fold_of.items() if k == "2" and f == "train"
    ]

    audit = ("audit", "kept.csv", "a.fa", "b.fa", "--pairs", *ASKED, "-o", "leaks.csv")
    assert run(*audit, cwd=tmp_path).returncode == 0
    assert len(read_csv(tmp_path / "leaks.csv")) == 1


def test_an_audit_finds_each_pair_across_folds_in_both_sets(tmp_path):
    first, second, rows = write_sets(tmp_path)
    rng = random.Random(1)
    said = [(*row, rng.choice(["x", "y"])) for row in rows]
    text = "".join(",".join(row) + "\n" for row in said)
    (tmp_path / "folds.csv").write_text("drug,target,affinity,fold\n" + text)
    wanted = set()
    for number, own, least in (("1", first, Fraction(9, 10)), ("2", second, Fraction(4, 5))):
        in_folds = {(row[int(number) - 1], row[3]) for row in said}
        values = brute_identities(own, "global", "full")
        for (one, fold), (other, other_fold) in itertools.combinations(in_folds, 2):
            if fold != other_fold and (one == other or values[frozenset((one, other))] >= least):
                wanted.add((number, frozenset(((one, fold), (other, other_fold)))))
    done = run(
        *("audit", "folds.csv", "a.fa", "b.fa", "--pairs", *ASKED, "-o", "leaks.csv"), cwd=tmp_path
    )
    assert done.returncode == 1
    leaks = read_csv(tmp_path / "leaks.csv")[1:]
    found = [(row[1], frozenset((tuple(row[2:4]), tuple(row[4:6])))) for row in leaks]
    assert set(found) == wanted
    assert len(found) == len(wanted)
    python = pairalign.audit(
        str(tmp_path / "folds.csv"),
        tmp_path / "a.fa",
        tmp_path / "b.fa",
        pairs=True,
        min_identity=0.9,
        second={"min_identity": 0.8},
        device="cpu",
    )
    assert [list(row) for row in python] == leaks


def test_clusters_may_stand_for_the_second_set(tmp_path):
    first, _, _ = write_sets(tmp_path)
    ligands = [f"mol{k}" for k in range(20)]
    table = "".join(f"{name},{k // 3}\n" for k, name in enumerate(ligands))
    (tmp_path / "ligands.csv").write_text("name,cluster\n" + table)
    rows = some_rows(list(first), ligands, 150, 5)
    (tmp_path / "i.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    asked = ("a.fa", "--second-clusters", "ligands.csv", "--min-identity", "0.8", "--device", "cpu")
    done = run(
        *("split", *asked, "--pairs", "i.csv", "--folds", "2", "-o", "k.csv", "--members", "m.csv"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    members = [row for row in read_csv(tmp_path / "m.csv") if row[0] == "2"]
    assert [row[1] for row in members] == ligands
    places = {(row[3], row[2]) for row in members}
    assert len(places) == len({cluster for cluster, _ in places})  # each cluster is in one fold
    assert run("audit", "k.csv", *asked, "--pairs", "-o", "x.csv", cwd=tmp_path).returncode == 0
    kept = read_csv(tmp_path / "k.csv")
    assert kept[0] == ["first", "second", "column_3", "fold"]
    at = next(k for k in range(2, len(kept)) if kept[k][3] != kept[1][3])
    kept[at][1] = kept[1][1]
    (tmp_path / "bad.csv").write_text("".join(",".join(row) + "\n" for row in kept))
    done = run("audit", "bad.csv", *asked, "--pairs", "-o", "x.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert kept[1][1] in (tmp_path / "x.csv").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("drug\ttarget\na1\tnobody\n", "line 2: no sequence 'nobody' in b.fa"),
        ("a1\tb1\nb1\ta1\n", "line 2: no sequence 'b1' in a.fa"),
        ("drug\ttarget\na1\n", "line 2: expected two names"),
        ("drug\ttarget\na1\t\n", "line 2: expected two names"),
        ("drug\ttarget\na1\tb1\t3\n", "line 2: 3 columns, expected 2"),
        ("drug\ttarget\tfold\na1\tb1\tx\n", "has a column fold"),
        ("drug\ttarget\n", "no interaction in it"),
        ("", "no interaction in it"),
        ("\x00\x1f\n", "line 1: expected two names"),
        ('a1\tb1\tx\na1\tb1\t"x\na2\tb2\t"x\na2\tb1\tx\n', "line 2: cannot be read"),
        ('a1\tb1\tx\na2\tb2\t"x\na2\tb1\tx\n', "line 2: cannot be read"),
    ],
)
def test_wrong_tables_are_refused_by_line(text, said, tmp_path):
    (tmp_path / "a.fa").write_text(f">a1\n{FAR}\n>a2\n{FAR[::-1]}\n")
    (tmp_path / "b.fa").write_text(f">b1\n{FAR}\n>b2\n{FAR[::-1]}\n")
    (tmp_path / "i.tsv").write_text(text)
    asked = ("a.fa", "b.fa", "--pairs", "i.tsv", "--min-identity", "0.8", "-o", "x.csv")
    done = run("split", *asked, cwd=tmp_path)
    assert done.returncode == 1
    assert said in done.stderr.decode()
    assert b"i.tsv" in done.stderr
    assert not (tmp_path / "x.csv").exists()


def test_files_have_any_name_and_lines_between_quotes(here):
    Path("pairs").write_text('drug,target,note\n"a1",b1,"two\nlines, 5"""\na2,b2,5" long\n')
    sets = {"a1": FAR, "a2": FAR[::-1]}, {"b1": FAR, "b2": FAR[::-1]}
    found = pairalign.split(*sets, pairs="pairs", min_identity=0.9, folds=2, device="cpu")
    assert found.rows == [("a1", "b1", 'two\nlines, 5"'), ("a2", "b2", '5" long')]
    assert found.header == ("drug", "target", "note")
    found.write("k.csv")
    assert sorted(tuple(row[:3]) for row in read_csv(Path("k.csv"))[1:]) == found.rows


def test_names_of_clusters_are_there_once(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("name,cluster\nm1,0\nm2,1\nm1,2\n")
    with pytest.raises(SplitError, match="line 4: 'm1' again"):
        pairalign.split({"a": FAR}, pairs=[("a", "m1")], second_clusters=path, min_identity=0.9)


@pytest.mark.parametrize("remove", [True, False])
def test_a_set_of_one_cluster_has_no_test_set(remove):
    first = {f"a{k}": FAR for k in range(12)}
    second = families(3, count=12)
    rows = some_rows(list(first), list(second), 40, 1)
    with pytest.raises(SplitError, match=r"pairs: the shares are not reached: .*test has 0"):
        pairalign.split(first, second, pairs=rows, min_identity=0.9, test=0.2, remove=remove)


def test_shares_that_cannot_be_met_are_said():
    """A hub has nine of ten interactions, and is in one fold."""
    first = {"hub": FAR, "a1": FAR[::-1]}
    second = families(4, count=30)
    names = list(second)
    rows = [("hub", name) for name in names[:27]] + [("a1", name) for name in names[27:]]
    with pytest.warns(UserWarning, match=r"shares are not reached: .*asked 50\.0%"):
        found = pairalign.split(
            first, second, pairs=rows, min_identity=1, second={"min_identity": 1}, folds=2
        )
    assert len(found) == 2


@pytest.mark.filterwarnings("ignore:the shares are not reached")
def test_tables_in_memory_are_as_rows():
    pandas = pytest.importorskip("pandas")
    first, second = families(1, count=10), families(2, count=10)
    rows = some_rows(list(first), list(second), 30, 2)
    table = pandas.DataFrame(rows, columns=["drug", "target", "affinity"])
    asked = {"min_identity": 0.8, "folds": 2, "device": "cpu"}
    found = [pairalign.split(first, second, pairs=one, **asked) for one in (rows, table)]
    assert found[0].folds.tolist() == found[1].folds.tolist()
    assert found[1].header == ("drug", "target", "affinity")
    for missing in (None, float("nan"), pandas.NA):
        own = pairalign.split(first, second, pairs=[(*rows[0][:2], missing), *rows], **asked)
        assert own.rows[0] == (*rows[0][:2], "")
        with pytest.raises(SplitError, match=r"pairs: row 1: expected two names, found 's0'.*''"):
            pairalign.split(first, second, pairs=[("s0", missing), *rows], **asked)
    with pytest.raises(UsageError, match="give pairs"):
        pairalign.split(first, second, **asked)
    with pytest.raises(TypeError, match="unexpected keyword argument 'identity'"):
        pairalign.split(first, second, pairs=rows, second={"identity": 1}, **asked)
