"""Run tests with the native library compiled for address and undefined behaviour sanitizers.

    python scripts/sanitize.py [--sets "sse41 avx512"] [arguments of pytest]
    python scripts/sanitize.py [--sets "sse41 avx512"] --races

Everything is in ``build/sanitize``: a copy of the package with a library of its own, and links to
the rest of the working copy. Any overflow, shift or access out of bounds ends the process with a
report. GCC or clang with their sanitizers' run-time libraries are needed.

Kernels are written once for all instruction sets, and with sanitizers the compiler takes minutes
for each. So the library has those of one set, unless ``--sets`` names others or ``all``.

``--races`` runs the program of ``tests/native`` instead, two threads of the CPU engine, with the
sanitizer of threads.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from native_program import build

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "sanitize"
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")  # as `make test`
NOT_MEANT = (
    "--ignore=tests/repo/test_packaging.py",  # makes libraries of its own
    # What a sanitizer takes would be counted, too.
    "--ignore=tests/jobs/test_memory_limit.py",
    "--deselect=tests/cli/test_cli.py::test_memory_is_bounded",
)
QUICKEST = {"x86_64": "sse41"}  # to compile; of other machines there is one
COPIED = ("pyproject.toml", "setup.cfg", "setup.py", "LICENSE")
NOT_LINKED = {*COPIED, "pairalign", "build", "dist", "demo", ".git", ".venv"}


def main(arguments: list[str]) -> int:
    """Build, then run pytest; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--sets", default=QUICKEST.get(platform.machine(), "all"))
    parser.add_argument("--races", action="store_true")
    options, tests = parser.parse_known_args(arguments)
    sets = "" if options.sets == "all" else options.sets
    if options.races:
        return find_races(sets.split())
    copy_package()
    build_library(sets)
    tests = tests or ["-n", "auto", *BY_FILE, "-m", "not slow", *NOT_MEANT, "tests"]
    # Capturing descriptors would swallow the report that comes when the process is ended.
    quiet = ("-q", "-p", "no:cacheprovider", "--capture=sys")
    command = [sys.executable, "-m", "pytest", *quiet, *tests]
    return subprocess.run(command, cwd=FOLDER, env=environment(), check=False).returncode


def find_races(sets: list[str]) -> int:
    """Run the program of ``tests/native`` with the sanitizer of threads; return its exit code."""
    folder = FOLDER / "races"
    folder.mkdir(parents=True, exist_ok=True)
    flags = ("-O1", "-g1", "-fsanitize=thread")
    program = build(compiler(), platform.machine(), folder, flags, sets)
    stop_at_first = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1"}
    return subprocess.run([program], env=stop_at_first, check=False).returncode


def copy_package() -> None:
    """Make the folder as a working copy looks, but for compiled code."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        ROOT / "pairalign",
        FOLDER / "pairalign",
        ignore=shutil.ignore_patterns("*.so", "__pycache__"),
        dirs_exist_ok=True,
    )
    for name in COPIED:
        shutil.copy2(ROOT / name, FOLDER / name)
    for entry in ROOT.iterdir():
        link = FOLDER / entry.name
        if entry.name in NOT_LINKED or entry.suffix == ".egg-info" or link.is_symlink():
            continue
        link.symlink_to(entry)


def build_library(sets: str) -> None:
    """Compile the library with sanitizers, unless it is newer than its sources.

    Parameters
    ----------
    sets : str
        The instruction sets of its kernels; none: all.
    """
    library, built = FOLDER / "pairalign" / "_native.so", FOLDER / "sets"
    sources = (ROOT / "setup.py", *(ROOT / "cpu").rglob("*.*"))
    newest = max(one.stat().st_mtime for one in sources)
    same = library.exists() and built.exists() and built.read_text() == sets
    if same and library.stat().st_mtime > newest:
        return
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=FOLDER,
        env={**os.environ, "PAIRALIGN_SANITIZE": "1", "PAIRALIGN_BUILD_SETS": sets},
        check=True,
    )
    built.write_text(sets)


def environment() -> dict[str, str]:
    """Return the environment of the tests: Python itself knows nothing of sanitizers."""
    preloaded = " ".join(map(find_library, ("libasan.so", "libubsan.so", "libstdc++.so.6")))
    return {
        **os.environ,
        "PYTHONPATH": str(FOLDER),
        "LD_PRELOAD": preloaded,
        # Python keeps what it allocates until it ends.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def compiler() -> list[str]:
    """Return the command of the compiler."""
    return shlex.split(os.environ.get("CXX", "c++"))


def find_library(name: str) -> str:
    """Return the path of a library of the compiler; exits if it has none."""
    command = [*compiler(), f"-print-file-name={name}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(found):
        sys.exit(f"{shlex.join(compiler())} has no {name}: install its sanitizers")
    return os.path.realpath(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
