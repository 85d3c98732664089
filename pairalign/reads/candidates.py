"""Candidates: pairs of reads, and their strands, that another program found likely to overlap.

A file is PAF, of which columns 1, 5 and 6 are read: query, strand, target; a warning says where the
lengths in columns 2 and 7 are not those of the reads. Or it has two names a line, between tabs or
blanks, for both strands. Pairs may come again, and reads with themselves, which are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Int32s
from pairalign.base.error_types import FastaError, PairListError, error_by_cause, shown_name
from pairalign.base.texts import as_tsv
from pairalign.pairs.lists import PairList, warn_of_lengths
from pairalign.pairs.windows import Window, mask_sorted_pairs
from pairalign.sequences.fasta_records import Source, read_text
from pairalign.sequences.sets import SequenceSet

_STRANDS = {b"+": (1,), b"-": (-1,)}
_PAF_COLUMNS = 12


@dataclass(frozen=True)
class Seeds:
    """Words of equal residues that pairs were found by, where that is a sample.

    Attributes
    ----------
    word : int
        Residues of one.
    least_points : int
        That seeds near each other must have, see ``cpu/suboptimal/seed_squares.h``.
    least_score : int
        Raw, of a local alignment near them.
    """

    word: int
    least_points: int
    least_score: int


@dataclass(frozen=True)
class Candidates:
    """Pairs of one set, each on a strand.

    Attributes
    ----------
    first, second : ndarray of int32, shape (n,)
        Input indices.
    strands : ndarray of int8, shape (n,)
        1 or -1; a pair on both strands is there twice.
    source : str
        Where they come from, for messages.
    seconds : float
        That it took to find them; 0: they were there.
    seeds : Seeds or None
        What they were found by, where other pairs may overlap, too.
    may_lack_strands : bool
        A pair that is a candidate on one strand may score more on the other.
    sure_score : int or None
        Raw; a strand on which a pair scores that much is one that it is a candidate on.
    """

    first: Int32s
    second: Int32s
    strands: npt.NDArray[np.int8]
    source: str = "candidates"
    seconds: float = 0.0
    seeds: Seeds | None = None
    may_lack_strands: bool = False
    sure_score: int | None = None

    @property
    def pairs(self) -> PairList:
        """The pairs, whatever their strand."""
        return PairList(self.first, self.second, self.source, may_repeat=True)

    def sorted_on(self, strand: int, reads: SequenceSet) -> tuple[Int32s, Int32s]:
        """Return rows and columns of the pairs on a strand, by row, then column; each once."""
        positions = reads.positions.astype(np.int64)
        chosen = (self.strands == strand) & (self.first != self.second)
        ends = positions[self.first[chosen]], positions[self.second[chosen]]
        keys = np.unique(np.minimum(*ends) << 32 | np.maximum(*ends))
        return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


class CandidateStrands:
    """Says which pairs of a window are candidates on each strand."""

    def __init__(self, candidates: Candidates, reads: SequenceSet) -> None:
        self.may_lack_strands = candidates.may_lack_strands
        self.sure_score = candidates.sure_score
        self._sorted = {strand: candidates.sorted_on(strand, reads) for strand in (1, -1)}

    def mask_of(self, window: Window, strand: int) -> Bools:
        """Return which pairs of a window are candidates on a strand."""
        return mask_sorted_pairs(window, *self._sorted[strand])


def read_candidates(source: Source, reads: SequenceSet) -> Candidates:
    """Read candidates: PAF, or two names a line; compressed or not.

    Parameters
    ----------
    source : str, path or file object
        ``"-"`` is standard input.

    Raises
    ------
    PairListError
        The file cannot be read or has no pairs, or a line is no pair of reads, which is named.
    """
    try:
        text, name = read_text(source, "PAF, or a list of pairs")
    except FastaError as error:
        raise error_by_cause(PairListError, str(error), error) from error
    text = as_tsv(text, name, quotes=False)
    places = {read.encode(): k for k, read in enumerate(reads.names)}
    rows: list[tuple[int, int, int]] = []
    others: list[int] = []  # lines
    for number, line in enumerate(text.split(b"\n"), 1):
        if not line.strip():
            continue
        columns = line.split(b"\t") if b"\t" in line else line.split()
        is_paf = len(columns) >= _PAF_COLUMNS and columns[4] in _STRANDS
        if not is_paf and len(columns) < 2:
            raise PairListError(
                f"{name}: line {number}: a name is missing, expected PAF or two names"
            )
        ends = []
        for read in (columns[0], columns[5 if is_paf else 1]):
            if read not in places:
                shown = read.decode("utf-8", "replace")
                raise PairListError(
                    f"{name}: line {number}: {shown_name(shown)} is not in {reads.source}"
                )
            ends.append(places[read])
        if is_paf and columns[1:7:5] != [b"%d" % reads.lengths[place] for place in ends]:
            others.append(number)
        strands = _STRANDS[columns[4]] if is_paf else (1, -1)
        rows += [(ends[0], ends[1], strand) for strand in strands]
    if not rows:
        raise PairListError(f"{name}: no pairs, expected PAF or two names a line")
    warn_of_lengths(name, len(others), others[0] if others else 0)
    table = np.array(rows, np.int32)
    return Candidates(table[:, 0], table[:, 1], table[:, 2].astype(np.int8), name)
