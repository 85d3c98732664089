"""Opening the OpenCL engine in tests: on PoCL, which is in the extra `test`, or what is there."""

import functools
import os
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from strategies import Problem, make_scoring, match_matrix

from pairalign.alignments.problem import Problem as Aligned
from pairalign.engines.opencl.opencl_devices import OpenClDevice
from pairalign.engines.opencl.opencl_engine import OpenClEngine
from pairalign.engines.opencl.opencl_family import OpenClContext
from pairalign.errors import DeviceError
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet

SMALL = Problem(
    ("ACGT" * 20, "ACGA" * 20, "TTTT" * 20),
    None,
    make_scoring(DNA, "global", 5, 2, match_matrix(DNA, 2, -3)),
)


@functools.cache
def opencl_device(index: int = 0) -> Any:
    """An OpenCL device on which kernels build; skips the test, saying why, where there is none.

    Where PAIRALIGN_NEEDS_OPENCL is set the test fails instead, so that none is left out unseen.
    """
    from pairalign.engines.opencl.opencl_engine import choose_opencl_devices

    try:
        return choose_opencl_devices(())[index]
    except DeviceError as error:
        if os.environ.get("PAIRALIGN_NEEDS_OPENCL"):
            pytest.fail(f"PAIRALIGN_NEEDS_OPENCL is set, but {error}")
        pytest.skip(f"OpenCL: {error}")


def open_opencl(sets: Sequence[SequenceSet], scoring: Scoring, **options: Any) -> OpenClEngine:
    """The OpenCL engine on the first device; options: family, memory_bytes."""
    scoring.check_sets(*sets)  # as the command does before it opens an engine
    second = sets[1] if len(sets) > 1 else None
    return OpenClEngine(opencl_device(), Aligned(sets[0], second, scoring), **options)


class ShortOfMemory:
    """Lets the buffers of one engine at a time have so many bytes together."""

    def __init__(self, device: OpenClDevice, monkeypatch: pytest.MonkeyPatch) -> None:
        self.limit_bytes = 1 << 40
        self.used_bytes = self.peak_bytes = 0
        allocate = OpenClContext.allocate

        def limited(context: OpenClContext, size_bytes: int) -> Any:
            if self.used_bytes + size_bytes > self.limit_bytes:
                raise device.cl.MemoryError("clCreateBuffer failed: out of memory")
            buffer = allocate(context, size_bytes)
            self.used_bytes += size_bytes
            self.peak_bytes = max(self.peak_bytes, self.used_bytes)

            def release() -> None:
                self.used_bytes -= size_bytes
                buffer.release()

            return _Buffer(buffer, release)

        monkeypatch.setattr(OpenClContext, "allocate", limited)
        set_arguments = OpenClContext.launch
        write, read = OpenClContext.write, OpenClContext.read

        def bare(one: Any) -> Any:
            return one.buffer if isinstance(one, _Buffer) else one

        monkeypatch.setattr(
            OpenClContext,
            "launch",
            lambda self, kernel, groups, items, arguments: set_arguments(
                self, kernel, groups, items, [bare(one) for one in arguments]
            ),
        )
        monkeypatch.setattr(
            OpenClContext, "write", lambda self, buffer, array: write(self, bare(buffer), array)
        )
        monkeypatch.setattr(
            OpenClContext,
            "read",
            lambda self, array, buffer, offset_bytes=0: read(
                self, array, bare(buffer), offset_bytes
            ),
        )


class _Buffer(SimpleNamespace):
    def __init__(self, buffer: Any, release: Any) -> None:
        super().__init__(buffer=buffer, release=release)
