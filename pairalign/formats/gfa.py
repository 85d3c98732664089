"""GFA 1: overlaps as a graph, for Bandage, gfatools and others that look at assembly graphs."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from pairalign.errors import FormatError
from pairalign.formats.output import Output
from pairalign.formats.writer import Content, TextWriter
from pairalign.pairs.want import Detail
from pairalign.sequences.sets import SequenceSet

_NAME = re.compile(r"[!-)+-<>-~][!-~]*\Z")


class GfaWriter(TextWriter):
    """GFA 1: a segment a read that is kept, in the order of the input; then links and containments.

    ``L`` is a dovetail: the end of the first read, as oriented, overlaps the start of the second.
    ``C`` is a containment: container, ``+``, contained, its orientation, where it begins in the
    container. CIGARs have M, I and D; the first read is the reference (D consumes it alone). Both
    have ``NM:i:`` mismatches and gap letters. Internal matches are left out. Without CIGARs, the
    overlap is as many ``M`` as the first read has letters in it, as Bandage and others read it.

    Raises
    ------
    FormatError
        By the constructor, if a name cannot stand in a GFA file.
    """

    name = "gfa"
    suffixes = (".gfa",)
    needs = Detail.STATS
    either_strand = True
    of_pairs = False
    of_overlaps = True

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        check_gfa_names(content.queries)
        super().__init__(output, content, threads)
        chosen = np.arange(len(content.queries) if content.piece.first else 0)
        if content.kept is not None:
            chosen = chosen[content.kept[chosen]]
        for start in range(0, len(chosen), 1024):
            self._output.write(_segments(content.queries, chosen[start : start + 1024].tolist()))

    def header(self) -> bytes:
        """Return the line that names the version."""
        return b"H\tVN:Z:1.0\n"


def check_gfa_names(sequences: SequenceSet) -> None:
    """Raise FormatError if a name cannot stand in a GFA file."""
    for index, name in enumerate(sequences.names):
        if not _NAME.match(name):
            raise FormatError(
                f"{sequences.source}: {sequences.record(index)}: GFA names are printable ASCII and "
                "begin with neither '*' nor '='; rename it, or write PAF"
            )


def _segments(sequences: SequenceSet, chosen: Iterable[int]) -> bytes:
    lines = []
    for index in chosen:
        letters = sequences.letters[sequences.offsets[index] : sequences.offsets[index + 1]]
        name = sequences.names[index].encode()
        lines.append(b"S\t%s\t%s\tLN:i:%d\n" % (name, letters.tobytes(), len(letters)))
    return b"".join(lines)
