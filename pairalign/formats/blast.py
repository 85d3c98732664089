"""BLAST's tabular format: a line a pair; ``-outfmt 6`` without a header, ``-outfmt 7`` with one."""

from __future__ import annotations

import os
from typing import ClassVar

from pairalign.alignments.fields import BLAST6, FIELDS
from pairalign.formats.names import NO_COMMENT
from pairalign.formats.writer import PairLines, TextWriter
from pairalign.pairs.want import Detail
from pairalign.sequences.block_set import whole_of
from pairalign.statistics.statements import statements


class Blast6Writer(TextWriter):
    """BLAST's twelve columns, or others that were chosen, see `pairalign.alignments.fields`.

    ``qseqid sseqid pident length mismatch gapopen qstart qend sstart send evalue bitscore``:
    positions count from 1 and include the last residue; ``pident`` is 100 matches by columns, with
    3 decimals; ``evalue`` has three digits, and is 0.0 where a double holds fewer, ``bitscore`` one
    decimal; both are ``nan`` where statistics are not known, as in modes other than local.
    Pairs of which nothing is aligned are left out. On strand - ``sstart`` is larger than ``send``.
    """

    name = "blast6"
    lines: ClassVar[PairLines | None] = PairLines()
    shows_residues = False
    suffixes: ClassVar[tuple[str, ...]] = (".blast6", ".b6", ".m8", ".outfmt6")
    needs = Detail.STATS
    of_block = True
    takes_both_ways = True
    either_strand = True
    name_rules = (NO_COMMENT, NO_COMMENT)
    default_fields = tuple(FIELDS[name] for name in BLAST6)


_LABELS = {
    FIELDS[name].code: label
    for name, label in (
        ("qseqid", "query id"),
        ("sseqid", "subject id"),
        ("qlen", "query length"),
        ("slen", "subject length"),
        ("score", "score"),
        ("bitscore", "bit score"),
        ("evalue", "evalue"),
        ("pident", "% identity"),
        ("ppos", "% positives"),
        ("length", "alignment length"),
        ("nident", "identical"),
        ("mismatch", "mismatches"),
        ("positive", "positives"),
        ("gapopen", "gap opens"),
        ("gaps", "gaps"),
        ("qstart", "q. start"),
        ("qend", "q. end"),
        ("query_end", "q. end"),
        ("sstart", "s. start"),
        ("send", "s. end"),
        ("target_end", "s. end"),
        ("sstrand", "subject strand"),
        ("stitle", "subject title"),
        ("qtitle", "query title"),
        ("btop", "BTOP"),
        ("qcovs", "% query coverage per subject"),
        ("qcovhsp", "% query coverage per hsp"),
        ("qseq", "query seq"),
        ("sseq", "subject seq"),
    )
}


class Blast7Writer(Blast6Writer):
    """The lines of `blast6` after one header of lines that begin with ``#``.

    They say: program and version; names of the files of targets (``Database``) and queries; the
    scoring; lambda, K, where these come from, and the residues and sequences of the database; the
    smallest and the largest search space of a query; the columns by BLAST's names, or by ours where
    BLAST has no such column; the number of queries. BLAST has a header for each query, with its
    number of hits: here pairs are written while they come, and those of a query not side by side.
    """

    name = "blast7"
    lines: ClassVar[PairLines | None] = PairLines(comment=b"#")
    shows_statistics = True
    suffixes: ClassVar[tuple[str, ...]] = (".blast7", ".b7", ".outfmt7")

    @property
    def native_name(self) -> str:
        """What native code calls the format."""
        return Blast6Writer.name

    def header(self) -> bytes:
        """Return the comments. Biopython takes a line with "processed" for the last of them."""
        from pairalign.base.version import __version__

        content = self._content
        stated = statements(content.scoring, content.significance)
        if content.significance is None:
            stated.append("Statistics: not known")
        lines = [
            f"pairalign {__version__} (table as BLAST's outfmt 7, one header for all)",
            f"Database: {_file_name(content.targets.source)}",
            f"Searched with: {_file_name(content.queries.source)}",
            *stated,
            f"Fields: {', '.join(self._labels())}",
            f"Queries processed: {len(whole_of(content.queries))}; hits found follow",
        ]
        return "".join(f"# {line}\n" for line in lines).encode()

    def _labels(self) -> list[str]:
        fields = self._content.shown.fields or self.default_fields
        return [_LABELS.get(field.code, field.name) for field in fields]


def _file_name(source: str) -> str:
    """Without the folder, so that the bytes do not depend on where files are."""
    return " ".join(os.path.basename(source).split())
