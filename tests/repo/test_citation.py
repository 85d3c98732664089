"""How to cite pairalign: the file for programs, ``--cite`` and the README agree."""

import re
from pathlib import Path

import pytest
from commands import run

from pairalign.cli.cite import PAPERS
from pairalign.engines.kernels import kernel_names

ROOT = Path(__file__).parents[2]
CITATION = (ROOT / "CITATION.cff").read_text()
PAPER_TITLES = re.findall(r"^  - type: .*\n    title: (.*)$", CITATION, re.MULTILINE)


def words(text: str) -> str:
    """Letters and digits in lower case: line ends and stops differ."""
    return " ".join(re.findall(r"\w+", text.lower()))


def test_the_command_prints_every_paper(tmp_path):
    done = run("--cite", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    printed = words(done.stdout.decode())
    assert len(PAPER_TITLES) == len(PAPERS) == 5
    for title in PAPER_TITLES:
        assert words(title) in printed


@pytest.mark.parametrize("title", PAPER_TITLES)
def test_the_file_says_what_the_command_says(title):
    """Authors in order, year and DOI."""
    entry = next(text for text in CITATION.split("  - type: ") if f"title: {title}\n" in text)
    (paper,) = (paper for paper in PAPERS if words(title) in words(paper.reference))
    families = re.findall(r"family-names: ([^,}]*)", entry)
    before_title = paper.reference[: paper.reference.lower().index(title.lower()[:20])]
    cited = [name.rpartition(" ")[0].strip() for name in before_title.rstrip(". ").split(",")]
    assert cited == families
    for key in ("year", "doi"):
        for value in re.findall(rf"^    {key}: (\S+)$", entry, re.MULTILINE):
            assert value in paper.reference


def test_the_readme_says_how_to_cite():
    assert "`pairalign --cite`" in (ROOT / "README.md").read_text()


def test_the_papers_name_kernels_that_exist():
    named = {name for paper in PAPERS for name in re.findall(r"'([\w-]+)'", paper.used_for)}
    assert named <= set(kernel_names())
