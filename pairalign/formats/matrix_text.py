"""Rows of a distance matrix as text of fixed width, many numbers at a time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from pairalign.base.error_types import FormatError
from pairalign.base.native import library

DECIMALS = 6
"""As in ``cpu/text/numbers.cpp``."""

MOST_PADDED = 255
"""Characters to which names are padded at most: one that is longer would make each line so long."""


def padded_width(names: Iterable[str]) -> int:
    """Return to how many characters names are padded, so that what follows them is in line."""
    return min(max(map(len, names)), MOST_PADDED)


_format_numbers = library.pairalign_format_numbers


class RowText:
    """Writes rows of numbers that are 0 or more, each with a separator before it.

    Parameters
    ----------
    largest : float
        Of all numbers to come: it decides the width.
    separator : bytes
        One byte.

    Raises
    ------
    FormatError
        The largest has no text of this kind: it is 9e12 or more.
    """

    def __init__(self, largest: float, separator: bytes) -> None:
        assert len(separator) == 1
        if not largest * 10**DECIMALS < 2**63:
            raise FormatError(f"{largest:g} is too large for text with {DECIMALS} decimals")
        self._separator = separator[0]
        whole = max(1, len(str(int(largest + 1))))
        self._whole = whole
        self.width = 1 + whole + 1 + DECIMALS

    def format(self, values: npt.NDArray[np.floating]) -> bytes:
        """Write one row: ``0.123456`` each, padded to the width of the largest number."""
        numbers = np.ascontiguousarray(values, np.float64)
        text = np.empty((len(numbers), self.width), np.uint8)
        arguments = numbers, len(numbers), self._separator, self._whole
        _format_numbers(*arguments, text)
        return text.tobytes()
