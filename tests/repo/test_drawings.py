"""Pictures of the pages: drawings of kernels are what the scripts make."""

import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

import draw_kernels

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = DOCS / "images"


def words_of(path: Path) -> list[str]:
    """What a drawing says; shapes and fonts may differ with the version of matplotlib."""
    return re.findall(r"<text[^>]*>(.*?)</text>", path.read_text(), re.DOTALL)


def test_drawings_are_those_of_the_script(tmp_path):
    draw_kernels.main(["-o", str(tmp_path)])
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in IMAGES.glob("kernel-*.svg"))
    for name in made:
        assert words_of(tmp_path / name) == words_of(IMAGES / name), name
        assert len(words_of(IMAGES / name)) > 4


def test_every_kernel_of_a_gpu_is_drawn():
    from pairalign.engines.cuda.cuda_engine import FAMILIES

    drawn = {name.removeprefix("kernel-") for name in draw_kernels.DRAWINGS}
    assert set(FAMILIES) <= drawn


def test_every_picture_is_on_a_page():
    shown = set()
    for page in DOCS.glob("*.md"):
        shown |= set(re.findall(r"\]\(images/([^)]*)\)", page.read_text()))
    assert shown == {path.name for path in IMAGES.iterdir()}
