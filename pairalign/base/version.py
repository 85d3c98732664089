"""The version of pairalign that is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

_UNKNOWN = "0+unknown"


def _installed() -> str:
    """Look the version up; a source tree that was not installed has none.

    Nor have metadata that a build beside the package is just writing: None, or a KeyError.
    """
    try:
        return version("pairalign") or _UNKNOWN
    except (PackageNotFoundError, KeyError):
        return _UNKNOWN


__version__ = _installed()
