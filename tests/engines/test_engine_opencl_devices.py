"""Choosing OpenCL devices: by name, what they must have, why there are none; and the command."""

import builtins
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import commands
import pytest
from opencl_engines import SMALL, opencl_device

from pairalign.alignments.problem import Problem
from pairalign.engines import EngineRequest, selection
from pairalign.engines.cpu.cpu_engine import CpuEngine
from pairalign.engines.cuda import cuda_selection
from pairalign.engines.opencl import opencl_devices
from pairalign.engines.opencl import opencl_engine as opencl
from pairalign.engines.opencl.opencl_devices import OpenClDevice, read_source, source_folder
from pairalign.engines.opencl.opencl_engine import choose_opencl_devices, list_opencl_devices
from pairalign.errors import DeviceError, KernelBuildError
from pairalign.pairs.want import Detail


@pytest.fixture(scope="module")
def device() -> Any:
    return opencl_device()


def open_engines(device: str, **options: Any) -> Any:
    (sequences,) = SMALL.sets()
    return selection.open_engines(
        device, EngineRequest(Problem(sequences, None, SMALL.scoring), **options)
    )


class OldCompiler:
    """PyOpenCL, as far as a device asks for it; its compiler does not know the processor."""

    class Error(Exception):
        pass

    class device_type:
        CPU = 2

    def __init__(self) -> None:
        self.built: list[str] = []

    def Context(self, handles: Any) -> Any:
        return handles

    def Program(self, context: Any, source: str) -> Any:
        def build(**options: Any) -> None:
            self.built.append(source)
            raise self.Error(
                "clBuildProgram failed: BUILD_PROGRAM_FAILURE\n\nBuild on <pthread>:\n\n"
                "error: unknown target CPU 'generic'\nDevice pthread failed to build"
            )

        return SimpleNamespace(build=build)


def test_a_device_that_builds_nothing_is_none(monkeypatch):
    compiler = OldCompiler()
    handle = SimpleNamespace(
        name="pthread-znver5",
        platform=SimpleNamespace(name="Portable Computing Language"),
        type=2,
        version="OpenCL 3.0 PoCL",
        **dict.fromkeys(("available", "compiler_available", "endian_little"), True),
        **dict.fromkeys(("max_compute_units", "max_work_group_size"), 4096),
        **dict.fromkeys(("global_mem_size", "max_mem_alloc_size", "local_mem_size"), 1 << 30),
    )
    old = OpenClDevice(compiler, handle, 0)
    found = old.why_not()
    assert found is not None
    assert "unknown target CPU 'generic'" in found
    assert "pocl-opencl-icd" in found
    assert old.why_not() == found
    assert len(compiler.built) == 1  # asked once
    good = made_up(1, True)
    monkeypatch.setattr(opencl_devices, "_devices", [old, good])
    assert choose_opencl_devices(()) == [good]
    monkeypatch.setattr(opencl_devices, "_devices", [old])
    ((_, usable, described),) = list_opencl_devices()
    assert not usable
    assert "unknown target CPU" in described
    with pytest.raises(DeviceError, match="unknown target CPU"):
        choose_opencl_devices((0,))
    monkeypatch.setattr(opencl_devices, "_devices", [old])
    with pytest.raises(DeviceError, match=r"no OpenCL device can be used: .*pocl-opencl-icd"):
        choose_opencl_devices(())


def made_up(index: int, is_cpu: bool, reason: str | None = None) -> Any:
    return SimpleNamespace(
        name=f"opencl:{index}", model="made up", is_cpu=is_cpu, why_not=lambda: reason
    )


def test_devices_are_chosen_by_index(monkeypatch):
    gpus = [made_up(0, False), made_up(1, False), made_up(2, False, "it is big-endian")]
    cpus = [made_up(3, True), made_up(4, True)]
    monkeypatch.setattr(opencl_devices, "_devices", gpus + cpus)
    assert choose_opencl_devices(()) == gpus[:2]
    assert choose_opencl_devices((3, 1)) == [cpus[0], gpus[1]]
    with pytest.raises(DeviceError, match="no device opencl:7; this machine has opencl:0, op"):
        choose_opencl_devices((0, 7))
    with pytest.raises(DeviceError, match="'opencl:1,1' names a device twice"):
        choose_opencl_devices((1, 1))
    with pytest.raises(DeviceError, match=r"opencl:2 \(made up\): it is big-endian"):
        choose_opencl_devices((2,))
    monkeypatch.setattr(opencl_devices, "_devices", cpus)
    assert choose_opencl_devices(()) == cpus[:1]
    monkeypatch.setattr(opencl_devices, "_devices", gpus[2:])
    with pytest.raises(DeviceError, match=r"no OpenCL device can be used: .*big-endian"):
        choose_opencl_devices(())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"available": False}, "not available"),
        ({"compiler_available": False}, "no compiler"),
        ({"endian_little": False}, "big-endian"),
        ({"max_work_group_size": 32}, "work-groups of 32, needs 64"),
        ({"version": "OpenCL 1.1 Mesa"}, "OpenCL 1.1 Mesa, needs OpenCL 1.2"),
        ({"version": "OpenCL 3.0 CUDA"}, None),
    ],
)
def test_what_a_device_must_have(changes, said):
    handle = SimpleNamespace(
        available=True,
        compiler_available=True,
        endian_little=True,
        max_work_group_size=256,
        version="OpenCL 1.2 x",
    )
    vars(handle).update(changes)
    reason = OpenClDevice.why_not(SimpleNamespace(handle=handle, _why_nothing_builds=None))  # type: ignore[arg-type]
    assert (reason is None) if said is None else said in str(reason)


def test_the_list_of_devices(device, monkeypatch):
    lines = {line.name: line for line in selection.list_devices()}
    assert lines[device.name].usable
    assert device.model in lines[device.name].description
    monkeypatch.setattr(opencl_devices, "_devices", [made_up(0, False, "too small")])
    assert list_opencl_devices() == [("opencl:0", False, "made up: too small")]


class _ClError(Exception):
    pass


def pyopencl_that(platforms: list[Any] | None = None, error: str = "") -> Any:
    def get_platforms() -> list[Any]:
        if error:
            raise _ClError(error)
        return platforms or []

    return SimpleNamespace(get_platforms=get_platforms, Error=_ClError)


def no_devices() -> list[Any]:
    raise _ClError("clGetDeviceIDs failed: DEVICE_NOT_FOUND")


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (ModuleNotFoundError("No module", name="pyopencl"), r"pip install 'pairalign\[opencl\]'"),
        (ModuleNotFoundError("No module named 'pytools'", name="pytools"), "pytools"),
        (ImportError("libOpenCL.so.1: cannot open"), "cannot be loaded"),
        (pyopencl_that(error="clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR"), r"no OpenCL plat"),
        (pyopencl_that(), r"no OpenCL platform: .*pip install 'pyopencl\[pocl\]'"),
        (pyopencl_that(error="OUT_OF_HOST_MEMORY"), "cannot be used: OUT_OF_HOST_MEMORY"),
        (pyopencl_that([SimpleNamespace(get_devices=no_devices)]), "they find none"),
    ],
)
def test_each_reason_has_its_own_message(monkeypatch, cause, said):
    monkeypatch.setattr(opencl_devices, "_devices", None)
    if isinstance(cause, Exception):
        real = builtins.__import__

        def refuse(name: str, *rest: Any, **more: Any) -> Any:
            if name.startswith("pyopencl"):
                raise cause
            return real(name, *rest, **more)

        monkeypatch.setattr(builtins, "__import__", refuse)
    else:
        monkeypatch.setattr(opencl_devices, "_import_pyopencl", lambda: cause)
    with pytest.raises(DeviceError, match=said):
        open_engines("opencl")
    ((name, usable, description),) = list_opencl_devices()
    assert (name, usable) == ("opencl", False)
    assert description


def test_auto_is_never_opencl(device, monkeypatch):
    """Not even when the set is worth a GPU and there is no other."""

    def no_cuda() -> None:
        raise DeviceError("no CUDA device")

    monkeypatch.setattr(selection, "_WORTH_A_GPU", 1)
    monkeypatch.setattr(cuda_selection, "usable_devices", no_cuda)
    monkeypatch.setattr(opencl, "OpenClEngine", None)  # would fail
    (engine,) = open_engines("auto")
    assert isinstance(engine, CpuEngine)
    engine.close()


def test_pyopencl_is_imported_only_when_asked_for():
    program = "import sys, pairalign.cli.align_command; print('pyopencl' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"False"]


def test_kernels_by_name(device):
    with pytest.raises(DeviceError, match="'packed' runs on a CUDA GPU, found device 'opencl'"):
        open_engines("opencl", kernel="packed")
    with pytest.raises(DeviceError, match="'striped': computes scores only"):
        open_engines("opencl", kernel="striped")
    engines = open_engines("opencl", kernel="striped", detail=Detail.SCORE)
    for engine in engines:
        assert engine.name == device.name
        engine.close()


def test_two_devices_share_the_windows(device, family, tmp_path):
    """PoCL shows the same cores as two devices."""
    if "Portable" not in device.platform:
        pytest.skip("not on PoCL")
    few = tmp_path / "few.fasta"
    few.write_text(">".join(family.read_text().split(">")[:13]))
    twice = {"POCL_DEVICES": "pthread pthread"}
    for name, env in {"opencl:0,1": twice, "cpu": {}}.items():
        arguments = ["align", few, "-o", f"{name}.paf", "--window", "4", "--device", name]
        done = commands.run(*arguments, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "opencl:0,1.paf").read_bytes() == (tmp_path / "cpu.paf").read_bytes()


def test_sources_contain_their_headers(device):
    for path in source_folder().glob("*.cl"):
        assert "#include" not in read_source(path.name)


def test_a_kernel_that_does_not_compile_says_why(device):
    with pytest.raises(KernelBuildError, match=r"score_striped.cl.*NOTHING"):
        device.build("papers/score_striped.cl", {"ENTRY": "NOTHING"})
