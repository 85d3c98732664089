"""NVRTC compiles kernels where there is no nvcc."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from compiled_modules import load_binary

from pairalign.engines.cuda import build as cuda_build
from pairalign.engines.cuda.build import can_load, source_folder
from pairalign.engines.cuda.cuda_engine import FAMILIES
from pairalign.engines.cuda.nvrtc import compile_cubin, find_nvrtc
from pairalign.errors import KernelBuildError

needs_nvrtc = pytest.mark.skipif(find_nvrtc() is None, reason="pairalign[nvrtc] is not there")
SOURCE = "pair_per_thread/pair_per_thread.cu"
DEFINES = {"MODE": "LOCAL", "WIDTH": "NARROW", "BLOCK": 16}
OK = SimpleNamespace(name="NVRTC_SUCCESS")


class PretendedNvrtc:
    """What compiles nothing and says what it was asked for."""

    nvrtcResult = SimpleNamespace(NVRTC_SUCCESS=OK)

    def __init__(self, failure: str = "") -> None:
        self.failure = failure
        self.options: list[bytes] = []
        self.destroyed = 0

    def nvrtcCreateProgram(self, *arguments: Any) -> tuple[Any, ...]:
        self.source, self.name, _, self.texts, self.names = arguments
        return OK, "program"

    def nvrtcCompileProgram(
        self, program: str, count: int, options: list[bytes]
    ) -> tuple[Any, ...]:
        assert count == len(options)
        self.options = options
        return (self.failure,)

    def nvrtcGetCUBINSize(self, program: str) -> tuple[Any, ...]:
        return OK, 7

    def nvrtcGetCUBIN(self, program: str, cubin: bytes) -> tuple[Any, ...]:
        assert len(cubin) == 7
        return (OK,)

    def nvrtcGetProgramLogSize(self, program: str) -> tuple[Any, ...]:
        return OK, 4

    def nvrtcGetProgramLog(self, program: str, text: bytes) -> tuple[Any, ...]:
        return (OK,)

    def nvrtcDestroyProgram(self, program: str) -> None:
        self.destroyed += 1


@pytest.fixture
def no_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAIRALIGN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cuda_build, "AHEAD_FOLDER", tmp_path / "ahead")
    monkeypatch.setattr(cuda_build, "find_nvcc", lambda: None)
    return tmp_path / "cache"


def test_without_nvcc_nvrtc_compiles_what_is_missing(no_nvcc, monkeypatch):
    nvrtc = PretendedNvrtc()
    monkeypatch.setattr(cuda_build, "find_nvrtc", lambda: nvrtc)
    assert can_load((9, 0), [(SOURCE, DEFINES)]) is None
    assert len(load_binary(SOURCE, DEFINES, (9, 0))) == 7
    assert b"--gpu-architecture=sm_90" in nvrtc.options
    assert b"--define-macro=MODE=LOCAL" in nvrtc.options
    folder = (source_folder() / SOURCE).parent
    assert f"--include-path={folder}".encode() in nvrtc.options
    assert nvrtc.source == (source_folder() / SOURCE).read_bytes()
    assert nvrtc.destroyed == 1
    assert len(list(no_nvcc.iterdir())) == 1
    nvrtc.options = []
    assert len(load_binary(SOURCE, DEFINES, (9, 0))) == 7
    assert nvrtc.options == []  # kept


def test_a_failure_leaves_nothing(no_nvcc, monkeypatch):
    nvrtc = PretendedNvrtc(failure="NVRTC_ERROR_COMPILATION")
    monkeypatch.setattr(cuda_build, "find_nvrtc", lambda: nvrtc)
    with pytest.raises(KernelBuildError, match=r"NVRTC cannot compile pair_per_thread\.cu"):
        load_binary(SOURCE, DEFINES, (9, 0))
    assert nvrtc.destroyed == 1
    assert list(no_nvcc.iterdir()) == []


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize("family", list(FAMILIES))
def test_every_source_compiles(family):
    """Of many entries one, as a run asks for each: nvcc compiles them all in test_cuda_build.py."""
    sources: dict[str, dict[str, int | str]] = {}
    for source, defines in FAMILIES[family]().variants():
        sources.setdefault(source, dict(defines))
    for source, defines in sources.items():
        if "PAIRALIGN_ENTRIES" in defines:
            defines["PAIRALIGN_ENTRIES"] = str(defines["PAIRALIGN_ENTRIES"]).split()[0]
        cubin = compile_cubin(find_nvrtc(), source_folder() / source, defines, 90)
        assert cubin.startswith(b"\x7fELF")


@needs_nvrtc
def test_what_is_no_cpp_is_said(tmp_path):
    (tmp_path / "wrong.cu").write_text('extern "C" __global__ void kernel() { nonsense; }\n')
    with pytest.raises(KernelBuildError, match='identifier "nonsense" is undefined'):
        compile_cubin(find_nvrtc(), tmp_path / "wrong.cu", {}, 90)
