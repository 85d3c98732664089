"""The version of pairalign that is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata

_UNKNOWN = "0+unknown"


def _installed() -> str:
    """Look the version up; a source tree that was not installed has none.

    Nor have metadata that a build beside the package is just writing.
    """
    try:
        fields = metadata("pairalign")
    except PackageNotFoundError:
        return _UNKNOWN
    return fields["Version"] if "Version" in fields else _UNKNOWN  # noqa: SIM401 (typed without get)


__version__ = _installed()
