"""Which command lines start the CUDA driver before the program is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from pairalign.cli import early_start


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Pretend that there is a GPU; holds the devices of every start of its driver."""
    found: list[str] = []
    monkeypatch.setattr(early_start, "_DEVICE_FILE", tmp_path)
    monkeypatch.setattr(early_start, "_start_driver", found.append)
    (tmp_path / "small.fa").write_text(">a\nACGT\n")
    (tmp_path / "large.fa").write_text(">a\n" + "ACGT" * 100_000)
    monkeypatch.chdir(tmp_path)
    return found


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("align small.fa -o x.paf --device cuda", "cuda"),
        ("align small.fa -o x.paf --device=cuda:0,1", "cuda:0,1"),
        ("align small.fa -o x.paf", ""),
        ("align large.fa -o x.paf", "auto"),
        ("align large.fa -o x.paf --device auto", "auto"),
        ("align large.fa -o x.paf --device cpu", ""),
        ("align large.fa -o x.paf --device opencl", ""),
        ("align large.fa -o x.paf --device cuda --device cpu", ""),
        ("align large.fa -o x.paf --device cuda --cluster local:2", ""),
        ("align large.fa --device cuda --help", ""),
        ("merge large.fa --device cuda", ""),
        ("verify large.paf large.fa", ""),
        ("", ""),
    ],
)
def test_a_run_on_a_gpu_starts_its_driver(started: list[str], command: str, expected: str) -> None:
    thread = early_start.start_early(command.split())
    if thread is not None:
        thread.join()
    assert started == expected.split()


def test_no_driver_is_started_where_there_is_no_gpu(
    started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_start, "_DEVICE_FILE", Path("no such file"))
    assert early_start.start_early(["align", "x.fa", "--device", "cuda"]) is None


def test_a_missing_driver_is_left_to_the_engines_to_report() -> None:
    early_start._start_driver("cuda")


@pytest.mark.parametrize(
    ("device", "expected"),
    [("cuda", [0, 1, 2]), ("cuda:1", [1]), ("cuda:0,2,7,x", [0, 2]), ("auto", [0, 1, 2])],
)
def test_the_devices_that_a_run_uses_are_started(device: str, expected: list[int]) -> None:
    assert early_start._indices(device, 3) == expected
