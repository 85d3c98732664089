"""T-Coffee's library: pairs of aligned residues with weights, for ``t_coffee -lib``."""

from __future__ import annotations

from pairalign.formats.names import TC_LIB
from pairalign.formats.output import Output
from pairalign.formats.stockholm import check_distinct_names
from pairalign.formats.writer import Content, TextWriter
from pairalign.pairs.want import Detail
from pairalign.sequences.sets import SequenceSet

_SEQUENCES_A_WRITE = 1024


class TcLibWriter(TextWriter):
    """T-Coffee's library, ``! TC_LIB_FORMAT_01``.

    The sequences in the order of the input (of two sets, the queries and then the targets); for
    each pair ``#I J``, numbers from 1, and a line a column of two residues: their positions, from
    1, and the weight of the pair: 100 matches by such columns, rounded half up. Pairs without an
    aligned pair of residues are left out.

    Raises
    ------
    FormatError
        By the constructor, if a query and a target of two sets have the same name.
    """

    name = "tc_lib"
    suffixes = (".tc_lib", ".tclib")
    needs = Detail.CIGAR
    pairs_once = True
    name_rules = (TC_LIB, TC_LIB)

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        check_distinct_names(content, "libraries", "know sequences by name")
        super().__init__(output, content, threads)
        for sequences in self._sequence_sets() if content.piece.first else ():
            for start in range(0, len(sequences), _SEQUENCES_A_WRITE):
                self._output.write(_lines(sequences, start, start + _SEQUENCES_A_WRITE))

    def header(self) -> bytes:
        """Return the version and the number of sequences."""
        return b"! TC_LIB_FORMAT_01\n%d\n" % sum(map(len, self._sequence_sets()))

    def footer(self) -> bytes:
        """Return the line that says that numbers count from 1."""
        return b"! SEQ_1_TO_N\n"

    def _sequence_sets(self) -> tuple[SequenceSet, ...]:
        queries, targets = self._content.queries, self._content.targets
        return (queries,) if targets is queries else (queries, targets)


def _lines(sequences: SequenceSet, start: int, stop: int) -> bytes:
    lines = []
    for index in range(start, min(stop, len(sequences))):
        residues = sequences.residues[sequences.offsets[index] : sequences.offsets[index + 1]]
        name = sequences.names[index].encode()
        lines.append(b"%s %d %s\n" % (name, len(residues), residues.tobytes()))
    return b"".join(lines)
