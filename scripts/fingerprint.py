"""Digests of the files that pairalign writes of the example set: every format, mode and command.

Run it before and after a change that must not change a byte, and compare what it prints::

    python scripts/fingerprint.py cpu > before
    python scripts/fingerprint.py cpu > after && diff before after

Devices are those of ``--device``; what they write must be equal, too.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PROTEINS = EXAMPLES / "cytochrome_p450.fasta"
MODES = ("global", "semiglobal", "local")
ALIGNMENTS = ("paf", "tsv", "srspair", "fasta", "parquet", "blast6", "blast7", "sam")
ALIGNMENTS += ("jsonl", "stockholm", "maf", "tc_lib")
COLUMNS = (
    "query,target,evalue,bits,identity_aligned,identity_shorter,identity_internal,identity_mbl,"
    "identity_full,identity_mean,"
)
COLUMNS += "positives,qcovs,qseq,sseq"
MATRICES = ("phylip", "tsv", "npy", "column")
TREES = ("clustalo", "mafft", "muscle", "famsa")


def commands(reads: Path, named: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of an output and the command that writes it, less the name.

    `reads` and `named` are what `write_reads` and `write_named` wrote.
    """
    for mode in MODES:
        for name in ALIGNMENTS:
            yield f"{mode}.{name}", ["align", str(PROTEINS), "--mode", mode, "--format", name]
        yield f"{mode}.scores.tsv", ["align", str(PROTEINS), "--mode", mode, "--score-only"]
        chosen = ["align", str(PROTEINS), "--mode", mode, "--columns", COLUMNS, "--both-ways"]
        yield f"{mode}.columns.tsv", chosen
        best = ["--mode", mode, "--min-score", "300"]
        yield f"{mode}.best.paf", ["align", str(PROTEINS), *best]
    yield "local.hsps.tsv", ["align", str(PROTEINS), "--mode", "local", "--hsps", "3"]
    for rank in ("score", "bits", "evalue", "identity"):
        hits = ["align", str(PROTEINS), "--mode", "local", "--max-hits", "4", "--rank", rank]
        yield f"hits.{rank}.paf", hits
    strands = ["align", str(reads), "--mode", "local", "--strand", "both", "--format", "paf"]
    yield "both-strands.paf", strands
    two = ["align", str(reads), str(reads)]
    yield "two-sets.tsv", [*two, "--window", "7", "--mode", "local"]
    for name in MATRICES:
        yield f"distances.{name}", ["distance", str(PROTEINS), "--format", name]
    for name in TREES:
        yield f"{name}.tree", ["tree", str(named), "--for", name]
    yield "mixed.tree", ["tree", str(PROTEINS), "--format", "newick", "--method", "mixed"]
    yield "tree.txt", ["tree", str(PROTEINS), "--format", "ascii"]
    for name in ("paf", "gfa"):
        overlap = ["overlap", str(reads), "--preset", "short", "--format", name]
        yield f"overlaps.{name}", overlap
        yield f"overlaps.reduced.{name}", [*overlap, "--remove-contained", "--remove-transitive"]


def write_reads(path: Path) -> None:
    """Write overlapping reads of both strands, cut from a sequence that is always the same."""
    state, bases = 1, []
    for _ in range(3000):
        state = (state * 1103515245 + 12345) % (1 << 31)
        bases.append("ACGT"[state >> 16 & 3])
    genome = "".join(bases)
    complement = str.maketrans("ACGT", "TGCA")
    reads = [genome[start : start + 200 + start % 37] for start in range(0, 2750, 60)]
    reads[::2] = [read.translate(complement)[::-1] for read in reads[::2]]
    path.write_text("".join(f">read{n}\n{read}\n" for n, read in enumerate(reads)))


def write_named(path: Path) -> None:
    """Write the example set with headers that end at the first blank, which MUSCLE asks for."""
    lines = PROTEINS.read_text().splitlines()
    path.write_text("".join(f"{one.split()[0] if one[:1] == '>' else one}\n" for one in lines))


def main() -> int:
    """Print a digest and a name for every output, and what failed; return 1 if something did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device", help="as for --device: cpu, cuda, opencl, ...")
    device = parser.parse_args().device
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        reads, named = Path(folder, "reads.fasta"), Path(folder, "named.fasta")
        write_reads(reads)
        write_named(named)
        for name, command in commands(reads, named):
            path = Path(folder, name)
            options = ["-o", str(path), "--device", device, "--quiet"]
            done = subprocess.run(
                [sys.executable, "-m", "pairalign", *command, *options],
                capture_output=True,
                text=True,
            )
            digest = hashlib.md5(path.read_bytes()).hexdigest() if path.exists() else "-"
            print(digest, name, done.stderr.strip().replace("\n", " | "), flush=True)
            failed = failed or done.returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
