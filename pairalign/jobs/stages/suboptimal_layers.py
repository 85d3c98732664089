"""Alignments of pairs in layers: the best of each pair, the second of those that have one ..."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments

Numbers = npt.NDArray[np.int64]
Advance = Callable[[Sequence[Alignments]], tuple[Alignments, Numbers]]


def layers_of(
    first: Alignments, most: int, advance: Advance
) -> Iterator[tuple[Alignments, Numbers]]:
    """Yield the best alignments of pairs, then the second ones ..., and whose they are.

    Parameters
    ----------
    first : Alignments
        The best one of each pair.
    most : int
        Layers.
    advance : callable
        Given the layers so far of the same pairs, as `SuboptimalAligner.next_of` is, it returns the
        next alignments of those that have one which passes, and their numbers among these pairs.

    Yields
    ------
    layer : Alignments
    pairs : ndarray of int64
        The number in `first` of each.
    """
    pairs = np.arange(len(first))
    yield first, pairs
    layers = [first]
    while len(pairs) and len(layers) < most:
        layer, numbers = advance(layers)
        pairs = pairs[numbers]
        layers = [*(earlier.take(numbers) for earlier in layers), layer]
        yield layer, pairs
