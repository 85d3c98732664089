"""Compiling CUDA kernels: ahead of time, or at first use, cached per architecture.

A kernel is looked for in three places: among those compiled ahead (``make cuda`` writes them to
``pairalign/cuda_kernels/``), in the cache (``$XDG_CACHE_HOME/pairalign``), and then it is compiled:
by nvcc, or by NVRTC where there is no nvcc.
File names hold a digest of source, headers, definitions and flags, so nothing stale is ever loaded;
nor is anything from the cache that another user can have put there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pairalign.base.error_types import KernelBuildError
from pairalign.base.interpreter import fork_lock
from pairalign.base.limits import usable_cores
from pairalign.base.part_file import PartFile
from pairalign.base.user_cache import cache_folder
from pairalign.engines.cuda.ahead_files import (
    ALL_CODES,
    Codes,
    describe,
    file_name,
    find_ahead,
    nvcc_options,
)
from pairalign.engines.cuda.nvrtc import compile_cubin, find_nvrtc, text_of

Defines = Mapping[str, "int | str"]

FLAGS = ("-std=c++17", "-O3")

PTXAS_LEVEL = "PAIRALIGN_PTXAS_LEVEL"
"""A definition: how much ptxas optimizes, less than it does by itself."""

PACKAGE = Path(__file__).resolve().parents[2]
AHEAD_FOLDER = PACKAGE / "cuda_kernels"

_LONGEST_WORD = 64
"""Of a file's name: longer definitions are in the digest alone."""

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH

_MODE = 0o644
"""Of a compiled kernel: whoever may read the cache may use it."""

log = logging.getLogger("pairalign")
_lock = fork_lock()
_said: set[str] = set()
_compiling: dict[str, Future[Binary]] = {}  # by name, under `_lock`


def source_folder() -> Path:
    """Return where the kernel sources are: in the package, or beside it in a working copy."""
    for folder in (PACKAGE / "cuda_sources", PACKAGE.parent / "cuda"):
        if folder.is_dir():
            return folder
    raise KernelBuildError(f"the CUDA sources are missing: neither {PACKAGE}/cuda_sources exists")


def find_nvcc() -> str | None:
    """Return the path of nvcc: ``$NVCC``, on the PATH, or in the usual places."""
    candidates = [os.environ.get("NVCC"), shutil.which("nvcc")]
    for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if root:
            candidates.append(f"{root}/bin/nvcc")
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


@dataclass(frozen=True)
class ModuleRequest:
    """Kernels that somebody needs.

    Attributes
    ----------
    source : str
        Name of a file in ``cuda/``.
    defines : mapping
        Become ``-DNAME=VALUE``: what the source is compiled with ahead.
    part : mapping or None
        The same for less of it, which will do and compiles faster; None if all is needed.
    """

    source: str
    defines: Defines
    part: Defines | None = None


@dataclass(frozen=True)
class Binary:
    """A module's machine code, and a name that no other has."""

    name: str
    code: bytes


def load_binaries(
    requests: Sequence[ModuleRequest],
    capability: tuple[int, int],
    loaded: Container[str] = (),
) -> list[Binary]:
    """Return the machine code of modules for a device; what must be compiled is, at the same time.

    Parameters
    ----------
    requests : sequence of ModuleRequest
        Several may get the same module.
    capability : (int, int)
        Of the device.
    loaded : container of str
        Names of modules whose code is not needed: it is left empty.

    Raises
    ------
    KernelBuildError
        There is no compiler, or it fails; the message has what it printed.
    """
    architecture = 10 * capability[0] + capability[1]
    binaries: dict[str, Binary] = {}
    names = []
    missing: dict[str, tuple[str, Defines]] = {}
    elsewhere: dict[str, Future[Binary]] = {}
    with _lock:  # engines of one device ask for the same kernels at the same time
        for request in requests:
            ahead = _ahead_of(request, architecture)
            defines = request.defines if request.part is None else request.part
            name = f"{_key(request.source, defines)}-sm{architecture}.cubin"
            if ahead is not None:
                name = ahead.name
            names.append(name)
            if name in binaries or name in missing or name in elsewhere:
                continue
            if name in loaded:
                binaries[name] = Binary(name, b"")
                continue
            if name in _compiling:
                elsewhere[name] = _compiling[name]
                continue
            code = _trusted_code(cache_folder() / name) if ahead is None else ahead.read_bytes()
            if code is None:
                missing[name] = request.source, defines
            else:
                binaries[name] = Binary(name, code)
        _compiling.update((name, Future()) for name in missing)
    if missing:
        binaries |= _compile_for_others_too(missing, architecture)
    binaries |= {name: compiled.result() for name, compiled in elsewhere.items()}
    return [binaries[name] for name in names]


def _compile_for_others_too(
    missing: Mapping[str, tuple[str, Defines]], architecture: int
) -> dict[str, Binary]:
    """Compile modules, by the names of their files; threads that want them meanwhile get them."""
    try:
        built = _compile_for_device(missing, architecture)
    except BaseException as error:
        for name in missing:
            _compiling[name].set_exception(error)
        raise
    else:
        for name, binary in built.items():
            _compiling[name].set_result(binary)
        return built
    finally:
        with _lock:
            for name in missing:
                del _compiling[name]


def _ahead_of(request: ModuleRequest, architecture: int) -> Path | None:
    """Return the file compiled ahead that has a module for a device, if there is one."""
    return find_ahead(AHEAD_FOLDER, _key(request.source, request.defines), architecture)


def _trusted_code(cached: Path) -> bytes | None:
    """Return what is in a file of the cache; None if it is not there or not to be used."""
    reason = _why_untrusted(cached.parent) or _why_untrusted(cached)
    if reason is not None:
        if reason not in _said:
            _said.add(reason)
            log.warning("compiled kernels are not loaded: %s", reason)
        return None
    return cached.read_bytes() if cached.exists() else None


def _compile_for_device(
    missing: Mapping[str, tuple[str, Defines]], architecture: int
) -> dict[str, Binary]:
    """Compile modules, by the names of their files, and say so before: it is a wait of seconds.

    They are kept in the cache if others cannot write it, else this process alone uses them.
    """
    folder = cache_folder()
    if _why_untrusted(folder) is None:
        return _compile_into(folder, missing, architecture, f"kept in {folder}")
    with tempfile.TemporaryDirectory(prefix="pairalign-") as scratch:
        return _compile_into(Path(scratch), missing, architecture, "not kept")


def _compile_into(
    folder: Path, missing: Mapping[str, tuple[str, Defines]], architecture: int, kept: str
) -> dict[str, Binary]:
    sources = sorted({Path(source).with_suffix("").as_posix() for source, _ in missing.values()})
    titles = " and ".join(f"'{title}'" for title in sources)
    log.info("compiling the kernels %s for this GPU, once: %s", titles, _count(len(missing)))
    started = time.monotonic()

    def build(name: str) -> Binary:
        compile_for(folder / name, *missing[name], architecture)
        return Binary(name, (folder / name).read_bytes())

    with ThreadPoolExecutor(usable_cores()) as pool:
        built = list(pool.map(build, missing))
    log.info("compiled %s in %.1f s, %s", titles, time.monotonic() - started, kept)
    return {binary.name: binary for binary in built}


def _count(modules: int) -> str:
    if modules == 1:
        return "1 module"
    return f"{modules} modules, {min(modules, usable_cores())} at a time"


def can_load(capability: tuple[int, int], sources: Iterable[tuple[str, Defines]]) -> str | None:
    """Return None if kernels can be had for a device, else the reason why not.

    Without a compiler, each source must have been compiled ahead, or some kernel of some source be
    in the cache, which has what earlier runs needed. A run that needs another is a KernelBuildError
    then.
    """
    if find_nvcc() is not None or find_nvrtc() is not None:
        return None
    architecture = 10 * capability[0] + capability[1]
    variants = list(sources)
    if all(_ahead_of(ModuleRequest(*variant), architecture) is not None for variant in variants):
        return None
    cached = _find_cached(variants, architecture)
    if cached is None:
        return _no_nvcc(f"for sm_{architecture}")
    reason = _why_untrusted(cached.parent) or _why_untrusted(cached)
    return None if reason is None else f"compiled kernels are not loaded: {reason}"


def _find_cached(variants: Iterable[tuple[str, Defines]], architecture: int) -> Path | None:
    """Return a file of the cache that has kernels of a source: all of a variant, or one entry."""
    there = {path.name: path for path in cache_folder().glob(f"*-sm{architecture}.cubin")}
    for source, defines in variants if there else ():
        for part in (defines, *_parts_of(defines)):
            name = f"{_key(source, part)}-sm{architecture}.cubin"
            if name in there:
                return there[name]
    return None


def _parts_of(defines: Defines) -> Iterator[Defines]:
    """Yield what each entry of a source that has several is compiled with for itself."""
    entries = str(defines.get("PAIRALIGN_ENTRIES", "")).split()
    for entry in entries if len(entries) > 1 else ():
        yield {**defines, "PAIRALIGN_ENTRIES": entry}


def _no_nvcc(which: str) -> str:
    return (
        f"nvcc is not there, and the kernels {which} are not among those compiled ahead "
        f"({describe(AHEAD_FOLDER)}); install a wheel with compiled kernels, pairalign[nvrtc], or "
        "the CUDA toolkit, or set NVCC to its path"
    )


def compile_for(target: Path, source: str, defines: Defines, architecture: int) -> None:
    """Compile a kernel source for one architecture, by nvcc or else by NVRTC."""
    nvrtc = None if find_nvcc() else find_nvrtc()
    if nvrtc is None:
        compile_to(target, source, defines, [f"-arch=sm_{architecture}", "-cubin"])
        return
    part = _part_of(target)
    try:
        level = [f"--ptxas-options=-O{defines[PTXAS_LEVEL]}"] if PTXAS_LEVEL in defines else []
        cubin = compile_cubin(nvrtc, source_folder() / source, defines, architecture, level)
        Path(part.path).write_bytes(cubin)
        part.publish()
    except OSError as error:
        raise KernelBuildError(f"a compiled kernel cannot be written: {error}") from error
    finally:
        part.remove()


def compile_to(target: Path, source: str, defines: Defines, options: list[str]) -> str:
    """Compile a kernel source with nvcc; return what it printed.

    The file appears under its name only when it is complete.
    """
    nvcc = find_nvcc()
    if nvcc is None:
        raise KernelBuildError(_no_nvcc(f"of {source}"))
    path = source_folder() / source
    definitions = [f"-D{name}={value}" for name, value in sorted(defines.items())]
    escaped = [
        text.replace(",", r"\,") for text in definitions
    ]  # nvcc takes commas to part options
    part = _part_of(target)
    level = [f"-Xptxas=-O{defines[PTXAS_LEVEL]}"] if PTXAS_LEVEL in defines else []
    command = [nvcc, *FLAGS, *level, *options, *escaped, "-o", part.path, str(path)]
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


def _part_of(target: Path) -> PartFile:
    """Make the file that becomes `target` when it is complete."""
    try:
        _make_folder(target.parent)
        part = PartFile(os.fspath(target), _MODE)
        os.close(part.descriptor)
    except OSError as error:
        raise KernelBuildError(
            f"compiled kernels cannot be kept in {target.parent} ({error}); "
            "set PAIRALIGN_CACHE to another folder"
        ) from error
    return part


def compile_ahead(
    variants: Iterable[tuple[str, Defines]],
    folder: Path = AHEAD_FOLDER,
    codes_of: Callable[[str], Codes] = lambda _: ALL_CODES,
    jobs: int | None = None,
) -> Iterator[tuple[Path, str]]:
    """Compile kernels for several architectures and PTX, a file a variant, if it is not there yet.

    Parameters
    ----------
    variants : iterable of (source, defines)
    codes_of : callable (source) -> codes
        What a source is compiled for.
    jobs : int, optional
        Files at a time; default: a core each.

    Yields
    ------
    path, text
        A file, and what ptxas said about registers and spills; empty for a file that was there.
    """

    def build(variant: tuple[str, Defines]) -> tuple[Path, str]:
        codes = codes_of(variant[0])
        target = folder / file_name(_key(*variant), codes)
        if target.exists():
            return target, ""
        return target, compile_to(target, *variant, [*nvcc_options(codes), "-Xptxas", "-v"])

    with ThreadPoolExecutor(jobs or usable_cores()) as pool:
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


_keys: dict[tuple[Path, tuple[tuple[str, int | str], ...]], tuple[str, bytes]] = {}


def _key(source: str, defines: Defines) -> str:
    """Name of a variant of a source, with a digest of all that goes into it.

    It is made again when a file has changed: reading all of them takes a millisecond, and engines
    ask for some dozens of variants.
    """
    path, sorted_defines = source_folder() / source, tuple(sorted(defines.items()))
    text = text_of(path)
    entry = _keys.get((path, sorted_defines))
    if entry is not None and entry[1] is text:
        return entry[0]
    digest = hashlib.sha256(repr((list(sorted_defines), FLAGS)).encode() + text)
    words = [
        "-".join(Path(source).with_suffix("").parts[-2:]),
        *(word for _, value in sorted_defines if len(word := _word_of(value)) <= _LONGEST_WORD),
    ]
    key = "-".join([*words, digest.hexdigest()[:16]])
    _keys[path, sorted_defines] = key, text
    return key


def _word_of(value: int | str) -> str:
    """Alphanumeric characters of a definition, for a file's name."""
    return re.sub(r"\W+", "-", str(value).lower()).strip("-")


def _advice(printed: str) -> str:
    if "nsupported gpu architecture" in printed:
        return "This CUDA toolkit does not know the device; install a version that does."
    if "host compiler" in printed or "cc1plus" in printed or "g++" in printed:
        return "nvcc needs a C++ compiler that it supports (g++ or clang)."
    return ""


def _why_untrusted(path: Path) -> str | None:
    """Return why a folder of kernels, or a kernel, may not be used; None if it may or is not there.

    Whoever can write it decides what this user runs.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return f"'{path}' cannot be looked at: {error.strerror}"
    if status.st_uid not in (os.geteuid(), 0):
        return f"'{path}' belongs to another user (number {status.st_uid})"
    if status.st_mode & _OTHERS_MAY_WRITE:
        return f"others may write '{path}' (to end that: chmod go-w '{path}')"
    return None


def _make_folder(path: Path) -> None:
    """Make a folder that only this user may write, whatever the umask is; OSError if that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o755, exist_ok=True)
