"""The text of a kernel's source with all that it includes, read once for all variants."""

from __future__ import annotations

import os
import re
from pathlib import Path

_Stamp = tuple[int, int]  # of a file: when it was changed, and its size

_texts: dict[Path, tuple[dict[Path, _Stamp | None], bytes]] = {}


def text_of(path: Path) -> bytes:
    """Return the names and text of a source and its headers: the same object until one changes."""
    known = _texts.get(path)
    if known is None or any(_stamp_of(one) != stamp for one, stamp in known[0].items()):
        stamps = {one: _stamp_of(one) for one in with_headers(path)}
        text = b"".join(one.name.encode() + b"\0" + one.read_bytes() for one in stamps)
        known = _texts[path] = stamps, text
    return known[1]


def _stamp_of(path: Path) -> _Stamp | None:
    """Return a file's stamp; None if it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def with_headers(source: Path) -> list[Path]:
    """Return a source and all that it includes from its folder."""
    found: list[Path] = []
    waiting = [source.resolve()]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.append(path)
        names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE)
        waiting += [(path.parent / name).resolve() for name in names]
    return sorted(found)
