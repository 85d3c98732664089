"""Messages spell options as their reader gives them."""

import ast
import re
from pathlib import Path

import pytest

import pairalign
from pairalign.cli.main import main

ASKED = [
    (lambda: pairalign.align(["MKV", "MKL"], max_evalue=1), "needs mode='local'"),
    (lambda: pairalign.align(["MK-V", "MKL"]), r"\(degap=True\)"),
    (lambda: pairalign.align({"a": "", "b": "MKL"}), r"\(on_empty='skip' leaves"),
    (lambda: pairalign.align(["MKV", "MKL"], strand="both"), "alphabet='dna'"),
]


@pytest.mark.parametrize("number", range(len(ASKED)))
def test_python_has_arguments(number, tmp_path):
    call, said = ASKED[number]
    (tmp_path / "x.fa").write_text(">a\nMK-V\n>b\nMKL\n")
    main(["align", str(tmp_path / "x.fa"), "-o", str(tmp_path / "x.paf")])  # leaves nothing behind
    with pytest.raises(ValueError, match=said) as found:
        call()
    assert "--" not in str(found.value)


def test_the_command_line_has_options(tmp_path, capsys):
    (tmp_path / "x.fa").write_text(">a\nMK-V\n>b\nMKL\n")
    assert main(["align", str(tmp_path / "x.fa"), "-o", str(tmp_path / "x.paf")]) != 0
    assert "remove gaps first (--degap)" in capsys.readouterr().err


OPTION = r"(?<![\w-])--[a-z]"
FOREIGN = {
    "pairalign/alignments/thresholds.py": "other programs' options in help",
    "pairalign/base/choices.py": "other programs' options in help",
    "pairalign/base/spelling.py": "the speller",
    "pairalign/engines/cuda/build.py": "options of compilers",
    "pairalign/engines/cuda/build_ahead.py": "a program of its own",
    "pairalign/engines/cuda/cuda_devices.py": "options of pip",
    "pairalign/engines/cuda/nvrtc.py": "options of compilers",
    "pairalign/jobs/msa/msa_families.py": "a command's",
    "pairalign/jobs/msa/msa_plan.py": "a command's",
    "pairalign/jobs/overlaps/overlap_graph.py": "a command's",
    "pairalign/jobs/run/dask_cluster.py": "a command's, and those of programs that tasks start",
    "pairalign/jobs/update/update.py": "the program's arguments, which parts store",
    "pairalign/scoring/scoring_request.py": "other programs' options in help",
    "pairalign/statistics/statements.py": "text of files, whose bytes stay",
}
"""Modules in which options stand as the command line has them, and why."""


def test_below_the_command_line_no_message_spells_options_itself():
    root = Path(pairalign.__file__).parents[1]
    spelling = set[str]()
    for path in sorted((root / "pairalign").rglob("*.py")):
        if set(path.parts) & {"cli", "requests", "commands"}:
            continue
        if "jobs" in path.parts and path.stem.endswith(("_command", "_request")):
            continue
        text = path.read_text()
        if not re.search(OPTION, text):
            continue
        tree = ast.parse(text)
        said = {
            one.value
            for one in ast.walk(tree)
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        }
        documented = {
            one.value.value
            for one in ast.walk(tree)
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        }
        flags = {
            one.value
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "spelled"
            for one in call.args
            if isinstance(one, ast.Constant)
        }
        if any(re.search(OPTION, one) for one in said - documented - flags):
            spelling.add(str(path.relative_to(root)))
    assert spelling == FOREIGN.keys()
