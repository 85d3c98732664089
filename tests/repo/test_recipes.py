"""Recipes name the version, the requirements and options that exist."""

from __future__ import annotations

import configparser
import gzip
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from commands import PROTEINS, TIMEOUT_SECONDS, fasta

from pairalign.cli.program import build_parser

ROOT = Path(__file__).parents[2]
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


# ---------------------------------------------------------------------------------------------
# What a workflow system would do with a recipe, as far as that goes without it


@pytest.fixture
def work(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder of a task, and an environment whose `pairalign` is the package that is tested."""
    program = tmp_path / "bin" / "pairalign"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pairalign "$@"\n')
    program.chmod(0o755)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "proteins.fa").write_text(fasta(PROTEINS))
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return folder, {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def run_script(text: str, work: tuple[Path, dict[str, str]]) -> None:
    folder, environment = work
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", ["script", "stub"])
def test_the_nextflow_module_makes_its_outputs(
    block: str, work: tuple[Path, dict[str, str]]
) -> None:
    """Its shell text, with the values that Nextflow puts in."""
    text = (RECIPES / "nf-core/pairalign/align/main.nf").read_text()
    found = re.search(rf'    {block}:.*?"""\n(.*?)"""', text, re.DOTALL)
    assert found is not None
    values = {
        "$fasta": "proteins.fa", "${prefix}": "sample", "${format}": "tsv", "$format": "tsv",
        "$task.cpus": "1", "$args": "--mode local", "${task.process}": "ALIGN", "\\$": "$",
    }  # fmt: skip
    script = "\n".join(line.removeprefix("    ") for line in found[1].splitlines())
    for name, value in values.items():
        script = script.replace(name, value)
    run_script(script, work)
    outputs = re.findall(r'path\("(.*?)"\)|path "(.*?)"', text.partition("output:")[2])
    names = [(one or other).replace("${prefix}", "sample") for one, other in outputs]
    assert [name.replace("${format}", "tsv") for name in names] == ["sample.tsv.gz", "versions.yml"]
    version = config()["metadata"]["version"]
    expected = f'"ALIGN":\n    pairalign: {version}\n'
    assert (work[0] / "versions.yml").read_text() == expected
    with gzip.open(work[0] / "sample.tsv.gz", "rt") as file:
        assert file.read().startswith("query\ttarget\tscore" if block == "script" else "\n")


@pytest.mark.slow
def test_the_nextflow_module_is_groovy() -> None:
    parser = pytest.importorskip("groovy_parser.parser")
    text = (RECIPES / "nf-core/pairalign/align/main.nf").read_text()
    assert parser.parse_groovy_content(text).data == "compilation_unit"


def test_the_galaxy_tool_makes_its_output(work: tuple[Path, dict[str, str]]) -> None:
    tool = ElementTree.parse(RECIPES / "galaxy/pairalign_align.xml").getroot()
    command = tool.findtext("command")
    assert command is not None
    for value in tool.findall(".//param[@name='format']/option"):
        script = command.replace("$input", str(work[0] / "proteins.fa")).replace("\\$", "$")
        script = script.replace("$format", value.attrib["value"]).replace("$mode", "global")
        run_script("rm -f input.fasta;" + " ".join(script.split()), work)
        assert (work[0] / "output").stat().st_size > 0


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.cuda"])
def test_dockerfiles_are_linted(name: str) -> None:
    hadolint = shutil.which("hadolint", path=os.path.dirname(sys.executable))
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, RECIPES / "docker" / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_conda_recipe_is_complete() -> None:
    """Rendered as conda-build does it; what Bioconda's lint asks for, less what a release has."""
    jinja2 = pytest.importorskip("jinja2")
    yaml = pytest.importorskip("yaml")
    lines = (RECIPES / "conda/meta.yaml").read_text().splitlines()
    text = "\n".join(re.sub(r"\s+# \[.*", "", line) for line in lines)
    given = {"PYTHON": "python", "compiler": lambda name: f"{name}-compiler"}
    given["pin_subpackage"] = lambda name, max_pin: f"{name} {max_pin}"
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    recipe: dict[str, Any] = yaml.safe_load(environment.from_string(text).render(**given))
    known = {"package", "source", "build", "requirements", "test", "about", "extra"}
    assert set(recipe) == known
    assert recipe["package"]["name"] == "pairalign"
    assert {"number", "script", "run_exports"} <= set(recipe["build"])
    assert recipe["requirements"]["build"] == ["cxx-compiler"]
    assert recipe["test"]["imports"]
    assert recipe["test"]["commands"]
    assert {"license", "license_file", "summary"} <= set(recipe["about"])
    assert all((ROOT / one).exists() for one in recipe["about"]["license_file"])
