"""Compiling CUDA kernels: ahead of time, or with nvcc at first use, cached per architecture.

A kernel is looked for in three places: among those compiled ahead (``make cuda`` writes them to
``pairalign/cuda_kernels/``), in the cache (``$XDG_CACHE_HOME/pairalign``), and then it is compiled.
File names hold a digest of source, headers, definitions and flags, so nothing stale is ever loaded;
nor is anything from the cache that another user can have put there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pairalign.engines.cuda.kernel_cache import make_folder, why_untrusted
from pairalign.errors import KernelBuildError
from pairalign.part_file import PartFile

Defines = Mapping[str, "int | str"]

FLAGS = ("-std=c++17", "-O3")
AHEAD_ARCHITECTURES = (80, 90, 120)
"""Compute capabilities (10 x) that kernels are compiled for ahead of time, besides PTX."""
PTX_ARCHITECTURE = 80
"""Any newer device can run PTX for this one; its driver compiles it at first use."""

PACKAGE = Path(__file__).resolve().parents[2]
AHEAD_FOLDER = PACKAGE / "cuda_kernels"

_MODE = 0o644
"""Of a compiled kernel: whoever may read the cache may use it."""

log = logging.getLogger("pairalign")
_lock = threading.Lock()
_said: set[str] = set()


def source_folder() -> Path:
    """Return where the kernel sources are: in the package, or beside it in a working copy."""
    for folder in (PACKAGE / "cuda_sources", PACKAGE.parent / "cuda"):
        if folder.is_dir():
            return folder
    raise KernelBuildError(f"the CUDA sources are missing: neither {PACKAGE}/cuda_sources exists")


def cache_folder() -> Path:
    """Return where kernels compiled at first use are kept."""
    chosen = os.environ.get("PAIRALIGN_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pairalign"


def find_nvcc() -> str | None:
    """Return the path of nvcc: ``$NVCC``, on the PATH, or in the usual places."""
    candidates = [os.environ.get("NVCC"), shutil.which("nvcc")]
    for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if root:
            candidates.append(f"{root}/bin/nvcc")
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


def load_binary(source: str, defines: Defines, capability: tuple[int, int]) -> bytes:
    """Return a module's machine code for a device, compiling it if need be.

    Parameters
    ----------
    source : str
        Name of a file in ``cuda/``.
    defines : mapping
        Become ``-DNAME=VALUE``.
    capability : (int, int)
        Of the device.

    Raises
    ------
    KernelBuildError
        There is no nvcc, or it fails; the message has what it printed.
    """
    key = _key(source, defines)
    architecture = 10 * capability[0] + capability[1]
    if architecture >= PTX_ARCHITECTURE:
        ahead = AHEAD_FOLDER / f"{key}.fatbin"
        if ahead.exists():
            return ahead.read_bytes()
    cached = cache_folder() / f"{key}-sm{architecture}.cubin"
    with _lock:  # engines of one device ask for the same kernels at the same time
        reason = why_untrusted(cached.parent)
        if reason is not None:
            _say_untrusted(reason)
            return _compile_apart(cached.name, source, defines, architecture)
        reason = why_untrusted(cached)
        if reason is not None:
            _say_untrusted(reason)
        if reason is not None or not cached.exists():
            seconds = _compile_for_device(cached, source, defines, architecture)
            log.info("compiled '%s' in %.1f s, kept in %s", _title(source), seconds, cached.parent)
        return cached.read_bytes()


def _say_untrusted(reason: str) -> None:
    """Warn that a cache is not used, once."""
    if reason not in _said:
        _said.add(reason)
        log.warning("compiled kernels are not loaded: %s", reason)


def _compile_apart(name: str, source: str, defines: Defines, architecture: int) -> bytes:
    """Compile into a folder of this process, for this time only."""
    with tempfile.TemporaryDirectory(prefix="pairalign-") as folder:
        target = Path(folder) / name
        seconds = _compile_for_device(target, source, defines, architecture)
        log.info("compiled '%s' in %.1f s, not kept", _title(source), seconds)
        return target.read_bytes()


def _compile_for_device(target: Path, source: str, defines: Defines, architecture: int) -> float:
    """Compile kernels, and say so before: it is a wait of many seconds. Return how many."""
    log.info(
        "compiling the kernels '%s' for this GPU; all that a run needs take 10 to 20 s",
        _title(source),
    )
    started = time.monotonic()
    compile_to(target, source, defines, [f"-arch=sm_{architecture}", "-cubin"])
    return time.monotonic() - started


def _title(source: str) -> str:
    return Path(source).with_suffix("").as_posix()


def can_load(capability: tuple[int, int], sources: Iterable[tuple[str, Defines]]) -> str | None:
    """Return None if kernels can be had for a device, else the reason why not."""
    if find_nvcc() is not None:
        return None
    architecture = 10 * capability[0] + capability[1]
    for source, defines in sources:
        key = _key(source, defines)
        if architecture >= PTX_ARCHITECTURE and (AHEAD_FOLDER / f"{key}.fatbin").exists():
            continue
        cached = cache_folder() / f"{key}-sm{architecture}.cubin"
        if not cached.exists():
            return _NO_NVCC
        reason = why_untrusted(cached.parent) or why_untrusted(cached)
        if reason is not None:
            return f"compiled kernels are not loaded: {reason}"
    return None


_NO_NVCC = (
    "nvcc is not there, and the kernels were not compiled ahead (make cuda); install the CUDA "
    "toolkit, or set NVCC to its path"
)


def compile_to(target: Path, source: str, defines: Defines, options: list[str]) -> str:
    """Compile a kernel source with nvcc; return what it printed.

    The file appears under its name only when it is complete.
    """
    nvcc = find_nvcc()
    if nvcc is None:
        raise KernelBuildError(_NO_NVCC)
    path = source_folder() / source
    definitions = [f"-D{name}={value}" for name, value in sorted(defines.items())]
    try:
        make_folder(target.parent)
        part = PartFile(os.fspath(target), _MODE)
        os.close(part.descriptor)
    except OSError as error:
        raise KernelBuildError(
            f"compiled kernels cannot be kept in {target.parent} ({error}); "
            "set PAIRALIGN_CACHE to another folder"
        ) from error
    command = [nvcc, *FLAGS, *options, *definitions, "-o", part.path, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        printed = (done.stdout + done.stderr).strip()
        if done.returncode != 0:
            raise KernelBuildError(
                f"nvcc cannot compile {source} ({' '.join(options + definitions)}):\n"
                f"{printed}\n{_advice(printed)}".rstrip()
            )
        part.publish()
    except OSError as error:
        raise KernelBuildError(f"running {nvcc} failed: {error}") from error
    finally:
        part.remove()
    return printed


def compile_ahead(
    variants: Iterable[tuple[str, Defines]],
    folder: Path = AHEAD_FOLDER,
    architectures: Iterable[int] = AHEAD_ARCHITECTURES,
    jobs: int | None = None,
) -> Iterator[tuple[Path, str]]:
    """Compile kernels for several architectures and PTX, a file a variant.

    Yields
    ------
    path, text
        A file, and what ptxas said about registers and spills.
    """
    options = ["-fatbin", "-Xptxas", "-v"]
    options += [f"-gencode=arch=compute_{a},code=sm_{a}" for a in architectures]
    options.append(f"-gencode=arch=compute_{PTX_ARCHITECTURE},code=compute_{PTX_ARCHITECTURE}")

    def build(variant: tuple[str, Defines]) -> tuple[Path, str]:
        target = folder / f"{_key(*variant)}.fatbin"
        return target, compile_to(target, *variant, options)

    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        yield from pool.map(build, variants)


def resources(printed: str) -> list[str]:
    """Return a line for each kernel of what ``-Xptxas -v`` printed: registers, spills, shared."""
    lines = []
    for part in printed.split("Compiling entry function ")[1:]:
        name = re.match(r"'(\w+)' for '(\w+)'", part)
        spilled = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", part)
        used = re.search(r"Used (\d+) registers", part)
        shared = re.search(r"(\d+) bytes smem", part)
        if name and spilled and used:
            lines.append(
                f"{name[2]:7} {name[1]:28} {used[1]:>3} registers, "
                f"{int(spilled[1]) + int(spilled[2])} bytes spilled, "
                f"{shared[1] if shared else 0} bytes shared"
            )
    return lines


def _key(source: str, defines: Defines) -> str:
    """Name of a variant of a source, with a digest of all that goes into it."""
    digest = hashlib.sha256(repr((sorted(defines.items()), FLAGS)).encode())
    for path in _with_headers(source_folder() / source):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    words = [
        "-".join(Path(source).with_suffix("").parts[-2:]),
        *(str(value).lower() for _, value in sorted(defines.items())),
    ]
    return "-".join([*words, digest.hexdigest()[:16]])


def _with_headers(source: Path) -> list[Path]:
    """Return a source and all that it includes from its folder."""
    found: list[Path] = []
    waiting = [source.resolve()]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.append(path)
        names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE)
        waiting += [(path.parent / name).resolve() for name in names]
    return sorted(found)


def _advice(printed: str) -> str:
    if "nsupported gpu architecture" in printed:
        return "This CUDA toolkit does not know the device; install a version that does."
    if "host compiler" in printed or "cc1plus" in printed or "g++" in printed:
        return "nvcc needs a C++ compiler that it supports (g++ or clang)."
    return ""
