"""Recipes for Snakemake: that of docs/scale.md, with fewer parts, and those of `recipes`."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import TIMEOUT_SECONDS, write_random_set

from pairalign.cli.main import main
from pairalign.cli.program import build_parser

DOCS = Path(__file__).parents[2] / "docs/scale.md"
PARTS = 12


def find_snakemake() -> str:
    """Where scripts/install_cluster.sh puts it, or on the PATH."""
    found = shutil.which("snakemake", path=f"{sys.prefix}/snakemake/bin:{os.environ['PATH']}")
    if found is None:
        pytest.skip("needs Snakemake (scripts/install_cluster.sh)")
    return found


def read_recipe() -> str:
    found = re.search(r"^Snakemake:\n\n((?:    .*\n)+)", DOCS.read_text(), re.MULTILINE)
    recipe = found[1]
    assert recipe.count("\n") == 14
    assert "    N = 64\n" in recipe
    return re.sub("^    ", "", recipe.replace("N = 64", f"N = {PARTS}"), flags=re.MULTILINE)


def variables_in(folder: Path) -> dict[str, str]:
    """An environment whose `pairalign` is the package that is tested."""
    (folder / "bin").mkdir()
    command = folder / "bin/pairalign"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m pairalign "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(folder / "cache")}


@pytest.mark.slow
def test_snakemake(here):
    program = find_snakemake()
    write_random_set(Path("proteins.fa"), 60, 80)
    Path("Snakefile").write_text(read_recipe())
    variables = variables_in(here)

    def snakemake() -> str:
        done = subprocess.run(
            [program, "--cores", "2"],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=4 * TIMEOUT_SECONDS,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    snakemake()
    assert main(["align", "proteins.fa", "-o", "one.paf.gz", "-q"]) == 0
    assert Path("all.paf.gz").read_bytes() == Path("one.paf.gz").read_bytes()
    assert len(list(Path("parts").glob("part-*-of-12.json"))) == PARTS
    # A part that is lost is made again, and nothing else.
    Path("parts/part-07-of-12.json").unlink()
    Path("parts/part-07-of-12.paf").unlink()
    Path("all.paf.gz").unlink()
    assert re.search(r"^shard +1$", snakemake(), re.MULTILINE)
    assert Path("all.paf.gz").read_bytes() == Path("one.paf.gz").read_bytes()


@pytest.mark.slow
def test_the_snakefile_of_the_recipes_is_planned(here):
    """Planned, with the threads, memory and GPU of each job."""
    program = find_snakemake()
    write_random_set(Path("proteins.fa"), 10, 20)
    recipe = DOCS.parents[1] / "recipes" / "snakemake" / "Snakefile"
    words = ["--snakefile", str(recipe), "--cores", "8", "--resources", "mem_mb=9000", "gpu=1"]
    done = subprocess.run(
        [program, *words, "--config", "shards=3", "gpus=1", "-n", "-p"],
        env={**os.environ, "XDG_CACHE_HOME": str(here / "cache")},
        capture_output=True,
        text=True,
        timeout=4 * TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    commands = re.findall(r"pairalign (align .*)", done.stdout)
    options = [build_parser().parse_args(command.split()) for command in commands]
    assert sorted(one.shard for one in options) == [(1, 3), (2, 3), (3, 3)]
    assert {(one.threads, one.memory, one.device) for one in options} == {(4, 8000 << 20, "cuda")}


@pytest.mark.slow
def test_the_snakefile_of_the_recipes(here):
    program = find_snakemake()
    write_random_set(Path("proteins.fa"), 60, 80)
    recipe = DOCS.parents[1] / "recipes" / "snakemake" / "Snakefile"
    asked = ["shards=6", "threads=1", "mem_mb=500", "options=--min-score 12"]
    words = ["--snakefile", str(recipe), "--cores", "2", "--resources", "mem_mb=9000"]
    done = subprocess.run(
        [program, *words, "--config", *asked],
        env=variables_in(here),
        capture_output=True,
        text=True,
        timeout=4 * TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    one = ["align", "proteins.fa", "-o", "one.paf.zst", "-q", "--min-score", "12"]
    assert main([*one, "--device", "cpu"]) == 0
    assert Path("all.paf.zst").read_bytes() == Path("one.paf.zst").read_bytes()


WRAPPED = """
rule tree:
    input: "proteins.fa"
    output: "one tree.nwk"
    log: "tree.log"
    threads: 2
    resources: mem_mb=500
    params: command="tree", extra="--measure identity"
    wrapper: "file:{folder}"
"""


@pytest.mark.slow
def test_the_wrapper_runs_a_command(here):
    program = find_snakemake()
    write_random_set(Path("proteins.fa"), 10, 40)
    folder = DOCS.parents[1] / "recipes" / "snakemake" / "wrapper"
    Path("Snakefile").write_text(WRAPPED.format(folder=folder))
    done = subprocess.run(
        [program, "--cores", "2", "one tree.nwk"],
        env=variables_in(here),
        capture_output=True,
        text=True,
        timeout=4 * TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert main(["tree", "proteins.fa", "-o", "two.nwk", "-q", "--measure", "identity"]) == 0
    assert Path("one tree.nwk").read_bytes() == Path("two.nwk").read_bytes()
    assert "10 proteins of 40 residues" in Path("tree.log").read_text()
