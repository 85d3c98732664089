"""Homologs of a database: which are found and chosen, and that the family alone is left."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import fasta

import pairalign
from pairalign.cli.main import main
from pairalign.errors import AlphabetError, UsageError
from pairalign.jobs.msa.homolog_search import LEAST_COVERED, find_homologs
from pairalign.requests.resources import Resources
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree_text import read_newick

RESIDUES = list("ARNDCQEGHILKMFPSTWYV")
LENGTH = 110
RANDOM = np.random.default_rng(5)
ANCESTOR = RANDOM.choice(RESIDUES, LENGTH)


def random_residues(count: int) -> str:
    return "".join(RANDOM.choice(RESIDUES, count))


def relative(share: float) -> str:
    """A descendant of which a share has changed, with a deletion."""
    own = np.where(RANDOM.random(LENGTH) < share, RANDOM.choice(RESIDUES, LENGTH), ANCESTOR)
    return "".join(np.delete(own, RANDOM.integers(5, LENGTH - 5, 2)))


FAMILY = {f"m{k}": relative(0.55) for k in range(4)}
CORES = {f"near{k}": relative(0.3) for k in range(8)} | {
    f"far{k}": relative(0.45) for k in range(8)
}
PLANTED = {name: random_residues(25) + core + random_residues(30) for name, core in CORES.items()}
DECOYS = {f"other{k}": random_residues(90) for k in range(40)}
COPY = {"copy_of_m1": random_residues(9) + FAMILY["m1"]}
TWIN = {"a_twin": CORES["near3"]}
"""The residues of a hit, under an earlier name."""
DATABASE = DECOYS | PLANTED | COPY | TWIN


def make_set(sequences: dict[str, str]) -> SequenceSet:
    return SequenceSet.from_strings(sequences, alphabet="protein")


def found_in(database: dict[str, str], most: int = 50, family: dict[str, str] = FAMILY) -> Any:
    sets = {"": make_set(family)}
    return find_homologs(sets, make_set(database), most=most, resources=Resources(device="cpu"))[""]


def rows(alignment: Any) -> dict[str, str]:
    return {name: alignment.text(k) for k, name in enumerate(alignment.sequences.names)}


def turned(sequences: dict[str, str]) -> dict[str, str]:
    return dict(reversed(sequences.items()))


def best_hits(database: dict[str, str]) -> dict[str, str]:
    """What `align` finds: of each sequence of the database the part that scores most, by name."""
    best: dict[str, Any] = {}
    found = pairalign.align(make_set(FAMILY), make_set(database), mode="local", max_evalue=1e-3)
    for hit in found:
        before = best.setdefault(hit.target.name, hit)
        if hit.score > before.score:
            best[hit.target.name] = hit
    return dict(cut(hit) for hit in best.values() if covered(hit) >= LEAST_COVERED)


def covered(hit: Any) -> float:
    """The share of the member that a hit has."""
    return (hit.query_end - hit.query_start) / len(hit.query.residues)


def cut(hit: Any) -> tuple[str, str]:
    """The name and residues of a hit, with residues beside it as far as the member goes."""
    start = max(hit.target_start - hit.query_start, 0)
    stop = hit.target_end + len(hit.query.residues) - hit.query_end
    letters = hit.target.residues[start:stop]
    return f"homolog_{hit.target.name}/{start + 1}-{start + len(letters)}", letters


def test_hits_are_those_of_align_trimmed():
    hits, found = best_hits(DATABASE), found_in(DATABASE, most=1000)
    assert found.found == len(set(hits.values())) > 12
    taken = {one.name: one.residues for one in found.sequences}
    assert taken.items() <= hits.items()
    assert len(taken) == len(found) == len(found.identities) == found.found
    assert (np.diff(found.identities) <= 0).all()
    assert sum("near3" in name or "a_twin" in name for name in taken) == 1


def test_hits_of_a_part_of_the_member_are_left_out():
    """What is beside them is not what is beside the part in the member."""
    cores = dict([*PLANTED.items()][:4])
    long = {name: residues + random_residues(90) for name, residues in FAMILY.items()}
    assert found_in(cores).found == 4
    assert found_in(cores, family=long).found == 0
    longer = {name: residues + random_residues(30) for name, residues in FAMILY.items()}
    assert found_in(cores, family=longer).found > 0


@pytest.mark.parametrize("keep", [False, True])
def test_only_distant_families_are_searched_unless_homologs_are_kept(keep, caplog):
    caplog.set_level("INFO")
    near = {f"n{k}": relative(0.1) for k in range(3)}
    distant, close = (
        pairalign.msa(family, homologs=DATABASE, keep_homologs=keep).homologs
        for family in (FAMILY, near)
    )
    assert distant.found > 0
    assert (close.found > 0) == (len(close) > 0) == keep
    assert caplog.text.count("the family is not distant: it takes no homologs") == (not keep)


def test_whether_a_large_family_is_distant_takes_no_posteriors_of_all_pairs():
    small = Resources(device="cpu", memory=40 << 20, threads=1)
    for share in (0.1, 0.55):
        large = make_set({f"m{k}": relative(share) for k in range(200)})
        found = find_homologs({"": large}, make_set(PLANTED), most=300, resources=small)[""]
        assert (found.found > 0) == (share > 0.1)


def test_what_is_far_has_no_place_beyond_the_limit():
    """An E-value grows with the database: the farthest hits are none in a larger one."""
    few = found_in(DATABASE, most=1000)
    many = found_in(DATABASE | {f"more{k}": random_residues(3000) for k in range(400)}, most=1000)
    assert 0 < many.found < few.found
    assert not found_in(DECOYS, most=1000)
    assert found_in(DECOYS).sequences is None


@pytest.mark.parametrize("most", [4, 5, 6, 9])
def test_they_are_spread_from_near_to_far(most):
    every, some = found_in(DATABASE, most=1000), found_in(DATABASE, most=most)
    assert len(some) == most - len(FAMILY)
    assert some.found == (0 if most == len(FAMILY) else every.found)
    if len(some) > 1:
        assert some.identities[[0, -1]].tolist() == every.identities[[0, -1]].tolist()


def test_neither_order_nor_other_families_matter():
    one = found_in(DATABASE, most=9)
    for database, family in ((turned(DATABASE), FAMILY), (DATABASE, turned(FAMILY))):
        other = found_in(database, most=9, family=family)
        assert [*other.sequences] == [*one.sequences]
    sets = {"first": make_set(DECOYS), "": make_set(FAMILY)}
    both = find_homologs(sets, make_set(DATABASE), most=9, resources=Resources(device="cpu"))
    assert [*both[""].sequences] == [*one.sequences]


def test_the_family_alone_is_left():
    kept = pairalign.msa(FAMILY, homologs=DATABASE, homologs_per_family=12, keep_homologs=True)
    alignment = pairalign.msa(FAMILY, homologs=DATABASE, homologs_per_family=12)
    assert kept.sequences.names[4:] == alignment.homologs.sequences.names
    assert len(kept) == 12
    assert alignment.sequences.names == list(FAMILY)
    for name, row in rows(alignment).items():
        assert row.replace("-", "") == FAMILY[name]
    whole = np.stack([kept.row(k) for k in range(4)])
    left = np.stack([alignment.row(k) for k in range(4)])
    assert (whole[:, (whole != ord("-")).any(axis=0)] == left).all()
    assert (alignment.occupancy > 0).all()
    again = pairalign.msa(FAMILY, confidence_of=alignment)
    assert np.array_equal(again.residue_confidence, alignment.residue_confidence, equal_nan=True)
    assert alignment.tree.names == list(FAMILY)
    assert sorted(alignment.tree.leaves()) == [0, 1, 2, 3]
    depths = kept.tree.to_biopython(), alignment.tree.to_biopython()
    for one in FAMILY:
        for other in FAMILY:
            far, near = (tree.distance(one, other) for tree in depths)
            assert near == pytest.approx(far)


def test_without_homologs_it_is_what_it_was():
    plain, alignment = pairalign.msa(FAMILY), pairalign.msa(FAMILY, homologs=DECOYS)
    assert rows(alignment) == rows(plain)
    assert np.array_equal(alignment.residue_confidence, plain.residue_confidence, equal_nan=True)
    assert (len(alignment.homologs), alignment.homologs.found) == (0, 0)
    assert plain.homologs is None


@pytest.mark.parametrize("keep", [False, True])
def test_families_are_those_of_single_runs(keep):
    families = {"a": FAMILY, "decoys": dict([*DECOYS.items()][:3]), "one": {"m0": FAMILY["m0"]}}
    given: dict[str, Any] = {"homologs_per_family": 8, "keep_homologs": keep}
    made = dict(pairalign.align_families(families, homologs=DATABASE, **given))
    for name, family in families.items():
        assert rows(made[name]) == rows(pairalign.msa(family, homologs=DATABASE, **given))
    assert len(made["one"]) == (8 if keep else 1)


@pytest.fixture
def files(here: Path) -> None:
    Path("in.fa").write_text(fasta(FAMILY))
    Path("two.fa").write_text(fasta(dict([*FAMILY.items()][1:3])))
    Path("db.fa").write_text(fasta(DATABASE))


def test_the_command(files, capsys):
    command = ["msa", "in.fa", "--homologs-per-family", "9"]
    assert main([*command, "--homologs", "db.fa", "-o", "o.sto", "--tree-out", "o.nwk"]) == 0
    assert "5 of" in (said := capsys.readouterr().err)
    assert "identical to the nearest sequence" in said
    assert main(["pack", "db.fa", "-o", "db.pairset", "-q"]) == 0
    again = [*command, "--homologs", "db.pairset", "--summary", "json", "--resume"]
    assert main([*again, "-o", "again.sto"]) == 0
    assert Path("again.sto").read_bytes() == Path("o.sto").read_bytes()
    facts = json.loads(capsys.readouterr().err.splitlines()[-1])["homologs"]
    assert facts["aligned"] == 5 < facts["found"]
    assert 0 < facts["identities"][0] < facts["identities"][1] == 1
    assert read_newick("o.nwk", list(FAMILY)).names == list(FAMILY)
    for output in ("o.afa", "o.aln", "o.sto", "o.a2m"):
        assert main([*again, "--keep-homologs", "-o", output]) == 0
        assert Path(output).read_text().count("homolog_") >= 5


def test_the_command_with_families(files, capsys):
    command = ["msa", "in.fa", "two.fa", "--homologs", "db.fa", "--summary", "json"]
    assert main([*command, "-o", "made"]) == 0
    facts = json.loads(capsys.readouterr().err.splitlines()[-1])["homologs"]
    assert facts["families_without"] == 0
    for name in ("in", "two"):
        assert main(["msa", f"{name}.fa", "--homologs", "db.fa", "-o", "alone.afa", "-q"]) == 0
        assert Path("made", f"{name}.afa").read_bytes() == Path("alone.afa").read_bytes()


def test_members_may_have_names_of_homologs():
    name = found_in(DATABASE).sequences.names[-1]
    family = {name: FAMILY["m0"], **dict([*FAMILY.items()][1:])}
    for keep in (False, True):
        made = pairalign.msa(family, homologs=DATABASE, keep_homologs=keep)
        assert rows(made)[name].replace("-", "") == FAMILY["m0"]
        assert (f"{name}_2" in made.sequences.names) == keep


def test_names_for_the_tree_are_checked_first(files, capsys):
    odd = {f"{name};": residues for name, residues in DATABASE.items()}
    Path("odd.fa").write_text(fasta(odd))
    command = ["msa", "in.fa", "--homologs", "odd.fa", "--keep-homologs", "--tree-out", "t.nwk"]
    assert main([*command, "-o", "-"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "in.fa: sequence 5 " in said.err


def test_refusals():
    tree = pairalign.msa(FAMILY).tree
    with pytest.raises(UsageError, match="tree_in is of the sequences as they are"):
        pairalign.msa(FAMILY, tree_in=tree, homologs=DATABASE)
    bases = SequenceSet.from_strings({"d": "ACGTTGCA" * 9}, alphabet="dna", source="bases.fa")
    with pytest.raises(
        AlphabetError, match=r"protein, but its homologs .* bases\.fa, which is dna"
    ):
        pairalign.msa(make_set(FAMILY), homologs=bases)
    with pytest.raises(ValueError, match="homologs_per_family 0: expected at least 1"):
        pairalign.msa(FAMILY, homologs=DATABASE, homologs_per_family=0)
