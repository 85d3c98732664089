"""What is loaded when, and the names that the package offers."""

import functools
import subprocess
import sys
from pathlib import Path

import pytest

import pairalign
from pairalign.base import choices
from pairalign.cli.program import COMMANDS
from pairalign.formats import WRITERS
from pairalign.formats.readers import readers
from pairalign.jobs.distances.guide_tree import METHOD_BYTES
from pairalign.jobs.distances.measures import MEASURES
from pairalign.trees.tree_text import PROGRAMS

HEAVY = ("numpy", "scipy", "Bio", "tqdm", "pyarrow", "pycuda", "pyopencl", "pairalign.engines")
GPU_CODE = ("pycuda", "pyopencl", "pairalign.engines.cuda", "pairalign.engines.opencl")


@pytest.mark.parametrize(
    "program",
    [
        "import pairalign",
        "from pairalign.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from pairalign.cli.main import main\ntry: main(['--version'])\nexcept SystemExit: pass",
    ],
    ids=["import", "help", "version"],
)
def test_what_takes_time_is_loaded_when_it_is_used(program):
    assert loaded_by(program, HEAVY) == []


MOST_OF_OURS, MOST_OF_ALL = 29, 110
"""Modules that help on a command may load: of the package, and besides those of Python itself.

A few more than there are now; what they take is little more than what Python takes to start.
"""


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_help_on_a_command_loads_what_its_options_need(command):
    program = (
        "from pairalign.cli.main import main\n"
        f"try: main(['{command}', '--help'])\nexcept SystemExit: pass"
    )
    loaded = all_loaded_by(program)
    assert {"numpy", "tqdm", "Bio", "pyarrow", "importlib.metadata", *GPU_CODE} & loaded == set()
    assert len([name for name in loaded if name.startswith("pairalign")]) <= MOST_OF_OURS
    assert len(loaded - all_loaded_by("")) <= MOST_OF_ALL


def test_options_know_the_names_that_the_registries_have():
    assert all(writer.name == name for name, writer in WRITERS.items())
    assert all(reader.name == name for name, reader in readers().items())
    assert tuple(MEASURES) == tuple(choices.MEASURE_SUMMARIES)
    assert tuple(METHOD_BYTES) == choices.TREE_METHODS
    assert tuple(PROGRAMS) == choices.TREE_PROGRAMS


def test_the_cpu_needs_no_code_for_gpus():
    program = "import pairalign; pairalign.align(['ACGT', 'ACG'], device='cpu')"
    assert loaded_by(program, GPU_CODE) == []


def test_a_small_set_needs_no_kernels_for_gpus_wherever_it_runs():
    program = "import pairalign; pairalign.align(['ACGT', 'ACG'])"
    assert loaded_by(program, ("pairalign.engines.cuda.cuda_engine",)) == []


def test_a_matrix_of_biopython_is_read_without_its_code():
    program = "import pairalign; pairalign.align(['HEAGAWGHEE', 'PAWHEAE'], device='cpu')"
    assert loaded_by(program, ("Bio",)) == []


@pytest.mark.parametrize("command", [["align", "--mode", "local"], ["cluster", "--min-identity=0"]])
def test_what_estimates_statistics_is_loaded_where_they_are_not_published(command, tmp_path):
    (tmp_path / "in.fa").write_text(">a\nHEAGAWGHEE\n>b\nPAWHEAE\n")
    name, *options = command
    given = [name, str(tmp_path / "in.fa"), "-o", str(tmp_path / "out.tsv"), *options, "-q"]
    program = f"from pairalign.cli.main import main; main({given})"
    assert loaded_by(program, ("pairalign.jobs.run.statistics",)) == []
    assert (tmp_path / "out.tsv").exists()


def test_a_plain_run_loads_nothing_of_what_it_leaves_out(tmp_path):
    program = "import sys; sys.modules['pycuda'] = None\n" + plain_run("main", tmp_path)
    others = {
        *("subprocess", "hashlib", "html", "tempfile", "json"),
        "pairalign.alignments.tie_counts",
        "pairalign.formats.pieces",
        "pairalign.pairs.lists",
        "pairalign.engines.cuda.build",
        "pairalign.jobs.stages.threshold_engine",
        "pairalign.engines.posterior_engines",
        "pairalign.jobs.stages.expected_accuracy",
        "pairalign.jobs.overlaps.unitigs",
    }
    assert others & (all_loaded_by(program) - all_loaded_by("import numpy")) == set()


@pytest.mark.parametrize(("call", "frozen"), [("main", "== 0"), ("program", "> 20_000")])
def test_what_stays_is_not_looked_through_for_garbage(call, frozen, tmp_path):
    """``main`` runs in processes that do other things, too."""
    loaded_by(f"{plain_run(call, tmp_path)}\nimport gc; assert gc.get_freeze_count() {frozen}", ())


def plain_run(call: str, folder: Path) -> str:
    """Return a program that aligns two sequences to PAF."""
    (folder / "in.fa").write_text(">a\nHEAGAWGHEE\n>b\nPAWHEAE\n")
    given = ["pairalign", "align", str(folder / "in.fa"), "-o", str(folder / "out.paf"), "-q"]
    lines = (
        f"import sys; sys.argv = {given}",
        "from pairalign.cli.main import main, program",
        f"assert {call}() == 0",
    )
    return "\n".join(lines)


def loaded_by(program: str, modules: tuple[str, ...]) -> list[str]:
    """Run a program; return which of these modules are loaded when it has ended."""
    loaded = all_loaded_by(program)
    return [module for module in modules if module in loaded]


@functools.cache
def all_loaded_by(program: str) -> set[str]:
    """Run a program; return all modules that are loaded when it has ended."""
    shown = "\nimport sys\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program + shown], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())  # before it there may be warnings


def test_metadata_that_a_build_is_just_writing(tmp_path):
    (tmp_path / "pairalign.egg-info").mkdir()
    (tmp_path / "pairalign.egg-info/PKG-INFO").write_text("")
    program = f"import sys; sys.path[:0] = ['.', {str(Path(__file__).parents[2])!r}]\n"
    program += "import pairalign; print(pairalign.__version__)"
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0+unknown\n", "")


def test_public_names():
    for name in pairalign.__all__:
        assert getattr(pairalign, name) is not None
    assert set(pairalign.__all__) <= set(dir(pairalign))
    assert pairalign.__version__
    everything: dict[str, object] = {}
    exec("from pairalign import *", everything)
    assert set(pairalign.__all__) <= set(everything)


def test_modules_are_attributes_once_they_are_asked_for():
    program = "import pairalign; print(pairalign.errors.FormatError.__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"FormatError"]


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'pairalign' has no attribute 'aling'"):
        _ = pairalign.aling  # type: ignore[attr-defined]


def test_the_parser_has_all_commands_with_their_options():
    from pairalign.cli.program import COMMANDS, build_parser

    others = {
        "devices": [],
        "help": ["align"],
        "completion": ["bash"],
        "cluster": ["--min-identity", "0.9", "in.fa"],
        "split": ["--min-identity", "0.9", "in.fa"],
        "audit": ["--min-identity", "0.9", "folds.csv", "in.fa"],
        "verify": ["in.paf", "in.fa"],
        "rotate": ["in.fa", "--to", "a"],
        "update": ["parts", "new.fa", "-o", "out.x"],
    }
    for command in COMMANDS:
        arguments = others.get(command.name, ["in.fa", "-o", "out.x"])
        options = build_parser().parse_args([command.name, *arguments])
        assert callable(options.run)
