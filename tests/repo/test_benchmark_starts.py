"""`scripts/benchmark.py`: its commands are there, and whole commands and bytes are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import benchmark
import pytest
from bench import commands, posterior
from bench.msa_score import read_alignment, score
from cuda_engines import host_device

from pairalign.engines.cuda import selection


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        benchmark.parse(["--help"])
    shown = capsys.readouterr().out
    assert all(
        name in shown
        for name in ("verify", "msa", "msa-outliers", "posterior", "commands", "trees")
    )


def test_whole_commands_run_beside_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What both find is counted, a goal is judged, and a program that is not there left out."""
    question = commands.Question(
        "",
        "align in.fa -o out.tsv --min-identity 0.8 {more}",
        {"awk": "awk 'NR == 2 {print $1}' FS='[ \\t]' in.fa > other", "no_such": "no_such in.fa"},
        {"": "tail -n +2 out.tsv | cut -f 1", "awk": "tail -n +2 out.tsv | cut -f 1 | head -n 1"},
        sequences=6,
        before="cp in.fa out.tsv",
        cpu_goal=("awk", 0.001),
    )
    monkeypatch.setitem(commands.QUESTIONS, "made up", question)
    options = benchmark.parse(["commands", "--only", "made up", "--repeat", "2"])
    rows, _ = options.run(options)
    assert [row.other for row in rows] == ["", "awk"]
    assert (rows[1].goal, rows[1].met) == ("<= 0.001", False)
    assert "1 found" in rows[1].theirs


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
