"""Lambda and K as they are estimated, beside those that BLAST+ has published."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from pairalign import make_scoring
from pairalign.jobs.statistics import estimate_gumbel
from pairalign.sequences import PROTEIN

BACKGROUND = {
    **{"A": 0.07805, "C": 0.01925, "D": 0.05364, "E": 0.06295, "F": 0.03856, "G": 0.07377},
    **{"H": 0.02199, "I": 0.05142, "K": 0.05744, "L": 0.09019, "M": 0.02243, "N": 0.04487},
    **{"P": 0.05203, "Q": 0.04264, "R": 0.05129, "S": 0.07120, "T": 0.05841, "V": 0.06441},
    **{"W": 0.01330, "Y": 0.03216},
}
"""Robinson and Robinson 1991, PNAS 88:8880: what the published parameters were computed for."""

KNOWN = (
    ("BLOSUM62", 11, 1, 0.267, 0.041),
    ("BLOSUM62", 9, 1, 0.206, 0.010),
    ("BLOSUM45", 14, 2, 0.195, 0.032),
    ("BLOSUM50", 13, 2, 0.193, 0.035),
    ("PAM30", 9, 1, 0.294, 0.110),
    ("PAM250", 14, 2, 0.182, 0.024),
    ("BLOSUM90", 10, 1, 0.290, 0.075),
)
"""Matrix, BLAST's costs, lambda and K as blastp prints them."""


def add_command(commands: Any) -> None:
    parser = commands.add_parser("statistics", help="lambda and K, estimated and published")
    parser.add_argument("--threads", type=int, default=1)
    parser.set_defaults(run=_run)


def background() -> np.ndarray:
    """Shares of the letters, by code."""
    shares = np.array([BACKGROUND[letter] for letter in PROTEIN.letters[:20]])
    return shares / shares.sum()


def _run(options: argparse.Namespace) -> None:
    shares = background()
    for matrix, opening, extension, lambda_, k in KNOWN:
        started = time.process_time()
        scoring = make_scoring(
            "protein",
            mode="local",
            matrix=matrix,
            gap_open=opening + extension,
            gap_extend=extension,
        )
        found = estimate_gumbel(scoring, (shares, shares), options.threads)
        print(
            f"| {matrix} {opening}/{extension} | {lambda_} | {found.lambda_:.4f} "
            f"({100 * (found.lambda_ / lambda_ - 1):+.1f}%) | {k} | {found.k:.4f} |  "
            f"alpha {found.alpha:.2f}, beta {found.beta:.0f}, "
            f"{time.process_time() - started:.1f} s of one core",
            flush=True,
        )
