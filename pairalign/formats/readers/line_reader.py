"""PAF, SAM and abc: a line a record, columns that are always the same, and tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignment_records import (
    FAULTS,
    PROGRAMS,
    AlignmentRecords,
    Layout,
    read_lines,
)
from pairalign.base.error_types import AlignmentFileError, shown_name
from pairalign.base.texts import is_whole
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
    _listed: npt.NDArray[np.bool_] | None = None

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

    def _lengths_agree(self, lengths: dict[str, int]) -> npt.NDArray[np.bool_]:
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
