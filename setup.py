"""Build of the native library; everything else is in setup.cfg.

The library is plain C++17 behind a C ABI (loaded with ctypes), so the wheel does not depend on the
Python version, and neither pip nor the user needs Python's headers. The kernel source is compiled
once per instruction set; which one runs is decided when the program runs.
"""

import configparser
import filecmp
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
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
# What sysconfig reads when Python packages are cross-compiled ("linux-aarch64"), or this machine.
_TARGET = os.environ.get("_PYTHON_HOST_PLATFORM", platform.machine()).rpartition("-")[2].lower()
MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}.get(_TARGET, _TARGET)
SETS = ISA_FLAGS.get(MACHINE, {"scalar": []})
# The instruction sets that are built: "avx2 sse41", or "all". Else wheels have all, and a working
# copy the one that `set_of_this_machine` names, which takes a third of the time.
WANTED = os.environ.get("PAIRALIGN_BUILD_SETS", "").replace("all", " ".join(SETS)).split()
CHOSEN = [name for name in SETS if name in WANTED]  # best first, as the linker needs them
if unknown := set(WANTED) - set(SETS):
    names = ", ".join(sorted(unknown))
    raise SystemExit(f"PAIRALIGN_BUILD_SETS: no instruction sets of {MACHINE}: {names}")
# Objects are kept here, those of other flags elsewhere.
BUILD = Path("build")
VARIANT = re.sub(
    r"[^\w.=-]", "_", "".join([MACHINE, os.environ.get("PAIRALIGN_SANITIZE", ""), *LAST_FLAGS])
)
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
# Sums of distances and of shares must not depend on whether a processor has fused multiply-add.
SOURCE_FLAGS = {
    "cpu/trees/linkage.cpp": ["-ffp-contract=off"],
    "cpu/statistics/composition.cpp": ["-ffp-contract=off"],
    "cpu/statistics/evalues.cpp": ["-ffp-contract=off"],
    "cpu/statistics/segments.cpp": ["-ffp-contract=off"],
    "cpu/msa/profiles.cpp": ["-O3"],  # their loops are worth vectors
    "cpu/pairs/overlaps.cpp": ["-O3"],
}


def line(command: list[str]) -> str:
    """Return a command as Ninja's files have it."""
    return shlex.join(command).replace("$", "$$")


def find_ninja() -> list[str]:
    """Return the command of Ninja: the package's, or the system's."""
    if importlib.util.find_spec("ninja"):
        return [sys.executable, "-m", "ninja"]
    if program := shutil.which("ninja"):
        return [program]
    raise SystemExit("Ninja compiles the native library: pip install ninja")


def set_of_this_machine() -> list[str]:
    """Return the best instruction set that this processor has; all where that is not known."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return list(SETS)
    features = text.partition("\nflags")[2].partition("\n")[0].replace("_", ".").split()
    flags = {f"-m{name}" for name in features}
    best = [name for name in SETS if flags.issuperset(f for f in SETS[name] if f.startswith("-m"))]
    return best[:1] or list(SETS)


class BuildNative(build_ext):
    """Compile each source with the flags of its instruction set and link one library.

    Ninja compiles again what changed: sources, headers that they include, commands. Objects stay
    in build/native, also those of pip's builds.
    """

    def finalize_options(self) -> None:
        """Choose the instruction sets."""
        super().finalize_options()
        stays = self.inplace and "_PYTHON_HOST_PLATFORM" not in os.environ
        self.sets = CHOSEN or (set_of_this_machine() if stays else list(SETS))

    def build_extension(self, ext: Extension) -> None:
        """Compile and link the library."""
        folder = BUILD / "native" / VARIANT
        folder.mkdir(parents=True, exist_ok=True)
        library, rules = folder / "_native.so", folder / "build.ninja"
        rules.write_text(self.rules(folder, library))
        ninja = [*find_ninja(), "-f", str(rules)]
        commands = subprocess.run(
            [*ninja, "-t", "compdb", "compile"], check=True, capture_output=True
        )
        (BUILD / "compile_commands.json").write_bytes(commands.stdout)
        jobs = self.parallel or os.cpu_count() or 1
        quiet = "--verbose" if self.verbose else "--quiet"
        subprocess.run([*ninja, quiet, f"-j{jobs}"], check=True)
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not filecmp.cmp(library, target, shallow=False):
            library.touch()  # else what is newer stays: a library of other flags
        self.copy_file(str(library), str(target))

    def rules(self, folder: Path, library: Path) -> str:
        """Return Ninja's file: how to compile, how to link, a line a source."""
        link = [*self.compiler.linker_so_cxx, "-pthread", *SANITIZER_FLAGS]
        depends = "-MMD -MF $out.d -c $in -o $out"
        lines = [
            f"builddir = {folder}",
            "rule compile",
            f"  command = {line(self.compiler.compiler_so_cxx)} $flags {depends}",
            "  depfile = $out.d",
            "  deps = gcc",
            "rule link",
            f"  command = {line(link)} $in -o $out",
        ]
        objects = []
        for source, flags in self.flags_of_sources().items():
            objects.append(f"{folder}/{source.removesuffix('.cpp')}.o")
            lines += [f"build {objects[-1]}: compile {source}", f"  flags = {line(flags)}"]
        # What several objects define inline, the linker takes from the first: plain ones go first,
        # the widest instruction set last, or other processors would run its instructions.
        linked = " ".join(reversed(objects))
        return "\n".join([*lines, f"build {library}: link {linked}", ""])

    def flags_of_sources(self) -> dict[str, list[str]]:
        """Return each source's own flags; kernels first, since they take longest."""
        flags = {
            f"cpu/{folder}/kernel_{name}.cpp": [*SETS[name], *more]
            for name in self.sets
            for folder, more in KERNEL_FLAGS.items()
        }
        calls = " ".join(f"DO({name})" for name in self.sets)
        for path in sorted(Path("cpu").rglob("*.cpp")):
            source = path.as_posix()
            if path.name.startswith("kernel_"):
                continue
            flags[source] = list(SOURCE_FLAGS.get(source, []))
            # What cpu/instruction_sets.h has all of them in; for sources that call kernels.
            if len(self.sets) < len(SETS) and "PAIRALIGN_INSTRUCTION_SETS" in path.read_text():
                flags[source].append(f"-DPAIRALIGN_INSTRUCTION_SETS(DO)={calls}")
        # Sanitizers' after -O3, with which they take an hour.
        last = [*SANITIZER_FLAGS, *LAST_FLAGS]
        return {source: [*COMMON_FLAGS, *own, *last] for source, own in flags.items()}

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


def description() -> str:
    """Return README.md as the package index shows it: with links that lead to the source."""
    config = configparser.ConfigParser()
    config.read("setup.cfg")
    (source,) = re.findall(r"^Source = (.*)$", config["metadata"]["project_urls"], re.MULTILINE)
    text = Path("README.md").read_text(encoding="utf-8")
    return re.sub(r"\]\((?!\w+:|#)", f"]({source}/blob/v{config['metadata']['version']}/", text)


MANUAL = Path("build/man/pairalign.1")  # made by `make man`

setup(
    long_description=description(),
    data_files=[("share/man/man1", [MANUAL.as_posix()])] if MANUAL.exists() else [],
    ext_modules=[Extension("pairalign._native", sources=[])],  # BuildNative finds them
    cmdclass={
        "build_ext": BuildNative,
        "build_py": BuildPythonAndKernels,
        "bdist_wheel": PlatformWheel,
    },
)
