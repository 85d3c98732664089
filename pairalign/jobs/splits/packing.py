"""Packing connected pieces into folds, balanced by size and by label; what is too large is cut."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from pairalign.base.arrays import Doubles
from pairalign.base.error_types import SplitError
from pairalign.jobs.splits.network import Counts, Network, Sizes, find_separator

_NOWHERE = -1


@dataclass
class Folds:
    """Folds that are being filled.

    Attributes
    ----------
    most : list of list of float
        What each fold may have of each category (`Sizes`).
    targets : list of list of float
        What it should have.
    counts : list of list of int
        What it has.
    """

    most: list[list[float]]
    targets: list[list[float]]
    counts: list[Counts] = field(init=False)

    def __post_init__(self) -> None:
        self.counts = [[0] * len(most) for most in self.most]

    def room(self, fold: int) -> list[float]:
        """Return what still fits into a fold of each category."""
        return [most - n for most, n in zip(self.most[fold], self.counts[fold], strict=True)]

    def add(self, fold: int, counts: Counts) -> None:
        """Put something into a fold."""
        self.counts[fold] = [a + b for a, b in zip(self.counts[fold], counts, strict=True)]

    def choose(self, counts: Counts) -> int:
        """Return the fold for a piece; `_NOWHERE` where it is larger than what is left of any.

        Where it fits by size, and by labels if it fits so anywhere: the fold that it leaves the
        least full, of equals the first.
        """
        fitting = [fold for fold in range(len(self.most)) if counts[0] <= self.room(fold)[0]]
        by_labels = [fold for fold in fitting if self._fits(fold, counts)]
        chosen = by_labels or fitting
        return min(chosen, key=lambda fold: self._fullness(fold, counts), default=_NOWHERE)

    def _fits(self, fold: int, counts: Counts) -> bool:
        return all(n <= room for n, room in zip(counts, self.room(fold), strict=True))

    def _fullness(self, fold: int, counts: Counts) -> tuple[float, float]:
        """How full a fold is with a piece, by the piece's own categories, then by all."""
        shares = [
            (n + more) / target if target > 0 else float(bool(n + more)) * 1e9
            for n, more, target in zip(self.counts[fold], counts, self.targets[fold], strict=True)
        ]
        largest = max(share for share, more in zip(shares, counts, strict=True) if more)
        return largest, sum(shares)


@dataclass(frozen=True)
class FoldLimits:
    """What folds may have, and what sequences are worth.

    Attributes
    ----------
    sizes : Sizes
        Categories of each sequence, and what the largest fold may have of each.
    prices : ndarray of float64, shape (n,)
        Of removing each sequence; above 0. None: nothing may be removed.
    seed : int
        Decides the order of pieces of equal size, and where cuts begin.
    threads : int
        That look for cuts.
    """

    sizes: Sizes
    prices: Doubles | None
    seed: int
    threads: int = 1


def find_too_large(network: Network, sizes: Sizes) -> list[list[int]]:
    """Return the connected pieces that are more than an empty fold may have."""
    pieces = network.pieces(range(len(network)))
    return [piece for piece in pieces if sizes.load(sizes.count(piece)) > 1]


def pack(network: Network, folds: Folds, limits: FoldLimits) -> list[int]:
    """Put all sequences into folds so that no edge is between two; remove few.

    Parameters
    ----------
    folds : Folds
        Empty; filled here.

    Returns
    -------
    list of int
        The fold of each sequence; -1: it is removed.

    Raises
    ------
    SplitError
        A piece fits into no fold, and nothing may be removed.

    Notes
    -----
    The largest piece comes first and goes into the fold that it leaves the least full. A piece that
    is larger than an empty fold, or than what is left of any, is cut (`find_separator`). In the end
    what was removed comes back where all its neighbours that stay are in one fold with room, the
    dearest first.
    """
    sizes = limits.sizes
    shuffled = list(range(len(network)))
    random.Random(limits.seed).shuffle(shuffled)
    places = [_NOWHERE] * len(network)
    removed: list[int] = []

    def ranked(pieces: list[list[int]]) -> Iterator[tuple[float, int, list[int]]]:
        for piece in pieces:
            yield sizes.load(sizes.count(piece)), -shuffled[piece[0]], piece

    waiting = sorted(ranked(network.pieces(range(len(network)))))
    while waiting:
        _, _, piece = waiting.pop()
        counts = sizes.count(piece)
        is_too_large = sizes.load(counts) > 1
        fold = _NOWHERE if is_too_large else folds.choose(counts)
        if fold != _NOWHERE:
            folds.add(fold, counts)
            for k in piece:
                places[k] = fold
            continue
        if limits.prices is None:
            raise SplitError(_say_impossible(counts, sizes, folds, is_too_large))
        allowed = sizes if is_too_large else Sizes(sizes.of, _most_room(folds, sizes))
        separator = find_separator(
            network, piece, allowed, limits.prices, limits.seed, limits.threads
        )
        removed += separator
        waiting += ranked(network.pieces(set(piece).difference(separator)))
        waiting.sort()
    _put_back(network, folds, limits, places, removed)
    return places


def _most_room(folds: Folds, sizes: Sizes) -> list[float]:
    """Return what the fold with most room by size takes; labels as in an empty fold."""
    room = max(folds.room(fold)[0] for fold in range(len(folds.most)))
    return [max(room, 1.0), *sizes.most[1:]]


def _say_impossible(counts: Counts, sizes: Sizes, folds: Folds, is_too_large: bool) -> str:
    """Say why a piece has no place where nothing may be removed."""
    if is_too_large:
        worst = max(range(len(counts)), key=lambda k: counts[k] / max(sizes.most[k], 1e-9))
        of_label = " of one label" if worst else ""
        reason = f"a fold may have {sizes.most[worst]:,.0f}{of_label}"
        count = counts[worst]
    else:
        reason = f"no fold has room for more than {_most_room(folds, sizes)[0]:,.0f}"
        count, of_label = counts[0], ""
    return (
        f"a cluster of {count:,} sequences{of_label} fits into no fold: {reason}. Nothing may be "
        "removed: ask for a higher identity, fewer folds or a greater tolerance, or let sequences "
        "be removed"
    )


def _put_back(
    network: Network, folds: Folds, limits: FoldLimits, places: list[int], removed: list[int]
) -> None:
    """Put removed sequences back where that makes no edge between folds, until none can be."""
    if not removed:
        return
    prices = limits.prices
    assert prices is not None
    left = sorted(removed, key=lambda k: (-prices[k], k))
    changed = True
    while changed:
        changed = False
        for k in list(left):
            near = {places[other] for other in network.neighbours[k]} - {_NOWHERE}
            counts = limits.sizes.count([k])
            fold = min(near) if near else folds.choose(counts)
            if len(near) > 1 or fold == _NOWHERE or folds.room(fold)[0] < 1:
                continue
            places[k] = fold
            folds.add(fold, counts)
            left.remove(k)
            changed = True
