"""Compiling kernels: for the architectures that are promised, with nothing spilled, and caching."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from compiled_modules import load_binary

from pairalign.engines.cuda import build as cuda_build
from pairalign.engines.cuda.ahead_files import nvcc_options, parse_codes
from pairalign.engines.cuda.build import (
    ModuleRequest,
    compile_to,
    find_nvcc,
    load_binaries,
    resources,
)
from pairalign.engines.cuda.build_ahead import useful_codes
from pairalign.engines.cuda.cuda_engine import FAMILIES
from pairalign.engines.cuda.packed.packed_family import Packed
from pairalign.engines.cuda.packed.packed_kernels import TRACEBACK, entry_defines, source_of
from pairalign.engines.cuda.pair_per_thread import PairPerThread
from pairalign.errors import KernelBuildError

needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="nvcc is not there")
DEFINES = {"MODE": "LOCAL", "WIDTH": "NARROW", "BLOCK": 16}
SOURCE = "pair_per_thread/pair_per_thread.cu"


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize(
    ("codes", "family"), [*(("90", family) for family in FAMILIES), ("80,ptx80", "pair-per-thread")]
)
def test_kernels_compile(tmp_path, capsys, codes, family):
    """One variant of every source; prints registers and spills."""
    variants: dict[str, dict[str, int | str]] = {}
    for source, defines in FAMILIES[family]().variants():
        variants.setdefault(source, dict(defines))
    options = [*nvcc_options(parse_codes(codes)), "-Xptxas", "-v"]
    for source, defines in variants.items():
        target = tmp_path / f"{Path(source).stem}.bin"
        printed = compile_to(target, source, defines, options)
        assert target.stat().st_size > 1000
        lines = resources(printed)
        assert lines
        with capsys.disabled():
            print("", f"{source} {defines}", *lines, sep="\n    ")


@pytest.mark.slow
@needs_nvcc
def test_the_usual_kernels_spill_nothing_in_loops(tmp_path):
    for mode in ("GLOBAL", "SEMIGLOBAL", "LOCAL"):
        defines = {**DEFINES, "MODE": mode}
        options = ["-arch=sm_90", "-cubin", "-Xptxas", "-v"]
        lines = resources(compile_to(tmp_path / "k.cubin", SOURCE, defines, options))
        assert len(lines) == 5
        for line in lines:
            spilled = int(re.search(r"(\d+) bytes spilled", line)[1])
            assert spilled <= (16 if "score_pair" in line else 0), line  # outside its loop
            registers = int(re.search(r"(\d+) registers", line)[1])
            assert registers <= 64, line  # four blocks of 256 threads on a multiprocessor


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAIRALIGN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cuda_build, "AHEAD_FOLDER", tmp_path / "ahead")
    monkeypatch.setattr(cuda_build, "find_nvrtc", lambda: None)
    return tmp_path / "cache"


def fake_nvcc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str = 'echo "$@" > "$out"'
) -> Path:
    """An nvcc that writes what it was called with."""
    path = tmp_path / "bin" / "nvcc"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "#!/bin/bash\nout=; last=\n"
        'for a in "$@"; do [ "$last" = -o ] && out="$a"; last="$a"; done\n'
        f"echo called >> '{tmp_path}/calls'\n{script}\n"
    )
    path.chmod(0o755)
    monkeypatch.setenv("NVCC", str(path))
    return tmp_path / "calls"


def test_what_is_compiled_is_kept(cache, tmp_path, monkeypatch):
    calls = fake_nvcc(tmp_path, monkeypatch)
    first = load_binary(SOURCE, DEFINES, (9, 0))
    assert b"-arch=sm_90" in first
    assert b"-DMODE=LOCAL" in first
    assert load_binary(SOURCE, DEFINES, (9, 0)) == first
    assert calls.read_text().count("called") == 1
    load_binary(SOURCE, DEFINES, (8, 6))
    load_binary(SOURCE, {**DEFINES, "MODE": "GLOBAL"}, (9, 0))
    assert calls.read_text().count("called") == 3
    assert len(list(cache.iterdir())) == 3


def test_a_definition_says_how_much_ptxas_optimizes(cache, tmp_path, monkeypatch):
    fake_nvcc(tmp_path, monkeypatch)
    for two_sets, has in ((True, True), (False, False)):
        defines = entry_defines(TRACEBACK, "local", False, two_sets=two_sets)
        assert (b"-Xptxas=-O1" in load_binary(TRACEBACK, defines, (9, 0))) == has


def test_a_changed_source_is_compiled_again(cache, tmp_path, monkeypatch):
    calls = fake_nvcc(tmp_path, monkeypatch)
    sources = tmp_path / "cuda"
    shutil.copytree(cuda_build.source_folder(), sources)
    monkeypatch.setattr(cuda_build, "source_folder", lambda: sources)
    load_binary(SOURCE, DEFINES, (9, 0))
    with open(sources / "pair_per_thread" / "cell.cuh", "a") as header:
        header.write("// changed\n")
    load_binary(SOURCE, DEFINES, (9, 0))
    assert calls.read_text().count("called") == 2


def test_kernels_compiled_ahead_need_no_nvcc(cache, tmp_path, monkeypatch):
    fake_nvcc(tmp_path, monkeypatch)
    variants = list(PairPerThread().variants())
    built = list(cuda_build.compile_ahead(variants, tmp_path / "ahead"))
    assert len(built) == len(variants)
    assert len(list((tmp_path / "ahead").glob("*.fatbin"))) == len(variants) == 12
    monkeypatch.setattr(cuda_build, "find_nvcc", lambda: None)
    for source, defines in variants:
        text = load_binary(source, defines, (9, 0)).decode()
        for part in ("sm_80", "sm_90", "sm_100", "sm_120", "code=compute_80"):
            assert part in text
    assert cuda_build.can_load((9, 0), variants) is None
    reason = cuda_build.can_load((7, 5), variants)  # older than the PTX
    assert reason is not None
    assert "nvcc is not there" in reason
    with pytest.raises(KernelBuildError, match="nvcc is not there"):
        load_binary(SOURCE, DEFINES, (7, 5))


def test_kernels_compiled_ahead_say_for_which_gpus(cache, tmp_path, monkeypatch):
    """One that they are not for is told so; a newer one takes PTX, but not where code is there."""
    fake_nvcc(tmp_path, monkeypatch)
    variants = list(PairPerThread().variants())[:1]
    (source, defines) = variants[0]

    def compile_for(text: str) -> Path:
        codes = parse_codes(text)
        ((path, _),) = cuda_build.compile_ahead(variants, tmp_path / "ahead", lambda _: codes)
        return path

    code = compile_for("80,90")
    assert code.name.endswith(".sm80.sm90.fatbin")
    monkeypatch.setattr(cuda_build, "find_nvcc", lambda: None)
    for capability in ((8, 0), (8, 6), (8, 9), (9, 0)):
        assert cuda_build.can_load(capability, variants) is None
    for capability in ((7, 5), (8, 7), (10, 0), (12, 0)):  # 8.7 is a board with code of its own
        said = str(cuda_build.can_load(capability, variants))
        assert f"for sm_{capability[0]}{capability[1]} are not" in said
        assert "they are for sm_80, sm_90)" in said
        assert (
            "install a wheel with compiled kernels, pairalign[nvrtc], or the CUDA toolkit" in said
        )
    monkeypatch.setattr(cuda_build, "find_nvcc", find_nvcc)
    ptx = compile_for("ptx80")
    monkeypatch.setattr(cuda_build, "find_nvcc", lambda: None)
    for capability, path in {(8, 6): code, (9, 0): code, (8, 7): ptx, (12, 0): ptx}.items():
        assert load_binary(source, defines, capability) == path.read_bytes()
    assert "any from sm_80 on" in str(cuda_build.can_load((7, 5), variants))


def test_what_is_compiled_ahead_is_not_compiled_again(cache, tmp_path, monkeypatch):
    calls = fake_nvcc(tmp_path, monkeypatch)
    variants = list(PairPerThread().variants())[:2]
    first = list(cuda_build.compile_ahead(variants, tmp_path / "ahead"))
    assert [path for path, _ in first] == sorted((tmp_path / "ahead").iterdir())
    assert list(cuda_build.compile_ahead(variants, tmp_path / "ahead")) == [
        (path, "") for path, _ in first
    ]
    assert calls.read_text().count("called") == 2


def test_what_is_no_architecture():
    assert list(parse_codes("sm_90, 80,ptx80")) == [("sm", 90), ("sm", 80), ("ptx", 80)]
    for text in ("", "hopper", "90;80", "9"):
        with pytest.raises(ValueError, match="is not an architecture"):
            parse_codes(text)


def test_kernels_that_earlier_runs_compiled_need_no_nvcc(cache, tmp_path, monkeypatch):
    """Runs compile single entries: those in the cache are enough for a device to be usable."""
    fake_nvcc(tmp_path, monkeypatch)
    variants = list(Packed().variants())
    monkeypatch.setattr(cuda_build, "find_nvcc", lambda: None)
    assert "nvcc is not there" in str(cuda_build.can_load((9, 0), variants))
    monkeypatch.setattr(cuda_build, "find_nvcc", find_nvcc)
    load_binaries(requests_of(NEEDED), (9, 0))
    monkeypatch.setattr(cuda_build, "find_nvcc", lambda: None)
    assert cuda_build.can_load((9, 0), variants) is None
    assert len(load_binaries(requests_of(NEEDED), (9, 0))) == len(NEEDED)
    assert "nvcc is not there" in str(cuda_build.can_load((8, 0), variants))
    assert "nvcc is not there" in str(cuda_build.can_load((9, 0), PairPerThread().variants()))
    with pytest.raises(KernelBuildError, match="nvcc is not there"):
        load_binaries(requests_of(["fill_g16_k20"]), (9, 0))


def requests_of(kernels: Iterable[str]) -> list[ModuleRequest]:
    """As PackedKernels asks for them."""
    found = []
    for kernel in kernels:
        source = source_of(kernel)
        part = entry_defines(source, "global", False, kernel)
        found.append(ModuleRequest(source, entry_defines(source, "global", False), part))
    return found


NEEDED = ("fill_g8_k16", "traceback_k16", "count_runs", "place_runs")


def test_only_the_kernels_that_a_run_needs_are_compiled(cache, tmp_path, monkeypatch):
    calls = fake_nvcc(tmp_path, monkeypatch)
    found = load_binaries(requests_of(NEEDED), (9, 0))
    assert [binary.name.split("-")[1] for binary in found] == ["fill", "traceback", "runs", "runs"]
    assert calls.read_text().count("called") == len(list(cache.iterdir())) == 3
    fill = found[0].code.decode()
    assert fill.count("ENTRY(") == 1
    assert r"-DPAIRALIGN_ENTRIES=ENTRY(fill_g8_k16\,fill<8\,16\,true\,false>)" in fill
    more = load_binaries(requests_of((*NEEDED, "score_strips_k32")), (9, 0))
    assert more[:4] == found
    assert r"ENTRY(score_strips_k32\,fill<32\,32\,false\,true>)" in more[4].code.decode()
    assert calls.read_text().count("called") == 4


def test_kernels_compiled_ahead_are_not_compiled_one_by_one(cache, tmp_path, monkeypatch):
    fake_nvcc(tmp_path, monkeypatch)
    variants = [(source, dict(defines)) for source, defines in Packed().variants()]
    built = dict(cuda_build.compile_ahead(variants, tmp_path / "ahead", useful_codes))
    assert len(built) == len(variants) == 20
    for binary in load_binaries(requests_of(NEEDED), (9, 0)):
        assert binary.name in {path.name for path in built}
        assert "sm_90" in binary.code.decode()
        assert "sm_120" not in binary.code.decode()  # which these kernels do not fit
    assert not cache.exists()


@pytest.mark.slow
@needs_nvcc
def test_a_kernel_is_compiled_alone(cache):
    (alone,) = load_binaries(requests_of(("score_g8_k16",)), (9, 0))
    assert b"score_g8_k16" in alone.code
    assert b"score_g8_k20" not in alone.code


def test_what_nvcc_says_is_in_the_error(cache, tmp_path, monkeypatch):
    fake_nvcc(tmp_path, monkeypatch, "echo 'error: Unsupported gpu architecture'; exit 1")
    with pytest.raises(KernelBuildError, match=r"(?s)sm_130.*Unsupported.*toolkit does not know"):
        load_binary(SOURCE, DEFINES, (13, 0))
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    fake_nvcc(tmp_path, monkeypatch)
    (tmp_path / "file").touch()
    monkeypatch.setenv("PAIRALIGN_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(cuda_build, "AHEAD_FOLDER", tmp_path / "ahead")
    with pytest.raises(KernelBuildError, match="PAIRALIGN_CACHE"):
        load_binary(SOURCE, DEFINES, (9, 0))
