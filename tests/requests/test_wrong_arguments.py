"""Arguments that make no sense are refused by the name that Python has for them."""

from typing import Any

import numpy as np
import pytest

import pairalign
from pairalign.errors import UsageError, WrongTypeError

SEQUENCES = {"a": "MKVLAAGIVG", "b": "MKVLSAGIVG", "c": "MKLAAGIV"}


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (pairalign.align, {"mode": "local", "max_evalue": "1e-3"}),
        (pairalign.align, {"mode": "local", "search_space": "x"}),
        (pairalign.align, {"also": 5}),
        (pairalign.split, {"seed": "x"}),
        (pairalign.cluster, {"min_identity": 0.5, "extend": [0.5, 1.5, 2.5], "linkage": "single"}),
        (pairalign.distance, {"sparse": True, "max_edits": "x"}),
        (pairalign.posterior, {"threads": 1.5}),
        (pairalign.msa, {"partners": 2.5}),
        (pairalign.msa, {"seed": "x"}),
        (pairalign.align, {"pairs": [7]}),
        (pairalign.align, {"pairs": 7}),
        (pairalign.align, {"executor": 7}),
        (pairalign.split, {"labels": 7}),
    ],
)
def test_values_of_another_type(function, options):
    wrong = next(name for name in reversed(options) if name not in ("linkage", "min_identity"))
    with pytest.raises(WrongTypeError, match=f"^{wrong}\\b.*expected"):
        function(SEQUENCES, **options)


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (pairalign.merge, {"output": "x.tsv", "parts": 7}),
        (pairalign.merge, {"parts": "x", "output": b"x.tsv"}),
        (pairalign.merge, {"parts": "x", "output": "x.tsv", "threads": "2"}),
        (pairalign.update, {"new": "x.fa", "output": "x.tsv", "parts": None}),
        (pairalign.update, {"parts": "x", "output": "x.tsv", "new": 7}),
        (pairalign.update, {"parts": "x", "output": "x.tsv", "new": [7]}),
        (pairalign.update, {"parts": "x", "new": "x.fa", "output": 7}),
        (pairalign.verify, {"sequences": SEQUENCES, "alignments": 7}),
        (pairalign.verify, {"sequences": SEQUENCES, "alignments": "x.paf", "columns": [7]}),
        (pairalign.rotate, {"sequences": {"a": "ACGT"}, "to": 7}),
        (pairalign.read_fasta, {"source": "x.fa", "also": 7}),
        (lambda **options: list(pairalign.align_families(**options)), {"families": 7}),
        (
            lambda **options: list(pairalign.align_families(**options)),
            {"families": {"f": SEQUENCES}, "device": 7},
        ),
    ],
)
def test_places_of_another_type(function, options):
    with pytest.raises(WrongTypeError, match=f"^{list(options)[-1]}\\b.*expected"):
        function(**options)


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (pairalign.align, {"mode": "local", "max_evalue": -1}),
        (pairalign.align, {"mode": "local", "max_evalue": float("nan")}),
        (pairalign.align, {"mode": "local", "search_space": -1.0}),
        (pairalign.distance, {"sparse": True, "max_drop": -1}),
        (pairalign.posterior, {"threads": 0}),
        (pairalign.msa, {"partners": 0}),
        (pairalign.msa, {"seed": -1}),
        (pairalign.msa, {"threads": 0}),
    ],
)
def test_values_out_of_range(function, options):
    with pytest.raises(ValueError, match=f"^{list(options)[-1]} .*: expected"):
        function(SEQUENCES, **options)


def test_functions_of_alignments_check_before_they_align():
    first = pairalign.msa(SEQUENCES)
    second = pairalign.msa({"d": "MKVLAAG", "e": "MKVLAG"})
    with pytest.raises(ValueError, match="partners 0: expected at least 1"):
        pairalign.msa([first, second], merge=True, partners=0)
    with pytest.raises(ValueError, match="partners 0: expected at least 1"):
        pairalign.msa(add={"d": "MKVLAAG"}, to=first, partners=0)
    with pytest.raises(ValueError, match="threads 0: expected at least 1"):
        list(pairalign.align_families({"f": SEQUENCES}, threads=0))
    for function in (
        pairalign.msa,
        lambda one, **more: list(pairalign.align_families(one, **more)),
    ):
        with pytest.raises(UsageError, match="keep_homologs needs homologs="):
            function(SEQUENCES, keep_homologs=True)


def test_other_files_of_a_set_that_is_no_file_are_not_left_out_silently():
    for given in (
        SEQUENCES,
        list(SEQUENCES.values()),
        pairalign.SequenceSet.from_strings(SEQUENCES),
    ):
        with pytest.raises(UsageError, match="also is of sequences in files"):
            pairalign.align(given, also="more.fasta")


def test_an_unknown_argument_is_refused_as_python_does():
    with pytest.raises(TypeError, match=r"^align\(\) got an unexpected keyword argument 'moed'"):
        pairalign.align(SEQUENCES, moed="local")  # type: ignore[call-arg]


TWO = pairalign.SequenceSet.from_strings({"a": "MKV", "b": "MV"}, alphabet="protein")


def alignment_of(columns: list[Any]) -> pairalign.MultipleAlignment:
    nothing = np.zeros(5), np.zeros(5, np.int32), np.zeros(5)
    return pairalign.MultipleAlignment(TWO, np.array(columns), 3, *nothing, None)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ([0, 1, 2], "shape"),
        ([0.0, 1.0, 2.0, 0.0, 1.0], "whole numbers"),
        ([0, 1, 3, 0, 1], "found 0 to 3, expected 0 to 2"),
        ([-1, 1, 2, 0, 1], "found -1 to 2, expected 0 to 2"),
        ([0, 1, 2, 1, 1], "record 2 'b' do not rise"),
        ([0, 2, 1, 0, 1], "record 1 'a' do not rise"),
    ],
)
def test_columns_of_no_alignment(columns, says):
    with pytest.raises(ValueError, match=f"^columns: .*{says}"):
        pairalign.msa(TWO, confidence_of=alignment_of(columns))
    with pytest.raises(ValueError, match=f"^columns: .*{says}"):
        pairalign.msa(add={"c": "MKV"}, to=alignment_of(columns))
    with pytest.raises(ValueError, match=f"^columns: .*{says}"):
        pairalign.msa([alignment_of(columns), alignment_of([0, 1, 2, 0, 2])], merge=True)


def test_columns_of_an_alignment():
    found = pairalign.msa(TWO, confidence_of=alignment_of([0, 1, 2, 0, 2]))
    assert [found.text(index) for index in range(2)] == ["MKV", "M-V"]
