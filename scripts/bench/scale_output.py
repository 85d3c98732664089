"""Output that keeps up: pairs a second of a format on some threads, with a simulated engine.

The engine hands the same alignments over and over, so that only writing takes time; what is written
is thrown away. A core's rate is that of CPU seconds; of wall time it is how far threads help.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from pairalign import align
from pairalign.formats import open_writer
from pairalign.pairs.want import Detail
from pairalign.sequences.reading import read_fasta

NEEDED = 12.0
"""Million CIGARs a second that one H200 makes of proteins of 257 residues."""
_CORES = 16


def run(options: argparse.Namespace) -> None:
    """Print a line for each format and number of threads."""
    every = read_fasta(options.data[0])
    few = {every.names[k]: every[k].letters for k in range(min(380, len(every)))}
    found = align(few, device="cpu", threads=2)
    print(
        f"{len(found):,} pairs, {len(found.cigar) / len(found):.0f} runs a CIGAR, again and again"
    )
    for name in ("parquet", "paf", "paf.zst", "paf.gz"):
        for threads in (1, 2):
            report(name, threads, found, options.write)


def report(name: str, threads: int, found, pairs: int) -> None:
    rounds = -(-pairs // len(found))
    started, before = time.perf_counter(), cpu_seconds()
    size = write(name, threads, found, rounds)
    wall, cpu = time.perf_counter() - started, cpu_seconds() - before
    million = rounds * len(found) / 1e6
    print(
        f"{name:8} {threads} threads: {million / wall:6.2f} M pairs/s of wall time, "
        f"{million / cpu:6.2f} of a CPU second, {size / rounds / len(found):.0f} bytes a pair; "
        f"extrapolated to {_CORES} cores {_CORES * million / cpu:.1f} M pairs/s "
        f"({NEEDED:g} are needed)",
        flush=True,
    )


def write(name: str, threads: int, found, rounds: int) -> int:
    """Write into a file that is removed; return its size."""
    with tempfile.TemporaryDirectory(prefix="pairalign-benchmark-") as folder:
        path = Path(folder) / f"out.{name}"
        sets = found.queries, found.targets, found.scoring
        with open_writer(path, None, *sets, Detail.CIGAR, threads=threads) as writer:
            for _ in range(rounds):
                writer.write(found)
        return path.stat().st_size


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
