"""Thresholds of identity and coverage on the command line, the same for each command."""

from __future__ import annotations

import argparse

from pairalign.alignments.thresholds import PairThresholds, make_pair_thresholds


def thresholds_of(options: argparse.Namespace) -> PairThresholds:
    """Return the thresholds that were asked for."""
    return make_pair_thresholds(
        options.min_identity, options.identity_of, options.min_coverage, options.coverage_of
    )
