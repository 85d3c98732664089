"""Run tests with the native library compiled for sanitizers.

    python scripts/sanitize.py [--races] [--sets "sse41 avx512"] [arguments of pytest]

The sanitizers are those of addresses and undefined behaviour, or that of threads with ``--races``.
Everything is in ``build/sanitize`` or ``build/races``: a copy of the package with a library of its
own, and links to the rest of the working copy. An overflow, a shift, an access out of bounds or a
race ends the process with a report. GCC or clang with their sanitizers' run-time libraries are
needed.

Kernels are written once for all instruction sets, and with sanitizers the compiler takes minutes
for each. So the library has those of one set, unless ``--sets`` names others or ``all``. The tests
are those of engine, readers and text, with ``--races`` those that use threads, unless others are
named.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BY_FILE = ("-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder")  # as `make test`
ON_CORES = ("-m", "not slow", "-k", "not on-host and not opencl and not cuda")


@dataclass(frozen=True)
class Sanitizer:
    """How a library is compiled, loaded and tested; `name` is a key of setup.py's table."""

    name: str
    folder: Path
    libraries: tuple[str, ...]
    options: dict[str, str]
    workers: tuple[str, ...]
    tests: tuple[str, ...]


UNDEFINED = Sanitizer(
    "undefined",
    ROOT / "build" / "sanitize",
    ("libasan.so", "libubsan.so", "libstdc++.so.6"),
    {
        # Python keeps what it allocates until it ends.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    },
    BY_FILE,
    (
        *("tests/engines", "tests/formats", "tests/sequences", "tests/alignments", "tests/pairs"),
        *("tests/base", "tests/scoring", "tests/reads", "tests/statistics"),
        "tests/jobs/test_verify.py",
    ),
)
RACES = Sanitizer(
    "races",
    ROOT / "build" / "races",
    ("libtsan.so", "libstdc++.so.6"),
    {
        "TSAN_OPTIONS": "halt_on_error=1:report_signal_unsafe=0:die_after_fork=0"
        ":ignore_noninstrumented_modules=1"
        f":suppressions={ROOT}/tests/native/suppressions.txt"
    },
    ("-n", "0"),
    # Not tests/formats/test_other_formats.py: importing polars ends a process under this sanitizer.
    (
        *("tests/engines/test_engine_cpu.py", "tests/jobs/test_align_runs.py"),
        *("tests/formats/test_formats.py", "tests/formats/test_output.py"),
        *("tests/formats/test_verify_rows.py", "tests/formats/test_verify_tables.py"),
        *("tests/jobs/test_verify.py", "tests/sequences"),
    ),
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
    sanitizer = RACES if options.races else UNDEFINED
    copy_package(sanitizer.folder)
    build_library(sanitizer, options.sets)
    tests = tests or [*sanitizer.workers, *ON_CORES, *sanitizer.tests]
    # Capturing descriptors would swallow the report that comes when the process is ended.
    quiet = ("-q", "-p", "no:cacheprovider", "--capture=sys")
    command = [sys.executable, "-m", "pytest", *quiet, *tests]
    env = environment(sanitizer)
    return subprocess.run(command, cwd=sanitizer.folder, env=env, check=False).returncode


def copy_package(folder: Path) -> None:
    """Make the folder as a working copy looks, but for compiled code."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        ROOT / "pairalign",
        folder / "pairalign",
        ignore=shutil.ignore_patterns("*.so", "__pycache__"),
        dirs_exist_ok=True,
    )
    for name in COPIED:
        shutil.copy2(ROOT / name, folder / name)
    for entry in ROOT.iterdir():
        link = folder / entry.name
        if entry.name in NOT_LINKED or entry.suffix == ".egg-info" or link.exists():
            continue
        link.symlink_to(entry)


def build_library(sanitizer: Sanitizer, sets: str) -> None:
    """Compile the library with a sanitizer, its kernels for these instruction sets."""
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=sanitizer.folder,
        env={**os.environ, "PAIRALIGN_SANITIZE": sanitizer.name, "PAIRALIGN_BUILD_SETS": sets},
        check=True,
    )


def environment(sanitizer: Sanitizer) -> dict[str, str]:
    """Return the environment of the tests: Python itself knows nothing of sanitizers."""
    return {
        "HYPOTHESIS_PROFILE": "few",
        **os.environ,
        "PYTHONPATH": str(sanitizer.folder),
        "LD_PRELOAD": " ".join(map(find_library, sanitizer.libraries)),
        **sanitizer.options,
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
