"""Where parts go: what is there that a run has made, and what is not its own."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from pairalign.base.error_types import PartsError
from pairalign.base.run_files import (
    is_name_of_part,
    is_regular,
    journal_of,
    remove_empty_folder,
    remove_regular,
)
from pairalign.formats.parts import Manifest, checksum_of, read_manifest

_EITHER_MANIFEST = re.compile(r"part-\d+-of-\d+\.json|\.part-\d+-of-\d+\.begun")


def check_place(part: str, manifests: Sequence[str]) -> bool:
    """Whether pairalign has begun or written a part, which may have either manifest.

    Raises
    ------
    PartsError
        What is there is not pairalign's: there is no manifest beside it, or something else.
    """
    there = [path for path in manifests if os.path.lexists(path)]
    for path in there:
        if not is_regular(path):
            raise PartsError(f"'{path}' is no manifest of pairalign: move it away")
        read_manifest(path)
    if os.path.lexists(part) and not there:
        raise PartsError(f"'{part}' has no manifest, so it is no part: move it away")
    return bool(there)


def clear_parts(folder: str, run: dict[str, Any]) -> None:
    """Remove the parts of a run and their folder; PartsError as `check_folder`."""
    names = check_folder(folder, run)
    for name in sorted(names, key=lambda name: _EITHER_MANIFEST.fullmatch(name) is not None):
        # Manifests last: they say whose the others are.
        remove_regular(os.path.join(folder, name))
    if os.path.isdir(folder):
        remove_empty_folder(folder)


def check_folder(folder: str, run: dict[str, Any]) -> list[str]:
    """Return the names in a folder of parts, all of which a run has made.

    None if there is no folder. Nothing is changed.

    Raises
    ------
    PartsError
        Something in it is not that run's.
    """
    if not os.path.lexists(folder):
        return []
    if os.path.islink(folder) or not os.path.isdir(folder):
        raise PartsError(f"'{folder}' is no folder of parts: move it away")
    names = os.listdir(folder)
    manifests = [name for name in names if _EITHER_MANIFEST.fullmatch(name)]
    for name in names:
        path = os.path.join(folder, name)
        if not is_name_of_part(name) or not is_regular(path):
            raise PartsError(f"'{path}' is not of this run: move it away")
    for name in manifests:
        path = os.path.join(folder, name)
        if read_manifest(path).run != run:
            raise PartsError(f"'{path}' is of another run: move '{folder}' away")
    if any(not name.startswith(".") for name in names) and not manifests:
        raise PartsError(f"'{folder}': no manifest says that its parts are this run's; move it")
    return names


def find_complete(path: str, manifest: str, run: dict[str, Any], format: str) -> Manifest | None:
    """Return the manifest of a part, if that is there as a run has written it."""
    if os.path.lexists(journal_of(path)) or not is_regular(path):
        return None
    try:
        record = read_manifest(manifest)
        is_whole = checksum_of(path) == (record.bytes, record.checksum)
    except (PartsError, OSError):
        return None
    return record if is_whole and (record.run, record.format) == (run, format) else None


def is_made_by(path: str, command: list[str]) -> bool:
    """Whether the manifest of that path is there, whole, and of a part which that command wrote."""
    try:
        return read_manifest(path).command == command
    except PartsError:
        return False
