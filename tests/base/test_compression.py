"""Compressed files of several streams: all are read, and damage anywhere is an error."""

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairalign.base import compression
from pairalign.base.compression import MOST_MEMORY_BYTES, Decompressed, decompress
from pairalign.cli.main import main
from pairalign.errors import FastaError, MissingPackageError
from pairalign.sequences.set_reading import read_fasta

PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
if find_spec("zstandard") is not None:
    import zstandard

    PACKERS["zstd"] = zstandard.ZstdCompressor(write_checksum=True).compress
TEXT = {c: "".join(f">{c}{i}\nMKTAYIAKQRLL\n" for i in range(10)).encode() for c in "stu"}

kinds = pytest.mark.parametrize("kind", PACKERS)


def damage(stream: bytes, place: int) -> bytes:
    return stream[:place] + bytes([stream[place] ^ 0xFF]) + stream[place + 1 :]


def read(data: bytes, kind: str, step: int) -> bytes:
    """Some bytes at a time."""
    (found,) = (one for one in compression._COMPRESSIONS if one.kind == kind)
    file = Decompressed(io.BytesIO(data), found)
    return b"".join(iter(lambda: file.read(step), b""))


@given(
    kind=st.sampled_from(sorted(PACKERS)),
    parts=st.lists(st.binary(max_size=300), min_size=1, max_size=4),
    step=st.integers(1, 400),
)
def test_all_streams_are_read(kind, parts, step):
    data = b"".join(map(PACKERS[kind], parts))
    assert decompress(data, "x") == read(data, kind, step) == b"".join(parts)


@kinds
def test_streams_larger_than_what_is_read_at_once(kind):
    parts = [bytes([i]) + (b"%d" % i) * 400_000 for i in range(3)]
    noise = lzma.compress(b"") + io.BytesIO(bytes(range(256)) * 1200).read()
    data = b"".join(map(PACKERS[kind], [*parts, noise]))
    assert decompress(data, "x") == b"".join([*parts, noise])


def bombs():
    """Few bytes that are gigabytes of text."""
    zeros = bytes(1 << 24)
    yield "bzip2", bz2.compress(bytes(45_899_235)) * 60
    yield "xz", lzma.compress(zeros) * 3 + lzma.compress(bytes(1 << 28))
    if "zstd" in PACKERS:
        yield "zstd", zstandard.ZstdCompressor(19).compress(zeros) * 200


@pytest.mark.parametrize(("kind", "data"), bombs())
def test_text_that_few_bytes_become_is_refused_soon(kind, data, monkeypatch):
    monkeypatch.setattr(compression, "_MOST_TIMES", 1000)
    expected = r"^x: ([\d,]+) compressed bytes have become ([\d,]+), more than 1,000 times"
    tracemalloc.start()
    with pytest.raises(FastaError, match=expected):
        decompress(data, "x")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 28


@kinds
def test_text_that_compresses_well_is_read(kind):
    text = b">s\n" + b"N" * (1 << 25)
    assert decompress(PACKERS[kind](text), "x") == text


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
        with pytest.raises(FastaError, match="what follows from byte "):
            decompress(data, "x")


@pytest.mark.skipif("zstd" not in PACKERS, reason="zstandard is not installed")
def test_zstd_frames_without_data_are_passed_over():
    """As pzstd writes them before each piece."""
    skipped = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"\0\1\2\3"
    data = b"".join(skipped + PACKERS["zstd"](TEXT[c]) for c in "st")
    assert decompress(data, "x") == TEXT["s"] + TEXT["t"]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python has zstd itself")
def test_zstd_without_its_package_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingPackageError, match=r"pairalign\[zstd\].* zstd -dc FILE"):
        decompress(b"\x28\xb5\x2f\xfd\x84\x58", "x")


LARGE = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 2 * MOST_MEMORY_BYTES}]


def test_a_dictionary_has_a_bound():
    data = lzma.compress(b"some", filters=LARGE)
    with pytest.raises(ValueError, match="takes more than 256 MiB"):
        read(data, "xz", 100)
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
