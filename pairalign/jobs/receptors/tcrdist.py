"""TCRdist of receptors: ``cpu/near/tcrdist.h``, within a limit also on GPUs.

Residues opposite one another cost ``min(4, 4 - BLOSUM62)``, 0 if they are the same, and one in a
gap costs 4. CDR3 counts three times; its first 3 and last 2 residues cost nothing, and its gap is
where the distance is the least, 5 residues or more from both ends. Other loops count once; where
they have no gaps that align them, the gap comes after 6 residues at most. Residues other than the
20 amino acids, and gaps that align loops, cost nothing. These are the defaults of tcrdist3.

References
----------
Dash P, Fiore-Gartland AJ, Hertz T, et al. Quantifiable predictive features define epitope-specific
T cell receptor repertoires. Nature 547:89-93, 2017.
Mayer-Blackwell K, Schattgen S, Cohen-Lavi L, et al. TCR meta-clonotypes for biomarker discovery
with tcrdist3. eLife 10:e68605, 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s
from pairalign.base.error_types import CapacityError, DistanceError
from pairalign.base.native import Struct, library, struct_fields
from pairalign.engines.cpu.cpu_engine import instruction_set_of
from pairalign.engines.cpu.native_structs import DONE, NativeWindow
from pairalign.engines.cpu.near_pairs import (
    PAIRS_AT_ONCE,
    NearPairs,
    Part,
    gather_pairs,
    take_pairs,
)
from pairalign.jobs.receptors.receptors import CDR3, RESIDUES, ReceptorSet, Region
from pairalign.pairs.windows import Window
from pairalign.scoring.matrices import load_table
from pairalign.sequences.block_set import BlockSet
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.engines.cuda.cuda_tcrdist import TcrKernel

_MOST_COST = _GAP = 4
_CDR3_WEIGHT, _CDR3_FIRST, _CDR3_LAST = 3, 3, 2
_MOST_DISTANCE = 2**30


class NativeRegion(Struct):
    """A region of all receptors: ``pairalign_region``."""

    _fields_ = struct_fields(
        "pointer row_codes column_codes row_starts column_starts; int32 weight gap left_out_first "
        "left_out_last has_fixed_gap padding"
    )


@cache
def _costs() -> npt.NDArray[np.uint8]:
    """Return what codes of regions cost opposite one another."""
    scores = load_table("BLOSUM62").scores
    costs = np.zeros((len(RESIDUES) + 1,) * 2, np.uint8)
    for row, first in enumerate(RESIDUES):
        for column, second in enumerate(RESIDUES):
            if row != column:
                costs[row, column] = min(_MOST_COST, _MOST_COST - int(scores[first, second]))
    return costs


class TcrDistances:
    """TCRdist of the pairs of a set of receptors, or of two.

    Parameters
    ----------
    queries, targets : ReceptorSet or BlockSet of one
        `targets` is None for every pair of `queries`.
    instruction_set : str or None
        As for `CpuEngine`.

    Raises
    ------
    DistanceError
        The receptors of one set have other regions than those of the other.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet | None,
        threads: int = 1,
        instruction_set: str | None = None,
    ) -> None:
        self._one_set = targets is None
        sets = (queries,) if targets is None else (queries, targets)
        sides = [_sorted_regions(sequences) for sequences in sets]
        if not _are_alike(sides[0], sides[-1]):
            set_sides = zip(sets, sides, strict=True)
            said = "; ".join(
                f"{sequences.source} has {_described(side)}" for sequences, side in set_sides
            )
            raise DistanceError(f"{said}: two sets of receptors have the same regions")
        self._orders = sets[0].order, sets[-1].order
        self._threads = threads
        self._set = instruction_set_of(instruction_set).encode()
        self._costs = _costs()
        pairs = [*zip(sides[0], sides[-1], strict=True)]
        self._arrays = [
            (rows.codes, columns.codes, rows.offsets, columns.offsets) for rows, columns in pairs
        ]  # what the structs point to
        regions = (
            _native(rows.name, arrays)
            for (rows, _), arrays in zip(pairs, self._arrays, strict=True)
        )
        self._regions = (NativeRegion * len(pairs))(*regions)

    def of_window(self, window: Window) -> Int32s:
        """Return the distances of the pairs of a window, in its order.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        distances = np.empty(window.pairs, np.int32)
        status = library.pairalign_tcrdist(
            *self._asked(window), self._threads, self._set, distances
        )
        if status != DONE:
            raise CapacityError("out of memory for TCRdist")
        return distances

    def within(
        self,
        limit: int,
        progress: Callable[[int], None] = lambda pairs: None,
        memory_bytes: int | None = None,
        found: Iterable[Part] | None = None,
    ) -> NearPairs:
        """Find pairs whose distance is at most `limit`, which is 0 or more.

        Parameters
        ----------
        progress, memory_bytes
            As for `pairalign.engines.cpu.near_pairs.pairs_within_drop`.
        found : iterable, optional
            The pairs, as they are found on GPUs; default: on cores.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        parts = self._near(min(limit, _MOST_DISTANCE), progress) if found is None else found
        return gather_pairs(parts, len(self._orders[0]), memory_bytes)

    def kernel(self, limit: int) -> TcrKernel:
        """Return what finds the pairs within a limit on GPUs."""
        from pairalign.engines.cuda.cuda_tcrdist import REGION, TcrKernel

        regions = np.frombuffer(memoryview(self._regions), REGION)
        most = min(limit, _MOST_DISTANCE)
        return TcrKernel(
            regions, self._arrays, self._costs, most, self._orders, one_set=self._one_set
        )

    def _near(
        self, limit: int, progress: Callable[[int], None]
    ) -> Iterator[tuple[Int32s, Int32s, Int32s]]:
        count, width = map(len, self._orders)
        at_once = max(512 * self._threads, PAIRS_AT_ONCE // max(width, 1))
        for start in range(0, count, at_once):
            stop = min(start + at_once, count)
            window = Window(0, start, stop, 0, width, triangular=self._one_set)
            handle = library.pairalign_near_tcrdist(
                *self._asked(window), limit, self._threads, self._set
            )
            yield take_pairs(handle, self._orders, one_set=self._one_set)
            progress(window.pairs)

    def _asked(self, window: Window) -> tuple[object, ...]:
        regions = self._regions, len(self._regions)
        return *regions, self._costs, NativeWindow.of(window)


def _sorted_regions(sequences: SequenceSet) -> list[Region]:
    """Return the regions of a set by sorted position."""
    order = sequences.order
    whole = sequences
    if isinstance(sequences, BlockSet):
        whole, order = sequences.whole, sequences.indices[order]
    assert isinstance(whole, ReceptorSet)
    return [region.taken(order) for region in whole.regions]


def _are_alike(first: list[Region], second: list[Region]) -> bool:
    """Whether regions are the same, of the same loci where these are known."""
    names = [[(region.chain, region.name) for region in side] for side in (first, second)]
    pairs = zip(first, second, strict=False)
    return names[0] == names[1] and all(
        region.locus == other.locus or "" in (region.locus, other.locus) for region, other in pairs
    )


def _described(regions: list[Region]) -> str:
    return ", ".join(f"{region.name.upper()} of {region.locus or 'a chain'}" for region in regions)


def _native(name: str, arrays: tuple[npt.NDArray[Any], ...]) -> NativeRegion:
    if name == CDR3:
        ends = _CDR3_FIRST, _CDR3_LAST
        return NativeRegion(*arrays, _CDR3_WEIGHT, _CDR3_WEIGHT * _GAP, *ends, 0)
    return NativeRegion(*arrays, 1, _GAP, 0, 0, 1)
