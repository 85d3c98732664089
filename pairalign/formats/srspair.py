"""EMBOSS srspair, what needle and water write; Biopython calls it ``emboss``."""

from __future__ import annotations

from pairalign.formats.names import SRSPAIR
from pairalign.formats.writer import TextWriter
from pairalign.pairs.want import Detail

_RULE = "#" * 40 + "\n"
_END = "#" + "-" * 39 + "\n"


class SrspairWriter(TextWriter):
    """EMBOSS srspair.

    Laid out as EMBOSS does: names cut to 13 characters in the rows (whole in the headers), 50
    columns a line, positions counted from 1, a row of gaps only repeating the last position.
    Markup: ``|`` equal, ``:`` a positive score, ``.`` another pair. Modes global and semiglobal
    show whole sequences; as in needle, free end gaps count in Length and Gaps. There is no date
    and no command line: equal input gives equal bytes. Pairs of which nothing is aligned are left
    out.

    In Biopython, ``Bio.AlignIO.parse(file, "emboss")`` reads every such file. ``Bio.Align`` does
    too, unless the first row of a sequence that has residues has just one, as in ``M---``: up to
    1.88 it takes that sequence for a reversed one and gives up, in EMBOSS's own files as well.
    """

    name = "srspair"
    suffixes = (".srspair", ".emboss", ".needle", ".water")
    needs = Detail.CIGAR
    of_block = True
    name_rules = (SRSPAIR, SRSPAIR)

    def header(self) -> bytes:
        """Text before the first pair."""
        return f"{_RULE}# Program: pairalign\n# Align_format: srspair\n{_RULE}\n".encode()

    def footer(self) -> bytes:
        """Text after the last pair."""
        return (_END + _END).encode()

    def block_header(self) -> bytes:
        """Text in the header of every pair: the parameters."""
        scoring = self._content.scoring
        return (
            f"# Matrix: {scoring.matrix_name}\n"
            f"# Gap_penalty: {_decimal(scoring.format_score(scoring.gap_open))}\n"
            f"# Extend_penalty: {_decimal(scoring.format_score(scoring.gap_extend))}\n"
        ).encode()


def _decimal(number: str) -> str:
    """EMBOSS shows at least one decimal."""
    return number if "." in number else number + ".0"
