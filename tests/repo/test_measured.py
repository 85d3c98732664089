"""The page of measured figures: short, and its commands exist."""

import re
import shlex
from pathlib import Path

import benchmark

PAGE = (Path(__file__).parents[2] / "docs" / "measured.md").read_text()


def test_the_page_is_short():
    assert len(PAGE.split()) <= 3500


def test_commands_of_benchmarks_are_there():
    commands = re.findall(r"^Repeat: `scripts/benchmark.py ([^`]+)`", PAGE, re.MULTILINE)
    assert len(commands) > 12
    for command in commands:
        assert callable(benchmark.parse(shlex.split(command)).run)
