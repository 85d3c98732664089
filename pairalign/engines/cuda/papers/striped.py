"""Scores by the striped method, a warp a pair: ``cuda/papers/striped.cu``.

References
----------
M. Farrar: Striped Smith-Waterman speeds database searches six times over other SIMD
implementations. Bioinformatics 23, 2007.

T. Kakimoto, K. Dohi, Y. Shibata, K. Oguri: Performance comparison of GPU programming frameworks
with the striped Smith-Waterman algorithm. ACM SIGARCH Computer Architecture News 40, 2012.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pairalign.base.arrays import Int32s, Int64s, Structs
from pairalign.base.choices import MODES
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import USUAL_SHARED_BYTES
from pairalign.engines.cuda.papers.scores import MOST_PAIRS, WARP, Launch, ScoreFamily, fits_shorts
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.scoring.scoring import CODES

SOURCE = "papers/striped.cu"

_MOST_WARPS = 8
_BLOCKS = 8  # of eight warps on a multiprocessor
_PROFILE_SHARE = 4  # of the memory: profiles may take a quarter


class Striped(ScoreFamily):
    """A warp a pair, the query in stripes, lazy F.

    Parameters
    ----------
    vote : bool
        Ask all lanes by a warp vote; else by a tree in shared memory.
    read_only : bool
        Read profiles through the read-only (texture) path.
    every_step : bool
        Let the lazy loop end at any segment; else only before a pass over all, as in the paper.
    slots, batch_pairs : int
        See `ScoreFamily`.
    """

    name = "striped"

    def __init__(
        self,
        *,
        vote: bool = True,
        read_only: bool = True,
        every_step: bool = True,
        slots: int = 2,
        batch_pairs: int = MOST_PAIRS,
    ) -> None:
        super().__init__(slots, batch_pairs)
        self._vote = vote
        self._choices: dict[str, int | str] = {
            "ANY": "VOTE" if vote else "REDUCTION",
            "PROFILE": "READONLY" if read_only else "PLAIN",
            "EVERY_STEP": int(every_step),
        }

    def variants(self) -> Iterator[tuple[str, dict[str, int | str]]]:
        """Yield what is compiled: each mode in 16 bits, in 32, and with large matrices."""
        for mode in MODES:
            for narrow, entry_bytes in ((True, 1), (False, 1), (False, 4)):
                yield SOURCE, self._defines(mode, entry_bytes, narrow=narrow)

    def _defines(self, mode: str, entry_bytes: int, *, narrow: bool) -> dict[str, int | str]:
        return {
            "MODE": mode.upper(),
            "SCORES": "BYTES" if entry_bytes == 1 else "INTS",
            "WIDTH": "NARROW" if narrow else "WIDE",
            **self._choices,
        }

    def _plan(self, rectangle: Rectangle, limit_bytes: int) -> Iterator[tuple[Rectangle, Launch]]:
        """Cut where rows get much shorter, for the first row decides the memory of all warps."""
        context = self._context
        lengths = context.queries.lengths[rectangle.row_start : rectangle.row_stop]
        sizes = profile_bytes(lengths, self.table_bytes)
        row = 0
        while row < len(lengths):
            longest = int(lengths[row])
            enough = max(longest * 3 // 4, longest - 64)
            stop = row + int(np.searchsorted(-lengths[row:], -enough, side="left"))
            fitting = np.cumsum(sizes[row : max(stop, row + 1)])
            limit = limit_bytes // _PROFILE_SHARE
            stop = row + max(1, int(np.searchsorted(fitting, limit, side="right")))
            start = rectangle.row_start
            part = replace(rectangle, row_start=start + row, row_stop=start + stop)
            yield part, self._launch_of(part, longest, sizes[row:stop])
            row = stop

    def _launch_of(self, rectangle: Rectangle, longest: int, sizes: Int64s) -> Launch:
        context = self._context
        pitch = -(-longest // WARP) * WARP
        scratch = 0 if self._vote else 4 * WARP
        warps = _MOST_WARPS
        while warps > 1 and warps * (4 * pitch + scratch) > USUAL_SHARED_BYTES:
            warps //= 2
        columns = int(context.targets.lengths[rectangle.column_start])
        narrow = (
            self.table_bytes == 1 and warps > 1 and fits_shorts(context.scoring, longest, columns)
        )
        if not narrow:
            warps = _MOST_WARPS
        blocks = min(
            -(-rectangle.pairs // warps),
            _BLOCKS * _MOST_WARPS // warps * context.multiprocessors,
        )
        return Launch(
            SOURCE,
            "score_striped",
            self._defines(context.scoring.mode, self.table_bytes, narrow=narrow),
            warps,
            blocks,
            shared_bytes=warps * (scratch + (4 * pitch if narrow else 0)),
            entry_bytes=0 if narrow else 8,
            pitch=pitch,
            profile_starts=np.concatenate(([0], np.cumsum(sizes))),
        )

    def queue(self, launch: Launch, slot: Slot, packed: Structs) -> None:
        """Queue the kernel of the profiles, and the one that reads them."""
        assert launch.profile_starts is not None
        rows = len(launch.profile_starts) - 1
        self._launch(launch, "build_striped_profiles", min(rows, 1 << 16), 0, slot, packed)
        super().queue(launch, slot, packed)


def profile_bytes(lengths: Int32s, entry_bytes: int) -> Int64s:
    """Size of the profile of each of some sequences: whole loads of four segments, all residues."""
    segments = -(-lengths.astype(np.int64) // WARP)
    sizes: Int64s = -(-segments // 4) * 4 * WARP * CODES * entry_bytes
    return sizes
