"""The native library: one shared object behind a C ABI, loaded with ctypes."""

from __future__ import annotations

import ctypes
from pathlib import Path

PATH = Path(__file__).with_name("_native.so")


def _load() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(PATH))
    except OSError as error:
        raise ImportError(
            f"the native library {PATH} is missing or does not load ({error}); "
            "build it with `make build` or install pairalign with `pip install .`"
        ) from error


library = _load()
