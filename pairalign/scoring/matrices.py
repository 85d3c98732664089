"""Substitution matrices as tables of exact decimals: by name or from a file.

A file is in NCBI's format: comments start with ``#``, the first other line gives the residues of
the columns, each further line a residue and its scores. Nothing is guessed: a table must be square,
complete and symmetric, since the score of a pair must not depend on which sequence comes first.

`complete_table` says how residues that a matrix lacks are scored.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pairalign.base.error_types import MatrixFileError, ScoringError, UnknownMatrixError, unreadable
from pairalign.base.spelling import spelled
from pairalign.sequences.alphabets import DNA, Alphabet

Number = int | float | str | Decimal
"""A score or a cost. A float counts as the decimal that Python prints for it: 0.1 is 1/10."""

MAX_DECIMALS = 6
MAX_VALUE = 10**9

_DNA_NAMES = ("EDNAFULL", "DNAFULL", "NUC44", "NUC4.4")
_REQUIRED = {"protein": "ARNDCQEGHILKMFPSTWYV", "dna": "ACGT"}
_STAND_INS = {"U": "C", "O": "K", "J": "IL"}


class Table(NamedTuple):
    """A substitution matrix: its name and the score of each pair of (upper-case) residues.

    `error` is what is raised where the sequences have residues that it lacks.
    """

    name: str
    scores: Mapping[tuple[str, str], Decimal]
    error: type[ScoringError] = ScoringError

    @property
    def letters(self) -> list[str]:
        """Residues of rows and columns, in the order of the matrix."""
        return list(dict.fromkeys(row for row, _ in self.scores))


def load_table(matrix: str | os.PathLike[str]) -> Table:
    """Load a substitution matrix by name or from a file.

    Parameters
    ----------
    matrix : str or path
        A name that Biopython knows, in any case, one of NCBI's PAM10 to PAM500 and BLOSUM30 to
        BLOSUM100, or EMBOSS's name for one (``EBLOSUM62``, ``EDNAFULL``); else a file in NCBI's
        format. A name wins over a file of the same name; to say that a file is meant, write
        ``./BLOSUM62`` or pass a path object.

    Raises
    ------
    ScoringError
        No such name or file.
    MatrixFileError
        The file cannot be read, or its table is not square, complete and symmetric.
    """
    if isinstance(matrix, str):
        name = _find_name(matrix)
        if name:
            return _load_named(name)
        if not os.path.exists(matrix):
            raise UnknownMatrixError(
                f"matrix {matrix!r}: neither a file nor a known name; "
                f"known are {', '.join(known_names())}"
            )
    name, scores, _ = _load_file(Path(matrix))
    return Table(name, scores, MatrixFileError)


def to_decimal(value: Number, what: str) -> Decimal:
    """Turn a number into an exact decimal of at most six places, or say why not.

    Parameters
    ----------
    value : int, float, str or Decimal
    what : str
        What the number is, the start of a message: ``gap_open``, ``matrix X: line 3``.

    Raises
    ------
    ScoringError
        Not a number, not finite, more than six decimals or out of range.
    """
    try:
        # str() gives the shortest decimal of a float, and works for NumPy's numbers too.
        number = Decimal(str(value).strip())
    except InvalidOperation:
        raise ScoringError(f"{what}: {value!r} is not a number") from None
    if not number.is_finite():
        raise ScoringError(f"{what}: {value!r} is not a finite number")
    if number.copy_abs() > MAX_VALUE:  # abs() overflows at huge exponents
        raise ScoringError(f"{what}: {value} is out of range, expected at most {MAX_VALUE}")
    if number != round(number, MAX_DECIMALS):
        raise ScoringError(f"{what}: {value} has more than {MAX_DECIMALS} decimals")
    return number


def match_table(alphabet: Alphabet, match: Decimal, mismatch: Decimal) -> Table:
    """Make the table of an alphabet in which equal unambiguous residues match and others do not."""
    scores = {
        (row, column): match if row == column and i < alphabet.unambiguous else mismatch
        for i, row in enumerate(alphabet.letters)
        for column in alphabet.letters
    }
    return Table(f"match {match:f}, mismatch {mismatch:f}", scores)


def complete_table(table: Table, alphabet: Alphabet) -> tuple[Table, dict[str, str]]:
    """Give letters of the alphabet that a table lacks the scores of others.

    Returns
    -------
    table : Table
        Of letters of the alphabet only. Not all of them: ``*`` is never added, and X (N in DNA)
        and what it would stand in for stay out when the table has no X (N).
    stand_ins : dict of str to str
        The residues that were added, and as what they score: U as C, O as K, J entry by entry as
        the better of I and L, others as X (N).

    Raises
    ------
    ScoringError
        The table lacks one of the 20 amino acids (A, C, G, T), or is of the other kind; of one
        that was read from a file a `MatrixFileError`.
    """
    letters = table.letters
    if alphabet == DNA and all(letter in letters for letter in _REQUIRED["protein"]):
        raise table.error(
            f"matrix {table.name} is for proteins, but the sequences are DNA "
            f"(if they are not, say {spelled('alphabet', 'protein')})"
        )
    scores = dict(table.scores)
    if alphabet == DNA and "U" in letters:
        _read_u_as_t(scores, table)
    missing = [letter for letter in _REQUIRED[alphabet.name] if (letter, letter) not in scores]
    if missing:
        raise table.error(
            f"matrix {table.name} has no scores for {_quoted(missing)}, "
            f"expected all of {_REQUIRED[alphabet.name]} for {alphabet.name} sequences"
        )
    scores = {pair: score for pair, score in scores.items() if set(pair) <= set(alphabet.letters)}
    stand_ins = {}
    for letter in alphabet.letters:
        others = _STAND_INS.get(letter, alphabet.unknown)
        if (letter, letter) in scores or letter == "*" or (others[0], others[0]) not in scores:
            continue
        for column in [row for row, column in scores if row == column]:
            best = max(scores[other, column] for other in others)
            scores[letter, column] = scores[column, letter] = best
        scores[letter, letter] = max(scores[other, letter] for other in others)
        stand_ins[letter] = others if len(others) == 1 else f"the better of {' and '.join(others)}"
    return Table(table.name, scores), stand_ins


def common_scale(values: Iterable[Decimal]) -> int:
    """Return the smallest power of ten that makes all values whole."""
    exponents = [int(value.normalize().as_tuple().exponent) for value in values]
    return 10 ** -min([0, *exponents])  # type: ignore[no-any-return]


def _read_u_as_t(scores: dict[tuple[str, str], Decimal], table: Table) -> None:
    """Let T take the scores of U where the table has no T; where it has both they must agree."""
    for column in table.letters:
        score = scores.setdefault(("T", column), scores["U", column])
        scores.setdefault((column, "T"), score)
        if score != scores["U", column]:
            raise table.error(
                f"matrix {table.name} scores U other than T (against {column!r}), but U reads as T"
            )
    scores.setdefault(("T", "T"), scores["U", "U"])


@cache
def _published() -> dict[str, tuple[str, list[str]]]:
    """Return the residues and the lines of the published matrices, by their names."""
    text = (Path(__file__).parent / "published_matrices.txt").read_text()
    matrices = {}
    for entry in text.split("\n>")[1:]:
        title, *rows = entry.rstrip("\n").split("\n")
        name, letters = title.split(" ")
        matrices[name] = letters, rows
    return matrices


def known_names() -> list[str]:
    """Return the names of the published matrices: Biopython's, and NCBI's others."""
    return sorted(_published())


def name_of_scores(scores: Mapping[tuple[str, str], Decimal]) -> str | None:
    """Return the name of the matrix with just these scores; None: there is none."""
    return next((name for name in _published() if _load_named(name).scores == scores), None)


def _find_name(matrix: str) -> str | None:
    """Return the name of a known matrix, or None when there is none of that name."""
    key = matrix.upper()
    if key in _DNA_NAMES:
        key = "NUC.4.4"
    names = {name.upper(): name for name in known_names()}
    return names.get(key) or names.get(key.removeprefix("E"))


@cache
def _load_named(name: str) -> Table:
    letters, rows = _published()[name]
    scores = {}
    for row, line in zip(letters, rows, strict=True):
        for column, word in zip(letters, line.split(" "), strict=False):
            scores[row, column] = scores[column, row] = Decimal(word)
    return Table(
        name, {(row, column): scores[row, column] for row in letters for column in letters}
    )


def _load_file(path: Path) -> Table:
    """Parse a file in NCBI's format; the table is called as the file without its folder."""
    where = f"matrix {path}"
    lines = [
        (number, line.split())
        for number, line in enumerate(_read_lines(path, where), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise MatrixFileError(f"{where}: no matrix in the file")
    first, header = lines[0]
    columns = [_letter(word, f"{where}: line {first}") for word in header]
    _check_unique(columns, f"{where}: line {first}: two columns")
    scores: dict[tuple[str, str], Decimal] = {}
    rows: list[str] = []
    for number, words in lines[1:]:
        here = f"{where}: line {number}"
        row = _letter(words[0], here)
        rows.append(row)
        _check_unique(rows, f"{here}: a second row")
        if row not in columns:
            raise MatrixFileError(f"{here}: row {row!r} has no column, expected a square matrix")
        if len(words) - 1 != len(columns):
            raise MatrixFileError(
                f"{here}: row {row!r} has {len(words) - 1} scores, expected {len(columns)}"
            )
        for column, word in zip(columns, words[1:], strict=True):
            scores[row, column] = _score(word, f"{here}: {row!r} against {column!r}")
    missing = [column for column in columns if column not in rows]
    if missing:
        raise MatrixFileError(
            f"{where}: {len(columns)} columns but {len(rows)} rows, expected a square matrix: "
            f"no row for {_quoted(missing)}"
        )
    table = Table(path.name, scores)
    check_symmetric(table, MatrixFileError)
    return table


def _score(word: str, where: str) -> Decimal:
    try:
        return to_decimal(word, where)
    except ScoringError as error:
        raise MatrixFileError(str(error)) from None


def _read_lines(path: Path, where: str) -> list[str]:
    try:
        return path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise MatrixFileError(f"{where}: is not a text file") from None
    except OSError as error:
        raise unreadable(MatrixFileError, where, error, "a file") from error


def _letter(word: str, where: str) -> str:
    if len(word) != 1 or word.isdigit():
        raise MatrixFileError(f"{where}: found {word!r} where a single letter was expected")
    return word.upper()


def _check_unique(letters: list[str], what: str) -> None:
    for letter in letters:
        if letters.count(letter) > 1:
            raise MatrixFileError(f"{what} for {letter!r}")


def check_symmetric(table: Table, error: type[ScoringError]) -> None:
    """Raise an error unless the score of a pair is the same whichever comes first."""
    for (row, column), score in table.scores.items():
        other = table.scores[column, row]
        if score != other:
            raise error(
                f"matrix {table.name} is not symmetric: {row!r} against {column!r} is {score} "
                f"but {column!r} against {row!r} is {other}"
            )


def _quoted(letters: list[str]) -> str:
    return ", ".join(repr(letter) for letter in letters)
