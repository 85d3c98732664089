"""Sequences of a set by slices, indices, names and masks."""

from pathlib import Path

import numpy as np
import pytest

import pairalign
from pairalign.errors import FastaError, WrongTypeError
from pairalign.sequences.set_reading import read_set

LETTERS = {"a": "MKVLAAGGW", "b": "MKV", "c": "MKWLAGRE", "d": "WWPHCMKVL"}


@pytest.fixture(params=["strings", "store"])
def some(request: pytest.FixtureRequest, tmp_path: Path) -> pairalign.SequenceSet:
    made = pairalign.SequenceSet.from_strings(LETTERS)
    return made if request.param == "strings" else pairalign.pack(made, tmp_path / "x.pairset")


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        (slice(2), "ab"),
        (slice(None, None, -1), "dcba"),
        (slice(1, 500), "bcd"),
        ([0, 1], "ab"),
        ([3, -4], "da"),
        (["c", "a"], "ca"),
        (np.array(["b"]), "b"),
        (np.array([2, 0]), "ca"),
        (np.array([True, False, False, True]), "ad"),
        ([False, True, True, False], "bc"),
    ],
)
def test_several(some, chosen, names):
    found = some[chosen]
    assert isinstance(found, pairalign.SequenceSet)
    assert found.names == list(names)
    assert [one.residues for one in found] == [LETTERS[name] for name in names]
    assert found.alphabet == some.alphabet
    if len(names) > 1:
        expected = pairalign.align({name: LETTERS[name] for name in names}).score
        assert pairalign.align(found).score.tolist() == expected.tolist()


def test_one(some):
    assert some["c"] == some[2] == some[-2] == some[np.int64(2)]
    assert some["c"].residues == LETTERS["c"]


@pytest.mark.parametrize(
    ("chosen", "error", "said"),
    [
        ("x", KeyError, "no sequence is called 'x'"),
        (["a", "x"], KeyError, "no sequence is called 'x'"),
        (4, IndexError, "out of range"),
        ([0, -5], IndexError, "no sequence -5: expected -4 to 3"),
        ([True], IndexError, r"mask of shape \(1,\), expected \(4,\)"),
        ([0.5], TypeError, "float64"),
        ([["a"]], TypeError, "2 axes"),
        ([], FastaError, "no sequences"),
        (slice(9, None), FastaError, "no sequences"),
        ([1, 1], FastaError, "has the name of"),
    ],
)
def test_what_is_not_there(some, chosen, error, said):
    with pytest.raises(error, match=said):
        some[chosen]


def test_messages_count_records_as_the_files_do(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.fa").write_text("".join(f">{name}{k}\nMKV\n" for k in range(3)))
    found = read_set([tmp_path / "a.fa", tmp_path / "b.fa"])[[4, 1, 2]]
    files = [f"{tmp_path}/{name}.fa" for name in "baa"]
    said = [f"record {number} of {file}" for number, file in zip("223", files, strict=True)]
    assert list(map(found.number_of, range(3))) == said
    alone = pairalign.read_fasta(tmp_path / "a.fa")[1:]
    assert alone.record(0) == "record 2 'a1'"


@pytest.mark.parametrize("wrong", [["ACGT"], {"a": "ACGT"}, "ACGT", None])
def test_the_constructor_says_what_makes_sets(wrong):
    with pytest.raises(WrongTypeError, match="from_strings"):
        pairalign.SequenceSet(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_pairs_of_a_name_and_a_sequence(kind):
    """As parsers give them, and zip does."""
    given = [("a", "MKVLA"), ["b", b"MKVL"], (3, "MKV")]
    found = pairalign.align(kind(given), device="cpu")
    assert found.queries.names == ["a", "b", "3"]
    assert found.queries[1].residues == "MKVL"
    with pytest.raises(WrongTypeError, match="item 1"):
        pairalign.align([("a", "MKV"), ("b", "MKV", "MK")])
