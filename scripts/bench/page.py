"""The subcommand `page`: docs/measured.md, made of the figures in docs/measured/*.json.

    python scripts/benchmark.py page docs/measured -o docs/measured.md

A file has one question: ``section``, ``question``, ``machine``, ``date``, ``data``, ``command``,
``spread``, ``columns``, ``rows`` and, where there are some, ``notes`` and ``images``; what
``cpu --json`` and ``gpu --output`` save is read as well. Newest figures only: a new measurement
replaces the file.
"""

from __future__ import annotations

import json
import statistics
import textwrap
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report import HEADINGS, Row

SECTIONS = (
    "Cores",
    "GPUs",
    "Similar sequences",
    "Thresholds and hits",
    "E-values",
    "Overlaps of reads",
    "Guide trees and multiple alignments",
    "Clusters and splits",
    "Agreement with other programs",
    "Many machines",
    "Kernels of the papers",
)
INTRODUCTION = """# Measured

Made by `scripts/benchmark.py page` from `docs/measured/*.json`. Each table answers one question
with the newest figures: machine, date, data, spread, command and, where there is one, the goal.
Other machines, lengths and versions give other figures. GCUPS are 10^9 cells of the pair matrix a
second; each pair counts once. CPU seconds are user and system time. What is compared runs in
interleaved rounds of one process, after the results have been verified.
"""
CPU_QUESTION = "How fast is a core beside parasail, pyopal and stringzillas?"
GPU_QUESTIONS = {
    "lengths": "How fast is one GPU with `{family}`, by length?",
    "small": "How long does a pair of a small set take with `{family}`?",
}


@dataclass(frozen=True)
class Table:
    """A question and its answer: what was measured, on what, and how it can be repeated."""

    section: str
    question: str
    machine: str
    date: str
    data: str
    command: str
    spread: str
    columns: list[str]
    rows: list[list[str]]
    notes: tuple[str, ...] = ()
    images: tuple[tuple[str, str], ...] = ()

    def lines(self) -> list[str]:
        """The table as Markdown, wrapped."""
        facts = [f"{self.machine}; {self.date}.", f"{self.data}.", f"{self.spread}."]
        lines = [f"### {self.question}", "", *wrapped(" ".join(facts)), ""]
        lines += [
            "| " + " | ".join(row) + " |" for row in (self.columns, ["---"] * len(self.columns))
        ]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        lines.append("")
        for note in self.notes:
            lines += [*wrapped(note), ""]
        for path, text in self.images:
            lines += [f"![{text}]({path})", ""]
        return [*lines, *wrapped(f"Repeat: `{self.command}`"), ""]


def wrapped(text: str) -> list[str]:
    """Wrap a paragraph at 100 characters."""
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


def read_table(path: Path) -> Table:
    """Read a file of figures, of any of the three kinds.

    Raises
    ------
    ValueError
        A field is missing, or a row has another number of cells than there are columns.
    """
    saved = json.loads(path.read_text())
    if "question" in saved:
        named = {name: tuple(map(_frozen, saved.pop(name, ()))) for name in ("notes", "images")}
        table = Table(**saved, **named)
    elif "runs" in saved:
        table = gpu_table(path.stem, saved)
    else:
        table = cpu_table(saved)
    if table.section not in SECTIONS:
        raise ValueError(f"{path}: section {table.section!r} is not known")
    if any(len(row) != len(table.columns) for row in table.rows):
        raise ValueError(f"{path}: a row has another number of cells than there are columns")
    return table


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def cpu_table(saved: dict[str, Any]) -> Table:
    """Make the table of what ``cpu --json`` has saved."""
    machine, _, date = saved["notes"][0].rpartition(", ")
    return Table(
        SECTIONS[0], CPU_QUESTION, machine, date, "; ".join(saved["notes"][1:]),
        "python scripts/benchmark.py cpu --data proteins.fa.gz --json docs/measured/cpu.json",
        "Medians and ranges of interleaved rounds", list(HEADINGS),
        [list(Row(**row).cells()) for row in saved["rows"]],
        images=(("images/measured-cpu.svg", "One thread beside other programs, by mode"),),
    )  # fmt: skip


def gpu_table(name: str, saved: dict[str, Any]) -> Table:
    """Make the table of what ``gpu --output`` has saved: GCUPS, or microseconds a pair."""
    _, family, kind = name.replace("pair-per-thread", "pair_per_thread").split("-")
    family = family.replace("_", "-")
    groups: dict[tuple[Any, str], dict[str, str]] = {}
    for run in saved["runs"]:
        if kind == "lengths":
            key = (round(run["mean_length"]), run["mode"])
            each = sorted(run["gcells"] / seconds for seconds in run["seconds"])
            figure = f"{statistics.median(each):,.0f} ({each[0]:,.0f}-{each[-1]:,.0f})"
        else:
            key = (run["sequences"], run["mode"])
            pairs = run["sequences"] * (run["sequences"] - 1) / 2
            figure = f"{statistics.median(run['seconds']) / pairs * 1e6:.3g}"
        groups.setdefault(key, {})[run["detail"]] = figure
    details = [
        one for one in ("SCORE", "STATS", "CIGAR") if any(one in row for row in groups.values())
    ]
    unit = "GCUPS" if kind == "lengths" else "microseconds a pair"
    return Table(
        "GPUs", GPU_QUESTIONS[kind].format(family=family), saved["machine"].partition(", ")[0],
        saved.get("date", "2026-11-22"),
        "All pairs of 2,000 Swiss-Prot proteins of each mean length" if kind == "lengths"
        else "All pairs of small sets of proteins, mean length 257",
        f"python scripts/benchmark.py gpu --family {family} --table {kind} --output docs/measured",
        "Median and range of up to five runs" if kind == "lengths" else "Medians",
        ["mean length" if kind == "lengths" else "sequences", "mode",
         *(f"{detail}, {unit}" for detail in details)],
        [[f"{size:,}", mode, *(row.get(detail, "") for detail in details)]
         for (size, mode), row in groups.items()],
        images=((f"images/measured-gpu-{kind}.svg", f"{unit}, by kernel"),)
        if family == "packed" else (),
    )  # fmt: skip


def page(folder: Path) -> str:
    """Return the page of all files of a folder, section by section, question by question."""
    tables = [read_table(path) for path in sorted(folder.glob("*.json"))]
    lines = [INTRODUCTION]
    for section in SECTIONS:
        lines += [f"- [{section}](#{section.lower().replace(' ', '-')})"]
    lines.append("")
    for section in SECTIONS:
        lines += [f"## {section}", ""]
        for table in tables:
            if table.section == section:
                lines += table.lines()
    return "\n".join(lines).rstrip("\n") + "\n"


def run(options: Namespace) -> None:
    """Write the page."""
    options.output.write_text(page(options.folder))


def add_command(commands: Any) -> None:
    """Options of ``scripts/benchmark.py page``."""
    parser = commands.add_parser("page", help="the page of all figures that are kept")
    parser.add_argument("folder", type=Path, help="with a JSON file for each question")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the page, Markdown")
    parser.set_defaults(run=run)
