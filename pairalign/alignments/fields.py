"""Columns that tables of alignments can have, by our names, BLAST's and MMseqs2's.

``--columns`` of tables chooses among them; cpu/text/text_fields.h writes
them. Spans are 0-based and half-open by our names, 1-based and inclusive by others. On strand ``-``
columns run along the target and ``qstart`` is the larger, as MMseqs2 has it; where a column is
BLAST's (`run_along_query`), they run along the query and ``sstart`` is the larger.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pairalign.base.error_types import FormatError
from pairalign.pairs.want import Detail

_CODES = {
    name: code
    for code, name in enumerate(
        (
            *("query", "target", "score", "bits", "evalue"),
            *("identity", "identity_aligned", "identity_shorter", "identity_longer"),
            *("columns", "matches", "mismatches", "gap_openings", "gap_letters", "positives"),
            *("query_length", "query_start", "query_end", "query_coverage"),
            *("target_length", "target_start", "target_end", "target_coverage"),
            *("cigar", "query_aligned", "target_aligned"),
            *("pident", "ppos", "qcovhsp", "qstart", "sstart"),
            *("identity_internal", "identity_mbl", "identity_full", "identity_mean"),
            *("confidence", "qend", "send", "strand", "sstrand", "qtitle", "stitle", "btop"),
            *("qcovs", "ties"),
        )
    )
}
"""The order is that of `pairalign_field` in cpu/text/text.h."""

STATISTICS_CODES = frozenset((_CODES["bits"], _CODES["evalue"]))
TITLE_CODES = frozenset((_CODES["qtitle"], _CODES["stitle"]))
TEXT_CODES = TITLE_CODES | {
    _CODES[name]
    for name in (
        *("query", "target", "cigar", "query_aligned", "target_aligned", "confidence"),
        *("strand", "sstrand", "btop"),
    )
}
"""Those whose values are no numbers."""
COVERAGE_OF_PAIR = _CODES["qcovs"]
TIES = _CODES["ties"]

_SCORE_FIELDS = (
    *("query", "target", "score", "bits", "evalue", "query_length", "target_length"),
    *("strand", "sstrand", "qtitle", "stitle"),
)
_CIGAR_FIELDS = (
    *("positives", "ppos", "cigar", "query_aligned", "target_aligned"),
    *("identity_internal", "confidence", "btop"),
)

_BLAST_NAMES = {
    "qseqid": "query",
    "sseqid": "target",
    "bitscore": "bits",
    "length": "columns",
    "nident": "matches",
    "mismatch": "mismatches",
    "gapopen": "gap_openings",
    "gaps": "gap_letters",
    "positive": "positives",
    "qlen": "query_length",
    "slen": "target_length",
    "salltitles": "stitle",
    "qseq": "query_aligned",
    "sseq": "target_aligned",
}
"""BLAST's names of what we have under another; those of equal name are in `_CODES`."""

_MMSEQS_NAMES = {
    "raw": "score",
    "fident": "identity",
    "alnlen": "columns",
    "qcov": "query_coverage",
    "tcov": "target_coverage",
    "tlen": "target_length",
    "tstart": "sstart",
    "tend": "send",
    "qheader": "qtitle",
    "theader": "stitle",
    "qaln": "query_aligned",
    "taln": "target_aligned",
}
"""MMseqs2's names that neither we nor BLAST have."""

BLAST6 = (
    *("qseqid", "sseqid", "pident", "length", "mismatch", "gapopen"),
    *("qstart", "qend", "sstart", "send", "evalue", "bitscore"),
)
"""The columns of BLAST's ``-outfmt 6``."""


_ALONG_QUERY = frozenset(("sstart", "send", "sstrand", "qseq", "sseq", "btop"))


def run_along_query(names: Iterable[str]) -> bool:
    """Whether the columns of these names run along the query on strand ``-``, as BLAST has them."""
    return not _ALONG_QUERY.isdisjoint(names)


class Field(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    name : str
        As the request has it: ours, BLAST's or MMseqs2's.
    code : int
        `pairalign_field` of cpu/text/text.h.
    detail : Detail
        The least that must be computed for it.
    """

    name: str
    code: int
    detail: Detail

    @property
    def of_statistics(self) -> bool:
        """Whether it has numbers only where statistics are known."""
        return self.code in STATISTICS_CODES


_OTHER_NAMES = {**_BLAST_NAMES, **_MMSEQS_NAMES}


def _make_field(name: str) -> Field:
    ours = _OTHER_NAMES.get(name, name)
    detail = Detail.STATS
    if ours in _SCORE_FIELDS:
        detail = Detail.SCORE
    elif ours in _CIGAR_FIELDS:
        detail = Detail.CIGAR
    return Field(name, _CODES[ours], detail)


FIELDS = {name: _make_field(name) for name in (*_CODES, *_OTHER_NAMES)}
"""All columns by name."""


def parse_fields(text: str) -> tuple[Field, ...]:
    """Return the columns of a list such as ``query,target,evalue``.

    Parameters
    ----------
    text : str
        Names, with commas or blanks between them.

    Raises
    ------
    FormatError
        There is none, or no such column.
    """
    names = text.replace(",", " ").split()
    for name in names:
        if name not in FIELDS:
            raise FormatError(f"no column '{name}': expected some of {', '.join(FIELDS)}")
    if not names:
        raise FormatError("no columns: name at least one")
    return tuple(FIELDS[name] for name in names)
