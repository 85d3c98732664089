"""Published parameters of local scores of proteins, as BLAST+ has them.

Each row: BLAST's gap costs (existence, extension; a gap of k letters costs ``existence + k
extension``), lambda, K, alpha, beta. BLAST's 11/1 is 12/1 here.
`tests/statistics/test_significance.py` compares each with what BLAST+ prints.

BLAST+'s BLOSUM80, in half bits, is another matrix than Biopython's of that name, in thirds of a
bit: its parameters are not here.

References
----------
.. [1] S. F. Altschul, R. Bundschuh, R. Olsen, T. Hwa. The estimation of statistical parameters for
   local alignment score distributions. Nucleic Acids Research 29:351-361, 2001.
"""

from __future__ import annotations

PUBLISHED: dict[str, tuple[tuple[int, int, float, float, float, float], ...]] = {
    "BLOSUM62": (
        (11, 2, 0.297, 0.082, 1.1, -10),
        (10, 2, 0.291, 0.075, 1.3, -15),
        (9, 2, 0.279, 0.058, 1.5, -19),
        (8, 2, 0.264, 0.045, 1.8, -26),
        (7, 2, 0.239, 0.027, 2.5, -46),
        (6, 2, 0.201, 0.012, 3.3, -58),
        (13, 1, 0.292, 0.071, 1.2, -11),
        (12, 1, 0.283, 0.059, 1.5, -19),
        (11, 1, 0.267, 0.041, 1.9, -30),
        (10, 1, 0.243, 0.024, 2.5, -44),
        (9, 1, 0.206, 0.010, 4.0, -87),
    ),
    "BLOSUM45": (
        (13, 3, 0.207, 0.049, 1.5, -22),
        (12, 3, 0.199, 0.039, 1.8, -34),
        (11, 3, 0.190, 0.031, 2.0, -38),
        (10, 3, 0.179, 0.023, 2.4, -51),
        (16, 2, 0.210, 0.051, 1.5, -24),
        (15, 2, 0.203, 0.041, 1.7, -31),
        (14, 2, 0.195, 0.032, 1.9, -36),
        (13, 2, 0.185, 0.024, 2.2, -45),
        (12, 2, 0.171, 0.016, 2.8, -65),
        (19, 1, 0.205, 0.040, 1.9, -43),
        (18, 1, 0.198, 0.032, 2.0, -43),
        (17, 1, 0.189, 0.024, 2.4, -57),
        (16, 1, 0.176, 0.016, 2.8, -67),
    ),
}

BACKGROUND = {
    **{"A": 0.07805, "C": 0.01925, "D": 0.05364, "E": 0.06295, "F": 0.03856, "G": 0.07377},
    **{"H": 0.02199, "I": 0.05142, "K": 0.05744, "L": 0.09019, "M": 0.02243, "N": 0.04487},
    **{"P": 0.05203, "Q": 0.04264, "R": 0.05129, "S": 0.07120, "T": 0.05841, "V": 0.06441},
    **{"W": 0.01330, "Y": 0.03216},
}
"""Robinson and Robinson 1991, PNAS 88:8880: what the published
parameters were computed for."""
