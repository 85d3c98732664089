"""Run the CPU engine's NEON kernels under qemu-user and compare them with this machine's.

    python scripts/check_neon.py        # or: make neon

Compiles the program of `tests/native` with the engine, for this machine and for aarch64, runs
both, and compares what they print: a checksum of the alignments of each mode, detail and lane
width, with own rows, of chosen pairs, above floors, of pruned pairs, of suboptimal alignments and
bands, and of bitwise scores. The program itself stops where two ways to the same alignments
differ, or where an index leaves a vector. Needs g++, aarch64-linux-gnu-g++ and qemu-aarch64
(Debian: g++-aarch64-linux-gnu, qemu-user). Takes four minutes of processor time, all but half a
minute of it for compiling. It says nothing about speed.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from native_program import KERNELS, build

FLAGS = ("-O2", "-static")


def run(command: list[str]) -> list[str]:
    """What a program prints, by lines."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> None:
    """Build both programs, run them and compare."""
    for tool in ("g++", "aarch64-linux-gnu-g++", "qemu-aarch64"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is not installed")
    machine = platform.machine()
    if machine not in KERNELS:
        sys.exit(f"{machine}: there are no kernels to compare with")
    with tempfile.TemporaryDirectory(prefix="pairalign-neon-") as name:
        here = run([str(build(["g++"], machine, Path(name), FLAGS))])
        program = build(["aarch64-linux-gnu-g++"], "aarch64", Path(name), FLAGS)
        there = run(["qemu-aarch64", str(program)])
    different = [f"here   {a}\nqemu   {b}" for a, b in zip(here, there, strict=True) if a != b]
    if different:
        sys.exit("\n".join(different))
    print(f"{len(here)} sets of alignments, NEON under qemu: the same bytes as here")


if __name__ == "__main__":
    main()
