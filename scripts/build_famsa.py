"""Build the `famsa` program from the sources that pyfamsa carries on PyPI, to test against it.

    python scripts/build_famsa.py .venv/bin/famsa

pyfamsa's own interface cannot import a tree. Needs g++ and the headers of zlib and libdeflate
(Debian: libdeflate-dev zlib1g-dev).
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RELEASE = "pyfamsa==0.7.0"
FOLDERS = ("", "core", "tree", "utils", "lcs")

# FAMSA reads gzip with zlib-ng, of which zlib has everything that it uses under another name.
ZLIB_NG = (
    "#include <zlib.h>\n"
    + "".join(
        f"#define zng_{name} {name}\n"
        for name in ("inflate", "inflateInit2", "inflateEnd", "inflateReset")
    )
    + "#define zng_stream z_stream\n"
)


def main(program: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = download(Path(folder))
        include = Path(folder) / "include"
        (include / "libdeflate").mkdir(parents=True)
        (include / "zlib-ng.h").write_text(ZLIB_NG)
        (include / "libdeflate" / "libdeflate.h").write_text("#include <libdeflate.h>\n")
        flags, simd = choose_instructions()
        files = [path for name in FOLDERS for path in (source / "src" / name).glob("*.cpp")]
        files += [source / "src" / "simd" / name for name in simd]
        compiler = shlex.split(os.environ.get("CXX", "g++"))
        common = ["-O2", "-std=c++20", "-w", *flags, f"-I{include}", f"-I{source / 'libs'}"]

        def compile_one(path: Path) -> str:
            target = Path(folder) / f"{path.parent.name}_{path.stem}.o"
            subprocess.run([*compiler, *common, "-c", path, "-o", target], check=True)
            return str(target)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compile_one, files))
        program.parent.mkdir(parents=True, exist_ok=True)
        libraries = ["-ldeflate", "-lz", "-lpthread"]
        subprocess.run([*compiler, "-o", program, *objects, *libraries], check=True)


def download(folder: Path) -> Path:
    """Fetch and unpack the source release; return FAMSA's folder in it."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "--no-deps", "--no-binary", "pyfamsa", "--dest", folder, RELEASE], check=True
    )
    (archive,) = folder.glob("pyfamsa-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    (source,) = folder.glob("pyfamsa-*/vendor/FAMSA")
    return source


def choose_instructions() -> tuple[list[str], list[str]]:
    """Flags and files for this processor."""
    if platform.machine() in ("aarch64", "arm64"):
        return ["-DSIMD_NEON"], ["lcsbp_neon_intr.cpp", "utils_neon.cpp"]
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and " avx2 " in cpuinfo.read_text():
        names = ("lcsbp_avx_intr", "lcsbp_avx2_intr", "utils_avx", "utils_avx2")
        return ["-DSIMD_AVX2", "-mavx2"], [f"{name}.cpp" for name in names]
    return [], []


if __name__ == "__main__":
    main(Path(sys.argv[1]))
