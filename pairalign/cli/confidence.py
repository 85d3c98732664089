"""How sure columns are, where ``pairalign align`` shows it."""

from __future__ import annotations

import argparse

from pairalign.base.choices import STRANDS
from pairalign.base.errors import FormatError
from pairalign.cli.align_table import Table
from pairalign.cli.objective import FIELD, TAG, is_by_accuracy
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.stages.expected_accuracy import ColumnConfidence
from pairalign.pairs.want import Detail


def confidence_of(
    options: argparse.Namespace, table: Table, job: AlignmentJob
) -> ColumnConfidence | None:
    """Return what computes how sure columns are; None: the format does not show it.

    Raises
    ------
    FormatError
        It is asked for of alignments of either strand.
    """
    is_shown = table.writer_type.shows_confidence and table.detail == Detail.CIGAR
    by_itself = is_shown and is_by_accuracy(options)
    in_table = any(field.name == FIELD for field in table.fields)
    if TAG not in table.tags and not by_itself and not in_table:
        return None
    if options.strand != STRANDS[0]:
        raise FormatError("how sure columns are is known of alignments on strand plus alone")
    return ColumnConfidence(options.device, job.threads, job.memory_bytes, job.cells)
