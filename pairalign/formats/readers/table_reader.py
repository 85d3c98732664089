"""Lines of columns: PAF, SAM and abc, TSV with a header, and BLAST's, known or given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from pairalign.alignments.alignment_records import (
    CLAIMS,
    FAULTS,
    PROGRAMS,
    AlignmentRecords,
    Layout,
    SetNames,
    read_lines,
)
from pairalign.alignments.fields import BLAST6, run_along_query
from pairalign.base.arrays import Bools
from pairalign.base.error_types import AlignmentFileError, FormatError, shown_name
from pairalign.base.spelling import spelled
from pairalign.base.texts import is_whole, tsv_of
from pairalign.formats.readers.reader import RecordReader

HEADER_FAULT = FAULTS.index("header")


class LineReader(RecordReader):
    """Reads lines of columns.

    Attributes
    ----------
    layout : Layout
        What the columns are.
    """

    layout: Layout

    def read(self, piece: bytes) -> AlignmentRecords:
        """Read lines, in native code."""
        return read_lines(piece, self.layout, self.names)


class AbcReader(LineReader):
    """mcl's abc: two names and a number that is not negative."""

    name = "abc"
    suffixes = (".abc",)
    never_checked = ("weights",)
    layout = Layout(("query", "target", "evalue"), required=2)


class PafReader(LineReader):
    """PAF: 12 columns; of the tags ``NM``, ``AS``, ``cg``, ``cs`` and ``tp``.

    Without ``cg`` and ``cs`` names, lengths, spans and matches are looked at, and there is nothing
    to score.
    """

    name = "paf"
    suffixes = (".paf",)
    never_checked = ("mapping quality", "tags but NM, AS, cg, cs and tp")
    layout = Layout(
        (
            *("query", "says_query_length", "query_start", "query_end", "strand"),
            *("target", "says_target_length", "target_start", "target_end"),
            *("says_matches", "says_columns", "mapping_quality"),
        ),
        tags=True,
        required=1,
    )


class SamReader(LineReader):
    """SAM as text: all eleven columns; of the tags ``NM``, ``AS``, ``MD`` and ``cs``.

    What is clipped, softly or hard, says where the query's residues lie. Reads that are not mapped
    are counted and left out. ``@SQ`` lines must have the lengths of targets; of records their
    target must be among them. DIAMOND and vsearch, which ``@PG`` names, have habits of their own:
    `pairalign.alignments.alignment_records.PROGRAMS`.
    """

    name = "sam"
    suffixes = (".sam",)
    never_checked = (
        *("flags but strand and unmapped", "mapping quality", "next reads", "qualities"),
        "tags but NM, AS, MD and cs",
    )
    layout = Layout(
        (
            *("query", "flag", "target", "target_first", "mapping_quality", "sam_cigar"),
            *("next_name", "next_place", "template", "sam_sequence", "sam_quality"),
        ),
        tags=True,
        comment="@",
    )
    _listed: Bools | None = None

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole lines; the header is checked before the first.

        Raises
        ------
        AlignmentFileError
            A line of the header cannot be true.
        """
        pieces = self._text_pieces()
        header, text = [], b""
        for piece in pieces:
            lines = piece.split(b"\n")
            header_end = next(
                (k for k, line in enumerate(lines) if line and line[:1] != b"@"), None
            )
            header += lines[: len(lines) if header_end is None else header_end]
            text += piece
            if header_end is not None:
                break
        self._check_header([line.decode("utf-8", "replace").rstrip("\r") for line in header])
        if text:
            yield text
        yield from pieces

    def _check_header(self, lines: list[str]) -> None:
        lengths: dict[str, int] = {}
        for number, line in enumerate(lines, 1):
            where = f"{self.source}: line {number}"
            kind, *fields = line.split("\t")
            tags = dict(field.split(":", 1) for field in fields if ":" in field)
            if kind == "@PG":
                program = tags.get("PN", tags.get("ID", "")).lower()
                if program in PROGRAMS:
                    self.layout = replace(self.layout, program=program)
            if kind != "@SQ":
                continue
            name, length = tags.get("SN", ""), tags.get("LN", "")
            if not name or not is_whole(length):
                raise AlignmentFileError(f"{where}: @SQ without a name SN and a length LN")
            if name in lengths:
                raise AlignmentFileError(f"{where}: @SQ {shown_name(name)} comes a second time")
            lengths[name] = int(length)
        if lengths:
            self._listed = self._lengths_agree(lengths)

    def _lengths_agree(self, lengths: dict[str, int]) -> Bools:
        """Return which targets the header lists; AlignmentFileError for one of another length."""
        names = self.names[1]
        places = names.find(list(lengths))
        listed = np.zeros(len(names), np.bool_)
        for (name, length), place in zip(lengths.items(), places.tolist(), strict=True):
            if place < 0:
                continue
            listed[place] = True
            if length != names.lengths[place]:
                raise AlignmentFileError(
                    f"{self.source}: @SQ {shown_name(name)} has LN:{length:,}, the target has "
                    f"{int(names.lengths[place]):,} residues"
                )
        return listed

    def read(self, piece: bytes) -> AlignmentRecords:
        """Read lines, in native code."""
        batch = super().read(piece)
        if self._listed is not None:
            target = batch.records["target"]
            unlisted = (batch.records["fault"] == 0) & ~self._listed[np.maximum(target, 0)]
            batch.records["noticed"][unlisted] |= np.uint64(1 << HEADER_FAULT)
            first = unlisted & (batch.records["first"] == 0)
            batch.records["first"][first] = HEADER_FAULT
        return batch


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
