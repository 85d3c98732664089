"""Families of DNA whose sequences are on either strand."""

import json

import numpy as np
import pytest

import pairalign
from pairalign.base.error_types import FastaError
from pairalign.cli.main import main
from pairalign.jobs.msa.other_strand import find_other_strand
from pairalign.requests.resources import Resources
from pairalign.sequences.complement import turn_sequences
from pairalign.sequences.sets import SequenceSet

BASES = list("ACGT")


def _family(count: int, length: int, change: float, seed: int) -> SequenceSet:
    random = np.random.default_rng(seed)
    ancestor, strings = random.choice(BASES, length), []
    for _ in range(count):
        own = ancestor.copy()
        changed = random.random(length) < change
        own[changed] = random.choice(BASES, int(changed.sum()))
        strings.append("".join(np.delete(own, random.integers(0, length, 3))))
    return SequenceSet.from_strings(strings, [f"s{k}" for k in range(count)], alphabet="dna")


def _turned(sequences: SequenceSet, indices: list[int]) -> SequenceSet:
    """Return the set with some sequences on the other strand, under their names."""
    return turn_sequences(sequences, np.array(indices), "")


def _rows(alignment: pairalign.MultipleAlignment) -> dict[str, str]:
    names = alignment.sequences.names
    return {name.removeprefix("_R_"): alignment.text(k) for k, name in enumerate(names)}


@pytest.mark.parametrize(("count", "length"), [(2, 60), (5, 80), (12, 150), (60, 90)])
def test_what_was_turned_is_turned_back(count, length):
    family = _family(count, length, 0.25, count)
    order = np.random.default_rng(1).permutation(count).astype(np.int32)
    turned = sorted(range(count), key=lambda k: len(family[k]))[: count // 2 - (count > 2)]
    dirty = _turned(family, turned).reordered(order)
    alignment = pairalign.msa(dirty, strand="both", threads=1)
    assert _rows(alignment) == _rows(pairalign.msa(family.reordered(order), threads=1))
    marked = {name for name in alignment.sequences.names if name.startswith("_R_")}
    assert marked == {f"_R_s{k}" for k in turned}
    assert {int(order[k]) for k in alignment.turned} == set(turned)
    assert alignment.other_strand == ()


def test_what_is_on_the_other_strand_is_said(tmp_path, capsys):
    dirty = _turned(_family(7, 120, 0.2, 3), [2, 5])
    alignment = pairalign.msa(dirty, threads=1)
    assert (alignment.other_strand, alignment.turned) == ((2, 5), ())
    assert [one.residues for one in alignment.sequences] == [one.residues for one in dirty]
    path = tmp_path / "x.fa"
    path.write_text("".join(f">{one.name}\n{one.residues}\n" for one in dirty))
    main(["msa", str(path), "-o", str(tmp_path / "x.afa")])
    assert "s2 and s5 are the other strand: --strand both turns them\n" in capsys.readouterr().err
    out = tmp_path / "y.afa"
    main(["msa", str(path), "-o", str(out), "--strand", "both", "--summary", "json"])
    facts = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert facts["turned"] == ["_R_s2", "_R_s5"]
    assert "other_strand" not in facts
    assert [line for line in out.read_text().splitlines() if "_R_" in line] == [">_R_s2", ">_R_s5"]


def test_added_sequences_are_turned_to_the_alignment():
    """Even if most of all are on their strand."""
    family = _family(9, 120, 0.2, 4)
    old = pairalign.msa(family[[0, 1, 2]], threads=1)
    new = family[[3, 4, 5, 6, 7, 8]]
    clean = pairalign.msa(add=new, to=old, threads=1)
    dirty = pairalign.msa(add=_turned(new, [0, 1, 2, 3, 5]), to=old, strand="both", threads=1)
    assert _rows(dirty) == _rows(clean)
    assert dirty.turned == (3, 4, 5, 6, 8)
    assert pairalign.msa(add=new, to=old, threads=1).other_strand == ()


def test_many_are_compared_with_representatives():
    family = _family(700, 150, 0.3, 5)
    turned = list(range(0, 700, 3))
    assert find_other_strand(_turned(family, turned), Resources()) == tuple(turned)


def test_of_unrelated_sequences_few_are_said():
    random = np.random.default_rng(6)
    strings = ["".join(random.choice(BASES, 200)) for _ in range(200)]
    found = find_other_strand(SequenceSet.from_strings(strings, alphabet="dna"), Resources())
    assert len(found) <= 10


def test_case_and_uracil_stay():
    sequences = SequenceSet.from_strings({"a": "aCGUNry", "b": "GGGG"}, alphabet="dna")
    found = turn_sequences(sequences, np.array([0]), "_R_")
    assert [(one.name, one.residues) for one in found] == [("_R_a", "ryNACGu"), ("b", "GGGG")]
    again = turn_sequences(found, np.array([0]), "")
    assert again[0].residues == "aCGUNry"


def test_a_name_that_is_taken_is_refused():
    family = _family(3, 80, 0.1, 7)
    names = ["a", "b", "_R_a"]
    strings = [one.residues for one in _turned(family, [0])]
    taken = SequenceSet.from_strings(strings, names, alphabet="dna")
    with pytest.raises(FastaError, match=r"record 3 '_R_a' has the name of record 1"):
        pairalign.msa(taken, strand="both")


def test_families_are_turned(tmp_path, capsys):
    families = {name: _turned(_family(5, 90, 0.2, k), [k]) for k, name in enumerate("abc")}
    found = dict(pairalign.align_families(families, strand="both", threads=2))
    assert {name: one.turned for name, one in found.items()} == {"a": (0,), "b": (1,), "c": (2,)}
    for name, one in families.items():
        path = tmp_path / f"{name}.fa"
        path.write_text("".join(f">{one.name}\n{one.residues}\n" for one in one))
    paths = [str(tmp_path / f"{name}.fa") for name in families]
    main(["msa", *paths, "-o", str(tmp_path / "out")])
    assert "s0, s1 and s2 are the other strand" in capsys.readouterr().err
