"""`scripts/benchmark.py`: its commands are there, and `posterior` compares bytes."""

from __future__ import annotations

from typing import Any

import benchmark
import pytest
from bench import posterior
from cuda_engines import host_device

from pairalign.engines.cuda import selection


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        benchmark.parse(["--help"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("verify", "msa", "posterior", "host", "trees"))


def test_posteriors_of_a_gpu_are_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    device: Any = host_device()
    monkeypatch.setattr(selection, "usable_devices", lambda: [device])
    monkeypatch.setattr(posterior, "SETS", ((6, 30, 0.6),))
    options = benchmark.parse(["posterior", "--device", "cuda", "--repeat", "1", "--threads", "1"])
    options.run(options)
    row = capsys.readouterr().out.splitlines()[-1].split("|")
    assert row[5].strip() == "yes"
