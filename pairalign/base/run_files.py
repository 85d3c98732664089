"""Names beside an output that a run may create, replace or remove, and the rule for them.

The rule: only a regular file that the run recognises as pairalign's is replaced or removed. Links
are never followed. What is anything else stays as it is. Whatever the package removes or renames,
it does through the functions of this module; a test holds all other modules to that.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import zlib

_HIDDEN = re.compile(r"(\..*\.)([0-9a-f]{8})([0-9a-f]{8})\.part", re.DOTALL)
_LONGEST_NAME = 200  # bytes of an output's name in a hidden one: file systems take 255


def parts_folder_of(path: str) -> str:
    """Return the folder of the parts that a cluster, or a run that can be resumed, makes."""
    return os.path.abspath(f"{path}.parts")


def hidden_start_of(final: str) -> str:
    """Return how the names of hidden unfinished files of an output begin: ``.OUT.``."""
    name = os.path.basename(final)
    return f".{os.fsdecode(os.fsencode(name)[:_LONGEST_NAME])}."


def new_hidden_name(final: str) -> str:
    """Return a new name for a hidden unfinished file: ``.OUT.xxxxxxxxcccccccc.part``.

    The first eight digits are random; the others are the CRC-32 of all before them, by which a run
    recognises the name as one that pairalign has given.
    """
    start, random = hidden_start_of(final), os.urandom(4).hex()
    return f"{start}{random}{_digits_of(start, random)}.part"


def is_hidden_name(name: str, start: str | None = None) -> bool:
    """Whether pairalign has given that name to a hidden file, of an output if `start` is given."""
    match = _HIDDEN.fullmatch(name)
    if match is None or (start is not None and match[1] != start):
        return False
    return match[3] == _digits_of(match[1], match[2])


def _digits_of(start: str, random: str) -> str:
    return f"{zlib.crc32(os.fsencode(start + random)):08x}"


def is_beside(path: str, output: str) -> bool:
    """Whether a path has a name that a run with that output may create, replace or remove.

    The output's own name is not one of them.
    """
    place, real_path = os.path.realpath(output), os.path.realpath(path)
    named = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path))
    parts = os.path.join(os.path.realpath(f"{output}.parts"), "")
    return any(
        _is_hidden_beside(candidate, place) or f"{candidate}{os.sep}".startswith(parts)
        for candidate in (real_path, named)
    )


def _is_hidden_beside(path: str, place: str) -> bool:
    folder, name = os.path.split(path)
    return folder == os.path.dirname(place) and is_hidden_name(name, hidden_start_of(place))


def is_regular(path: str) -> bool:
    """Whether there is a regular file, and no link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def remove_regular(path: str) -> None:
    """Remove a file that the caller has recognised; what is missing or no regular file stays so.

    Raises
    ------
    OSError
        It cannot be removed.
    """
    if is_regular(path):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def remove_open(path: str, descriptor: int) -> None:
    """Remove a file that the caller has open, unless something else has its name by now.

    Raises
    ------
    OSError
        It cannot be removed.
    """
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
            os.unlink(path)


def remove_empty_folder(path: str) -> None:
    """Remove a folder that the caller has emptied; OSError if something is in it."""
    os.rmdir(path)


def rename(path: str, final: str) -> None:
    """Give a file that is complete the name of its output, which it replaces; OSError if not."""
    os.replace(path, final)
