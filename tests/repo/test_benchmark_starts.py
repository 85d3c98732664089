"""`scripts/benchmark.py`: its commands are there, and `posterior` compares bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import benchmark
import pytest
from bench import posterior
from bench.msa_score import read_alignment, score
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


def test_simulated_families_have_their_true_alignments(tmp_path: Path) -> None:
    folder = tmp_path / "families"
    options = benchmark.parse(
        f"msa-families --out {folder} --sequences 12 --families 2 --length 40".split()
    )
    options.run(options)
    texts = []
    for name in ("SIM12_0", "SIM12_1"):
        reference = read_alignment(folder / "ref" / name)
        given = read_alignment(folder / "in" / name)
        assert {key: row.replace("-", "") for key, row in reference.items()} == given
        assert len({len(row) for row in reference.values()}) == 1
        assert all(set(column) != {"-"} for column in zip(*reference.values(), strict=True))
        assert score(reference, reference).pairs == 1.0
        texts.append(given)
    assert texts[0] != texts[1]
    made = (folder / "in" / "SIM12_0").read_bytes()
    options.out = tmp_path / "again"
    options.run(options)
    assert (options.out / "in" / "SIM12_0").read_bytes() == made
