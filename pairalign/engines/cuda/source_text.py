"""The text of a kernel's source with all that it includes, read once for all variants."""

from __future__ import annotations

import os
import re
from pathlib import Path

_Stamp = tuple[int, int]  # of a file: when it was changed, and its size

_texts: dict[Path, tuple[dict[Path, _Stamp | None], bytes]] = {}


def text_of(path: Path) -> bytes:
    """Return the names and text of a source and its headers: the same object until one changes."""
    entry = _texts.get(path)
    if entry is None or any(_stamp_of(file) != stamp for file, stamp in entry[0].items()):
        stamps = {file: _stamp_of(file) for file in with_headers(path)}
        text = b"".join(file.name.encode() + b"\0" + file.read_bytes() for file in stamps)
        entry = _texts[path] = stamps, text
    return entry[1]


def _stamp_of(path: Path) -> _Stamp | None:
    """Return a file's stamp; None if it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def with_headers(source: Path) -> list[Path]:
    """Return a source and all that it includes from its folder."""
    files: list[Path] = []
    waiting = [source.resolve()]
    while waiting:
        path = waiting.pop()
        if path in files or not path.is_file():
            continue
        files.append(path)
        names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE)
        waiting += [(path.parent / name).resolve() for name in names]
    return sorted(files)
