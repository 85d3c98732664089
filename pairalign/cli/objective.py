"""Alignments by expected accuracy: what ``pairalign align`` shows of them, and what it refuses."""

from __future__ import annotations

import argparse

from pairalign.alignments.fields import FIELDS, Field
from pairalign.alignments.tables import COLUMNS
from pairalign.base.choices import OBJECTIVES, STRANDS
from pairalign.base.errors import FormatError
from pairalign.engines.kernels import AUTO
from pairalign.formats import Writer
from pairalign.pairs.want import Detail

TAG = "pp"
FIELD = "confidence"
"""What shows how sure columns are."""


def check_objective(options: argparse.Namespace) -> None:
    """Refuse what alignments by expected accuracy cannot have, before anything is read.

    Raises
    ------
    FormatError
        The mode is not global, or other alignments of a pair are asked for.
    """
    if not is_by_accuracy(options):
        return
    if options.mode != "global":
        raise FormatError(f"--objective mea needs --mode global, but the mode is {options.mode}")
    refused = {
        "--hsps": options.hsps > 1,
        "--max-hits": options.max_hits is not None,
        "--strand both": options.strand != STRANDS[0],
        "--kernel": options.kernel != AUTO,
    }
    for option, given in refused.items():
        if given:
            raise FormatError(
                f"--objective mea gives one alignment of a pair by posteriors: leave {option} out"
            )


def is_by_accuracy(options: argparse.Namespace) -> bool:
    """Whether alignments are those of the highest expected accuracy."""
    return bool(options.objective == OBJECTIVES[1])


def shown_fields(
    options: argparse.Namespace, writer: type[Writer], fields: tuple[Field, ...]
) -> tuple[Field, ...]:
    """Return the columns of a table; where none are chosen, confidence is one if it is known."""
    if fields or writer.name != "tsv" or options.score_only or not is_by_accuracy(options):
        return fields
    return tuple(FIELDS[name] for name in (*COLUMNS[Detail.CIGAR], FIELD))


def shown_tags(
    options: argparse.Namespace, writer: type[Writer], tags: frozenset[str], detail: Detail
) -> frozenset[str]:
    """Return the tags of a format: with confidence, where it is known and can be shown."""
    known = TAG in writer.known_tags and detail == Detail.CIGAR
    return tags | {TAG} if known and is_by_accuracy(options) else tags
