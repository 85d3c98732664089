"""Scores by a kernel that gives each pair a warp: ``cuda/papers/pair_per_warp.cu``.

References
----------
K. Dohi, K. Benkrid, C. Ling, T. Hamada, Y. Shibata: Highly efficient mapping of the Smith-Waterman
algorithm on CUDA-compatible GPUs. ASAP 2010.
"""

from __future__ import annotations

from collections.abc import Iterator

from pairalign.base.choices import MODES
from pairalign.engines.cuda.papers.scores import MOST_PAIRS, WARP, Launch, ScoreFamily, fits_shorts
from pairalign.engines.device.tile_plan import Rectangle

SOURCE = "papers/pair_per_warp.cu"
BLOCK_WARPS = 8

LAYOUTS = ("SEPARATE_SHORTS", "PACKED_SHORTS", "INTERLEAVED_SHORTS", "SEPARATE_INTS")
"""Of H and E in shared memory: (a) to (d) of the paper's Table II."""

NARROW, WIDE = "PACKED_SHORTS", "SEPARATE_INTS"
"""The fastest layout, on an H200, and the one for scores that need more than 16 bits."""

UNROLLED = 16
"""Steps of the inner loop that are written out, as in the paper."""

_BLOCKS = 8  # on a multiprocessor: 32 registers a thread, all of its 64 warps


class PairPerWarp(ScoreFamily):
    """A warp a pair, eight pairs a block, parallelograms of 32 columns.

    Parameters
    ----------
    layout : str
        One of `LAYOUTS`, for scores that fit 16 bits; others take `WIDE`.
    unrolled : int
        Steps of the inner loop that are written out: 1 to 32.
    slots, batch_pairs : int
        See `ScoreFamily`; with one slot, copies wait for kernels.
    """

    name = "pair-per-warp"

    def __init__(
        self,
        layout: str = NARROW,
        unrolled: int = UNROLLED,
        slots: int = 2,
        batch_pairs: int = MOST_PAIRS,
    ) -> None:
        assert layout in LAYOUTS
        super().__init__(slots, batch_pairs)
        self._layout = layout
        self._unrolled = unrolled

    def variants(self) -> Iterator[tuple[str, dict[str, int | str]]]:
        """Yield what is compiled: each mode in 16 bits, in 32, and with large matrices."""
        for mode in MODES:
            for layout, entry_bytes in dict.fromkeys(((self._layout, 1), (WIDE, 1), (WIDE, 4))):
                yield SOURCE, self._defines(mode, layout, entry_bytes)

    def _defines(self, mode: str, layout: str, entry_bytes: int) -> dict[str, int | str]:
        return {
            "MODE": mode.upper(),
            "LAYOUT": layout,
            "SCORES": "BYTES" if entry_bytes == 1 else "INTS",
            "UNROLL": self._unrolled,
        }

    def _plan(self, rectangle: Rectangle, limit_bytes: int) -> Iterator[tuple[Rectangle, Launch]]:
        context = self._context
        rows = int(context.queries.lengths[rectangle.row_start])
        columns = int(context.targets.lengths[rectangle.column_start])
        narrow = self.table_bytes == 1 and fits_shorts(context.scoring, rows, columns)
        layout = self._layout if narrow else WIDE
        blocks = min(-(-rectangle.pairs // BLOCK_WARPS), _BLOCKS * context.multiprocessors)
        yield (
            rectangle,
            Launch(
                SOURCE,
                "score_pair_per_warp",
                self._defines(context.scoring.mode, layout, self.table_bytes),
                BLOCK_WARPS,
                blocks,
                entry_bytes=8 if layout == WIDE else 4,
                pitch=-(-max(rows, columns) // WARP) * WARP,
            ),
        )
