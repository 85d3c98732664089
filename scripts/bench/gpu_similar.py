"""Few long similar pairs on a GPU: does `auto` choose the faster kernel?

Simulated genomes of some numbers, lengths and identities: all pairs with CIGARs by `auto`, by
block diagonals (every cell) and by the pruned kernel. Results are compared first.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

import numpy as np

from bench import report
from bench.families import family
from bench.gpu_job import Job
from bench.similar import verify
from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.engines.cuda.devices import find_devices
from pairalign.engines.cuda.engine import ENGINES_PER_DEVICE
from pairalign.jobs.run import schedule
from pairalign.pairs.want import Detail, Want
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

GRID = (
    *((3, length) for length in (10_000, 30_000, 125_000, 200_000)),
    *((13, length) for length in (10_000, 30_000, 125_000, 200_000)),
    *((50, length) for length in (10_000, 30_000)),
    (200, 10_000),
)
"""Sequences, and how long their ancestor is."""
IDENTITIES = (0.8, 0.9, 0.98, 0.995)
KERNELS = {"auto": None, "block diagonals": "block-diagonals", "pruned": "pruned"}
HEADINGS = (
    "sequences", "bases", "identity", "auto, s", "block diagonals, s", "pruned, s",
    "auto / faster", "pairs pruned", "cells of beams, of corridors",
)  # fmt: skip


def add_command(commands: Any) -> None:
    """Add `gpu-similar` to the benchmark's commands."""
    parser = commands.add_parser("gpu-similar", help="few long pairs on a GPU: auto, full, pruned")
    parser.add_argument("--repeat", type=int, default=2, help="runs of each (2)")
    parser.add_argument("--most-cells", type=float, default=4e12, help="leave out larger sets")
    parser.add_argument("--identities", type=float, nargs="+", default=list(IDENTITIES))
    parser.set_defaults(run=run, window=1024)


def run(options: argparse.Namespace) -> None:
    """Print a line for each set."""
    print(report.machine(), *(device.name for device in find_devices()[:1]), sep=", ")
    print("| " + " | ".join(HEADINGS) + " |")
    print("|---" * len(HEADINGS) + "|")
    for number, length in GRID:
        if number * (number - 1) / 2 * length**2 > options.most_cells:
            continue
        for identity in options.identities:
            letters = family(number, length, identity)
            sequences = SequenceSet.from_strings(letters, alphabet="dna")
            print(_line(sequences, length, identity, options), flush=True)


def _line(sequences: SequenceSet, length: int, identity: float, options: Any) -> str:
    seconds: dict[str, list[float]] = {}
    expected: Alignments | None = None
    counts: Any = None
    for name, kernel in KERNELS.items():
        options.family = kernel
        job = Job(
            options, find_devices()[:1], sequences, make_scoring("dna"), ENGINES_PER_DEVICE
        )  # fmt: skip
        try:
            found = _results(job)  # also loads kernels, and lets buffers grow
            expected = expected or found
            verify(expected, found)
            before = _counts(job)
            seconds[name] = [job.seconds(Detail.CIGAR) for _ in range(options.repeat)]
            if name == "pruned":
                counts = (_counts(job) - before) // options.repeat
        finally:
            job.close()
    median = {name: statistics.median(each) for name, each in seconds.items()}
    faster = min(median["block diagonals"], median["pruned"])
    shown = [f"{median[n]:.3f} ({min(s):.3f}-{max(s):.3f})" for n, s in seconds.items()]
    return "| " + " | ".join((
        str(len(sequences)), f"{length:,}", f"{identity:.1%}", *shown,
        f"{median['auto'] / faster:.2f}", f"{counts[1]} of {counts[0]}",
        f"{counts[3]:.3g}, {counts[4]:.3g}",
    )) + " |"  # fmt: skip


def _results(job: Job) -> Alignments:
    ahead = max(16, 8 * len(job.engines))
    found = schedule.run(job.engines, job.windows, Want(Detail.CIGAR), job.cost, ahead)
    return concatenate([part for _, part in found])


def _counts(job: Job) -> np.ndarray:
    """What pruning did on all engines, added up."""
    every = [engine.pruned.counts for engine in job.engines if engine.pruned is not None]
    return np.array([list(map(float, one)) for one in every] or [[0.0] * 7]).sum(axis=0)
