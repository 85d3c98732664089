"""A CUDA device: what its engines share, and the kernels that are loaded on it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from pairalign.base.error_types import KernelBuildError
from pairalign.engines.cuda import build as cuda_build
from pairalign.engines.cuda.buffers import SharedStreams
from pairalign.engines.cuda.build import Binary, ModuleRequest
from pairalign.engines.cuda.pinning import Pinning
from pairalign.engines.device.pinned_pool import PinnedPool, SharedPool


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
    shared_bytes : int
        Shared memory that a block may have.
    memory_bytes : int
        Size of the device's memory.
    driver : module
        ``pycuda.driver``.
    pinning : Pinning
        Makes pinned memory of any size.
    """

    is_cpu = False

    def __init__(self, driver: ModuleType, index: int) -> None:
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
        self.shared_bytes = int(
            handle.get_attribute(driver.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
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
