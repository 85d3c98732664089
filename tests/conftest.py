"""What all tests share: the engines, and how long Hypothesis may take."""

import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checks import OpenEngine
from commands import BASES, PROTEINS, fasta, write_part
from cuda_engines import cuda_device, host_device, open_preferring
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from opencl_engines import open_opencl

from pairalign.alignments.problem import Problem
from pairalign.engines import Engine
from pairalign.engines.cuda.cuda_engine import FAMILIES
from pairalign.engines.kernels import find_kernel
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

pytest_plugins = ["left_out"]

# Else each of the commands that tests start compiles two hundred modules anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The default profile always draws the same examples: a test that passed yesterday passes today.
# HYPOTHESIS_PROFILE=search looks for new ones, twenty times as many; with "few" a quarter.
COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("repeatable", derandomize=True, database=None, **COMMON)
settings.register_profile("few", max_examples=25, derandomize=True, database=None, **COMMON)
settings.register_profile("search", max_examples=2000, print_blob=True, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
if settings.default.derandomize and hasattr(providers, "_get_local_constants"):
    # Else it also draws constants of our modules that are loaded so far, and which these are
    # depends on the tests that the same process has run before.
    providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Nothing that is collected goes away: looking through it for garbage takes as long again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(scope="session", params=["on-host", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Any:
    """A CUDA device: this CPU, on which the kernels are emulated, and a GPU."""
    return host_device() if request.param == "on-host" else cuda_device()


@pytest.fixture(scope="session")
def gpu() -> Any:
    """A GPU, for what an emulation cannot show."""
    return cuda_device()


def examples(number: int, open_engine: OpenEngine | None = None) -> int:
    """How many examples a test draws in the profile that is in use, with an engine."""
    if open_engine is open_opencl:
        number //= 6  # it takes its time to open
    profile = os.environ.get("HYPOTHESIS_PROFILE")
    return {"search": 20 * number, "few": max(1, number // 4)}.get(profile or "", number)


def open_cpu(sets: Sequence[SequenceSet], scoring: Scoring, **options: object) -> Engine:
    """The CPU engine; options: its own, and those of its `Lanes`."""
    from pairalign.engines.cpu.cpu_engine import CpuEngine, Lanes

    lanes = {name: options.pop(name) for name in LANES if name in options}
    options |= {"lanes": Lanes(**lanes)} if lanes else {}
    return CpuEngine(Problem(sets[0], sets[1] if len(sets) > 1 else None, scoring), **options)


LANES = ("lane_bits", "long_pairs", "own_rows", "floors")
ENGINES: dict[str, Callable[..., Engine]] = {"cpu": open_cpu}
"""Each engine goes through the same tests (test_engines.py)."""
ALIGNING = [name for name in FAMILIES if find_kernel(name, "cuda").detail == Detail.CIGAR]
ENGINES.update({f"cuda-{name}": partial(open_preferring, name) for name in ALIGNING})
ENGINES["opencl"] = open_opencl
# OpenCL takes its time to compile and to open; test_engine_opencl.py has what is its own.
MARKS = {name: pytest.mark.gpu for name in ENGINES if "cuda" in name} | {"opencl": pytest.mark.slow}
ENGINE_PARAMETERS = [pytest.param(name, marks=MARKS.get(name, ())) for name in ENGINES]


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


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory, family: Path) -> Path:
    """The first dozen of the family."""
    path = tmp_path_factory.mktemp("few") / "few.fasta"
    write_part(path, family, 12)
    return path


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property test."""
    return tmp_path_factory.mktemp("formats")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def folder(here: Path) -> Path:
    """An empty folder to work in, with some small inputs."""
    Path("proteins.fa").write_text(fasta(PROTEINS))
    Path("dna.fa").write_text(fasta(BASES))
    return here


@pytest.fixture
def signals() -> Iterator[None]:
    """Let processes that a test starts hear Ctrl-C and the end of a terminal.

    What runs under nohup, or in the background of a script, ignores some, and so do its children.
    """
    heard = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGQUIT: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in heard.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def random_set() -> SequenceSet:
    """120 random proteins of 5 to 60 letters."""
    rng = np.random.default_rng(5)
    lengths = rng.integers(5, 61, 120)
    return SequenceSet.from_strings(
        ["".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), k)) for k in lengths]
    )
