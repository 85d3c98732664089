"""How far a job is: a bar on a terminal, lines in a log, nothing where nothing is wanted."""

import logging
import re
import stat
from pathlib import Path

import pytest
from commands import PROTEINS, fasta
from compiled_modules import load_binary

import pairalign
from pairalign.cli.main import main
from pairalign.jobs.posterior import posterior
from pairalign.jobs.run import progress

LINE = re.compile(
    r"pairalign: (?:aligned|computed) (\d+\.\d)% of \S+ cells in \d\d:\d\d, "
    r"about \d\d:\d\d left"
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.fa"
    path.write_text(fasta(PROTEINS))
    return path


def lines_of(text: str) -> list[str]:
    shown = ("pairalign: aligned", "pairalign: computed")
    return [line for line in text.splitlines() if line.startswith(shown)]


def test_lines_come_every_30_seconds(monkeypatch, capsys):
    clock = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with progress.show_progress(400, True) as meter:
        for _ in range(40):
            clock[0] += 10
            meter.update(10)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 13
    assert lines[0] == "pairalign: aligned 7.5% of 400 cells in 00:30, about 06:10 left"
    assert all(LINE.fullmatch(line) for line in lines)


def test_a_notebook_has_a_bar():
    """A widget, or one line that moves where ipywidgets is missing."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    code = """
from pairalign.jobs.run.progress import show_progress
with show_progress(4, True) as meter:
    for _ in range(4):
        meter.update(1)
"""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(book, timeout=100, kernel_name="python3").execute()
    shown = book.cells[0].outputs
    assert "aligning: 100%" in "".join(one.get("text", "") for one in shown).split("\r")[-1] or any(
        "application/vnd.jupyter.widget-view+json" in one.get("data", {}) for one in shown
    )


@pytest.mark.parametrize(
    ("command", "ending", "done"),
    [
        ("align", "tsv", "aligned"),
        ("distance", "tsv", "aligned"),
        ("tree", "nwk", "aligned"),
        ("posterior", "npz", "computed"),
    ],
)
def test_a_log_has_lines(source, command, ending, done, monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    out = source.parent / f"out.{ending}"
    arguments = [command, str(source), "-o", str(out), "--device", "cpu"]
    assert main(arguments) == 0
    said = capsys.readouterr().err
    shown = lines_of(said)
    assert shown
    assert "aligning" not in said
    assert all(LINE.fullmatch(line) for line in shown)
    assert shown[-1].startswith(f"pairalign: {done} 100.0%")
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_computed_in_one_call_counts_at_once(source, monkeypatch, capsys):
    """The first piece of a call is not a small share of all after a long time."""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(posterior, "PIECE_RESIDUES", 1)
    out = source.parent / "out.npz"
    assert main(["posterior", str(source), "-o", str(out), "--device", "cpu"]) == 0
    assert [line.split()[2] for line in lines_of(capsys.readouterr().err)] == ["100.0%"]


@pytest.mark.parametrize("asked", ["", "--progress", "--quiet"])
def test_a_terminal_has_a_bar_unless_lines_are_asked_for(source, asked, monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    assert main(["align", str(source), "-o", str(source.parent / "out.paf"), *asked.split()]) == 0
    shown = capsys.readouterr().err
    assert bool(lines_of(shown)) == (asked == "--progress")
    assert ("aligning: 100%" in shown and "cells" in shown) == (asked == "")


def test_python_shows_what_is_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    pairalign.align(PROTEINS)
    assert capsys.readouterr().err == ""
    pairalign.align(PROTEINS, progress=True)
    assert lines_of(capsys.readouterr().err)


def test_first_use_of_a_gpu_says_that_kernels_are_compiled(tmp_path, monkeypatch, caplog):
    """With a compiler that copies; the second use finds the kernels and says nothing."""
    nvcc = tmp_path / "nvcc"
    nvcc.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; echo binary > "$2"\n')
    nvcc.chmod(nvcc.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("NVCC", str(nvcc))
    monkeypatch.setenv("PAIRALIGN_CACHE", str(tmp_path / "cache"))
    arguments = ("pair_per_thread/pair_per_thread.cu", {"MODE": "LOCAL"}, (7, 5))
    with caplog.at_level(logging.INFO):
        load_binary(*arguments)
        first, second = caplog.messages
        load_binary(*arguments)
    assert "compiling the kernels 'pair_per_thread/pair_per_thread' for this GPU" in first
    assert re.search(r"compiled .* in \d+\.\d s, kept in .*cache", second)
    assert len(caplog.messages) == 2
