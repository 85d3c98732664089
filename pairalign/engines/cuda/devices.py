"""CUDA devices through PyCUDA: finding them, and saying why there are none.

PyCUDA is imported when a device is asked for, never before: pairalign works without it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pairalign.base.errors import DeviceError, KernelBuildError
from pairalign.base.fork_lock import fork_lock
from pairalign.engines.cuda import build as cuda_build
from pairalign.engines.cuda.build import Binary, ModuleRequest
from pairalign.engines.cuda.pinning import Pinning
from pairalign.engines.cuda.streams import SharedStreams
from pairalign.engines.device.pinned_pool import PinnedPool, SharedPool

_SIGNS_OF_A_GPU = ("proc/driver/nvidia", "dev/nvidia0", "dev/nvidiactl", "dev/dxg")

_lock = fork_lock()
_devices: list[CudaDevice] | None = None


class CudaDevice:
    """A CUDA device; its context is shared by all engines on it.

    Attributes
    ----------
    index : int
        As in ``cuda:0``.
    name : str
        ``cuda:0``.
    model : str
        As the vendor calls it.
    is_cpu : bool
        False.
    capability : (int, int)
        Compute capability.
    multiprocessors : int
    memory_bytes : int
        Size of the device's memory.
    driver : module
        ``pycuda.driver``.
    pinning : Pinning
        Makes pinned memory of any size.
    """

    is_cpu = False

    def __init__(self, driver: Any, index: int) -> None:
        handle = driver.Device(index)
        self.driver = driver
        self.pinning = Pinning(driver)
        self.index = index
        self.name = f"cuda:{index}"
        self.model = str(handle.name())
        self.capability: tuple[int, int] = tuple(handle.compute_capability())
        self.multiprocessors = int(
            handle.get_attribute(driver.device_attribute.MULTIPROCESSOR_COUNT)
        )
        self.memory_bytes = int(handle.total_memory())
        self._handle = handle
        self._context: Any = None
        self._modules: dict[str, Any] = {}
        self._streams: SharedStreams | None = None
        self._pool = SharedPool(self.pinning, self.current)
        self._lock = threading.Lock()

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make the device's (primary) context current in this thread."""
        with self._lock:
            if self._context is None:
                self._context = self._handle.retain_primary_context()
        self._context.push()
        try:
            yield
        finally:
            self.driver.Context.pop()

    def streams(self) -> SharedStreams:
        """Return the streams that all engines on the device share; the context must be current."""
        with self._lock:
            if self._streams is None:
                self._streams = SharedStreams(self.driver)
            return self._streams

    def pool(self, limit_bytes: int) -> PinnedPool:
        """Return the pinned memory that all engines on the device share, extended by some bytes.

        Close it once.
        """
        return self._pool.open(limit_bytes)

    def load_module(self, source: str, defines: Mapping[str, int | str]) -> Any:
        """Load kernels once, compiling them if need be; the context must be current."""
        return self.load_modules([ModuleRequest(source, defines)])[0]

    def load_modules(self, requests: Sequence[ModuleRequest]) -> list[Any]:
        """Load modules, compiling at the same time what needs it; the context must be current."""
        modules = []
        for binary in cuda_build.load_binaries(requests, self.capability, self._modules):
            if binary.name not in self._modules:
                self._modules[binary.name] = self._load(binary)
            modules.append(self._modules[binary.name])
        return modules

    def compile_ahead(self, requests: Sequence[ModuleRequest]) -> None:
        """Compile, in a thread, what of some modules must be; who needs them is told what fails."""

        def build() -> None:
            with suppress(KernelBuildError):
                cuda_build.load_binaries(requests, self.capability, self._modules)

        threading.Thread(target=build, name="compiling", daemon=True).start()

    def _load(self, binary: Binary) -> Any:
        try:
            return self.driver.module_from_buffer(binary.code)
        except self.driver.Error as error:
            raise KernelBuildError(
                f"{self.name} ({self.model}, compute capability {self.capability[0]}."
                f"{self.capability[1]}) does not load {binary.name}: {error}"
            ) from error


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
