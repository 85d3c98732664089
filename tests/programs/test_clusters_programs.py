"""Clusters beside those of vsearch and CD-HIT, and our files read by CD-HIT's own program.

What a linkage promises is checked pair by pair: of single linkage no pair that is similar enough is
split, of complete linkage no other is joined, of greedy linkage every sequence is similar enough to
its representative and no two representatives are. Other programs keep the same promises of greedy
linkage only as far as their searches go, so they are held to families that are far apart.
"""

import shutil
import subprocess
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from pairalign import Clusters, align, cluster, read_fasta
from pairalign.jobs.clusters.cluster_files import write_clusters

P450 = Path(__file__).parents[2] / "examples" / "cytochrome_p450.fasta"
LETTERS = {"dna": "ACGT", "protein": "ARNDCQEGHILKMFPSTWYV"}
Partition = set[frozenset[str]]


def distant_families(alphabet: str, members: int = 6) -> dict[str, str]:
    """Families of sequences of one length: up to 2% of letters differ from the ancestor."""
    rng = np.random.default_rng(12)
    letters = list(LETTERS[alphabet])
    made = {}
    for family in range(5):
        ancestor = rng.choice(letters, 200 + 10 * family)
        for member in range(members):
            one = ancestor.copy()
            places = rng.choice(len(one), int(0.02 * len(one)), replace=False)
            one[places] = rng.choice(letters, len(places))
            made[f"f{family}_{member}"] = "".join(one)
    return made


def partition_of(rows: list[tuple[str, str]]) -> Partition:
    """Names by their clusters, of (cluster, name)."""
    groups: dict[str, set[str]] = {}
    for label, name in rows:
        groups.setdefault(label, set()).add(name)
    return {frozenset(names) for names in groups.values()}


def by_vsearch(kind: str) -> Callable[[Path], Partition]:
    def run(folder: Path) -> Partition:
        call(folder, "vsearch", f"--cluster_{kind}", "in.fa", "--id", "0.9", "--uc", "out.uc")
        rows = [line.split("\t") for line in (folder / "out.uc").read_text().splitlines()]
        return partition_of([(row[1], row[8]) for row in rows if row[0] in "SH"])

    return run


def by_cdhit(*program: str) -> Callable[[Path], Partition]:
    def run(folder: Path) -> Partition:
        call(folder, *program, "-i", "in.fa", "-o", "out", "-c", "0.9", "-d", "0")
        return read_by_cdhit(folder, "out.clstr")

    return run


def read_by_cdhit(folder: Path, name: str) -> Partition:
    """Clusters of a .clstr file, read by CD-HIT's converter."""
    script = "/usr/lib/cd-hit/clstr2txt.pl"
    if not Path(script).exists():
        pytest.skip("CD-HIT's clstr2txt.pl is not installed")
    lines = call(folder, "perl", script, name).splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return partition_of([(row[1], row[0]) for row in rows])


def call(folder: Path, *arguments: str) -> str:
    if shutil.which(arguments[0]) is None:
        pytest.skip(f"{arguments[0]} is not installed")
    done = subprocess.run(arguments, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


PROGRAMS: list[tuple[str, str, Callable[[Path], Partition]]] = [
    ("dna", "vsearch --cluster_fast", by_vsearch("fast")),
    ("dna", "vsearch --cluster_size", by_vsearch("size")),
    ("dna", "cd-hit-est", by_cdhit("cd-hit-est", "-r", "0")),
    ("dna", "cd-hit-est -g 1", by_cdhit("cd-hit-est", "-r", "0", "-g", "1")),
    ("protein", "cd-hit", by_cdhit("cd-hit")),
    ("protein", "cd-hit -g 1", by_cdhit("cd-hit", "-g", "1")),
]


@pytest.mark.parametrize(("alphabet", "name", "program"), PROGRAMS, ids=lambda one: str(one)[:30])
def test_families_that_are_far_apart(alphabet, name, program, tmp_path):
    sequences = distant_families(alphabet)
    (tmp_path / "in.fa").write_text("".join(f">{n}\n{s}\n" for n, s in sequences.items()))
    theirs = program(tmp_path)
    assert len(theirs) == 5, name
    for linkage in ("greedy", "single", "complete", "average"):
        found = cluster(
            sequences, min_identity=0.9, identity_of="shorter", linkage=linkage, device="cpu"
        )
        assert {frozenset(names) for names in found} == theirs, (name, linkage)


@pytest.mark.parametrize("alphabet", ["dna", "protein"])
def test_cdhit_reads_our_clusters(alphabet, tmp_path):
    found = cluster(distant_families(alphabet), min_identity=0.97, device="cpu")
    write_clusters(tmp_path / "ours.clstr", found)
    assert read_by_cdhit(tmp_path, "ours.clstr") == {frozenset(names) for names in found}
    assert len(found) > 5


@pytest.fixture(scope="module")
def alike() -> dict[frozenset[str], Fraction]:
    """Identity, matches by letters of the shorter, of each pair of human P450 proteins."""
    found = align(P450, mode="semiglobal", device="cpu")
    return {
        frozenset((p.query.name, p.target.name)): Fraction(
            p.matches, min(len(p.query), len(p.target))
        )
        for p in found
    }


@pytest.mark.parametrize("least", ["0.4", "0.55", "70%"])
def test_what_linkages_promise_of_proteins(least, alike):
    share = Fraction(least.rstrip("%")) / (100 if "%" in least else 1)
    passes = {pair for pair, identity in alike.items() if identity >= share}
    proteins = read_fasta(P450)

    def clusters(linkage: str) -> tuple[Clusters, set[frozenset[str]]]:
        found = cluster(
            proteins,
            min_identity=least,
            identity_of="shorter",
            linkage=linkage,
            mode="semiglobal",
            device="cpu",
        )
        return found, {frozenset(pair) for names in found for pair in combinations(names, 2)}

    single, joined_by_single = clusters("single")
    assert passes <= joined_by_single
    assert 1 <= len(single) < len(proteins)
    _, joined_by_complete = clusters("complete")
    assert joined_by_complete <= passes
    assert joined_by_complete
    greedy, _ = clusters("greedy")
    leaders = [names[0] for names in greedy]
    assert not passes & {frozenset(pair) for pair in combinations(leaders, 2)}
    assert all(frozenset((names[0], one)) in passes for names in greedy for one in names[1:])
