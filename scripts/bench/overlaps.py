"""The subcommand `overlaps`: reads to overlaps with the whole command, ours and minimap2's.

Verifies first: some of the pairs with the reference, and PAF lines against the residues. Then times
the commands in interleaved rounds, compares the pairs found with each other and with where the
reads lie on the reference, and assembles both with miniasm and racon, where these are installed.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

import pairalign
from bench import report
from pairalign.reads.presets import PRESETS, find_preset
from pairalign.sequences.complement import reverse_complement
from pairalign.sequences.reading import read_fasta
from pairalign.sequences.sets import SequenceSet

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "support"))

Pair = tuple[str, str, str]

STAGE = re.compile(r"^ +(reads|scoring|filtered|scored|aligned|overlaps|time)  (.*)$", re.MULTILINE)
LEAST_COMMON = 500
"""Residues of the reference that two reads must share for their overlap to be a true one."""


def add_command(commands: Any) -> None:
    """Add `overlaps` to the command line."""
    parser = commands.add_parser("overlaps", help="reads to PAF, both strands; minimap2 beside it")
    parser.add_argument("--data", type=Path, required=True, help="reads, FASTA or FASTQ")
    parser.add_argument("--reference", type=Path, help="the genome they come from")
    parser.add_argument("--preset", required=True, choices=PRESETS)
    parser.add_argument("--mode", default="local")
    parser.add_argument("--filter", nargs="*", default=["auto"], help="(auto)")
    parser.add_argument("--device", nargs="*", default=["auto"], help="(auto)")
    parser.add_argument("--rounds", type=int, default=3, help="of each command (3)")
    parser.add_argument("--threads", type=int, help="of pairalign and minimap2 (all)")
    parser.add_argument("--least", type=int, default=LEAST_COMMON, help="residues in common (500)")
    parser.set_defaults(run=run_overlaps)


def run_overlaps(options: Namespace) -> None:
    """Verify, time, compare and assemble; print what comes out."""
    reads = read_fasta(options.data)
    print(report.machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fasta = folder / "reads.fasta"
        fasta.write_text("".join(f">{one.name}\n{one.letters}\n" for one in reads))
        commands = _commands(options, fasta, folder)
        outputs = _time(commands, options.rounds, folder)
        ours = next(iter(outputs.values()))
        verify(reads, ours, options)
        if options.reference:
            compare(reads, outputs, options, folder)
            for label, path in outputs.items():
                assemble(label, path, fasta, options, folder)


def _commands(options: Namespace, fasta: Path, folder: Path) -> dict[str, list[str]]:
    threads = [] if options.threads is None else ["--threads", str(options.threads)]
    commands = {
        f"pairalign, {device}, filter {one}": [
            *(sys.executable, "-m", "pairalign", "overlap", str(options.data), "-o", "{out}.paf"),
            *("--device", device, "--preset", options.preset, "--mode", options.mode),
            *("--filter", one, *threads),
        ]
        for device in options.device
        for one in options.filter
    }
    if shutil.which("minimap2"):
        count = str(options.threads or 2)
        pair = ["-t", count, str(fasta), str(fasta), "-o", "{out}.paf"]
        commands["minimap2 -x ava-ont"] = ["minimap2", "-x", "ava-ont", *pair]
        commands["minimap2 -c, with alignments"] = ["minimap2", "-x", "ava-ont", "-c", *pair]
    return commands


def _time(commands: dict[str, list[str]], rounds: int, folder: Path) -> dict[str, Path]:
    """Run the commands in interleaved rounds and print the median; returns their outputs."""
    seconds: dict[str, list[float]] = {label: [] for label in commands}
    said: dict[str, str] = {}
    outputs = {label: folder / f"{k}.paf" for k, label in enumerate(commands)}
    for _ in range(rounds):
        for label, command in commands.items():
            arguments = [part.replace("{out}.paf", str(outputs[label])) for part in command]
            started = time.perf_counter()
            done = subprocess.run(arguments, capture_output=True, text=True)
            seconds[label].append(time.perf_counter() - started)
            if done.returncode:
                sys.exit(f"{label}: {done.stderr}")
            said[label] = done.stderr
    for label, times in seconds.items():
        span = f"{min(times):.2f}-{max(times):.2f}"
        print(f"\n{label}: {statistics.median(times):.2f} s ({span}), whole command")
        if label.startswith("pairalign"):
            for title, text in STAGE.findall(said[label]):
                print(f"    {title:>9}  {text}")
    ours = [path for label, path in outputs.items() if label.startswith("pairalign")]
    if len({path.read_bytes() for path in ours}) > 1:
        sys.exit("the devices or filters do not agree")
    return outputs


def verify(reads: SequenceSet, paf: Path, options: Namespace, pairs: int = 12) -> None:
    """Score the PAF's lines from their residues; align the shortest pairs with the reference."""
    import reference

    scoring = find_preset(options.preset).scoring(options.mode)
    index = {name: k for k, name in enumerate(reads.names)}
    rows = [line.split("\t") for line in paf.read_text().splitlines()]
    for row in rows:
        query, target = reads.codes_of(index[row[0]]), reads.codes_of(index[row[5]])
        start, end = int(row[2]), int(row[3])
        if row[4] == "-":
            query = reverse_complement(query, reads.alphabet)
            start, end = len(query) - end, len(query) - start
        score = scoring.rescore(
            query,
            target,
            _runs(row),
            query_start=start,
            query_end=end,
            target_start=int(row[7]),
            target_end=int(row[8]),
        )
        assert score == _tag(row, "AS:i:"), row[:12]
    costs = reference.Costs(
        scoring.matrix.astype(np.int64),
        scoring.gap_open,
        scoring.gap_extend,
        scoring.mode,
        scoring.alphabet.definite,
    )
    rows.sort(key=lambda row: int(row[1]) * int(row[6]))
    for row in rows[:pairs]:
        query, target = reads.codes_of(index[row[0]]), reads.codes_of(index[row[5]])
        turned = reverse_complement(target, reads.alphabet)
        h = [reference.align(query, other, costs).score for other in (target, turned)]
        assert _tag(row, "AS:i:") == max(h), row[:12]
        assert row[4] == ("+" if h[0] >= h[1] else "-"), row[:12]
    print(
        f"\nverified: {len(rows):,} lines from their residues, {len(rows[:pairs])} by the reference"
    )


def compare(reads: SequenceSet, outputs: dict[str, Path], options: Namespace, folder: Path) -> None:
    """Print recall and precision of each program's pairs against the others and the truth."""
    found = {label: pairs_of(path) for label, path in outputs.items()}
    truth, any_common, placed = true_pairs(reads, options, folder)
    print(
        f"\n{len(placed)} of {len(reads)} reads have a place on the reference; {len(truth):,} "
        f"pairs of them share at least {options.least} of its residues"
    )
    for label, pairs in found.items():
        known = {pair for pair in pairs if pair[0] in placed and pair[1] in placed}
        recall, true = len(known & truth) / len(truth), len(known & any_common)
        print(
            f"{label}: {len(pairs):,} pairs; finds {recall:.4f} of the true ones; of its "
            f"{len(known):,} with known places {true / max(1, len(known)):.4f} are true"
        )
        for other, theirs in found.items():
            if other != label:
                print(f"    finds {len(pairs & theirs) / max(1, len(theirs)):.4f} of {other}'s")


def pairs_of(path: Path) -> set[Pair]:
    """Pairs of reads and their strand in a PAF file."""
    rows = [line.split("\t", 6) for line in path.read_text().splitlines()]
    return {(*sorted((row[0], row[5])), row[4]) for row in rows if row[0] != row[5]}


def true_pairs(
    reads: SequenceSet, options: Namespace, folder: Path
) -> tuple[set[Pair], set[Pair], set[str]]:
    """Pairs that share enough residues of the reference, any residues; and reads with a place.

    A place is where most of a read aligns locally to the reference, by pairalign itself.
    """
    genome = read_fasta(options.reference)[0]
    turned = {f"{one.name}-": _other_strand(reads.codes_of(k)) for k, one in enumerate(reads)}
    both = {f"{one.name}+": one.letters for one in reads} | turned
    scoring = pairalign.make_scoring("dna", mode="local", match=2, mismatch=-3, gap_open=4)
    found = pairalign.align(
        both, [genome.letters], scoring=scoring, detail="stats", device=options.device[0]
    )
    best = {}
    for one in found:
        name, strand = one.query.name[:-1], one.query.name[-1]
        if name not in best or one.score > best[name][0].score:
            best[name] = one, strand
    places = {
        name: (one.target_start, one.target_end, strand)
        for name, (one, strand) in best.items()
        if one.query_end - one.query_start >= 0.5 * len(one.query)
    }
    shared: tuple[set[Pair], set[Pair]] = (set(), set())
    names = sorted(places)
    for i, one_name in enumerate(names):
        for two_name in names[i + 1 :]:
            start, end, strand = places[one_name]
            start2, end2, strand2 = places[two_name]
            common = min(end, end2) - max(start, start2)
            pair = (one_name, two_name, "+" if strand == strand2 else "-")
            for number, least in enumerate((options.least, 1)):
                if common >= least:
                    shared[number].add(pair)
    return shared[0], shared[1], set(places)


def _other_strand(codes: np.ndarray) -> str:
    return "".join(pairalign.DNA.letters[c] for c in reverse_complement(codes, pairalign.DNA))


def assemble(label: str, paf: Path, fasta: Path, options: Namespace, folder: Path) -> None:
    """Print what miniasm and racon make of a program's overlaps."""
    if not shutil.which("miniasm") or not shutil.which("racon"):
        print("miniasm and racon are not installed")
        return
    graph = subprocess.run(["miniasm", "-f", fasta, paf], capture_output=True, text=True).stdout
    contigs = [line.split("\t")[2] for line in graph.splitlines() if line.startswith("S\t")]
    print(f"{label}: {len(contigs)} contigs of {sorted(map(len, contigs), reverse=True)} residues")
    for contig in contigs[:1]:
        draft, mapped = folder / "draft.fasta", folder / "draft.paf"
        draft.write_text(f">contig\n{contig}\n")
        command = ["minimap2", "-x", "map-ont", draft, fasta, "-o", mapped]
        subprocess.run(command, capture_output=True, check=True)
        racon = ["racon", fasta, mapped, draft]
        text = subprocess.run(racon, capture_output=True, text=True, check=True).stdout
        polished = "".join(line for line in text.splitlines() if not line.startswith(">"))
        for what, letters in (("before racon", contig), ("after racon", polished)):
            genome = read_fasta(options.reference)[0].letters
            (one,) = pairalign.overlaps(
                {"contig": letters.upper(), "genome": genome},
                preset="ont",
                device=options.device[0],
            ).alignments
            covered = one.target_end - one.target_start
            print(
                f"    {what}: {len(letters):,} residues, covers {covered:,} "
                f"of {len(genome):,}, {100 * one.identity:.2f}% identical"
            )


def _tag(row: list[str], name: str) -> int:
    return int(next(tag[len(name) :] for tag in row[12:] if tag.startswith(name)))


def _runs(row: list[str]) -> np.ndarray:
    text = next(tag[5:] for tag in row[12:] if tag.startswith("cg:Z:"))
    runs = re.findall(r"(\d+)(\D)", text)
    return np.array([int(n) << 4 | "MIDNSHP=X".index(op) for n, op in runs], np.uint32)
