"""The command as a user runs it, in a process of its own: time and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import ours
from bench.measure import alternate, ratio
from bench.report import Row
from pairalign.pairs.want import Detail
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

AGAINST_ENGINE = 1.4
MEMORY_GIB = 1.0


@dataclass(frozen=True)
class Finished:
    """What a command took."""

    seconds: float
    peak_gib: float


def run_command(arguments: Sequence[str]) -> Finished:
    """Run ``pairalign``; ends the benchmark when it fails."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "pairalign", *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"pairalign {' '.join(arguments)}: exit code {process.returncode}")
    peak_bytes = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Finished(time.perf_counter() - start, peak_bytes / (1 << 30))


def count_cells(sequences: SequenceSet) -> int:
    """Cells of all pairs of a set."""
    lengths = sequences.lengths.astype(object)
    return int((lengths.sum() ** 2 - (lengths**2).sum()) // 2)


def compare(data: Path, threads: int, rounds: int, notes: list[str]) -> list[Row]:
    """``pairalign align FASTA -o PAF`` against the engine alone, on the same windows."""
    sequences = read_fasta(data)
    finished = []
    with tempfile.TemporaryDirectory(prefix="pairalign-benchmark-") as folder:
        out = Path(folder) / "out.paf"
        arguments = ["align", str(data), "-o", str(out), "--threads", str(threads), "--quiet"]
        jobs = {
            "command": lambda: finished.append(run_command(arguments)),
            "engine": ours.job(sequences, "global", Detail.CIGAR, threads=threads),
        }
        seconds = alternate(jobs, rounds)
        size = out.stat().st_size
    notes.append(
        f"command: {len(sequences):,} sequences, {count_cells(sequences) / 1e9:.0f} Gcells, "
        f"{size / 1e6:.0f} MB of PAF, {threads} threads"
    )
    whole = ratio(seconds["command"], seconds["engine"])
    peak_gib = max(one.peak_gib for one in finished)
    return [
        Row(
            f"FASTA to PAF, {len(sequences):,} proteins, global",
            f"{np.median(seconds['command']):.1f} s",
            "engine alone",
            f"{np.median(seconds['engine']):.1f} s",
            str(whole),
            f"<= {AGAINST_ENGINE:g}",
            whole.median <= AGAINST_ENGINE,
        ),
        memory_row("the same, peak memory", peak_gib),
    ]


def memory_row(what: str, peak_gib: float) -> Row:
    """A row about the peak memory of a command."""
    return Row(
        what, f"{peak_gib:.2f} GiB", "", "", "", f"<= {MEMORY_GIB:g} GiB", peak_gib <= MEMORY_GIB
    )
