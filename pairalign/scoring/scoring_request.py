"""The request of a scoring: made once of the command's options, or of the arguments in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pairalign.base.arguments import MATRIX
from pairalign.base.choices import MODES, TIES
from pairalign.base.declaration import Request, choice, option, request, values_of
from pairalign.base.error_types import ScoringError

if TYPE_CHECKING:
    from pairalign.scoring.given_matrices import Matrix
    from pairalign.scoring.matrices import Number
    from pairalign.scoring.scoring import Scoring
    from pairalign.sequences.alphabets import Alphabet

_Choice = TypeVar("_Choice")


@request
class ScoringRequest(Request):
    """The request of a scoring; the alphabet of the sequences decides the rest.

    The options are the arguments of `pairalign.scoring.scoring.make_scoring`.
    """

    mode: str | None = choice(MODES, "default: %(default)s", decides=False, elsewhere=("-G",))
    matrix: Matrix | None = option(
        help="substitution matrix: a name of Biopython's or NCBI's, or a file in NCBI's format",
        about="substitution matrix, as `pairalign.make_scoring` takes it, in place of `scoring`",
        metavar="NAME|FILE",
        kind=MATRIX,
        decides=False,
        elsewhere=("-matrix", "-datafile", "--sub-mat"),
    )
    match: Number | None = option(
        help="score of equal residues", metavar="N", decides=False, elsewhere=("-reward", "-A")
    )
    mismatch: Number | None = option(
        help="score of different residues, such as -3",
        metavar="N",
        decides=False,
        elsewhere=("-penalty", "-B"),
    )
    gap_open: Number | None = option(
        help="cost of a gap's first residue", metavar="X", decides=False
    )
    gap_extend: Number | None = option(
        help="cost of each further residue",
        metavar="X",
        decides=False,
        elsewhere=("-gapextend", "--gapextend", "--gapext", "-E"),
    )
    free_ends: str | None = option(
        help="ends where gaps are free: query-start, query-end, target-start, target-end",
        metavar="END,...",
        decides=False,
    )
    end_gap_open: Number | None = option(
        help="cost of the first residue of a gap at another end", metavar="X", decides=False
    )
    end_gap_extend: Number | None = option(
        help="cost of each further residue there", metavar="X", decides=False
    )
    ties: str = choice(
        TIES,
        "which optimal alignment is taken: vsearch's where end gaps cost less, on the CPU (usual)",
        decides=False,
    )

    @property
    def known_mode(self) -> str:
        """The mode; where none is said, global."""
        return self.mode or MODES[0]

    @property
    def has_end_gaps(self) -> bool:
        """Whether ends of whole sequences have costs of their own."""
        ends = self.free_ends, self.end_gap_open, self.end_gap_extend
        return any(value is not None for value in ends)

    @property
    def has_costs(self) -> bool:
        """Whether anything is said of costs, beside a matrix."""
        costs = self.match, self.mismatch, self.gap_open, self.gap_extend
        return self.has_end_gaps or self.ties != TIES[0] or any(c is not None for c in costs)

    def scoring(self, alphabet: Alphabet | str) -> Scoring:
        """Return the scoring for an alphabet.

        Raises
        ------
        ScoringError
            There is no such matrix, or costs are out of bounds.
        """
        from pairalign.scoring.scoring import make_scoring  # help does without NumPy

        return make_scoring(alphabet, **{**values_of(self), "mode": self.known_mode})

    def check(self, alphabet: str | None = None) -> None:
        """Refuse what makes no sense for any sequences, before these are read.

        Parameters
        ----------
        alphabet : {"dna", "protein"}, optional
            Default: either will do.

        Raises
        ------
        ScoringError
            There is no such matrix, or costs are out of bounds.
        """
        alphabets = ("dna", "protein") if alphabet is None else (alphabet,)
        trial = self
        if self.matrix is not None:
            alphabets = alphabets[::-1]  # most are for proteins: what is said of those counts
            if _can_be_read_once(self.matrix):
                trial = replace(self, matrix=None)
        check_any(alphabets, trial.scoring)


def check_any(choices: Iterable[_Choice], scoring_of: Callable[[_Choice], Scoring]) -> None:
    """Check that a scoring can be made for at least one choice.

    Parameters
    ----------
    choices : iterable
        Alphabets, presets or the like.
    scoring_of : callable
        Makes the scoring for one of them.

    Raises
    ------
    ScoringError
        That of the first choice, if there is none.
    """
    errors = []
    for value in choices:
        try:
            scoring_of(value)
        except ScoringError as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def _can_be_read_once(path: Matrix) -> bool:
    """Whether it is a pipe or a device."""
    if not isinstance(path, (str, os.PathLike)):
        return False
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))
