"""A job is a folder: whoever deletes one has the program without it, and all else works."""

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pairalign
from pairalign.base import declaration
from pairalign.cli.program import COMMANDS
from pairalign.errors import UsageError

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/cytochrome_p450.fasta"

TESTS = {
    "": ["test_align.py", "test_distances.py", "test_guide_tree.py"],
    "circular": ["test_rotate.py"],
    "clusters": ["test_cluster_sizes.py"],
    "msa": ["test_profile_joins.py"],
    "overlaps": ["test_trimming.py"],
    "posterior": ["test_posterior.py"],
    "receptors": ["test_tcrdist.py"],
    "report": ["test_report_pairs.py"],
    "splits": ["test_splits.py"],
    "update": ["../cli/test_update.py::test_a_folder_can_be_added_to"],
    "verify": ["test_verify_python.py"],
}
"""Of each job, and of what is no folder that can be deleted, some quick tests in ``tests/jobs``."""
NEEDS = {("posterior", "msa")}
"""A job, and one that needs it."""
GONE = (
    {"posterior", "msa", "circular", "clusters", "overlaps"},
    {"posterior", "msa", "receptors", "report"},
    {"posterior", "msa", "splits", "update"},
    {"msa", "clusters", "overlaps", "report", "update", "verify"},
    {"circular", "clusters", "receptors", "splits", "update", "verify"},
    {"circular", "overlaps", "receptors", "report", "splits", "verify"},
)
"""Jobs that are deleted at a time: any two are parted, with either of them left."""
OF_ALL = (GONE[0], GONE[1], GONE[4])
"""Of these, some in which each job is gone: what is no such folder is tested there."""
LOADED_FOR = {"report": {"cluster_report", "msa_report", "split_report"}}
"""Modules of other folders that are loaded where the job is asked for, and by nothing else."""
ELSEWHERE = {"circular": "circles", "report": "test_the_files"}
"""Words in names of tests of the job that are among the quick ones of others."""
LONG = ("heat_map", "pictures", "shape_and_repeat", "that_of_the_cut_reads", "nj")
"""Words in names of tests that take longer than all others of these: `nj` imports scikit-bio."""


IMPORT_AND_TEST = """
import importlib, sys, pytest
for name in {names}:
    importlib.import_module(name)
sys.exit(pytest.main({tests}))
"""


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The alignments of the example by the whole package."""
    return align(ROOT, tmp_path_factory.mktemp("whole") / "b.paf")


@pytest.mark.slow
@pytest.mark.parametrize("gone", GONE, ids=lambda gone: "-".join(sorted(gone)))
def test_what_is_left_works(gone, tmp_path, expected):
    copy_without(gone, tmp_path)
    left = [command.name for command in COMMANDS if command.job not in gone]
    assert re.findall(r"^    (\w+) ", run(tmp_path, "-m", "pairalign", "--help"), re.M) == left

    assert align(tmp_path, tmp_path / "a.paf") == expected

    names = modules(tmp_path, gone, set().union(*(LOADED_FOR.get(job, ()) for job in gone)))
    tested = TESTS.keys() - gone - (set() if gone in OF_ALL else {""})
    files = [f"tests/jobs/{file}" for job in tested for file in TESTS[job]]
    words = " or ".join([*(ELSEWHERE[job] for job in gone & ELSEWHERE.keys()), *LONG])
    tests = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", "-k", f"not ({words})", *files]
    run(tmp_path, "-c", IMPORT_AND_TEST.format(names=names, tests=tests))


@pytest.mark.parametrize(
    ("option", "job"),
    [
        ({"circular": True}, "circular"),
        ({"max_tcrdist": 9}, "receptors"),
        ({"v_genes": {}}, "receptors"),
    ],
)
def test_an_option_of_a_job_that_is_gone_is_refused(option, job, monkeypatch):
    monkeypatch.setattr(declaration, "has_job", lambda name: name != job)
    with pytest.raises(UsageError, match=f"{next(iter(option))} needs pairalign.jobs.{job}"):
        pairalign.distance(["MKVL", "MKVI"], **option)


def test_each_job_is_deleted_where_each_other_is_left():
    assert {command.job for command in COMMANDS} <= TESTS.keys()
    jobs = TESTS.keys() - {""}
    assert set().union(*OF_ALL) == jobs
    for one, other in itertools.permutations(jobs, 2):
        assert ((one, other) in NEEDS) != any(one in gone and other not in gone for gone in GONE)


def copy_without(gone: set[str], root: Path) -> None:
    """Make a copy of the package, of links, that lacks the folders of some jobs."""
    jobs = str(ROOT / "pairalign/jobs")
    shutil.copytree(
        ROOT / "pairalign",
        root / "pairalign",
        ignore=lambda folder, _: gone if folder == jobs else (),
        copy_function=os.symlink,
    )
    for name in ("tests", "scripts", "examples", "cuda", "common", "pyproject.toml"):
        (root / name).symlink_to(ROOT / name)


def modules(root: Path, gone: set[str], others: set[str]) -> list[str]:
    """Return a copy's modules, less those of some folders, of some names, and those for GPUs."""
    package = root / "pairalign"
    paths = [path.relative_to(root).with_suffix("") for path in sorted(package.rglob("*.py"))]
    return [
        ".".join(path.parts).removesuffix(".__init__")
        for path in paths
        if path.name not in {"__main__", *others}
        and not (path.parts[1] == "jobs" and path.parts[2] in gone)
        and path.parts[1:3] not in {("engines", "cuda"), ("engines", "opencl")}
    ]


def align(root: Path, path: Path) -> bytes:
    run(root, "-m", "pairalign", "align", str(EXAMPLE), "-o", str(path), "-q")
    return path.read_bytes()


def run(root: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(root), "HYPOTHESIS_PROFILE": "few"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
