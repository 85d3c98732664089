"""Where output goes: complete or not at all, the same bytes from any number of threads."""

import errno
import fcntl
import gzip
import io
import os
import re
import resource
import stat
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from commands import TIMEOUT_SECONDS, ordinary_user
from samples import sample
from strategies import MODES
from written_files import TEXT, write, written

from pairalign.base.compression import decompressed
from pairalign.errors import FormatError, OutputError
from pairalign.formats import find_format, open_writer, parquet
from pairalign.formats import output as output_module
from pairalign.formats import writer as writer_module
from pairalign.formats.output import open_output
from pairalign.formats.text_queue import MOST_UNFORMATTED
from pairalign.formats.writer import Content
from pairalign.pairs.want import Detail

# ---- bytes do not depend on threads, nor on how pairs come in ----------------------------------


@pytest.mark.parametrize(
    ("number", "format"), list(enumerate([*TEXT, "paf.gz", "srspair.gz", "paf.zst", "parquet"]))
)
def test_bytes_do_not_depend_on_threads_or_cuts(number, format, tmp_path, monkeypatch):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    alignments = sample(11, MODES[number % len(MODES)], pairs=300)
    path = tmp_path / f"out.{format}"
    write(alignments, path)  # one chunk, one member, one row group
    whole = path.read_bytes()
    monkeypatch.setattr(writer_module, "CHUNK_BYTES", 9000)
    monkeypatch.setattr(output_module, "GZIP_MEMBER_BYTES", 5000)
    monkeypatch.setattr(parquet, "GROUP_PAIRS", 64)
    monkeypatch.setattr(parquet, "GROUP_RUNS", 2000)
    write(alignments, path)
    first = path.read_bytes()
    if format in TEXT:
        assert first == whole
    elif format.endswith(".zst"):
        zstandard = pytest.importorskip("zstandard")
        frames = zstandard.ZstdDecompressor().stream_reader(first, read_across_frames=True)
        path.with_suffix("").write_bytes(frames.read())
        write(alignments, tmp_path / "once.paf")
        assert path.with_suffix("").read_bytes() == (tmp_path / "once.paf").read_bytes()
        (tmp_path / "once.paf").unlink()
        path.with_suffix("").unlink()
        assert first.count(b"\x28\xb5\x2f\xfd") >= 3
    elif format != "parquet":
        assert gzip.decompress(first) == gzip.decompress(whole)
        assert first.count(b"\x1f\x8b\x08\x00\x00\x00\x00\x00") >= 3  # members without a time
    for threads, cuts in ((2, ()), (3, (1, 1, 130)), (1, range(300)), (2, range(0, 300, 7))):
        write(alignments, path, threads=threads, cuts=cuts)
        assert path.read_bytes() == first
    assert os.listdir(tmp_path) == [path.name]


def test_a_pair_larger_than_the_buffer(tmp_path, monkeypatch):
    alignments = sample(11, pairs=20)
    expected = [written(alignments, format, tmp_path) for format in TEXT]
    monkeypatch.setattr(writer_module, "CHUNK_BYTES", 1)
    for format, text in zip(TEXT, expected, strict=True):
        assert written(alignments, format, tmp_path, threads=2) == text


def test_a_slow_disk_holds_nobody_up(tmp_path, monkeypatch):
    """`write` returns while the disk still takes the text."""
    alignments = sample(3, pairs=300)
    write(alignments, tmp_path / "once.tsv.gz")
    disk_is_ready = threading.Event()
    write_now = output_module.FileOutput.write

    def write_when_ready(output, data):
        if threading.current_thread() is not threading.main_thread():
            assert disk_is_ready.wait(TIMEOUT_SECONDS)
        return write_now(output, data)

    monkeypatch.setattr(output_module.FileOutput, "write", write_when_ready)
    content = Content(alignments.queries, alignments.targets, alignments.scoring, Detail.CIGAR)
    path = tmp_path / "a.tsv.gz"
    with open_writer(path, None, content, threads=4) as writer:
        writer.write(alignments)  # would wait for ever
        disk_is_ready.set()
    assert path.read_bytes() == (tmp_path / "once.tsv.gz").read_bytes()


def test_a_slow_disk_holds_nobody_up_natively(tmp_path, monkeypatch):
    """A pipe that is not read yet stands in for the file that a native thread writes to."""
    alignments = sample(3, pairs=300)
    expected = written(alignments, "srspair", tmp_path).encode()
    read_end, write_end = os.pipe()
    assert len(expected) > fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    monkeypatch.setattr(output_module.FileOutput, "descriptor", write_end)
    content = Content(alignments.queries, alignments.targets, alignments.scoring, Detail.CIGAR)
    writer = open_writer(tmp_path / "a.srspair", None, content, threads=2)
    (part,) = tmp_path.iterdir()
    header = part.read_bytes()
    writer.write(alignments)  # would wait for ever
    found = []
    reader = threading.Thread(target=lambda: found.append(read_to_end(read_end)))
    reader.start()
    writer.close()
    os.close(write_end)
    reader.join(TIMEOUT_SECONDS)
    text = (tmp_path / "a.srspair").read_bytes()
    footer = text.removeprefix(header)
    assert [header + found[0] + footer] == [expected]


def read_to_end(descriptor):
    with open(descriptor, "rb") as file:
        return file.read()


@pytest.mark.parametrize("name", ["a.tsv", "a.fasta", "a.paf.gz", "-"])
def test_calls_do_not_wait_for_each_other(name, tmp_path, monkeypatch, capfdbinary):
    """Many calls of few pairs, so that several are being formatted at a time."""
    monkeypatch.setattr(writer_module, "CHUNK_BYTES", 2000)
    alignments = sample(7, pairs=400)
    format = "tsv" if name == "-" else None
    expected = written(alignments, find_format(name, format).name, tmp_path).encode()
    path = name if name == "-" else tmp_path / name
    content = Content(alignments.queries, alignments.targets, alignments.scoring, Detail.CIGAR)
    with open_writer(path, format, content, threads=5) as writer:
        for start in range(0, 400, 3):
            writer.write(alignments[start : start + 3])
            unformatted = writer._queue.unformatted
            assert unformatted <= MOST_UNFORMATTED  # so much stays in memory
    text = capfdbinary.readouterr().out if name == "-" else path.read_bytes()
    assert (gzip.decompress(text) if name.endswith("gz") else text) == expected


def test_gz_of_nothing_is_a_gzip_file(tmp_path):
    write(sample(1, pairs=2)[:0], tmp_path / "a.paf.gz")
    content = (tmp_path / "a.paf.gz").read_bytes()
    assert content
    assert gzip.decompress(content) == b""


@pytest.mark.parametrize("name", ["a.paf.GZ", "a.PAF.Gz", "a.tsv.ZST"])
def test_capitals_at_the_end_of_a_name(name, tmp_path):
    if name.endswith("ZST"):
        pytest.importorskip("zstandard")
    write(sample(1, pairs=2), tmp_path / name)
    write(sample(1, pairs=2), tmp_path / f"b{name[1:]}".lower())
    assert (tmp_path / name).read_bytes() == (tmp_path / f"b{name[1:]}".lower()).read_bytes()


@pytest.mark.parametrize("name", ["a.paf.xz", "a.bz2", "a.paf.BGZ"])
def test_compressions_that_are_read_alone(name, tmp_path):
    with pytest.raises(FormatError, match=r"what is written is compressed as .gz or .zst"):
        write(sample(1, pairs=2), tmp_path / name, format="paf")
    with pytest.raises(FormatError, match=r"what is written is compressed as .gz or .zst"):
        output_module.check_writable(tmp_path / name)
    assert not any(tmp_path.iterdir())


def test_zstd_that_is_cut_short_or_damaged(tmp_path, monkeypatch):
    pytest.importorskip("zstandard")
    monkeypatch.setattr(output_module, "GZIP_MEMBER_BYTES", 1000)
    write(sample(2, pairs=50), tmp_path / "a.tsv.zst")
    whole = (tmp_path / "a.tsv.zst").read_bytes()
    (tmp_path / "a.tsv.zst").unlink()
    with decompressed(io.BufferedReader(io.BytesIO(whole))) as file:
        assert file.read().decode() == written(sample(2, pairs=50), "tsv", tmp_path)
    for damaged in (whole[:-5], whole[:60] + b"???" + whole[63:]):
        with pytest.raises(ValueError, match="zstd file"):
            decompressed(io.BufferedReader(io.BytesIO(damaged))).read()


# ---- where output goes -------------------------------------------------------------------------


def test_nothing_appears_before_it_is_complete(tmp_path):
    alignments = sample(1)
    path = tmp_path / "a.paf"
    content = Content(alignments.queries, alignments.targets, alignments.scoring, Detail.CIGAR)
    with open_writer(path, None, content) as writer:
        writer.write(alignments)
        (temporary,) = os.listdir(tmp_path)
        assert temporary.startswith(".")
        assert "a.paf" in temporary
    assert os.listdir(tmp_path) == ["a.paf"]
    writer.abort()  # too late to do harm
    assert os.listdir(tmp_path) == ["a.paf"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
@pytest.mark.parametrize("name", ["a.paf", "a.srspair.gz", "a.parquet"])
def test_an_interruption_leaves_what_was_there(name, error, tmp_path):
    alignments = sample(1)
    path = tmp_path / name
    path.write_text("before")
    content = Content(alignments.queries, alignments.targets, alignments.scoring, Detail.CIGAR)

    def run():
        with open_writer(path, None, content, threads=2) as writer:
            writer.write(alignments)
            raise error

    with pytest.raises(error):
        run()
    assert os.listdir(tmp_path) == [name]
    assert path.read_text() == "before"


@pytest.mark.parametrize("name", ["a.paf", "a.paf.gz", "a.parquet"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_full_disk(name, threads, tmp_path, monkeypatch):
    """A limit on the size of files stands in for a disk that fills up midway."""
    monkeypatch.setattr(writer_module, "CHUNK_BYTES", 9000)
    monkeypatch.setattr(output_module, "GZIP_MEMBER_BYTES", 9000)
    monkeypatch.setattr(parquet, "GROUP_PAIRS", 64)
    alignments = sample(1, pairs=600)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OutputError, match=re.escape(str(tmp_path / name))) as caught:
            write(alignments, tmp_path / name, threads=threads)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.errno == errno.EFBIG
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("format", [*TEXT, "parquet"])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device(format):
    with pytest.raises(OutputError, match="'/dev/full': No space left") as caught:
        write(sample(1, pairs=600), "/dev/full", format)
    assert caught.value.errno == errno.ENOSPC
    assert os.path.exists("/dev/full")


def test_devices_are_written_directly():
    write(sample(1), "/dev/null", "paf")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_pipes_are_written_directly(tmp_path):
    alignments = sample(1)
    path = tmp_path / "pipe.paf"
    os.mkfifo(path)
    found = []
    reader = threading.Thread(target=lambda: found.append(path.read_text()), daemon=True)
    reader.start()
    write(alignments, path)
    reader.join(TIMEOUT_SECONDS)
    assert stat.S_ISFIFO(os.stat(path).st_mode)
    path.unlink()
    assert found == [written(alignments, "paf", tmp_path)]


def test_places_that_cannot_be_written(tmp_path):
    alignments = sample(1)
    (tmp_path / "folder.paf").mkdir()
    (tmp_path / "file").write_text("")
    for name, message in (
        ("no/where/a.paf", "there is no directory '.*no/where'"),
        ("folder.paf", "Is a directory"),
        ("folder.paf/", "Is a directory"),
        ("new.paf/", "Is a directory"),
        ("file/a.paf", "Not a directory"),
        ("x" * 300 + ".paf", "File name too long"),
    ):
        path = f"{tmp_path}/{name}"
        with pytest.raises(OutputError, match=message) as caught:
            write(alignments, path, "paf")
        assert path in str(caught.value)
        assert isinstance(caught.value, OSError)
    with pytest.raises(OutputError):
        write(alignments, "", "paf")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder.paf"]


def test_permissions_are_respected():
    alignments = sample(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.paf").write_text("before")
        (folder / "a.paf").chmod(0o444)
        folder.chmod(0o777)
        with ordinary_user(), pytest.raises(OutputError, match=r"a\.paf': Permission denied"):
            write(alignments, folder / "a.paf")
        folder.chmod(0o555)
        with ordinary_user(), pytest.raises(OutputError, match=r"b\.paf': Permission denied"):
            write(alignments, folder / "b.paf")
        folder.chmod(0o755)
        assert os.listdir(folder) == ["a.paf"]
        assert (folder / "a.paf").read_text() == "before"


def test_a_failed_rename_leaves_nothing(tmp_path, monkeypatch):
    def fail(source, target):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "replace", fail)
    for name in ("a.paf", "a.tsv.gz", "a.parquet"):
        with pytest.raises(OutputError, match="not permitted"):
            write(sample(1), tmp_path / name)
    assert os.listdir(tmp_path) == []


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def test_permission_bits(tmp_path):
    path = tmp_path / "a.paf"
    with umask(0o027):
        write(sample(1), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o606)  # kept by a new version of the file
    write(sample(1), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o606


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    os.symlink("there/real.paf", tmp_path / "a.paf")
    for _ in range(2):  # dangling, then not
        write(sample(1), tmp_path / "a.paf")
        assert (tmp_path / "a.paf").is_symlink()
        assert os.listdir(tmp_path / "there") == ["real.paf"]


def test_a_long_name_is_no_problem(tmp_path):
    name = "é" * 125 + ".paf"  # 254 of 255 bytes
    write(sample(1), tmp_path / name)
    assert os.listdir(tmp_path) == [name]


def test_standard_output_by_descriptor(tmp_path, capfdbinary):
    alignments = sample(1)
    expected = written(alignments, "tsv", tmp_path)
    print("before")
    write(alignments, "-", "tsv")
    print("after")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out.decode() == f"before\n{expected}after\n"


def test_a_reader_that_goes_away(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    def write() -> None:
        with open_output(pipe) as output:
            os.close(reader)
            output.write(bytes(1000))

    with pytest.raises(BrokenPipeError) as caught:
        write()
    assert isinstance(caught.value, OutputError)
    assert caught.value.errno == errno.EPIPE


def test_an_output_of_its_own(tmp_path):
    """`open_output` serves formats that are not alignments: trees, distances."""
    with open_output(tmp_path / "a.nwk") as output:
        assert output.write(b"(a,") == 3
        output.write(memoryview(np.frombuffer(b"b);", np.uint8)))
    assert (tmp_path / "a.nwk").read_bytes() == b"(a,b);"
    with open_output(tmp_path / "b.nwk.gz", threads=2) as output:
        output.write(bytes(3 << 20))
    assert gzip.decompress((tmp_path / "b.nwk.gz").read_bytes()) == bytes(3 << 20)
