"""How many hits of shuffled sequences have small E-values, beside how many should; lengths of
published scorings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from bench.chance import compare_programs
from pairalign import Scoring, SequenceSet, align, make_scoring, read_fasta
from pairalign.errors import ScoringError
from pairalign.jobs.run.statistics import (
    estimate_first_passage,
    find_or_estimate_gumbel,
)
from pairalign.sequences.alphabets import PROTEIN
from pairalign.statistics.gumbel_fit import pair_composition
from pairalign.statistics.significance import BACKGROUND, PUBLISHED, find_gumbel, find_significance

KNOWN = (("BLOSUM62", 11, 1, 0.267, 0.041),)
"""Matrix, BLAST's costs, lambda and K as blastp prints them."""


CHANCE = {
    "protein": (
        *(("BLOSUM62", *costs) for costs in ((12, 1), (11, 1), (13, 2), (10, 1))),
        *(("BLOSUM45", 16, 2), ("BLOSUM50", 15, 2), ("BLOSUM80", 14, 2), ("BLOSUM90", 11, 1)),
        *(("PAM30", 10, 1), ("PAM250", 16, 2), ("PAM250", 15, 1)),
    ),
    "dna": (
        *((2, -3, 5, 2), (1, -2, 5, 2), (1, -2, 3, 2), (1, -3, 5, 2)),
        *((2, -4, 6, 2), (1, -1, 5, 2)),
    ),
}
"""Scorings whose hits are counted: matrix, or match and mismatch; our costs of gaps."""

HALVES = ("even", "odd")
"""Places in a file, from 0: constants are chosen on the one half and judged on the other."""


def add_command(commands: Any) -> None:
    parser = commands.add_parser("statistics", help="hits of shuffled sequences by E-value")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--data", type=Path, help="FASTA: count hits of its sequences, shuffled")
    parser.add_argument(
        "--sequences", type=int, default=300, help="and this number of others (300)"
    )
    parser.add_argument("--longest", type=int, default=3000, help="leave out longer ones (3,000)")
    parser.add_argument("--against", type=int, help="these many of the file instead, unshuffled")
    parser.add_argument(
        "--half",
        choices=HALVES,
        help="only every other sequence of the file: from its first, or its second",
    )
    parser.add_argument(
        "--seed", type=int, nargs="+", default=[1], help="hits of all are added (1)"
    )
    parser.add_argument("--comp-based-stats", type=int, choices=(0, 1), default=1, help="(1)")
    parser.add_argument(
        "--programs",
        action="store_true",
        help="proteins: shuffled queries against all sequences, ours and other programs' default",
    )
    queries = parser.add_mutually_exclusive_group()
    queries.add_argument("--real", action="store_true", help="and queries that are not shuffled")
    queries.add_argument("--reversed", action="store_true", help="and queries read backwards")
    parser.add_argument(
        "--laws", action="store_true", help="fit the lengths of published scorings; no file"
    )
    parser.set_defaults(run=_run)


def shuffled(
    path: Path,
    count: int,
    longest: int,
    seed: int,
    against: int | None = None,
    half: str | None = None,
) -> tuple[SequenceSet, SequenceSet]:
    """Sequences of a file, each with its residues in random order, and targets for them.

    Targets are as many other shuffled sequences, or the first `against` of the file as they are.
    """
    rng = np.random.default_rng(seed)
    every = read_fasta(path)
    usable = np.flatnonzero((every.lengths > 20) & (every.lengths <= longest))
    if half is not None:
        usable = usable[usable % 2 == HALVES.index(half)]
    chosen = rng.permutation(usable)[: 2 * count]
    letters = ["".join(rng.permutation(list(every[int(k)].residues))) for k in chosen]
    if against is not None:
        queries = SequenceSet.from_strings(letters[:count], alphabet=every.alphabet)
        kept = [every[int(k)].residues for k in usable[:against]]
        return queries, SequenceSet.from_strings(kept, alphabet=every.alphabet)
    return tuple(
        SequenceSet.from_strings(part, alphabet=every.alphabet)
        for part in (letters[:count], letters[count:])
    )


def count_chance_hits(
    scoring: Scoring,
    queries: SequenceSet,
    targets: SequenceSet,
    threads: int = 1,
    by_composition: bool = False,
) -> dict[float, tuple[int, float]]:
    """Hits with small E-values, and how many are expected: one a query for each unit of E."""
    gumbel = find_or_estimate_gumbel(scoring, queries, targets, threads)
    found = align(queries, targets, scoring=scoring, detail="score", device="cpu", threads=threads)
    composition = pair_composition(scoring, queries, targets, gumbel) if by_composition else None
    significance = find_significance(
        scoring, queries, targets, gumbel=gumbel, composition=composition
    )
    evalues = significance.evalues(found)
    return {
        most: (int((evalues <= most).sum()), most * len(queries))
        for most in (10, 1, 0.1, 0.01, 0.001)
    }


def _run(options: argparse.Namespace) -> None:
    if options.laws:
        return _fit_laws(options.threads)
    if options.programs:
        return compare_programs(options)
    if options.data is None:
        raise SystemExit("statistics: --data FILE, or --laws")
    chosen = (options.data, options.sequences, options.longest)
    every_seed = [shuffled(*chosen, seed, options.against, options.half) for seed in options.seed]
    alphabet = every_seed[0][0].alphabet.name
    for row in CHANCE[alphabet]:
        *letters, opening, extension = row
        scores = ("match", "mismatch") if alphabet == "dna" else ("matrix",)
        scoring = make_scoring(
            alphabet,
            mode="local",
            gap_open=opening,
            gap_extend=extension,
            **dict(zip(scores, letters, strict=True)),
        )
        name = f"| {'/'.join(map(str, letters))} | {opening}/{extension} |"
        try:
            of_seeds = [
                count_chance_hits(scoring, *sets, options.threads, options.comp_based_stats)
                for sets in every_seed
            ]
        except ScoringError as error:
            print(name, error, flush=True)
            continue
        print(name, " | ".join(_ratios(of_seeds)), "|", flush=True)


def _ratios(of_seeds: list[dict[float, tuple[int, float]]]) -> list[str]:
    """Hits, those expected, their ratio; with more than one seed its standard error."""
    every = np.array([list(counts.values()) for counts in of_seeds])  # seeds x limits x 2
    hits, expected = every.sum(axis=0).T
    shown = [
        f"{one:g} of {two:g}, {one / two:.2f}" for one, two in zip(hits, expected, strict=True)
    ]
    if len(of_seeds) > 1:
        errors = (every[..., 0] / every[..., 1]).std(axis=0, ddof=1) / np.sqrt(len(every))
        shown = [f"{text} +- {error:.2f}" for text, error in zip(shown, errors, strict=True)]
    return shown


def background() -> np.ndarray:
    """Shares of the residues, by code."""
    shares = np.array([BACKGROUND[letter] for letter in PROTEIN.letters[:20]])
    return shares / shares.sum()


def _fit_laws(threads: int) -> None:
    """Print a, b, alpha and beta of inverse Gaussian lengths of each published scoring."""
    shares = background()
    for matrix, rows in PUBLISHED.items():
        for existence, extension, *_ in rows:
            scoring = make_scoring(
                "protein",
                mode="local",
                matrix=matrix,
                gap_open=existence + extension,
                gap_extend=extension,
            )
            gumbel = find_gumbel(scoring)
            assert gumbel is not None
            law = estimate_first_passage(scoring, gumbel, (shares, shares), threads)
            values = ", ".join(f"{one:.4g}" for one in (law.a, law.b, law.alpha, law.beta))
            print(f"{matrix} ({existence}, {extension}): ({values}),", flush=True)
