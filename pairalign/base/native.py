"""The native library: one shared object behind a C ABI, loaded with ctypes."""

from __future__ import annotations

import ctypes
from pathlib import Path

from pairalign.base.signatures import declare_all

PATH = Path(__file__).resolve().parents[1] / "_native.so"


def _load() -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(str(PATH))
        declare_all(loaded)
    except (OSError, AttributeError) as error:  # not there, or of another version
        raise ImportError(
            f"the native library {PATH} is missing or does not load ({error}); "
            "build it with `make build` or install pairalign with `pip install .`"
        ) from error
    if not loaded.pairalign_instruction_sets():
        raise ImportError(
            f"the native library {PATH} was compiled for another processor: its kernels need "
            f"{loaded.pairalign_compiled_sets().decode()}, which this one lacks; "
            "`PAIRALIGN_BUILD_SETS=all pip install -e .` compiles all"
        )
    return loaded


library = _load()
"""Functions of the library, declared as `signatures` says."""


def keep_freed_memory(memory_bytes: int) -> None:
    """Let the C library keep memory that was freed for results to come; glibc alone.

    For programs that do nothing else: it holds for the process.

    Parameters
    ----------
    memory_bytes : int
        What the program may use; a sixteenth of it may be kept.
    """
    library.pairalign_keep_freed_memory(memory_bytes // 16)


def share_heap() -> None:
    """Let all threads to come allocate from one heap; glibc alone.

    For programs that do nothing else: it holds for the process. Engines free much before a tree
    takes as much again, and the heaps of their threads would keep it.
    """
    library.pairalign_share_heap()
