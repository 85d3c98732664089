"""The subcommand `tree-speed`: seconds and memory to distances and a tree, ours and others'."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench import report
from pairalign.formats.distances import write_distances
from pairalign.sequences.reading import read_fasta
from pairalign.trees.distance_matrix import DistanceMatrix, number_of_pairs

# Clustal Omega does not stop at its tree.
PEERS = {
    "clustalo --full, and its alignment": "clustalo -i {fasta} --full --guidetree-out {out} "
    "-o /dev/null --force",
    "famsa -dist_export": "famsa -dist_export {fasta} {out}",
    "mafft --globalpair": "mafft --quiet --thread -1 --anysymbol --retree 0 --treeout "
    "--globalpair {fasta}",
}

# Lines of our report on standard error.
STEP = re.compile(r"^ +(?:time|tree) .*?([0-9.]+) s\b", re.MULTILINE)


def add_command(commands: Any) -> None:
    """Add `tree-speed` to the command line."""
    parser = commands.add_parser("tree-speed", help="time and memory to a guide tree")
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="FASTA files")
    parser.add_argument("--method", nargs="*", default=["upgma", "nj"], help="(upgma nj)")
    parser.add_argument("--measure", nargs="*", default=["score"], help="(score)")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, help="of pairalign (all)")
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        metavar="N",
        help="of the sequences, so 1/N**2 of the pairs (1)",
    )
    parser.add_argument("--upgma", type=int, metavar="N", help="UPGMA alone, of N sequences")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="(600)")
    parser.add_argument("--no-peers", action="store_true", help="only pairalign")
    parser.set_defaults(run=run_speed)


def run_speed(options: Namespace) -> None:
    """Time `pairalign tree` with each method on each file, then the others; print a table."""
    print(report.machine())
    print("\n| sequences | command | seconds | on cores | distances, tree | peak memory, GiB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for path in options.data:
        for row in _rows(path, options):
            print(row, flush=True)
    if options.upgma:
        print(_only_upgma(options.upgma, options.timeout))


def _rows(path: Path, options: Namespace) -> Iterator[str]:
    sequences = list(read_fasta(path))[:: options.every]
    with tempfile.TemporaryDirectory() as folder:
        fasta, out = Path(folder) / "in.fasta", Path(folder) / "out"
        # MAFFT writes its tree beside its input; not every program reads every compression.
        rows = (f">s{k}\n{one.letters}\n" for k, one in enumerate(sequences))
        fasta.write_text("".join(rows))
        ours = f"{sys.executable} -m pairalign tree {{fasta}} -o {{out}} --device {options.device}"
        if options.threads:
            ours += f" --threads {options.threads}"
        jobs = {
            f"pairalign tree, {measure}, {method}": f"{ours} --measure {measure} --method {method}"
            for measure in options.measure
            for method in options.method
        }
        jobs |= {
            name: command
            for name, command in PEERS.items()
            if not options.no_peers and shutil.which(command.split()[0])
        }
        for name, command in jobs.items():
            figures = _measure(command.format(fasta=fasta, out=out), options.timeout)
            yield f"| {len(sequences):,} ({path.name}) | {name} | {figures} |"


def _only_upgma(count: int, timeout: float) -> str:
    """UPGMA alone, of points in space, from a NumPy file: what memory a large set takes."""
    points = np.random.default_rng(1).random((count, 8)).astype(np.float32)
    condensed = np.empty(number_of_pairs(count), np.float32)
    start = 0
    for row in range(count - 1):
        stop = start + count - row - 1
        condensed[start:stop] = np.sqrt(((points[row + 1 :] - points[row]) ** 2).sum(axis=1))
        start = stop
    names = [f"s{k}" for k in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        file, fasta = Path(folder) / "a.npy", Path(folder) / "names.fasta"
        write_distances(file, DistanceMatrix(names, condensed))
        del condensed
        fasta.write_text("".join(f">{name}\nA\n" for name in names))
        command = f"{sys.executable} -m pairalign tree {file} --names {fasta} -o {folder}/out"
        figures = _measure(command, timeout)
    return f"| {count:,} | pairalign tree, UPGMA alone, from a .npy file | {figures} |"


def _measure(command: str, timeout: float) -> str:
    """Run a command; return the row's cells: its seconds, those of its steps, peak memory."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen(
            command.split(), stdout=subprocess.DEVNULL, stderr=messages, start_new_session=True
        )
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            seconds = time.perf_counter() - start
            if pid:
                break
            if seconds > timeout:
                used = _cpu_seconds(process.pid)
                os.killpg(process.pid, signal.SIGKILL)  # MAFFT is a script: its programs, too
                process.wait()
                return f"over {timeout:.0f} | over {used:.0f} | | "
            time.sleep(0.05)
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        said = messages.read()
    if process.returncode:
        print(said[-1000:], file=sys.stderr)
        return f"failed ({process.returncode}) | | | "
    assert isinstance(usage, resource.struct_rusage)
    steps, used = STEP.findall(said), usage.ru_utime + usage.ru_stime
    return f"{seconds:.1f} | {used:.1f} | {', '.join(steps)} | {usage.ru_maxrss / 2**20:.2f}"


def _cpu_seconds(session: int) -> float:
    """Time that the processes of a session had a core."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has just ended
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:15]))  # its own, and of those it has waited for
    return ticks / os.sysconf("SC_CLK_TCK")
