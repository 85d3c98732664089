"""The control groups that a process is in, as Linux shows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_MOUNT = "sys/fs/cgroup"


def folders_of(controller: str, root: Path) -> Iterator[Path]:
    """Yield the folder of each group that this process is in, and of each above it.

    Parameters
    ----------
    controller : {"cpu", "memory"}
        Version 1 has a hierarchy for it, perhaps with others; version 2 one for all.
    root : path
        Where ``proc`` and ``sys`` are.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        mounts = [controllers, controller] if controllers else ["", "unified"]
        # In a container the path may be that of the host: only what exists counts.
        group = Path(path.lstrip("/"))
        for mount in dict.fromkeys(mounts):
            for folder in (group, *group.parents):
                yield root / _MOUNT / mount / folder
