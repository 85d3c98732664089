"""What ``pairalign align`` writes: the format, and what it shows of each pair."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from pairalign.alignments.fields import Field, parse_fields
from pairalign.base.choices import MASKS
from pairalign.base.errors import FormatError
from pairalign.cli.masks import check_masks
from pairalign.cli.networks import check_network
from pairalign.cli.objective import check_objective, shown_fields, shown_tags
from pairalign.cli.tags import tags_of
from pairalign.formats import NETWORK_FORMATS, Writer, check_shown, find_format
from pairalign.formats.resumable import Join
from pairalign.pairs.want import Detail


@dataclass(frozen=True)
class Table:
    """What is written.

    Attributes
    ----------
    writer_type : type of Writer
        The format.
    detail : Detail
        What is computed of each pair.
    fields : tuple of Field
        Columns that were chosen.
    both_ways : bool
    tags : frozenset of str
    weight : str
        Of the edges of networks.
    """

    writer_type: type[Writer]
    detail: Detail
    fields: tuple[Field, ...]
    both_ways: bool
    tags: frozenset[str]
    weight: str

    @property
    def shows_statistics(self) -> bool:
        """Whether a column is a bit score or an E-value."""
        shown = self.fields or self.writer_type.default_fields or ()
        return any(field.of_statistics for field in shown)

    @property
    def join(self) -> Join | None:
        """What makes one file of several that are complete, where the format needs it."""
        return self.writer_type.join_files if self.writer_type.joined else None

    def shown(self) -> dict[str, Any]:
        """Return what `pairalign.formats.open_writer` is told besides."""
        names = ("fields", "both_ways", "tags", "weight")
        return {name: getattr(self, name) for name in names}

    def decided(self) -> dict[str, Any]:
        """Return what of it decides the bytes, see `describe_run`."""
        return {
            "columns": [field.name for field in self.fields],
            "both_ways": self.both_ways,
            "tags": sorted(self.tags),
            "weight": self.weight,
        }


def table_of(options: argparse.Namespace) -> Table:
    """Find out what is written; refuse what cannot be.

    Raises
    ------
    FormatError
        The message says what to leave out or add.
    """
    writer_type = find_format(options.output, options.format)
    check_network(options, writer_type.name, once=writer_type.pairs_once)
    check_objective(options)
    fields = () if options.columns is None else parse_fields(options.columns)
    fields = shown_fields(options, writer_type, fields)
    _check_local(options, writer_type.name)
    if options.orient == "canonical" and options.input2 is not None:
        raise FormatError("--orient canonical is of one set: of two, the first has the queries")
    detail = _detail(options, writer_type, fields)
    tags = shown_tags(options, writer_type, tags_of(options, options.hsps), detail)
    table = Table(writer_type, detail, fields, options.both_ways, tags, options.weight)
    check_shown(
        writer_type,
        table.detail,
        fields=fields,
        both_ways=options.both_ways,
        tags=tags,
        strand=options.strand,
    )
    return table


def _check_local(options: argparse.Namespace, format: str) -> None:
    """Refuse what is of local alignments alone, and several of a pair where they cannot be."""
    if options.hsps > 1 and options.mode != "local":
        raise FormatError(f"--hsps needs --mode local, but the mode is {options.mode}")
    if options.max_evalue is not None and options.mode != "local":
        raise FormatError(f"--max-evalue needs --mode local, but the mode is {options.mode}")
    if options.hsps > 1 and format in NETWORK_FORMATS:
        raise FormatError(f"{format} has an edge a pair: leave --hsps out, or write another format")
    check_masks(options)
    if options.mask == MASKS[0] or options.mask_scores:
        return
    if options.mode != "local":
        raise FormatError(
            f"--mask needs --mode local, but the mode is {options.mode}: "
            "add --mask-scores for scores of masked residues"
        )
    if options.hsps > 1 or options.max_hits is not None:
        raise FormatError("--mask looks at whole alignments: leave --hsps and --max-hits out")


def _detail(options: argparse.Namespace, writer: type[Writer], fields: tuple[Field, ...]) -> Detail:
    """How much must be computed: of chosen columns, no more than they show."""
    if options.score_only:
        return Detail.SCORE
    if writer.name in NETWORK_FORMATS:
        return Detail.STATS
    fields = fields or writer.default_fields or ()
    return max([writer.needs, *(field.detail for field in fields)]) if fields else Detail.CIGAR
