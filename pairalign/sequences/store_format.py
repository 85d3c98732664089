"""The bytes of a store of sequences (``.pairset``): its header, its sections and their checksums.

docs/pairset.md describes them byte by byte. All numbers are little-endian. What is read is checked
here: a header that is accepted says nothing that the file's size contradicts. Whether a chunk is
what was written, `pairalign.sequences.stored_set` checks when it is first read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int64s, UInt32s
from pairalign.base.compression import add_to_checksum
from pairalign.base.error_types import FastaError
from pairalign.sequences.alphabets import DNA, PROTEIN, Alphabet
from pairalign.sequences.native_arrays import PADDING_BYTES, join_texts
from pairalign.sequences.sets import SequenceSet

MAGIC = b"\x89PAIRSET"
"""No text begins so."""
VERSION = 1
HEADER_BYTES = 4096
CHUNK_BYTES = 1 << 16
"""What has a checksum of its own."""
BLOCK = 1 << 20
"""How much is looked at at a time."""

_BYTE_ORDER = 0x01020304
_ALPHABETS = (PROTEIN, DNA)
_ALIGNED = 64
_MOST_SEQUENCES = 2**31 - 1
_MOST_BYTES = 2**62

SECTIONS: dict[str, np.dtype[Any]] = {
    "offsets": np.dtype("<i8"),
    "order": np.dtype("<i4"),
    "sorted_lengths": np.dtype("<i4"),
    "name_offsets": np.dtype("<i8"),
    "header_offsets": np.dtype("<i8"),
    "names": np.dtype("u1"),
    "headers": np.dtype("u1"),
    "residues": np.dtype("u1"),
    "codes": np.dtype("u1"),
    "qualities": np.dtype("u1"),
}
"""Type of each section's values, in the order of the table in the header."""

_TABLE = np.dtype([("start", "<u8"), ("bytes", "<u8")])
_HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("byte_order", "<u4"),
        ("file_bytes", "<u8"),
        ("sequences", "<u8"),
        ("residues", "<u8"),
        ("alphabet", "<u4"),
        ("longest_name", "<u4"),
        ("digest", "u1", (16,)),
        ("checksums_bytes", "<u8"),
        ("checksums_crc", "<u4"),
        ("reserved", "<u4"),
        ("sections", _TABLE, (len(SECTIONS),)),
        ("byte_counts", "<u8", (256,)),
    ]
)
_CRC_AT = HEADER_BYTES - 4
assert _HEADER.itemsize == 2288
assert _HEADER.fields is not None
assert [_HEADER.fields[name][1] for name in ("sections", "byte_counts")] == [80, 240]


class Header(NamedTuple):
    """What the header of a store says.

    Attributes
    ----------
    longest_name : int
        Bytes of the longest name.
    digest : str
        Of names, lengths and residues, see `SequenceSet.digest`.
    byte_counts : ndarray of int64, shape (256,)
    sections : dict of str to (int, int)
        First byte in the file, and number of bytes, of each section that is there.
    data_start : int
        Where the first chunk begins.
    checksums : ndarray of uint32, shape (chunks,)
        CRC-32 of each chunk.
    """

    sequences: int
    residues: int
    alphabet: Alphabet
    longest_name: int
    digest: str
    byte_counts: Int64s
    sections: dict[str, tuple[int, int]]
    data_start: int
    checksums: UInt32s


def is_store(data: bytes) -> bool:
    """Whether a file that begins with these bytes is a store, or was one."""
    return data.startswith(MAGIC)


# ---------------------------------------------------------------------------------------------
# Writing


def encode_store(sequences: SequenceSet) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a store."""
    arrays = _arrays_of(sequences)
    places, end = _lay_out(arrays)
    checksums = np.array(list(_chunk_checksums(_data(arrays))), "<u4")
    table = checksums.tobytes()
    table += bytes(-len(table) % _ALIGNED)
    data_start = HEADER_BYTES + len(table)
    header: npt.NDArray[Any] = np.zeros((), _HEADER)
    header["magic"], header["version"], header["byte_order"] = MAGIC, VERSION, _BYTE_ORDER
    header["file_bytes"] = data_start + end
    header["sequences"], header["residues"] = len(sequences), sequences.total_residues
    header["alphabet"] = _ALPHABETS.index(sequences.alphabet)
    header["longest_name"] = int(np.diff(arrays["name_offsets"]).max())
    header["digest"] = np.frombuffer(bytes.fromhex(sequences.digest), np.uint8)
    header["checksums_bytes"] = len(table)
    header["checksums_crc"] = add_to_checksum(0, table)
    header["byte_counts"] = sequences.byte_counts
    for number, name in enumerate(SECTIONS):
        if name in places:
            header["sections"][number] = (data_start + places[name], arrays[name].nbytes)
    first = header.tobytes().ljust(_CRC_AT, b"\0")
    yield first + add_to_checksum(0, first).to_bytes(4, "little")
    yield table
    yield from _data(arrays)


def _arrays_of(sequences: SequenceSet) -> dict[str, npt.NDArray[Any]]:
    names, name_offsets = join_texts(sequences.names)
    headers, header_offsets = join_texts(sequences.descriptions)
    arrays = {
        "offsets": sequences.offsets,
        "order": sequences.order,
        "sorted_lengths": sequences.sorted_lengths,
        "name_offsets": name_offsets,
        "header_offsets": header_offsets,
        "names": names,
        "headers": headers,
        "residues": sequences.residues,
        "codes": np.concatenate(
            (sequences.codes_between(0, len(sequences)), np.zeros(PADDING_BYTES, np.uint8))
        ),
    }
    if sequences.qualities is not None:
        arrays["qualities"] = sequences.qualities
    return {
        name: np.ascontiguousarray(arrays[name], SECTIONS[name])
        for name in SECTIONS
        if name in arrays
    }


def _lay_out(arrays: dict[str, npt.NDArray[Any]]) -> tuple[dict[str, int], int]:
    """Return where sections begin, counted from the first, and where the last one ends."""
    places: dict[str, int] = {}
    end = 0
    for name, array in arrays.items():
        places[name] = end
        end += array.nbytes + -array.nbytes % _ALIGNED
    return places, end


def _data(arrays: dict[str, npt.NDArray[Any]]) -> Iterator[memoryview]:
    """Yield the sections, with zeros up to where the next one begins."""
    for array in arrays.values():
        if array.nbytes:
            yield array.data.cast("B")
        if array.nbytes % _ALIGNED:
            yield memoryview(bytes(-array.nbytes % _ALIGNED))


def _chunk_checksums(blocks: Iterator[memoryview]) -> Iterator[int]:
    """Yield the CRC-32 of each chunk of what comes in blocks of any size."""
    checksum = size = 0
    for block in blocks:
        start = 0
        while start < len(block):
            stop = min(len(block), start + CHUNK_BYTES - size)
            checksum = add_to_checksum(checksum, bytes(block[start:stop]))
            size += stop - start
            start = stop
            if size == CHUNK_BYTES:
                yield checksum
                checksum = size = 0
    if size:
        yield checksum


# ---------------------------------------------------------------------------------------------
# Reading


def read_header(data: memoryview, size: int, source: str) -> Header:
    """Read the header of a store and its checksums.

    Parameters
    ----------
    data : memoryview
        The file, or what there is of it.
    size : int
        Bytes of the file.
    source : str
        What messages call it.

    Raises
    ------
    FastaError
        It is cut short or damaged, or of another version; the message says which.
    """
    first = bytes(data[:HEADER_BYTES])
    if len(first) < HEADER_BYTES:
        raise damaged(source, f"it ends within its header, after {len(first):,} bytes")
    raw = np.frombuffer(first, _HEADER, 1)[0]
    if int.from_bytes(first[_CRC_AT:], "little") != add_to_checksum(0, first[:_CRC_AT]):
        raise damaged(source, "its header is not what was written")
    if raw["byte_order"] != _BYTE_ORDER or raw["version"] != VERSION:
        raise FastaError(
            f"{source}: a store of sequences of version {int(raw['version'])}, expected "
            f"{VERSION}: pack the sequences again"
        )
    if size != raw["file_bytes"]:
        raise damaged(source, f"it has {size:,} bytes, expected {int(raw['file_bytes']):,}")
    return _checked(raw, _read_checksums(data, raw, source), source)


def damaged(source: str, how: str) -> FastaError:
    """Make the error for a store that is not what was written."""
    return FastaError(f"{source}: damaged store of sequences: {how}; pack the sequences again")


def _read_checksums(data: memoryview, raw: np.void, source: str) -> UInt32s:
    start, size = HEADER_BYTES, int(raw["checksums_bytes"])
    table = bytes(data[start : start + min(size, len(data))])
    if add_to_checksum(0, table) != raw["checksums_crc"]:
        raise damaged(source, "its checksums are not what was written")
    data_bytes = int(raw["file_bytes"]) - start - size
    chunks = -(-data_bytes // CHUNK_BYTES)
    if data_bytes < 0 or chunks * 4 > len(table):
        raise damaged(source, "its header contradicts itself")
    return np.frombuffer(table, "<u4", chunks)


def _checked(raw: np.void, checksums: UInt32s, source: str) -> Header:
    """Return what a header says, if that is possible; checksums do not find who wrote nonsense."""
    count, residues = int(raw["sequences"]), int(raw["residues"])
    data_start = HEADER_BYTES + int(raw["checksums_bytes"])
    table = zip(SECTIONS, raw["sections"].tolist(), strict=True)
    sections = {name: (start, size) for name, (start, size) in table if start}
    expected = {
        "offsets": 8 * (count + 1),
        "order": 4 * count,
        "sorted_lengths": 4 * count,
        "name_offsets": 8 * (count + 1),
        "header_offsets": 8 * (count + 1),
        "residues": residues,
        "codes": residues + PADDING_BYTES,
        "qualities": residues,
    }
    is_possible = (
        0 < count <= _MOST_SEQUENCES
        and count <= residues < _MOST_BYTES
        and int(raw["alphabet"]) < len(_ALPHABETS)
        and SECTIONS.keys() - sections.keys() <= {"qualities"}
        and all(sections[name][1] == size for name, size in expected.items() if name in sections)
        and all(
            start >= data_start and start % _ALIGNED == 0 and start + size <= int(raw["file_bytes"])
            for start, size in sections.values()
        )
    )
    if not is_possible:
        raise damaged(source, "its header contradicts itself")
    return Header(
        count,
        residues,
        _ALPHABETS[int(raw["alphabet"])],
        int(raw["longest_name"]),
        raw["digest"].tobytes().hex(),
        raw["byte_counts"].astype(np.int64),
        sections,
        data_start,
        checksums,
    )


def check_codes(codes: npt.NDArray[Any], alphabet: Alphabet, source: str) -> None:
    """Refuse codes that are no places in the tables of native code, which trusts them."""
    most = max((int(codes[at : at + BLOCK].max()) for at in range(0, len(codes), BLOCK)), default=0)
    if most >= len(alphabet.letters):
        raise damaged(source, "its codes are none of the alphabet")


def check_ascending(offsets: npt.NDArray[Any], end: int, step: int, source: str) -> None:
    """Refuse offsets that do not ascend by `step` at least, from 0 to `end`."""
    ascend = all(
        (np.diff(offsets[at : at + BLOCK + 1]) >= step).all()
        for at in range(0, len(offsets), BLOCK)
    )
    if not ascend or offsets[0] != 0 or offsets[-1] != end:
        raise damaged(source, "its offsets are not in order")


def decoded(data: bytes | npt.NDArray[Any], source: str) -> str:
    """Return a text that a store has; FastaError if it is none."""
    try:
        return bytes(data).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise damaged(source, "a name is no UTF-8 text") from None
