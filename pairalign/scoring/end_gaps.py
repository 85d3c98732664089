"""What gaps at the ends of the two sequences cost, each end for itself.

An *end gap* lies before the first or after the last residue of the sequence that has it. The four
are named after the residues opposite, as in parasail: where ``query-start`` is free, the first
residues of the query may be left out. Every other gap is *internal*; so is a gap in one sequence
that is next to an end gap in the other.

End gaps cost no more than internal ones. So the best alignment is found where its last row or
column is entered: going on there at the price of an end gap is never worse than an internal gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from decimal import Decimal

from pairalign.base.arrays import UInt32s
from pairalign.base.choices import END_GAPS, TIES
from pairalign.base.error_types import ScoringError, WrongTypeError
from pairalign.base.spelling import spelled
from pairalign.scoring.cigars import DELETION, INSERTION, Span
from pairalign.scoring.matrices import Number, to_decimal

ENDS = ("query-start", "query-end", "target-start", "target-end")
"""Whose residues are opposite the gap, and at which of its ends."""


@dataclass(frozen=True)
class GapCost:
    """Scaled cost of the first residue of a gap and of each further one."""

    open: int
    extend: int

    @property
    def is_free(self) -> bool:
        """Whether gaps of any length cost nothing: they are no part of the alignment then."""
        return self.open == 0 == self.extend

    def of(self, residues: int) -> int:
        """Scaled cost of a gap of `length` residues; 0 for none."""
        return self.open + (residues - 1) * self.extend if residues else 0


@dataclass(frozen=True)
class EndGaps:
    """Costs of the four end gaps, in the order of `ENDS`.

    Attributes
    ----------
    ties : str
        One of `TIES`.
    """

    query_start: GapCost
    query_end: GapCost
    target_start: GapCost
    target_end: GapCost
    ties: str = TIES[0]

    @property
    def costs(self) -> tuple[GapCost, GapCost, GapCost, GapCost]:
        """All four, in the order of `ENDS`."""
        return self.query_start, self.query_end, self.target_start, self.target_end

    def mode(self, internal: GapCost) -> str:
        """Return the mode that these costs make of mode global."""
        if all(cost == internal for cost in self.costs):
            return "global"
        return "semiglobal" if all(cost.is_free for cost in self.costs) else END_GAPS

    @property
    def numbers(self) -> tuple[int, ...]:
        """The eight costs, open and extend of each end, in the order of `ENDS`."""
        return tuple(number for cost in self.costs for number in astuple(cost))

    def describe(self, text: Callable[[int], str]) -> str:
        """One line: ``end gaps 3/1``, or each end's; `text` shows a scaled cost."""
        shown = [f"{text(cost.open)}/{text(cost.extend)}" for cost in self.costs]
        if len(set(shown)) == 1:
            line = shown[0]
        else:
            line = ", ".join(
                f"{end} {'free' if cost.is_free else phrase}"
                for end, cost, phrase in zip(ENDS, self.costs, shown, strict=True)
            )
        return f"end gaps {line}{'' if self.ties == TIES[0] else f', ties of {self.ties}'}"

    def check_ties(self, internal: GapCost) -> None:
        """Check that the rule for ties is known, and that it is defined for these costs.

        Raises
        ------
        ScoringError
            vsearch's, where a gap at an end does not begin at a cost between those of going on
            there and of beginning elsewhere: which residues are in the end gap is then no matter of
            scores alone.
        """
        if self.ties not in TIES:
            raise ScoringError(f"ties {self.ties!r}: expected {' or '.join(TIES)}")
        if self.ties == TIES[0]:
            return
        for end, cost in zip(ENDS, self.costs, strict=True):
            if end.endswith("end") and not cost.extend < cost.open < internal.open:
                raise ScoringError(
                    f"ties of vsearch need a cost of opening a gap at {end} that is above that of "
                    "extending it and below that of opening others"
                )

    @property
    def is_symmetric(self) -> bool:
        """Whether it does not matter which sequence is the query."""
        return self.has_equal_sides and self.ties == TIES[0]

    @property
    def has_equal_sides(self) -> bool:
        """Whether gaps cost the same in query and target, so that scores do not tell them apart."""
        return self.costs[:2] == self.costs[2:]

    @property
    def free_ends(self) -> tuple[str, ...]:
        """The ends whose gaps cost nothing."""
        return tuple(end for end, cost in zip(ENDS, self.costs, strict=True) if cost.is_free)

    def check_spans(
        self, spans: tuple[Span, Span], lengths: tuple[int, int], *, empty: bool
    ) -> None:
        """Check that the spans of query and target leave residues out at free ends only.

        Parameters
        ----------
        spans : tuple of Span
            Of query and target.
        empty : bool
            Whether the alignment has no columns: its spans are 0, wherever it is.

        Raises
        ------
        ScoringError
            An end at which gaps cost something.
        """
        if empty:
            free = [cost.is_free for cost in self.costs]
            if not (free[0] and free[3]) and not (free[1] and free[2]):
                raise ScoringError("no alignment column, where gaps at the ends cost something")
            return
        (query_start, query_end), (target_start, target_end) = spans
        left_out = (query_start, lengths[0] - query_end, target_start, lengths[1] - target_end)
        for end, cost, residues in zip(ENDS, self.costs, left_out, strict=True):
            if residues and not cost.is_free:
                raise ScoringError(
                    f"spans {list(spans[0])} and {list(spans[1])} leave out residues at {end}, "
                    "which is not free"
                )

    def saved(
        self,
        internal: GapCost,
        runs: UInt32s,
        spans: tuple[Span, Span],
        lengths: tuple[int, int],
    ) -> int:
        """Return by how much the end gaps of an alignment cost less than internal ones, scaled.

        Parameters
        ----------
        runs : ndarray of uint32
            ``length << 4 | op``.
        spans, lengths : tuple
            Of query and target.

        Raises
        ------
        ScoringError
            A gap at an end that is free.
        """
        saved = 0
        places = [start for start, _ in spans]
        for run in runs.tolist():
            residues, operation = run >> 4, run & 15
            if operation in (INSERTION, DELETION):
                side = int(operation == DELETION)  # the sequence whose residues are opposite
                gapped = 1 - side
                for end, place in enumerate((0, lengths[gapped])):
                    cost = self.costs[2 * side + end]
                    if places[gapped] != place:
                        continue
                    if cost.is_free:
                        raise ScoringError(
                            f"CIGAR has a gap at {ENDS[2 * side + end]}, which is free: the spans "
                            "should leave its residues out"
                        )
                    saved += internal.of(residues) - cost.of(residues)
            places[0] += 0 if operation == DELETION else residues
            places[1] += 0 if operation == INSERTION else residues
        return saved


def choose_end_costs(
    mode: str,
    free_ends: str | Iterable[str] | None,
    end_gap_open: Number | None,
    end_gap_extend: Number | None,
    internal: tuple[Decimal, Decimal],
) -> list[tuple[Decimal, Decimal]]:
    """Return what opening and extending cost at each end, in the order of `ENDS`.

    Parameters
    ----------
    free_ends : str or iterable of str, optional
        Some of `ENDS`; a text has commas between them.
    end_gap_open, end_gap_extend : int, float, str or Decimal, optional
        Costs at the other ends; what is not given costs as elsewhere.
    internal : tuple of Decimal
        What opening and extending cost elsewhere.

    Raises
    ------
    ScoringError
        Costs that are negative or exceed the internal ones, an end of another name, or end gaps
        in a mode that is not global.
    """
    free = _parse_ends(free_ends)
    if mode != "global" and (free or end_gap_open is not None or end_gap_extend is not None):
        raise ScoringError(f"end gaps have costs of their own in mode global, found mode {mode}")
    if len(free) == len(ENDS) and not (end_gap_open is end_gap_extend is None):
        costs_of_none = spelled("end_gap_open"), spelled("end_gap_extend")
        raise ScoringError(f"all ends are free: leave out {' and '.join(costs_of_none)}")
    opening, extension = internal
    if end_gap_open is not None:
        opening = to_decimal(end_gap_open, "end_gap_open")
        extension = min(opening, extension)
    if end_gap_extend is not None:
        extension = to_decimal(end_gap_extend, "end_gap_extend")
    costs = (("gap_open", opening, internal[0]), ("gap_extend", extension, internal[1]))
    for name, cost, most in costs:
        if cost < 0:
            raise ScoringError(f"end_{name} is a cost, found {cost}, expected 0 or more: {-cost}?")
        if cost > most:
            raise ScoringError(
                f"end_{name} {cost} exceeds {name} {most}: end gaps cost no more than others"
            )
    if extension > opening:
        raise ScoringError(f"end_gap_extend {extension} exceeds end_gap_open {opening}")
    return [(Decimal(0), Decimal(0)) if end in free else (opening, extension) for end in ENDS]


def _parse_ends(ends: str | Iterable[str] | None) -> frozenset[str]:
    if ends is None:
        return frozenset()
    if not isinstance(ends, Iterable):
        raise WrongTypeError(f"free_ends {ends!r}: expected some of {', '.join(ENDS)}")
    names = [name.strip() for name in ends.split(",")] if isinstance(ends, str) else list(ends)
    for name in names:
        if name not in ENDS:
            raise ScoringError(f"free_ends: {name!r}, expected some of {', '.join(ENDS)}")
    return frozenset(names)
