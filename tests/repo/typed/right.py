"""Every public name, used as its types say; mypy --strict accepts it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

import pairalign

READS = {"a": "ACGTTGCA", "b": "ACGTTGGA"}
FILE = Path("proteins.fasta")


def of_sequences() -> None:
    sequences: pairalign.SequenceSet = pairalign.read_fasta(FILE, alphabet=pairalign.PROTEIN)
    first: pairalign.Sequence = sequences["a"]
    some: pairalign.SequenceSet = sequences[:2]
    alphabet: pairalign.Alphabet = pairalign.DNA
    packed: pairalign.SequenceSet = pairalign.pack(some, "a.pairset")
    rotated: pairalign.SequenceSet = pairalign.rotate(READS, to="a")
    print(first.residues, alphabet.letters, len(packed), rotated.names)


def of_pairs() -> None:
    scoring: pairalign.Scoring = pairalign.make_scoring("protein", matrix="BLOSUM50", gap_open=13)
    found: pairalign.Alignments = pairalign.align(
        FILE, scoring=scoring, mode="local", detail="stats", identity_of="mean", memory=1 << 30
    )
    one: pairalign.Alignment = found["a", "b"]
    best: pairalign.Alignments = found[found.identity > 0.5]
    pair: pairalign.Alignment = pairalign.align_pair("ACGT", b"ACGG", scoring={("A", "A"): 1})
    blocks: Iterator[pairalign.Alignments] = pairalign.stream(READS, max_hits=3, strand="both")
    best.write("best.paf")
    score: int | float = one.score
    print(score, pair.cigar, list(blocks))


def of_distances() -> None:
    matrix: pairalign.DistanceMatrix = pairalign.distance(READS, measure="kimura-2p")
    block: pairalign.RectangularDistances = pairalign.distance(READS, READS, strand="both")
    block.write("a.npz")
    groups: pairalign.GroupDistances = pairalign.distance(["a.faa", "b.faa"], group_by="file")
    near: pairalign.SparseDistances = pairalign.distance(READS, sparse=True, max_edits=3)
    near = pairalign.distance(READS, sparse=True, max_drop=9, mode="global", device="cpu")
    near = pairalign.distance(READS, READS, sparse=True, max_edits=3, device="cuda:0", threads=2)
    tree: pairalign.GuideTree = pairalign.tree(matrix, method="mixed")
    square: npt.NDArray[np.floating] = matrix.square()
    matrix.write("a.phy")
    near.write("a.npz")
    tree.write("a.nwk", program="famsa")
    matrix.plot().savefig("a.svg")
    tree.plot().savefig("b.svg")
    clusters: list[list[str]] = groups.clusters(0.05)
    print(square, tree.newick(), clusters)


def of_sets() -> None:
    overlaps: pairalign.Overlaps = pairalign.overlap(READS, preset="hifi", min_overlap=100)
    clusters: pairalign.Clusters = pairalign.cluster(READS, min_identity="97%", linkage="single")
    split: pairalign.Split = pairalign.split(READS, min_identity=0.3, test=0.2)
    violations: pairalign.Violations = pairalign.audit("a.csv", READS, min_identity="30%")
    violations.write("b.csv")
    rows = [("a", "b")]
    folds: pairalign.InteractionSplit = pairalign.split(READS, READS, pairs=rows, folds=2)
    folds.write("a.csv")
    asked = {"min_identity": 0.9}
    leaks: pairalign.InteractionViolations = pairalign.audit(
        "a.csv", READS, READS, pairs=True, second=asked
    )
    leaks.write("b.csv")
    added: pairalign.Updated = pairalign.update("parts", "new.fa", "all.paf")
    print(added)
    verdicts: pairalign.Verification = pairalign.verify("a.paf", READS, optimal=True)
    verdicts.write("a.tsv")
    pairalign.merge("parts", "whole.paf")
    overlaps.write("a.gfa")
    clusters.write("a.uc", sizeout=True)
    split.write("a.csv")
    print(clusters.sizes, split.fold_names, clusters.plot())


def of_families() -> None:
    posterior: pairalign.SparsePosteriors = pairalign.posterior(READS, threshold=0.1)
    family: pairalign.MultipleAlignment = pairalign.msa(READS, tree_in="a.nwk")
    more: pairalign.MultipleAlignment = pairalign.msa(add={"c": "ACGT"}, to=family)
    merged: pairalign.MultipleAlignment = pairalign.msa([family, "b.afa"], merge=True)
    scored = pairalign.msa(READS, confidence_of=family)
    families: Iterator[tuple[str, pairalign.MultipleAlignment]] = pairalign.align_families(
        {"one": READS}
    )
    posterior.write("a.tsv")
    more.write("a.afa", order="tree")
    merged.write("b.sto")
    print(scored.column_confidence, dict(families))


def of_errors() -> tuple[type[pairalign.PairalignError], ...]:
    return (
        pairalign.AlphabetError,
        pairalign.CapacityError,
        pairalign.DeviceError,
        pairalign.DistanceError,
        pairalign.FastaError,
        pairalign.KernelBuildError,
        pairalign.OutputError,
        pairalign.PairListError,
        pairalign.ScoringError,
        pairalign.SplitError,
    )
