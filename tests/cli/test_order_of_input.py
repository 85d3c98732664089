"""The order of the input changes nothing that is found, in any command and any format.

Every command runs on sequences with copies and ties in several orders; what it has written is
compared as a set of lines, in which numbers of records and pairs are left out.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pairalign
from pairalign.base.choices import FORMAT_NAMES
from pairalign.cli.main import main
from pairalign.cli.program import COMMANDS

BINARY = {"parquet", "npz", "npy"}
"""Formats that are read by `pairalign.load` or NumPy; compared in `test_tables`."""
NUMBERED = re.compile(r"pair=\d+|cg:Z:\S+|#=GF ID .*|^# \d+: .*")
ORDERS = 4

SET: dict[str, list[list[str]]] = {
    "align": [["--format", "abc"]],
    "overlap": [["--min-overlap", "8", "--min-score", "8", "--format", "paf", "--alphabet", "dna"]],
    "distance": [["--format", name] for name in ("column", "tsv", "phylip")],
    "cluster": [
        ["--min-identity", "0.6", "--format", "tsv", "--linkage", linkage]
        for linkage in ("greedy", "single", "complete", "average")
    ],
    "split": [["--folds", "3", "--min-identity", "0.6", "--tolerance", "0.1"]],
}
"""Options of commands that write a line a sequence or a pair."""

ELSEWHERE = {
    "audit": "lists pairs, as align does; needs a table",
    "posterior": "numbers of pairs as they are; one file is binary",
    "msa": "tests/jobs/test_msa_large.py",
    "tree": "test_trees",
    "rotate": "each sequence alone",
    "verify": "a line a record of a file",
    "update": "adds to what is there",
    "merge": "joins parts",
    "pack": "keeps the order",
    "devices": "",
    "help": "",
    "completion": "",
}
"""Commands that are looked at elsewhere, or of which there is nothing to compare."""


def sequences(seed: int, letters: str = "ARNDCQEG", count: int = 7) -> dict[str, str]:
    """Families of few residues, with copies: scores are often the same."""
    draw = random.Random(seed)
    found: dict[str, str] = {}
    for family in range(count):
        base = "".join(draw.choice(letters) for _ in range(24))
        for member in range(3):
            place = draw.randrange(24)
            text = base if member == 1 else base[:place] + draw.choice(letters) + base[place + 1 :]
            found[f"s{draw.randrange(10**6)}_{family}_{member}"] = text
    return found


def orders(given: dict[str, str]) -> Iterator[dict[str, str]]:
    items = list(given.items())
    for seed in range(ORDERS):
        random.Random(seed).shuffle(items)
        yield dict(items)


def fasta(path: str, given: dict[str, str]) -> None:
    Path(path).write_text("".join(f">{name}\n{text}\n" for name, text in given.items()))


def lines(path: str) -> list[str]:
    """Return what a file says, in an order of its own, without numbers of records."""
    return sorted(NUMBERED.sub("", line) for line in Path(path).read_text().splitlines())


@pytest.mark.parametrize("format", [name for name in FORMAT_NAMES if name not in BINARY])
@pytest.mark.parametrize("hits", [1, 2])
def test_hits_in_every_format(here, format, hits):
    """Ties among the hits of a query are decided by residues, then by names."""
    queries = {"q": "ARNDCQEGARNDCQEGARNDCQEG"}
    queries |= {} if format == "a3m" else {"r": "GGGGAARNDCQEGARNDCQEGAAA"}
    targets = {**sequences(2), **{f"copy{k}": "ARNDCQEGARNDCQEG" for k in range(5)}}
    fasta("q.fa", queries)
    found = []
    for one in orders(targets):
        fasta("t.fa", one)
        run = ["align", "q.fa", "t.fa", "--max-hits", str(hits), "--mode", "local"]
        assert main([*run, "--format", format, "-o", "out", "-q", "--device", "cpu"]) == 0
        found.append(lines("out"))
    if format in ("tc_lib", "graphml", "gexf", "edges"):
        return  # pairs have the numbers of sequences; their names are those of abc
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("rank", ["score", "identity"])
def test_hits_of_a_set_with_itself(rank):
    given = {**sequences(3), "x": "ARNDCQEG" * 3, "y": "ARNDCQEG" * 3, "z": "ARNDCQEG" * 3}
    found, best = set(), set()
    for one in orders(given):
        hits = pairalign.align(one, max_hits=2, rank=rank, mode="local", device="cpu")
        found.add(frozenset((a.query.name, a.target.name, a.score) for a in hits))
        every = pairalign.align(one, mode="local", device="cpu").best(1, rank)
        best.add(frozenset(frozenset((a.query.name, a.target.name)) for a in every))
    assert len(found) == len(best) == 1


@pytest.mark.parametrize("measure", ["identity", "identity-aligned", "score"])
def test_distances_of_proteomes(measure):
    given = {
        f"{number % 3}|{name}": text for number, (name, text) in enumerate(sequences(4).items())
    }
    given |= {f"{k}|copy": "ARNDCQEG" * 3 for k in range(3)}
    found = set()
    for one in orders(given):
        groups = pairalign.distance(one, group_by="name-prefix", measure=measure, mode="local")
        shares = groups.columns["query_share"], groups.columns["target_share"]
        for k, row in enumerate(groups.rows()):
            ends = dict(zip(row[:2], (shares[0][k], shares[1][k]), strict=True))
            found.add((*sorted(ends.items()), row[2], int(row[3])))
    assert len(found) == 3


def test_copies_count_in_the_shares_of_proteomes():
    """A proteome with itself is matched as a whole, whatever copies it has."""
    proteins = {"a": "ARNDCQEG" * 3, "b": "ARNDCQEG" * 3, "c": "GGEEQQCCDD" * 2, "d": "WYWYARNDHH"}
    both = {f"{group}|{name}": text for group in "XY" for name, text in proteins.items()}
    found = pairalign.distance(both, group_by="name-prefix", measure="identity", mode="local")
    assert found.columns["matched"].tolist() == [4]
    assert found.columns["query_share"].tolist() == found.columns["target_share"].tolist() == [1.0]
    del both["Y|b"]
    found = pairalign.distance(both, group_by="name-prefix", measure="identity", mode="local")
    assert found.columns["matched"].tolist() == [3]
    assert found.columns["query_share"].tolist() == [1.0]


@pytest.mark.parametrize("measure", ["ani", "tani"])
def test_distances_of_genomes(measure):
    draw = random.Random(5)
    parts = ["".join(draw.choice("ACGT") for _ in range(60)) for _ in range(4)]
    given = {}
    for number in range(3):
        for k in range(5):
            first, second = draw.choice(parts), draw.choice(parts)
            given[f"{number}|{k}"] = first + second[: draw.randrange(60)] + first[:30]
    found = set()
    for one in orders(given):
        groups = pairalign.distance(one, group_by="name-prefix", measure=measure, mode="local")
        for row in groups.rows():
            ends = sorted(zip(row[:2], row[5:7], strict=True))
            found.add((*ends, *row[2:5]))
    assert len(found) == 3


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_folds(seed, labels):
    """Clusters of equal sizes, and one that is cut."""
    given = {**sequences(seed), **{f"a{k}": "ARNDCQEGARND"[k % 3 :] for k in range(12)}}
    found = set()
    for one in orders(given):
        known = [(name[-1] in "02" and "x") or "y" for name in one] if labels else None
        parts = pairalign.split(
            one, min_identity=0.6, folds=3, tolerance=0.1, labels=known, device="cpu"
        )
        frame = zip(parts.folds, parts.clusters, parts.nearest, strict=True)
        names = parts.sequences.names
        rows = zip(names, frame, strict=True)
        found.add(
            frozenset((n, fold, own, names[k] if k >= 0 else "") for n, (fold, own, k) in rows)
        )
    assert len(found) == 1


def test_folds_of_interactions():
    draw = random.Random(7)
    given = sequences(8)
    pairs = [tuple(draw.sample(list(given), 2)) for _ in range(40)]
    found = set()
    for one in orders(given):
        draw.shuffle(pairs)
        parts = pairalign.split(one, pairs=pairs, min_identity=0.6, folds=2, device="cpu")
        kept = [(row, fold) for row, fold in zip(parts.rows, parts.folds.tolist(), strict=True)]
        found.add(frozenset(kept))
    assert len(found) == 1


@pytest.mark.parametrize("method", ["upgma", "mixed", "nj"])
@pytest.mark.parametrize("measure", ["identity", "score"])
def test_trees(method, measure):
    """The same groups of names at the same heights."""
    if method == "nj":
        pytest.importorskip("skbio", reason="scikit-bio is not installed")
    given = {**sequences(6, "ARND"), **{f"copy{k}": "ARNDARND" * 3 for k in range(3)}}
    found, of_matrices = set(), set()
    for one in orders(given):
        matrix = pairalign.distance(one, measure=measure, device="cpu")
        trees = pairalign.tree(one, method=method, measure=measure, device="cpu")
        for tree, kept in ((trees, found), (pairalign.tree(matrix, method=method), of_matrices)):
            below = [frozenset([name]) for name in tree.names]
            groups = set()
            for (left, right), lengths in zip(tree.children, tree.lengths, strict=True):
                ends = zip((below[left], below[right]), lengths.tolist(), strict=True)
                groups.add(frozenset(ends))
                below.append(below[left] | below[right])
            kept.add(frozenset(groups))
    assert len(found) == len(of_matrices) == 1


def test_every_command_is_looked_at():
    assert SET.keys() | ELSEWHERE.keys() == {one.name for one in COMMANDS}


@pytest.mark.parametrize(
    ("command", "options"),
    [
        pytest.param(command, options, id=" ".join([command, *options]))
        for command, several in SET.items()
        for options in several
    ],
)
def test_every_command(here, command, options):
    """Of a line the words in any order: the query of a pair is the earlier sequence."""
    letters = "ACGT" if "dna" in options else "ARNDCQEG"
    given = {**sequences(9, letters), **{f"copy{k}": letters * 3 for k in range(3)}}
    found = []
    for one in orders(given):
        fasta("in.fa", one)
        assert main([command, "in.fa", "-o", "out.csv", *options, "-q"]) == 0
        text = [re.split(r"[\s,]+", line) for line in lines("out.csv")]
        found.append(sorted(sorted(words) for words in text))
    assert all(one == found[0] for one in found)
