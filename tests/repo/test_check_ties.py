"""docs/ties.md lists every place that decides between equally good alignments."""

from pathlib import Path

import check_ties

ROW = "| one | `cpu/a.h:{}` | `cpu/b.h:{}` |\n"


def marked(folder: Path) -> dict[str, dict[str, list[int]]]:
    (folder / "cpu").mkdir()
    (folder / "cpu" / "a.h").write_text("// first\n// Ties: the end cell.\n")
    (folder / "cpu" / "b.h").write_text("    // Ties: the walk back.\n")
    return check_ties.marks_of(folder)


def test_a_mark_that_moved_is_seen_and_written(tmp_path):
    marks = marked(tmp_path)
    assert check_ties.faults_of(ROW.format(2, 1), marks) == []
    assert check_ties.faults_of(ROW.format(1, 1), marks) == [
        "cpu/a.h:1: no mark of the end cell",
        "cpu/a.h:2: not on the page",
    ]
    assert check_ties.with_lines(ROW.format(9, 9), marks) == ROW.format(2, 1)


def test_a_mark_in_the_wrong_column_is_seen(tmp_path):
    swapped = "| one | `cpu/b.h:1` | `cpu/a.h:2` |\n"
    assert len(check_ties.faults_of(swapped, marked(tmp_path))) == 4
