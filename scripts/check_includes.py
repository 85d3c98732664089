"""Includes of native sources go down only: what each folder may include is said here, and held.

`LAYERS` lists the folders of ``cpu/`` from those that include to those that are included; those of
a layer do not include one another. ``cpu/``, ``cuda/`` and ``opencl/`` include nothing of one
another: what CPU and GPU kernels share is in ``common/``, which includes nothing. Prints what
breaks this, includes of files that are not there and folders that are in no layer, and fails if
there is anything::

    python scripts/check_includes.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = "common"
FRAMEWORKS = ("cpu", "cuda", "opencl")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".cl", ".clh"}
LAYERS = (
    ("index", "near"),
    ("bitwise", "filters", "suboptimal", "msa", "posterior", "records", "ties"),
    ("align", "clusters", "gpu_plan", "pairs", "trees"),
    ("pruned", "text"),
    ("core", "files", "sets", "statistics"),
    ("simd",),
    ("",),  # the headers of cpu/ itself
)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def floor_of(room: str) -> int | None:
    """How many layers are above that of a folder of ``cpu/``; None if it is in none."""
    return next((n for n, rooms in enumerate(LAYERS) if room in rooms), None)


def place_of(path: str) -> tuple[str, str]:
    """Return the framework of a source and its folder there, "" for the framework's own."""
    framework, _, rest = path.partition("/")
    return framework, rest.rpartition("/")[0].partition("/")[0]


def fault_of(source: str, target: str) -> str | None:
    """What is wrong with one file including another, both as paths from the root; None: nothing."""
    (framework, room), (other, other_room) = place_of(source), place_of(target)
    if other != framework:
        if other == SHARED and framework in FRAMEWORKS:
            return None
        return f"{framework}/ includes nothing of {other}/"
    if framework != "cpu" or room == other_room:
        return None
    floor, other_floor = floor_of(room), floor_of(other_room)
    if floor is None or other_floor is None:
        return f"'{room if floor is None else other_room}' is in no layer"
    if other_floor <= floor:
        return f"{room or 'cpu'}/ is not above {other_room}/"
    return None


def target_of(root: Path, source: str, name: str) -> str | None:
    """Return the path of what a source includes; OpenCL looks in its own folder, too."""
    framework = root / source.partition("/")[0]
    for folder in ((root / source).parent, framework):
        target = (folder / name).resolve()
        if target.is_file():
            return target.relative_to(root.resolve()).as_posix()
    return None


def faults(root: Path) -> Iterator[str]:
    """Yield a line for each include that breaks the rules."""
    for folder in (SHARED, *FRAMEWORKS):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            source = path.relative_to(root).as_posix()
            for name in INCLUDE.findall(path.read_text()):
                target = target_of(root, source, name)
                fault = fault_of(source, target) if target else "there is no such file"
                if fault:
                    yield f"{source}: includes {name}: {fault}"


def main() -> int:
    """Look at every source; return the exit code."""
    found = list(faults(ROOT))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
