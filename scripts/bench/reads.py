"""The subcommand `reads`: all sets of reads, from overlaps to corrected contigs, in one table.

For each set: pairalign with the command that is printed, and minimap2 with each preset that suits
the reads, the better one (longest contig) in the table. Both are assembled by miniasm, with the
options that pairalign's last lines advise and with miniasm's defaults, and corrected by racon, two
rounds. Recall and precision are of pairs against where reads come from: of simulated reads their
names, of real ones where minimap2 puts most of a read on the reference. A pair is right where both
reads have a base of the genome in common, or one of a repeat that was put into it.
"""

from __future__ import annotations

import re
import sys
import tempfile
from argparse import Namespace
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import assembling, report
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

Pair = tuple[str, str, str]
Places = dict[str, tuple[int, int, str]]

ADVICE = re.compile(r"^ *miniasm  (.*?)(?: \(|$)", re.MULTILINE)
PRESETS = {"ont": ("ava-ont",), "hifi": ("ava-ont", "ava-pb"), "short": ("ava-ont",)}
SHORT_SEEDS = ("-k11", "-w5", "-m20", "-n2")
ROUNDS = 2


@dataclass(frozen=True)
class ReadsOf:
    """A set of reads: real ones with their reference, or simulated ones of a made-up genome.

    Attributes
    ----------
    kind : {"ont", "hifi", "r10", "uneven", "short"}
    least : int
        Bases of the genome that a true pair shares.
    options : tuple of str
        Of ``pairalign overlap``.
    reads, reference : str
        Paths in the folder of data; without reads they are simulated.
    is_circle, is_assembled : bool
    length, bases, coverage, gc, seed
        Of the simulation; with a reference, its first bases are the genome.
    repeats : tuple of (int, int)
        Bases and copies of each, on either strand of a made-up genome, copies 1% apart.
    """

    kind: str
    least: int = 550
    options: tuple[str, ...] = ()
    reads: str = ""
    reference: str = ""
    is_circle: bool = True
    is_assembled: bool = True
    length: int = 3000
    bases: int = 20_000
    coverage: float = 15.0
    gc: float = 0.5
    seed: int = 1
    repeats: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Copy:
    """A copy of a repeat in a genome.

    Attributes
    ----------
    unit : int
        Which repeat.
    start, end : int
        In the genome.
    strand : {"+", "-"}
    """

    unit: int
    start: int
    end: int
    strand: str


WEAK = "--remove-weak"
SEEDS = ("--candidates", "mappy")
PYLORI = "genomes/hpylori/g27.fa.gz"
SETS = {
    "lambda": ReadsOf(
        "ont",
        500,
        (WEAK, *SEEDS),
        "reads/lambda-ont-racon/sample_reads.fastq.gz",
        "reads/lambda-ont-racon/sample_reference.fasta.gz",
        is_circle=False,
    ),
    "phix": ReadsOf(
        "ont", 500, (), "reads/phix-ont/barcode03.fastq.gz", "reads/phix-ont/phix_genome.fa"
    ),
    "mito": ReadsOf("hifi", 500, (), "reads/mito-hifi/reads.fa.gz", "reads/mito-hifi/reference.fa"),
    "sarscov2": ReadsOf(
        "ont",
        300,
        (),
        "reads/sarscov2-ont-amplicon/reads.fastq.gz",
        "reads/sarscov2-ont-amplicon/reference.fa",
        is_circle=False,
        is_assembled=False,
    ),
    "ecoli1k": ReadsOf(
        "short",
        40,
        (),
        "reads/ecoli1k-illumina/ecoli_1K_1.fq.gz",
        "reads/ecoli1k-illumina/reference_1K.fa.gz",
        is_circle=False,
        is_assembled=False,
    ),
    **{
        f"{kind}-{length}-gc{round(100 * gc)}": ReadsOf(
            kind, options=SEEDS, length=length, gc=gc, seed=seed, bases=bases
        )
        for seed, (kind, length, gc, bases) in enumerate(
            (kind, length, gc, bases)
            for kind in ("hifi", "ont", "uneven")
            for length, gc, bases in (
                (2000, 0.5, 15_000),
                (3000, 0.19, 20_000),
                (3000, 0.5, 20_000),
                (6000, 0.7, 40_000),
            )
        )
    },
}
"""By name. Nothing in pairalign was chosen by the simulated ones."""

LARGE = {
    "bacterium": ReadsOf(
        "r10",
        options=SEEDS,
        length=10_000,
        bases=5_000_000,
        coverage=20.0,
        repeats=((5000, 7), (1300, 30)),
    ),
}
"""Measured only where they are named: a bacterium takes the better part of an hour."""


def add_command(commands: Any) -> None:
    """Add `reads` to the command line."""
    parser = commands.add_parser("reads", help="all sets of reads: pairs, contigs, identity")
    parser.add_argument("--folder", type=Path, help="the data of the sets that are not simulated")
    parser.add_argument("--sets", nargs="*", choices=[*SETS, *LARGE], help="only these")
    parser.add_argument(
        "--miniasm", nargs="*", default=[], help="further options to try, as '-s 500'"
    )
    parser.add_argument("--seed", type=int, default=0, help="added to that of each simulation (0)")
    parser.add_argument("--bases", type=int, help="of the genome of large sets, fewer than theirs")
    parser.set_defaults(run=run_reads)


def run_reads(options: Namespace) -> None:
    """Measure each set and print its rows."""
    print(report.machine())
    print("| set | overlaps of | recall | precision | miniasm | contigs | corrected | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    large = {
        name: replace(one, bases=options.bases or one.bases)
        for name, one in LARGE.items()
        if options.sets and name in options.sets
    }
    for name, one in (SETS | large).items():
        if (not options.sets or name in options.sets) and (options.folder or not one.reads):
            with tempfile.TemporaryDirectory() as folder:
                _measure(name, one, options, Path(folder))


def _measure(name: str, one: ReadsOf, options: Namespace, folder: Path) -> None:
    """Find, compare and assemble; print a row for each of both and each of miniasm's options."""
    genome, copies = _genome_of(one, options)
    reference, path = folder / "genome.fa", folder / "reads.fa"
    reference.write_text(f">genome\n{genome * (1 + one.is_circle)}\n")
    if one.reads:
        reads = {two.name: two.residues for two in read_fasta(options.folder / one.reads)}
    else:
        codes = SequenceSet.from_strings([genome], alphabet="dna").codes % 4
        sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/support"))
        from simulated_reads import simulate

        seed = one.seed + options.seed
        reads = simulate(codes, one.kind, coverage=one.coverage, mean=one.length, seed=seed)
    path.write_text("".join(f">{key}\n{letters}\n" for key, letters in reads.items()))
    places = _mapped(path, reference, one.kind, folder) if one.reads else _named(list(reads))
    truth, possible = _true_pairs(places, len(genome), one)
    possible |= _pairs_of_repeats(places, len(genome), copies)
    found, advice = _overlaps(one, path, folder)
    advised = dict.fromkeys(["", *advice, *options.miniasm])
    for whose, (paf, seconds) in found.items():
        pairs = {pair for pair in _pairs_of(paf) if pair[0] in places and pair[1] in places}
        recall = 100 * len(pairs & truth) / max(1, len(truth))
        precision = 100 * len(pairs & possible) / max(1, len(pairs))
        for arguments in advised if one.is_assembled else [""]:
            row = [name, whose, f"{recall:.2f}% of {len(truth):,}", f"{precision:.2f}%"]
            row += [arguments or "defaults"] if one.is_assembled else ["", "", ""]
            if one.is_assembled:
                row += [
                    assembling.assembled(
                        path, paf, reference, len(genome), folder, n, arguments.split()
                    )
                    for n in (0, ROUNDS)
                ]
            print("| " + " | ".join([*row, f"{seconds:.1f}"]) + " |", flush=True)


def _genome_of(one: ReadsOf, options: Namespace) -> tuple[str, list[Copy]]:
    """Return the genome, and where repeats were put into it."""
    if one.reference:
        letters = read_fasta(options.folder / one.reference)[0].residues
        return letters if one.reads else letters[: one.bases], []
    rng = np.random.default_rng(1000 + one.seed + options.seed)
    shares = [(1 - one.gc) / 2, one.gc / 2, one.gc / 2, (1 - one.gc) / 2]
    codes = rng.choice(4, one.bases, p=shares)
    copies = []
    for unit, (bases, number) in enumerate(one.repeats):
        residues = rng.integers(0, 4, bases)
        number = number * one.bases // LARGE["bacterium"].bases
        for start in rng.integers(0, len(codes) - bases, number).tolist():
            strand = _put(codes, start, residues, rng)
            copies.append(Copy(unit, start, start + bases, strand))
    return "".join(DNA.letters[code] for code in codes), copies


def _put(
    codes: npt.NDArray[np.int64], start: int, unit: npt.NDArray[np.int64], rng: np.random.Generator
) -> str:
    """Put a copy of a repeat into a genome, 1% of its bases changed; return its strand."""
    changed = rng.random(len(unit)) < 0.01
    copy = np.where(changed, rng.integers(0, 4, len(unit)), unit)
    is_plus = bool(rng.integers(2))
    codes[start : start + len(unit)] = copy if is_plus else 3 - copy[::-1]
    return "+" if is_plus else "-"


def _overlaps(
    one: ReadsOf, path: Path, folder: Path
) -> tuple[dict[str, tuple[Path, float]], list[str]]:
    """Return files and CPU seconds by program, and what pairalign advises miniasm."""
    found = {}
    ours = folder / "pairalign.paf"
    command = [sys.executable, "-m", "pairalign", "overlap", str(path), "-o", "-", *one.options]
    said = folder / "said"
    seconds = assembling.measured([*command, "--format", "paf"], ours, said)
    found[" ".join(["pairalign overlap", *one.options])] = ours, seconds
    kind = one.kind if one.kind in PRESETS else "ont"
    for preset in PRESETS[kind]:
        paf = folder / f"{preset}.paf"
        seeds = SHORT_SEEDS if kind == "short" else ()
        arguments = ["minimap2", "-t1", "-x", preset, *seeds, str(path), str(path)]
        found[" ".join(["minimap2 -x", preset, *seeds])] = paf, assembling.measured(arguments, paf)
    return found, [one for one in ADVICE.findall(said.read_text()) if one != "defaults"]


def _pairs_of(paf: Path) -> set[Pair]:
    rows = [line.split("\t", 6) for line in paf.read_text().splitlines()]
    return {(*sorted((row[0], row[5])), row[4]) for row in rows if row[0] != row[5]}


def _named(names: list[str]) -> Places:
    """Where simulated reads come from."""
    parts = {name: name.split("_") for name in names}
    return {name: (int(p[1]), int(p[2]), p[3]) for name, p in parts.items()}


def _mapped(path: Path, reference: Path, kind: str, folder: Path) -> Places:
    """Where minimap2 puts reads of which at least half maps."""
    mapped = folder / "places.paf"
    preset = "sr" if kind == "short" else "map-ont"
    assembling.measured(["minimap2", "-cx", preset, str(reference), str(path)], mapped)
    best: dict[str, tuple[int, int, int, str]] = {}
    for line in mapped.read_text().splitlines():
        row = line.split("\t")
        if 2 * (int(row[3]) - int(row[2])) >= int(row[1]):
            place = (int(row[9]), int(row[7]), int(row[8]), row[4])
            best[row[0]] = max(place, best.get(row[0], place))
    return {name: place[1:] for name, place in best.items()}


def _true_pairs(places: Places, bases: int, one: ReadsOf) -> tuple[set[Pair], set[Pair]]:
    """Pairs that share `least` bases of the genome, and those that share any."""
    turns = range(-2 * bases, 2 * bases + 1, bases) if one.is_circle else [0]
    names = sorted(places)
    starts, ends = np.array([places[name][:2] for name in names]).reshape(-1, 2).T
    truth, possible = set(), set()
    for i, first in enumerate(names):
        common = np.max(
            [
                np.minimum(ends[i], ends[i + 1 :] + turn)
                - np.maximum(starts[i], starts[i + 1 :] + turn)
                for turn in turns
            ],
            axis=0,
        )
        for j in np.flatnonzero(common >= 1).tolist():
            second = names[i + 1 + j]
            pair = (first, second, "+" if places[first][2] == places[second][2] else "-")
            possible.add(pair)
            if common[j] >= one.least:
                truth.add(pair)
    return truth, possible


def _pairs_of_repeats(places: Places, bases: int, copies: list[Copy]) -> set[Pair]:
    """Pairs that have a base of a repeat in common, wherever its copies are."""
    parts: dict[int, list[tuple[str, int, int, str]]] = {}
    for copy in copies:
        for name, (start, end, strand) in places.items():
            for turn in (0, bases):
                first, last = max(start, copy.start + turn), min(end, copy.end + turn)
                if first >= last:
                    continue
                begin, size = first - copy.start - turn, last - first
                if copy.strand == "-":
                    begin = copy.end - copy.start - begin - size
                side = "+" if strand == copy.strand else "-"
                parts.setdefault(copy.unit, []).append((name, begin, begin + size, side))
    return {
        (*sorted((one[0], two[0])), "+" if one[3] == two[3] else "-")
        for of_unit in parts.values()
        for one, two in combinations(of_unit, 2)
        if one[0] != two[0] and min(one[2], two[2]) > max(one[1], two[1])
    }
