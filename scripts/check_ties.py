"""The table of docs/ties.md: every place that decides between equally good alignments, by line.

A comment ``Ties: the end cell.`` or ``Ties: the walk back.`` marks such a place. Prints what the
page and the marks do not share, and fails if there is anything::

    python scripts/check_ties.py           # compare
    python scripts/check_ties.py --write   # put the lines of marks into the page
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "ties.md"
FOLDERS = ("common", "cpu", "cuda", "opencl", "scripts", "tests")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".cl", ".clh", ".py"}
KINDS = ("the end cell", "the walk back")
"""What a mark says, in the order of the page's columns."""
MARK = re.compile(rf"^\s*(?://|#) Ties: ({'|'.join(KINDS)})\.$")
PLACE = re.compile(r"`([\w/.]+):(\d+)`")


def marks_of(root: Path) -> dict[str, dict[str, list[int]]]:
    """Return the lines of the marks of each kind, by file."""
    found: dict[str, dict[str, list[int]]] = {kind: {} for kind in KINDS}
    for path in sorted(one for folder in FOLDERS for one in (root / folder).rglob("*")):
        if path.suffix in SUFFIXES:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if mark := MARK.match(line):
                    found[mark[1]].setdefault(str(path.relative_to(root)), []).append(number)
    return found


def with_lines(page: str, marks: dict[str, dict[str, list[int]]]) -> str:
    """Return the page with the lines of marks, in their order in each file; 0: no mark is left."""
    left = {kind: {path: iter(lines) for path, lines in marks[kind].items()} for kind in KINDS}

    def line_of(place: re.Match[str], kind: str) -> str:
        return f"`{place[1]}:{next(left[kind].get(place[1], iter(())), 0)}`"

    rows = []
    for row in page.splitlines(keepends=True):
        cells = row.split("|")
        if len(cells) == 5:
            for at, kind in enumerate(KINDS, 2):
                cells[at] = PLACE.sub(lambda place, kind=kind: line_of(place, kind), cells[at])
        rows.append("|".join(cells))
    return "".join(rows)


def faults_of(page: str, marks: dict[str, dict[str, list[int]]]) -> list[str]:
    """What the page and the marks do not share, a line each."""
    rows = [cells for row in page.splitlines() if len(cells := row.split("|")) == 5]
    faults = []
    for at, kind in enumerate(KINDS, 2):
        shown = {(path, int(line)) for cells in rows for path, line in PLACE.findall(cells[at])}
        marked = {(path, line) for path, lines in marks[kind].items() for line in lines}
        faults += [f"{path}:{line}: no mark of {kind}" for path, line in sorted(shown - marked)]
        faults += [f"{path}:{line}: not on the page" for path, line in sorted(marked - shown)]
    return faults


def main(arguments: list[str]) -> int:
    """Compare the page with the marks, or write it; the exit status."""
    marks = marks_of(ROOT)
    if arguments == ["--write"]:
        PAGE.write_text(with_lines(PAGE.read_text(), marks))
    faults = faults_of(PAGE.read_text(), marks)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        print("docs/ties.md: run `python scripts/check_ties.py --write`", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
