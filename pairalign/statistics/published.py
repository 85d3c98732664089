"""Published parameters of local scores, as BLAST+ has them.

They are in ``published.json``. A row has BLAST's gap costs (existence, extension; a gap of k
residues costs ``existence + k extension``), lambda, K, and of the residues that an alignment takes:
a and b of their mean (b is for the length adjustment of BLAST's older E-values and bits of search
spaces), alpha and sigma of their variance and covariance. BLAST's 11/1 is 12/1 here.
`tests/statistics/test_significance.py` compares each with what BLAST+ prints.

BLAST+'s BLOSUM80, in half bits, is another matrix than Biopython's of that name, in thirds of a
bit: its parameters are not here.

References
----------
.. [1] S. F. Altschul, R. Bundschuh, R. Olsen, T. Hwa. The estimation of statistical parameters for
   local alignment score distributions. Nucleic Acids Research 29:351-361, 2001.
.. [2] Y. Park, S. Sheetlin, N. Ma, T. L. Madden, J. L. Spouge. New finite-size correction for local
   alignment score distributions. BMC Research Notes 5:286, 2012.
"""

from __future__ import annotations

import json
from pathlib import Path

_FILE = json.loads(Path(__file__).with_suffix(".json").read_text())

PUBLISHED: dict[str, list[tuple[float, ...]]] = {
    name: list(map(tuple, matrix["gapped"])) for name, matrix in _FILE["matrices"].items()
}

UNGAPPED: dict[str, tuple[float, float]] = {
    name: tuple(matrix["ungapped"]) for name, matrix in _FILE["matrices"].items()
}
"""a and alpha of alignments without gaps."""

FIRST_PASSAGE: dict[str, dict[tuple[float, ...], list[float]]] = {
    name: {(existence, extension): row for existence, extension, *row in matrix["lengths"]}
    for name, matrix in _FILE["matrices"].items()
}
"""By BLAST's costs: a, b, alpha and beta of inverse Gaussian lengths."""

PUBLISHED_DNA: dict[tuple[int, ...], list[list[float]]] = {
    tuple(map(int, scores.split())): rows for scores, rows in _FILE["dna"].items()
}
"""By match and mismatch, as blastn prints them: existence, extension, lambda, K, alpha, beta.

The last two are those of its length adjustment."""

BACKGROUND: dict[str, float] = _FILE["residues"]
"""Robinson and Robinson 1991: what the published parameters were computed for."""
