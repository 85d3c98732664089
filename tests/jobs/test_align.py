"""The Python API's `align`: what can be aligned, what is computed."""

import io
import math
from fractions import Fraction

import numpy as np
import pytest
from Bio import SeqIO
from checks import assert_equal
from commands import PROTEINS, fasta

from pairalign.alignments.thresholds import raw_minimum
from pairalign.base.error_types import UsageError
from pairalign.errors import AlphabetError, CapacityError, DeviceError, FastaError, ScoringError
from pairalign.jobs.run.align_all import align
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import DNA, PROTEIN
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

# What can be aligned


def test_everything_that_holds_sequences(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(fasta(PROTEINS))
    expected = align(path)
    assert len(expected) == 6
    records = list(SeqIO.parse(path, "fasta"))
    for sequences in (
        str(path),
        read_fasta(path),
        PROTEINS,
        records,
        iter(records),
        list(read_fasta(path)),
    ):
        assert_equal(align(sequences), expected)
    letters = list(PROTEINS.values())
    for unnamed in (
        letters,
        tuple(letters),
        iter(letters),
        (text for text in letters),
        [record.seq for record in records],
    ):
        found = align(unnamed)
        assert found.queries.names == ["seq1", "seq2", "seq3", "seq4"]
        assert_equal(found, expected, names=False)


def test_a_set_against_itself():
    """Two sets, though they are one: every sequence against every one, itself included."""
    sequences = SequenceSet.from_strings(PROTEINS)
    found = align(sequences, sequences)
    assert len(found) == 16
    for one in found:
        if one.query.name == one.target.name:
            assert one.identity == 1
    scores = {(one.query.name, one.target.name): one.score for one in found}
    assert all(scores[a, b] == scores[b, a] for a, b in scores)


def test_two_guesses_become_one():
    """A set of As and Cs looks like DNA until one knows that it is aligned with proteins."""
    proteins = {"p": "MKVLAAGW"}
    looks_like_dna = {"d": "ACCAGCA"}
    for first, second in (
        (proteins, looks_like_dna),
        (looks_like_dna, proteins),
        (proteins.values(), iter(looks_like_dna.values())),
        (iter(looks_like_dna.values()), iter(proteins.values())),
    ):
        found = align(first, second)
        assert len(found) == 1
        assert found.queries.alphabet is found.targets.alphabet is PROTEIN
    # Over both together these are DNA, as they are in two files.
    found = align({"d": "ACGT" * 20}, {"e": "ACGTRYSW"})
    assert found.queries.alphabet is found.targets.alphabet is DNA


def test_a_set_that_changes_its_alphabet_keeps_all_else(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a first of two\nACCa\n>b\nGGT\n")
    found = align(read_fasta(path), {"p": "MKV"})
    assert found.queries.alphabet is PROTEIN
    assert found.queries.descriptions == ["a first of two", "b"]
    assert [one.residues for one in found.queries] == ["ACCa", "GGT"]
    assert found.queries.source == str(path)


def test_an_alphabet_that_was_chosen_stays():
    chosen = SequenceSet.from_strings(["ACGT", "ACG"], alphabet="protein")
    assert align(chosen).scoring.matrix_name == "BLOSUM62"
    found = align(chosen, ["ACGTACGT"])
    assert found.targets.alphabet is PROTEIN


def test_the_scoring_decides_the_alphabet():
    """Unless it was chosen for the set, when that is a contradiction."""
    scoring = make_scoring("protein")
    found = align(["ACGT", "ACG"], scoring=scoring)
    assert found.queries.alphabet is PROTEIN
    assert align(["ACGT", "ACG"], iter(["ACC"]), scoring=scoring).targets.alphabet is PROTEIN
    with pytest.raises(AlphabetError, match="dna sequences, but the scoring is for protein"):
        align(SequenceSet.from_strings(["ACGT", "ACG"]), scoring=scoring)


def test_from_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(fasta(PROTEINS).encode())))
    assert_equal(align("-"), align(PROTEINS))


# What is computed


@pytest.mark.parametrize("detail", ["score", "stats", "cigar"])
@pytest.mark.parametrize("least", [1000, 1000.0, "1e3", np.int64(1000), Fraction(1000), 999.01])
def test_minimum_score(few, detail, least):
    every = align(few, detail=detail)
    kept = every.take(every.score >= math.ceil(float(least)))  # type: ignore[arg-type]
    assert 0 < len(kept) < len(every)
    assert_equal(align(few, detail=detail, min_score=least), kept)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("least", "scale", "raw"),
    [
        (None, 1, None),
        (7, 1, 7),
        (7.5, 1, 8),
        (-7.5, 1, -7),
        ("0.1", 10, 1),
        (0.1, 10, 1),
        ("0.11", 10, 2),
        (0.1 + 0.2, 10, 4),  # it is a little more than 0.3
        (0, 1, 0),
        ("-0", 1, 0),
        ("0e-99999999", 1, 0),
        ("1e-99999999", 1, 1),
        ("-1e-99999999", 1, 0),
        ("1e99999999", 100, 2**31 - 1),
        ("-1e99999999", 100, -(2**31)),
        (1e300, 1, 2**31 - 1),
        (2**31 - 1, 1, 2**31 - 1),
        (-(2**40), 1, -(2**31)),
    ],
)
def test_least_raw_score(least, scale, raw):
    costs = {1: "5", 10: "5.1", 100: "5.25"}
    scoring = make_scoring("dna", gap_open=costs[scale])
    assert scoring.scale == scale
    assert raw_minimum(least, scoring) == raw  # type: ignore[arg-type]


def test_warning_about_letters():
    with pytest.warns(UserWarning, match=r"U scored as C \(2\)"):
        align(["MKUUV", "MKVL"])


def test_arguments_out_of_range():
    pair = ["ACGT", "ACG"]
    for arguments, error, message in (
        ({"detail": "everything"}, ValueError, "detail 'everything': expected cigar, stats or sco"),
        (
            {"mode": "glocal"},
            UsageError,
            "mode 'glocal': expected one of global, semiglobal, local",
        ),
        ({"threads": 0}, ValueError, "threads 0: expected at least 1"),
        ({"window": 0}, ValueError, "window 0: expected at least 1"),
        ({"memory": 0}, ValueError, "memory 0: expected at least 1"),
        ({"min_score": float("nan")}, ScoringError, "min_score: nan is not a finite number"),
        ({"min_score": "much"}, ScoringError, "min_score: 'much' is not a finite number"),
        ({"device": "tpu"}, DeviceError, "device 'tpu' is not known"),
    ):
        with pytest.raises(error, match=message):
            align(pair, **arguments)
    for sequences, message in (
        (["ACGT"], "one sequence only, 'seq1'; a pair needs two"),
        ([], "no sequences"),
        ({}, "no sequences"),
        (["ACGT", ""], "record 2 'seq2' has no sequence"),
        (["ACGT", "AC-T"], "record 2 'seq2': letter '-' at position 3"),
        ("no/such/file.fa", "no/such/file.fa: no such file"),
    ):
        with pytest.raises(FastaError, match=message):
            align(sequences)
    with pytest.raises(FastaError, match="no sequences"):
        align(pair, [])
    assert len(align(["ACGT"], ["ACG"])) == 1


def test_a_pair_too_large(random_set):
    with pytest.raises(CapacityError) as caught:
        align(random_set, memory=1, threads=1)
    error = caught.value
    assert error.available_bytes == 1 < error.needed_bytes
    assert isinstance(error, MemoryError)
    assert_equal(align(random_set, memory=error.needed_bytes, threads=1), align(random_set))


def test_which_letters_match_themselves():
    """As docs/conventions.md has it: B, Z, J, U, O and * are unambiguous, X is not."""
    found = align({"a": "MKBZJUO*WX", "b": "MKBZJUO*WX"})
    assert found[0].cigar == "9=1X"
    other = align({"a": "MKBZJUOWKK", "b": "MKDELCKWKK"})
    assert other[0].cigar == "2=5X3="
