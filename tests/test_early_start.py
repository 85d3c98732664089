"""Which command lines start the CUDA driver before the program is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from pairalign.cli import early_start


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Pretend that there is a GPU; holds a 1 for every start of its driver."""
    found: list[int] = []
    monkeypatch.setattr(early_start, "_DEVICE_FILE", tmp_path)
    monkeypatch.setattr(early_start, "_start_driver", lambda: found.append(1))
    (tmp_path / "small.fa").write_text(">a\nACGT\n")
    (tmp_path / "large.fa").write_text(">a\n" + "ACGT" * 100_000)
    monkeypatch.chdir(tmp_path)
    return found


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("align small.fa -o x.paf --device cuda", True),
        ("align small.fa -o x.paf --device=cuda:0,1", True),
        ("align small.fa -o x.paf", False),
        ("align large.fa -o x.paf", True),
        ("align large.fa -o x.paf --device auto", True),
        ("align large.fa -o x.paf --device cpu", False),
        ("align large.fa -o x.paf --device opencl", False),
        ("align large.fa -o x.paf --device cuda --device cpu", False),
        ("align large.fa -o x.paf --device cuda --cluster local:2", False),
        ("align large.fa --device cuda --help", False),
        ("merge large.fa --device cuda", False),
        ("", False),
    ],
)
def test_a_run_on_a_gpu_starts_its_driver(started: list[int], command: str, expected: bool) -> None:
    thread = early_start.start_early(command.split())
    if thread is not None:
        thread.join()
    assert started == [1] * expected


def test_no_driver_is_started_where_there_is_no_gpu(
    started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_start, "_DEVICE_FILE", Path("no such file"))
    assert early_start.start_early(["align", "x.fa", "--device", "cuda"]) is None


def test_a_missing_driver_is_left_to_the_engines_to_report() -> None:
    early_start._start_driver()
