"""A device for `CudaEngine` that runs kernels on this CPU."""

import functools
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from cuda_on_host import driver
from pairalign.engines.cuda.buffers import SharedStreams
from pairalign.engines.cuda.build import ModuleRequest
from pairalign.engines.device.pinned_pool import SharedPool


@functools.cache
def build_folder() -> Path:
    """Where compiled kernels are kept: between runs, since their names hold a digest."""
    folder = Path(tempfile.gettempdir()) / f"pairalign-cuda-on-host-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@functools.cache
def load(source: str, defines: tuple[tuple[str, int | str], ...]) -> driver.Module:
    return driver.Module(source, dict(defines), build_folder())


class HostDevice:
    """Stands for `pairalign.engines.cuda.cuda_device.CudaDevice`."""

    is_cpu = False

    def __init__(self, index: int = 0, multiprocessors: int = 1) -> None:
        self.driver = self.pinning = driver
        self.index = index
        self.name = f"cuda:{index}"
        self.model = "this CPU"
        self.capability = (9, 0)
        self.multiprocessors = multiprocessors
        self.shared_bytes = 227 << 10
        self.memory_bytes = driver.memory.total_bytes
        self.ahead: list[ModuleRequest] = []
        self.pool = SharedPool(driver, self.current).open

    @contextmanager
    def current(self) -> Iterator[None]:
        yield

    def streams(self) -> SharedStreams:
        return SharedStreams(self.driver)

    def load_module(self, source: str, defines: Mapping[str, int | str]) -> driver.Module:
        return load(source, tuple(sorted(defines.items())))

    def compile_ahead(self, requests: Sequence[ModuleRequest]) -> None:
        self.ahead += requests

    def load_modules(self, requests: Sequence[ModuleRequest]) -> list[driver.Module]:
        return [self.load_module(request.source, request.defines) for request in requests]
