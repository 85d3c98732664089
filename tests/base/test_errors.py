"""Errors say what was found, however long it is."""

import copy
import pickle
from pathlib import Path

import pytest

import pairalign
from pairalign.base.error_types import (
    AlignmentFileError,
    FastaError,
    FormatError,
    OutputError,
    PairalignError,
    PairListError,
    PartsError,
    ScoringError,
    SplitError,
)
from pairalign.jobs.splits.labels import read_values


@pytest.mark.parametrize("kind", [PairalignError, FastaError, FormatError, OutputError])
def test_a_long_message_is_shown_without_its_middle(kind):
    error = kind(f"x.fa: record 2: found '{'y' * 100_000}', expected a number")
    for one in (error, copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        said = str(one)
        assert len(said) < 2100
        assert said.startswith("x.fa: record 2: found 'yyy")
        assert said.endswith("yyy', expected a number")
    assert str(kind("short")) == "short"


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (lambda path: pairalign.read_fasta(path), FastaError),
        (lambda path: pairalign.align(["MKV", "MKI"], matrix=path), ScoringError),
        (lambda path: pairalign.align(["MKV", "MKI"], matrix=Path(path)), ScoringError),
        (lambda path: pairalign.align(["MKV", "MKI"], pairs=path), PairListError),
        (lambda path: pairalign.overlap(["ACGT" * 9] * 2, candidates=path), PairListError),
        (lambda path: pairalign.verify(f"{path}.paf", ["MKV", "MKI"]), AlignmentFileError),
        (lambda path: pairalign.tree(f"{path}.phy"), PairalignError),
        (lambda path: pairalign.msa(["MKV", "MKI"], tree_in=path), FastaError),
        (lambda path: read_values(pairalign.align(["MKV", "MKI"]).queries, "x", path), SplitError),
        (lambda path: pairalign.audit(f"{path}.csv", ["MKV", "MKI"]), SplitError),
        (lambda path: pairalign.merge(path, f"{path}.paf"), PartsError),
    ],
)
def test_a_missing_file_is_an_error_of_python_too(read, kind, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        read(f"{tmp_path}/none")
    assert isinstance(caught.value, kind)
    assert f"{tmp_path}/none" in str(caught.value)
    assert "no such file" in str(caught.value).lower() or "neither a file" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    # As tblib makes errors anew, which `distributed` has pickle do.
    again = type(caught.value).__new__(type(caught.value), *caught.value.args)
    assert str(again) == str(caught.value)
