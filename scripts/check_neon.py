"""Run the CPU engine's NEON kernels under qemu-user and compare them with this machine's.

    python scripts/check_neon.py        # or: make neon

Compiles the program of `tests/native` with the engine, for this machine and for aarch64, runs
both, and compares what they print: a checksum of the alignments of each mode, detail and lane
width, with own rows, of chosen pairs, above floors, of pruned pairs, of further alignments and
corridors, and of bitwise scores. The program itself stops where two ways to the same alignments
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDERS = ("align", "bitwise", "further", "pruned")
FLAGS = ("-std=c++17", "-O2", "-w", "-D_GLIBCXX_ASSERTIONS")
KERNELS = {
    "aarch64": {"neon": []},
    "x86_64": {
        "sse41": ["-msse4.1"],
        "avx2": ["-mavx2", "-mbmi2"],
        "avx512": ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mbmi2"],
    },
}


def build(compiler: str, machine: str, folder: Path) -> Path:
    """Compile the program and the engine for a machine; return the program."""
    jobs: list[tuple[Path, list[str]]] = [
        (one, []) for one in sorted(Path("tests/native").glob("*.cpp"))
    ]
    for part in FOLDERS:
        sources = sorted(Path("cpu", part).glob("*.cpp"))
        jobs += [(one, []) for one in sources if not one.name.startswith("kernel_")]
        for name, flags in KERNELS[machine].items():
            jobs.append((Path("cpu", part, f"kernel_{name}.cpp"), flags))

    def compile_one(job: tuple[Path, list[str]]) -> str:
        source, flags = job
        target = folder / f"{machine}_{source.parent.name}_{source.stem}.o"
        subprocess.run([compiler, *FLAGS, *flags, "-c", str(source), "-o", str(target)], check=True)
        return str(target)

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, jobs))
    program = folder / f"align_sets_{machine}"
    subprocess.run([compiler, "-static", "-pthread", *objects, "-o", str(program)], check=True)
    return program


def run(command: list[str]) -> list[str]:
    """What a program prints, by lines."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> None:
    """Build both programs, run them and compare."""
    for tool in ("g++", "aarch64-linux-gnu-g++", "qemu-aarch64"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is not installed")
    if platform.machine() not in KERNELS:
        sys.exit(f"{platform.machine()}: there are no kernels to compare with")
    with tempfile.TemporaryDirectory(prefix="pairalign-neon-") as name:
        here = run([str(build("g++", platform.machine(), Path(name)))])
        there = run(["qemu-aarch64", str(build("aarch64-linux-gnu-g++", "aarch64", Path(name)))])
    different = [f"here   {a}\nqemu   {b}" for a, b in zip(here, there, strict=True) if a != b]
    if different:
        sys.exit("\n".join(different))
    print(f"{len(here)} sets of alignments, NEON under qemu: the same bytes as here")


if __name__ == "__main__":
    main()
