"""Names beside an output that a run may create, replace or remove, and the rule for them.

The rule: only a regular file that the run recognises as pairalign's is replaced or removed. Links
are never followed. What is anything else stays as it is.
"""

from __future__ import annotations

import os
import re
import stat

_HIDDEN = r"\.[0-9a-f]{8}\.part"
_IN_FOLDER = re.compile(rf"part-\d+-of-\d+\.\w+(\.gz)?(\.part|\.journal)?|\.part-.*{_HIDDEN}")


def part_of(path: str) -> str:
    """Return where the unfinished file of a run that can be resumed is."""
    return f"{os.path.realpath(path)}.part"


def journal_of(path: str) -> str:
    """Return where the journal of a run that can be resumed is."""
    return f"{os.path.realpath(path)}.journal"


def parts_folder_of(path: str) -> str:
    """Return the folder of the parts that a cluster makes."""
    return os.path.abspath(f"{path}.parts")


def is_beside(path: str, output: str) -> bool:
    """Whether a path has a name that a run with that output may create, replace or remove.

    The output's own name is not one of them.
    """
    place, found = os.path.realpath(output), os.path.realpath(path)
    named = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path))
    names = {part_of(place), journal_of(place)}
    names |= {part_of(f"{place}.distances"), journal_of(f"{place}.distances")}
    folder, name = os.path.split(place)
    hidden = re.compile(
        rf"{re.escape(os.path.join(folder, '.' + os.fsdecode(os.fsencode(name)[:200])))}{_HIDDEN}"
    )
    parts = os.path.realpath(f"{output}.parts") + os.sep
    return any(
        one in names or hidden.fullmatch(one) is not None or one.startswith(parts)
        for one in (found, named)
    )


def is_name_of_part(name: str) -> bool:
    """Whether a file of that name in a folder of parts may be a part, or belong to one."""
    return _IN_FOLDER.fullmatch(name) is not None


def is_regular(path: str) -> bool:
    """Whether there is a regular file, and no link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
