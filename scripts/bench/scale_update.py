"""Adding sequences: CPU seconds of `update`, by those of a run of all sequences; same bytes.

The sequences are pieces of proteins, so that a run of 50 million pairs takes a minute.
"""

from __future__ import annotations

import argparse
import filecmp
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.cluster_commands import measure
from bench.scale_store import AMINO_ACIDS
from pairalign.sequences.reading import read_fasta

_SIMILAR = ("--min-identity", "0.4", "--min-coverage", "0.8")
CASES = {
    **{
        f"{name}, identity of 40% and coverage of 80%": ("--format", format, *_SIMILAR)
        for name, format in (
            ("PAF", "paf"),
            ("SAM", "sam"),
            ("TSV", "tsv"),
            ("Parquet", "parquet"),
            ("npz", "npz"),
        )
    },
    "TSV, local E-values up to 1e-3": (
        *("--format", "tsv", "--mode", "local", "--max-evalue", "1e-3"),
        *("--search-space", "1e8"),
    ),
    "blast6, local E-values up to 1e-3": (
        *("--format", "blast6", "--mode", "local", "--max-evalue", "1e-3"),
        *("--search-space", "1e8"),
    ),
    "TSV, ten hits of each": (*("--format", "tsv", "--mode", "local", "--max-hits", "10"),),
    "TSV, scores of all pairs": ("--format", "tsv", "--score-only"),
    "PAF, all pairs": ("--format", "paf"),
}


def run(options: argparse.Namespace) -> None:
    """Print a line for each case."""
    pieces = cut(options.data, options.sequences + options.new, options.length)
    with tempfile.TemporaryDirectory(prefix="pairalign-benchmark-") as name:
        folder = Path(name)
        write(folder / "old.fa", pieces[: options.sequences], "o")
        write(folder / "new.fa", pieces[options.sequences :], "n")
        for case, chosen in CASES.items():
            if options.case in case:
                compare(folder, case, chosen, options.rounds)


def cut(files: list[Path], count: int, length: int) -> list[str]:
    """Return pieces of that length of the proteins of some files; of no file random ones."""
    pieces: list[str] = []
    if not files:
        letters = AMINO_ACIDS[np.random.default_rng(1).integers(0, 20, (count, length))]
        return [one.tobytes().decode() for one in letters]
    for path in files:
        for one in read_fasta(path):
            letters = str(one)
            pieces += [letters[k : k + length] for k in range(0, len(letters) - length, length)]
    if len(pieces) < count:
        raise SystemExit(f"{len(pieces):,} pieces of {length} residues, expected {count:,}")
    return pieces[:count]


def write(path: Path, pieces: list[str], prefix: str) -> None:
    path.write_text("".join(f">{prefix}{k}\n{one}\n" for k, one in enumerate(pieces)))


def compare(folder: Path, case: str, chosen: tuple[str, ...], rounds: int) -> None:
    """Make a run, add to it, make a run of all, in interleaved rounds."""
    program = (sys.executable, "-m", "pairalign")
    quiet = ("--device", "cpu", "-q")
    parts, out = f"parts-{abs(hash(case))}", chosen[1]

    def take(*arguments: str) -> float:
        return measure(folder, ((*program, *arguments, *quiet), lambda _: 0)).seconds

    take("align", "old.fa", "-o", parts, "--shard", "1/1", *chosen)
    fresh, update = [], []
    for _ in range(rounds):
        fresh.append(take("align", "old.fa", "--also", "new.fa", "-o", f"fresh.{out}", *chosen))
        update.append(take("update", parts, "new.fa", "-o", f"update.{out}"))
    same = filecmp.cmp(folder / f"fresh.{out}", folder / f"update.{out}", shallow=False)
    size = (folder / f"fresh.{out}").stat().st_size
    shares = [b / a for a, b in zip(fresh, update, strict=True)]
    print(
        f"{case:44} fresh {statistics.median(fresh):7.2f} CPU s, update "
        f"{statistics.median(update):6.2f} CPU s: {statistics.median(shares):.1%} "
        f"({min(shares):.1%}-{max(shares):.1%}), {size:,} bytes, {'same' if same else 'OTHER'}",
        flush=True,
    )
    for path in (*folder.glob(f"{parts}/*"), *folder.glob("fresh.*"), *folder.glob("update.*")):
        path.unlink()
