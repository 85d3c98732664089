"""The GPU engine in host memory: GCUPS by length, mode and detail, with goals. Verifies first.

``scripts/benchmark.py gpu --data mean*.fa.gz --equal 512``; several GPUs with ``--gpus 1 2``. A run
is timed from the first window to the last result on the host, engines being open and kernels
loaded; results are dropped. A part of the first file is compared with the CPU engine first.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench import report
from bench.gpu_job import Job
from pairalign.alignments.problem import Problem
from pairalign.base.choices import MODES
from pairalign.engines import EngineRequest
from pairalign.engines.cpu.cpu_engine import CpuEngine
from pairalign.engines.cuda.cuda_device import CudaDevice
from pairalign.engines.cuda.cuda_devices import find_devices
from pairalign.engines.cuda.cuda_engine import ENGINES_PER_DEVICE, FAMILIES, open_cuda_engines
from pairalign.jobs.run import schedule
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import plan_windows
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

GOALS = {
    ("equal 512", "global", Detail.SCORE): 6500,
    ("equal 512", "local", Detail.SCORE): 5500,
    ("equal 512", "global", Detail.CIGAR): 4950,
    ("equal 512", "local", Detail.CIGAR): 4200,
}
"""GCUPS of one H200 with `packed`; and of real sets with CIGARs, by the number in a file's name:"""
GOALS_BY_LENGTH = {154: 1500, 257: 2500, 459: 3500, 1103: 3500}
TIMES_ONE_GPU = {2: 1.8, 4: 3.6}


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``gpu`` to the benchmark's commands."""
    parser = commands.add_parser("gpu", help="the GPU engine: GCUPS by length; needs no peers")
    parser.add_argument(
        "--data", type=Path, nargs="*", default=[], help="FASTA files, or folders of them"
    )
    parser.add_argument("--equal", type=int, nargs="*", default=[512], help="random sets (512)")
    parser.add_argument(
        "--detail", type=Detail.__getitem__, nargs="+", default=[Detail.SCORE, Detail.CIGAR],
        help="SCORE, STATS, CIGAR (SCORE CIGAR)",
    )  # fmt: skip
    parser.add_argument("--gpus", type=int, nargs="+", default=[1], help="numbers of GPUs (1)")
    parser.add_argument("--mode", action="append", choices=MODES, help="only this mode")
    parser.add_argument("--family", choices=list(FAMILIES), default="packed", help="(packed)")
    parser.add_argument("--window", type=int, default=1024)
    parser.add_argument("--per-device", type=int, default=ENGINES_PER_DEVICE, help="engines a GPU")
    parser.add_argument("--repeat", type=int, default=5, help="most runs of each (5)")
    parser.add_argument("--limit", type=float, default=5.0, help="no run after N seconds (5)")
    parser.add_argument("--no-verify", action="store_true", help="skip the comparison with the CPU")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure what the options ask for; print Markdown."""
    devices = find_devices()
    files = sorted(path for folder in options.data for path in _files(folder))
    if not options.no_verify and files:
        verify(options, devices[: max(options.gpus)], files[0])
    print(f"{devices[0].model}; {report.machine()}; BLOSUM62, gaps 11/1; `{options.family}`")
    print("\n| set | mode | detail | GPUs | GCUPS (range) | seconds | times one GPU | goal | met |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, sequences in sets_of(files, options.equal):
        for mode in options.mode or MODES:
            for detail in options.detail:
                for line in measure(options, devices, name, sequences, mode, detail):
                    print(line, flush=True)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return [one for one in path.iterdir() if one.name.endswith((".fa.gz", ".fa", ".fasta"))]
    return [path]


def sets_of(files: list[Path], lengths: list[int]) -> Iterator[tuple[str, SequenceSet]]:
    """Yield the sets to measure, with their names."""
    for length in lengths:
        rng = np.random.default_rng(length)
        letters = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), size=(2000, length))
        yield f"equal {length}", SequenceSet.from_strings(["".join(one) for one in letters])
    for path in files:
        yield path.name.split(".")[0], read_fasta(path)


def measure(
    options: argparse.Namespace,
    devices: Sequence[CudaDevice],
    name: str,
    sequences: SequenceSet,
    mode: str,
    detail: Detail,
) -> Iterator[str]:
    """Yield a line for each number of GPUs."""
    scoring = make_scoring(sequences.alphabet, mode=mode)
    scoring.check_sets(sequences)
    alone = None
    for gpus in options.gpus:
        job = Job(options, devices[:gpus], sequences, scoring, options.per_device)
        try:
            job.warm_up(detail)
            seconds = job.repeat(detail, options.repeat, options.limit)
        finally:
            job.close()
        middle = statistics.median(seconds)
        alone = middle if gpus == 1 else alone
        times = alone / middle if alone and gpus > 1 else None
        reached, goal = (
            (job.gcells / middle, goal_of(name, mode, detail))
            if times is None
            else (times, TIMES_ONE_GPU.get(gpus))
        )
        met = "" if goal is None else "yes" if reached >= goal else "NO"
        yield (
            f"| {name} | {mode} | {detail.name} | {gpus} | {job.gcells / middle:,.0f} "
            f"({job.gcells / max(seconds):,.0f}-{job.gcells / min(seconds):,.0f}) | {middle:.4f} | "
            f"{'' if times is None else f'{times:.2f}'} | {'' if goal is None else goal} | {met} |"
        )


def goal_of(name: str, mode: str, detail: Detail) -> int | None:
    """GCUPS to reach, if there is such a goal."""
    number = name.removeprefix("mean").lstrip("0")
    if detail == Detail.CIGAR and number.isdigit():
        return GOALS_BY_LENGTH.get(int(number))
    return GOALS.get((name, mode, detail))


def verify(options: argparse.Namespace, devices: Sequence[CudaDevice], path: Path) -> None:
    """Compare with the CPU engine, byte for byte, on a part of a set."""
    every = read_fasta(path)
    chosen = np.linspace(0, len(every) - 1, min(300, len(every))).astype(int).tolist()
    sequences = SequenceSet.from_strings(
        {every[k].name: every[k].residues for k in chosen}, alphabet=every.alphabet
    )
    for mode in MODES:
        scoring = make_scoring(sequences.alphabet, mode=mode)
        cpu = CpuEngine(Problem(sequences, None, scoring), threads=os.cpu_count() or 1)
        request = EngineRequest(Problem(sequences, None, scoring), kernel=options.family)
        engines = open_cuda_engines(devices, request)
        windows = plan_windows(len(sequences), None, 100)
        try:
            for window, found in schedule.run(engines, windows, Want(), lambda w: w.pairs, 8):
                expected = cpu.align(window, Want())
                for column in ("query", "target", "raw_score", "cigar", "cigar_offsets", "matches"):
                    if not np.array_equal(getattr(expected, column), getattr(found, column)):
                        sys.exit(f"{path.name}, {mode}: {column} differs in {window}")
        finally:
            cpu.close()
            for engine in engines:
                engine.close()
