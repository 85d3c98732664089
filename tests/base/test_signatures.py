"""The table of native signatures says what the C++ sources declare."""

import ctypes
import re
from pathlib import Path

import pytest

from pairalign.base.native import SIGNATURES, Pointer, library, words_of

CPU = Path(__file__).resolve().parents[2] / "cpu"
DECLARATION = re.compile(r"PAIRALIGN_API\s+([\w\s]+?[\s*]+)pairalign_(\w+)\s*\(([^)]*)\)")


def word_of(declared: str) -> str:
    """The table's word for a C type, with or without a name behind it."""
    if "*" in declared:
        return "pointer"
    words = [word for word in declared.split() if word not in ("const", "[[maybe_unused]]")]
    return {"void": "none", "int": "int32"}.get(words[0], words[0].removesuffix("_t"))


def declared() -> dict[str, tuple[list[str], str]]:
    """Arguments and result of each function that the sources export."""
    found = {}
    for path in sorted(CPU.rglob("*")):
        if path.suffix in (".h", ".cpp"):
            text = re.sub(r"//[^\n]*", "", path.read_text())
            for result, name, arguments in DECLARATION.findall(text):
                words = [word_of(one) for one in arguments.split(",") if one.strip()]
                found[name] = (words, word_of(result))
    return found


def test_table_is_what_sources_declare():
    table = {name: words_of(one.replace("text", "pointer")) for name, one in SIGNATURES.items()}
    assert table == declared()


@pytest.mark.parametrize(
    ("signature", "arguments", "result"),
    [
        ("-> int32", [], "int32"),
        ("int64 pointer*2 double -> none", ["int64", "pointer", "pointer", "double"], "none"),
    ],
)
def test_words(signature, arguments, result):
    assert words_of(signature) == (arguments, result)


def test_ctypes_is_told():
    assert library.pairalign_join_sets.argtypes == [ctypes.c_int64, *[Pointer] * 3]
    assert library.pairalign_join_sets.restype is None
    assert library.pairalign_count_near.restype is ctypes.c_int64
