"""A rehearsal of a run of all of Swiss-Prot: one shard of very many, verified, and the total told.

    python scripts/rehearse.py --lengths human_18k.fa.gz --shards 10000

Makes random proteins whose lengths are drawn from those of a file and scaled to a mean, aligns one
shard in the middle, verifies what was written, and says what all shards would take on cores like
these and what `pairalign estimate` says of GPUs. One protein of five is a relative of one of those
before it, with 60% of its residues. Nothing is kept without --folder."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from pairalign.sequences.reading import read_fasta

LETTERS = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)
SHARES = np.array(
    (
        *(8.3, 5.5, 4.1, 5.5, 1.4, 3.9, 6.7, 7.1, 2.3, 5.9),
        *(9.6, 5.8, 2.4, 3.9, 4.7, 6.6, 5.4, 1.1, 2.9, 6.9),
    )
)
"""Percent of each residue in Swiss-Prot, about (its release notes)."""
OPTIONS = ("--mode", "local", "--max-evalue", "1e-3", "--search-space", "1e11", "--format", "paf")


def main() -> None:
    options = parse()
    with tempfile.TemporaryDirectory(prefix="pairalign-rehearsal-") as name:
        folder = options.folder or Path(name)
        folder.mkdir(exist_ok=True)
        path = folder / "proteins.fa"
        if not path.exists():
            write_proteins(path, options)
        rehearse(folder, options)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lengths", type=Path, required=True, help="proteins with real lengths")
    parser.add_argument("--sequences", type=int, default=570_000)
    parser.add_argument("--mean", type=float, default=363, help="mean length")
    parser.add_argument("--shards", type=int, default=10_000)
    parser.add_argument("--shard", type=int, help="default: the one in the middle")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, help="keep the sequences and the part there")
    return parser.parse_args()


def write_proteins(path: Path, options: argparse.Namespace) -> None:
    rng = np.random.default_rng(1)
    real = read_fasta(options.lengths).lengths
    drawn = rng.choice(real, options.sequences).astype(float)
    lengths = np.maximum(2, np.rint(drawn * options.mean / drawn.mean())).astype(int)
    made: list[np.ndarray] = []
    with path.open("wb") as file:
        for number, length in enumerate(lengths.tolist()):
            letters = LETTERS[rng.choice(20, length, p=SHARES / SHARES.sum())]
            if number % 5 == 0 and made:
                ancestor = made[rng.integers(len(made))][:length]
                alike = np.flatnonzero(rng.random(len(ancestor)) < 0.6)
                letters[alike] = ancestor[alike]
            made.append(letters)
            del made[: len(made) - 1000]
            file.write(b">p%d\n%s\n" % (number, letters.tobytes()))


def rehearse(folder: Path, options: argparse.Namespace) -> None:
    """Do a shard, verify it, and print what it says of all."""
    shard = options.shard or (options.shards + 1) // 2
    here = ("--threads", str(options.threads), "--device", "cpu", "--summary", "json")
    place = ("-o", "parts", "--shard", f"{shard}/{options.shards}")
    align = command(folder, "align", "proteins.fa", *place, *OPTIONS, *here)
    part = next(folder.glob(f"parts/part-*{shard}-of-{options.shards}.paf"))
    lines = part.read_bytes().count(b"\n")
    print(f"shard {shard:,} of {options.shards:,}: {align['pairs']:,} pairs, {lines:,} lines")
    took = f"{align['cpu']:.0f} CPU s, {align['seconds']:.0f} s of aligning"
    print(f"  {took}, {align['cells']:.3g} cells")
    if lines:
        checked = command(
            *(folder, "verify", str(part.relative_to(folder)), "proteins.fa", "--mode", "local"),
            *("-o", "verified.tsv", "--summary", "json"),
        )
        print(f"  verified: {checked['legal']:,} of {checked['records']:,} lines are legal")
    print(
        f"all shards, on cores like these: {align['cpu'] * options.shards / 3600:,.0f} core hours"
    )
    print(f"  and {lines * options.shards:,} lines, {part.stat().st_size * options.shards:,} bytes")
    for devices in ("core:1", "H200", "H200:8"):
        told = command(
            *(folder, "estimate", "proteins.fa", *OPTIONS, "--devices", devices),
            *("--sample", "5000", *here),
        )
        print(
            f"estimate, {devices}: {told['pairs']:,} pairs, {told['cells']:.3g} cells, "
            f"{told['seconds'] / 3600:,.2f} h, {told['bytes']:,} bytes"
        )


def command(folder: Path, *words: str) -> dict[str, float]:
    """Run a command; return the facts of its summary, and its CPU seconds as `cpu`."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "pairalign", *words], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(said)
    facts: dict[str, float] = json.loads(said.strip().splitlines()[-1])
    facts.setdefault("seconds", time.perf_counter() - started)
    return {**facts, "cpu": usage.ru_utime + usage.ru_stime}


if __name__ == "__main__":
    main()
