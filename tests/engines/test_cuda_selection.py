"""``--device``: which GPUs, what is said when there are none, and falling back to the CPU."""

import builtins
import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from checks import assert_same, windows_of
from conftest import open_cpu
from cuda_engines import host_device
from strategies import Problem, make_scoring, match_matrix

from pairalign.alignments.problem import Problem as Aligned
from pairalign.engines import EngineRequest, selection
from pairalign.engines.cpu.cpu_engine import CpuEngine
from pairalign.engines.cuda import build as cuda_build
from pairalign.engines.cuda import cuda_devices, cuda_selection
from pairalign.engines.cuda.cuda_engine import ENGINES_PER_DEVICE, FAMILIES, CudaEngine
from pairalign.engines.cuda.cuda_selection import choose_devices, list_cuda_devices
from pairalign.engines.cuda.pair_per_thread import PairPerThread
from pairalign.engines.device.specification import parse_indices
from pairalign.errors import DeviceError
from pairalign.pairs.want import Want
from pairalign.sequences.alphabets import DNA

SCORING = make_scoring(DNA, "global", 5, 2, match_matrix(DNA, 2, -3))
PROBLEM = Problem(("ACGT" * 20, "ACGA" * 20, "TTTT" * 20), None, SCORING)


@pytest.fixture
def no_devices_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_devices, "_devices", None)


@pytest.fixture
def two_devices(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    devices = [host_device(), host_device()]
    devices[1].index, devices[1].name = 1, "cuda:1"
    monkeypatch.setattr(cuda_devices, "_devices", devices)
    monkeypatch.setattr(cuda_build, "find_nvcc", lambda: "/usr/bin/nvcc")
    # One family will do. (patch.dict puts the others back in their order, which matters.)
    with patch.dict(FAMILIES, {PairPerThread.name: PairPerThread}, clear=True):
        yield devices


def open_engines(device: str) -> Any:
    (sequences,) = PROBLEM.sets()
    problem = Aligned(sequences, None, SCORING)
    return selection.open_engines(device, EngineRequest(problem, device_bytes=1 << 30))


@pytest.mark.parametrize(
    ("device", "indices"),
    [("cuda", ()), ("cuda:0", (0,)), ("cuda:2,0", (2, 0)), ("cpu", None), ("cuda:", None)],
)
def test_specifications(device, indices):
    assert parse_indices(device, "cuda") == indices


@pytest.mark.parametrize("device", ["cuda:", "cuda:a", "cuda:0,", "gpu", "CUDA"])
def test_unknown_specifications(device):
    with pytest.raises(DeviceError, match=f"'{device}'.*expected auto, cpu, cuda"):
        open_engines(device)


def test_devices_are_chosen_by_index(two_devices):
    assert choose_devices(()) == two_devices
    assert choose_devices((1,)) == two_devices[1:]
    with pytest.raises(DeviceError, match="no device cuda:2; this machine has cuda:0, cuda:1"):
        choose_devices((0, 2))
    with pytest.raises(DeviceError, match="twice"):
        choose_devices((1, 1))


@pytest.mark.parametrize("device", ["cuda", "auto", "cuda:0,1"])
def test_a_second_device_is_used_by_sets_that_are_worth_it(two_devices, monkeypatch, device):
    monkeypatch.setattr(selection, "_WORTH_A_GPU", 1000)
    (sequences,) = PROBLEM.sets()
    cells = int(sequences.lengths.sum()) ** 2 // 2
    for worth, expected in ((cells + 1, 1), (cells, 2), (cells // 5, 2)):
        monkeypatch.setattr(selection, "_WORTH_A_SUBOPTIMAL_GPU", worth)
        engines = open_engines(device)
        assert len({engine.name for engine in engines}) == (2 if ":" in device else expected)
        for engine in engines:
            engine.close()


def test_engines_on_every_device(two_devices, monkeypatch):
    monkeypatch.setattr(selection, "_WORTH_A_SUBOPTIMAL_GPU", 1000)
    engines = open_engines("cuda")
    names = [engine.name for engine in engines]
    assert names == ["cuda:0"] * ENGINES_PER_DEVICE + ["cuda:1"] * ENGINES_PER_DEVICE
    sets = PROBLEM.sets()
    (window,) = windows_of(3, None, 3)
    expected = open_cpu(sets, SCORING).align(window, Want())
    for engine in engines:
        assert_same(expected, engine.align(window, Want()))
        engine.close()


def test_auto_takes_the_gpu_for_large_sets(two_devices, monkeypatch, caplog):
    with caplog.at_level(logging.INFO):
        (engine,) = open_engines("auto")
    assert isinstance(engine, CpuEngine)
    assert "the set is small" in caplog.text
    monkeypatch.setattr(selection, "_WORTH_A_GPU", 1000)
    engines = open_engines("auto")
    assert all(isinstance(engine, CudaEngine) for engine in engines)
    for engine in engines:
        engine.close()


def test_the_list_of_devices(two_devices, monkeypatch):
    lines = {line.name: line for line in selection.list_devices()}
    assert list(lines)[:3] == ["cpu", "cuda:0", "cuda:1"]
    assert lines["cuda:1"].usable
    for part in ("this CPU", "1024 GiB", "9.0", "global, semiglobal, local: "):
        assert part in lines["cuda:1"].description
    monkeypatch.setattr(cuda_build, "find_nvcc", lambda: None)
    monkeypatch.setattr(cuda_build, "find_nvrtc", lambda: None)
    monkeypatch.setattr(cuda_build, "cache_folder", lambda: cuda_build.PACKAGE / "nowhere")
    monkeypatch.setattr(cuda_build, "AHEAD_FOLDER", cuda_build.PACKAGE / "nowhere")
    (first, _) = list_cuda_devices()
    assert first[:2] == ("cuda:0", False)
    assert "nvcc is not there" in first[2]


def import_that_raises(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("pycuda"):
            raise error
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)


class _DriverError(Exception):
    pass


def driver_that(count: int = 0, error: str | None = None) -> SimpleNamespace:
    def init() -> None:
        if error:
            raise _DriverError(error)

    return SimpleNamespace(
        init=init, Error=_DriverError, Device=SimpleNamespace(count=lambda: count)
    )


@pytest.mark.usefixtures("no_devices_known")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ModuleNotFoundError("No module", name="pycuda"), r"pip install 'pairalign\[gpu\]'"),
        (ModuleNotFoundError("No module named 'pytools'", name="pytools"), "pytools"),
        (ImportError("libcuda.so.1: cannot open shared object file"), "no NVIDIA driver"),
        (ImportError("libcurand.so.10: cannot open"), "another version of CUDA.*rebuild"),
        ("cuInit failed: no CUDA-capable device is detected", "finds none"),
        ("cuInit failed: driver version is insufficient", "older than the CUDA version"),
        (None, "finds none"),
    ],
)
def test_each_reason_has_its_own_message(monkeypatch, caplog, error, said):
    if isinstance(error, Exception):
        import_that_raises(monkeypatch, error)
    else:
        monkeypatch.setattr(cuda_devices, "_import_driver", lambda: driver_that(error=error))
    for module in (cuda_devices, cuda_selection):  # elsewhere nobody asks why not
        monkeypatch.setattr(module, "has_nvidia_gpu", lambda: True)
    with pytest.raises(DeviceError, match=said):
        open_engines("cuda")
    with caplog.at_level(logging.INFO):
        (engine,) = open_engines("auto")
    assert isinstance(engine, CpuEngine)
    (record,) = caplog.records
    assert record.getMessage().startswith("using the CPU: ")
    ((name, usable, description),) = list_cuda_devices()
    assert (name, usable) == ("cuda", False)
    assert description in record.getMessage()


def test_a_kernel_by_name(two_devices):
    (sequences,) = PROBLEM.sets()

    def opened(device: str, kernel: str) -> Any:
        request = EngineRequest(
            Aligned(sequences, None, SCORING), device_bytes=1 << 30, kernel=kernel
        )
        return selection.open_engines(device, request)

    engines = opened("auto", PairPerThread.name)  # the set is small, but a kernel is asked for
    try:
        assert {engine.name for engine in engines} == {"cuda:0"}
    finally:
        for engine in engines:
            engine.close()
    with pytest.raises(DeviceError, match="kernel 'pair-per-thread' runs on a CUDA GPU"):
        opened("cpu", PairPerThread.name)
    with pytest.raises(DeviceError, match="kernel 'fastest' is not known"):
        opened("cuda", "fastest")
