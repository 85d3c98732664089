"""What is asked of a scoring: made once of the command's options, or of the arguments in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from pairalign.base.choices import TIES
from pairalign.base.error_types import ScoringError
from pairalign.scoring.given_matrices import Matrix
from pairalign.scoring.matrices import Number
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.alphabets import Alphabet

_Choice = TypeVar("_Choice")


@dataclass(frozen=True)
class ScoringRequest:
    """What is asked of a scoring; the alphabet of the sequences decides the rest.

    Attributes
    ----------
    mode, matrix, match, mismatch, gap_open, gap_extend
    free_ends, end_gap_open, end_gap_extend, ties
        As for `pairalign.scoring.scoring.make_scoring`.
    """

    mode: str = "global"
    matrix: Matrix | None = None
    match: Number | None = None
    mismatch: Number | None = None
    gap_open: Number | None = None
    gap_extend: Number | None = None
    free_ends: str | None = None
    end_gap_open: Number | None = None
    end_gap_extend: Number | None = None
    ties: str = TIES[0]

    def scoring(self, alphabet: Alphabet | str) -> Scoring:
        """Return the scoring for an alphabet.

        Raises
        ------
        ScoringError
            There is no such matrix, or costs are out of bounds.
        """
        asked = {one.name: getattr(self, one.name) for one in fields(self)}
        return make_scoring(alphabet, **asked)

    def check(self, alphabet: str | None = None) -> None:
        """Refuse what makes no sense for any sequences, before these are read.

        Parameters
        ----------
        alphabet : {"dna", "protein"}, optional
            Default: either will do.

        Raises
        ------
        ScoringError
            See `scoring`.
        """
        alphabets = ("dna", "protein") if alphabet is None else (alphabet,)
        asked = self
        if self.matrix is not None:
            alphabets = alphabets[::-1]  # most are for proteins: what is said of those counts
            if _can_be_read_once(self.matrix):
                asked = replace(self, matrix=None)
        check_any(alphabets, asked.scoring)


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
    for choice in choices:
        try:
            scoring_of(choice)
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
