"""A stand-in for `pycuda.driver` whose device is this CPU (see cuda_on_host.h).

Only what pairalign uses. Device memory is host memory; streams do everything at once; a device has
`total_bytes` of memory, so that tests can make it run out.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import re
import subprocess
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

HERE = Path(__file__).parent
SOURCES = HERE.parent.parent / "cuda"


class Error(Exception):
    pass


class LogicError(Error):
    pass


class LaunchError(Error):
    pass


class RuntimeError(Error):
    pass


class MemoryError(Error):
    pass


class Memory:
    """What the devices of one test have allocated."""

    def __init__(self) -> None:
        self.total_bytes = 1 << 40
        self.used_bytes = 0
        self.peak_bytes = 0
        self.pinned_bytes = 0
        self.failing_launches: set[str] = set()
        self.launches: list[str] = []


memory = Memory()
_running = threading.Lock()  # the emulation keeps its state in globals


class DeviceAllocation:
    def __init__(self, size: int) -> None:
        self.size = size
        # Poisoned: reading what nobody wrote must not look like zeros.
        self.array = np.full(size + 256, 0xA5, np.uint8)
        self.start = -(-self.array.ctypes.data // 256) * 256
        self.freed = False
        memory.used_bytes += size
        memory.peak_bytes = max(memory.peak_bytes, memory.used_bytes)

    def __int__(self) -> int:
        assert not self.freed
        return self.start

    def free(self) -> None:
        assert not self.freed
        self.freed = True
        memory.used_bytes -= self.size
        self.array = np.empty(0, np.uint8)


def mem_alloc(size: int) -> DeviceAllocation:
    assert size > 0
    if memory.used_bytes + size > memory.total_bytes:
        raise MemoryError("cuMemAlloc failed: out of memory")
    return DeviceAllocation(size)


def mem_get_info() -> tuple[int, int]:
    return memory.total_bytes - memory.used_bytes, memory.total_bytes


def memcpy_htod(target: object, source: np.ndarray) -> None:
    assert source.flags.c_contiguous
    ctypes.memmove(int(target), source.ctypes.data, source.nbytes)


def memcpy_htod_async(target: object, source: np.ndarray, stream: Stream | None = None) -> None:
    memcpy_htod(target, source)


def memcpy_dtoh(target: np.ndarray, source: object) -> None:
    assert target.flags.c_contiguous
    ctypes.memmove(target.ctypes.data, int(source), target.nbytes)


def memcpy_dtoh_async(target: np.ndarray, source: object, stream: Stream | None = None) -> None:
    memcpy_dtoh(target, source)


def memset_d8_async(target: object, value: int, count: int, stream: Stream | None = None) -> None:
    ctypes.memset(int(target), value, count)


class PagelockedHostAllocation:
    def __init__(self, size: int) -> None:
        self.memory = np.full(max(1, size), 0x5A, np.uint8)
        self.__array_interface__ = self.memory.__array_interface__
        self.owner = memory  # tests may put another in its place
        self.owner.pinned_bytes += size
        self.size = size

    def free(self) -> None:
        self.owner.pinned_bytes -= self.size


def pagelocked_empty(shape: int, dtype: object, mem_flags: int = 0) -> np.ndarray:
    assert dtype == np.uint8
    return np.asarray(PagelockedHostAllocation(shape))


class Stream:
    alive: ClassVar[weakref.WeakSet[Stream]] = weakref.WeakSet()

    def __init__(self) -> None:
        self.alive.add(self)

    def synchronize(self) -> None:
        pass

    def wait_for_event(self, event: Event) -> None:
        pass


class event_flags:
    BLOCKING_SYNC = 1
    DISABLE_TIMING = 2


class Event:
    alive: ClassVar[weakref.WeakSet[Event]] = weakref.WeakSet()

    def __init__(self, flags: int = 0) -> None:
        self.alive.add(self)

    def record(self, stream: Stream | None = None) -> Event:
        return self

    def query(self) -> bool:
        return True

    def synchronize(self) -> Event:
        return self


class function_attribute:
    MAX_DYNAMIC_SHARED_SIZE_BYTES = 8


class Function:
    def __init__(self, name: str, launch: object) -> None:
        self.name = name
        self.launch = launch

    def set_attribute(self, attribute: object, value: int) -> None:
        pass

    def __call__(
        self,
        *arguments: object,
        block: tuple[int, int, int],
        grid: tuple[int, ...] = (1, 1),
        stream: Stream | None = None,
        shared: int = 0,
    ) -> None:
        assert shared <= 227 << 10
        memory.launches.append(self.name)
        if self.name in memory.failing_launches:
            raise LaunchError("cuLaunchKernel failed: unspecified launch failure")
        packed = b""
        for argument in arguments:
            if isinstance(argument, DeviceAllocation):
                argument = np.uint64(int(argument))
            size = min(argument.dtype.itemsize, 8)
            packed += b"\0" * (-len(packed) % size)
            packed += np.asarray(argument).tobytes()
        sizes = (ctypes.c_uint32 * 6)(*grid, *(1,) * (3 - len(grid)), *block)
        with _running:
            self.launch(sizes, packed)


class Module:
    """One kernel source compiled as C++."""

    def __init__(self, source: str, defines: Mapping[str, int | str], folder: Path) -> None:
        read = {*SOURCES.rglob("*.cu*"), SOURCES / source}
        text = "".join(p.read_text() for p in sorted(read))
        text += (HERE / "cuda_on_host.h").read_text()
        flags = [f"-D{name}={value}" for name, value in sorted(defines.items())]
        kernels = re.findall(
            r"(?:__global__\s+void(?:\s+__launch_bounds__\([^)]*\))?|^ENTRY(?:\([^)]*\))?)\s+(?!__launch)(\w+)\s*\(",
            (SOURCES / source).read_text(),
            re.MULTILINE,
        )
        kernels = [name for name in kernels if name != "NAME"]  # of a macro
        kernels += re.findall(r"\bENTRY\((\w+),", str(defines.get("PAIRALIGN_ENTRIES", "")))
        digest = hashlib.sha256(repr((source, kernels, flags, text)).encode()).hexdigest()[:16]
        library = folder / f"{Path(source).stem}-{digest}.so"
        # Other workers of the tests may need the same: one compiles, the others wait for it.
        with open(library.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not library.exists():
                self._compile(source, kernels, flags, library)
        self.library = ctypes.CDLL(str(library))

    @staticmethod
    def _compile(source: str, kernels: list[str], flags: list[str], library: Path) -> None:
        mine = library.with_suffix(".part.so")  # until it is whole
        wrapper = library.with_suffix(".cpp")
        wrapper.write_text(
            f'#include "{HERE}/cuda_on_host.h"\n#include "{SOURCES / source}"\n'
            + "".join(
                f'extern "C" void launch_{name}(const uint32_t* sizes, const char* packed) '
                f"{{ emulated::launch({name}, sizes, packed); }}\n"
                for name in kernels
            )
        )
        command = [
            "g++",
            "-std=c++17",
            "-O1",
            "-shared",
            "-fPIC",
            "-fwrapv",
            "-U_FORTIFY_SOURCE",
        ]
        command += [*flags, "-Wno-unknown-pragmas", "-o", str(mine), str(wrapper)]
        subprocess.run(command, check=True)
        mine.replace(library)

    def get_function(self, name: str) -> Function:
        try:
            launch = self.library[f"launch_{name}"]
        except AttributeError:
            raise LogicError(
                f"cuModuleGetFunction failed: named symbol not found: {name}"
            ) from None
        launch.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
        launch.restype = None
        return Function(name, launch)
