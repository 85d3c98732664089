"""A stand-in for `pycuda.driver` whose device is this CPU (see cuda_on_host.h).

Only what pairalign uses. Device memory is host memory; streams do everything at once; a device has
`total_bytes` of memory, so that tests can make it run out.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
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
ENTRIES_AT_ONCE = 2  # a kernel that scores is beside the one that fills; most others nobody needs
COMPILER = ("g++", "-std=c++17", "-O1", "-fPIC", "-fwrapv", "-U_FORTIFY_SOURCE")


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


@functools.cache
def _header(folder: Path) -> Path:
    """A copy of cuda_on_host.h with its compiled form, which each kernel would compile anew."""
    text = (HERE / "cuda_on_host.h").read_bytes()
    header = folder / f"cuda_on_host-{hashlib.sha256(text).hexdigest()[:16]}.h"
    with open(header.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not header.exists():
            mine = header.with_suffix(".part.h")
            mine.write_bytes(text)
            command = ["-x", "c++-header", "-w", "-o", f"{header}.gch", str(mine)]
            subprocess.run([*COMPILER, *command], check=True)
            mine.replace(header)
    return header


@functools.cache
def _included(source: Path) -> tuple[Path, ...]:
    """A source and what it includes."""
    found = [source]
    for path in found:
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
            included = (path.parent / name).resolve()
            if included not in found:
                found.append(included)
    return tuple(found)


class Module:
    """One kernel source compiled as C++; of many entries, those near one that is asked for."""

    def __init__(self, source: str, defines: Mapping[str, int | str], folder: Path) -> None:
        self.source, self.folder = source, folder
        self.text = "".join(path.read_text() for path in _included(SOURCES / source))
        self.text += (HERE / "cuda_on_host.h").read_text()
        self.flags = [f"-D{name}={value}" for name, value in sorted(defines.items())]
        kernels = re.findall(
            r"(?:__global__\s+void(?:\s+__launch_bounds__\([^)]*\))?|^ENTRY(?:\([^)]*\))?)\s+(?!__launch)(\w+)\s*\(",
            (SOURCES / source).read_text(),
            re.MULTILINE,
        )
        self.kernels = [name for name in kernels if name != "NAME"]  # of a macro
        entries = str(defines.get("PAIRALIGN_ENTRIES", ""))
        self.entries = dict(re.findall(r"\b(?=ENTRY\((\w+),)(ENTRY\([^)]*\))", entries))
        self.libraries: dict[int, ctypes.CDLL] = {}

    def _load(self, part: int) -> ctypes.CDLL:
        """Load the kernels of some entries, and compile them before if nobody has."""
        names = list(self.entries)[part * ENTRIES_AT_ONCE :][:ENTRIES_AT_ONCE]
        flags = [flag for flag in self.flags if not flag.startswith("-DPAIRALIGN_ENTRIES=")]
        if names:
            flags.append("-DPAIRALIGN_ENTRIES=" + " ".join(self.entries[name] for name in names))
        kernels = [*self.kernels, *names]
        digest = hashlib.sha256(repr((self.source, kernels, flags, self.text)).encode())
        library = self.folder / f"{Path(self.source).stem}-{digest.hexdigest()[:16]}.so"
        # Other workers of the tests may need the same: one compiles, the others wait for it.
        with open(library.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not library.exists():
                self._compile(self.source, kernels, flags, library)
        return ctypes.CDLL(str(library))

    @staticmethod
    def _compile(source: str, kernels: list[str], flags: list[str], library: Path) -> None:
        mine = library.with_suffix(".part.so")  # until it is whole
        wrapper = library.with_suffix(".cpp")
        wrapper.write_text(
            f'#include "{_header(library.parent)}"\n#include "{SOURCES / source}"\n'
            + "".join(
                f'extern "C" void launch_{name}(const uint32_t* sizes, const char* packed) '
                f"{{ emulated::launch({name}, sizes, packed); }}\n"
                for name in kernels
            )
        )
        shared = [*flags, "-shared", "-Wno-unknown-pragmas", "-o", str(mine), str(wrapper)]
        subprocess.run([*COMPILER, *shared], check=True)
        mine.replace(library)

    def get_function(self, name: str) -> Function:
        part = list(self.entries).index(name) // ENTRIES_AT_ONCE if name in self.entries else 0
        if part not in self.libraries:
            self.libraries[part] = self._load(part)
        try:
            launch = self.libraries[part][f"launch_{name}"]
        except AttributeError:
            raise LogicError(
                f"cuModuleGetFunction failed: named symbol not found: {name}"
            ) from None
        launch.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
        launch.restype = None
        return Function(name, launch)
