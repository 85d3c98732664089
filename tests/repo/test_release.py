"""What a release needs: one version everywhere, and the places that wait for the owner's names."""

import configparser
import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def config() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def test_metadata_agree():
    """In setup.cfg, CITATION.cff and codemeta.json, which indexes read, and the changelog."""
    metadata = config()["metadata"]
    code = json.loads((ROOT / "codemeta.json").read_text())
    citation = (ROOT / "CITATION.cff").read_text()
    assert code["version"] == metadata["version"]
    assert f"\nversion: {metadata['version']}\n" in citation
    assert code["description"] == metadata["description"]
    licences = metadata["license_expression"].split(" AND ")
    assert [url.rpartition("/")[2] for url in code["license"]] == licences
    assert f"\nlicense: [{', '.join(licences)}]" in citation
    assert f"\nrepository-code: {code['codeRepository']}\n" in citation
    assert f"Source = {code['codeRepository']}\n" in metadata["project_urls"] + "\n"
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest[1] == metadata["version"]


def test_places_of_the_owners_names_are_listed():
    command = ["git", "grep", "--untracked", "-lwE", "OWNER|owner@example.org"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode > 1:
        pytest.skip("not a working copy of git")
    _, _, text = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## A release")
    listed = re.search(r"`OWNER`.*?\bin\n(.*?)\.\s", text, re.DOTALL)
    assert listed
    elsewhere = {"CONTRIBUTING.md", Path(__file__).relative_to(ROOT).as_posix()}
    assert set(done.stdout.split()) - elsewhere == set(re.findall(r"`(.*?)`", listed[1]))


def test_the_papers_citations_are_there():
    cited = set(re.findall(r"@(\w+\d{4})", (ROOT / "paper.md").read_text()))
    keys = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text(), re.MULTILINE)
    assert sorted(keys) == sorted(cited)
