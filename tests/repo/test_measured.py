"""The page of measured figures: made of docs/measured, complete, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench import page

DOCS = Path(__file__).parents[2] / "docs"
FIELDS = {
    "section": "Cores", "question": "How fast?", "machine": "a machine", "date": "2026-11",
    "data": "a set", "command": "pairalign align", "spread": "one run",
    "columns": ["what", "seconds"], "rows": [["all", "1.0"]],
}  # fmt: skip


def test_the_page_is_that_of_the_saved_figures() -> None:
    assert (DOCS / "measured.md").read_text() == page.page(DOCS / "measured")


def test_each_question_is_asked_once_and_says_what_was_measured() -> None:
    tables = [page.read_table(path) for path in (DOCS / "measured").glob("*.json")]
    assert len({table.question for table in tables}) == len(tables) > 40
    for table in tables:
        assert "" not in (table.machine, table.data, table.spread), table.question
        assert table.date.startswith("20"), table.question
        assert table.rows, table.question
    assert {table.section for table in tables} == set(page.SECTIONS)


def test_a_table_has_its_facts_notes_and_pictures(tmp_path: Path) -> None:
    saved = {**FIELDS, "notes": ["Goal: 2 s."], "images": [["images/a.svg", "a plot"]]}
    (tmp_path / "one.json").write_text(json.dumps(saved))
    lines = page.page(tmp_path).splitlines()
    assert "### How fast?" in lines
    assert "a machine; 2026-11. a set. one run." in lines
    table = lines.index("| what | seconds |")
    assert lines[table : table + 3] == ["| what | seconds |", "| --- | --- |", "| all | 1.0 |"]
    after = [line for line in lines[table + 3 :] if line]
    assert after[:3] == ["Goal: 2 s.", "![a plot](images/a.svg)", "Repeat: `pairalign align`"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"rows": [["all"]]}, "another number of cells"), ({"section": "Odd"}, "'Odd' is not known")],
)
def test_bad_files_are_refused(changed: dict[str, object], said: str, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps({**FIELDS, **changed}))
    with pytest.raises(ValueError, match=said):
        page.page(tmp_path)
