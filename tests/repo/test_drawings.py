"""Pictures of the pages: drawings of kernels and plots are what the scripts make."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

import benchmark
import draw_kernels
from bench.report import Row, as_json

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = DOCS / "images"


def words_of(path: Path) -> list[str]:
    """What a drawing says; shapes and fonts may differ with the version of matplotlib."""
    return re.findall(r"<text[^>]*>(.*?)</text>", path.read_text(), re.DOTALL)


def test_drawings_are_those_of_the_script(tmp_path: Path) -> None:
    draw_kernels.main(["-o", str(tmp_path)])
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in IMAGES.glob("kernel-*.svg"))
    for name in made:
        assert words_of(tmp_path / name) == words_of(IMAGES / name), name
        assert len(words_of(IMAGES / name)) > 4


def test_every_kernel_of_a_gpu_is_drawn() -> None:
    from pairalign.engines.cuda.engine import FAMILIES

    drawn = {name.removeprefix("kernel-") for name in draw_kernels.DRAWINGS}
    assert set(FAMILIES) <= drawn


def test_plots_are_those_of_the_saved_figures(tmp_path: Path) -> None:
    benchmark.main(["draw", str(DOCS / "measured"), "-o", str(tmp_path)])
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in IMAGES.glob("measured-*.svg"))
    for name in made:
        assert words_of(tmp_path / name) == words_of(IMAGES / name), name


def test_plots_have_what_was_measured(tmp_path: Path) -> None:
    runs = [
        {"mean_length": size, "sequences": size, "mode": mode, "detail": detail}
        | {"gcells": 10.0, "seconds": [1.0, 0.5, 2.0]}
        for size in (16, 256)
        for mode in ("global", "local")
        for detail in ("CIGAR", "SCORE")
    ]
    saved = json.dumps({"machine": "a made-up GPU", "runs": runs})
    for table in ("lengths", "small"):
        (tmp_path / f"gpu-packed-{table}.json").write_text(saved)
    row = Row("local, scores only, one thread", "12.5 GCUPS", "peer", "1,003.25 GCUPS", "1")
    (tmp_path / "cpu.json").write_text(as_json([row], ["a made-up CPU"]))
    benchmark.main(["draw", str(tmp_path), "-o", str(tmp_path)])
    said = {path.stem: " ".join(words_of(path)) for path in tmp_path.glob("*.svg")}
    assert "a made-up GPU" in said["measured-gpu-lengths"]
    assert "local, scores only" in said["measured-gpu-lengths"]
    assert "Blazewicz" in said["measured-gpu-small"]
    for part in ("12.5", "1003.25", "peer", "pairalign", "a made-up CPU"):
        assert part in said["measured-cpu"]


def test_every_picture_is_on_a_page() -> None:
    shown = set()
    for page in DOCS.glob("*.md"):
        shown |= set(re.findall(r"\]\(images/([^)]*)\)", page.read_text()))
    assert shown == {path.name for path in IMAGES.iterdir()}
