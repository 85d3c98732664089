"""Type checkers accept what is right, and name what is wrong, of every public name."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import pairalign
from pairalign.base import choices

ROOT = Path(__file__).parents[2]
TYPED = Path(__file__).parent / "typed"
RIGHT, WRONG = TYPED / "right.py", TYPED / "wrong.py"
CHECKERS = {
    # Strict, with the settings of `make check`: what that has checked is not checked again.
    "mypy": [sys.executable, "-m", "mypy", "--no-error-summary"],
    "pyright": ["pyright"],
}


def test_every_public_name_is_used():
    text = RIGHT.read_text()
    lacking = [one for one in pairalign.__all__ if not re.search(rf"pairalign\.{one}\b", text)]
    assert lacking == []


def test_types_of_choices_are_those_declared():
    assert get_args(choices.Identity) == tuple(choices.IDENTITIES)
    assert get_args(choices.Coverage) == tuple(choices.COVERAGES)


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_right_is_accepted_and_each_wrong_line_is_named(checker, tmp_path):
    if checker == "mypy":
        pytest.importorskip("mypy")
    elif shutil.which(checker) is None:
        pytest.skip(f"{checker} is not installed")
    command = [*CHECKERS[checker], *map(str, (RIGHT, WRONG))]
    command += ["--cache-dir", str(ROOT / ".mypy_cache")] if checker == "mypy" else []
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    said = [line for line in done.stdout.splitlines() if "typed/" in line and " error" in line]
    assert [line for line in said if "wrong.py" not in line] == []
    named = {int(re.search(r"wrong\.py:(\d+)", line)[1]) for line in said}
    lines = WRONG.read_text().splitlines()
    assert named == {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
