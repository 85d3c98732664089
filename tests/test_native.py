"""The native library: what is said where it is missing."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from pairalign import native


def test_it_is_beside_the_package() -> None:
    assert Path(native.__file__).with_name("_native.so") == native.PATH
    assert isinstance(native.library, ctypes.CDLL)


@pytest.mark.parametrize("content", [None, b"", b"not a library"])
def test_a_library_that_does_not_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    path = tmp_path / "_native.so"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(native, "PATH", path)
    with pytest.raises(ImportError, match=r"_native.so is missing or does not load") as caught:
        native._load()
    assert str(path) in str(caught.value)
    assert "make build" in str(caught.value)
