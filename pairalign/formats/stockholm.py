"""Stockholm: a small alignment a pair, for HMMER, Easel and Biopython."""

from __future__ import annotations

import re

import numpy as np

from pairalign.base.arrays import Int64s
from pairalign.base.error_types import FormatError
from pairalign.formats.names import STOCKHOLM
from pairalign.formats.output import Output
from pairalign.formats.text import SetText
from pairalign.formats.writer import Amender, Content, TextWriter, renumber
from pairalign.pairs.want import Detail
from pairalign.sequences.block_set import slices, whole_of
from pairalign.sequences.sets import SequenceSet

_NUMBER = re.compile(rb"^(#=GF ID pair)(\d+)", re.MULTILINE)


class StockholmWriter(TextWriter):
    """Stockholm 1.0, an alignment of two rows a pair, query and then target.

    Rows are named ``NAME/FIRST-LAST``, positions from 1 and inclusive. Modes global and semiglobal
    show whole sequences, free end gaps as gap columns; mode local the aligned parts. ``#=GF ID`` is
    ``pair`` and the number of the pair in the file, ``#=GF SC`` the score, ``#=GS ROW DE`` what
    follows the name in a header. Pairs of which nothing is aligned are left out.

    Raises
    ------
    FormatError
        By the constructor, if a query and a target have the same name: readers would take their
        rows for one; or if a name begins with ``#`` or ``//``, and its row would be none.
    """

    name = "stockholm"
    suffixes = (".sto", ".stk", ".stockholm")
    needs = Detail.CIGAR
    of_block = True
    shows_confidence = True
    name_rules = (STOCKHOLM, STOCKHOLM)

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        check_distinct_names(content, "Stockholm", "tell rows apart by name")
        super().__init__(output, content, threads)

    def set_text(self, sequences: SequenceSet, residues: bool, titles: bool) -> SetText:
        """Return what native code writes of a set: headers, too."""
        return super().set_text(sequences, residues, True)

    @classmethod
    def amender(cls) -> Amender:
        """Return what numbers pairs: a part does not know how many come before it."""
        return renumber(_NUMBER)


def check_distinct_names(content: Content, format: str, why: str) -> None:
    """Raise FormatError if a query and a target have the same name."""
    if content.targets is content.queries:
        return  # names of one set are unique
    sets = content.queries, content.targets
    queries, targets = map(whole_of, sets) if content.piece.first else sets
    query_hashes = np.sort(
        np.concatenate([_hashes(queries.names_at(some)) for some in slices(queries)])
    )
    for some in slices(targets):
        names = targets.names_at(some)
        hashes = _hashes(names)
        places = np.minimum(np.searchsorted(query_hashes, hashes), len(query_hashes) - 1)
        for place in np.flatnonzero(query_hashes[places] == hashes).tolist():
            if _has_name(queries, names[place]):
                raise FormatError(
                    f"{targets.source}: {targets.record(int(some[place]))}: a sequence of "
                    f"{queries.source} has its name, and readers of {format} {why}; rename it"
                )


def _hashes(names: list[str]) -> Int64s:
    """Return a number for each name, which other names hardly have: 8 bytes instead of it."""
    return np.fromiter(map(hash, names), np.int64, len(names))


def _has_name(sequences: SequenceSet, name: str) -> bool:
    return any(name in sequences.names_at(some) for some in slices(sequences))
