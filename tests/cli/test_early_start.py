"""Which commands start the CUDA driver before engines are loaded."""

from pathlib import Path
from typing import Any

import pytest

from pairalign.base.declaration import make
from pairalign.cli import early_start
from pairalign.cli.program import build_parser


def request_of(command: str) -> Any:
    options = build_parser().parse_args(command.split())
    return make(options.request, vars(options))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, here: Path) -> list[str]:
    """Pretend that there is a GPU; holds the devices of every start.

    With a * for much input, and a ! where kernels of posteriors are compiled.
    """
    found: list[str] = []

    def start(device: str, is_small: bool, posteriors: bool) -> None:
        found.append(device + "*" * (not is_small) + "!" * posteriors)

    monkeypatch.setattr(early_start, "_DEVICE_FILE", here)
    monkeypatch.setattr(early_start, "_start_driver", start)
    (here / "small.fa").write_text(">a\nACGT\n")
    (here / "large.fa").write_text(">a\n" + "ACGT" * 100_000)
    (here / "huge.fa").write_text(">a\n" + "ACGT" * 500_000)
    (here / "packed.fa.gz").write_bytes(bytes(500_000))  # no more is known of it
    return found


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("align small.fa -o x.paf --device cuda", "cuda"),
        ("align small.fa -o x.paf --device=cuda:0,1", "cuda:0,1"),
        ("align small.fa -o x.paf", ""),
        ("align large.fa -o x.paf", "auto"),
        ("align large.fa -o x.paf --device auto", "auto"),
        ("align huge.fa -o x.paf", "auto*"),
        ("align small.fa huge.fa -o x.paf --device cuda", "cuda*"),
        ("align packed.fa.gz -o x.paf", "auto*"),
        ("align large.fa -o x.paf --device cpu", ""),
        ("align large.fa -o x.paf --device opencl", ""),
        ("align large.fa -o x.paf --device cuda --device cpu", ""),
        ("align large.fa -o x.paf --device cuda --dask tcp://x:1", ""),
        ("merge large.fa -o x.paf", ""),
        ("verify large.fa large.fa", ""),
        ("verify large.fa large.fa --optimal", "auto"),
        ("msa small.fa large.fa -o x", "auto!"),
        ("posterior huge.fa -o x.npz --device cuda", "cuda*!"),
    ],
)
def test_a_run_on_a_gpu_starts_its_driver(started, command, expected):
    thread = early_start.start_early(request_of(command))
    if thread is not None:
        thread.join()
    assert started == expected.split()


def test_no_driver_is_started_where_there_is_no_gpu(started, monkeypatch):
    monkeypatch.setattr(early_start, "_DEVICE_FILE", Path("no such file"))
    assert early_start.start_early(request_of("align x.fa --device cuda")) is None
