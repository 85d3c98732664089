"""Compiles the program of `tests/native` with the CPU engine, for scripts that run it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WITH_KERNELS = ("align", "bitwise", "suboptimal", "pruned")
FOLDERS = ("core", *WITH_KERNELS)
FLAGS = ("-std=c++17", "-w", "-pthread", "-D_GLIBCXX_ASSERTIONS")
KERNELS = {
    "aarch64": {"neon": []},
    "x86_64": {
        "sse41": ["-msse4.1"],
        "avx2": ["-mavx2", "-mbmi2"],
        "avx512": ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mbmi2"],
    },
}


def build(
    compiler: Sequence[str],
    machine: str,
    folder: Path,
    flags: Sequence[str],
    sets: Sequence[str] = (),
) -> Path:
    """Compile the program and the engine for a machine; return the program.

    Parameters
    ----------
    compiler : sequence of str
        The command.
    machine : str
        A key of `KERNELS`.
    folder : Path
        Where objects and the program go.
    flags : sequence of str
        Of the compiler and the linker.
    sets : sequence of str
        The instruction sets of the kernels; none: all of the machine.
    """
    kernels = {name: KERNELS[machine][name] for name in sets or KERNELS[machine]}
    calls = " ".join(f"DO({name})" for name in kernels)
    common = [*compiler, *FLAGS, *flags, f"-DPAIRALIGN_INSTRUCTION_SETS(DO)={calls}"]
    jobs: list[tuple[Path, list[str]]] = []
    for part in WITH_KERNELS:  # kernels take longest
        jobs += [(ROOT / "cpu" / part / f"kernel_{name}.cpp", own) for name, own in kernels.items()]
    others = [one for part in FOLDERS for one in sorted((ROOT / "cpu" / part).glob("*.cpp"))]
    jobs += [(one, []) for one in others if not one.name.startswith("kernel_")]
    jobs += [(one, []) for one in sorted((ROOT / "tests" / "native").glob("*.cpp"))]

    def compile_one(job: tuple[Path, list[str]]) -> str:
        source, own = job
        target = folder / f"{machine}_{source.parent.name}_{source.stem}.o"
        subprocess.run([*common, *own, "-c", str(source), "-o", str(target)], check=True)
        return str(target)

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, jobs))
    program = folder / f"align_sets_{machine}"
    subprocess.run([*compiler, *flags, "-pthread", *objects, "-o", str(program)], check=True)
    return program
