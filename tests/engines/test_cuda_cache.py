"""The cache of compiled kernels: nothing is loaded that another user can have put there."""

import os
from pathlib import Path

import pytest
from compiled_modules import load_binary

from pairalign.engines.cuda import build as cuda_build
from pairalign.engines.cuda.build import can_load
from pairalign.errors import KernelBuildError

SOURCE, DEFINES, DEVICE = "pair_per_thread/pair_per_thread.cu", {"MODE": "LOCAL"}, (9, 0)
FOREIGN = b"what somebody else compiled"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with one kernel, and an nvcc that writes nothing but "compiled"."""
    monkeypatch.setenv("PAIRALIGN_CACHE", str(tmp_path / "home" / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(cuda_build, "AHEAD_FOLDER", tmp_path / "ahead")
    monkeypatch.setattr(cuda_build, "_said", set())
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(
        "#!/bin/bash\nlast=\nfor a in "
        '"$@"; do [ "$last" = -o ] && echo compiled > "$a"; last="$a"; done\n'
    )
    nvcc.chmod(0o755)
    monkeypatch.setenv("NVCC", str(nvcc))
    assert load_binary(SOURCE, DEFINES, DEVICE) == b"compiled\n"
    (kernel,) = (tmp_path / "home" / "cache").iterdir()
    kernel.write_bytes(FOREIGN)
    return kernel


def load() -> bytes:
    return load_binary(SOURCE, DEFINES, DEVICE)


def test_the_users_own_are_loaded(cache, caplog):
    assert load() == FOREIGN
    assert caplog.text == ""


@pytest.mark.parametrize("bits", [0o020, 0o002])
def test_a_kernel_that_others_may_write(cache, bits, caplog):
    cache.chmod(0o644 | bits)
    assert load() == b"compiled\n"
    assert f"others may write '{cache}'" in caplog.text
    assert cache.stat().st_mode & 0o777 == 0o644  # it was replaced
    assert load() == b"compiled\n"


@pytest.mark.parametrize("bits", [0o020, 0o002])
def test_a_folder_that_others_may_write(cache, bits, caplog):
    cache.parent.chmod(0o755 | bits)
    for _ in range(2):
        assert load() == b"compiled\n"
    assert caplog.text.count(f"others may write '{cache.parent}'") == 1
    assert cache.read_bytes() == FOREIGN  # nothing is put there either
    assert not list(cache.parents[2].glob("pairalign-*"))


@pytest.mark.parametrize("what", ["kernel", "folder"])
def test_what_belongs_to_another_user(cache, what, monkeypatch, caplog):
    """Of the folder and its kernel, one has another owner."""
    other, real = os.geteuid() + 12_345, Path.stat
    chosen = cache if what == "kernel" else cache.parent

    def stat(path: Path, **options: bool) -> os.stat_result:
        found = real(path, **options)
        if path != chosen:
            return found
        return os.stat_result((*found[:4], other, *found[5:]))

    monkeypatch.setattr(Path, "stat", stat)
    assert load() == b"compiled\n"
    assert f"'{chosen}' belongs to another user (number {other})" in caplog.text


def test_without_a_compiler_the_reason_is_said(cache, monkeypatch):
    monkeypatch.setattr(cuda_build, "find_nvcc", lambda: None)
    monkeypatch.setattr(cuda_build, "find_nvrtc", lambda: None)
    assert can_load(DEVICE, [(SOURCE, DEFINES)]) is None
    cache.parent.chmod(0o777)
    assert "others may write" in str(can_load(DEVICE, [(SOURCE, DEFINES)]))
    with pytest.raises(KernelBuildError, match="nvcc is not there"):
        load()


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_a_new_cache_is_one_that_is_loaded(cache, umask, tmp_path, monkeypatch):
    before = os.umask(umask)
    try:
        monkeypatch.setenv("PAIRALIGN_CACHE", str(tmp_path / "new" / "cache"))
        load()
        (kernel,) = (tmp_path / "new" / "cache").iterdir()
        kernel.write_bytes(FOREIGN)
        assert load() == FOREIGN
    finally:
        os.umask(before)
