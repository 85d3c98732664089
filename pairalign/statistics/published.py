"""Published parameters of local scores, as BLAST+ has them.

Each row: BLAST's gap costs (existence, extension; a gap of k residues costs ``existence + k
extension``), lambda, K, and of the residues that an alignment takes: a and b of their mean (b is
for the length adjustment of BLAST's older E-values and bits of search spaces), alpha and sigma of
their variance and covariance. BLAST's 11/1 is 12/1 here. `tests/statistics/test_significance.py`
compares each with what BLAST+ prints.

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

Row = tuple[int, int, float, float, float, float, float, float]

PUBLISHED: dict[str, tuple[Row, ...]] = {
    "BLOSUM62": (
        (11, 2, 0.297, 0.082, 1.1, -10, 12.6738, 12.7576),
        (10, 2, 0.291, 0.075, 1.3, -15, 16.4740, 16.6026),
        (9, 2, 0.279, 0.058, 1.5, -19, 22.7519, 22.9500),
        (8, 2, 0.264, 0.045, 1.8, -26, 35.4838, 35.8213),
        (7, 2, 0.239, 0.027, 2.5, -46, 61.2383, 61.8860),
        (6, 2, 0.201, 0.012, 3.3, -58, 140.417, 141.882),
        (13, 1, 0.292, 0.071, 1.2, -11, 19.5063, 19.8931),
        (12, 1, 0.283, 0.059, 1.5, -19, 27.8562, 28.4699),
        (11, 1, 0.267, 0.041, 1.9, -30, 42.6028, 43.6362),
        (10, 1, 0.243, 0.024, 2.5, -44, 83.1787, 85.0656),
        (9, 1, 0.206, 0.010, 4.0, -87, 210.333, 214.842),
    ),
    "BLOSUM45": (
        (13, 3, 0.207, 0.049, 1.5, -22, 35.8559, 35.9639),
        (12, 3, 0.199, 0.039, 1.8, -34, 45.6936, 45.8517),
        (11, 3, 0.190, 0.031, 2.0, -38, 62.8741, 63.1037),
        (10, 3, 0.179, 0.023, 2.4, -51, 88.2868, 88.6391),
        (16, 2, 0.210, 0.051, 1.5, -24, 36.2798, 36.4524),
        (15, 2, 0.203, 0.041, 1.7, -31, 44.8257, 45.0604),
        (14, 2, 0.195, 0.032, 1.9, -36, 60.7362, 61.1023),
        (13, 2, 0.185, 0.024, 2.2, -45, 85.1481, 85.6894),
        (12, 2, 0.171, 0.016, 2.8, -65, 127.758, 128.582),
        (19, 1, 0.205, 0.040, 1.9, -43, 53.0714, 53.8282),
        (18, 1, 0.198, 0.032, 2.0, -43, 72.3424, 73.4039),
        (17, 1, 0.189, 0.024, 2.4, -57, 103.055, 104.721),
        (16, 1, 0.176, 0.016, 2.8, -67, 170.100, 173.003),
    ),
}

UNGAPPED = {"BLOSUM62": (0.7916, 4.96466), "BLOSUM45": (0.9113, 9.61106)}
"""a and alpha of alignments without gaps."""

DnaRow = tuple[int, int, float, float, float, float]

PUBLISHED_DNA: dict[tuple[int, int], tuple[DnaRow, ...]] = {
    (1, -5): ((3, 3, 1.39, 0.747, 1.0, 0),),
    (1, -4): (
        (1, 2, 1.36, 0.67, 1.1, 0),
        (0, 2, 1.26, 0.43, 1.4, -1),
        (2, 1, 1.35, 0.61, 1.2, -1),
        (1, 1, 1.22, 0.35, 1.7, -3),
    ),
    (2, -7): (
        (2, 4, 0.68, 0.67, 0.55, 0),
        (0, 4, 0.63, 0.43, 0.7, -1),
        (4, 2, 0.675, 0.62, 0.6, -1),
    ),
    (1, -3): (
        (2, 2, 1.37, 0.7, 1.1, 0),
        (1, 2, 1.35, 0.64, 1.2, -1),
        (0, 2, 1.25, 0.42, 1.5, -2),
        (2, 1, 1.34, 0.6, 1.2, -1),
        (1, 1, 1.21, 0.34, 1.7, -2),
    ),
    (2, -5): (
        (0, 4, 0.62, 0.39, 0.8, -2),
        (4, 2, 0.67, 0.61, 0.65, -2),
        (2, 2, 0.56, 0.32, 0.95, -4),
    ),
    (1, -2): (
        (1, 2, 1.3, 0.52, 1.4, -2),
        (0, 2, 1.19, 0.34, 1.8, -3),
        (3, 1, 1.32, 0.57, 1.3, -1),
        (2, 1, 1.29, 0.49, 1.4, -1),
        (1, 1, 1.14, 0.26, 2.2, -5),
    ),
    (2, -3): (
        (4, 4, 0.63, 0.42, 0.75, -2),
        (0, 4, 0.55, 0.21, 1.2, -5),
        (3, 3, 0.615, 0.37, 0.9, -3),
        (6, 2, 0.63, 0.42, 0.75, -2),
        (5, 2, 0.625, 0.41, 0.8, -2),
        (4, 2, 0.61, 0.35, 0.9, -3),
        (2, 2, 0.515, 0.14, 1.55, -9),
    ),
    (1, -1): (
        (3, 2, 1.09, 0.31, 2.0, -2),
        (2, 2, 1.07, 0.27, 2.3, -4),
        (3, 1, 1.06, 0.25, 2.4, -6),
    ),
}
"""By match and mismatch, as blastn prints them: existence, extension, lambda, K, alpha, beta.

The last two are those of its length adjustment."""

BACKGROUND = {
    **{"A": 0.07805, "C": 0.01925, "D": 0.05364, "E": 0.06295, "F": 0.03856, "G": 0.07377},
    **{"H": 0.02199, "I": 0.05142, "K": 0.05744, "L": 0.09019, "M": 0.02243, "N": 0.04487},
    **{"P": 0.05203, "Q": 0.04264, "R": 0.05129, "S": 0.07120, "T": 0.05841, "V": 0.06441},
    **{"W": 0.01330, "Y": 0.03216},
}
"""Robinson and Robinson 1991, PNAS 88:8880: what the published
parameters were computed for."""
