"""Files of kernels that were compiled ahead: their names say which GPUs can load them.

``KEY.sm80.sm90.ptx80.fatbin`` has machine code for compute capabilities 8.0 and 9.0, and PTX for
8.0, of which the driver makes code for any newer GPU when it loads it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pairalign.base.run_files import remove_regular

SUFFIX = ".fatbin"

_TEGRA = frozenset({72, 87, 101, 110})
"""Boards whose machine code is their own, though the number looks like that of a sibling."""

Codes = Sequence[tuple[str, int]]
"""``("sm", 90)`` is machine code for capability 9.0, ``("ptx", 80)`` PTX for 8.0 and newer."""

ALL_CODES: Codes = (("sm", 80), ("sm", 90), ("sm", 100), ("sm", 120), ("ptx", 80))
"""What kernels are compiled for ahead of time, if nobody asks for less."""


def file_name(key: str, codes: Codes) -> str:
    """Return the name of the file with these codes of the kernels that `key` stands for."""
    return ".".join([key, *(f"{kind}{number}" for kind, number in codes)]) + SUFFIX


def codes_of(path: Path) -> Codes:
    """Return what a file has, as its name says."""
    matches = (re.fullmatch(r"\.(sm|ptx)(\d+)", suffix) for suffix in path.suffixes)
    return [(match[1], int(match[2])) for match in matches if match]


def find_ahead(folder: Path, key: str, architecture: int) -> Path | None:
    """Return the file that a device (10 x its compute capability) can load, if there is one.

    Machine code goes before PTX, which the driver has to compile first.
    """
    best, fittest = 0, None
    for path in sorted(folder.glob(f"{key}.*{SUFFIX}")):
        value = max((_fitness(*code, architecture) for code in codes_of(path)), default=0)
        if value > best:
            best, fittest = value, path
    return fittest


def _fitness(kind: str, number: int, architecture: int) -> int:
    """Return 0 if a device cannot use a code, 1 for PTX, 2 for machine code."""
    if kind == "ptx":
        return int(number <= architecture)
    same = number == architecture
    if not same and _TEGRA & {number, architecture}:
        return 0
    return 2 * (same or (number // 10 == architecture // 10 and number < architecture))


def parse_codes(text: str) -> Codes:
    """Return the codes of ``80,90,ptx80``; ValueError if it is something else."""
    codes = []
    for word in text.split(","):
        match = re.fullmatch(r"\s*(sm_?|ptx)?(\d{2,3})\s*", word)
        if match is None:
            raise ValueError(f"'{word}' is not an architecture such as 90, sm_90 or ptx80")
        codes.append(("ptx" if match[1] == "ptx" else "sm", int(match[2])))
    return codes


def describe(folder: Path) -> str:
    """Return which GPUs the files of a folder are for: ``for sm_80, sm_90 and newer ones``."""
    codes = {code for path in folder.glob(f"*{SUFFIX}") for code in codes_of(path)}
    if not codes:
        return "there are none"
    exact = [f"sm_{number}" for kind, number in sorted(codes) if kind == "sm"]
    newer = [f"any from sm_{number} on" for kind, number in sorted(codes) if kind == "ptx"]
    return "they are for " + ", ".join([*exact, *newer])


def nvcc_options(codes: Codes) -> Iterator[str]:
    """Yield what makes nvcc compile these codes."""
    yield "-fatbin"
    for kind, number in codes:
        target = "compute" if kind == "ptx" else "sm"
        yield f"-gencode=arch=compute_{number},code={target}_{number}"


def drop_others(folder: Path, current: Iterable[Path]) -> None:
    """Remove the files that are not among those of now: older sources left them behind."""
    keep = {os.fspath(path) for path in current}
    for path in folder.glob(f"*{SUFFIX}"):
        if os.fspath(path) not in keep:
            remove_regular(os.fspath(path))
