"""What Python objects are as sequences: the residues and the name of one item."""

from __future__ import annotations

import os
from typing import SupportsIndex

_EXPECTED = "expected a str, bytes, or an object with .seq or .letters"
_SPELLED = ("skbio", "biotite")
"""Packages whose sequences are their residues as text."""


def letters_of(item: object, what: str) -> bytes:
    """Return the residues of one item; they are not checked.

    Parameters
    ----------
    item : object
        A str, bytes, an object with residues in ``.seq`` or ``.letters``, such as a record of
        Biopython, Biopython's ``Seq``, which makes bytes of itself, a sequence of scikit-bio or
        biotite, or a value of an Arrow array.
    what : str
        What messages call the item: ``item 3``.

    Raises
    ------
    TypeError
        It is something else. Text is never made of other objects: NAN and NONE are proteins.
    """
    letters = item
    for attribute in ("seq", "letters"):
        if not isinstance(item, (str, bytes)) and hasattr(item, attribute):
            letters = getattr(item, attribute)
            break
    if hasattr(letters, "as_py"):  # a value of an Arrow array
        letters = letters.as_py()
    if any(one.__module__.partition(".")[0] in _SPELLED for one in type(letters).__mro__):
        letters = str(letters)
    if isinstance(letters, str):
        return letters.encode("utf-8", "replace")
    if isinstance(letters, (bytes, bytearray)):
        return bytes(letters)
    if hasattr(letters, "__bytes__") and not isinstance(letters, os.PathLike):
        try:
            return bytes(letters)
        except Exception as error:  # a Seq of which only the length is known
            raise TypeError(f"{what}: its residues cannot be read: {error}") from error
    raise TypeError(f"{what} is {_describe(item)}, {_EXPECTED}")


def name_of(name: object, what: str) -> str:
    """Return a name as text.

    Parameters
    ----------
    name : str, bytes of UTF-8, or whole number
    what : str
        What messages call it.

    Raises
    ------
    TypeError
        It is something else.
    """
    if isinstance(name, str) or (isinstance(name, SupportsIndex) and not isinstance(name, bool)):
        return str(name)
    if isinstance(name, (bytes, bytearray)):
        try:
            return name.decode()
        except UnicodeDecodeError:
            pass
    raise TypeError(f"{what} is {_describe(name)}, expected a str")


def record_name(item: object) -> object:
    """Return the ``.id`` or ``.name`` of a record, or scikit-bio's id; None for what has none."""
    for attribute in ("id", "name"):
        name: object = getattr(item, attribute, None)
        if name is not None:
            return name
    metadata = getattr(item, "metadata", None)
    return metadata.get("id") if isinstance(metadata, dict) else None


def _describe(item: object) -> str:
    shown = ascii(item)
    return f"{shown[:40]}{'...' * (len(shown) > 40)} (of type {type(item).__name__})"
