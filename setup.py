"""Build of the native library; everything else is in setup.cfg.

The library is plain C++17 behind a C ABI (loaded with ctypes), so the wheel does not depend on the
Python version, and neither pip nor the user needs Python's headers. The kernel source is compiled
once per instruction set; which one runs is decided when the program runs.
"""

import os
import platform
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

COMMON_FLAGS = ["-std=c++17", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra", "-pthread", "-g0"]

# `make sanitize` compiles libraries for tests with these: what a sanitizer finds ends the process.
SANITIZERS = {
    "": [],
    "undefined": [
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-fno-wrapv",  # which Python adds, and which makes overflows no error
        "-fno-omit-frame-pointer",
        "-O1",
        "-g1",
    ],
    "races": ["-fsanitize=thread", "-O1", "-g1"],
}
SANITIZER_FLAGS = SANITIZERS[os.environ.get("PAIRALIGN_SANITIZE", "")]

# Go last: "-O0" makes a library in a third of the time, for tests of packages.
LAST_FLAGS = os.environ.get("PAIRALIGN_FLAGS", "").split()

# GCC's own AVX-512 headers set off -Wmaybe-uninitialized.
ISA_FLAGS = {
    "x86_64": {
        "avx512": [
            "-mavx512f",
            "-mavx512bw",
            "-mavx512vl",
            "-mavx512dq",
            "-mbmi2",
            "-Wno-maybe-uninitialized",
            "-Wno-uninitialized",
        ],
        "avx2": ["-mavx2", "-mbmi2"],
        "sse41": ["-msse4.1"],
    },
    "aarch64": {"neon": []},
}
# Those of the machine's instruction sets that are built, where not all are wanted: "avx2 sse41".
CHOSEN = os.environ.get("PAIRALIGN_BUILD_SETS", "").split()
# What sysconfig reads when Python packages are cross-compiled ("linux-aarch64"), or this machine.
_TARGET = os.environ.get("_PYTHON_HOST_PLATFORM", platform.machine()).rpartition("-")[2].lower()
MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}.get(_TARGET, _TARGET)
BUILT = {
    isa: flags
    for isa, flags in ISA_FLAGS.get(MACHINE, {"scalar": []}).items()
    if not CHOSEN or isa in CHOSEN
}
if unknown := set(CHOSEN) - set(BUILT):
    names = ", ".join(sorted(unknown))
    raise SystemExit(f"PAIRALIGN_BUILD_SETS: no instruction sets of {MACHINE}: {names}")
KERNEL_FLAGS = {
    "align": [],
    "bitwise": [],
    "filters": [],
    "near": ["-O3", "-Wno-psabi"],
    "ties": ["-O3", "-Wno-psabi"],
    # These have plain loops, for the compiler to put into vectors.
    "suboptimal": ["-O3"],
    "pruned": ["-O3"],
    # Its sums and products must not be fused, nor does it pass vectors to other sources.
    "posterior": ["-O3", "-ffp-contract=off", "-fno-math-errno", "-Wno-psabi"],
}
KERNELS = {
    f"cpu/{folder}/kernel_{isa}.cpp": [*flags, *more]
    for isa, flags in BUILT.items()
    for folder, more in KERNEL_FLAGS.items()
}
if CHOSEN:  # what cpu/instruction_sets.h has all of them in
    CALLS = " ".join(f"DO({isa})" for isa in BUILT)
    COMMON_FLAGS.append(f"-DPAIRALIGN_INSTRUCTION_SETS(DO)={CALLS}")
# Sums of distances and of shares must not depend on whether a processor has fused multiply-add.
SOURCE_FLAGS = {
    **KERNELS,
    "cpu/trees/linkage.cpp": ["-ffp-contract=off"],
    "cpu/statistics/composition.cpp": ["-ffp-contract=off"],
    "cpu/statistics/evalues.cpp": ["-ffp-contract=off"],
    "cpu/statistics/segments.cpp": ["-ffp-contract=off"],
    "cpu/msa/profiles.cpp": ["-O3"],  # their loops are worth vectors
    "cpu/pairs/overlaps.cpp": ["-O3"],
}
SOURCES = sorted(
    path.as_posix() for path in Path("cpu").rglob("*.cpp") if not path.name.startswith("kernel_")
)


class BuildNative(build_ext):
    """Compile each source with the flags of its instruction set and link one library."""

    def build_extension(self, ext: Extension) -> None:
        """Compile and link the library."""

        def compile_one(source: str) -> list[str]:
            return self.compiler.compile(
                [source],
                output_dir=self.build_temp,
                extra_postargs=[
                    *COMMON_FLAGS,
                    *SOURCE_FLAGS.get(source, []),
                    *SANITIZER_FLAGS,  # after -O3, with which they take an hour
                    *LAST_FLAGS,
                ],
                depends=ext.depends,
            )

        # Kernels take longest, so they go first; a compiler is a process of its own.
        sources = sorted(ext.sources, key=lambda source: source not in KERNELS)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = [name for names in pool.map(compile_one, sources) for name in names]
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        self.compiler.link_shared_object(
            objects, str(target), extra_postargs=["-pthread", *SANITIZER_FLAGS], target_lang="c++"
        )

    def get_ext_filename(self, fullname: str) -> str:
        """Return the library's file name, which does not name a Python version."""
        return fullname.replace(".", "/") + ".so"


class BuildPythonAndKernels(build_py):
    """Take the kernels' sources along: they are compiled for the device that is there."""

    def run(self) -> None:
        """Copy the sources beside the Python modules."""
        super().run()
        if self.editable_mode:  # a working copy has them beside the package
            return
        # Beside one another as here: CUDA sources include what is common.
        for folder, pattern, copied in (
            ("common", "*.h", "common"),
            ("cuda", "*.cu*", "cuda_sources"),
            ("opencl", "*.cl*", "opencl_sources"),
        ):
            target = Path(self.build_lib, "pairalign", copied)
            for source in sorted(Path(folder).rglob(pattern)):
                copy = target / source.relative_to(folder)
                self.mkpath(str(copy.parent))
                self.copy_file(str(source), str(copy))


class PlatformWheel(bdist_wheel):
    """The library does not link to Python: one wheel serves every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tag of the wheel's name: any Python 3, no Python ABI, this platform."""
        return "py3", "none", super().get_tag()[2]


MANUAL = Path("build/man/pairalign.1")  # made by `make man`

setup(
    data_files=[("share/man/man1", [MANUAL.as_posix()])] if MANUAL.exists() else [],
    ext_modules=[
        Extension(
            "pairalign._native",
            sources=SOURCES + sorted(KERNELS),
            depends=[
                *sorted(path.as_posix() for path in Path("cpu").rglob("*.h")),
                *sorted(path.as_posix() for path in Path("common").rglob("*.h")),
            ],
            language="c++",
        )
    ],
    cmdclass={
        "build_ext": BuildNative,
        "build_py": BuildPythonAndKernels,
        "bdist_wheel": PlatformWheel,
    },
)
