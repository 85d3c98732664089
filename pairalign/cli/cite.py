"""What ``pairalign --cite`` prints: how to cite the program, and the papers its kernels are after.

``CITATION.cff`` says the same to other programs; a test holds the two together.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple


class Paper(NamedTuple):
    """A paper that pairalign uses.

    Attributes
    ----------
    used_for : str
        What of pairalign is after it.
    reference : str
        Authors, title, where, when.
    """

    used_for: str
    reference: str


PAPERS = (
    Paper(
        "traceback, windows, kernels 'packed' and 'pair-per-thread'",
        "Blazewicz J, Frohmberg W, Kierzynka M, Pesch E, Wojciechowski P. Protein alignment "
        "algorithms with an efficient backtracking routine on multiple GPUs. BMC Bioinformatics "
        "12:181, 2011. doi:10.1186/1471-2105-12-181",
    ),
    Paper(
        "kernel 'pair-per-warp'",
        "Dohi K, Benkrid K, Ling C, Hamada T, Shibata Y. Highly efficient mapping of the "
        "Smith-Waterman algorithm on CUDA-compatible GPUs. ASAP 2010.",
    ),
    Paper(
        "kernel 'striped'",
        "Kakimoto T, Dohi K, Shibata Y, Oguri K. Performance comparison of GPU programming "
        "frameworks with the striped Smith-Waterman algorithm. ACM SIGARCH Computer Architecture "
        "News 40, 2012.",
    ),
    Paper(
        "kernel 'bitwise'",
        "Nishimura T, Bordim JL, Ito Y, Nakano K. Accelerating the Smith-Waterman algorithm using "
        "bitwise parallel bulk computation technique on GPU. IPDPSW 2017.",
    ),
    Paper(
        "kernel 'block-diagonals'",
        "Huynh J, Vang K, Thao J, Jalili A, Al-Humayani F. Optimizing Needleman-Wunsch algorithm "
        "through GPU parallelization techniques.",
    ),
)


def citation() -> str:
    """Return how to cite this version, and the papers, each with what is after it."""
    from pairalign.base.version import __version__

    program = (
        "The pairalign authors. pairalign: exact alignment of every pair in a set of sequences. "
        f"Version {__version__}."
    )
    parts = [_wrapped(program), "The papers that it is made after; cite those that you used:"]
    parts += [f"{paper.used_for}:\n{_wrapped(paper.reference)}" for paper in PAPERS]
    return "\n\n".join(parts)


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text, 88, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
