"""Numbers of distance matrices as text."""

import numpy as np
import pytest

from pairalign.errors import FormatError
from pairalign.formats.distance_text import RowText


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("largest", [0.0, 1.0, 8.9999999, 9.9999999, 12345.678, 3e9])
def test_numbers_have_six_decimals_and_one_width(largest, dtype):
    rng = np.random.default_rng(5)
    halves = (np.arange(200) + 0.5) * 1e-6
    values = np.array([0, largest, *halves, *(rng.random(500) * largest)])
    values = np.minimum(values, largest).astype(dtype)
    text = RowText(float(values.max()), b"\t")
    found = text.format(values).decode()
    millionths = [int(np.rint(np.float64(value) * 1e6)) for value in values]
    expected = [f"{one // 1_000_000}.{one % 1_000_000:06}" for one in millionths]
    assert found == "".join("\t" + one.rjust(text.width - 1) for one in expected)
    assert text.format(values[::3]) == text.format(values[::3].copy())
    assert text.format(values[:0]) == b""


@pytest.mark.parametrize("largest", [2.0**63 / 10**6, 1e30, float("inf")])
def test_numbers_that_text_cannot_hold_are_refused(largest):
    with pytest.raises(FormatError, match="is too large for text with 6 decimals"):
        RowText(largest, b" ")
