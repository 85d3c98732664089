"""A variation graph of alignments, as seqwish induces one: small, for tests and measurements."""

import re
from collections import Counter
from collections.abc import Iterable

COMPLEMENT = str.maketrans("ACGTN", "TGCAN")


class VariationGraph:
    """Bases of sequences that alignments put together are one base of the graph.

    Parameters
    ----------
    sequences : dict of str to str
    paf : iterable of str
        Lines with ``cg:Z:`` of ``=`` and ``X``.
    least : int
        Runs of fewer matches are left out, as by ``seqwish -k``.
    """

    def __init__(self, sequences: dict[str, str], paf: Iterable[str], least: int = 1) -> None:
        self.sequences = sequences
        self._starts, total = {}, 0
        for name, text in sequences.items():
            self._starts[name] = total
            total += len(text)
        # Two sides a base: 2k as it was read, 2k + 1 its complement.
        self._parents = list(range(2 * total))
        for line in paf:
            self._add(line.rstrip("\n").split("\t"), least)

    def root(self, side: int) -> int:
        """The side of the graph that a side of a sequence's base is."""
        while self._parents[side] != side:
            self._parents[side] = self._parents[self._parents[side]]
            side = self._parents[side]
        return side

    def _join(self, one: int, other: int) -> None:
        for a, b in ((one, other), (one ^ 1, other ^ 1)):
            roots = sorted((self.root(a), self.root(b)))
            self._parents[roots[1]] = roots[0]

    def _add(self, fields: list[str], least: int) -> None:
        query, start, end, strand = fields[0], int(fields[2]), int(fields[3]), fields[4]
        target, at = fields[5], int(fields[7])
        cigar = next(field[5:] for field in fields[12:] if field.startswith("cg:Z:"))
        place, step = (start, 1) if strand == "+" else (end - 1, -1)
        for size, kind in re.findall(r"(\d+)([=XID])", cigar):
            length = int(size)
            if kind == "=" and length >= least:
                for k in range(length):
                    one = 2 * (self._starts[query] + place + step * k)
                    other = 2 * (self._starts[target] + at + k)
                    self._join(one if strand == "+" else one ^ 1, other)
            place += step * length * (kind != "D")
            at += length * (kind != "I")

    def side_of(self, name: str, place: int, *, complement: bool = False) -> int:
        """The side of the graph on which a path reads the base of a sequence."""
        return self.root(2 * (self._starts[name] + place) + complement)

    def path(self, name: str) -> list[int]:
        """The sides that a sequence walks through."""
        return [self.side_of(name, k) for k in range(len(self.sequences[name]))]

    def residues(self) -> dict[int, str]:
        """What each side reads; ValueError if bases of a side differ."""
        found: dict[int, str] = {}
        for name, text in self.sequences.items():
            for place, letter in enumerate(text):
                for turned, read in ((False, letter), (True, letter.translate(COMPLEMENT))):
                    side = self.side_of(name, place, complement=turned)
                    if found.setdefault(side, read) != read:
                        raise ValueError(f"{name}: {read} where others have {found[side]}")
        return found

    def bases(self) -> list[int]:
        """How many sequences go through each base of the graph."""
        counts: Counter[int] = Counter()
        for name, text in self.sequences.items():
            ends = ((self.side_of(name, k), self.side_of(name, k, complement=True))
                    for k in range(len(text)))  # fmt: skip
            counts.update({min(pair) for pair in ends})
        return list(counts.values())
