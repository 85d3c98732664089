"""Assemblies of reads by miniasm and racon, and what they have of the genome."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pairalign.sequences.set_reading import read_fasta


def measured(command: list[str], output: Path, said: Path | None = None) -> float:
    """Run a command into a file; return the processor seconds that it took.

    What it says on standard error goes to another file.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with output.open("wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE)
    if said is not None:
        said.write_bytes(done.stderr)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def corrected(reads: Path, contigs: Path, rounds: int, folder: Path) -> Path:
    """Correct contigs with racon, some times; circles are opened elsewhere each time.

    racon cuts contigs at their ends, where hardly any reads are: there a circle would lose
    residues."""
    for number in range(rounds):
        if number:
            contigs = half_turned(contigs, folder / f"turned{number}.fa")
        mapped, better = folder / "reads.paf", folder / f"racon{number}.fa"
        measured(["minimap2", "-x", "map-ont", str(contigs), str(reads)], mapped)
        measured(["racon", str(reads), str(mapped), str(contigs)], better)
        contigs = better
    return contigs


def half_turned(contigs: Path, turned: Path) -> Path:
    """Write contigs with circles, whose names miniasm ends in "c", opened on the other side."""
    texts = []
    for one in read_fasta(contigs):
        half = len(one.residues) // 2 if one.name.endswith("c") else 0
        texts.append(f">{one.name}\n{one.residues[half:]}{one.residues[:half]}\n")
    turned.write_text("".join(texts))
    return turned


def assembled(
    reads: Path,
    paf: Path,
    genome: Path,
    letters: int,
    folder: Path,
    rounds: int = 0,
    options: Sequence[str] = (),
) -> str:
    """Assemble with miniasm and its options; describe contigs after rounds of racon."""
    graph = folder / "graph.gfa"
    measured(["miniasm", *options, "-f", str(reads), str(paf)], graph)
    rows = [line.split("\t") for line in graph.read_text().splitlines() if line.startswith("S\t")]
    contigs = folder / "contigs.fa"
    contigs.write_text("".join(f">{row[1]}\n{row[2]}\n" for row in rows))
    if not rows:
        return "no contig"
    contigs = corrected(reads, contigs, rounds, folder)
    sizes = [len(one.residues) for one in read_fasta(contigs)]
    mapped = folder / "contigs.paf"
    measured(["minimap2", "-cx", "asm20", str(genome), str(contigs)], mapped)
    hits = [line.split("\t") for line in mapped.read_text().splitlines()]
    covered = np.zeros(2 * letters, bool)
    for hit in hits:
        covered[int(hit[7]) : int(hit[8])] = True
    share = (covered[:letters] | covered[letters:]).mean()
    matches, columns = (sum(int(hit[k]) for hit in hits) for k in (9, 10))
    circles = sum(row[1].endswith("c") for row in rows)
    return (
        f"{len(sizes)} contigs ({circles} circles), longest {max(sizes):,}, {100 * share:.2f}% of "
        f"the genome, {100 * matches / max(1, columns):.2f}% identical"
    )
