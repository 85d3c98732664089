"""Distance matrices whose first line promises more than the file has, and odd first lines."""

import gzip
import io
import resource
from pathlib import Path

import numpy as np
import pytest

from pairalign.errors import DistanceError
from pairalign.formats.distances import read_distances

NAMES = ["a", "b", "c"]
ROWS = ["a 0 1 2", "b 1 0 3", "c 2 3 0"]
MOST_BYTES = 1 << 30  # beyond what the process has: no header is worth more here


@pytest.fixture
def little_memory():
    """Make a gigabyte the most that can be asked for."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MOST_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def npy(shape: tuple[int, ...], values: bytes = b"", version: int = 1) -> bytes:
    header = io.BytesIO()
    write = getattr(np.lib.format, f"write_array_header_{version}_0")
    write(header, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return header.getvalue() + values


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("m.phy", b"200000\na 0\n", ": line 1: 200,000 sequences"),
        ("m.phy", b"\n\n200000\na\nb 1\n", ": line 3: 200,000 sequences"),
        ("m.tsv", "\t".join(map(str, range(200_000))).encode(), ": line 1: 199,999 sequences"),
    ],
)
def test_a_header_that_promises_too_much(tmp_path, name, data, line, pack):
    path = tmp_path / (name if pack is bytes else f"{name}.gz")
    path.write_bytes(pack(data))
    with pytest.raises(DistanceError, match=f"^{path}{line}"):
        read_distances(path)


@pytest.mark.usefixtures("little_memory")
def test_a_pipe_that_promises_too_much(monkeypatch):
    pipe = io.BufferedReader(io.BytesIO(b"200000\na 0\n"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(pipe))
    with pytest.raises(DistanceError, match=r"^<stdin>: line 1: 200,000 sequences, .* GiB"):
        read_distances("-", "phylip")


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_numpy_headers_that_promise_too_much(tmp_path, pack):
    path = tmp_path / ("m.npy" if pack is bytes else "m.npy.gz")
    many = [f"s{i}" for i in range(200_000)]
    for names, shape, message in (
        (NAMES, (200_000 * 199_999 // 2,), "but 3 names are given"),
        (NAMES, (200_000, 200_000), "but 3 names are given"),
        (NAMES, (4,), "but 3 names are given"),
        (NAMES, (3, 200_000), "expected a square"),
        (NAMES, (3,), "takes 12 bytes, but the file is smaller"),
        (many, (200_000 * 199_999 // 2,), "but the file is smaller"),
        (many, (200_000, 200_000), "but the file is smaller"),
    ):
        path.write_bytes(pack(npy(shape)))
        with pytest.raises(DistanceError, match=f"^{path}: .*{message}"):
            read_distances(path, names=names)


def test_numpy_files_of_every_kind(tmp_path):
    square = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    path = tmp_path / "m.npy"
    for version in (1, 2):
        path.write_bytes(npy((3,), np.array([1, 2, 3], "<f4").tobytes(), version))
        assert read_distances(path, names=NAMES).condensed.tolist() == [1, 2, 3]
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(DistanceError, match=f"^{path}: more follows the array"):
        read_distances(path, names=NAMES)
    for array in (square, np.asfortranarray(square), square.astype(">f8"), square.astype("u1")):
        np.save(path, array)
        assert read_distances(path, names=NAMES).condensed.tolist() == [1, 2, 3]


@pytest.mark.parametrize("count", ["²", "٣", "3" * 5000, "-3", "3.0", "1"])
def test_what_is_no_count(tmp_path, count):
    path = tmp_path / "m.phy"
    path.write_text("\n".join([count, *ROWS]))
    with pytest.raises(DistanceError, match=f"^{path}: line 1: expected the number of sequences"):
        read_distances(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(DistanceError, match=r"^no\.phy: no such file$"):
        read_distances("no.phy")
    with pytest.raises(DistanceError, match="is a directory"):
        read_distances(tmp_path, "phylip")
