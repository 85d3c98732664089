"""OpenCL devices through PyOpenCL: finding them, building kernels, and saying why there are none.

PyOpenCL is imported when a device is named, never before: pairalign works without it. Devices
are numbered over all platforms, GPUs and accelerators before CPUs, so that ``opencl:0`` is a GPU
wherever there is one.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from pairalign.base.error_types import DeviceError, KernelBuildError
from pairalign.base.interpreter import fork_lock

PACKAGE = Path(__file__).resolve().parents[2]

LEAST_GROUP = 64
"""Work-items of a work-group that a device must allow."""

_PROBE = "kernel void probe(global int* found) { found[0] = 1; }"

_lock = fork_lock()
_devices: list[OpenClDevice] | None = None


class OpenClDevice:
    """An OpenCL device; its context and programs are shared by all engines on it.

    Attributes
    ----------
    cl : module
        ``pyopencl``.
    index : int
        As in ``opencl:0``.
    name : str
        ``opencl:0``.
    model, platform : str
        As the vendor calls them.
    is_cpu : bool
    compute_units : int
    memory_bytes, array_bytes, local_bytes : int
        Size of the device's memory, of the largest array, and of a work-group's local memory.
    handle : pyopencl.Device
    """

    def __init__(self, cl: ModuleType, handle: Any, index: int) -> None:
        self.cl = cl
        self.index = index
        self.name = f"opencl:{index}"
        self.model = " ".join(str(handle.name).split())
        self.platform = " ".join(str(handle.platform.name).split())
        self.is_cpu = bool(handle.type & cl.device_type.CPU)
        self.compute_units = int(handle.max_compute_units)
        self.memory_bytes = int(handle.global_mem_size)
        self.array_bytes = int(handle.max_mem_alloc_size)
        self.local_bytes = int(handle.local_mem_size)
        self.handle = handle
        self._context: Any = None
        self._programs: dict[tuple[object, ...], Any] = {}
        self._lock = threading.Lock()

    def why_not(self) -> str | None:
        """Return None if kernels can run here, else the reason why not."""
        handle = self.handle
        if not handle.available:
            return "the device is not available now"
        if not handle.compiler_available:
            return "its platform has no compiler for OpenCL C"
        if not handle.endian_little:
            return "it is big-endian"
        if handle.max_work_group_size < LEAST_GROUP:
            return f"work-groups of {handle.max_work_group_size}, needs {LEAST_GROUP}"
        version = re.search(r"(\d+)\.(\d+)", str(handle.version))
        if version is None or (int(version[1]), int(version[2])) < (1, 2):
            return f"{handle.version}, needs OpenCL 1.2"
        return self._why_nothing_builds

    @cached_property
    def _why_nothing_builds(self) -> str | None:
        """None if a kernel of one line builds, else what the platform's compiler says.

        PoCL, for one, may be older than the processor that it runs on.
        """
        try:
            self.cl.Program(self.context(), _PROBE).build(cache_dir=False)
        except (self.cl.Error, DeviceError) as error:
            reason = f"{self.platform} builds no kernel here: {_cause_of(str(error))}"
            if "portable" in self.platform.lower():
                reason += (
                    "; another version of PoCL may know this processor: on Debian and Ubuntu "
                    "apt install pocl-opencl-icd"
                )
            return reason
        return None

    def context(self) -> Any:
        """Return the device's context.

        Raises
        ------
        DeviceError
            The device fails.
        """
        with self._lock:
            if self._context is None:
                try:
                    self._context = self.cl.Context([self.handle])
                except self.cl.Error as error:
                    raise DeviceError(f"{self.name} ({self.model}): {error}") from error
            return self._context

    def build(self, source: str, defines: Mapping[str, int | str]) -> Any:
        """Compile ``opencl/<source>`` once; ``defines`` become ``-DNAME=VALUE``.

        Drivers keep what they have compiled, most of them on disk.

        Raises
        ------
        KernelBuildError
            The platform's compiler refuses it; the message has what it printed.
        """
        context = self.context()
        key = (source, *sorted(defines.items()))
        with self._lock:  # engines of one device ask for the same kernels at the same time
            if key not in self._programs:
                options = [f"-D{name}={value}" for name, value in sorted(defines.items())]
                program = self.cl.Program(context, read_source(source))
                try:
                    # Without PyOpenCL's own cache of binaries: the driver's knows when it is stale.
                    self._programs[key] = program.build(options, cache_dir=False)
                except self.cl.Error as error:
                    raise KernelBuildError(
                        f"{self.name} ({self.model}) does not compile {source} "
                        f"({' '.join(options)}): {error}"
                    ) from error
            return self._programs[key]


def _cause_of(message: str) -> str:
    """Return the line of a compiler's message that says what is wrong, or its first one."""
    lines = [" ".join(line.split()) for line in message.splitlines() if line.strip()]
    causes = [line for line in lines if re.search(r"unknown|error:|fail", line, re.IGNORECASE)]
    # The first line is PyOpenCL's own, with the name of the call.
    return (causes[1:] or causes or lines or ["no reason given"])[0][:200]


def source_folder() -> Path:
    """Return where the kernel sources are: in the package, or beside it in a working copy."""
    for folder in (PACKAGE / "opencl_sources", PACKAGE.parent / "opencl"):
        if folder.is_dir():
            return folder
    raise KernelBuildError(f"the OpenCL sources are missing: {PACKAGE}/opencl_sources")


def read_source(name: str) -> str:
    """Return a kernel source with its headers in it: drivers differ in where they look for them."""

    def include(match: re.Match[str]) -> str:
        return read_source(match[1])

    text = (source_folder() / name).read_text(encoding="utf-8")
    return re.sub(r'^#include "([^"]+)"$', include, text, flags=re.MULTILINE)


def find_devices() -> list[OpenClDevice]:
    """Return all OpenCL devices, at least one, GPUs first.

    Raises
    ------
    DeviceError
        There is none; the message says what is missing: PyOpenCL, a platform, a device.
    """
    global _devices
    with _lock:
        if _devices is None:
            cl = _import_pyopencl()
            handles = []
            for platform in _platforms(cl):
                try:
                    handles += platform.get_devices()
                except cl.Error:  # DEVICE_NOT_FOUND: a driver without its hardware
                    continue
            if not handles:
                raise DeviceError("no OpenCL device: there are drivers, but they find none")
            handles.sort(key=lambda handle: bool(handle.type & cl.device_type.CPU))
            _devices = [OpenClDevice(cl, handle, index) for index, handle in enumerate(handles)]
        return _devices


def _platforms(cl: ModuleType) -> list[Any]:
    try:
        platforms = list(cl.get_platforms())
    except cl.Error as error:
        if "PLATFORM_NOT_FOUND" not in str(error):
            raise DeviceError(f"OpenCL cannot be used: {error}") from error
        platforms = []
    if not platforms:
        raise DeviceError(
            "no OpenCL platform: install the driver of your GPU, or PoCL for CPUs: "
            "pip install 'pyopencl[pocl]'"
        )
    return platforms


def _import_pyopencl() -> Any:
    try:
        import pyopencl
    except ModuleNotFoundError as error:
        if error.name == "pyopencl":
            raise DeviceError(
                "PyOpenCL is not installed; install it with: pip install 'pairalign[opencl]', for "
                "CPUs also 'pyopencl[pocl]'"
            ) from error
        raise DeviceError(f"PyOpenCL is not installed completely: {error}") from error
    except ImportError as error:
        raise DeviceError(f"PyOpenCL cannot be loaded: {error}") from error
    # NVIDIA's compiler prints an empty line when all is well.
    warnings.filterwarnings("ignore", category=pyopencl.CompilerWarning)
    return pyopencl
