"""Recipes name the version, the requirements and options that exist."""

from __future__ import annotations

import configparser
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from pairalign.cli.program import build_parser

ROOT = Path(__file__).parent.parent
RECIPES = ROOT / "recipes"


def config() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def test_recipes_name_the_version() -> None:
    version = config()["metadata"]["version"]
    tool = ElementTree.parse(RECIPES / "galaxy/pairalign_align.xml").getroot()
    assert tool.attrib["version"].partition("+")[0] == version
    assert [needed.attrib["version"] for needed in tool.iter("requirement")] == [version]
    assert f'version = "{version}"' in (RECIPES / "conda/meta.yaml").read_text()
    environment = RECIPES / "nf-core/pairalign/align/environment.yml"
    assert f"pairalign={version}\n" in environment.read_text()


def test_the_conda_recipe_has_the_requirements() -> None:
    recipe = (RECIPES / "conda/meta.yaml").read_text()
    run = re.search(r"^  run:\n((?:    - .*\n)*)", recipe, re.MULTILINE)
    assert run is not None
    needed = re.findall(r"- (\w+) (\S+)", run[1])
    required = config()["options"]["install_requires"].split()
    assert [name + bound for name, bound in needed if name != "python"] == required


def test_commands_of_recipes_are_understood() -> None:
    """With the values that workflow systems put in."""
    for path in ("galaxy/pairalign_align.xml", "nf-core/pairalign/align/main.nf"):
        text = (RECIPES / path).read_text()
        command = re.search(r"pairalign (align .*?)(?:\$args|\]\])", text, re.DOTALL)
        assert command is not None
        words = command[1].replace('"\\${GALAXY_SLOTS:-1}"', "1").replace("$task.cpus", "1")
        words = (
            words.replace("'$format'", "tsv").replace("$format", "tsv").replace("$mode", "local")
        )
        build_parser().parse_args(words.replace("'", "").split())
