"""The version of pairalign that is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("pairalign")
except PackageNotFoundError:  # used from a source tree that was not installed
    __version__ = "0+unknown"
