"""Compiling CUDA kernels by NVRTC, NVIDIA's compiler as a library, where there is no nvcc.

``pip install pairalign[nvrtc]`` brings it: no toolkit and no C++ compiler is needed. Kernels
include nothing of the host's but fixed-width integers, which NVRTC gets as a header in memory. The
text of a source with all that it includes is read once for all variants.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from pairalign.base.error_types import KernelBuildError

_Stamp = tuple[int, int]  # of a file: when it was changed, and its size

_texts: dict[Path, tuple[dict[Path, _Stamp | None], bytes]] = {}


def text_of(path: Path) -> bytes:
    """Return the names and text of a source and its headers: the same object until one changes."""
    entry = _texts.get(path)
    if entry is None or any(_stamp_of(file) != stamp for file, stamp in entry[0].items()):
        stamps = {file: _stamp_of(file) for file in with_headers(path)}
        text = b"".join(file.name.encode() + b"\0" + file.read_bytes() for file in stamps)
        entry = _texts[path] = stamps, text
    return entry[1]


def _stamp_of(path: Path) -> _Stamp | None:
    """Return a file's stamp; None if it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def with_headers(source: Path) -> list[Path]:
    """Return a source and all that it includes from its folder."""
    files: list[Path] = []
    waiting = [source.resolve()]
    while waiting:
        path = waiting.pop()
        if path in files or not path.is_file():
            continue
        files.append(path)
        names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE)
        waiting += [(path.parent / name).resolve() for name in names]
    return sorted(files)


_INTEGERS = b"""#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
"""
_IN_MEMORY = {b"stdint.h": _INTEGERS, b"cstdint": _INTEGERS}


@functools.cache
def find_nvrtc() -> Any | None:
    """Return the module ``cuda.bindings.nvrtc`` if it and the library that it loads are there."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError):
        return None
    return nvrtc


def compile_cubin(
    nvrtc: ModuleType,
    path: Path,
    defines: Mapping[str, int | str],
    architecture: int,
    more: Sequence[str] = (),
) -> bytes:
    """Compile a kernel source for one architecture.

    Parameters
    ----------
    nvrtc : module
        As `find_nvrtc` returns it.
    path : Path
        Of the source; what it includes is beside it.
    defines : mapping
        Become ``-DNAME=VALUE``.
    architecture : int
        Ten times the compute capability: 90 for 9.0.
    more : sequence of str
        Options besides.

    Returns
    -------
    bytes
        A cubin.

    Raises
    ------
    KernelBuildError
        With what the compiler printed.
    """
    folders = sorted({file.parent for file in with_headers(path)})
    options = [
        "--std=c++17",
        "--device-as-default-execution-space",  # of lambdas without a mark
        f"--gpu-architecture=sm_{architecture}",
        *(f"--include-path={folder}" for folder in folders),
        *(f"--define-macro={name}={value}" for name, value in sorted(defines.items())),
        *more,
    ]
    program = _checked(
        nvrtc,
        nvrtc.nvrtcCreateProgram(
            path.read_bytes(), str(path).encode(), len(_IN_MEMORY),
            list(_IN_MEMORY.values()), list(_IN_MEMORY),
        ),
    )  # fmt: skip
    try:
        failed = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])[0]
        if failed:
            raise KernelBuildError(
                f"NVRTC cannot compile {path.name} ({' '.join(options)}):\n{_log(nvrtc, program)}"
            )
        cubin = bytes(_checked(nvrtc, nvrtc.nvrtcGetCUBINSize(program)))
        _checked(nvrtc, nvrtc.nvrtcGetCUBIN(program, cubin))
        return cubin
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _log(nvrtc: ModuleType, program: Any) -> str:
    """Return what the compiler printed."""
    text: bytes = b" " * _checked(nvrtc, nvrtc.nvrtcGetProgramLogSize(program))
    _checked(nvrtc, nvrtc.nvrtcGetProgramLog(program, text))
    return text.rstrip(b"\0").decode(errors="replace").strip()


def _checked(nvrtc: ModuleType, answer: tuple[Any, ...]) -> Any:
    """Return what a function of NVRTC gave back, or raise what it says."""
    if answer[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise KernelBuildError(f"NVRTC failed: {answer[0].name}")
    return answer[1] if len(answer) > 1 else None
