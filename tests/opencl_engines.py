"""Opening the OpenCL engine in tests: on PoCL, which is in the extra `test`, or what is there."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytest

from pairalign.engines.opencl import OpenClEngine
from pairalign.errors import DeviceError
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet


@functools.cache
def opencl_device(index: int = 0) -> Any:
    """An OpenCL device; skips the test, saying why, where there is none."""
    from pairalign.engines.opencl_selection import choose_opencl_devices

    try:
        return choose_opencl_devices(())[index]
    except DeviceError as error:
        pytest.skip(str(error))


def open_opencl(sets: Sequence[SequenceSet], scoring: Scoring, **options: Any) -> OpenClEngine:
    """The OpenCL engine on the first device; options: family, memory_bytes."""
    scoring.check_sets(*sets)  # as the command does before it opens an engine
    second = sets[1] if len(sets) > 1 else None
    return OpenClEngine(opencl_device(), sets[0], second, scoring, **options)
