"""The documentation: a beginner's commands run and print what is shown; names and links hold."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import site_pages
from commands import TIMEOUT_SECONDS

import pairalign
from pairalign.cli.main import main
from pairalign.cli.program import COMMANDS, build_parser

DOCS = Path(__file__).parents[2] / "docs"
MADE = set(site_pages.PAGES)
"""Pages that are made when the site is built."""


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """An environment whose `pairalign` is the package that is tested."""
    script = tmp_path / "bin" / "pairalign"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pairalign "$@"\n')
    script.chmod(0o755)
    return {**os.environ, "PATH": f"{script.parent}:{os.environ['PATH']}"}


def test_getting_started(tmp_path, program):
    folder = tmp_path / "work"
    folder.mkdir()
    run_page(DOCS / "getting-started.md", folder, program)
    for name in ("globins.srspair", "globins.phy", "globins.nwk", "graph.gfa", "globins.html"):
        assert (folder / name).stat().st_size > 0


FAMILY = "MKVLAAGIVGLLLAQWERTYHPNDS", "MKVLAAGIVGLILAQWERTYHPND", "MRVLSAGIVGLLLAWERTYHPQDS"


def write_family(path: Path, first: int = 0, last: int = 3) -> None:
    rows = [f">s{k}\n{FAMILY[k % 3][k // 3 :]}\n" for k in range(first, last)]
    path.write_text("".join(rows))


def test_growing(tmp_path, program):
    """What a page reads is a set and new sequences; all else its commands make."""
    write_family(tmp_path / "proteins.fasta")
    write_family(tmp_path / "new.fasta", 3, 5)
    write_family(tmp_path / "newer.fasta", 5, 6)
    run_page(DOCS / "growing.md", tmp_path, program)


P450 = str(DOCS.parent / "examples" / "cytochrome_p450.fasta")


@pytest.mark.parametrize("page", ["README.md", "docs/alignments.md"])
def test_summaries_are_those_of_a_run(page, tmp_path, capsys):
    """All lines but those of time and of where results went, which differ."""
    block = re.search(
        r"^    sequences  57 .*?\n```$", (DOCS.parent / page).read_text(), re.M | re.S
    )
    assert block
    assert main(["align", P450, "-o", str(tmp_path / "p450.paf")]) == 0
    said = capsys.readouterr().err.splitlines()
    shown = block[0].splitlines()[:-1]
    assert [one for one in shown if "  time  " not in one and "written to" not in one] == [
        one for one in said if one in shown
    ]
    assert len(shown) >= 6


def test_numbers_of_the_example_are_those_of_a_run():
    clusters = pairalign.cluster(P450, min_identity=0.4)
    said = f"The 57 proteins make {len(clusters)} clusters at 40%."
    assert said in (DOCS / "clusters.md").read_text()
    residues = pairalign.read_fasta(P450).total_residues
    assert f"database of {residues:,} residues in 57" in (DOCS / "formats.md").read_text()


@pytest.mark.slow
def test_numbers_of_the_msa_tutorial_are_those_of_its_alignment():
    found = pairalign.msa(P450)
    full = found.occupancy >= 50
    sure = found.column_confidence[full]
    best = int(np.flatnonzero(full)[sure.argmax()]) + 1
    words = " ".join((DOCS / "msa-tutorial.md").read_text().split())
    for said in (
        f"{found.width} columns, of which {full.sum()} have a residue of at least 50 sequences.",
        f"In those the mean confidence is {sure.mean():.2f}.",
        f"The most certain one is column {best}, at {sure.max():.4f},",
        f"In {(sure < 0.8).sum()} of the {full.sum()} columns the confidence is below 0.8.",
    ):
        assert said in words


def run_page(page: Path, folder: Path, program: dict[str, str]) -> None:
    """Run the blocks of a page in a folder; what they print must be what the page shows."""
    done = subprocess.run(
        [sys.executable, DOCS.parent / "scripts" / "run_page.py", page],
        cwd=folder, env=program, capture_output=True, text=True, timeout=5 * TIMEOUT_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "commands and programs run" in done.stdout


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("```console\n$ echo one\ntwo\n```\n", "printed:\none"),
        ("```console\n$ false\n```\n", "ended with 1"),
        ("```python\nraise ValueError('odd')\n```\n", "ValueError: odd"),
    ],
)
def test_pages_that_are_wrong_are_found(block, said, tmp_path):
    (tmp_path / "page.md").write_text(block)
    done = subprocess.run(
        [sys.executable, DOCS.parent / "scripts" / "run_page.py", "page.md"],
        cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
    )  # fmt: skip
    assert done.returncode == 1
    assert said in done.stdout


def test_the_reference_has_every_public_name():
    page = (DOCS / "api.md").read_text()
    documented = {
        name.rpartition(".")[2] for name in re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    }
    errors = {name for name in pairalign.__all__ if name.endswith("Error")}
    assert "errors" in documented
    named = set(re.findall(r"`(?:pairalign\.)?(\w+)`", page))
    assert set(pairalign.__all__) - errors <= documented | named
    homes = re.findall(r"^::: (pairalign\.\w+\.\S+)$", page, re.MULTILINE)
    assert homes == []  # titles are the names that people import


@pytest.mark.parametrize(
    "page", [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name
)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / link).exists() or link in MADE, link


def test_every_page_is_in_the_menu():
    menu = set(re.findall(r": (\S+\.md)$", (DOCS.parent / "mkdocs.yml").read_text(), re.MULTILINE))
    pages = {page.name for page in DOCS.glob("*.md")}
    assert menu == pages | {name for name in MADE if name.endswith(".md")}


def test_the_reference_of_commands_has_every_option():
    page = site_pages.reference()
    for command in COMMANDS:
        assert f"\n## pairalign {command.name}\n" in page
    parser = build_parser()
    (commands,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    for name, command_parser in commands.choices.items():
        section = page.partition(f"\n## pairalign {name}\n")[2].partition("\n## ")[0]
        for action in command_parser._actions:
            if action.help is not argparse.SUPPRESS:
                assert all(f"`{word}`" in section for word in action.option_strings), name
    assert "==SUPPRESS==" not in page


def test_links_of_the_changelog_hold_on_the_site():
    links = re.findall(r"\]\(([^)#:\s]+\.md)", site_pages.changelog())
    assert links
    assert {link for link in links if not (DOCS / link).exists()} == set()


def test_the_readme_is_one_screen():
    text = (DOCS.parent / "README.md").read_text()
    assert text.count("\n") <= 70
    assert len(text.split()) <= 400


def test_pages_of_users_are_short():
    menu = (DOCS.parent / "mkdocs.yml").read_text()
    parts = {
        name: re.findall(r": (\S+\.md)$", text, re.MULTILINE)
        for name, text in re.findall(r"^  - (\w+):\n((?:      - .*\n)+)", menu, re.MULTILINE)
    }
    words = {
        page: len((DOCS / page).read_text().split())
        for page in ["index.md", *parts["Use"], *parts["Jobs"], *parts["Reference"]]
        if page not in MADE
    }
    assert max(words[page] for page in parts["Jobs"]) <= 800
    assert sum(words.values()) <= 14_000


def test_pages_together_are_short():
    """Without measured.md, which has a limit of its own."""
    root = DOCS.parent
    pages = [root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"]
    pages += [page for page in DOCS.glob("*.md") if page.name != "measured.md"]
    words = {page.name: len(page.read_text().split()) for page in pages}
    assert words["architecture.md"] <= 3_000
    assert sum(words.values()) <= 28_000


def test_scripts_are_few():
    files = [path for path in (DOCS.parent / "scripts").rglob("*") if path.is_file()]
    kinds = (".py", ".sh", ".c", ".cpp", ".cu")
    lines = [path.read_text().count("\n") for path in files if path.suffix in kinds]
    assert sum(lines) <= 7_000
