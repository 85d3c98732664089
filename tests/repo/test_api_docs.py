"""Docstrings of the public names: their examples run, and they are complete as numpydoc has it."""

import dataclasses
import doctest
import inspect
import sys

import pytest

import pairalign

JOBS = ("align", "cluster", "distance", "tree", "make_scoring", "overlap", "read_fasta")
# Not asked for: extended summaries, sections "See Also", an example for each method.
NOT_ASKED = {"ES01", "EX01", "SA01"}
# Parameters that several functions share are described once ("As for `pairalign.align`"), and a
# type that says all has no description.
SHARED = {"PR04", "RT03"}


def public_names() -> list[str]:
    """Functions, classes and their public members."""
    names = []
    for name in pairalign.__all__:
        value = getattr(pairalign, name)
        if not callable(value):
            continue
        names.append(name)
        if inspect.isclass(value) and not issubclass(value, Exception):
            names += [
                f"{name}.{member}"
                for member, one in vars(value).items()
                if not member.startswith("_")
                and (callable(one) or isinstance(one, (property, classmethod, staticmethod)))
            ]
    return names


def allowed(name: str, text: str) -> set[str]:
    """Codes of numpydoc that are no errors of a name."""
    first, _, member = name.partition(".")
    value = getattr(pairalign, first)
    if dataclasses.is_dataclass(value) and not member:
        return NOT_ASKED | SHARED | {"PR01"}  # fields are attributes; see the test of these
    if member and "\n" not in text.strip():
        return NOT_ASKED | SHARED | {"PR01", "RT01"}  # one line says all
    return NOT_ASKED | SHARED


@pytest.mark.parametrize("name", public_names())
def test_docstrings_are_complete(name):
    validate = pytest.importorskip("numpydoc.validate").validate
    found = validate(f"pairalign.{name}")
    known = allowed(name, found["docstring"])
    assert [one for one in found["errors"] if one[0] not in known] == []


@pytest.mark.parametrize("name", [n for n in public_names() if "." not in n])
def test_every_field_is_described(name):
    value = getattr(pairalign, name)
    if not dataclasses.is_dataclass(value):
        pytest.skip("no dataclass")
    text = inspect.getdoc(value) or ""
    for field in dataclasses.fields(value):
        if not field.name.startswith("_"):
            assert field.name in text, field.name


@pytest.mark.parametrize("name", JOBS)
def test_examples_run(name):
    value = getattr(pairalign, name)
    (test,) = [
        one
        for one in doctest.DocTestFinder(recurse=False).find(
            value, name, module=sys.modules[value.__module__]
        )
        if one.examples
    ]
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert said == []
