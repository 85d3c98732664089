"""Codes, names and residues of a set as native code reads them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from pairalign.base.arrays import Int64s, UInt8s

PADDING_BYTES = 64
"""Zeros behind the codes: native code reads sequences in whole words."""


class CodeArrays(NamedTuple):
    """Codes of a set for native code.

    Attributes
    ----------
    codes : ndarray of uint8
        With at least `PADDING_BYTES` zeros behind the last.
    starts : ndarray of int64, shape (n,)
        Where each sequence starts, by sorted position.
    """

    codes: UInt8s
    starts: Int64s


class TextArrays(NamedTuple):
    """Names and residues of a set for native code.

    Attributes
    ----------
    names, residues, codes : ndarray of uint8
        Names are UTF-8, one after the other.
    name_offsets, offsets : ndarray of int64, shape (n + 1,)
    longest_name : int
        Bytes of the longest name.
    """

    names: UInt8s
    name_offsets: Int64s
    residues: UInt8s
    codes: UInt8s
    offsets: Int64s
    longest_name: int


def join_texts(texts: Iterable[str]) -> tuple[UInt8s, Int64s]:
    """Return texts as UTF-8, one after the other, and where each begins, and the last ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def digest_of(*parts: bytes | memoryview) -> str:
    """Return BLAKE2b of some parts, each after its size, in hexadecimal."""
    import hashlib  # OpenSSL takes time to load

    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        hasher.update(memoryview(part).nbytes.to_bytes(8, "little"))
        hasher.update(part)
    return hasher.hexdigest()
