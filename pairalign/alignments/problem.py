"""What is aligned with what, and how it is scored."""

from __future__ import annotations

from dataclasses import dataclass

from pairalign.base.arrays import Int32s
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet


@dataclass(frozen=True, eq=False)
class Problem:
    """A set with itself, or one set with another, and their scoring.

    Attributes
    ----------
    targets : SequenceSet or None
        None: every pair of `queries`.
    """

    queries: SequenceSet
    targets: SequenceSet | None
    scoring: Scoring

    @property
    def is_one_set(self) -> bool:
        """Whether a set is aligned with itself."""
        return self.targets is None

    @property
    def others(self) -> SequenceSet:
        """What the queries are aligned with: the targets, or the queries themselves."""
        return self.queries if self.targets is None else self.targets

    @property
    def sets(self) -> tuple[SequenceSet, ...]:
        """The set, or the two sets."""
        return (self.queries,) if self.targets is None else (self.queries, self.targets)

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        count = len(self.queries)
        return count * (count - 1) // 2 if self.targets is None else count * len(self.targets)

    def in_order(self, order: Int32s) -> Problem:
        """Return the problem of one set in another order, given by input indices."""
        assert self.is_one_set
        return Problem(self.queries.reordered(order), None, self.scoring)

    @property
    def replaced_message(self) -> str | None:
        """Which residues are scored as others, in one line; None: none are."""
        return self.scoring.replaced_message(*self.sets)
