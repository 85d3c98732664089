"""The subcommand `posterior`: posteriors of all pairs, on the CPU and on a GPU. Bytes first.

Simulated families by length and share of substitutions (unrelated sequences have 1), or a file's.
Each engine computes the same pairs several times, a GPU as the subcommand has it do so: in batches
of pieces, whose results are let go.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from bench import report
from pairalign.alignments.posteriors import SparsePosteriors
from pairalign.base.limits import default_bytes
from pairalign.engines.cpu.cpu_posterior import PosteriorEngine
from pairalign.engines.cuda.cuda_posterior import CudaPosteriorEngine
from pairalign.engines.posterior_computer import PosteriorComputer, PosteriorRequest
from pairalign.engines.posterior_engines import CALLS, compute_pieces
from pairalign.engines.selection import usable_cores
from pairalign.jobs.posterior.posterior import PIECE_RESIDUES, all_pieces
from pairalign.scoring.posterior_models import posterior_model
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

SETS = (
    (50, 170, 0.6), (300, 170, 0.6), (1000, 170, 0.6), (1000, 170, 1.0), (300, 600, 0.6),
    (60, 3000, 0.6),
)  # fmt: skip
"""Sequences, residues, and which share of these is substituted."""

HEADINGS = (
    "sequences", "residues", "substituted", "entries a residue", "same bytes", "in float64",
    "CPU, M cells/s", "cuda, M cells/s", "all pairs, s",
)  # fmt: skip
FIELDS = ("offsets", "rows", "columns", "values", "arithmetic")
CPU_CELLS = 4 * 10**8


def add_command(commands: Any) -> None:
    """Add `posterior` to the benchmark's commands."""
    parser = commands.add_parser("posterior", help="posteriors of all pairs: cells a second")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda for both (cpu)")
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="FASTA, not simulated")
    parser.add_argument("--threads", type=int, default=usable_cores(), help="of the CPU (all)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; medians (3)")
    parser.add_argument("--most", type=int, help="only the first sets")
    parser.set_defaults(run=run_posterior)


def run_posterior(options: argparse.Namespace) -> None:
    """Print a line for each set; exit with 1 where bytes differ."""
    print(report.machine())
    device = None
    if options.device != "cpu":
        from pairalign.engines.cuda.cuda_selection import usable_devices

        device = usable_devices()[0]
        print(device.model)
    print("| " + " | ".join(HEADINGS) + " |")
    print("|---" * len(HEADINGS) + "|")
    differ = False
    sets = [(read_fasta(str(path)), float("nan")) for path in options.data]
    for sequences, substituted in sets or map(simulated, SETS[: options.most]):
        differ |= _line(sequences, substituted, options, device)
    if differ:
        raise SystemExit(1)


def simulated(what: tuple[int, int, float]) -> tuple[SequenceSet, float]:
    """Return sequences that come from one, with substitutions and some deletions."""
    count, length, substituted = what
    random = np.random.default_rng(count + length)
    residues = np.array(list("ARNDCQEGHILKMFPSTWYV"))
    ancestor = random.choice(residues, length)
    strings = []
    for _ in range(count):
        own = np.where(
            random.random(length) < substituted, random.choice(residues, length), ancestor
        )
        start = random.integers(0, length - length // 20)
        strings.append("".join(np.delete(own, slice(start, start + length // 30))))
    return SequenceSet.from_strings(strings, alphabet="protein"), substituted


def _line(
    sequences: SequenceSet, substituted: float, options: argparse.Namespace, device: Any
) -> bool:
    """Measure one set; return whether bytes differ."""
    first, second = (one.astype(np.int32) for one in np.triu_indices(len(sequences), 1))
    lengths = sequences.lengths.astype(np.int64)
    cells = np.cumsum(lengths[first] * lengths[second])
    some = max(1, int(np.searchsorted(cells, CPU_CELLS)))  # pairs for the CPU
    model = posterior_model(sequences.alphabet)
    with closing(PosteriorEngine(sequences, model, threads=options.threads)) as engine:
        cpu, seconds = _timed(lambda: engine.compute(first[:some], second[:some]), options.repeat)
    shown = [f"{cells[min(some, len(cells)) - 1] / seconds / 1e6:,.0f}"]
    found, same = cpu, "-"
    if device is not None:
        with closing(_open(device, sequences)) as engine:
            found = engine.compute(first, second)
            _stream(engine, lengths)  # pins memory
            _, seconds = _timed(lambda: _stream(engine, lengths), options.repeat)
        shown += [f"{cells[-1] / seconds / 1e6:,.0f}", f"{seconds:.3f}"]
        same = "yes" if _same(cpu, found, some) else "NO"
    residues = int(lengths[first].sum()) if device is not None else int(lengths[first[:some]].sum())
    wide = int((found.arithmetic > 0).sum())
    named = [len(sequences), int(lengths.mean()), f"{substituted:g}"]
    named += [f"{len(found.rows) / residues:.1f}", same, wide]
    print("| " + " | ".join(map(str, [*named, *shown])) + " |", flush=True)
    return same == "NO"


def _timed(run: Callable[[], Any], repeat: int) -> tuple[Any, float]:
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - start)
    return found, statistics.median(seconds)


def _open(device: Any, sequences: SequenceSet) -> PosteriorComputer:
    with device.current():
        free = int(device.driver.mem_get_info()[0])
    return CudaPosteriorEngine(
        device,
        PosteriorRequest(sequences, memory_bytes=int(free * 0.8), calls=CALLS),
        pinned_bytes=default_bytes() // 2,
        least_cells=0,
    )


def _stream(engine: PosteriorComputer, lengths: np.ndarray) -> None:
    pieces = all_pieces(lengths, PIECE_RESIDUES)
    most = max(1, engine.residues_at_once // PIECE_RESIDUES)
    deque(compute_pieces(engine, pieces, most), maxlen=0)


def _same(cpu: SparsePosteriors, found: SparsePosteriors, pairs: int) -> bool:
    """Whether the first pairs have the same bytes."""
    entries = int(cpu.offsets[-1])
    stops = {"offsets": pairs + 1, "arithmetic": pairs}
    return all(
        np.array_equal(getattr(cpu, name), getattr(found, name)[: stops.get(name, entries)])
        for name in FIELDS
    )
