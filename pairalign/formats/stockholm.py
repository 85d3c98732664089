"""Stockholm: a small alignment a pair, for HMMER, Easel and Biopython."""

from __future__ import annotations

from pairalign.base.errors import FormatError
from pairalign.formats.output import Output
from pairalign.formats.writer import Content, TextWriter
from pairalign.pairs.want import Detail
from pairalign.sequences.sets import SequenceSet


class StockholmWriter(TextWriter):
    """Stockholm 1.0, an alignment of two rows a pair, query and then target.

    Rows are named ``NAME/FIRST-LAST``, positions from 1 and inclusive. Modes global and semiglobal
    show whole sequences, free end gaps as gap columns; mode local the aligned parts. ``#=GF ID`` is
    ``pair`` and the number of the pair in the file, ``#=GF SC`` the score. Pairs of which nothing
    is aligned are left out.

    Raises
    ------
    FormatError
        By the constructor, if a query and a target have the same name: readers would take their
        rows for one; or if a name begins with ``#`` or ``//``, and its row would be none.
    """

    name = "stockholm"
    suffixes = (".sto", ".stk", ".stockholm")
    needs = Detail.CIGAR
    numbers = True
    of_block_later = True  # shard 1 looks at the names of all
    shows_confidence = True

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        check_distinct_names(content, "Stockholm", "tell rows apart by name")
        for sequences in dict.fromkeys((content.queries, content.targets)):
            _check_first_letters(sequences)
        super().__init__(output, content, threads)


def _check_first_letters(sequences: SequenceSet) -> None:
    """Raise FormatError for a name that readers take for something else."""
    for index, name in enumerate(sequences.names):
        if name.startswith(("#", "//")):
            raise FormatError(
                f"{sequences.source}: {sequences.record(index)}: a row of Stockholm cannot begin "
                "with '#' or '//'; rename it, or write another format"
            )


def check_distinct_names(content: Content, format: str, why: str) -> None:
    """Raise FormatError if a query and a target have the same name."""
    if content.targets is content.queries:
        return  # names of one set are unique
    seen = set(content.queries.names)
    for index, name in enumerate(content.targets.names):
        if name in seen:
            targets = content.targets
            raise FormatError(
                f"{targets.source}: {targets.record(index)}: a sequence of "
                f"{content.queries.source} has its name, and readers of {format} {why}; rename it"
            )
