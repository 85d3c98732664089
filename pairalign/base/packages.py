"""Packages that few commands need: loaded where they are used, and what is said without them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pairalign.base.error_types import MissingPackageError

if TYPE_CHECKING:
    import pandas


def check_biopython(what: str) -> None:
    """Raise MissingPackageError where Biopython is not installed; `what` needs it."""
    if find_spec("Bio") is None:
        raise MissingPackageError(
            f"{what} needs Biopython, which is not installed: pip install biopython"
        )


def make_frame(
    data: object, index: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> pandas.DataFrame:
    """Return a ``pandas.DataFrame``; MissingPackageError without pandas."""
    try:
        from pandas import DataFrame
    except ImportError:
        raise MissingPackageError("a DataFrame needs pandas: pip install pandas") from None
    return DataFrame(data, index, columns)
