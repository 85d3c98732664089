"""Substitution matrices that are Python objects: Biopython's arrays, mappings, NumPy's arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.error_types import ScoringError, WrongTypeError
from pairalign.scoring.matrices import Number, Table, check_symmetric, name_of_scores, to_decimal
from pairalign.sequences.alphabets import Alphabet

Matrix = str | os.PathLike[str] | Mapping[Any, Any] | npt.NDArray[Any] | tuple[npt.ArrayLike, str]
"""What a matrix may be given as: a name, a file, or an object that `given_table` takes."""

_WHAT = "matrix"
_EXPECTED = (
    "expected a name, a file, an array of Biopython, a mapping of pairs of residues to scores, "
    "or an array with its residues, such as (array, 'ARND')"
)


def is_matrix(value: object) -> bool:
    """Whether it is of a kind that a matrix can be."""
    return isinstance(value, (str, os.PathLike, Mapping, np.ndarray)) or (
        isinstance(value, tuple) and len(value) == 2
    )


def given_table(matrix: Matrix, alphabet: Alphabet) -> Table:
    """Make the table of a matrix that is neither a name nor a file.

    Parameters
    ----------
    matrix : array of Biopython, mapping, ndarray, or (array_like, str)
        A mapping has the keys ``("A", "R")`` or ``"AR"``, or rows that are mappings. A pair that it
        has once counts both ways. An array without residues has those of the alphabet: all of
        them, or the 20 amino acids in the order ARNDCQEGHILKMFPSTWYV, or A, C, G and T.
    alphabet : Alphabet
        Of the sequences.

    Returns
    -------
    Table
        It has the name of the matrix that it is equal to, if there is one.

    Raises
    ------
    ScoringError
        It is not square, complete and symmetric, or has keys or values that make no sense.
    WrongTypeError
        It is nothing of these kinds.
    """
    if not is_matrix(matrix):
        raise WrongTypeError(f"{_WHAT} is of type {type(matrix).__name__}, {_EXPECTED}")
    if isinstance(matrix, Mapping):
        scores = _of_mapping(matrix)
    elif isinstance(matrix, tuple):
        scores = _of_array(*matrix)
    else:
        assert isinstance(matrix, np.ndarray)
        letters = getattr(matrix, "alphabet", None)
        scores = _of_array(matrix, _usual_letters(matrix, alphabet) if letters is None else letters)
    table = Table(name_of_scores(scores) or "given", scores)
    _check_complete(table)
    check_symmetric(table, ScoringError)
    return table


def _usual_letters(matrix: npt.NDArray[Any], alphabet: Alphabet) -> str:
    """Return the residues of an array that names none."""
    size = len(matrix) if np.ndim(matrix) else 0
    unambiguous = alphabet.letters[: 20 if alphabet.name == "protein" else 4]
    for letters in (alphabet.letters, unambiguous):
        if size == len(letters):
            return letters
    raise ScoringError(
        f"{_WHAT}: an array of shape {np.shape(matrix)} without residues, expected "
        f"{len(unambiguous)} x {len(unambiguous)} in the order {unambiguous}, or (array, residues)"
    )


def _of_array(values: npt.ArrayLike, letters: Iterable[object]) -> dict[tuple[str, str], Decimal]:
    residues = [_letter(letter) for letter in letters]
    array = np.asarray(values)
    if array.shape != (len(residues), len(residues)):
        raise ScoringError(
            f"{_WHAT}: an array of shape {array.shape}, expected a square one of "
            f"{len(residues)} residues"
        )
    if len(set(residues)) < len(residues):
        twice = next(residue for residue in residues if residues.count(residue) > 1)
        raise ScoringError(f"{_WHAT}: two columns for {twice!r}")
    return {
        (row, column): _score(row, column, array[i, j].item())
        for i, row in enumerate(residues)
        for j, column in enumerate(residues)
    }


def _of_mapping(matrix: Mapping[Any, Any]) -> dict[tuple[str, str], Decimal]:
    scores: dict[tuple[str, str], Decimal] = {}
    for key, value in matrix.items():
        if isinstance(value, Mapping):
            pairs = {(key, column): score for column, score in value.items()}
        else:
            if not isinstance(key, (str, tuple)) or len(key) != 2:
                raise ScoringError(f"{_WHAT}: the key {key!r}, expected two residues")
            pairs = {tuple(key): value}
        for (row, column), number in pairs.items():
            pair = _letter(row), _letter(column)
            score = _score(*pair, number)
            if scores.setdefault(pair, score) != score:
                raise ScoringError(f"{_WHAT}: {pair[0]!r} against {pair[1]!r} has two scores")
    for (row, column), score in list(scores.items()):
        scores.setdefault((column, row), score)
    return scores


def _score(row: str, column: str, value: Number) -> Decimal:
    return to_decimal(value, f"{_WHAT}: {row!r} against {column!r}")


def _letter(word: object) -> str:
    if not isinstance(word, str) or len(word) != 1 or word.isdigit() or not word.isascii():
        raise ScoringError(f"{_WHAT}: found {word!r} where a single residue was expected")
    return word.upper()


def _check_complete(table: Table) -> None:
    if not table.scores:
        raise ScoringError(f"{_WHAT}: it has no scores")
    for row in table.letters:
        for column in table.letters:
            if (row, column) not in table.scores:
                raise ScoringError(f"{_WHAT}: no score for {row!r} against {column!r}")
