"""The part `store` of the subcommand `scale`: what a large set takes, opened. Needs no GPU.

Sets are random, with lengths like those of Swiss-Prot (a gamma distribution) about a mean. Each row
says what was measured, on what, and the goal that it is held to.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pairalign.formats.pairset import pack
from pairalign.sequences.records import Records
from pairalign.sequences.sets import SequenceSet

OPEN_SECONDS, OPEN_GIB = 1.0, 0.2
AMINO_ACIDS = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)

OPENED = """
import sys, time
import numpy as np
import pairalign
from pairalign.sequences import reading
start = time.perf_counter()
found = pairalign.read_fasta(sys.argv[1])
opened = time.perf_counter()
picked = np.random.default_rng(1).integers(0, len(found), int(sys.argv[2])).tolist()
residues = sum(len(found[index]) for index in picked)
print(opened - start, time.perf_counter() - opened)
with open("/proc/self/status") as status:  # ru_maxrss would be that of the benchmark as well
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""
"""Opens a store in a process of its own, reads some records; prints seconds and peak memory."""


class Row(NamedTuple):
    """A line of the table."""

    what: str
    found: str
    goal: str
    met: bool | None


def run(options: Namespace) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="pairalign-scale-") as made:
        folder = options.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        store = folder / f"{options.stored}-{options.length}.pairset"
        if not store.exists():
            pack(random_set(options.stored, options.length), store)
        print("| what | found | goal | met |\n|---|---|---|---|", flush=True)
        for row in rows_of_store(store):
            met = {None: "", True: "yes", False: "no"}[row.met]
            print(f"| {row.what} | {row.found} | {row.goal} | {met} |", flush=True)


def random_set(count: int, mean: float) -> SequenceSet:
    """Make a set of random proteins."""
    rng = np.random.default_rng(1)
    lengths = np.maximum(1, rng.gamma(2.0, mean / 2, count)).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    letters = AMINO_ACIDS[rng.integers(0, 20, int(offsets[-1]), np.uint8)]
    names = [f"sp|S{number:07d}|SYNTH" for number in range(count)]
    headers = [f"{name} synthetic protein" for name in names]
    return SequenceSet(Records(names, headers, letters.tobytes(), offsets), alphabet="protein")


def rows_of_store(store: Path) -> list[Row]:
    """Measure how a store is opened."""
    size = os.path.getsize(store)
    rows = []
    for picked in (0, 100):
        command = [sys.executable, "-c", OPENED, str(store), str(picked)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        opened, read, peak = map(float, said)
        gib = peak / (1 << 20)
        more = f", {picked:,} records at random in {read:.3f} s" if picked else ""
        rows.append(
            Row(
                f"open a store of {size / 1e9:.1f} GB ({store.stem} residues){more}",
                f"{opened:.4f} s, {gib:.3f} GiB with Python",
                "" if picked else f"{OPEN_SECONDS:g} s, {OPEN_GIB:g} GiB",
                None if picked else opened <= OPEN_SECONDS and gib <= OPEN_GIB,
            )
        )
    return rows
