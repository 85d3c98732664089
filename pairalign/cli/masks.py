"""``--mask`` and ``--mask-scores``, the same for each command that has them."""

from __future__ import annotations

import argparse

from pairalign.base.choices import MASKS
from pairalign.base.errors import FormatError


def check_masks(options: argparse.Namespace) -> None:
    """Refuse scores of masked residues without a mask.

    Raises
    ------
    FormatError
        The message says what to add.
    """
    if options.mask_scores and options.mask == MASKS[0]:
        raise FormatError("--mask-scores needs --mask tantan or --mask seg")
