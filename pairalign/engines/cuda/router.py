"""Which pairs of a window go to which kernels on a GPU.

``auto`` gives long pairs, or too few pairs to keep a GPU busy, to the kernel of block diagonals:
the rule is in `pairalign.engines.device.long_pairs`. The kernel for similar pairs comes before
both, and leaves them the pairs for which it does not pay.
"""

from __future__ import annotations

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Int32s
from pairalign.engines.cuda.block_diagonals.block_diagonals_family import BlockDiagonals
from pairalign.engines.cuda.cuda_family import DeviceContext, KernelFamily, Numbers
from pairalign.engines.cuda.pruned.pruned_family import PrunedPairs
from pairalign.engines.device.long_pairs import long_pairs, may_have_long, merge
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.reads.reaching_pairs import ReachingPairs


class Router:
    """Aligns windows by one family, and long pairs by the kernel of block diagonals.

    Parameters
    ----------
    family : KernelFamily
        What most pairs go to.
    long_family : BlockDiagonals or None
        What long pairs go to, and those that `family` has no room for; None: the same as others.
    pruned : PrunedPairs, optional
        What all pairs go to first; the others get those that it leaves.

    Attributes
    ----------
    is_aligning_long : bool
        Whether `align_long` is under way.
    """

    def __init__(
        self,
        family: KernelFamily,
        long_family: BlockDiagonals | None,
        pruned: PrunedPairs | None = None,
    ) -> None:
        self.family = family
        self.pruned = pruned
        self._long = long_family
        self._long_is_open = False
        self.is_aligning_long = False

    def open(self, context: DeviceContext) -> None:
        """Open the family; that for long pairs when the first one comes."""
        self._context = context
        if self.pruned is not None:
            self.pruned.align_others = self._align_in_full
            self.pruned.open(context)
        self.family.open(context)

    def close(self) -> None:
        """Free what `open` and `align` took."""
        if self.pruned is not None:
            self.pruned.close()
        self.family.close()
        if self._long is not None and self._long_is_open:
            self._long.close()

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of a window, or those that `pair_mask` names, in their order."""
        if self.pruned is None or not self.pruned.pays(window, pair_mask):
            return self._align_in_full(window, want, pair_mask)
        self.family.release()
        return self.pruned.align(window, want, pair_mask)

    def _align_in_full(
        self, window: Window, want: Want, pair_mask: Bools | None = None
    ) -> Alignments:
        context = self._context
        long = self._long_pairs(window, pair_mask)
        if long is None:
            return self.family.align(window, want, pair_mask)
        others = ~long if pair_mask is None else pair_mask & ~long
        has_others = bool(others.any())
        if has_others:  # meanwhile
            if window.pairs == self._all_pairs():
                self.family.expect(window, others)
            for traced in {want.detail > Detail.SCORE, context.detail > Detail.SCORE}:
                self.family.compile_ahead(traced)
        parts = [self.align_long(window, want, long)]
        if has_others:
            parts.append(self.family.align(window, want, others))
        orders = (context.queries.sequences.order, context.targets.sequences.order)
        return merge(window, parts, orders) if len(parts) > 1 else parts[0]

    def _all_pairs(self) -> int:
        context = self._context
        rows, columns = len(context.queries.lengths), len(context.targets.lengths)
        return rows * (rows - 1) // 2 if context.one_set else rows * columns

    def _long_pairs(self, window: Window, pair_mask: Bools | None) -> Bools | None:
        """Return which pairs are for the kernel of block diagonals; None: none."""
        if self._long is None:
            return None
        return long_pairs(window, pair_mask, *self._lengths, self._context.multiprocessors)

    def reach(self, window: Window, least: int, least_by_end: Int32s) -> ReachingPairs | None:
        """Score all pairs of a window; None: others than the family align some of them."""
        if not window.pairs or self._long_pairs(window, None) is not None:
            return None
        if self.pruned is not None and self.pruned.pays(window):
            return None
        return self.family.reach(window, least, least_by_end)

    def align_numbers(self, window: Window, want: Want, numbers: Numbers) -> Alignments | None:
        """Align some pairs of a window; None: others than the family may align them."""
        if self.pruned is not None:
            return None
        if self._long is not None and may_have_long(window, *self._lengths):
            return None
        return self.family.align_numbers(window, want, numbers)

    @property
    def _lengths(self) -> tuple[Int32s, Int32s]:
        return self._context.queries.lengths, self._context.targets.lengths

    @property
    def has_long_family(self) -> bool:
        """Whether `align_long` may be called."""
        return self._long is not None

    def align_long(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align pairs by the kernel of block diagonals; nothing else may be under way."""
        assert self._long is not None
        self.family.release()
        if not self._long_is_open:
            self._long.open(self._context)
            self._long_is_open = True
        self.is_aligning_long = True
        try:
            return self._long.align(window, want, pair_mask)
        finally:
            self.is_aligning_long = False
            self._long.release()
