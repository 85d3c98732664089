"""CRC-32 in native code is that of zlib, for all sizes and beginnings."""

import random
import zlib

import pytest

from pairalign.base import compression
from pairalign.base.compression import add_to_checksum

SIZES = [*range(200), 255, 256, 257, 1000, 4095, 4096, 70_001]


@pytest.mark.parametrize("native", [True, False])
def test_it_is_that_of_zlib(native, monkeypatch):
    if native and not compression.IS_NATIVE:
        pytest.skip("this processor has no carry-less products")
    monkeypatch.setattr(compression, "IS_NATIVE", native)
    chance = random.Random(3)
    for size in SIZES:
        data = chance.randbytes(size)
        before = chance.getrandbits(32)
        expected = zlib.crc32(data, before)
        for given in (data, bytearray(data), memoryview(data), memoryview(bytearray(data))):
            assert add_to_checksum(before, given) == expected
        cut = chance.randrange(size + 1)
        assert add_to_checksum(add_to_checksum(before, data[:cut]), data[cut:]) == expected


def test_known_values():
    assert add_to_checksum(0, b"123456789") == 0xCBF43926
    assert add_to_checksum(0, b"") == 0
    assert add_to_checksum(0, bytes(1 << 20)) == 0xA738EA1C
