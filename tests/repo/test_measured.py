"""The page of measured figures: short, each question with its facts, and commands that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import benchmark

PAGE = (Path(__file__).parents[2] / "docs" / "measured.md").read_text()
QUESTIONS = dict(re.findall(r"^### (.+)\n((?:(?!##).*\n)+)", PAGE, re.MULTILINE))


def test_the_page_is_short() -> None:
    assert len(PAGE.split()) <= 3500


def test_each_question_has_a_date_a_table_and_a_command() -> None:
    assert len(QUESTIONS) == PAGE.count("\n### ") > 20
    for question, answer in QUESTIONS.items():
        assert question.endswith("?")
        assert re.search(r"\b2026-11\b", answer), question
        columns = {row.count("|") for row in re.findall(r"^\|.*$", answer, re.MULTILINE)}
        assert len(columns) == 1, question
        assert answer.rstrip().splitlines()[-1].endswith("`"), question
        assert "\nRepeat: `" in answer, question


def test_commands_of_benchmarks_are_there() -> None:
    commands = re.findall(r"^Repeat: `scripts/benchmark.py ([^`]+)`", PAGE, re.MULTILINE)
    assert len(commands) > 12
    for command in commands:
        assert callable(benchmark.parse(shlex.split(command)).run)
