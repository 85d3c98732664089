"""A3M: the alignments of one query as a multiple alignment to it, for HH-suite."""

from __future__ import annotations

from pairalign.base.error_types import FormatError
from pairalign.formats.names import FASTA
from pairalign.formats.output import Output
from pairalign.formats.writer import Content, TextWriter
from pairalign.pairs.want import Detail


class A3mWriter(TextWriter):
    """A3M: first the query, then a record a target.

    Rows have a capital letter or ``-`` for each residue of the query, and between them, in small
    letters, what the target has besides. Headers: ``>NAME start=0 end=46 score=112``, the aligned
    part of the target (residues from 0, half-open) and the score. The target's residues outside of
    it are not shown. Pairs without an aligned pair of residues are left out.

    Raises
    ------
    FormatError
        By the constructor, unless there is exactly one query.
    """

    name = "a3m"
    suffixes = (".a3m",)
    needs = Detail.CIGAR
    name_rules = (FASTA, FASTA)

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        if len(content.queries) != 1 or content.targets is content.queries:
            raise FormatError(
                f"{content.queries.source}: {len(content.queries):,} sequences; a3m holds the "
                "alignments of one query: give it in a file of its own, and the others as IN2"
            )
        super().__init__(output, content, threads)

    def header(self) -> bytes:
        """Return the record of the query."""
        queries = self._content.queries
        residues = queries.residues.tobytes().upper()
        return b">%s\n%s\n" % (queries.names[0].encode(), residues)
