"""The few lines that a person reads when a run has ended."""

from __future__ import annotations

import numpy as np

from pairalign.alignments import Alignment, Alignments
from pairalign.sequences import SequenceSet


class Summary:
    """Collects, alignment by alignment, what is worth saying about a run.

    Parameters
    ----------
    queries, targets : SequenceSet
        `targets` is None for one set.
    cells : int
        Cells of all dynamic programming matrices.
    """

    def __init__(self, queries: SequenceSet, targets: SequenceSet | None, cells: int) -> None:
        self._queries = queries
        self._targets = targets
        self._cells = cells
        self._pairs = 0
        self._closest: Alignment | None = None
        self._most_distant: Alignment | None = None

    def add(self, alignments: Alignments) -> None:
        """Take in some more of the run's results."""
        self._pairs += len(alignments)
        if not alignments.has_stats:
            return
        identity = alignments.identity
        aligned = np.flatnonzero(~np.isnan(identity))
        if len(aligned) == 0:
            return
        high = alignments[int(aligned[np.argmax(identity[aligned])])]
        low = alignments[int(aligned[np.argmin(identity[aligned])])]
        if self._closest is None or high.identity > self._closest.identity:
            self._closest = high
        if self._most_distant is None or low.identity < self._most_distant.identity:
            self._most_distant = low

    def text(self, seconds: float, output: str) -> str:
        """Lines for a person; `seconds` is what reading apart took, `output` where results went."""
        rate = self._cells / max(seconds, 1e-9) / 1e9
        rows = [("sequences", self._describe_sets()), ("pairs", f"{self._pairs:,}")]
        rows.append(("cells", f"{self._cells:,}"))
        rows.append(("time", f"{seconds:.2f} s, {rate:.1f} GCUPS (billion cells a second)"))
        for title, pair in (("closest", self._closest), ("most distant", self._most_distant)):
            if pair is not None:
                rows.append((title, _describe_pair(pair)))
        rows.append(("written to", "standard output" if output == "-" else output))
        return "\n".join(f"{title:>13}  {value}" for title, value in rows)

    def _describe_sets(self) -> str:
        return " against ".join(
            f"{len(s):,} of {int(s.lengths.min()):,}-{int(s.lengths.max()):,} letters"
            for s in (self._queries, self._targets)
            if s is not None
        )


def _describe_pair(pair: Alignment) -> str:
    return (
        f"{pair.query.name} and {pair.target.name}: {100 * pair.identity:.1f}% identical, "
        f"score {pair.score:g}"
    )
