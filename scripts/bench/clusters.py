"""Clusters beside those of vsearch and CD-HIT: time, numbers, and which pairs they are wrong about.

A pair is *split* if it is similar enough and in two clusters, and *joined* if it is not and in one.
What is similar enough is said by exact alignments, by the identity that the program defines. Greedy
and single linkage split or join pairs by their definition; what a program adds is beside ours.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pairalign import Clusters, SequenceSet, cluster, read_fasta

MODE = "semiglobal"  # the others let gaps at the ends cost little or nothing
_CDHIT_WORDS = ((0.7, 5), (0.6, 4), (0.5, 3), (0.0, 2))
Labels = np.ndarray


def add_command(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("clusters", help="clusters beside vsearch and CD-HIT")
    parser.add_argument("--data", type=Path, required=True, nargs="+", help="FASTA files")
    parser.add_argument("--sequences", type=int, default=2000, help="the first N (2000)")
    parser.add_argument("--min-identity", type=float, default=0.97)
    parser.add_argument("--device", default="auto")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    for path in options.data:
        every = read_fasta(path)
        chosen = {s.name: s.letters for _, s in zip(range(options.sequences), every, strict=False)}
        sample = SequenceSet.from_strings(chosen, alphabet=every.alphabet)
        print(f"\n{path.name}: {len(sample):,} sequences, identity {options.min_identity}")
        for identity in ("shorter", "internal") if sample.alphabet.name == "dna" else ("shorter",):
            compare(sample, options.min_identity, identity, options.device)


def compare(sample: SequenceSet, least: float, identity: str, device: str) -> None:
    """Print a line for each program that has this identity, and one for each of our linkages."""
    edges = None
    for linkage in ("greedy", "single", "complete", "average"):
        started = time.perf_counter()
        found = cluster(
            sample,
            min_identity=least,
            identity_of=identity,
            linkage=linkage,
            mode=MODE,
            device=device,
        )
        seconds = time.perf_counter() - started
        if edges is None:
            edges = similar_pairs(sample, least, identity, device)
        show(f"pairalign {linkage}", identity, found.labels, edges, seconds)
    for name, program in programs(sample, identity).items():
        if shutil.which(name.split()[0]) is None:
            print(f"{name}: not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            write_fasta(Path(folder) / "in.fa", sample)
            started = time.perf_counter()
            labels = program(Path(folder), least)
            show(name, identity, labels, edges, time.perf_counter() - started)


def similar_pairs(sample: SequenceSet, least: float, identity: str, device: str) -> np.ndarray:
    """Input indices of all pairs that are similar enough, int64 of shape (pairs, 2)."""
    found: Clusters = cluster(
        sample,
        min_identity=least,
        identity_of=identity,
        linkage="single",
        edges=True,
        mode=MODE,
        device=device,
    )
    assert found.edges is not None
    return np.stack([found.edges.query, found.edges.target], axis=1).astype(np.int64)


def show(name: str, identity: str, labels: Labels, edges: np.ndarray, seconds: float) -> None:
    kept = int((labels[edges[:, 0]] == labels[edges[:, 1]]).sum())
    sizes = np.bincount(labels)
    within = int((sizes * (sizes - 1) // 2).sum())
    print(
        f"{name:28} {identity:9} {len(np.unique(labels)):7,} clusters  {len(edges) - kept:9,} split"
        f"  {within - kept:9,} joined  {seconds:8.2f} s"
    )


def programs(sample: SequenceSet, identity: str) -> dict[str, Callable[[Path, float], Labels]]:
    """What else clusters by this identity, by the name of the program."""
    names = {name: index for index, name in enumerate(sample.names)}
    is_dna = sample.alphabet.name == "dna"

    def vsearch(kind: str) -> Callable[[Path, float], Labels]:
        number = {"shorter": "0", "columns": "1", "internal": "2"}[identity]

        def cluster_them(folder: Path, least: float) -> Labels:
            call(
                folder, "vsearch", f"--cluster_{kind}", "in.fa", "--id", str(least), "--iddef",
                number, "--uc", "out.uc", "--minseqlength", "1", "--qmask", "none",
                "--threads", "1",
            )  # fmt: skip
            rows = [line.split("\t") for line in (folder / "out.uc").read_text().splitlines()]
            return labels_of(names, ((r[8], int(r[1])) for r in rows if r[0] in "SH"))

        return cluster_them

    def cdhit(*more: str) -> Callable[[Path, float], Labels]:
        def cluster_them(folder: Path, least: float) -> Labels:
            words = next(n for share, n in _CDHIT_WORDS if least >= share)
            program = ("cd-hit-est", "-r", "0") if is_dna else ("cd-hit", "-n", str(words))
            call(
                folder, *program, "-i", "in.fa", "-o", "out", "-c", str(least), "-d", "0", "-l",
                "10", "-M", "0", "-T", "1", *more,
            )  # fmt: skip
            label, rows = -1, []
            for line in (folder / "out.clstr").read_text().splitlines():
                if line.startswith(">"):
                    label += 1
                else:
                    rows.append((line.split(", >")[1].split("... ")[0], label))
            return labels_of(names, rows)

        return cluster_them

    known: dict[str, Callable[[Path, float], Labels]] = {}
    if is_dna:
        known = {
            "vsearch --cluster_fast": vsearch("fast"),
            "vsearch --cluster_size": vsearch("size"),
        }
    if identity == "shorter":
        first = "cd-hit-est" if is_dna else "cd-hit"
        known |= {first: cdhit(), f"{first} -g 1": cdhit("-g", "1")}
    return known


def call(folder: Path, *arguments: str) -> None:
    subprocess.run(arguments, cwd=folder, check=True, capture_output=True)


def labels_of(names: dict[str, int], rows: object) -> Labels:
    """Number of the cluster of each sequence; what a program left out is a cluster of its own."""
    labels = np.full(len(names), -1)
    for name, label in rows:  # type: ignore[attr-defined]
        labels[names[name]] = label
    alone = np.flatnonzero(labels < 0)
    labels[alone] = labels.max() + 1 + np.arange(len(alone))
    return labels


def write_fasta(path: Path, sample: SequenceSet) -> None:
    path.write_text("".join(f">{s.name}\n{s.letters}\n" for s in sample))
