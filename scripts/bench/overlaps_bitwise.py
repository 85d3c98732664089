"""The bitwise filter: the paper's Table IV, real reads all against all, and one CPU core.

    python scripts/benchmark.py bitwise --data amplicons.fa.gz --part gpu
    python scripts/benchmark.py bitwise --data amplicons.fa.gz --part cpu

- pairs: T. Nishimura et al. 2017, Table IV: 32,768 pairs of 128 x n random bases, with the copies
  and without; the paper's own figures beside ours.
- reads: every pair of a file of short reads, beside the affine kernels' scores of the same pairs.
- cpu: the same reads on one core, every instruction set, beside the affine engine.

Verifies first, then times. GCUPS are 1e9 cells of the pairs' matrices a second, TCUPS 1e12.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from bench import report
from bench.cuda_bitwise_pairs import BitwisePairs
from bench.measure import CLOCKS, alternate
from bench.papers_table import Table
from pairalign.engines import Engine
from pairalign.engines.bitwise_scoring import linear_scores
from pairalign.engines.cpu.bitwise import CpuBitwise
from pairalign.engines.cpu.engine import CpuEngine, instruction_sets
from pairalign.engines.cuda.bitwise import Bitwise, Shape
from pairalign.engines.cuda.devices import find_devices
from pairalign.engines.cuda.engine import FAMILIES, CudaEngine, open_cuda_engines
from pairalign.jobs.run import schedule
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, count_cells, plan_windows
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.reading import read_fasta
from pairalign.sequences.sets import SequenceSet

PAIRS, COLUMNS = 32768, 128
SCORES = Want(Detail.SCORE)

PUBLISHED = {
    # n: H2G, W2B, SWA, B2W, G2H, total in ms, 32-bit words on a GTX Titan X
    1024: (5.51, 0.14, 6.91, 0.01, 0.08, 12.66),
    2048: (10.60, 0.22, 12.61, 0.01, 0.08, 23.52),
    4096: (19.01, 0.32, 24.17, 0.01, 0.07, 43.59),
    8192: (38.00, 0.56, 48.29, 0.01, 0.07, 86.94),
    16384: (79.54, 1.02, 96.56, 0.01, 0.08, 177.21),
    32768: (153.31, 1.85, 196.03, 0.01, 0.08, 351.27),
    65536: (299.47, 3.35, 392.52, 0.01, 0.08, 695.42),
}
GOAL_PAIRS, GOAL_READS, GOAL_CPU = 4.0, 3.0, 20.0  # TCUPS, TCUPS, GCUPS


def linear(match: int, mismatch: int, gap: int) -> Scoring:
    return make_scoring(
        "dna", mode="local", match=match, mismatch=-mismatch, gap_open=gap, gap_extend=gap
    )


SCHEMES = ((2, 1, 1), (1, 3, 2), (1, 1, 1))
"""Match, mismatch, gap: the paper's example; the presets short and ont with linear gaps."""


def run(options: argparse.Namespace) -> None:
    print(report.machine() + "\n")
    tables: list[Table] = []
    parts = ("pairs", "reads", "cpu") if options.part == "all" else (options.part,)
    if options.part == "gpu":
        parts = ("pairs", "reads")
    for part in parts:
        made = {"pairs": measure_pairs, "reads": measure_reads, "cpu": measure_cpu}[part](options)
        for table in made:
            print(table.markdown(), flush=True)
            tables.append(table)
    if options.markdown:
        options.markdown.write_text("\n".join(table.markdown() for table in tables))


# ---- 32,768 pairs, as in Table IV


def measure_pairs(options: argparse.Namespace) -> list[Table]:
    device = find_devices()[0]
    tables = []
    for scheme in SCHEMES[:2] if options.quick else SCHEMES:
        table = Table(
            f"32,768 pairs of 128 x n, match {scheme[0]}, mismatch {-scheme[1]}, gap {scheme[2]}, "
            f"on one {device.model} (ms, median of {options.repeat}; in brackets the paper's)",
            ("n", "to device", "transpose", "scores", "to host", "all", "TCUPS of the kernel",
             "range", "TCUPS with copies", "goal 4 met"),
        )  # fmt: skip
        for n in options.lengths:
            table.rows.append(_measure_length(device, linear(*scheme), n, options.repeat))
        tables.append(table)
    return tables


def _measure_length(device: Any, scoring: Scoring, n: int, repeat: int) -> list[str]:
    driver = device.driver
    rng = np.random.default_rng(n)
    with device.current():
        rows = driver.pagelocked_empty((PAIRS, n), np.uint8)
        letters = rng.integers(0, 4, 1 << 22).astype(np.uint8)
        rows.reshape(-1)[...] = np.resize(letters, rows.size)
        columns = driver.pagelocked_empty((PAIRS, COLUMNS), np.uint8)
        columns[...] = rng.integers(0, 4, columns.shape)
        scores = driver.pagelocked_empty(PAIRS, np.int32)
        scores[...] = -1
        scorer = BitwisePairs(device, scoring, PAIRS, n, COLUMNS)
        lengths = {
            "row_lengths": np.full(PAIRS, n, np.int32),
            "column_lengths": np.full(PAIRS, COLUMNS, np.int32),
        }

        def upload() -> None:
            scorer.upload(row_codes=rows, column_codes=columns)

        scorer.upload(**lengths)
        steps: tuple[Callable[[], None], ...] = (
            upload, scorer.transpose, scorer.score, lambda: scorer.download(scores),
        )  # fmt: skip
        times = [[_event_seconds(driver, scorer.stream, step) for step in steps]]
        _verify_pairs(rows, columns, scores, scoring)
        times = [
            [_event_seconds(driver, scorer.stream, step) for step in steps] for _ in range(repeat)
        ]
        scorer.close()
    medians = [statistics.median(one) for one in zip(*times, strict=True)]
    tcells = PAIRS * COLUMNS * n / 1e12
    kernel = [tcells / one[2] for one in times]
    paper = PUBLISHED.get(n)
    theirs = [None] * 5 if paper is None else [paper[0], paper[1], paper[2], paper[4], paper[5]]
    shown = [
        f"{1e3 * ours:.2f}" + (f" ({other:g})" if other is not None else "")
        for ours, other in zip([*medians, sum(medians)], theirs, strict=True)
    ]
    rates = [tcells / medians[2], tcells / sum(medians)]
    others = ["", ""] if paper is None else [
        f" ({tcells / paper[2] * 1e3:.2f})", f" ({tcells / paper[5] * 1e3:.2f})",
    ]  # fmt: skip
    return [
        str(n),
        *shown,
        f"{rates[0]:.2f}{others[0]}",
        f"{min(kernel):.2f}-{max(kernel):.2f}",
        f"{rates[1]:.2f}{others[1]}",
        "yes" if rates[0] >= GOAL_PAIRS else "NO",
    ]


def _event_seconds(driver: Any, stream: Any, step: Callable[[], None]) -> float:
    start, stop = driver.Event(), driver.Event()
    start.record(stream)
    step()
    stop.record(stream)
    stop.synchronize()
    return float(start.time_till(stop)) / 1e3


def _verify_pairs(
    rows: np.ndarray, columns: np.ndarray, scores: np.ndarray, scoring: Scoring
) -> None:
    """Compare some pairs of every part of the batch with the affine CPU engine."""
    assert scores.min() > 0, "not every score was written"
    chosen = np.arange(0, PAIRS, PAIRS // 24)[:24]
    letters = np.array(list("ACGT"))
    one = SequenceSet.from_strings(["".join(letters[r]) for r in rows[chosen]], alphabet="dna")
    other = SequenceSet.from_strings(["".join(letters[c]) for c in columns[chosen]], alphabet="dna")
    window = Window(0, 0, len(one), 0, len(other), False)
    expected = CpuEngine(one, other, scoring, threads=4).align(
        window, SCORES, np.eye(len(chosen), dtype=bool).reshape(-1)
    )
    assert np.array_equal(expected.raw_score, scores[chosen]), "scores differ"


# ---- real reads, all against all


def measure_reads(options: argparse.Namespace) -> list[Table]:
    device = find_devices()[0]
    reads = read_fasta(options.data, alphabet="dna")
    lengths = reads.lengths[reads.order]
    whole = Window(0, 0, len(reads), 0, len(reads), True)
    tcells = count_cells(whole, lengths, lengths) / 1e12
    table = Table(
        f"{len(reads):,} reads of {lengths[-1]}-{lengths[0]} bases, every pair "
        f"({whole.pairs:,} pairs, {tcells:.3f} Tcells), on one {device.model}",
        ("scoring", "kernel", "TCUPS of the kernel (range)", "TCUPS of all windows (range)",
         "goal 3 met"),
    )  # fmt: skip
    schemes = SCHEMES[:2] if options.quick else SCHEMES
    jobs = [(f"linear {scheme[0]}/{-scheme[1]}/{scheme[2]}", linear(*scheme)) for scheme in schemes]
    kernels = [(name, scoring, "bitwise") for name, scoring in jobs]
    kernels += [(jobs[0][0], jobs[0][1], "packed")]
    kernels += [("affine 2/-3/5/2", make_scoring("dna", mode="local"), "packed")]
    for name, scoring, family in kernels:
        if family == "bitwise":
            _verify_reads(device, reads, scoring)
        engines = open_cuda_engines(
            [device], reads, None, scoring, per_device=3, family=family, detail=Detail.SCORE,
            host_memory_bytes=4 << 30,
        )  # fmt: skip
        windows = plan_windows(len(reads), None, options.window)

        def one_pass(engines: list[Engine] = engines, windows: list[Window] = windows) -> None:
            cost = lambda window: count_cells(window, lengths, lengths)  # noqa: E731
            for _ in schedule.run(engines, windows, SCORES, cost, 64):
                pass

        one_pass()
        seconds = alternate({"all": one_pass}, options.repeat)["all"]
        for engine in engines:
            engine.close()
        kernel = []
        if family == "bitwise":
            kernel = _kernel_seconds(device, reads, scoring, whole, options)
        rate = tcells / statistics.median(kernel) if kernel else 0.0
        table.rows.append(
            [name, family, _rates(tcells, kernel) if kernel else "", _rates(tcells, seconds),
             ("yes" if rate >= GOAL_READS else "NO") if kernel else ""]
        )  # fmt: skip
    return [table]


def _rates(cells: float, seconds: list[float]) -> str:
    rates = [cells / one for one in seconds]
    return f"{cells / statistics.median(seconds):.2f} ({min(rates):.2f}-{max(rates):.2f})"


def _verify_reads(device: Any, reads: SequenceSet, scoring: Scoring) -> None:
    """Compare all scores of two windows with the affine CPU engine."""
    engine = CudaEngine(device, reads, None, scoring, family="bitwise", detail=Detail.SCORE)
    judge = CpuEngine(reads, None, scoring, threads=8)
    lengths = reads.lengths[reads.order].astype(np.int64)
    size = min(400, len(reads))
    while lengths[:size].sum() * lengths[-size:].sum() > 3e10:
        size -= size // 4
    for strand in (1, -1):
        window = Window(0, 0, size, len(reads) - size, len(reads), True, strand)
        ours, theirs = (one.align(window, SCORES).raw_score for one in (engine, judge))
        assert np.array_equal(ours, theirs), "scores differ"
    engine.close()


class TimedBitwise(Bitwise):
    """Notes when each of its scoring kernels began and ended."""

    def __init__(self, shape: Shape | None = None) -> None:
        super().__init__(shape)
        self.times: list[tuple[Any, Any]] = []

    def launch(self, kernel: str, *arguments: Any) -> None:
        driver, stream = self._context.driver, self._slot.stream
        start, stop = driver.Event(), driver.Event()
        start.record(stream)
        super().launch(kernel, *arguments)
        stop.record(stream)
        if kernel != "transpose_columns":
            self.times.append((start, stop))


def _kernel_seconds(
    device: Any, reads: SequenceSet, scoring: Scoring, window: Window, options: argparse.Namespace
) -> list[float]:
    """Seconds of the scoring kernel alone, on one window of all pairs."""
    family = TimedBitwise()
    found = []
    with patch.dict(FAMILIES, {"bitwise": lambda: family}):
        engine = CudaEngine(device, reads, None, scoring, family="bitwise", detail=Detail.SCORE)
        for _ in range(options.repeat + 1):
            family.times.clear()
            engine.align(window, SCORES)
            with device.current():
                found.append(sum(start.time_till(stop) for start, stop in family.times) / 1e3)
        engine.close()
    return found[1:]


# ---- one CPU core


def measure_cpu(options: argparse.Namespace) -> list[Table]:
    reads = read_fasta(options.data, alphabet="dna")
    step = max(1, len(reads) // options.sequences)
    letters = [str(one) for one in reads][::step][: options.sequences]
    sample = SequenceSet.from_strings(letters, alphabet="dna")
    lengths = sample.lengths[sample.order]
    window = Window(0, 0, len(sample), 0, len(sample), True)
    gcells = count_cells(window, lengths, lengths) / 1e9
    table = Table(
        f"One core: {len(sample)} reads of {lengths[-1]}-{lengths[0]} bases, every pair, scores "
        f"only (GCUPS, median of {options.repeat} rounds, {options.clock} clock)",
        ("scoring", "instruction set", "bitwise (range)", "affine engine (range)", "ratio",
         "goal 20 met"),
    )  # fmt: skip
    for scheme in SCHEMES:
        scoring = linear(*scheme)
        for isa in instruction_sets():
            ours = CpuBitwise(sample, None, scoring, instruction_set=isa)
            judge = CpuEngine(sample, None, scoring, instruction_set=isa)
            first, second = (one.align(window, SCORES) for one in (ours, judge))
            assert np.array_equal(first.raw_score, second.raw_score), "scores differ"
            affine = CpuEngine(sample, None, make_scoring("dna", mode="local"), instruction_set=isa)
            times = alternate(
                {
                    "bitwise": lambda ours=ours: ours.align(window, SCORES),  # type: ignore[misc]
                    "affine": lambda one=affine: one.align(window, SCORES),  # type: ignore[misc]
                },
                options.repeat,
                CLOCKS[options.clock],
            )
            rate, other = (gcells / statistics.median(times[k]) for k in ("bitwise", "affine"))
            table.rows.append(
                [f"linear {scheme[0]}/{-scheme[1]}/{scheme[2]}", isa,
                 _rates(gcells, times["bitwise"]), _rates(gcells, times["affine"]),
                 f"{rate / other:.2f}",
                 ("yes" if rate >= GOAL_CPU else "NO") if isa == "avx512" else ""]
            )  # fmt: skip
    shown = linear_scores(linear(*SCHEMES[0]))
    longest = int(lengths[0])
    table.notes.append(
        f"The paper's circuit would take {shown.paper_operations(longest, longest)} operations a "
        "cell for the first scoring."
    )
    return [table]


def add_command(commands: Any) -> None:
    parser = commands.add_parser("bitwise", help="the bitwise filter on a GPU and on one core")
    parser.add_argument("--data", type=Path, required=True, help="short reads, FASTA or FASTQ")
    parser.add_argument(
        "--part", choices=("all", "gpu", "pairs", "reads", "cpu"), default="all", help="(all)"
    )
    parser.add_argument("--lengths", type=int, nargs="+", default=list(PUBLISHED), metavar="N")
    parser.add_argument("--repeat", type=int, default=7, help="rounds (7)")
    parser.add_argument("--sequences", type=int, default=320, help="of the CPU's sample (320)")
    parser.add_argument("--window", type=int, default=1024, help="rows and columns (1024)")
    parser.add_argument("--clock", choices=CLOCKS, default="cpu", help="of the one core (cpu)")
    parser.add_argument("--quick", action="store_true", help="leave out the third scoring")
    parser.add_argument("--markdown", type=Path, help="write the tables there too")
    parser.set_defaults(run=run)
