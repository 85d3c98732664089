"""Files compressed with xz: all streams, no damage unseen, a bound on what a header asks for."""

import io
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairalign.base import compression
from pairalign.base.compression import MOST_MEMORY_BYTES, Decompressed, decompress
from pairalign.cli.main import main
from pairalign.errors import FastaError

XZ = next(one for one in compression._COMPRESSIONS if one.kind == "xz")
LARGE = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 2 * MOST_MEMORY_BYTES}]


def read(data, step):
    file = Decompressed(io.BytesIO(data), XZ)
    parts = []
    while part := file.read(step):
        parts.append(part)
    return b"".join(parts)


@given(
    parts=st.lists(st.binary(max_size=300), min_size=1, max_size=4),
    padding=st.integers(0, 3),
    step=st.integers(1, 400),
)
def test_all_streams_are_read(parts, padding, step):
    data = b"".join(lzma.compress(part) + bytes(4 * padding) for part in parts)
    assert read(data, step) == b"".join(parts)


def test_a_text_longer_than_a_block():
    text = b"".join(b"%d\n" % n for n in range(60_000))
    assert read(lzma.compress(text, preset=0), 1000) == text


@given(data=st.data())
def test_no_damage_is_unseen(data):
    text = bytes(range(256)) * 3
    whole = lzma.compress(text)
    place = data.draw(st.integers(0, len(whole) - 1))
    broken = whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
    with pytest.raises(ValueError, match="xz"):
        read(broken, 100)
    with pytest.raises(ValueError, match="xz"):
        read(whole[:place] or b"\xfd", 100)


def test_a_dictionary_has_a_bound():
    data = lzma.compress(b"some", filters=LARGE)
    with pytest.raises(ValueError, match="takes more than 256 MiB"):
        read(data, 100)
    with pytest.raises(FastaError, match="takes more than 256 MiB"):
        decompress(data, "x")


@pytest.mark.parametrize("damage", ["large", "damaged", "cut"])
def test_a_command_says_so_in_a_line(damage, here, capfd):
    (here / "in.fa").write_text(">a\nACGTACGTACGT\n>b\nACGTTCGTACG\n")
    assert main(["align", "in.fa", "--alphabet", "dna", "-q", "-o", "o.paf"]) == 0
    text = (here / "o.paf").read_bytes() * 100
    data = lzma.compress(text, filters=LARGE if damage == "large" else None)
    if damage == "damaged":
        data = data[:60] + bytes([data[60] ^ 0xFF]) + data[61:]
    (here / "x.xz").write_bytes(data[:80] if damage == "cut" else data)
    assert main(["verify", "--from", "paf", "x.xz", "in.fa", "--alphabet", "dna"]) == 1
    error = capfd.readouterr().err
    assert error.startswith("pairalign: error: x.xz: ")
    assert error.count("\n") == 1
