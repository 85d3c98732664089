"""``--mask`` and ``--mask-scores``, the same for each command that has them."""

from __future__ import annotations

import argparse

from pairalign.base.choices import MASKS
from pairalign.base.errors import FormatError


def add_masks(group: argparse._ArgumentGroup, effect: str) -> None:
    """Add both; `effect` is what a mask alone does."""
    group.add_argument("--mask", choices=MASKS, default=MASKS[0], help=effect)
    group.add_argument(
        "--mask-scores",
        action="store_true",
        help="residues that --mask finds are X, in DNA N, and score so, in any mode",
    )


def check_masks(options: argparse.Namespace) -> None:
    """Refuse scores of masked residues without a mask.

    Raises
    ------
    FormatError
        The message says what to add.
    """
    if options.mask_scores and options.mask == MASKS[0]:
        raise FormatError("--mask-scores needs --mask tantan or --mask seg")
