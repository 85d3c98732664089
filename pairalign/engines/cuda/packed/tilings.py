"""How lanes of a warp share a row sequence, and the memory it takes (``cuda/packed/packed.cuh``).

A *tiling* says how many lanes there are and how many columns a lane holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s, Int64s

TIER = 16  # PAIRALIGN_TIER in cuda/packed/packed.cuh
MOST_COLUMNS = 16  # of a tile
FILL_THREADS = 256
_USED_BYTES = 155 << 10  # of shared memory, by a traceback of long paths


@dataclass(frozen=True, order=True)
class Tiling:
    """Lanes of a group and columns of a lane."""

    group: int
    columns: int

    @property
    def width(self) -> int:
        """Columns that a group holds."""
        return self.group * self.columns

    @property
    def parts(self) -> int:
        """Tiles that a lane's columns are split into: parts_of in ``cuda/packed/packed.cuh``."""
        return 2 if self.columns > MOST_COLUMNS else 1

    @property
    def tier_bytes(self) -> int:
        """Bytes that a group keeps of a tier: see the layout in ``cuda/packed/packed.cuh``."""
        return 4 * self.group * (self.columns + self.parts * (TIER + 1) + 1)

    def traceback_threads(self, profile_bytes: int, shared_bytes: int, mode: str) -> int:
        """Threads of a traceback block: what was fastest, within the kernels' launch bounds.

        Local paths are short: two small blocks on a multiprocessor. Else fewer paths at a time than
        there is room for: more of them only drive each other's lines from the caches.
        """
        fitting = (shared_bytes - 1024 - profile_bytes) // self.code_bytes
        most = 256
        if mode != "local":
            most = min(max((_USED_BYTES - profile_bytes) // self.code_bytes, 192), 512)
        threads = max(min(fitting, most) // 32 * 32, 32)
        return 256 if threads == 512 else threads

    @property
    def code_bytes(self) -> int:
        """Shared memory of a traceback thread: tile_words in ``cuda/packed/tile.cuh``."""
        half_columns = (self.columns // self.parts + 3) // 4 * 2
        return 2 * TIER * half_columns + (8 if half_columns % 4 == 0 else 4)

    def profile_bytes(self, letters: int) -> int:
        """Bytes of a traceback's profile: pitch_of in ``cuda/packed/tile.cuh``, at most."""
        return 4 * letters * (self.width + 8)


TILINGS = tuple(
    Tiling(group, columns)
    for group, columns in (
        *((8, 16), (8, 20), (8, 24), (8, 28), (8, 32)),
        *((16, 20), (16, 24), (16, 28), (16, 32)),
        *((32, 20), (32, 24), (32, 28), (32, 32)),
    )
)
"""By width. What is wider than the last is done in strips of one of the last four."""

STRIPS = tuple(tiling for tiling in TILINGS if tiling.group == 32)

KINDS = range(len(TILINGS) + len(STRIPS))
"""Kinds of columns: see `tiling_of`."""


def tiling_of(kind: int) -> Tiling:
    """Tiling of a kind of columns: the index of a tiling, or beyond them of one of the strips."""
    return TILINGS[kind] if kind < len(TILINGS) else STRIPS[kind - len(TILINGS)]


def choose_tilings(lengths: npt.NDArray[np.integer]) -> tuple[Int64s, Int64s]:
    """Choose what wastes fewest columns.

    Parameters
    ----------
    lengths : ndarray of int
        Of column sequences.

    Returns
    -------
    kinds : int64 array
        See `tiling_of`.
    strips : int64 array
        How many strips of that tiling a column needs.
    """
    widths = np.array([tiling.width for tiling in TILINGS])
    kinds = np.searchsorted(widths, lengths).astype(np.int64)
    strips = np.ones(len(lengths), np.int64)
    far = np.flatnonzero(kinds == len(TILINGS))
    if len(far):
        strip_widths = np.array([tiling.width for tiling in STRIPS])
        counts = -(-lengths[far, None].astype(np.int64) // strip_widths)
        # Of equal ones the widest: fewer strips.
        best = len(STRIPS) - 1 - np.argmin((counts * strip_widths)[:, ::-1], axis=1)
        kinds[far] += best
        strips[far] = counts[np.arange(len(far)), best]
    return kinds, strips


def tiers_of(rows: Int32s, group: int, mode: str) -> Int32s:
    """Count the tiers of TIER steps."""
    at_once = 2 if mode == "local" else 1  # ROWS in cuda/packed/packed.cuh
    steps = (rows + (at_once * (group - 1) + 1)) & ~1
    return -(-steps // TIER)


def move_words(rows: Int32s | np.int32, columns: Int32s | int) -> Int64s:
    """Words of 8 bytes that moves of such pairs take: as in ``cuda/packed/moves.cuh``."""
    words: Int64s = (rows.astype(np.int64) + columns + 31) // 32 + 1
    return words
