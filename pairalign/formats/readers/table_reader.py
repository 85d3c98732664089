"""Tables: TSV, whose header names the columns, and BLAST's, whose columns are known or given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pairalign.alignments.alignment_records import CLAIMS, Layout, SetNames
from pairalign.alignments.fields import BLAST6, run_along_query
from pairalign.base.error_types import AlignmentFileError, FormatError
from pairalign.base.spelling import spelled
from pairalign.base.texts import tsv_of
from pairalign.formats.readers.line_reader import LineReader
from pairalign.formats.readers.reader import RecordReader

_SAYS = {name: f"says_{name}" for name in CLAIMS}

COLUMN_ROLES = {
    **_SAYS,
    **{
        name: name
        for name in (
            *("query", "target", "strand", "query_start", "query_end"),
            *("target_start", "target_end", "cigar", "exchanged_cigar", "btop"),
        )
    },
    "query_aligned": "query_row",
    "target_aligned": "target_row",
    "bits": "real",
    "evalue": "evalue",
    "confidence": "confidence",
    # BLAST's names
    "bitscore": "real",
    "sstrand": "target_strand",
    "qseqid": "query",
    "sseqid": "target",
    "length": "says_columns",
    "nident": "says_matches",
    "mismatch": "says_mismatches",
    "gapopen": "says_gap_openings",
    "gaps": "says_gap_letters",
    "positive": "says_positives",
    "qlen": "says_query_length",
    "slen": "says_target_length",
    "qstart": "query_first",
    "qend": "query_last",
    "sstart": "target_first",
    "send": "target_last",
    "qseq": "query_row",
    "sseq": "target_row",
    # those of MMseqs2
    "raw": "says_score",
    "fident": "says_identity",
    "alnlen": "says_columns",
    "tlen": "says_target_length",
    "tstart": "target_first",
    "tend": "target_last",
    "qaln": "query_row",
    "taln": "target_row",
    "qcov": "says_query_coverage",
    "tcov": "says_target_coverage",
}
"""What columns of a name hold. Those of our own names are defined in docs/formats.md; `edits` are
mismatches and gap columns, `aligned` columns without gaps, `pident_aligned` 100 matches by those,
and `exchanged_cigar` has I where others have D."""

_ONCE = (
    *("strand", "target_strand", "cigar", "exchanged_cigar", "btop"),
    *("query_start", "query_end", "query_first", "query_last"),
    *("target_start", "target_end", "target_first", "target_last"),
)
"""What only one column may hold; others may come twice, and must agree."""

_ALIGNMENTS = frozenset({"cigar", "exchanged_cigar", "btop"})
_ONLY_READ = ("real", "evalue", "confidence", "says_qcovs", "says_ties")

NOT_CHECKED = (*("stitle", "salltitles", "qtitle", "theader", "qheader", "_"),)
"""Columns that may be named and are not looked at; ``_`` is any."""


class TsvReader(LineReader):
    """TSV with a header line; columns of no name in `COLUMN_ROLES` are `unknown`."""

    name = "tsv"
    suffixes: ClassVar[tuple[str, ...]] = (".tsv", ".tab")

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole lines, without the header."""
        for piece in self._text_pieces():
            if not self.lines_before:
                header, _, piece = piece.partition(b"\n")
                self._take_header(header)
                self.lines_before = 1
            yield piece
        if not self.lines_before:
            raise AlignmentFileError(f"{self.source}: is empty, expected the names of columns")

    def _take_header(self, header: bytes) -> None:
        names = header.decode("utf-8", "replace").rstrip("\r").lstrip("#").split("\t")
        roles = _roles_of(names)
        _check_names(roles, f"{self.source}: line 1", AlignmentFileError)
        self.unknown = [
            name for name in names if name not in COLUMN_ROLES and name not in NOT_CHECKED
        ]
        self.unplaced = _unplaced(roles)
        self.not_checked = not_checked(names)
        self.layout = Layout(roles, quotes=True, along_query=run_along_query(names))


class CsvReader(TsvReader):
    """CSV with a header line."""

    name = "csv"
    suffixes = (".csv",)

    def _text_pieces(self) -> Iterator[bytes]:
        return map(tsv_of, super()._text_pieces())


class Blast6Reader(LineReader):
    """BLAST's ``-outfmt 6`` or 7, the tables of DIAMOND, MMseqs2 and FASTA's ``-m 8``.

    Lines that begin with ``#`` are not read. Without a CIGAR, rows or ``btop`` among the columns,
    names, spans and counts that contradict the spans are all that can be looked at.
    """

    name = "blast6"
    suffixes = (".blast6", ".b6", ".m8", ".outfmt6", ".blast7", ".b7", ".outfmt7")
    has_columns = True

    def __init__(
        self, path: str, names: tuple[SetNames, SetNames], columns: tuple[str, ...] = ()
    ) -> None:
        for name in columns:
            if name not in COLUMN_ROLES and name not in NOT_CHECKED:
                column_names = ", ".join((*COLUMN_ROLES, *NOT_CHECKED))
                raise FormatError(f"no column '{name}': expected some of {column_names}")
        roles = _roles_of(columns or BLAST6)
        _check_names(roles, spelled("columns"), FormatError)
        along_query = run_along_query(columns or BLAST6)
        required = int(not columns)
        self.layout = Layout(roles, comment="#", required=required, along_query=along_query)
        RecordReader.__init__(self, path, names, columns)
        self.not_checked = not_checked(columns or BLAST6)
        self.unplaced = _unplaced(roles)


def _roles_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return what columns hold; of two names of one thing that is held once, the first counts."""
    roles = [COLUMN_ROLES.get(name, "ignored") for name in names]
    first = {role: name for role, name in zip(roles[::-1], names[::-1], strict=True)}
    return tuple(
        "ignored" if role in _ONCE and name != first[role] else role
        for role, name in zip(roles, names, strict=True)
    )


def not_checked(names: Sequence[str]) -> list[str]:
    """Return the columns of a table whose values are only looked at for what they can be.

    Without an alignment these are all that follow from one.
    """
    roles = dict(zip(names, _roles_of(names), strict=True))
    present_roles, never = set(roles.values()), {*_ONLY_READ, "ignored"}
    if not (_ALIGNMENTS & present_roles or {"query_row", "target_row"} <= present_roles):
        checked = {"says_query_length", "says_target_length"}
        for side in ("query", "target"):
            if {f"{side}_start", f"{side}_first"} & present_roles and {
                f"{side}_end",
                f"{side}_last",
            } & present_roles:
                checked |= {
                    f"says_{side}_coverage",
                    *(("says_qcovhsp",) if side == "query" else ()),
                }
        never |= {*_SAYS.values()} - checked
    return [name for name, role in roles.items() if role in never]


def _unplaced(roles: tuple[str, ...]) -> list[str]:
    """Return the sides of which alignments are shown, and not where they begin."""
    if not {*_ALIGNMENTS, "query_row", "target_row"} & set(roles):
        return []
    sides = ("query", "target")
    return [side for side in sides if not {f"{side}_start", f"{side}_first"} & set(roles)]


def _check_names(
    roles: tuple[str, ...], where: str, error: type[FormatError] | type[AlignmentFileError]
) -> None:
    """Raise an error if there are no names of sequences, or some column comes twice."""
    for role, expected in (("query", "query or qseqid"), ("target", "target or sseqid")):
        if role not in roles:
            raise error(f"{where}: no column of the {role}s' names, expected {expected}")
    for role in _ONCE:
        if roles.count(role) > 1:
            raise error(f"{where}: two columns hold the same: {role}")
