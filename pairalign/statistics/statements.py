"""What a file says of how it was made: the scoring, and what bits and E-values are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairalign.alignments.problem import Problem
from pairalign.base.choices import MASKS
from pairalign.scoring.scoring import Scoring

if TYPE_CHECKING:
    from pairalign.statistics.significance import Significance


def describe_scoring(scoring: Scoring) -> str:
    """One line: ``global, BLOSUM62, gap open 11, gap extend 1``."""
    costs = (scoring.format_score(cost) for cost in (scoring.gap_open, scoring.gap_extend))
    line = "{}, {}, gap open {}, gap extend {}".format(scoring.mode, scoring.matrix_name, *costs)
    if scoring.end_gaps is None:
        return line
    return f"{line}, {scoring.end_gaps.describe(scoring.format_score)}"


def describe_statistics(significance: Significance, scoring: Scoring) -> str:
    """One line: ``lambda 0.267, K 0.041 (published), database of 90 residues in 2 sequences, ...``.

    Lambda is that of scores as they are written, with their decimals.
    """
    gumbel = significance.gumbel
    residues, sequences = significance.database
    line = (
        f"lambda {gumbel.lambda_ * scoring.scale:g}, K {gumbel.k:g} ({gumbel.source}), database of "
        f"{residues:,} residues in {sequences:,} sequences"
    )
    parts = [line, significance.describe_space()]
    if significance.composition is not None:
        parts.append("lambda by the composition of each pair, mid-P (--comp-based-stats 1)")
    if significance.masks is not None:
        parts.append(f"residues that {significance.masks.mask} masks add nothing (Frith 2011)")
    if significance.scored_mask is not None:
        unknown = scoring.alphabet.unknown
        parts.append(f"residues that {significance.scored_mask} masks are {unknown}")
    return ", ".join(parts)


def describe_mask(before: Problem, after: Problem, mask: str) -> str:
    """One line: which share of the residues a mask has made unknown."""
    residues = changed = 0
    for plain, masked in zip(before.sets, after.sets, strict=True):
        residues += plain.total_residues
        changed += int((plain.codes != masked.codes).sum())
    unknown = before.scoring.alphabet.unknown
    return f"Mask: {mask} makes {changed / residues:.1%} of {residues:,} residues {unknown}"


def statements(scoring: Scoring, significance: Significance | None) -> list[str]:
    """Return lines of text: scoring, and statistics where they are known."""
    lines = [
        f"Scoring: {describe_scoring(scoring)}; a gap of k residues costs open + (k - 1) extend"
    ]
    if significance is not None:
        lines.append(f"Statistics: {describe_statistics(significance, scoring)}")
    return [" ".join(line.split()) for line in lines]  # a matrix may have any name


def statistics_by_name(significance: Significance, scoring: Scoring) -> dict[str, str]:
    """Return the statistics for a table of keys and values."""
    residues, sequences = significance.database
    return {
        "lambda": f"{significance.gumbel.lambda_ * scoring.scale:g}",
        "k": f"{significance.gumbel.k:g}",
        "statistics": significance.gumbel.source,
        "database_letters": str(residues),
        "database_sequences": str(sequences),
        "search_space": significance.describe_space(),
        "comp_based_stats": str(int(significance.composition is not None)),
        "mask": MASKS[0] if significance.masks is None else significance.masks.mask,
        "mask_of_scores": significance.scored_mask or MASKS[0],
    }
