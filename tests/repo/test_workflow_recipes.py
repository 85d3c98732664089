"""Job files of schedulers: they can be read, and their commands do a shard as they are told."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import PROTEINS, TIMEOUT_SECONDS, fasta

from pairalign.cli.program import build_parser

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "recipes"


def parsed(command: str) -> Any:
    """What our parser makes of a command, without the options of the user."""
    return build_parser().parse_args(shlex.split(command)[1:])


def fill_in(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


@pytest.fixture
def environment(here: Path) -> dict[str, str]:
    """One whose `pairalign` is the package that is tested and notes how it is called."""
    program = here / "bin" / "pairalign"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" > {here}/called\nexec "{sys.executable}" -m pairalign "$@"\n'
    )
    program.chmod(0o755)
    (here / "proteins.fa").write_text(fasta(PROTEINS))
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def run(words: list[str], environment: dict[str, str]) -> Any:
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
    )
    assert done.returncode == 0, done.stderr
    return build_parser().parse_args(Path("called").read_text().split())


def check_given(options: Any, shard: tuple[int, int], threads: int, memory: int) -> None:
    assert (options.shard, options.threads, options.memory) == (shard, threads, memory)
    assert Path(options.output, f"part-{shard[0]}-of-{shard[1]}.json").exists()


def test_kubernetes(environment):
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((RECIPES / "kubernetes/job.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    spec = job["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    text = container["args"][0]
    assert spec["completionMode"] == "Indexed"
    assert f'/{spec["completions"]}"' in text
    limits = container["resources"]["limits"]
    assert {"cpu", "memory", "nvidia.com/gpu"} == set(limits)
    assert limits["memory"] == container["resources"]["requests"]["memory"]
    names = {one["name"]: one for one in container["env"]}
    assert set(re.findall(r"\$\(?\(?([A-Z_]+)", text)) == {*names, "JOB_COMPLETION_INDEX"}
    here = fill_in(text, {"/data/": "", "/512": "/2"})
    values = {"DEVICE": "cpu", "THREADS": "1", "MEMORY_MIB": "400", "JOB_COMPLETION_INDEX": "1"}
    options = run([*container["command"], here], {**environment, **values})
    check_given(options, (2, 2), 1, 300 << 20)


def test_aws_batch(environment):
    job = json.loads((RECIPES / "aws-batch/job-definition.json").read_text())
    container = job["containerProperties"]
    needed = {one["type"]: one["value"] for one in container["resourceRequirements"]}
    given = {one["name"]: one["value"] for one in container["environment"]}
    assert needed["VCPU"] == given["THREADS"]
    assert int(needed["MEMORY"]) * 3 // 4 == int(given["MEMORY"].removesuffix("G")) * 1024
    assert needed["GPU"] == "1"
    assert given["DEVICE"] == "cuda"
    script = RECIPES / "aws-batch/shard.sh"
    assert [Path(word).name for word in container["command"]][:2] == ["sh", script.name]
    assert [word.removeprefix("Ref::") for word in container["command"][2:]] == [*job["parameters"]]
    values = {"DEVICE": "cpu", "THREADS": "1", "MEMORY": "300M", "SHARDS": "2"}
    values["AWS_BATCH_JOB_ARRAY_INDEX"] = "0"
    options = run(["sh", str(script), "proteins.fa", "parts"], {**environment, **values})
    check_given(options, (1, 2), 1, 300 << 20)


@pytest.mark.parametrize("more", [[], ["-q"], ["--quiet"]], ids=lambda more: "".join(more))
def test_slurm_passes_what_it_gives(environment, more):
    values = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "2"}
    values |= {"SLURM_CPUS_PER_TASK": "1", "SLURM_MEM_PER_NODE": "400"}
    words = ["bash", str(ROOT / "examples/slurm/align.sh"), "proteins.fa", "parts"]
    options = run([*words, "--device", "cpu", *more], {**environment, **values})
    check_given(options, (2, 2), 1, 300 << 20)
    assert bool(options.progress) is not options.quiet


def test_nextflow():
    text = (RECIPES / "nextflow/main.nf").read_text()
    params = dict(re.findall(r"^params\.(\w+) = '?(.*?)'?$", text, re.MULTILINE))
    values = {f"$params.{name}": value for name, value in params.items()}
    values |= {f"${{params.{name}}}": value for name, value in params.items()}
    values |= {"$task.cpus": "4", "${task.memory.toMega()}": "8192", "$fasta": "proteins.fa"}
    values |= {"$k": "3", "\\\\\n": " "}
    shard, merge = (fill_in(one, values).strip() for one in re.findall('"""\n(.*?)"""', text, re.S))
    options = parsed(shard)
    assert (options.shard, options.threads, options.memory) == ((3, 64), 4, 8192 << 20)
    assert parsed(merge).threads == 4
    config = (RECIPES / "nextflow/nextflow.config").read_text()
    assert set(re.findall(r"withLabel: (\w+)", config)) == set(re.findall(r"label '(\w+)'", text))
    assert config.count("{") == config.count("}")
    assert re.search(r"gpu \{\s+params\.device = 'cuda'", config)


def test_snakemake():
    text = (RECIPES / "snakemake/Snakefile").read_text()
    found = re.findall(r"shell:((?:\s+\".*\")+)", text)
    commands = ["".join(re.findall(r'"(.*)"', one)) for one in found]
    values = {
        "{output:q}": "all.paf.zst", "{threads}": "4", "{DEVICE}": "cpu",
        "{input:q}": "'my proteins.fa'",
        "{params.shard}": "3/64", "{resources.mem_mb}": "8000",
        "{OPTIONS}": re.findall(r'"options", "(.*)"', text)[0],
    }  # fmt: skip
    merge, shard = (parsed(fill_in(one, values)) for one in commands)
    assert (shard.shard, shard.threads, shard.memory) == ((3, 64), 4, 8000 << 20)
    assert merge.threads == 4
    assert shard.input == "my proteins.fa"
    for needed in ("threads:", "mem_mb", "gpu=GPUS"):
        assert needed in text.partition("rule shard")[2]
