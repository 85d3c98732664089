"""Simulates reads of a genome and assembles them from our overlaps and from minimap2's.

    python scripts/assemble.py GENOME.fa --kind hifi --coverage 20 --device cuda
    python scripts/assemble.py GENOME.fa --first 60000 --length 5000 --kind ont
    python scripts/assemble.py GENOME.fa --reads reads.fastq.gz --all-pairs

The genome is taken as a circle. Reads of a seeded simulation are named by where they come from;
with ``--reads`` real ones are assembled. minimap2 finds candidates, pairalign aligns them and
leaves weak overlaps out, miniasm assembles. For each set of overlaps: lines, recall of the pairs
that share ``--least`` residues and precision (simulated reads), contigs, what they cover of the
genome, identity (minimap2, whole contigs), processor seconds. minimap2 and miniasm are needed, with
``--racon`` racon as well: scripts/install_assemblers.sh.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pairalign.sequences.alphabets import DNA
from pairalign.sequences.complement import reverse_complement
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

ERRORS = {
    "hifi": (0.0005, 0.001, 0.0015),
    "ont": (0.02, 0.012, 0.02),
    "r10": (0.004, 0.002, 0.004),
    "uneven": (0.05, 0.025, 0.045),
}
"""Shares of substituted, inserted and lost residues."""
SPREAD = {"uneven": 0.35}
"""How much reads differ: the standard deviation of what their shares are multiplied with."""
PRESETS = {"hifi": "ava-pb", "ont": "ava-ont", "r10": "ava-ont", "uneven": "ava-ont"}


def simulate(genome: np.ndarray, options: argparse.Namespace) -> dict[str, str]:
    """Draw reads of a circle, on both strands, with errors."""
    rng = np.random.default_rng(options.seed)
    reads: dict[str, str] = {}
    letters = 0
    while letters < options.coverage * len(genome):
        length = int(np.clip(rng.normal(options.length, options.length / 5), 500, len(genome)))
        start = int(rng.integers(0, len(genome)))
        read = np.take(genome, np.arange(start, start + length), mode="wrap")
        minus = bool(rng.integers(2))
        if minus:
            read = reverse_complement(read, DNA)
        name = f"r{len(reads)}_{start}_{start + length}_{'-' if minus else '+'}"
        reads[name] = "".join(DNA.letters[code] for code in with_errors(read, options.kind, rng))
        letters += length
    return reads


def with_errors(read: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Substitute, insert and lose residues, the latter two mostly in runs of a residue."""
    factor = max(0.3, rng.normal(1, SPREAD[kind])) if kind in SPREAD else 1.0
    substituted, inserted, lost = (factor * share for share in ERRORS[kind])
    in_run = np.concatenate(([False], read[1:] == read[:-1]))
    weight = np.where(in_run, 2.0, 0.5)
    changes = rng.random(len(read)) < substituted
    read = np.where(changes, (read + rng.integers(1, 4, len(read))) % 4, read)
    times = 1 + (rng.random(len(read)) < inserted * weight).astype(np.int64)
    times[rng.random(len(read)) < lost * weight] = 0
    return np.repeat(read, times)


def true_pairs(names: list[str], letters: int, least: int) -> set[tuple[str, str, str]]:
    """Pairs that share `least` residues of the circle, with their strand."""
    found = set()
    places = [(int(s), int(e), strand) for _, s, e, strand in (n.split("_") for n in names)]
    for i, (start, end, strand) in enumerate(places):
        for j in range(i + 1, len(places)):
            start2, end2, strand2 = places[j]
            shared = max(
                min(end, end2 + turn) - max(start, start2 + turn) for turn in (-letters, 0, letters)
            )
            if shared >= least:
                found.add((*sorted((names[i], names[j])), "+" if strand == strand2 else "-"))
    return found


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


def described(paf: Path, truth: set[tuple[str, str, str]]) -> str:
    """Lines, and recall and precision where the truth is known."""
    rows = [line.split("\t", 6) for line in paf.read_text().splitlines()]
    pairs = {(*sorted((row[0], row[5])), row[4]) for row in rows if row[0] != row[5]}
    text = f"{len(rows):,} lines, {len(pairs):,} pairs"
    if truth:
        recall = len(pairs & truth) / len(truth)
        text += f", recall {100 * recall:.2f}% of {len(truth):,}"
    return text


def run(options: argparse.Namespace, folder: Path) -> None:
    """Simulate, find overlaps both ways, assemble, print."""
    codes = read_fasta(options.genome)[0].residues[: options.first]
    genome = SequenceSet.from_strings({"genome": codes}, alphabet="dna").codes
    twice = folder / "genome.fa"
    twice.write_text(f">genome\n{2 * codes}\n")
    if options.reads is None:
        reads = simulate(genome % 4, options)
        truth = true_pairs(list(reads), len(genome), options.least)
    else:
        reads = {one.name: one.residues for one in read_fasta(options.reads)}
        truth = set()
    path = folder / "reads.fa"
    path.write_text("".join(f">{name}\n{one}\n" for name, one in reads.items()))
    print(f"{len(reads):,} reads, {sum(map(len, reads.values())):,} residues, of {len(genome):,}")
    theirs, ours = folder / "minimap2.paf", folder / "pairalign.paf"
    pair = [str(path), str(path)]
    seconds = measured(["minimap2", "-t", "1", "-x", PRESETS[options.kind], *pair], theirs)
    command = [sys.executable, "-m", "pairalign", "overlap", str(path), "-q", "-o", "-"]
    command += ["--remove-weak", "--format", "paf", "--device", options.device]
    if not options.all_pairs:
        command += ["--candidates", str(theirs)]
    own_seconds = measured(command, ours)
    for name, paf, took in (("minimap2", theirs, seconds), ("pairalign", ours, own_seconds)):
        print(f"{name}: {described(paf, truth)}, {took:.1f} s of processor")
        for rounds in range(0, options.racon + 1, max(1, options.racon)):
            text = assembled(path, paf, twice, len(genome), folder, rounds)
            print(f"    {f'racon {rounds} times: ' if rounds else ''}{text}")


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description=re.sub(r"\n\n.*", "", str(__doc__), flags=re.S))
    parser.add_argument("genome", type=Path, help="FASTA; its first record, a circle")
    parser.add_argument("--first", type=int, help="take only its first residues")
    parser.add_argument("--reads", type=Path, help="real reads instead of simulated ones")
    parser.add_argument("--kind", choices=ERRORS, default="hifi")
    parser.add_argument("--coverage", type=float, default=20.0)
    parser.add_argument("--length", type=int, default=10_000, help="mean of a read (10000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=int, default=1000, help="residues of a true overlap (1000)")
    parser.add_argument("--all-pairs", action="store_true", help="not just minimap2's candidates")
    parser.add_argument("--racon", type=int, default=0, help="rounds of correction (none)")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(options, Path(folder))


if __name__ == "__main__":
    main()
