"""Compressed files of several streams: all are read, and damage anywhere is an error."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairalign.errors import FastaError
from pairalign.sequences.compression import decompress
from pairalign.sequences.sets import read_fasta

PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
TEXT = {c: "".join(f">{c}{i}\nMKTAYIAKQRLL\n" for i in range(10)).encode() for c in "stu"}

kinds = pytest.mark.parametrize("kind", PACKERS)


def damage(stream: bytes, place: int) -> bytes:
    return stream[:place] + bytes([stream[place] ^ 0xFF]) + stream[place + 1 :]


@given(kind=st.sampled_from(sorted(PACKERS)), parts=st.lists(st.binary(max_size=99), min_size=1))
def test_all_streams_are_read(kind, parts):
    assert decompress(b"".join(map(PACKERS[kind], parts)), "x") == b"".join(parts)


@kinds
def test_streams_larger_than_what_is_read_at_once(kind):
    parts = [bytes([i]) + (b"%d" % i) * 400_000 for i in range(3)]
    noise = lzma.compress(b"") + io.BytesIO(bytes(range(256)) * 1200).read()
    data = b"".join(map(PACKERS[kind], [*parts, noise]))
    assert decompress(data, "x") == b"".join([*parts, noise])


@kinds
def test_a_damaged_later_stream_is_an_error_with_its_place(kind):
    first, second = PACKERS[kind](TEXT["s"]), PACKERS[kind](TEXT["t"])
    data = first + damage(second, len(second) // 2) + PACKERS[kind](TEXT["u"])
    with pytest.raises(FastaError, match=rf"^x: .*damaged {kind} .* byte {len(first)}\b"):
        decompress(data, "x")


@kinds
@given(data=st.data())
def test_no_damage_drops_records_silently(kind, data):
    whole = b"".join(PACKERS[kind](TEXT[c]) for c in "st")
    broken = damage(whole, data.draw(st.integers(0, len(whole) - 1)))
    try:
        names = read_fasta(io.BytesIO(broken)).names
    except FastaError:
        return
    assert len(names) == 20  # in the header of a gzip member there are bytes that say nothing


@kinds
@pytest.mark.parametrize("rest", [b"more", b"\0\0\0\1", b">u0\nMKTAY\n"])
def test_garbage_after_the_streams_is_an_error_with_its_place(kind, rest):
    data = PACKERS[kind](TEXT["s"]) + PACKERS[kind](TEXT["t"])
    with pytest.raises(FastaError, match=rf"^x: .*{kind} file.* byte "):
        decompress(data + rest, "x")


@kinds
def test_a_stream_cut_short_is_an_error_with_its_place(kind):
    first, second = PACKERS[kind](TEXT["s"]), PACKERS[kind](TEXT["t"])
    for left in (len(second) // 2, len(second) - 1):
        with pytest.raises(FastaError, match=rf"ends within .* byte {len(first)}$"):
            decompress(first + second[:left], "x")


def test_padding_as_the_programs_take_it():
    assert decompress(gzip.compress(b"MK") + bytes(5) + gzip.compress(b"VL"), "x") == b"MKVL"
    assert decompress(lzma.compress(b"MK") + bytes(8) + lzma.compress(b"VL"), "x") == b"MKVL"
    for data in (lzma.compress(b"MK") + bytes(3), bz2.compress(b"MK") + bytes(1)):
        with pytest.raises(FastaError, match="the last"):
            decompress(data, "x")
