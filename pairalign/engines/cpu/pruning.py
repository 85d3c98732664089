"""Which pairs the CPU engine fills only where an optimal alignment can be, and what came of it.

The native code is in ``cpu/pruned/``; ``docs/similar-sequences.md`` derives the bound.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int64
from dataclasses import dataclass
from typing import NamedTuple

from pairalign.base.native import library

# The order of pairalign::Pruning.
_USES = ("never", "auto", "always", "forced", "wavefronts", "lanes")


@dataclass(frozen=True)
class Pruning:
    """Which pairs of global mode are pruned. The alignments are the same whatever it says.

    Attributes
    ----------
    use : {"never", "auto", "always", "forced", "wavefronts", "lanes"}
        ``auto``: pairs for which it is expected to be faster. ``always``: those where it fills
        at most half of the matrix. For tests, ``forced``: all by a band, ``wavefronts``: all
        for whose wavefronts there is room, ``lanes``: all by bands of many pairs at a time.
    worse_seed : int
        For tests: taken from the score that the band is made for. It costs time only.
    lower_bound : int
        For tests: taken from the bound. It is unsound then, which the engine must notice.
    """

    use: str = "never"
    worse_seed: int = 0
    lower_bound: int = 0

    def apply(self, handle: int) -> None:
        """Tell an open native engine."""
        use = _USES.index(self.use)
        library.pairalign_set_pruning(handle, use, self.worse_seed, self.lower_bound)


NEVER = Pruning()


class Pruned(NamedTuple):
    """What pruning did so far: pairs, and cells of matrices.

    Attributes
    ----------
    tried, done : int
        Pairs; the others were aligned in full.
    lost : int
        Pairs whose band broke off, which takes an unsound bound. They were aligned in full.
    beam_cells, cells : int
        Filled to find a score to begin with, and within bands.
    matrix_cells : int
        Of the pairs that were tried.
    by_wavefronts : int
        Pairs that were done without a band; `cells` counts entries of their wavefronts.
    """

    tried: int
    done: int
    lost: int
    beam_cells: int
    cells: int
    matrix_cells: int
    by_wavefronts: int = 0

    @classmethod
    def of(cls, handle: int) -> Pruned:
        """Ask an open native engine."""
        counts = (c_int64 * len(cls._fields))()
        library.pairalign_pruned(ctypes.c_void_p(handle), counts)
        return cls(*counts)
