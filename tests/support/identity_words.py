"""The identity of an alignment, counted as each definition says it in words."""

from fractions import Fraction

from pairalign.results.alignment_result import Alignment


def identity_in_words(pair: Alignment, identity_of: str) -> Fraction:
    """Identity of an alignment, of its two rows with gaps where it can be."""
    columns = pair.columns
    lengths = len(pair.query), len(pair.target)
    if columns == 0:
        return Fraction(0)
    if identity_of == "mbl":
        return max(Fraction(0), 1 - Fraction(pair.mismatches + pair.gap_openings, max(lengths)))
    if identity_of == "internal" and pair.alignments.scoring.mode == "global":
        for row in pair.rows():
            columns -= len(row) - len(row.strip("-"))
    whole = {
        "columns": pair.columns,
        "internal": columns,
        "aligned": pair.matches + pair.mismatches,
        "shorter": min(lengths),
        "longer": max(lengths),
        "mean": Fraction(sum(lengths), 2),
        "full": pair.columns + _outside(pair),
    }[identity_of]
    return Fraction(pair.matches) / whole if whole > 0 else Fraction(0)


def _outside(pair: Alignment) -> int:
    """Residues of both sequences before and after the spans."""
    return (
        len(pair.query)
        + len(pair.target)
        - (pair.query_end - pair.query_start)
        - (pair.target_end - pair.target_start)
    )
