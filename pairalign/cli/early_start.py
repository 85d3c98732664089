"""What a run on a GPU waits for, begun while the program and its inputs are still being loaded.

A CUDA driver takes 0.15 s to start, and each device 0.1 s. Nothing else depends on it until engines
are opened, so a thread starts them as soon as the command line looks like a run on a GPU; a wrong
guess costs that time on another core and changes nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

_WORTH_A_GPU = 300_000
"""Bytes of input from which ``--device auto`` is likely to take a GPU."""

_WORTH_SEVERAL_GPUS = 1_700_000
"""Bytes of input from which a second GPU is likely to be used where none is named."""

_COMPRESSED = (".gz", ".bgz", ".bz2", ".xz", ".zst")
_PACKED = 4
"""Residues a byte of a compressed file, about."""

_NO_GPU_HERE = ("--dask", "--help", "-h", "help", "--version", "completion", "merge", "verify")
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
    device = _device(given)
    if device is None or not _DEVICE_FILE.exists():
        return None
    is_small = all(_size(word) < _WORTH_SEVERAL_GPUS for word in given)
    thread = threading.Thread(target=_start_driver, args=(device, is_small), name="CUDA driver")
    thread.start()
    return thread


def _device(given: Sequence[str]) -> str | None:
    """Guess the GPUs of a run from the words alone: options have not been parsed yet.

    Returns
    -------
    str or None
        ``"cuda"``, ``"cuda:0,2"`` or, if that is likely to be a GPU, ``"auto"``; None without one.
    """
    if any(word.split("=")[0] in _NO_GPU_HERE for word in given):
        return None
    devices = [after for word, after in pairwise(given) if word == "--device"]
    devices += [word.partition("=")[2] for word in given if word.startswith("--device=")]
    if devices and devices[-1] != "auto":
        return devices[-1] if devices[-1].split(":")[0] == "cuda" else None
    return "auto" if any(_size(word) >= _WORTH_A_GPU for word in given) else None


def _size(word: str) -> int:
    """Return the bytes of a file if a word names one, as they would be without compression."""
    try:
        size = 0 if word.startswith("-") else Path(word).stat().st_size
    except (OSError, ValueError):
        return 0
    return size * _PACKED if word.endswith(_COMPRESSED) else size


def _start_driver(device: str, is_small: bool) -> None:
    """Start the driver, then the devices; engines report what fails."""
    import ctypes  # frees the interpreter during a call, which PyCUDA does not here

    with suppress(OSError, AttributeError):
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int()
        if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
            return

        # The contexts that PyCUDA gets later, too: the second time they are only counted.
        def retain(index: int) -> None:
            handle, context = ctypes.c_int(), ctypes.c_void_p()
            if driver.cuDeviceGet(ctypes.byref(handle), index) == 0:
                driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle)

        for index in _indices(device, count.value, is_small):
            threading.Thread(target=retain, args=(index,), name="CUDA device").start()


def _indices(device: str, count: int, is_small: bool) -> list[int]:
    """Return which of `count` GPUs a run uses: those named, else the first, or all for much."""
    named = device.partition(":")[2]
    if not named:
        return list(range(min(count, 1) if is_small else count))
    return [int(word) for word in named.split(",") if word.isdecimal() and int(word) < count]
