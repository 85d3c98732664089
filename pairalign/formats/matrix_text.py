"""Rows of a distance matrix as text of fixed width, many numbers at a time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

DECIMALS = 6

MOST_PADDED = 255
"""Characters to which names are padded at most: one that is longer would make each line so long."""


def padded_width(names: Iterable[str]) -> int:
    """Return to how many characters names are padded, so that what follows them is in line."""
    return min(max(map(len, names)), MOST_PADDED)


class RowText:
    """Writes rows of numbers that are 0 or more, each with a separator before it.

    Parameters
    ----------
    largest : float
        Of all numbers to come: it decides the width.
    separator : bytes
        One byte.
    """

    def __init__(self, largest: float, separator: bytes) -> None:
        assert len(separator) == 1
        self._separator = separator[0]
        whole = max(1, len(str(int(largest + 1))))
        self._whole = whole
        self.width = 1 + whole + 1 + DECIMALS

    def format(self, values: npt.NDArray[np.floating]) -> bytes:
        """Write one row: ``0.123456`` each, padded to the width of the largest number."""
        rest = np.rint(values.astype(np.float64) * 10**DECIMALS).astype(np.uint64)
        text = np.empty((len(values), self.width), np.uint8)
        text[:, 0] = self._separator
        for column in range(self.width - 1, 0, -1):
            if column == self._whole + 1:
                text[:, column] = ord(".")
                continue
            rest, digit = np.divmod(rest, 10)
            text[:, column] = digit + ord("0")
        if self._whole > 1:
            self._drop_leading_zeros(text)
        return text.tobytes()

    def _drop_leading_zeros(self, text: npt.NDArray[np.uint8]) -> None:
        leading = np.ones(len(text), bool)
        for column in range(1, self._whole):
            leading &= text[:, column] == ord("0")
            text[leading, column] = ord(" ")
