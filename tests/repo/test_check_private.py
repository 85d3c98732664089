"""The check that private names stay in their modules sees what it should see."""

import ast

import pytest
from check_private import borrowed


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("found._stat(1)", ["_stat"]),
        ("from pairalign.sequences.fasta_records import _open", ["_open"]),
        ("import pairalign._native", ["_native"]),
        ("from pairalign import _native", ["_native"]),
        ("class A:\n def f(self): return self._b + super()._c()", []),
        ("class A:\n def f(self, other): self._b = other._b", []),
        ("import os\nos._exit(1)\nx.__name__", []),
    ],
)
def test_borrowed_names(source, found):
    assert [name for _, name in borrowed(ast.parse(source))] == found
