"""The models of pairs that posteriors are computed of: all parameters, and where they are from.

Two models, combined as MSAProbs does (Liu et al. 2010): a pair HMM and a partition function. Both
are in odds ratios: a residue in a gap counts 1, an aligned pair what is tabulated here.

========== ==================================== ==================================================
alphabet   pair HMM                             partition function
========== ==================================== ==================================================
protein    ProbCons 1.12, five states           MIQS; gaps 22.9675 and 1.31272, temperature 5.02492
           (Do et al. 2005)                     (Yamada and Tomii 2014; the gaps and the temperature
                                                are those of Gonnet 160 in Probalign, 22/1 and 5,
                                                brought to its scale)
dna        ProbConsRNA 1.10, three states       log odds of ProbConsRNA; gaps 4 and 0.25,
           (Do et al. 2005)                     temperature 1 (Probalign; Roshan and Livesay 2006)
========== ==================================== ==================================================

Residues that stand for several (B, Z, J, and the IUPAC letters of DNA) have the mean of the odds of
these, weighted by how frequent they are; U counts as C, O as K; X, N, ``*`` and any other have odds
of 1: they say nothing.

References
----------
Do CB, Mahabhashyam MSP, Brudno M, Batzoglou S. ProbCons: probabilistic consistency-based multiple
sequence alignment. Genome Res 15:330-340, 2005.
Roshan U, Livesay DR. Probalign: multiple sequence alignment using partition function posterior
probabilities. Bioinformatics 22:2715-2721, 2006.
Liu Y, Schmidt B, Maskell DL. MSAProbs: multiple sequence alignment based on pair hidden Markov
models and partition function posterior probabilities. Bioinformatics 26:1958-1964, 2010.
Yamada K, Tomii K. Revisiting amino acid substitution matrices for identifying distantly related
proteins. Bioinformatics 30:317-325, 2014.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.sequences.alphabets import DNA, Alphabet

CODES = 32
"""Residues of an alphabet: the rows and columns of emission tables."""

_SIGNIFICANT_BITS = 20
"""Of what tables hold: a last bit that libraries compute differently does not matter."""


@dataclass(frozen=True)
class PosteriorModel:
    """A pair HMM and a partition function, as `cpu/posterior/model.h` has them.

    Attributes
    ----------
    hmm_emission, partition_emission : ndarray of float64, shape (32, 32)
        Odds of an aligned pair by the codes of its residues; symmetric.
    start_match, start_short, start_long : float
        Probabilities to begin, and to end, in a match, a short and a long gap.
    stay : float
        From match to match.
    open_short, open_long, extend_short, extend_long, close_short, close_long : float
        Of the two kinds of gaps.
    gap_open, gap_extend : float
        What the first residue of a gap multiplies the partition function by, and each further one.
    """

    hmm_emission: npt.NDArray[np.float64]
    partition_emission: npt.NDArray[np.float64]
    start_match: float
    start_short: float
    start_long: float
    stay: float
    open_short: float
    open_long: float
    extend_short: float
    extend_long: float
    close_short: float
    close_long: float
    gap_open: float
    gap_extend: float


_ALIGNED = 30
"""In place of an extension of gaps: each pair of residues that are aligned."""


def posterior_model(alphabet: Alphabet) -> PosteriorModel:
    """Return the models for sequences of an alphabet."""
    return _dna_model() if alphabet == DNA else _protein_model()


@dataclass(frozen=True)
class ProfileCosts:
    """What joins of alignments as profiles score, in 30ths of a bit.

    Attributes
    ----------
    scores : ndarray of int32, shape (32, 32)
        Of the codes of two residues, with what each aligned pair scores besides.
    gap_open : int
        For the two ends of a gap.
    posterior : int
        What a posterior of 1 scores.
    """

    scores: npt.NDArray[np.int32]
    gap_open: int
    posterior: int


def profile_costs(alphabet: Alphabet) -> ProfileCosts | None:
    """Return the costs of an alphabet; None: none are known to be good."""
    if alphabet == DNA:
        return None
    miqs = _symmetric(_MIQS)
    scores = np.full((CODES, CODES), _ALIGNED, np.int32)
    scores[: len(miqs), : len(miqs)] += np.rint(10 * miqs).astype(np.int32)
    return ProfileCosts(scores, gap_open=60, posterior=200)


def _protein_model() -> PosteriorModel:
    background = np.array([float(x) for x in _PROTEIN_BACKGROUND.split()])
    odds = _symmetric(_PROTEIN_PAIRS) / np.outer(background, background)
    temperature = 5.02492
    boltzmann = _exponential(_symmetric(_MIQS) / temperature)
    return PosteriorModel(
        hmm_emission=_with_ambiguous(odds, background, _PROTEIN_GROUPS),
        partition_emission=_with_ambiguous(boltzmann, background, _PROTEIN_GROUPS),
        **_rounded(
            start_match=0.6814756989,
            start_short=8.615339902e-05,
            start_long=0.1591759622,
            stay=1 - 2 * 0.0119511066 - 2 * 0.008008334786,
            open_short=0.0119511066,
            open_long=0.008008334786,
            extend_short=0.3965826333,
            extend_long=0.8988758326,
            close_short=1 - 0.3965826333,
            close_long=1 - 0.8988758326,
            gap_open=math.exp(-22.9675 / temperature),
            gap_extend=math.exp(-1.31272 / temperature),
        ),
    )


def _dna_model() -> PosteriorModel:
    background = np.array([float(x) for x in _RNA_BACKGROUND.split()])
    odds = _symmetric(_RNA_PAIRS) / np.outer(background, background)
    emission = _with_ambiguous(odds, background, _DNA_GROUPS)
    return PosteriorModel(
        hmm_emission=emission,
        partition_emission=emission,
        **_rounded(
            start_match=0.9588437676,
            start_short=0.0205782652,
            start_long=0.0,
            stay=1 - 2 * 0.0190259293,
            open_short=0.0190259293,
            open_long=0.0,
            extend_short=0.3269913495,
            extend_long=0.0,
            close_short=1 - 0.3269913495,
            close_long=0.0,
            gap_open=math.exp(-4.0),
            gap_extend=math.exp(-0.25),
        ),
    )


def _symmetric(lower_triangle: str) -> npt.NDArray[np.float64]:
    rows = [[float(x) for x in line.split()] for line in lower_triangle.split("\n") if line.strip()]
    table = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        table[i, : i + 1] = table[: i + 1, i] = row
    return table


def _exponential(table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    values: npt.NDArray[np.float64] = np.vectorize(math.exp)(table).astype(np.float64)
    return values


def _with_ambiguous(
    odds: npt.NDArray[np.float64],
    background: npt.NDArray[np.float64],
    groups: Mapping[int, tuple[int, ...]],
) -> npt.NDArray[np.float64]:
    """Extend odds of definite residues to all codes, and round them."""
    definite = len(odds)
    mixture = np.zeros((CODES, definite))
    mixture[:definite] = np.eye(definite)
    for code, members in groups.items():
        weights = background[list(members)]
        mixture[code, list(members)] = weights / weights.sum()
    table = mixture @ odds @ mixture.T
    unknown = ~mixture.any(axis=1)
    table[unknown] = table[:, unknown] = 1
    return _round(table)


def _round(table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    mantissa, exponent = np.frexp(table)
    rounded: npt.NDArray[np.float64] = np.ldexp(
        np.rint(np.ldexp(mantissa, _SIGNIFICANT_BITS)), exponent - _SIGNIFICANT_BITS
    )
    return rounded


def _rounded(**values: float) -> dict[str, float]:
    return {name: float(_round(np.array(value))) for name, value in values.items()}


# Codes of the alphabets in `pairalign.sequences.sets`: B, Z, U, O, J.
_PROTEIN_GROUPS = {20: (2, 3), 21: (5, 6), 23: (4,), 24: (11,), 25: (9, 10)}
# R, Y, S, W, K, M, B, D, H, V.
_DNA_GROUPS = {
    4: (0, 2),
    5: (1, 3),
    6: (1, 2),
    7: (0, 3),
    8: (2, 3),
    9: (0, 1),
    10: (1, 2, 3),
    11: (0, 2, 3),
    12: (0, 1, 3),
    13: (0, 1, 2),
}

# Frequencies of ARNDCQEGHILKMFPSTWYV, and of aligned pairs (Do et al. 2005, as published with
# ProbCons 1.12, public domain).
_PROTEIN_BACKGROUND = """
0.07831005 0.05246024 0.04433257 0.05130349 0.02189704
0.03585766 0.05615771 0.07783433 0.02601093 0.06511648
0.09716489 0.05877077 0.02438117 0.04463228 0.03940142
0.05849916 0.05115306 0.01203523 0.03124726 0.07343426
"""
_PROTEIN_PAIRS = """
0.02373072
0.00244502 0.01775118
0.00210228 0.00207782 0.01281864
0.00223549 0.00161657 0.0035354 0.01911178
0.00145515 0.00044701 0.00042479 0.00036798 0.0101347
0.00219102 0.00253532 0.00158223 0.00176784 0.00032102 0.00756604
0.00332218 0.00268865 0.00224738 0.004968 0.00037956 0.00345128 0.01676565
0.00597898 0.00194865 0.00288882 0.00235249 0.00071206 0.00142432 0.0021486 0.04062876
0.00114353 0.00132105 0.00141205 0.00097077 0.00026421 0.00113901 0.00131767 0.00103704 0.00867996
0.00318853 0.00138145 0.00104273 0.00105355 0.0009404 0.00100883 0.00124207 0.0014252 0.00059716 0.01778263
0.00449576 0.00246811 0.00160275 0.00161966 0.00138494 0.00180553 0.00222063 0.00212853 0.00111754 0.01071834 0.03583921
0.00331693 0.0059565 0.0025731 0.00252518 0.00046951 0.00312308 0.0042842 0.00259311 0.00121376 0.00157852 0.00259626 0.01612228
0.00148878 0.00076734 0.00063401 0.00047808 0.00037421 0.00075546 0.00076105 0.00066504 0.00042237 0.00224097 0.00461939 0.0009612 0.00409522
0.00165004 0.00090768 0.00084658 0.00069041 0.00052274 0.00059248 0.00078814 0.00115204 0.00072545 0.00279948 0.00533369 0.00087222 0.00116111 0.01661038
0.00230618 0.00106268 0.00100282 0.00125381 0.00034766 0.00090111 0.0015155 0.00155601 0.00049078 0.00103767 0.0015731 0.00154836 0.00046718 0.00060701 0.01846071
0.00631752 0.0022454 0.00301397 0.00285226 0.00094867 0.00191155 0.00293898 0.00381962 0.00116422 0.00173565 0.00250962 0.00312633 0.00087787 0.00119036 0.00180037 0.01346609
0.00389995 0.00186053 0.00220144 0.00180488 0.00073798 0.00154526 0.0021676 0.00214841 0.00077747 0.00248968 0.00302273 0.00250862 0.00093371 0.00107595 0.00147982 0.00487295 0.01299436
0.00039119 0.00029139 0.00021006 0.00016015 0.00010666 0.00020592 0.00023815 0.00038786 0.00019097 0.00039549 0.00076736 0.00028448 0.00016253 0.00085751 0.00015674 0.00026525 0.00024961 0.00563625
0.0013184 0.0009943 0.0007496 0.00066005 0.00036626 0.00070192 0.00092548 0.00089301 0.00131038 0.00127857 0.00219713 0.00100817 0.00054105 0.00368739 0.00047608 0.00102648 0.00094759 0.00069226 0.00999315
0.00533241 0.00169359 0.00136609 0.00127915 0.00119152 0.00132844 0.00178697 0.00194579 0.00071553 0.01117956 0.0091446 0.00210897 0.00197461 0.00256159 0.00135781 0.00241601 0.00343452 0.00038538 0.00148001 0.02075171
"""  # noqa: E501

# Third-bits (Yamada and Tomii 2014), of the same residues.
_MIQS = """
3.2
-1.3 6.2
-0.4 -0.1 5.1
-0.4 -1.5 2.6 5.7
1.5 -2.7 -1.6 -3.7 11.7
-0.2 1.8 0.9 0.9 -2.8 3.6
-0.4 -0.7 0.8 2.7 -3.2 2.1 4.3
0.4 -1.9 0.2 -0.5 -1.7 -1.6 -1.3 7.6
-1.2 0.9 1.0 0.3 -1.2 1.2 -0.2 -1.6 7.5
-1.3 -2.4 -3.6 -4.5 0.2 -2.2 -3.3 -5.4 -2.2 4.6
-1.4 -2.5 -3.5 -4.6 -2.3 -1.9 -2.8 -4.8 -1.9 3.1 4.6
-0.7 3.3 0.7 0.4 -3.2 1.7 1.1 -1.7 0.0 -2.3 -2.4 3.6
-1.0 -1.1 -2.3 -3.3 0.1 -0.4 -2.3 -3.6 -2.1 1.7 3.2 -1.1 5.4
-2.3 -3.3 -3.5 -5.8 -2.8 -2.4 -4.1 -4.6 0.0 0.7 2.1 -3.7 1.4 7.4
-0.1 -1.1 -1.4 -0.3 -2.8 -0.4 0.0 -1.6 -1.5 -3.7 -2.8 -0.1 -2.8 -3.7 8.4
0.8 -0.3 0.9 0.3 1.0 0.4 0.4 0.0 0.0 -2.8 -2.9 0.0 -1.8 -2.6 -0.1 3.1
0.8 -0.9 0.0 -0.2 0.0 0.1 -0.2 -1.9 -0.2 -0.7 -1.6 0.0 -0.8 -2.3 -0.5 1.6 3.8
-3.6 -3.8 -4.5 -5.3 -6.1 -5.4 -5.8 -4.8 -0.3 -0.7 -0.2 -4.0 -2.1 4.2 -3.6 -3.5 -5.3 14.8
-2.4 -1.9 -1.5 -3.9 -0.7 -2.8 -2.4 -4.5 2.1 -0.8 0.0 -2.3 -0.9 5.2 -4.5 -1.5 -2.1 4.9 8.3
0.0 -2.3 -2.6 -3.5 1.8 -1.8 -2.3 -3.8 -2.3 3.3 2.0 -2.0 1.4 -0.3 -2.5 -1.4 -0.1 -3.3 -1.2 3.5
"""

# A, C, G, U (ProbConsRNA 1.10, public domain).
_RNA_BACKGROUND = "0.2270790040 0.2422080040 0.2839320004 0.2464679927"
_RNA_PAIRS = """
0.1487240046
0.0184142999 0.1583919972
0.0361397006 0.0275536999 0.1979320049
0.0238473993 0.0389291011 0.0244289003 0.1557479948
"""
