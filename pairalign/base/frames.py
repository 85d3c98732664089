"""Tables of pandas, which is loaded when one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pairalign.base.error_types import MissingPackageError

if TYPE_CHECKING:
    import pandas


def make_frame(
    data: object, index: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> pandas.DataFrame:
    """Return a ``pandas.DataFrame``; MissingPackageError without pandas."""
    try:
        from pandas import DataFrame
    except ImportError:
        raise MissingPackageError("a DataFrame needs pandas: pip install pandas") from None
    return DataFrame(data, index, columns)
