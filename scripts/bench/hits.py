"""The subcommand `hits`: the best hits of each query, against what they cannot do without.

That is the scores of all pairs, and the alignments of the hits alone as a list of pairs. One
thread, processor time; hits and alignments must agree before anything is timed.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pairalign
from bench.measure import CLOCKS, alternate, ratio
from bench.report import Row
from pairalign.alignments.alignments import Alignments

MOST_TIMES = 1.05
"""Processor time of the hits, by that of scores and of the alignments of the hits."""


def add_command(commands: _SubParsersAction[ArgumentParser]) -> None:
    """Add the subcommand."""
    hits = commands.add_parser("hits", help="the best hits, against scores and their alignments")
    hits.add_argument("--data", type=Path, required=True, nargs="+", help="FASTA files")
    hits.add_argument("--mode", action="append", choices=("global", "semiglobal", "local"))
    hits.add_argument("--sequences", type=int, default=2000, help="of each file (2000)")
    hits.add_argument("--max-hits", type=int, default=10, metavar="K", help="of a query (10)")
    hits.add_argument("--repeat", type=int, default=3, help="rounds (3)")
    hits.add_argument("--markdown", type=Path, help="write the table here as well")
    hits.set_defaults(run=run)


def run(options: Namespace) -> tuple[list[Row], list[str]]:
    """Compare on each file in each mode."""
    rows = [compare(path, mode, options) for path in options.data for mode in options.mode]
    return rows, [f"{options.max_hits} hits of each of {options.sequences:,} queries, one thread"]


def compare(path: Path, mode: str, options: Namespace) -> Row:
    """Verify, then time in interleaved rounds."""
    every = pairalign.read_fasta(path)
    numbers = np.random.default_rng(1).permutation(len(every))[: options.sequences]
    sample = pairalign.SequenceSet.from_strings(
        {every.names[k]: every[k].letters for k in np.sort(numbers).tolist()},
        alphabet=every.alphabet,
    )
    asked: dict[str, Any] = {"mode": mode, "device": "cpu", "threads": 1}
    kept: dict[str, Alignments] = {}

    def hits() -> None:
        kept["hits"] = pairalign.align(sample, max_hits=options.max_hits, **asked)

    def scores() -> None:
        kept["scores"] = pairalign.align(sample, detail="score", **asked)

    def alignments() -> None:
        kept["alignments"] = pairalign.align(sample, pairs=pairs, **asked)

    hits()
    scores()
    pairs = pairs_of(kept["hits"])
    alignments()
    check(kept, options.max_hits)
    jobs: dict[str, Callable[[], None]] = {"hits": hits, "scores": scores, "alignments": alignments}
    seconds = alternate(jobs, options.repeat, CLOCKS["cpu"])
    needed = [a + b for a, b in zip(seconds["scores"], seconds["alignments"], strict=True)]
    times = ratio(seconds["hits"], needed)
    return Row(
        f"{path.name}, {mode}",
        f"{np.median(seconds['hits']):.2f} s",
        "scores, alignments of hits",
        f"{np.median(seconds['scores']):.2f} + {np.median(seconds['alignments']):.2f} s",
        str(times),
        f"<= {MOST_TIMES}",
        times.median <= MOST_TIMES,
    )


def pairs_of(found: Alignments) -> np.ndarray:
    """Each pair once, int64 of shape (pairs, 2)."""
    both = np.sort(np.stack([found.query, found.target], axis=1), axis=1)
    return np.unique(both, axis=0).astype(np.int64)


def check(kept: dict[str, Alignments], most: int) -> None:
    """Leave unless the hits have the highest scores of each query, and their alignments."""
    scores, hits = kept["scores"], kept["hits"]
    count = len(scores.queries)
    matrix = np.full((count, count), -(2**31), np.int64)
    matrix[scores.query, scores.target] = matrix[scores.target, scores.query] = scores.raw_score
    best = np.sort(matrix, axis=1)[:, ::-1][:, :most]
    lowest = 0 if scores.scoring.mode == "local" else -(2**31)
    if hits.raw_score.tolist() != best[best > lowest].tolist():
        raise SystemExit("hits have other scores than the best of a full run")
    aligned = {tuple(sorted((a.query_index, a.target_index))): a for a in kept["alignments"]}
    for hit in hits:
        other = aligned[tuple(sorted((hit.query_index, hit.target_index)))]
        if (hit.score, hit.matches, hit.columns) != (other.score, other.matches, other.columns):
            raise SystemExit("hits have other alignments than the list of their pairs")
