"""What a file says of how it was made: the scoring, and what bits and E-values are made of."""

from __future__ import annotations

import numpy as np

from pairalign.scoring.scoring import Scoring
from pairalign.statistics.significance import Significance


def describe_scoring(scoring: Scoring) -> str:
    """One line: ``global, BLOSUM62, gap open 11, gap extend 1``."""
    costs = (scoring.format_score(cost) for cost in (scoring.gap_open, scoring.gap_extend))
    line = "{}, {}, gap open {}, gap extend {}".format(scoring.mode, scoring.matrix_name, *costs)
    if scoring.end_gaps is None:
        return line
    return f"{line}, {scoring.end_gaps.describe(scoring.format_score)}"


def describe_statistics(significance: Significance, scoring: Scoring) -> str:
    """One line: ``lambda 0.267, K 0.041 (published), database of 900 letters in 2 sequences``.

    Lambda is that of scores as they are written, with their decimals.
    """
    gumbel = significance.gumbel
    letters, sequences = significance.database
    line = (
        f"lambda {gumbel.lambda_ * scoring.scale:g}, K {gumbel.k:g} ({gumbel.source}), database of "
        f"{letters:,} letters in {sequences:,} sequences"
    )
    if significance.composition is None:
        return line
    return f"{line}, lambda by the composition of each pair (--comp-based-stats 1)"


def statements(
    scoring: Scoring, significance: Significance | None, *, both_ways: bool = False
) -> list[str]:
    """Return lines of text: scoring, and statistics and search space where they are known.

    `both_ways`: targets come as queries, too.
    """
    lines = [
        f"Scoring: {describe_scoring(scoring)}; a gap of k letters costs open + (k - 1) extend"
    ]
    if significance is not None:
        least, most = _search_spaces(significance, both_ways)
        lines += [
            f"Statistics: {describe_statistics(significance, scoring)}",
            f"Search space: (m - l) (n - N l), {least:,} to {most:,} cells a query",
        ]
    return [" ".join(line.split()) for line in lines]  # a matrix may have any name


def statistics_by_name(significance: Significance, scoring: Scoring) -> dict[str, str]:
    """Return the statistics for a table of keys and values."""
    letters, sequences = significance.database
    least, most = _search_spaces(significance)
    return {
        "lambda": f"{significance.gumbel.lambda_ * scoring.scale:g}",
        "k": f"{significance.gumbel.k:g}",
        "statistics": significance.gumbel.source,
        "database_letters": str(letters),
        "database_sequences": str(sequences),
        "search_space_least": str(least),
        "search_space_most": str(most),
        "comp_based_stats": str(int(significance.composition is not None)),
    }


def _search_spaces(significance: Significance, both_ways: bool = False) -> tuple[int, int]:
    """Return the smallest and the largest of the queries; `both_ways`: of the targets, too."""
    every = np.concatenate(significance.spaces if both_ways else significance.spaces[:1])
    return int(every.min()), int(every.max())
