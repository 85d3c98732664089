"""Texts of files: the byte order mark that Windows' programs put before them."""

from __future__ import annotations

UTF8_MARK = b"\xef\xbb\xbf"


def without_mark(text: bytes) -> bytes:
    """Return the start of a UTF-8 text, or all of it, without a byte order mark."""
    return text.removeprefix(UTF8_MARK)
