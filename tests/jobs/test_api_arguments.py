"""What the Python functions are given and cannot use: typed errors that name it, no guesses."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from Bio.Seq import Seq
from commands import BASES, PROTEINS

from pairalign import (
    ScoringError,
    SequenceSet,
    align,
    distance,
    make_scoring,
    overlap,
    posterior,
    read_fasta,
    tree,
)
from pairalign.errors import CapacityError, FormatError, WrongTypeError

LETTERS = list(PROTEINS.values())

# Items


@pytest.mark.parametrize(
    ("sequences", "named"),
    [
        ([float("nan"), "NANNAN"], r"item 1 .* is nan \(of type float\)"),
        (["MKV", None], r"item 2 .* is None"),
        ([None, None], "item 1"),
        ({"a": None}, r"item 1 \('a'\) is None"),
        ({"a": "MK", "b": 7}, r"item 2 \('b'\) is 7"),
        ([Path("MKV"), Path("MKL")], "item 1 .* is PosixPath"),
        ([("a", 5), ("b", "MKL")], r"item 1 \('a'\) is 5"),
        ([SimpleNamespace(seq=None, id="x"), "MKV"], r"item 1 \('x'\)"),
        ([SimpleNamespace(letters=3.0), "MKV"], "item 1"),
        (["MKV", Seq(None, 5)], "item 2 .* cannot be read"),
        ({None: "MKV", "b": "MKL"}, "name 1 is None"),
        ({b"\xff": "MKV", "b": "MKL"}, "name 1"),
        (np.zeros((3, 3)), "item 1"),
        (None, "found None"),
        (5, "found 5"),
    ],
)
def test_what_is_no_sequence_is_named(sequences, named):
    with pytest.raises(TypeError, match=named):
        align(sequences)  # type: ignore[arg-type]


TABLES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


@pytest.mark.parametrize("package", TABLES)
def test_tables_have_names_and_sequences(package):
    make = getattr(pytest.importorskip(package), TABLES[package])
    found = align(make({"Name": ["a", "b"], "length": [3, 3], "sequence": ["MKV", "MKL"]}))
    assert found.queries.names == ["a", "b"]
    assert found.score.tolist() == align(["MKV", "MKL"]).score.tolist()
    assert align(make({"seq": ["MKV", "MKL"]})).queries.names == ["seq1", "seq2"]
    for columns in ({"MKV": ["MKV"], "MKL": ["MKL"]}, {"seq": ["MK"], "sequence": ["MK"]}):
        with pytest.raises(
            WrongTypeError, match=r"found a table .* expected one named sequence or seq"
        ):
            align(make(columns))
    with pytest.raises(WrongTypeError, match="item 2"):
        align(make({"id": ["a", "b"], "seq": ["MKV", None]}))


def test_arrow_values_are_letters():
    arrow = pytest.importorskip("pyarrow")
    column = arrow.array(["MKV", "MKL"])
    assert align(column).score.tolist() == align(["MKV", "MKL"]).score.tolist()
    with pytest.raises(WrongTypeError, match=r"item 2 .*StringScalar: None"):
        align(arrow.array(["MKV", None]))


def test_one_string_is_not_a_set():
    for text in ("MKV", b"MKV"):
        with pytest.raises(WrongTypeError, match="one string"):
            SequenceSet.from_strings(text)


def test_bytes_are_letters_and_names():
    found = align({b"a": b"MKVL", "b": bytearray(b"MKVV"), 3: "MK"})
    assert found.queries.names == ["a", "b", "3"]
    assert [one.residues for one in found.queries] == ["MKVL", "MKVV", "MK"]


def test_names_of_some_records_are_kept():
    found = align([SimpleNamespace(seq="MKVL", id="x"), "MKVV", SimpleNamespace(seq=Seq("MK"))])
    assert found.queries.names == ["x", "seq2", "seq3"]


# Scoring and mode


@pytest.mark.parametrize("function", [align, distance, tree, overlap])
def test_a_mode_that_contradicts_the_scoring(function):
    scoring = make_scoring("dna", mode="semiglobal")
    for mode in ("local", "global", "nonsense"):
        with pytest.raises((ScoringError, FormatError), match=f"mode '{mode}'"):
            function(BASES, mode=mode, scoring=scoring)
    function(BASES, mode="semiglobal", scoring=scoring)


def test_the_scorings_mode_counts_where_none_is_given():
    for mode in ("global", "semiglobal", "local"):
        assert align(LETTERS, scoring=make_scoring("protein", mode=mode)).scoring.mode == mode
    assert align(LETTERS).scoring.mode == "global"
    assert overlap(BASES).alignments.scoring.mode == "semiglobal"


# Other arguments


@pytest.mark.parametrize("name", ["threads", "memory", "window"])
def test_numbers_that_are_not_whole(name):
    for value in (1.5, 2.0) if name == "memory" else (1.5, "2", 2.0):
        with pytest.raises(TypeError, match=f"{name} .*expected a whole number"):
            align(LETTERS, **{name: value})
    with pytest.raises(ValueError, match=f"{name} 0: expected at least 1"):
        align(LETTERS, **{name: 0})
    assert len(align(LETTERS, **{name: np.int64(50_000)})) == 6


def test_memory_is_a_size_as_on_the_command_line():
    assert len(align(LETTERS, memory="1.5M")) == 6
    with pytest.raises(CapacityError, match="only 1 KiB allowed"):
        align([50 * one for one in LETTERS], memory="1K")
    with pytest.raises(ValueError, match="memory '8X': expected a number with K, M, G or T"):
        align(LETTERS, memory="8X")


def test_scores_are_arguments_as_on_the_command_line():
    costs = {"match": 3, "mismatch": "-2.5", "gap_open": 7, "gap_extend": "1.5"}
    given = make_scoring("dna", **costs)
    found = align(BASES, **costs)
    assert found.raw_score.tolist() == align(BASES, scoring=given).raw_score.tolist()
    by_name = align(LETTERS, matrix="PAM250", gap_open=20, mode="local")
    by_scoring = align(LETTERS, scoring="PAM250", gap_open=20, mode="local")
    assert by_name.raw_score.tolist() == by_scoring.raw_score.tolist()
    assert by_name.scoring.matrix_name == "PAM250"
    for scoring in (given, "BLOSUM62"):
        with pytest.raises(ScoringError, match="scoring is given twice"):
            align(LETTERS, scoring=scoring, matrix="PAM250")
    with pytest.raises(ValueError, match="ties 'odd': expected one of usual, vsearch"):
        align(LETTERS, ties="odd")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'gapopen'"):
        align(LETTERS, gapopen=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(("name", "least"), [("min_overlap", 0), ("max_overlaps", 1)])
def test_numbers_of_overlaps(name, least):
    reads = list(BASES.values())
    with pytest.raises(TypeError, match=f"{name} 1.5: expected a whole number"):
        overlap(reads, **{name: 1.5})
    with pytest.raises(ValueError, match=f"{name} {least - 1}: expected at least {least}"):
        overlap(reads, **{name: least - 1})
    for value in (np.int64(least), 2**70):
        overlap(reads, device="cpu", preset="short", **{name: value})


@pytest.mark.parametrize(
    ("function", "name", "value", "expected"),
    [
        (align, "device", None, "auto, cpu, cuda"),
        (align, "hsps", None, "a whole number of at least 1"),
        (align, "memory", 1e9, "a whole number"),
        (align, "mask", None, "one of none, tantan, seg"),
        (align, "degap", None, "True or False"),
        (align, "device", 3, "a str, such as auto"),
        (align, "free_ends", 3, "some of query-start"),
        (distance, "extend", 3, "the distances of a set"),
        (tree, "method", None, "one of upgma, mixed, nj"),
        (posterior, "threshold", None, "0.001 to 1"),
    ],
)
def test_arguments_of_a_wrong_type_are_named(function, name, value, expected):
    """Each is an error of pairalign, and Python's TypeError."""
    with pytest.raises(WrongTypeError, match=f"{name} {value}: expected {expected}") as raised:
        function(LETTERS, **{name: value})
    assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("name", ["threads", "memory", "window"])
def test_numbers_beyond_64_bits_are_as_good_as_any(name):
    """2**70 bytes became 0 in C."""
    assert (align(LETTERS, **{name: 2**70}).raw_score == align(LETTERS).raw_score).all()


def test_what_is_no_file():
    with pytest.raises(WrongTypeError, match=r"expected the path .* found None"):
        read_fasta(None)  # type: ignore[arg-type]


def test_an_array_is_no_distance_matrix():
    with pytest.raises(TypeError, match="from_square"):
        tree(np.zeros((3, 3)))
