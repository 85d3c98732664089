"""What residues are worth: the numbers of the bound that the pruned kernel prunes with.

``docs/similar-sequences.md`` derives the bound. It holds for all pairs of a run, so that what the
residues of a sequence are worth together is added up once a sequence and not once a pair, on the
device: see ``cuda/pruned/worth.cu``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsInt

import numpy as np

from pairalign.base.arrays import Bools, Int32s, Int64s, Structs
from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.engines.cuda.pruned.pruned_plan import RESIDUE_SET, WORTH_PADDING
from pairalign.engines.device.device_sets import DeviceSet, padded_lengths
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.residues import sum_worth

SOURCE = "pruned/worth.cu"
_THREADS = 256

CODES = 32

_MOST = 1 << 28
"""Sums of scores and worths stay below it, so that they never overflow 32 bits."""


@dataclass(frozen=True)
class Worth:
    """What residues are worth, and what the rest of a pair loses in gaps.

    When the rest of the row sequence is R > 0 residues longer than that of the column sequence, it
    loses ``row_loss * R`` at least, less `row_bonus` for each cheap residue of R; columns lose in
    the same way. `pair_bonus` is given back for each cheap residue that both have.

    Attributes
    ----------
    row, column : int64 arrays, shape (32,)
        Of each code. A row residue a and a column residue b that are aligned score at most
        ``row[a] + column[b]``.
    cheap : int64 array, shape (32,)
        1 for residues that cost little in a gap, and may be left out of the price of all others.
    plain, match, mismatch : int
        Codes below `plain` score `match` with themselves, all others `mismatch`. `plain` is 0 where
        residues have more scores than two.
    """

    row: Int64s
    column: Int64s
    cheap: Int64s
    row_loss: int
    row_bonus: int
    column_loss: int
    column_bonus: int
    pair_bonus: int = 0
    plain: int = 0
    match: int = 0
    mismatch: int = 0

    @property
    def diagonal(self) -> int:
        """What a step off the diagonal and back costs at least."""
        return max(1, self.row_loss + self.column_loss)

    def table(self) -> Int32s:
        """Return row worth, column worth and cheapness of each code, shape (3, 32)."""
        return np.stack((self.row, self.column, self.cheap)).astype(np.int32)


def choose_worth(scoring: Scoring, counts: Int64s) -> Worth:
    """Choose worths for sequences in which each code occurs so often.

    Parameters
    ----------
    counts : int64 array, shape (32,)
        Any residue may be of the row sequence or of the column sequence.
    """
    matrix = scoring.matrix.astype(np.int64)
    extend = scoring.gap_extend
    used = np.flatnonzero(counts)
    two = _two_scores(matrix, used)
    if two is None:
        return _worth_of_matrix(matrix, extend, counts, used)
    plain, match, mismatch = two
    if match < mismatch:
        worth = _worth_of_matrix(matrix, extend, counts, used)
    else:
        worth = _worth_of_two_scores(plain, match, mismatch, extend)
    scores = {"plain": plain, "match": match, "mismatch": mismatch}
    return Worth(**{**worth.__dict__, **scores})


def fits(scoring: Scoring, rows: Int64s, columns: Int64s) -> Bools:
    """Tell of which pairs of lengths scores and worths stay far within 32 bits."""
    highest = max(1, int(np.abs(scoring.matrix.astype(np.int64)).max())) + 2 * scoring.gap_extend
    room: Bools = highest * (rows + columns + 512) + 4 * scoring.gap_open < _MOST
    return room


def _two_scores(matrix: Int64s, used: Int64s) -> tuple[int, int, int] | None:
    """Return the codes that match themselves (those below a code), and both scores, or None."""
    if len(used) < 2:
        return None
    scores = matrix[np.ix_(used, used)]
    others = scores[~np.eye(len(used), dtype=bool)]
    mismatch = int(others[0])
    if (others != mismatch).any():
        return None
    diagonal = np.diagonal(scores)
    matching = diagonal != mismatch
    if not matching.any():
        return None
    match = int(diagonal[matching][0])
    if (diagonal[matching] != match).any() or not matching[: int(matching.sum())].all():
        return None
    return int(used[matching][-1]) + 1, match, mismatch


def _worth_of_two_scores(plain: int, match: int, mismatch: int, extend: int) -> Worth:
    """Half of a match a residue; one that matches nothing is worth what that says of it."""
    match, mismatch = max(match, -2 * extend), max(mismatch, -2 * extend)
    halves = match // 2, match - match // 2
    is_plain = np.arange(CODES) < plain
    row = np.where(is_plain, halves[0], mismatch - halves[1])
    column = np.where(is_plain, halves[1], mismatch - halves[0])
    bonus = match - mismatch
    return Worth(
        row.astype(np.int64),
        column.astype(np.int64),
        (~is_plain).astype(np.int64),
        row_loss=halves[0] + extend,
        row_bonus=bonus,
        column_loss=halves[1] + extend,
        column_bonus=bonus,
        pair_bonus=bonus,
    )


def _worth_of_matrix(matrix: Int64s, extend: int, counts: Int64s, used: Int64s) -> Worth:
    """Of three splits of scores between rows and columns, that with the least sum."""
    scores = matrix[np.ix_(used, used)]
    highest = scores.max(axis=0)
    best: tuple[int, Int64s, Int64s] | None = None
    for quarters in (2, 4, 0):  # that count for the column's residue
        column = np.maximum(np.where(highest > 0, highest * quarters // 4, highest), -extend)
        row = np.maximum((scores - column[None, :]).max(axis=1), -extend)
        column = np.maximum((scores - row[:, None]).max(axis=0), -extend)
        total = int((counts[used] * (row + column)).sum())
        if best is None or total < best[0]:
            best = total, row, column
    assert best is not None
    _, row, column = best
    losses = [_usual_loss(side + extend, counts[used]) for side in (row, column)]
    cheap = (row + extend < losses[0]) | (column + extend < losses[1])
    spread = []
    for side in (row, column):
        full = np.full(CODES, -extend, np.int64)
        full[used] = side
        spread.append(full)
    is_cheap = np.zeros(CODES, np.int64)
    is_cheap[used] = cheap
    least = [int((side + extend).min()) for side in (row, column)]
    return Worth(
        spread[0],
        spread[1],
        is_cheap,
        row_loss=losses[0],
        row_bonus=losses[0] - least[0],
        column_loss=losses[1],
        column_bonus=losses[1] - least[1],
    )


def _usual_loss(losses: Int64s, counts: Int64s) -> int:
    """Choose the best loss for a gap of a sixteenth of the residues; fewer may be cheap."""
    residues = int(counts.sum())
    cheaper = np.array([int(counts[losses < loss].sum()) for loss in losses])
    said = losses * (residues // 16 + 1 - cheaper)
    return int(losses[int(np.argmax(said))])


def worth_bytes(sequences: DeviceSet) -> int:
    """Return the memory that the worths of a set take."""
    return 3 * _numbers(sequences) * 4


def cheap_residues(sequences: DeviceSet, worth: Worth) -> Int64s:
    """Return how many cheap residues each sequence has, by sorted position."""
    of_code = np.zeros(256, np.int64)
    of_code[: len(worth.cheap)] = worth.cheap
    return sum_worth(sequences.sequences, of_code)


def _numbers(sequences: DeviceSet) -> int:
    return int(padded_lengths(sequences.lengths).sum()) + WORTH_PADDING * len(sequences.lengths)


class WorthOfSet:
    """The sums of worths of a set's residues, from each residue on."""

    def __init__(self, context: DeviceContext, sequences: DeviceSet) -> None:
        self._context = context
        self._set = sequences
        self._numbers = _numbers(sequences)
        self._memory = context.driver.mem_alloc(3 * 4 * self._numbers)

    def compute(
        self, table: SupportsInt, codes: SupportsInt, first: int, stop: int, stream: object
    ) -> None:
        """Add up the sequences at sorted positions [first, stop), whose residues are at `codes`."""
        context, sequences = self._context, self._set
        module = context.load_module(SOURCE, {})
        context.kernel = "sum_worth"
        arrays = (codes, sequences.starts, sequences.device_lengths, table, *self._addresses())
        module.get_function(context.kernel)(
            *(np.uint64(int(array)) for array in arrays),
            np.int32(context.scoring.gap_extend),
            np.int32(first),
            block=(_THREADS, 1, 1),
            grid=(stop - first, 1),
            stream=stream,
        )

    def describe(self, codes: SupportsInt) -> Structs:
        """Return the set as kernels take it, with the residues at `codes`."""
        described = np.zeros((), RESIDUE_SET)
        described["codes"] = int(codes)
        described["starts"] = int(self._set.starts)
        described["lengths"] = int(self._set.device_lengths)
        names = ("row_worth", "column_worth", "cheap")
        for name, address in zip(names, self._addresses(), strict=True):
            described[name] = address
        return described

    def close(self) -> None:
        """Free the memory."""
        self._memory.free()

    def _addresses(self) -> list[int]:
        return [int(self._memory) + 4 * self._numbers * k for k in range(3)]
