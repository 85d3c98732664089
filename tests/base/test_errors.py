"""Errors say what was found, however long it is."""

from __future__ import annotations

import copy
import pickle

import pytest

from pairalign.base.error_types import FastaError, FormatError, OutputError, PairalignError


@pytest.mark.parametrize("kind", [PairalignError, FastaError, FormatError, OutputError])
def test_a_long_message_is_shown_without_its_middle(kind: type[PairalignError]) -> None:
    error = kind(f"x.fa: record 2: found '{'y' * 100_000}', expected a number")
    for one in (error, copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        said = str(one)
        assert len(said) < 2100
        assert said.startswith("x.fa: record 2: found 'yyy")
        assert said.endswith("yyy', expected a number")
    assert str(kind("short")) == "short"
