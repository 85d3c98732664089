"""What the packed kernels should reach on one H200, and where their time goes.

``scripts/benchmark.py gpu --family packed --table goals kernels --data mean*.fa.gz``; and ``--table
all --scaling-data proteome.fa.gz --gpus 1 2 4`` for a large set on several GPUs. BLOSUM62, gaps
11/1; a part of the first set is compared with the CPU engine first. "goals" times from the first
window to the last result in host memory; "kernels" adds up the times of the kernels, one batch at a
time, kernel by kernel.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.gpu_job import Job
from pairalign.engines.cuda.cuda_device import CudaDevice
from pairalign.engines.cuda.packed.family import Packed
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.reading import read_fasta
from pairalign.sequences.sets import SequenceSet

GOALS = {
    ("equal 512", "global", Detail.SCORE): 6500,
    ("equal 512", "local", Detail.SCORE): 5500,
    ("equal 512", "global", Detail.CIGAR): 4950,
    ("equal 512", "local", Detail.CIGAR): 4200,
}
"""GCUPS; and those of real sets with CIGARs, by the number in the file's name:"""
GOALS_BY_LENGTH = {154: 1500, 257: 2500, 459: 3500, 1103: 3500}
SECONDS_OF_ALL = 20  # STATS of the set of `--scaling-data`
TIMES_ONE_GPU = 3.6  # with four of them
TIMES_SCORES = 1.3  # most times the time of scores that CIGARs may take


def equal_lengths(length: int, number: int = 2000) -> SequenceSet:
    """Random proteins: unrelated pairs, long paths."""
    rng = np.random.default_rng(length)
    letters = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), size=(number, length))
    return SequenceSet.from_strings(["".join(one) for one in letters])


def sets_of(files: list[Path], lengths: list[int]) -> Iterator[tuple[str, SequenceSet]]:
    """Yield the sets to measure, with their names."""
    for length in lengths:
        yield f"equal {length}", equal_lengths(length)
    for path in files:
        yield path.name.split(".")[0], read_fasta(path)


def goal_of(name: str, mode: str, detail: Detail) -> int | None:
    """GCUPS to reach, if there is such a goal."""
    number = name.removeprefix("mean").lstrip("0")
    if detail == Detail.CIGAR and number.isdigit():
        return GOALS_BY_LENGTH.get(int(number))
    return GOALS.get((name, mode, detail))


def _open(
    options: argparse.Namespace,
    devices: Sequence[CudaDevice],
    sequences: SequenceSet,
    mode: str,
    engines: int,
) -> Job:
    scoring = make_scoring(sequences.alphabet, mode=mode)
    scoring.check_sets(sequences)
    return Job(options, devices, sequences, scoring, engines)


def goals(
    options: argparse.Namespace, devices: Sequence[CudaDevice], files: list[Path]
) -> list[str]:
    """Table of GCUPS in host memory, with the goals."""
    lines = [
        "| set | mode | detail | GCUPS (range) | seconds | goal | met |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, sequences in sets_of(files, options.equal):
        for mode in options.mode or ("global", "local"):
            job = _open(options, devices[:1], sequences, mode, options.per_device)
            medians = {}
            try:
                for detail in options.detail:
                    job.warm_up(detail)
                    seconds = job.repeat(detail, options.repeat, options.limit)
                    goal = goal_of(name, mode, detail)
                    medians[detail] = statistics.median(seconds)
                    rate = job.gcells / medians[detail]
                    lines.append(
                        f"| {name} | {mode} | {detail.name} | {rate:,.0f} "
                        f"({job.gcells / max(seconds):,.0f} to {job.gcells / min(seconds):,.0f}) "
                        f"| {medians[detail]:.4f} | {_met(rate, goal)} |"
                    )
                    print(lines[-1], file=sys.stderr, flush=True)
            finally:
                job.close()
            if {Detail.SCORE, Detail.CIGAR} <= set(medians):
                times = medians[Detail.CIGAR] / medians[Detail.SCORE]
                lines.append(
                    f"| {name} | {mode} | CIGAR / SCORE | {times:.2f} | | {TIMES_SCORES} at most | "
                    f"{'yes' if times <= TIMES_SCORES else 'NO'} |"
                )
    return lines


def all_pairs(options: argparse.Namespace, devices: Sequence[CudaDevice]) -> list[str]:
    """Table of seconds for all pairs of a large set, by number of GPUs; one run each."""
    sequences = read_fasta(options.scaling_data)
    lines = [
        f"{options.scaling_data.name}: {len(sequences):,} sequences, global, one run each",
        "",
        "| detail | GPUs | seconds | GCUPS | times one GPU | goal | met |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for detail in options.detail:
        alone = None
        for gpus in options.gpus:
            job = _open(options, devices[:gpus], sequences, "global", options.per_device)
            try:
                job.warm_up(detail, job.windows[-2 * len(job.engines) :])
                seconds = job.seconds(detail)
            finally:
                job.close()
            alone = seconds if gpus == 1 else alone
            times = "" if alone is None else f"{alone / seconds:.2f}"
            goal = " | "
            if gpus == 1 and detail == Detail.STATS:
                goal = f"{SECONDS_OF_ALL} s | {'yes' if seconds <= SECONDS_OF_ALL else 'NO'}"
            if gpus == 4 and alone is not None:
                goal = f"{TIMES_ONE_GPU} | {'yes' if alone / seconds >= TIMES_ONE_GPU else 'NO'}"
            rate = job.gcells / seconds
            lines.append(
                f"| {detail.name} | {gpus} | {seconds:.2f} | {rate:,.0f} | {times} | {goal} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
    return lines


def _met(rate: float, goal: int | None) -> str:
    return " | " if goal is None else f"{goal:,} | {'yes' if rate >= goal else 'NO'}"


class KernelClock:
    """Adds up the times of an engine's kernels by events; one kernel runs at a time."""

    def __init__(self, job: Job, device: CudaDevice) -> None:
        self.milliseconds: defaultdict[str, float] = defaultdict(float)
        (engine,) = job.engines
        family = engine.family
        if not isinstance(family, Packed):
            raise SystemExit(f"--table kernels: not for the kernels '{family.name}'")
        packed = family.kernels
        launch = packed.launch
        driver = device.driver

        def timed(kernel: str, wide: bool, *rest: Any) -> None:
            slot = next(one for one in rest if hasattr(one, "stream"))
            start, end = driver.Event(), driver.Event()
            slot.kernels.synchronize()
            start.record(slot.kernels)
            launch(kernel, wide, *rest)
            end.record(slot.kernels)
            end.synchronize()
            name = f"{kernel}{' (32 bits)' if wide else ''}"
            self.milliseconds[name] += start.time_till(end)

        packed.launch = timed
        self.stop = lambda: setattr(packed, "launch", launch)


def kernels(options: argparse.Namespace, device: CudaDevice, files: list[Path]) -> list[str]:
    """Table of the kernels' times, one batch at a time."""
    lines = [
        "| set | mode | detail | GCUPS of all kernels | milliseconds: kernel by kernel |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, sequences in sets_of(files, options.equal):
        for mode in options.mode or ("global", "local"):
            job = _open(options, [device], sequences, mode, 1)
            try:
                for detail in options.detail:
                    job.warm_up(detail)
                    clock = KernelClock(job, device)
                    start = time.perf_counter()
                    job.seconds(detail)
                    passed = 1e3 * (time.perf_counter() - start)
                    clock.stop()
                    total = sum(clock.milliseconds.values())
                    longest = sorted(clock.milliseconds.items(), key=lambda one: -one[1])
                    parts = ", ".join(f"{kernel} {ms:.1f}" for kernel, ms in longest)
                    lines.append(
                        f"| {name} | {mode} | {detail.name} | {job.gcells / total * 1e3:,.0f} | "
                        f"{total:.1f} of {passed:.1f}: {parts} |"
                    )
                    print(lines[-1], file=sys.stderr, flush=True)
            finally:
                job.close()
    return lines
