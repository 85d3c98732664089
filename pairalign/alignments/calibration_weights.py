"""Weights of `pairalign.alignments.calibration`, as `scripts/fit_confidence.py` writes them."""

WEIGHTS = {
    "protein": (3.399, 1.609, 0.413, 3.987),
    "dna": (1.803, 1.614, 0.863, 1.508),
}
"""Of an alphabet: a, b, c, d."""
