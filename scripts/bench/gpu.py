"""The GPU engine: gpu-pairAlign's own tables on today's GPUs. Verifies first, then times.

The tables have the shape of those of Blazewicz et al. 2011: cells a second for six mean lengths,
three modes, with and without traceback (their tables 7 and 8), several GPUs (5 and 6), and the time
a pair for small sets (figure 6). A run is timed from the first window to the last result on the
host, engines being open and kernels loaded; results are dropped.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import numpy as np

from bench import gpu_goals, report
from bench.gpu_job import Job
from pairalign.base.choices import MODES
from pairalign.engines.cpu.engine import CpuEngine
from pairalign.engines.cuda.cuda_device import CudaDevice
from pairalign.engines.cuda.devices import find_devices
from pairalign.engines.cuda.engine import ENGINES_PER_DEVICE, FAMILIES, open_cuda_engines
from pairalign.jobs.run import schedule
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import plan_windows
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.reading import read_fasta
from pairalign.sequences.sets import SequenceSet

PAPER = {"matrix": "BLOSUM50", "gap_open": 10, "gap_extend": 2}


@dataclass
class Measurement:
    """One line of a table."""

    data: str
    sequences: int
    mean_length: float
    mode: str
    detail: str
    gpus: int
    gcells: float
    seconds: list[float]

    @property
    def gcups(self) -> float:
        """1e9 cells a second at the median time."""
        return self.gcells / statistics.median(self.seconds)

    @property
    def spread(self) -> str:
        """Slowest and fastest run."""
        return f"{self.gcells / max(self.seconds):.0f}-{self.gcells / min(self.seconds):.0f}"


def measure(
    options: argparse.Namespace,
    name: str,
    devices: Sequence[CudaDevice],
    sequences: SequenceSet,
    mode: str,
    details: Sequence[Detail],
) -> list[Measurement]:
    """Time one set in one mode, as many times as the options say."""
    scoring = make_scoring(sequences.alphabet, mode=mode, **PAPER)
    scoring.check_sets(sequences)
    job = Job(options, devices, sequences, scoring, options.per_device)
    found = []
    try:
        for detail in details:
            job.warm_up(detail)
            seconds = job.repeat(detail, options.repeat, options.limit)
            found.append(
                Measurement(
                    name,
                    len(sequences),
                    float(sequences.lengths.mean()),
                    mode,
                    detail.name,
                    len(devices),
                    job.gcells,
                    seconds,
                )
            )
            print(asdict(found[-1]) | {"gcups": round(found[-1].gcups, 1)}, file=sys.stderr)
    finally:
        job.close()
    return found


def verify(options: argparse.Namespace, devices: Sequence[CudaDevice], path: Path) -> None:
    """Compare with the CPU engine, byte for byte, on a part of a set."""
    sequences = part_of(read_fasta(path), 300)
    for mode in MODES:
        scoring = make_scoring(sequences.alphabet, mode=mode, **PAPER)
        cpu = CpuEngine(sequences, None, scoring, threads=os.cpu_count() or 1)
        engines = open_cuda_engines(devices, sequences, None, scoring, family=options.family)
        windows = plan_windows(len(sequences), None, 100)
        try:
            for window, found in schedule.run(engines, windows, Want(), lambda w: w.pairs, 8):
                expected = cpu.align(window, Want())
                for column in ("query", "target", "raw_score", "cigar", "cigar_offsets", "matches"):
                    if not np.array_equal(getattr(expected, column), getattr(found, column)):
                        raise SystemExit(f"{path.name}, {mode}: {column} differs in {window}")
        finally:
            cpu.close()
            for engine in engines:
                engine.close()


def part_of(
    sequences: SequenceSet, number: int, shortest: int = 1, longest: int = 1 << 30
) -> SequenceSet:
    """Take every k-th sequence of such lengths, `number` of them."""
    lengths = sequences.lengths
    usable = np.flatnonzero((lengths >= shortest) & (lengths <= longest))
    chosen = usable[np.linspace(0, len(usable) - 1, min(number, len(usable))).astype(int)]
    return SequenceSet.from_strings(
        {sequences[int(k)].name: sequences[int(k)].letters for k in chosen},
        alphabet=sequences.alphabet,
    )


def table_of_lengths(found: list[Measurement]) -> list[str]:
    """GCUPS with and without traceback and their ratio: the paper's tables 7 and 8."""
    lines = [
        "| set | sequences | mean length | mode | with traceback (range) | scores only (range) | "
        "ratio |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    by_key: dict[tuple[str, str], dict[str, Measurement]] = {}
    for one in found:
        by_key.setdefault((one.data, one.mode), {})[one.detail] = one
    for (data, mode), pair in by_key.items():
        traced, scores = pair.get("CIGAR"), pair.get("SCORE")
        one = traced or scores
        assert one is not None
        cells = [f"{m.gcups:,.0f} ({m.spread})" if m is not None else "" for m in (traced, scores)]
        ratio = f"{scores.gcups / traced.gcups:.2f}" if traced and scores else ""
        lines.append(
            f"| {data} | {one.sequences} | {one.mean_length:.0f} | {mode} | {cells[0]} "
            f"| {cells[1]} | {ratio} |"
        )
    return lines


def table_of_gpus(found: list[Measurement]) -> list[str]:
    """Seconds and speedup by number of GPUs: the paper's tables 5 and 6."""
    lines = [
        "| set | sequences | mode | detail | GPUs | seconds | GCUPS | speedup |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    alone = {(m.data, m.mode, m.detail): m for m in found if m.gpus == 1}
    for one in found:
        base = alone.get((one.data, one.mode, one.detail))
        speedup = f"{one.gcups / base.gcups:.2f}" if base else ""
        lines.append(
            f"| {one.data} | {one.sequences} | {one.mode} | {one.detail} | {one.gpus} | "
            f"{statistics.median(one.seconds):.2f} | {one.gcups:,.0f} | {speedup} |"
        )
    return lines


def table_of_small_sets(found: list[Measurement]) -> list[str]:
    """Microseconds a pair by number of sequences: the paper's figure 6."""
    sizes = sorted({one.sequences for one in found})
    lines = [
        "| mode | " + " | ".join(str(size) for size in sizes) + " |",
        "| --- |" + " --- |" * len(sizes),
    ]
    for mode in MODES:
        cells = []
        for size in sizes:
            for one in found:
                if (one.mode, one.sequences) == (mode, size):
                    pairs = size * (size - 1) // 2
                    cells.append(f"{statistics.median(one.seconds) / pairs * 1e6:.3g}")
        if cells:
            lines.append(f"| {mode} | " + " | ".join(cells) + " |")
    return lines


def run(options: argparse.Namespace) -> None:
    """Measure what the options ask for; print Markdown, and write it with the raw times."""
    devices = find_devices()
    files = sorted(path for folder in options.data for path in _files(folder))
    if not options.no_verify and files:
        verify(options, devices[: max(options.gpus)], files[0])
    everything: list[Measurement] = []
    sections: list[list[str]] = []
    for name, heading, measure_table, table in TABLES:
        if name in options.table:
            found = measure_table(options, devices, files)
            everything += found
            sections.append([heading, "", *table(found)])
    if "goals" in options.table:
        lines = gpu_goals.goals(options, devices, files)
        sections.append(["BLOSUM62, gaps 11/1, into host memory:", "", *lines])
    if "kernels" in options.table:
        lines = gpu_goals.kernels(options, devices[0], files)
        sections.append(["BLOSUM62, gaps 11/1, kernels alone:", "", *lines])
    if "all" in options.table:
        sections.append(["All pairs:", "", *gpu_goals.all_pairs(options, devices)])
    text = describe(options, devices, sections)
    print(text)
    if options.output:
        write_results(options, text, everything)


def measure_lengths(
    options: argparse.Namespace, devices: list[CudaDevice], files: list[Path]
) -> list[Measurement]:
    """Measure each file on one GPU."""
    details = [Detail.CIGAR] + ([] if options.no_scores else [Detail.SCORE])
    found = []
    for path in files:
        sequences = read_fasta(path)
        for mode in options.mode or list(MODES):
            found += measure(options, path.name, devices[:1], sequences, mode, details)
    return found


def measure_gpus(
    options: argparse.Namespace, devices: list[CudaDevice], files: list[Path]
) -> list[Measurement]:
    """Measure one file on several numbers of GPUs."""
    path = options.scaling_data or files[-1]
    sequences = part_of(read_fasta(path), options.sequences, options.shortest, options.longest)
    found = []
    for mode in options.mode or list(MODES):
        for gpus in options.gpus:
            found += measure(options, path.name, devices[:gpus], sequences, mode, [Detail.CIGAR])
    return found


def measure_small_sets(
    options: argparse.Namespace, devices: list[CudaDevice], files: list[Path]
) -> list[Measurement]:
    """Measure the first sequences of a file, from 16 on."""
    path = next((path for path in files if "0257" in path.name), files[0])
    sequences = read_fasta(path)
    found = []
    for mode in options.mode or list(MODES):
        for size in (16, 32, 48, 80, 128, 256, 512, 1024):
            part = part_of(sequences, size)
            found += measure(options, path.name, devices[:1], part, mode, [Detail.CIGAR])
    return found


TABLES = (
    ("lengths", "One GPU, billions of cells a second:", measure_lengths, table_of_lengths),
    ("gpus", "Several GPUs, with traceback:", measure_gpus, table_of_gpus),
    (
        "small",
        "Microseconds a pair by number of sequences:",
        measure_small_sets,
        table_of_small_sets,
    ),
)
"""Name, heading, what measures, and what makes the lines."""


def describe(
    options: argparse.Namespace, devices: list[CudaDevice], sections: list[list[str]]
) -> str:
    """Return what was measured on what, then the tables, as Markdown."""
    models = ", ".join(f"{len(devices)} x {device.model}" for device in devices[:1])
    lines = [
        f"{models}; {report.machine()}; BLOSUM50, gaps 10/2 unless said otherwise; kernels "
        f"`{options.family}`, windows of {options.window}, {options.per_device} engines a GPU; "
        f"median of up to "
        f"{options.repeat} runs. Command: `{' '.join(['python', *sys.argv])}`"
    ]
    for section in sections:
        lines += ["", *section]
    return "\n".join(lines) + "\n"


def write_results(options: argparse.Namespace, text: str, everything: list[Measurement]) -> None:
    """Write the tables, and the raw times as JSON."""
    options.output.mkdir(parents=True, exist_ok=True)
    stem = options.output / f"{options.label}-{options.family}-{'-'.join(options.table)}"
    stem.with_suffix(".md").write_text(text)
    saved = {
        "date": f"{date.today()}",
        "machine": f"{find_devices()[0].model}, {date.today()}",
        "runs": [asdict(one) for one in everything],
    }
    stem.with_suffix(".json").write_text(json.dumps(saved, indent=1) + "\n")


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return [one for one in path.iterdir() if one.name.endswith((".fa.gz", ".fa", ".fasta"))]
    return [path]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``gpu`` to the benchmark's commands."""
    parser = commands.add_parser(
        "gpu", help="the GPU engine in the shape of gpu-pairAlign's tables; needs no peers"
    )
    parser.add_argument(
        "--data", type=Path, nargs="*", default=[], help="FASTA files, or folders of them"
    )
    parser.add_argument(
        "--table",
        nargs="+",
        choices=("lengths", "gpus", "small", "goals", "kernels", "all"),
        default=["lengths"],
        help="lengths: six mean lengths; gpus: several GPUs; small: small sets; goals: what the "
        "packed kernels should reach; kernels: their times one by one; all: all pairs of "
        "--scaling-data",
    )
    parser.add_argument(
        "--equal", type=int, nargs="*", default=[512], help="goals: sets of such equal lengths"
    )
    parser.add_argument(
        "--detail",
        type=Detail.__getitem__,
        nargs="+",
        default=[Detail.SCORE, Detail.CIGAR],
        help="goals, kernels: SCORE, STATS, CIGAR (SCORE CIGAR)",
    )
    parser.add_argument("--gpus", type=int, nargs="+", default=[1], help="numbers of GPUs")
    parser.add_argument("--scaling-data", type=Path, help="the set for several GPUs")
    parser.add_argument("--sequences", type=int, default=8000, help="sequences of it (8000)")
    parser.add_argument("--shortest", type=int, default=1, help="least residues")
    parser.add_argument("--longest", type=int, default=1 << 30, help="most residues")
    parser.add_argument("--mode", action="append", choices=MODES, help="only this mode")
    parser.add_argument("--family", choices=list(FAMILIES), default="pair-per-thread")
    parser.add_argument("--window", type=int, default=1024)
    parser.add_argument(
        "--per-device", type=int, default=ENGINES_PER_DEVICE, help="engines a GPU (%(default)s)"
    )
    parser.add_argument("--repeat", type=int, default=5, help="most runs of each (5)")
    parser.add_argument(
        "--limit", type=float, default=5.0, help="no further run after N seconds (5)"
    )
    parser.add_argument("--no-scores", action="store_true", help="with traceback only")
    parser.add_argument("--no-verify", action="store_true", help="skip the comparison with the CPU")
    parser.add_argument("--output", type=Path, help="folder for the tables and the raw times")
    parser.add_argument("--label", default="gpu", help="first part of the files' names")
    parser.set_defaults(run=run)
