"""The subcommand `host`: what a pair costs the host once an engine has its result. Needs no GPU.

Simulated engines hand out ready-made results at no cost, so that what is left is the host: naming
the pairs, planning, formatting and writing text, distances, the summary. The sequences are copies
of a few ones under many names, all of one length; so the results of a window are those of the
window before it, which the CPU engine has aligned once (but for the names, which are random).
Nothing is written to a disk unless ``--output`` says so.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.passes import place_in_triangle
from pairalign.alignments.problem import Problem
from pairalign.cli.summary import Summary
from pairalign.engines import Engine
from pairalign.engines.cpu.engine import CpuEngine
from pairalign.formats import open_writer
from pairalign.formats.distances import write_distances
from pairalign.jobs.distances.distances import measure_run
from pairalign.jobs.distances.measures import MEASURES, self_scores
from pairalign.jobs.run.align import AlignmentJob
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, count_pairs, plan_windows
from pairalign.requests.align import AlignRequest
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.reading import read_fasta
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import number_of_pairs

WINDOW = 1024
DISTINCT = 64  # a divisor of WINDOW: then every window has the same results
LETTERS = 300

JOBS = {
    "score, none": ("none", Detail.SCORE),
    "score, tsv": ("tsv", Detail.SCORE),
    "score, parquet": ("parquet", Detail.SCORE),
    "score, distance npy": ("score", Detail.SCORE),
    "stats, none": ("none", Detail.STATS),
    "stats, tsv": ("tsv", Detail.STATS),
    "stats, paf": ("paf", Detail.STATS),
    "stats, distance npy": ("identity-aligned", Detail.STATS),
    "cigar, none": ("none", Detail.CIGAR),
    "cigar, tsv": ("tsv", Detail.CIGAR),
    "cigar, paf": ("paf", Detail.CIGAR),
    "cigar, parquet": ("parquet", Detail.CIGAR),
}
"""Format or measure, and detail, of each line of the table."""

GPU_PAIRS = {Detail.SCORE: 20e6, Detail.STATS: 12e6, Detail.CIGAR: 12e6}
"""Pairs a second of one H200 on human proteins (mean length 578), to say how many a host feeds."""


def add_command(commands: Any) -> None:
    """Add `host` to the command line."""
    parser = commands.add_parser("host", help="nanoseconds of the host a pair, without a GPU")
    parser.add_argument("--data", type=Path, help="sequences to copy, else random proteins")
    parser.add_argument("--length", type=int, default=LETTERS, help=f"residues ({LETTERS})")
    parser.add_argument("--sequences", type=int, default=6144, metavar="N", help="(6144)")
    parser.add_argument("--job", nargs="*", choices=list(JOBS), help="lines of the table (all)")
    parser.add_argument(
        "--threads", type=int, nargs="*", help="formatters, a column each (1, 2, 4 ... cores)"
    )
    parser.add_argument("--engines", type=int, default=2, help="simulated engines (2)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds (3)")
    parser.add_argument("--output", type=Path, default=Path(os.devnull), help="file (/dev/null)")
    parser.add_argument("--parts", action="store_true", help="where the time goes, as well")
    parser.set_defaults(run=run_host)


def run_host(options: Namespace) -> None:
    """Print the tables."""
    sequences = make_set(options.data, options.sequences, options.length)
    scoring = make_scoring(sequences.alphabet)
    threads = options.threads or _powers(os.cpu_count() or 1)
    names = options.job or list(JOBS)
    pairs = count_pairs(0, len(sequences), 0, len(sequences), True)
    print(
        f"{pairs:,} pairs of {options.length} residues, {options.engines} simulated engines, "
        f"{os.cpu_count()} cores; nanoseconds a pair, medians of {options.repeat}\n"
    )
    headings = ["job", *(f"{n} threads" for n in threads), "main thread", "all threads", "GPUs fed"]
    print(_line(headings), _line(["---"] * len(headings)), sep="\n", flush=True)
    for name in names:
        kind, detail = JOBS[name]
        source = Recycled(sequences, scoring, detail)
        jobs = {
            count: _job(source, kind, count, options.engines, options.output) for count in threads
        }
        taken = {count: [job() for _ in range(options.repeat)] for count, job in jobs.items()}
        wall = {count: _median(taken[count], 0) / pairs for count in threads}
        last = taken[threads[-1]]
        fed = 1e9 / GPU_PAIRS[detail] / wall[threads[-1]]
        cells = [*wall.values(), _median(last, 1) / pairs, _median(last, 2) / pairs]
        print(_line([name, *(f"{cell:.1f}" for cell in cells), f"{fed:.1f}"]), flush=True)
        if options.parts:
            for part, nanoseconds in measure_parts(source, kind).items():
                print(f"|   {part} | {nanoseconds:.1f} |", flush=True)


def make_set(data: Path | None, count: int, length: int) -> SequenceSet:
    """Make a set of copies of `DISTINCT` sequences of one length, whole windows of them."""
    if data is None:
        random = np.random.default_rng(1)
        parent = random.integers(0, 20, length)
        letters = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)
        changed = random.random((DISTINCT, length)) < 0.6
        codes = np.where(changed, random.integers(0, 20, (DISTINCT, length)), parent)
        distinct = [letters[row].tobytes().decode() for row in codes]
    else:
        long = [one.letters[:length] for one in read_fasta(data) if len(one) >= length]
        if len(long) < DISTINCT:
            raise SystemExit(f"{data}: {len(long)} sequences of {length} residues or more")
        distinct = long[:: len(long) // DISTINCT][:DISTINCT]
    count = max(WINDOW, count // WINDOW * WINDOW)
    return SequenceSet.from_strings(
        {f"sp|P{k:05d}|COPY{k}_HUMAN": distinct[k % DISTINCT] for k in range(count)}
    )


class Recycled:
    """Results of any slab of a set made by `make_set`, cut from those of two windows."""

    def __init__(self, sequences: SequenceSet, scoring: Scoring, detail: Detail) -> None:
        self.sequences, self.scoring, self.detail = sequences, scoring, detail
        small = _head(sequences)
        engine = CpuEngine(small, small, scoring, threads=os.cpu_count() or 1)
        tile = engine.align(Window(0, 0, DISTINCT, 0, DISTINCT, False), Want(detail))
        engine.close()
        self._windows = {
            triangular: self._repeat(tile, Window(0, 0, WINDOW, 0, WINDOW, triangular))
            for triangular in (False, True)
        }
        # Sets are not sorted by length: names come in another order than rows and columns.
        shuffled = np.random.default_rng(2).permutation(len(sequences)).astype(np.int32)
        self._names = {}
        for window in plan_windows(len(sequences), window=WINDOW):
            one, other = (shuffled[places] for places in window.positions())
            names = np.minimum(one, other), np.maximum(one, other)
            self._names[window.row_start, window.column_start] = names

    def _repeat(self, tile: Alignments, window: Window) -> Alignments:
        rows, columns = window.positions()
        columns_ = (columns % DISTINCT).astype(np.int64)
        found = tile.take(rows.astype(np.int64) % DISTINCT * DISTINCT + columns_)
        return replace(
            found, queries=self.sequences, targets=self.sequences, query=rows, target=columns
        )

    def of(self, slab: Window) -> Alignments:
        """Results of a slab, ready-made: views of what is there."""
        start, diagonal = slab.row_start % WINDOW, slab.row_start // WINDOW * WINDOW
        triangular = diagonal == slab.column_start
        offsets = Window(0, 0, WINDOW, 0, WINDOW, triangular).row_offsets
        pairs = slice(int(offsets[start]), int(offsets[start + slab.row_stop - slab.row_start]))
        query, target = self._names[diagonal, slab.column_start]
        return replace(self._windows[triangular][pairs], query=query[pairs], target=target[pairs])

    def run(self, threads: int, engines: int) -> AlignmentJob:
        """A run that these results are the results of."""
        run = SimulatedRun(
            self.sequences,
            None,
            self.scoring,
            Want(self.detail),
            device="cpu",
            threads=threads,
            window=WINDOW,
        )
        run.engines = [SimulatedEngine(self, f"cuda:{k}") for k in range(engines)]
        return run


def _head(sequences: SequenceSet) -> SequenceSet:
    return SequenceSet.from_strings(
        {sequences.names[k]: sequences[k].letters for k in range(DISTINCT)},
        alphabet=sequences.alphabet,
    )


class SimulatedEngine:
    """An engine that has all results already."""

    is_gpu = True
    on_device = None

    def __init__(self, source: Recycled, name: str) -> None:
        self.name, self._source = name, source

    def align(
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Results of a window."""
        return self._source.of(window)

    def cancel(self) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing is held."""


class SimulatedRun(AlignmentJob):
    """A run on simulated engines."""

    engines: Sequence[Engine]

    def _open_engines(self) -> Sequence[Engine]:
        return self.engines


Taken = tuple[float, float, float]  # nanoseconds: wall, the main thread's, all threads'


def _job(
    source: Recycled, kind: str, threads: int, engines: int, path: Path
) -> Callable[[], Taken]:
    def job() -> Taken:
        clocks = time.perf_counter_ns, time.thread_time_ns, time.process_time_ns
        before = [clock() for clock in clocks]
        _do(source.run(threads, engines), kind, path)
        wall, main, all_threads = (clock() - was for clock, was in zip(clocks, before, strict=True))
        return wall, main, all_threads

    return job


def _do(run: AlignmentJob, kind: str, path: Path) -> None:
    """What the command does between engines and the last line on stderr."""
    sequences = run.queries
    if kind in MEASURES:
        matrix = measure_run(run, MEASURES[kind])
        write_distances(path, matrix, "npy")
        return
    summary = Summary(run.problem, AlignRequest(), pairs=run.pairs, cells=run.cells)
    if kind == "none":
        for alignments in run:
            summary.add(alignments)
            del alignments
        return
    with (
        run.open() as results,
        open_writer(
            path, kind, sequences, sequences, run.scoring, run.want.detail, threads=run.threads
        ) as writer,
    ):
        for alignments in results:
            writer.write(alignments)
            summary.add(alignments)
            del alignments


def measure_parts(source: Recycled, kind: str) -> dict[str, float]:
    """Nanoseconds a pair of single steps, each on one thread, on a whole window of results."""
    sequences = source.sequences
    window = plan_windows(len(sequences), window=WINDOW)[1 if len(sequences) > WINDOW else 0]
    alignments = source.of(window)
    summary = Summary(Problem(sequences, None, source.scoring), AlignRequest(), pairs=1, cells=1)
    parts: dict[str, Callable[[], object]] = {
        "rows and columns": window.positions,
        "checks of columns": lambda: replace(alignments),
        "summary": lambda: summary.add(alignments),
    }
    if kind in MEASURES:
        own = self_scores(sequences, source.scoring)
        condensed = np.zeros(number_of_pairs(len(sequences)), np.float32)
        values = MEASURES[kind].compute(alignments, own)
        names = alignments.query, alignments.target
        parts["measure"] = lambda: MEASURES[kind].compute(alignments, own)
        parts["place"] = lambda: place_in_triangle(*names, values, len(sequences), condensed)
    elif kind != "none":
        parts["text, one thread"] = lambda: _write_once(alignments, kind, source.detail)
    return {name: _time(part) / len(alignments) for name, part in parts.items()}


def _write_once(alignments: Alignments, kind: str, detail: Detail) -> None:
    sets = alignments.queries, alignments.targets
    with open_writer(os.devnull, kind, *sets, alignments.scoring, detail, threads=1) as writer:
        writer.write(alignments)


def _time(part: Callable[[], object], rounds: int = 5) -> float:
    taken = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        part()
        taken.append(time.perf_counter_ns() - start)
    return statistics.median(taken)


def _median(taken: list[Taken], which: int) -> float:
    return statistics.median(one[which] for one in taken)


def _powers(cores: int) -> list[int]:
    return [1 << k for k in range(int(math.log2(cores)) + 1)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
