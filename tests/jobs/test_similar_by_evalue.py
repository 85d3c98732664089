"""Clusters, splits and audits by E-values: what is homologous stays together, whatever its length.

200 proteins with random residues and an exact quarter of each.
"""

import csv
import json
import math
import random
from pathlib import Path

import pytest
from commands import run

import pairalign
from pairalign.errors import ScoringError, UsageError
from pairalign.jobs.splits import split_files

LOCAL = ("--mode", "local", "--max-evalue", "0.001")
LETTERS = "ARNDCQEGHILKMFPSTWYV"
PROTEINS = 200


def proteins_and_quarters(seed: int = 1) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    whole = ["".join(rng.choices(LETTERS, k=rng.randint(120, 400))) for _ in range(PROTEINS)]
    records = [(f"p{k}", letters) for k, letters in enumerate(whole)]
    for k, letters in enumerate(whole):
        width = len(letters) // 4
        start = rng.randrange(len(letters) - width + 1)
        records.append((f"q{k}", letters[start : start + width]))
    return records


@pytest.fixture(scope="module")
def records() -> list[tuple[str, str]]:
    return proteins_and_quarters()


def write(path: Path, records: list[tuple[str, str]]) -> str:
    path.write_text("".join(f">{name} of a set\n{letters}\n" for name, letters in records))
    return path.name


def said_by(place: Path, *arguments: str, code: int = 0) -> str:
    """Run the command; what it says."""
    done = run(*arguments, cwd=place)
    assert done.returncode == code, done.stderr.decode()
    return done.stderr.decode()


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def partition(clusters: list[list[str]]) -> set[frozenset[str]]:
    return set(map(frozenset, clusters))


def evalues_of(records: list[tuple[str, str]], database: int) -> dict[frozenset[str], float]:
    """The smaller E-value of each pair, each sequence as the query once."""
    sequences = pairalign.SequenceSet.from_strings(dict(records))
    names, found = sequences.names, {}
    for order in (slice(None), slice(None, None, -1)):
        turned = pairalign.SequenceSet.from_strings(dict(records[order]))
        hits = pairalign.align(turned, mode="local", max_evalue=10, db_size=database)
        for query, target, evalue in zip(hits.query, hits.target, hits.evalue, strict=True):
            pair = frozenset((turned.names[query], turned.names[target]))
            found[pair] = min(found.get(pair, math.inf), float(evalue))
    assert names == [name for name, _ in records]
    return found


def test_a_quarter_stays_with_its_protein_and_others_do_not_connect(records):
    split = pairalign.split(dict(records), mode="local", max_evalue=1e-3)
    folds = dict(zip(split.sequences.names, split.folds.tolist(), strict=True))
    assert not len(split.removed)
    assert [k for k in range(PROTEINS) if folds[f"p{k}"] != folds[f"q{k}"]] == []
    assert split.edges == PROTEINS
    assert split.clusters.max() + 1 == PROTEINS
    whole = pairalign.split(dict(records), min_identity=0.3)
    apart = dict(zip(whole.sequences.names, whole.folds.tolist(), strict=True))
    assert sum(apart[f"p{k}"] != apart[f"q{k}"] for k in range(PROTEINS)) > PROTEINS // 2


def test_homologous_is_the_usual_meaning_of_similar_in_folds_of_proteins(records, tmp_path):
    fasta = write(tmp_path / "all.fa", records)
    said = said_by(tmp_path, "split", fasta, "-o", "usual.csv")
    assert "no pair across folds has an E-value of 0.001 or less" in said
    said_by(tmp_path, "split", fasta, "-o", "said.csv", *LOCAL)
    assert (tmp_path / "usual.csv").read_bytes() == (tmp_path / "said.csv").read_bytes()
    folds = {row["name"]: row["fold"] for row in rows_of(tmp_path / "usual.csv")}
    assert [k for k in range(PROTEINS) if folds[f"p{k}"] != folds[f"q{k}"]] == []
    assert "" not in folds.values()
    said_by(tmp_path, "audit", "usual.csv", fasta, "-o", "leaks.csv")
    assert len(rows_of(tmp_path / "leaks.csv")) == 0
    split = pairalign.split(dict(records))
    assert (split.max_evalue, split.folds.tolist()) == (0.001, list(map(int, folds.values())))
    moved = [f"{name},{int(name == 'q3')}" for name, _ in records]
    (tmp_path / "moved.csv").write_text("\n".join(["name,fold", *moved]) + "\n")
    said_by(tmp_path, "audit", "moved.csv", fasta, "-o", "leaks.csv", code=1)
    (row,) = rows_of(tmp_path / "leaks.csv")
    found = pairalign.audit(tmp_path / "moved.csv", dict(records))
    assert list(found) == [tuple(row.values())]
    assert (row["name"], row["other"]) == ("p3", "q3")


@pytest.mark.parametrize("scoring", ["blosum62", "local"])
def test_whatever_else_is_asked_for_has_the_usual_evalue(records, scoring):
    some = dict(records[:20] + records[PROTEINS : PROTEINS + 20])
    given: object = scoring
    if scoring == "local":
        given = pairalign.make_scoring("protein", mode="local", gap_open=12)
    asked = {"scoring": given, "db_size": 10**60, "min_coverage": 0.2, "coverage_of": "shorter"}
    usual = pairalign.split(some, **asked)
    said = pairalign.split(some, mode="local", max_evalue=0.001, **asked)
    assert usual.folds.tolist() == said.folds.tolist()
    assert 0 < usual.edges == said.edges < pairalign.split(some).edges


def test_of_dna_what_is_similar_is_to_be_given(tmp_path):
    rng = random.Random(2)
    genes = [(f"g{k}", "".join(rng.choices("ACGT", k=200))) for k in range(6)]
    fasta = write(tmp_path / "genes.fa", genes)
    folds = "name,fold\n" + "".join(f"{name},{k % 2}\n" for k, (name, _) in enumerate(genes))
    (tmp_path / "folds.csv").write_text(folds)
    expected = "of DNA nothing is usual: give --min-identity X or --max-evalue X"
    for asked in (("split", fasta), ("audit", "folds.csv", fasta), ("audit", fasta, fasta)):
        assert expected in said_by(tmp_path, *asked, "-o", "x.csv", code=2)
        assert not (tmp_path / "x.csv").exists()
    said_by(tmp_path, "split", fasta, "-o", "x.csv", *LOCAL)
    with pytest.raises(UsageError, match="of DNA nothing is usual: give min_identity='X'"):
        pairalign.split(dict(genes))
    with pytest.raises(UsageError, match="of DNA nothing is usual"):
        pairalign.audit(tmp_path / "folds.csv", dict(genes))


def test_costs_without_evalues_leave_the_identity(records):
    costs = pairalign.make_scoring("protein", mode="local", gap_open=1, gap_extend=1)
    with pytest.raises(ScoringError, match=r"there are no E-values; .*or give min_identity='X'"):
        pairalign.split(dict(records[:10]), scoring=costs)


def test_edges_are_the_pairs_whose_evalue_is_small_either_way_round(records):
    some = records[:60] + records[PROTEINS : PROTEINS + 60]
    residues = sum(len(letters) for _, letters in some)
    evalues = evalues_of(some, residues)
    for most in (1e-12, 1e-3, 1.0):
        expected = {pair for pair, evalue in evalues.items() if evalue <= most}
        found = pairalign.cluster(
            dict(some), mode="local", max_evalue=most, linkage="single", edges=True
        )
        names, edges = found.sequences.names, found.edges
        pairs = zip(edges.query.tolist(), edges.target.tolist(), strict=True)
        assert {frozenset((names[one], names[other])) for one, other in pairs} == expected
        assert pairalign.split(dict(some), mode="local", max_evalue=most).edges == len(expected)


@pytest.mark.parametrize("linkage", ["greedy", "single"])
def test_copies_are_with_their_originals_and_change_nothing_else(records, linkage):
    """Clusters are made of distinct sequences: E-values have to be those of these."""
    asked = {"mode": "local", "max_evalue": 1.0, "linkage": linkage, "db_size": 20_000}
    some = dict(records[:60] + records[PROTEINS : PROTEINS + 60])
    expected = partition(list(pairalign.cluster(some, **asked)))
    copies = {f"copy_{name}": letters for name, letters in some.items() if name[0] == "p"}
    found = pairalign.cluster(some | copies, **asked)
    assert {frozenset(some.keys() & one) for one in found} == expected
    assert all({name, name[5:]} <= one for name in copies for one in map(set, found) if name in one)


def test_the_audit_of_folds_agrees(records, tmp_path):
    fasta = write(tmp_path / "all.fa", records)
    asked = (fasta, "-o", "folds.csv", *LOCAL, "--folds-dir", "folds", "--test", "0.2")
    summary = json.loads(said_by(tmp_path, "split", *asked, "--summary", "json").splitlines()[-1])
    residues = sum(len(letters) for _, letters in records)
    assert f"(database {residues:,} residues)" in summary["promise"]
    said_by(tmp_path, "audit", "folds.csv", fasta, *LOCAL, "-o", "leaks.csv")
    sets = ("folds/train.fasta", "folds/test.fasta")
    said_by(tmp_path, "audit", *sets, *LOCAL, "-o", "leaks.csv")
    assert len((tmp_path / "leaks.csv").read_text().splitlines()) == 1
    rows = {row["name"]: row["fold"] for row in rows_of(tmp_path / "folds.csv")}
    headers = {name: (tmp_path / name).read_text().split("\n")[::2][:-1] for name in sets}
    for name, fold in zip(sets, ("train", "test"), strict=True):
        expected = [f">{one} of a set" for one, _ in records if rows[one] == fold]
        assert headers[name] == expected


def test_the_audit_counts_sequences_that_leak(records, tmp_path):
    fasta = write(tmp_path / "all.fa", records[:20] + records[PROTEINS : PROTEINS + 20])
    folds = ["name,fold"] + [f"p{k},train" for k in range(20)] + [f"q{k},test" for k in range(17)]
    (tmp_path / "folds.csv").write_text("\n".join(folds) + "\n")
    said = said_by(tmp_path, "audit", "folds.csv", fasta, *LOCAL, "-o", "leaks.csv", code=1)
    assert "17 of 17 in test, 17 of 20 in train reach it" in said
    assert "3 sequences that no group names: 'q17', 'q18', 'q19'" in said
    by_identity = ("--min-identity", "0.9", "-o", "leaks.csv")
    said = said_by(tmp_path, "audit", "folds.csv", fasta, *by_identity)
    assert "0 of 17 in test, 0 of 20 in train reach it" in said


def test_a_table_with_its_own_columns_and_sequences(records, tmp_path):
    some = records[:20] + records[PROTEINS : PROTEINS + 20]
    lines = ["index,set,entry,residues,part"]
    lines += [f"{k},x,{name},{letters},{name[0]}" for k, (name, letters) in enumerate(some)]
    (tmp_path / "data.csv").write_text("\n".join([*lines, "99,x,gone,ACDEF,"]) + "\n")
    fasta = write(tmp_path / "all.fa", some)
    columns = ("--name-column", "entry", "--fold-column", "part")
    said_by(tmp_path, "audit", "data.csv", fasta, *columns, *LOCAL, "-o", "one.csv", code=1)
    with_residues = (*columns, "--sequence-column", "residues")
    said_by(tmp_path, "audit", "data.csv", *with_residues, *LOCAL, "-o", "two.csv", code=1)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert len((tmp_path / "one.csv").read_text().splitlines()) == 21
    wrong = ("--name-column", "names", *LOCAL, "-o", "3.csv")
    said = said_by(tmp_path, "audit", "data.csv", fasta, *wrong, code=2)
    assert "no column 'names'; its header has 'index', 'set', 'entry'" in said


def test_nothing_is_replaced_in_the_folder_of_folds(records, tmp_path):
    fasta = write(tmp_path / "all.fa", records[:40])
    (tmp_path / "folds").mkdir()
    (tmp_path / "folds" / "fold_3.fasta").write_text("mine")
    asked = (fasta, "-o", "folds.csv", *LOCAL, "--folds-dir", "folds")
    said = said_by(tmp_path, "split", *asked, code=2)
    assert "'folds/fold_3.fasta' is there: choose another --folds-dir" in said
    assert [one.name for one in (tmp_path / "folds").iterdir()] == ["fold_3.fasta"]
    assert not (tmp_path / "folds.csv").exists()
    (tmp_path / "folds" / "fold_3.fasta").rename(tmp_path / "other")
    said_by(tmp_path, "split", *asked)
    written = [(tmp_path / "folds" / f"fold_{k}.fasta").read_text() for k in range(5)]
    assert sum(text.count(">") for text in written) == 40


def test_folds_that_cannot_all_be_written_leave_nothing(records, tmp_path, monkeypatch):
    split = pairalign.split(dict(records[:40]), mode="local", max_evalue=1e-3)
    opened = split_files.open_output

    def fails_late(path: str) -> object:
        if path.endswith("fold_4.fasta"):
            raise OSError("full")
        return opened(path)

    monkeypatch.setattr(split_files, "open_output", fails_late)
    with pytest.raises(OSError, match="full"):
        split_files.write_fold_files(str(tmp_path / "new"), split)
    assert list(tmp_path.iterdir()) == []


def test_dna_of_either_strand(tmp_path):
    """E-values of DNA are estimated or published like those of align; a strand is no hiding."""
    rng = random.Random(5)
    genes = ["".join(rng.choices("ACGT", k=300)) for _ in range(12)]
    turn = str.maketrans("ACGT", "TGCA")
    sequences = {f"g{k}": one for k, one in enumerate(genes)}
    sequences |= {f"r{k}": one[100:200].translate(turn)[::-1] for k, one in enumerate(genes)}
    costs = {"match": 2, "mismatch": -3, "gap_open": 7, "gap_extend": 2}
    scoring = pairalign.make_scoring("dna", mode="local", **costs)
    asked = {"scoring": scoring, "max_evalue": 1e-6, "linkage": "single"}
    assert len(pairalign.cluster(sequences, strand="both", **asked)) == 12
    assert len(pairalign.cluster(sequences, **asked)) == 24
    two = {"a": genes[0], "b": genes[1][:200] + sequences["r0"]}
    (pair,) = pairalign.align(two, scoring=scoring, strand="both")
    for factor, clusters in ((0.9, 2), (1.1, 1)):  # of a search of both strands, as align says
        asked["max_evalue"] = factor * pair.evalue
        assert len(pairalign.cluster(two, strand="both", **asked)) == clusters


def test_a_scoring_of_global_mode_says_nothing_of_what_is_similar(records):
    with pytest.raises(UsageError, match="what is similar is not said"):
        pairalign.split(dict(records[:10]), scoring=pairalign.make_scoring("protein"))


def test_an_evalue_means_local_alignments(records, tmp_path):
    some = records[:30] + records[PROTEINS : PROTEINS + 30]
    (tmp_path / "folds.csv").write_text(
        "name,fold\n" + "".join(f"{name},{k // 30}\n" for k, (name, _) in enumerate(some))
    )
    functions = (
        lambda **asked: pairalign.split(dict(some), folds=2, **asked).folds.tolist(),
        lambda **asked: list(pairalign.audit(tmp_path / "folds.csv", dict(some), **asked)),
        lambda **asked: list(pairalign.cluster(dict(some), **asked)),
    )
    for function in functions:
        assert function(max_evalue=1e-6) == function(max_evalue=1e-6, mode="local")
    with pytest.raises(ScoringError, match="local alignments: add mode='local'"):
        pairalign.cluster(dict(some), max_evalue=1e-6, mode="global")
