"""The folder in which `make sanitize` runs the tests."""

import subprocess
from pathlib import Path

import pytest
import sanitize

ROOT = Path(__file__).resolve().parents[2]


def test_tests_find_there_what_they_read_here(tmp_path):
    """Without one file that a module of tests reads, none of the tests would run."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    tracked = {name.partition("/")[0] for name in listed.stdout.splitlines()}
    if not tracked:
        pytest.skip("no working copy of git")
    sanitize.copy_package(tmp_path)
    sanitize.copy_package(tmp_path)  # again, over what there is
    assert tracked == {name for name in tracked if (tmp_path / name).exists()}
    copied = {path.relative_to(tmp_path) for path in (tmp_path / "pairalign").rglob("*.py")}
    assert copied == {path.relative_to(ROOT) for path in (ROOT / "pairalign").rglob("*.py")}
