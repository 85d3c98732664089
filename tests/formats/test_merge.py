"""Pieces that are read block by block: whole lines of them, and the numbers of their pairs."""

import zlib

import pytest

from pairalign.formats import WRITERS, merge
from pairalign.formats.pieces import Piece


class Bytes(list[bytes]):
    """An output in memory."""

    write = list.append


def fasta(numbers):
    row = "ACDEFGHIKL" * 700
    return "".join(f">{name} pair={n}\n{row}\n" for n in numbers for name in ("a", "pair=7"))


def test_lines_are_not_joined_before_they_end():
    blocks = [b"a", b"b", b"", b"c\nd", b"\n", b"e\nf\n"]
    assert list(merge._whole_lines(iter(blocks))) == [b"abc\n", b"d\n", b"e\nf\n"]
    with pytest.raises(merge.PartsError, match="does not end"):
        list(merge._whole_lines(iter([b"a\nb", b"c"])))


@pytest.mark.parametrize("block_bytes", [5, 9_000, 1 << 20])
def test_numbers_of_pairs_go_on(block_bytes, tmp_path, monkeypatch):
    monkeypatch.setattr("pairalign.base.compression._BLOCK_BYTES", block_bytes)
    pieces = []
    for place, numbers in enumerate(([4, 5, 6], [], [10], [12, 13])):
        text = fasta(numbers).encode()
        (tmp_path / str(place)).write_bytes(text)
        checksum = f"{zlib.crc32(text):08x}"
        pieces.append(Piece(0, 1, len(text), checksum, str(tmp_path / str(place))))
    output = Bytes()
    merge.join_pieces(pieces, WRITERS["fasta"], output)
    assert b"".join(output).decode() == fasta(range(1, 7))
