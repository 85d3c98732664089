"""The tasks of docs/api.md run as they stand there, and are short."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
TASKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "api.md").read_text(), re.DOTALL)
MOST_LINES = 8


WORDS = ("matrix(", "max_hits=", "tree(", "stream(", "to_biotite(")


def test_there_are_three_a_stream_and_objects() -> None:
    for word, text in zip(WORDS, TASKS, strict=True):
        assert word in text
        assert len([line for line in text.splitlines() if line.strip()]) <= MOST_LINES


@pytest.mark.parametrize("text", TASKS)
def test_a_task_runs(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if "to_biotite(" in text:
        pytest.importorskip("skbio"), pytest.importorskip("biotite")
    for name in ("proteins.fasta", "family.fasta"):
        shutil.copy(ROOT / "tests" / "data" / "globins.fasta", tmp_path / name)
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "cytochrome_p450.fasta", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(text, names)
    said = capsys.readouterr().out
    if "matrix(" in text:
        scores = names["scores"]
        assert scores.shape == (12, 12)
        assert np.array_equal(scores, scores.T)
        assert (np.diag(scores) >= scores.max(axis=1)).all()
    elif "max_hits=" in text:
        assert len(names["hits"]) == 36
        assert (tmp_path / "hits.paf").read_text().count("\n") == 36
        assert "HBG1" in said
    elif "tree(" in text:
        assert (tmp_path / "proteins.nwk").read_text().count(",") == 11
    elif "to_biotite(" in text:
        assert "identities" in said
    else:
        assert "pairs" in said
