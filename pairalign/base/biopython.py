"""Biopython, whose parsers and objects are used where they are: nothing else needs it."""

from __future__ import annotations

from importlib.util import find_spec

from pairalign.base.error_types import MissingPackageError


def check_biopython(what: str) -> None:
    """Raise MissingPackageError where Biopython is not installed; `what` needs it."""
    if find_spec("Bio") is None:
        raise MissingPackageError(
            f"{what} needs Biopython, which is not installed: pip install biopython"
        )
