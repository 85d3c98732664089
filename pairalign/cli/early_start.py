"""What a run on a GPU waits for, begun while the program and its inputs are still being loaded.

A CUDA driver takes 0.15 s to start, and each device 0.1 s. Nothing else depends on it until engines
are opened, so a thread starts them as soon as a command is known that is likely to use a GPU; a
wrong guess costs that time on another core and changes nothing else. On an H200, medians of 24
runs in turn: 57 proteins 0.86 s instead of 1.29 (quartiles 0.81 to 1.15, 1.03 to 1.38), scores of
2,500 proteins 1.05 s instead of 1.18. Kernels of posteriors, which the first run on a machine has
to compile, are begun as well.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairalign.base.choices import COMPRESSED_INPUTS
from pairalign.base.declaration import values_of
from pairalign.base.error_types import KernelBuildError
from pairalign.requests.shared import CommandOptions

if TYPE_CHECKING:
    import ctypes

_WORTH_A_GPU = 300_000
"""Bytes of input from which ``--device auto`` is likely to take a GPU."""

_WORTH_SEVERAL_GPUS = 1_700_000
"""Bytes of input from which a second GPU is likely to be used where none is named."""

_PACKED = 4
"""Residues a byte of a compressed file, about."""

_DEVICE_FILE = Path("/dev/nvidiactl")

_CAPABILITY = (75, 76)
"""The driver's attributes of a device that are the parts of its compute capability."""


def start_early(request: CommandOptions) -> threading.Thread | None:
    """Begin to start the CUDA driver if a command is likely to use it.

    Parameters
    ----------
    request : object
        The request of the command.

    Returns
    -------
    Thread or None
        That starts the driver; the interpreter waits for it when it ends.
    """
    values = values_of(request)
    device = values.get("device", "cpu")
    if device.partition(":")[0] not in ("auto", "cuda") or not _DEVICE_FILE.exists():
        return None
    aligns_here = values.get("dask") is None and values.get("optimal", True)
    most = max(map(_size, _texts(values)), default=0)
    if not aligns_here or (device == "auto" and most < _WORTH_A_GPU):
        return None
    is_small = most < _WORTH_SEVERAL_GPUS
    posteriors = getattr(request, "POSTERIORS", False)
    thread = threading.Thread(
        target=_start_driver, args=(device, is_small, posteriors), name="CUDA driver"
    )
    thread.start()
    return thread


def _texts(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what may be names of files."""
    for value in values.values():
        several = value if isinstance(value, (list, tuple)) else (value,)
        yield from (text for text in several if isinstance(text, str))


def _size(text: str) -> int:
    """Return the bytes of a file if a text names one, as they would be without compression."""
    try:
        size = Path(text).stat().st_size
    except (OSError, ValueError):
        return 0
    return size * _PACKED if text.endswith(COMPRESSED_INPUTS) else size


def _start_driver(device: str, is_small: bool, posteriors: bool) -> None:
    """Start the driver, then the devices and compiling; engines report what fails."""
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

        indices = _indices(device, count.value, is_small)
        for index in indices:
            threading.Thread(target=retain, args=(index,), name="CUDA device").start()
        if posteriors and indices:
            capability = _capability(driver, indices[0])
            threading.Thread(
                target=_compile_posteriors, args=(capability,), name="compiling", daemon=True
            ).start()


def _capability(driver: ctypes.CDLL, index: int) -> tuple[int, int]:
    """Return the compute capability of a device."""
    import ctypes

    number = ctypes.c_int()
    numbers = []
    for attribute in _CAPABILITY:
        driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, index)
        numbers.append(number.value)
    return numbers[0], numbers[1]


def _compile_posteriors(capability: tuple[int, int]) -> None:
    """Compile the kernels of posteriors that most runs need, if they are not there."""
    from pairalign.engines.cuda.build import load_binaries
    from pairalign.engines.cuda.posterior_plan import kernels_of

    with suppress(KernelBuildError):
        load_binaries([kernel.module for kernel in kernels_of(1)], capability)


def _indices(device: str, count: int, is_small: bool) -> list[int]:
    """Return which of `count` GPUs a run uses: those named, else the first, or all for much."""
    named = device.partition(":")[2]
    if not named:
        return list(range(min(count, 1) if is_small else count))
    return [int(word) for word in named.split(",") if word.isdecimal() and int(word) < count]
