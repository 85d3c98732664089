"""Weights of `pairalign.alignments.calibration`, as `scripts/fit_confidence.py` writes them."""

WEIGHTS = {
    "protein": (2.636, 1.091, 1.01, 3.791),
    "dna": (1.95, 1.549, 0.643, 1.044),
}
"""Of an alphabet: a, b, c, d."""
