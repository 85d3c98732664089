"""What is left of an output where closing or writing fails: nothing."""

import errno
import os
import resource
from pathlib import Path

import pytest

import pairalign
from pairalign.base.part_file import PartFile
from pairalign.base.run_files import is_hidden_name
from pairalign.errors import OutputError
from pairalign.formats import npz, output
from pairalign.formats.output import FileOutput, check_writable


@pytest.fixture
def failing_close(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Descriptors of hidden files are closed with an error, as those of NFS may be."""
    real = os.close

    def close(descriptor: int) -> None:
        name = os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)
        if is_hidden_name(name.removesuffix(" (deleted)")):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "close", close)


def test_a_check_leaves_nothing(failing_close):
    with pytest.raises(OutputError, match="Input/output error"):
        check_writable("x.paf")
    assert os.listdir() == []


def test_what_only_holds_a_file_may_fail(failing_close):
    """Its bytes were written by another descriptor, whose closing has succeeded."""
    part = PartFile(os.path.abspath("x.paf"), None)
    os.write(part.descriptor, b"complete")
    os.closerange(part.descriptor, part.descriptor + 1)
    part.publish()
    assert os.listdir() == ["x.paf"]


@pytest.mark.parametrize("name", ["x.parquet", "x.npz", "x.tsv", "x.tc_lib"])
def test_a_full_disk(name, tmp_path, monkeypatch):
    posteriors = pairalign.posterior(["MKVLAAGG", "MKVAAGG"], device="cpu")

    def write(self: FileOutput, data: bytes) -> int:
        raise output.output_error(self.path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    monkeypatch.setattr(FileOutput, "write", write)
    with pytest.raises(OutputError, match="No space left on device"):
        posteriors.write(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_no_room_for_the_last_values_that_wait(tmp_path, monkeypatch):
    """They are in the file object yet, and closing that fails as well."""
    monkeypatch.setattr(npz, "_IN_MEMORY", 1)
    posteriors = pairalign.posterior(["MKVLAAGG", "MKVAAGG"], device="cpu")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"cannot write .*: File too large"):
            posteriors.write(tmp_path / "x.npz")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == []
