"""CUDA devices through PyCUDA: finding them, and saying why there are none.

PyCUDA is imported when a device is named, never before: pairalign works without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairalign.base.error_types import DeviceError
from pairalign.base.interpreter import fork_lock

if TYPE_CHECKING:
    from pairalign.engines.cuda.cuda_device import CudaDevice

_SIGNS_OF_A_GPU = ("proc/driver/nvidia", "dev/nvidia0", "dev/nvidiactl", "dev/dxg")

_lock = fork_lock()
_devices: list[CudaDevice] | None = None


def find_devices() -> list[CudaDevice]:
    """Return all CUDA devices, at least one.

    Raises
    ------
    DeviceError
        There is none; the message says what is missing: PyCUDA, a driver, a device.
    """
    global _devices
    with _lock:
        if _devices is None:
            driver = _import_driver()
            from pairalign.engines.cuda.cuda_device import CudaDevice  # most machines have none

            try:
                driver.init()
                count = driver.Device.count()
                _devices = [CudaDevice(driver, index) for index in range(count)]
            except driver.Error as error:
                raise DeviceError(f"no CUDA device can be used: {_explain(str(error))}") from error
            if not _devices:
                _devices = None
                raise DeviceError("no CUDA device: the driver is there but finds none")
        return _devices


def has_nvidia_gpu(root: Path = Path("/")) -> bool:
    """Whether the system shows an NVIDIA GPU, usable or not; also under WSL.

    Parameters
    ----------
    root : path
        Where ``proc`` and ``dev`` are.
    """
    return any((root / path).exists() for path in _SIGNS_OF_A_GPU)


def _import_driver() -> Any:
    try:
        import pycuda.driver
    except ModuleNotFoundError as error:
        if error.name in ("pycuda", "pycuda.driver"):
            raise DeviceError(
                "PyCUDA is not installed; install it with: pip install 'pairalign[gpu]'"
            ) from error
        raise DeviceError(f"PyCUDA is not installed completely: {error}") from error
    except ImportError as error:
        text = str(error)
        if "libcuda.so" in text:
            raise DeviceError(f"there is no NVIDIA driver on this machine ({text})") from error
        raise DeviceError(
            f"PyCUDA was built for another version of CUDA ({text}); rebuild it with: pip install "
            "--force-reinstall --no-cache-dir --no-binary pycuda pycuda"
        ) from error
    return pycuda.driver


def _explain(text: str) -> str:
    if "no CUDA-capable device" in text:
        return f"the driver is there but finds none ({text})"
    if "insufficient" in text or "driver version" in text:
        return f"the driver is older than the CUDA version that PyCUDA was built for ({text})"
    return text
