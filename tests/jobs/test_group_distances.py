"""Distances of groups: the mean of reciprocal best hits, as a plain loop finds them."""

import gzip
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import pairalign
from pairalign.cli.main import main
from pairalign.errors import AlphabetError, CapacityError, DistanceError, SplitError, UsageError
from pairalign.formats.distances import read_distances
from pairalign.jobs.distances import proteome_distances
from pairalign.results.distances_result import GroupDistances

LETTERS = list("ARNDCQEGHILKMFPSTWYV")


def proteomes(seed: int = 1) -> dict[str, dict[str, str]]:
    """Three groups of relatives, with copies, paralogs and proteins that are like no other."""
    rng = np.random.default_rng(seed)

    def changed(text: str, rate: float) -> str:
        return "".join(rng.choice(LETTERS) if rng.random() < rate else one for one in text)

    genes = ["".join(rng.choice(LETTERS, int(rng.integers(30, 90)))) for _ in range(6)]
    groups = {}
    for name, rate in (("one", 0.1), ("two", 0.3), ("three", 0.5)):
        texts = [changed(gene, rate) for gene in genes[: 6 - len(groups)]]
        texts += [texts[0], changed(texts[1], 0.05), "".join(rng.choice(LETTERS, 40))]
        order = rng.permutation(len(texts))
        groups[name] = {f"{name}|p{k}": texts[place] for k, place in enumerate(order)}
    return groups


GROUPS = proteomes()
ALL = {name: text for group in GROUPS.values() for name, text in group.items()}


@pytest.fixture
def folder(here: Path) -> Path:
    """A file a group, in which names are those of no other group's, or not."""
    Path("all.fa").write_text("".join(f">{n}\n{s}\n" for n, s in ALL.items()))
    for name, group in GROUPS.items():
        records = "".join(f">{n.partition('|')[2]}\n{s}\n" for n, s in group.items())
        Path(f"{name}.faa").write_text(records)
    Path("groups.tsv").write_text("".join(f"{n}\t{n.partition('|')[0]}\n" for n in ALL))
    return here


def plain_loop(
    found: pairalign.Alignments, measure: str, least_identity: float = 0.0
) -> dict[tuple[str, str], tuple[float, int]]:
    """Mean distance and number of reciprocal best hits of each two groups, pair by pair."""
    scores, distances = {}, {}
    for one in found:
        ends = one.query.name, one.target.name
        matches, columns = one.matches, one.columns
        if columns and matches / columns < least_identity:
            continue
        aligned = one.matches + one.mismatches
        by = columns if measure == "identity" else aligned
        distances[ends] = distances[ends[::-1]] = 1 - matches / by if by else 1.0
        scores[ends] = scores[ends[::-1]] = one.raw_score
    known = pairalign.SequenceSet.from_strings(ALL, alphabet="protein")
    keys = {name: (-len(ALL[name]), known.codes_of(k).tobytes()) for k, name in enumerate(ALL)}

    def best(name: str, group: str) -> str | None:
        hits = [
            (-scores.get((name, other), 0), keys[other], other)
            for other in ALL
            if other.startswith(f"{group}|") and scores.get((name, other), 0) > 0
        ]
        return min(hits)[2] if hits else None

    expected = {}
    for one, other in combinations(GROUPS, 2):
        values, left = [], {name: ALL[name] for name in GROUPS[other]}
        for a in GROUPS[one]:
            b = best(a, other)
            back = None if b is None else best(b, one)
            copies = [name for name, text in left.items() if b is not None and text == ALL[b]]
            if back is not None and ALL[back] == ALL[a] and copies:
                values.append(distances[a, b])
                del left[copies[0]]  # each copy is in one pair
        expected[one, other] = float(np.mean(values)) if values else 1.0, len(values)
    return expected


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
@pytest.mark.parametrize("measure", ["identity", "identity-aligned"])
@pytest.mark.parametrize("at_once", [True, False])
def test_groups_are_those_of_a_plain_loop(at_once, mode, measure, monkeypatch):
    if not at_once:
        monkeypatch.setattr(proteome_distances, "_CELLS_OF_A_JOB", 0)
    found = pairalign.distance(ALL, group_by="name-prefix", measure=measure, mode=mode)
    expected = plain_loop(pairalign.align(ALL, mode=mode), measure)
    assert found.names == list(GROUPS)
    assert found.sizes.tolist() == [len(group) for group in GROUPS.values()]
    for one, other, distance, matched, *shares in found.rows():
        assert (distance, matched) == (
            pytest.approx(expected[one, other][0]),
            expected[one, other][1],
        )
        for share, name in zip(shares, (one, other), strict=True):
            assert matched / len(GROUPS[name]) <= share <= 1
        assert 3 <= matched <= 8


def test_scores_that_depend_on_the_query_are_those_of_the_first_group():
    core = "WCHWDERYFPKW"
    given = {"y|1": core.replace("R", "G"), "x|1": core, "y|2": "MKVLAG" + core}
    scoring = pairalign.make_scoring("protein", free_ends="query-start")
    found = pairalign.distance(given, group_by="name-prefix", scoring=scoring, measure="identity")
    assert found.names == ["y", "x"]
    every = pairalign.distance(given, scoring=scoring, measure="identity").square()
    assert found.condensed.tolist() == [every[1, 2]]
    assert every[0, 1] != every[1, 2]


def test_copies_are_matched_with_copies():
    text = "MKTAYIAKQRQISFVKSHFSRQ"
    given = {"a|1": text, "a|2": text, "b|1": text[:-1] + "A", "b|2": text, "b|3": text}
    found = pairalign.distance(given, group_by="name-prefix")
    assert (found.condensed.tolist(), found.columns["matched"].tolist()) == ([0.0], [2])
    assert found.columns["target_share"].tolist() == [2 / 3]
    del given["a|1"]
    found = pairalign.distance(given, group_by="name-prefix")
    assert found.columns["matched"].tolist() == [1]
    assert found.columns["target_share"].tolist() == [2 / 3]


def test_thresholds_leave_hits_out():
    asked = {"group_by": "name-prefix", "mode": "local", "measure": "identity"}
    found = pairalign.distance(ALL, **asked, min_identity=0.6)
    expected = plain_loop(pairalign.align(ALL, mode="local"), "identity", 0.6)
    assert [(row[2], row[3]) for row in found.rows()] == [
        (pytest.approx(distance), matched) for distance, matched in expected.values()
    ]
    residues = sum(map(len, ALL.values()))
    kept = pairalign.align(
        ALL, mode="local", max_evalue=1e-4, min_coverage=0.8, db_size=residues, both_ways=True
    )
    found = pairalign.distance(ALL, **asked, max_evalue=1e-4, min_coverage="80%")
    expected = plain_loop(kept, "identity")
    assert [(row[2], row[3]) for row in found.rows()] == [
        (pytest.approx(distance), matched) for distance, matched in expected.values()
    ]
    assert (
        0
        < found.columns["matched"].sum()
        < pairalign.distance(ALL, **asked).columns["matched"].sum()
    )


def test_groups_without_a_match_are_far_apart():
    given = {"a|1": "WWWW", "b|1": "CCCC", "b|2": "WWWA"}
    far = pairalign.distance(given, group_by={"a|1": "x", "b|1": "y", "b|2": "x"}, mode="local")
    assert (far.condensed.tolist(), far.columns["matched"].tolist()) == ([1.0], [0])
    kimura = pairalign.distance(
        given, group_by={"a|1": "x", "b|1": "y", "b|2": "x"}, measure="kimura", mode="local"
    )
    assert kimura.condensed.tolist() == [5.0]


@pytest.mark.parametrize("ending", ["phy", "tsv", "npy", "column"])
def test_files_tables_and_names_say_the_same(ending, folder):
    asked = ["--mode", "local", "--measure", "identity", "-q"]
    ways = {
        "prefix": ["all.fa", "--group-by", "name-prefix"],
        "table": ["all.fa", "--group-by", "groups.tsv"],
        "files": ["one.faa", "two.faa", "three.faa", "--group-by", "file"],
        "also": ["one.faa", "--also", "two.faa", "--also", "three.faa", "--group-by", "file"],
    }
    for name, way in ways.items():
        out = ["-o", f"{name}.{ending}", "--matches", f"{name}.matches.tsv"]
        assert main(["distance", *way, *asked, *out]) == 0
        assert Path(f"{name}.{ending}").read_bytes() == Path(f"prefix.{ending}").read_bytes()
    lines = Path("files.matches.tsv").read_text().splitlines()
    assert lines[0] == "query\ttarget\tidentity\tmatched\tquery_share\ttarget_share"
    found = pairalign.distance(
        ["one.faa", "two.faa", "three.faa"], group_by="file", mode="local", measure="identity"
    )
    found.write(f"python.{ending}")
    assert Path(f"python.{ending}").read_bytes() == Path(f"prefix.{ending}").read_bytes()
    one, other, distance, matched, *shares = next(found.rows())
    expected = [one, other, f"{1 - distance:.6f}", str(matched), *(f"{x:.6f}" for x in shares)]
    assert lines[1].split("\t") == expected
    found.write_table("python.matches.tsv")
    for name in ("prefix", "table", "also", "python"):
        assert Path(f"{name}.matches.tsv").read_text() == Path("files.matches.tsv").read_text()


def test_trees_and_pictures_of_groups(folder):
    found = pairalign.distance("all.fa", group_by="groups.tsv", mode="local")
    assert isinstance(found, GroupDistances)
    assert pairalign.tree(found).names == list(GROUPS)
    assert repr(found) == "<GroupDistances: 3 groups of 24 sequences, identity-aligned>"
    near = float(found.condensed.min())
    one, other = found.names[:2]
    assert found[0, 1] == pytest.approx(near)
    assert found.clusters(near + 1e-6) == [[one, other], ["three"]]
    assert found.clusters(near - 1e-6) == [[name] for name in GROUPS]
    assert found.clusters(1) == [list(GROUPS)]
    command = ["distance", "all.fa", "--group-by", "groups.tsv", "--mode", "local", "-o", "x.phy"]
    assert main([*command, "--clusters", "c.tsv", "--max-distance", f"{near + 1e-3}", "-q"]) == 0
    assert Path("c.tsv").read_text() == "cluster\tgroup\n1\tone\n1\ttwo\n2\tthree\n"
    same = pairalign.distance("all.fa", group_by="groups.tsv", mode="local", similarity=True)
    np.testing.assert_array_equal(same.condensed, 1 - found.condensed)
    pytest.importorskip("matplotlib")
    command = ["distance", "all.fa", "--group-by", "groups.tsv", "--plot", "x.svg", "-q"]
    assert main(command) == 0
    assert "3 sequences" in Path("x.svg").read_text()


def test_names_of_files(folder):
    Path("b").mkdir()
    Path("b/one.faa.gz").write_bytes(gzip.compress(Path("two.faa").read_bytes()))
    Path("b/one.faa").write_bytes(Path("two.faa").read_bytes())
    first = pairalign.distance(["one.faa", "b/one.faa.gz"], group_by="file")
    assert first.names == ["one.faa", "one.faa.gz"]
    assert pairalign.distance(["one.faa", "b/one.faa"], group_by="file").names == [
        "one.faa",
        "b/one.faa",
    ]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("one|p0\ta\none|p1\ta\none|p0\tb\n", "line 3: 'one|p0' is in 'b', and by line 1 in 'a'"),
        ("one|p0\ta\nnobody\tb\n", "line 2: no sequence 'nobody'"),
        ("one|p0\ta\none|p1\n", "line 2: expected a name and a group"),
        ("one|p0\ta\tb\n", "line 1: expected a name and a group"),
        ("", "no sequence is named"),
        ("one|p0\ta\n", "'one|p1' is in no group"),
        ("".join(f"{name}\ta\n" for name in ALL), "one group"),
    ],
)
def test_tables_that_make_no_groups(table, said, folder, capfd):
    Path("bad.tsv").write_text(table)
    command = ["distance", "all.fa", "--group-by", "bad.tsv", "-o", "x.tsv", "-q"]
    assert main(command) == 1
    assert said in capfd.readouterr().err
    assert not Path("x.tsv").exists()
    with pytest.raises((SplitError, DistanceError)):
        pairalign.distance("all.fa", group_by="bad.tsv")


def test_names_of_groups_with_blanks_go_into_tables(folder, capfd):
    Path("groups.tsv").write_text("".join(f"{name}\t{name[0]} x\n" for name in ALL))
    command = ["distance", "all.fa", "--group-by", "groups.tsv", "-q", "-o"]
    for ending, mark in (("tsv", "\t"), ("csv", ",")):
        assert main([*command, f"x.{ending}"]) == 0
        names = list(dict.fromkeys(f"{name[0]} x" for name in ALL))
        assert Path(f"x.{ending}").read_text().splitlines()[0].split(mark)[1:] == names
        assert read_distances(f"x.{ending}").names == names
    for ending in ("phy", "column"):
        assert main([*command, f"x.{ending}"]) == 1
        assert "without white space; tables (TSV, CSV) have some" in capfd.readouterr().err
        assert not Path(f"x.{ending}").exists()


def test_what_cannot_be(folder):
    with pytest.raises(AlphabetError, match="of groups of proteins; of DNA take one of ani, tani"):
        pairalign.distance({"a|1": "ACGTACGT", "b|1": "ACGTACGA"}, group_by="name-prefix")
    with pytest.raises(DistanceError, match="'p0' has no name of a group before"):
        pairalign.distance("one.faa", group_by="name-prefix")
    with pytest.raises(DistanceError, match="one group"):
        pairalign.distance(["one.faa"], group_by="file")
    with pytest.raises(UsageError, match=r"^group_by is of one set: leave targets out$"):
        pairalign.distance("one.faa", "two.faa", group_by="file")
    with pytest.raises(UsageError, match="min_identity needs group_by"):
        pairalign.distance("one.faa", min_identity=0.5)
    with pytest.raises(CapacityError, match=r"hits of 24 proteins in 3 groups"):
        pairalign.distance(ALL, group_by="name-prefix", memory=1000)
