"""The documentation: a beginner's commands run and print what is shown; names and links hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import TIMEOUT_SECONDS

import pairalign

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(page: str) -> Iterator[tuple[list[str], str | None]]:
    """Yield the programs of a page, in order, each with the output that is shown (None: any)."""
    for kind, text in BLOCK.findall((DOCS / page).read_text()):
        if kind == "python":
            yield [sys.executable, "-c", text], None
            continue
        for entry in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            here = re.match(r".*<<'(\w+)'\n.*?^\1\n", entry, re.MULTILINE | re.DOTALL)
            command = here[0] if here else entry.partition("\n")[0]
            yield ["bash", "-euc", command], entry[len(command) :].strip("\n")


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """An environment whose `pairalign` is the package that is tested."""
    script = tmp_path / "bin" / "pairalign"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pairalign "$@"\n')
    script.chmod(0o755)
    return {**os.environ, "PATH": f"{script.parent}:{os.environ['PATH']}"}


def test_getting_started(tmp_path: Path, program: dict[str, str]) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    ran = 0
    for command, shown in steps("getting-started.md"):
        done = subprocess.run(
            command,
            cwd=folder,
            env=program,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        if shown is not None:
            assert done.stdout.split() == shown.split(), command
        ran += 1
    assert ran >= 10
    for name in ("globins.srspair", "globins.phy", "graph.gfa"):
        assert (folder / name).stat().st_size > 0


def test_the_reference_has_every_public_name() -> None:
    page = (DOCS / "api.md").read_text()
    documented = {
        name.rpartition(".")[2] for name in re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    }
    errors = {name for name in pairalign.__all__ if name.endswith("Error")}
    assert "errors" in documented
    named = set(re.findall(r"`(?:pairalign\.)?(\w+)`", page))
    assert set(pairalign.__all__) - errors <= documented | named


@pytest.mark.parametrize(
    "page", [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_every_page_is_in_the_menu() -> None:
    menu = set(re.findall(r"(\S+\.md)$", (DOCS.parent / "mkdocs.yml").read_text(), re.MULTILINE))
    assert menu == {page.name for page in DOCS.glob("*.md")}


def test_the_readme_is_short() -> None:
    assert (DOCS.parent / "README.md").read_text().count("\n") < 150
