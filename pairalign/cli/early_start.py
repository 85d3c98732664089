"""What a run on a GPU waits for, begun while the program and its inputs are still being loaded.

A CUDA driver takes 0.2 s to start. Nothing else depends on it until engines are opened, so a thread
starts it as soon as the command line looks like a run on a GPU; a wrong guess costs that time on
another core and changes nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

_WORTH_A_GPU = 300_000
"""Bytes of input from which ``--device auto`` is likely to take a GPU."""

_NO_GPU_HERE = ("--cluster", "--help", "-h", "help", "--version", "completion", "merge")
"""Words of a command line that aligns elsewhere or not at all."""

_DEVICE_FILE = Path("/dev/nvidiactl")


def start_early(given: Sequence[str]) -> threading.Thread | None:
    """Begin to start the CUDA driver if a command line is likely to use it.

    Parameters
    ----------
    given : sequence of str
        The command line.

    Returns
    -------
    Thread or None
        That starts the driver; the interpreter waits for it when it ends.
    """
    if not _wants_gpu(given) or not _DEVICE_FILE.exists():
        return None
    thread = threading.Thread(target=_start_driver, name="CUDA driver")
    thread.start()
    return thread


def _wants_gpu(given: Sequence[str]) -> bool:
    """Guess from the words alone: options have not been parsed yet."""
    if any(word.split("=")[0] in _NO_GPU_HERE for word in given):
        return False
    devices = [after for word, after in pairwise(given) if word == "--device"]
    devices += [word.partition("=")[2] for word in given if word.startswith("--device=")]
    if devices and devices[-1] != "auto":
        return devices[-1].split(":")[0] == "cuda"
    return any(_size(word) >= _WORTH_A_GPU for word in given)


def _size(word: str) -> int:
    try:
        return 0 if word.startswith("-") else Path(word).stat().st_size
    except (OSError, ValueError):
        return 0


def _start_driver() -> None:
    import ctypes  # frees the interpreter during a call, which PyCUDA does not here

    with suppress(OSError, AttributeError):  # opening the engines says what is missing
        ctypes.CDLL("libcuda.so.1").cuInit(0)
