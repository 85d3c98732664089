"""What all tests share: the engines, and how long Hypothesis may take."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from checks import OpenEngine
from cuda_engines import open_preferring
from hypothesis import HealthCheck, settings
from opencl_engines import open_opencl

from pairalign.engines import Engine
from pairalign.engines.cuda.engine import FAMILIES
from pairalign.engines.kernels import find_kernel
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet
from pairalign.want import Detail

# The default profile always draws the same examples: a test that passed yesterday passes today.
# HYPOTHESIS_PROFILE=search looks for new ones, twenty times as many.
COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("repeatable", derandomize=True, database=None, **COMMON)
settings.register_profile("search", print_blob=True, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def examples(number: int, open_engine: OpenEngine | None = None) -> int:
    """How many examples a test draws in the profile that is in use, with an engine."""
    if open_engine is open_opencl:
        number //= 6  # it takes its time to open
    return number * (20 if os.environ.get("HYPOTHESIS_PROFILE") == "search" else 1)


def open_cpu(sets: Sequence[SequenceSet], scoring: Scoring, **options: object) -> Engine:
    """The CPU engine; options: threads, isa, memory_bytes."""
    from pairalign.engines.cpu.engine import CpuEngine

    return CpuEngine(sets[0], sets[1] if len(sets) > 1 else None, scoring, **options)


ENGINES: dict[str, Callable[..., Engine]] = {"cpu": open_cpu}
"""Each engine goes through the same tests (test_engines.py)."""
ALIGNING = [name for name in FAMILIES if find_kernel(name, "cuda").detail == Detail.CIGAR]
ENGINES.update({f"cuda-{name}": partial(open_preferring, name) for name in ALIGNING})
ENGINES["opencl"] = open_opencl
GPU = pytest.mark.gpu
ENGINE_PARAMETERS = [pytest.param(e, marks=GPU if "cuda" in e else ()) for e in ENGINES]


@pytest.fixture(scope="session", params=ENGINE_PARAMETERS)
def open_engine(request: pytest.FixtureRequest) -> OpenEngine:
    """Open an engine: ``open_engine(sets, scoring, **options)``."""
    return ENGINES[request.param]


@pytest.fixture(scope="session")
def family() -> Path:
    """A FASTA file with some dozen proteins of one family."""
    folder = Path(__file__).parent.parent / "examples"
    found = sorted(path for path in folder.glob("*") if path.suffix in {".fasta", ".fa", ".faa"})
    assert found, f"no FASTA file in {folder}"
    return found[0]
