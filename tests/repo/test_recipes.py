"""Recipes name the version, the requirements and options that exist."""

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

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "recipes"
MODULES = {"align": "--mode local", "msa": "", "guidetree": "", "cluster": "--min-identity 0.5"}
"""Modules of nf-core, and what `ext.args` gives them here."""


def module_text(module: str) -> str:
    return (RECIPES / f"nf-core/pairalign/{module}/main.nf").read_text()


def config() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def test_recipes_name_the_version():
    version = config()["metadata"]["version"]
    assert tokens_of_galaxy()["@TOOL_VERSION@"] == version
    assert f'set version = "{version}"' in (RECIPES / "conda/meta.yaml").read_text()
    for module in MODULES:
        environment = RECIPES / f"nf-core/pairalign/{module}/environment.yml"
        assert f'"bioconda::pairalign={version}"\n' in environment.read_text()
        assert f"pairalign:{version}" in module_text(module)
    wrapper = (RECIPES / "snakemake/wrapper/environment.yaml").read_text()
    assert f"- pairalign ={version}\n" in wrapper


def test_the_conda_recipe_has_the_requirements():
    recipe = (RECIPES / "conda/meta.yaml").read_text()
    run = re.search(r"^  run:\n((?:    - .*\n)*)", recipe, re.MULTILINE)
    python, *needed = re.findall(r"- (\w+) ?(\S*)", run[1])
    assert python == ("python", "")  # Bioconda's channels say which
    required = config()["options"]["install_requires"].split()
    assert [name + bound for name, bound in needed] == required


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


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("block", ["script", "stub"])
def test_a_nextflow_module_makes_its_outputs(module, block, work):
    """Its shell text, with the values that Nextflow puts in."""
    text = module_text(module)
    found = re.search(rf'    {block}:.*?"""\n(.*?)"""', text, re.DOTALL)
    values = {
        "$fasta": "proteins.fa", "${prefix}": "sample", "${format}": "tsv", "$format": "tsv",
        "$task.cpus": "1", "$args": MODULES[module], "$guide": "", "\\\\": "\\",
    }  # fmt: skip
    script = "\n".join(line.removeprefix("    ") for line in found[1].splitlines())
    for name, value in values.items():
        script = script.replace(name, value)
    run_script(script, work)
    outputs = text.partition("output:")[2]
    for name in re.findall(r'path\("(.*?)"\)', outputs):
        path = work[0] / name.replace("${prefix}", "sample").replace("${format}", "tsv")
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert bool(data.strip()) == (block == "script")
    version = re.search(r'eval\("(.*?)"\), topic: versions', outputs)
    run_script(f"{version[1]} > version", work)
    assert (work[0] / "version").read_text() == config()["metadata"]["version"] + "\n"


@pytest.mark.parametrize("module", MODULES)
def test_a_nextflow_module_describes_itself(module):
    """Each input and output of the process is described under the name that it has there."""
    yaml = pytest.importorskip("yaml")
    text = module_text(module)
    described = yaml.safe_load((RECIPES / f"nf-core/pairalign/{module}/meta.yml").read_text())
    inputs, outputs = text.partition("    input:")[2].partition("    when:")[0].split("    output:")
    named = [next(iter(one)) for row in described["input"] for one in flat(row)]
    assert named == re.findall(r"(?:val|path)[ (](\w+)", inputs)
    assert list(described["output"]) == re.findall(r"emit: (\w+)", outputs)
    for name, path in re.findall(r'path\("(.*?)"\).*emit: (\w+)', outputs):
        assert name in described["output"][path][0][1]


def flat(row: Any) -> list[Any]:
    return row if isinstance(row, list) else [row]


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_a_nextflow_module_is_groovy(module):
    parser = pytest.importorskip("groovy_parser.parser")
    assert parser.parse_groovy_content(module_text(module)).data == "compilation_unit"


GALAXY = RECIPES / "galaxy"


def tokens_of_galaxy() -> dict[str, str]:
    macros = ElementTree.parse(GALAXY / "macros.xml").getroot()
    return {one.attrib["name"]: one.text or "" for one in macros.iter("token")}


def inputs_of_galaxy(tool: ElementTree.Element) -> dict[str, str]:
    """The values that a tool has where a user chooses none."""
    macros = {
        one.attrib["name"]: one for one in ElementTree.parse(GALAXY / "macros.xml").iter("xml")
    }
    inputs = tool.find("inputs")
    uses = [macros[one.attrib["macro"]] for one in inputs.iter("expand")]
    given = {}
    for one in [param for place in (inputs, *uses) for param in place.iter("param")]:
        name = one.get("name") or one.attrib["argument"].lstrip("-").replace("-", "_")
        chosen = one.find("option[@selected='true']")
        given[name] = one.get("value", "") if chosen is None else chosen.attrib["value"]
    return given


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(GALAXY.glob("pairalign_*.xml")), ids=lambda one: one.stem)
def test_a_galaxy_tool_passes_its_tests(path, work):
    """Its command, filled in by Galaxy's template engine, makes what its own tests expect."""
    template = pytest.importorskip("Cheetah.Template").Template
    tool = ElementTree.parse(path).getroot()
    command = tool.findtext("command") or ""
    for _ in range(2):  # tokens in tokens
        for token, text in tokens_of_galaxy().items():
            command = command.replace(token, text)
    for test in tool.findall("tests/test"):
        values = inputs_of_galaxy(tool)
        for param in test.findall("param"):
            assert param.attrib["name"] in values
            values[param.attrib["name"]] = param.attrib["value"]
        values["input"] = str(GALAXY / "test-data" / values["input"])
        script = str(template(command, searchList=[values]))
        run_script("rm -f sequences.fasta;" + " ".join(script.split()), work)
        places = {one.attrib["name"]: one.attrib["from_work_dir"] for one in tool.iter("data")}
        for output in test.findall("output"):
            text = (work[0] / places[output.attrib["name"]]).read_text()
            for asked in output.iter("has_text"):
                assert asked.attrib["text"] in text
            for asked in output.iter("has_n_lines"):
                assert text.count("\n") == int(asked.attrib["n"])


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.cuda"])
def test_dockerfiles_are_linted(name):
    hadolint = shutil.which("hadolint", path=os.path.dirname(sys.executable))
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, RECIPES / "docker" / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_conda_recipe_is_complete(work):
    """Rendered as conda-build does it; what Bioconda's lint asks for; its test passes."""
    jinja2 = pytest.importorskip("jinja2")
    yaml = pytest.importorskip("yaml")
    lines = (RECIPES / "conda/meta.yaml").read_text().splitlines()
    text = "\n".join(re.sub(r"\s+# \[.*", "", line) for line in lines)
    given: dict[str, Any] = {"PYTHON": "python"}
    given["compiler"] = lambda name: f"compiler_{name}"
    given["stdlib"] = lambda name: f"stdlib_{name}"
    given["pin_subpackage"] = lambda name, max_pin: f"{name} {max_pin}"
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    recipe: dict[str, Any] = yaml.safe_load(environment.from_string(text).render(**given))
    known = {"package", "source", "build", "requirements", "test", "about", "extra"}
    assert set(recipe) == known
    assert recipe["package"]["name"] == "pairalign"
    assert set(recipe["source"]) == {"url", "sha256"}  # no path, no repository
    assert recipe["source"]["url"].endswith(f"/pairalign-{recipe['package']['version']}.tar.gz")
    assert re.fullmatch(r"[0-9a-f]{64}", str(recipe["source"]["sha256"]))
    assert {"number", "script", "run_exports"} <= set(recipe["build"])
    assert recipe["requirements"]["build"] == ["compiler_cxx", "stdlib_c", "ninja"]
    assert "setuptools" not in str(recipe["requirements"]["run"])
    assert recipe["extra"]["recipe-maintainers"]
    assert recipe["test"]["imports"]
    folder, variables = work
    for command in recipe["test"]["commands"]:
        subprocess.run(command, shell=True, cwd=folder, env=variables, check=True)
    assert any("pairalign align" in command for command in recipe["test"]["commands"])
    assert {"home", "license", "license_file", "summary"} <= set(recipe["about"])
    assert all((ROOT / one).exists() for one in recipe["about"]["license_file"])
