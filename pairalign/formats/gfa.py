"""GFA 1: overlaps as a graph, for Bandage, gfatools and others that look at assembly graphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from pairalign.base.error_types import FormatError
from pairalign.formats.output import Output
from pairalign.formats.text import SetText
from pairalign.formats.writer import Content, TextWriter
from pairalign.pairs.want import Detail
from pairalign.sequences.sets import SequenceSet

_NAME = re.compile(r"[!-)+-<>-~][!-~]*\Z")


class GfaWriter(TextWriter):
    """GFA 1: a segment a read that is kept, in the order of the input; then links and containments.

    ``L`` is a dovetail: the end of the first read, as oriented, overlaps the start of the second.
    ``C`` is a containment: container, ``+``, contained, its orientation, where it begins in the
    container. CIGARs have M, I and D; the first read is the reference (D consumes it alone). They
    go on to the ends of the reads: what hangs over the alignment on both is M, so that the bases of
    a path are each there once. Both have ``NM:i:`` mismatches and gap columns of the alignment.
    Internal matches are left out. Without CIGARs, the overlap is as many ``M`` as the first read
    has residues in it, as Bandage and others read it.

    Bandage takes the last ``+`` or ``-`` of a name for a strand: such names get ``.`` behind, and
    their segments ``on:Z:`` with the name that was read.

    Raises
    ------
    FormatError
        By the constructor, if a name cannot stand in a GFA file.
    """

    name = "gfa"
    suffixes = (".gfa",)
    needs = Detail.STATS
    either_strand = True

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        check_gfa_names(content.queries)
        super().__init__(output, content, threads)
        shown = gfa_names(content.queries.names)
        self._sets = (SetText(content.queries, shown),) * 2
        chosen = np.arange(len(content.queries) if content.piece.first else 0)
        if content.kept is not None:
            chosen = chosen[content.kept[chosen]]
        for start in range(0, len(chosen), 1024):
            self._output.write(
                _segments(content.queries, shown, chosen[start : start + 1024].tolist())
            )

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


def gfa_names(names: Sequence[str]) -> list[str]:
    """Return names that no program takes for a name and a strand, each another one."""
    used_names = set(names)
    shown = []
    for name in names:
        if name.endswith(("+", "-")):
            while name in used_names:
                name += "."
            used_names.add(name)
        shown.append(name)
    return shown


def _segments(sequences: SequenceSet, shown: Sequence[str], chosen: Iterable[int]) -> bytes:
    lines = []
    for index in chosen:
        residues = sequences.residues[sequences.offsets[index] : sequences.offsets[index + 1]]
        name, sequence_name = shown[index].encode(), sequences.names[index].encode()
        tag = b"" if name == sequence_name else b"\ton:Z:%s" % sequence_name
        lines.append(b"S\t%s\t%s\tLN:i:%d%s\n" % (name, residues.tobytes(), len(residues), tag))
    return b"".join(lines)
