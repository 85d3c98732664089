"""Files of alignments that are in memory: what `Alignments.write` does."""

from __future__ import annotations

import os
from typing import Any

from pairalign.alignments.alignments import Alignments
from pairalign.pairs.want import Detail


def write_alignments(
    found: Alignments, path: str | os.PathLike[str], format: str | None = None
) -> None:
    """Write alignments into a file; see `Alignments.write`."""
    from pairalign.formats import check_shown, find_format, open_writer

    detail = Detail.CIGAR if found.has_cigar else Detail.STATS if found.has_stats else Detail.SCORE
    format_ = find_format(os.fspath(path), format)
    check_shown(format_, detail, strand="plus" if found.strand is None else "both")
    significance: Any = found.significance
    with open_writer(
        os.fspath(path),
        format,
        found.queries,
        found.targets,
        found.scoring,
        detail,
        significance=significance,
    ) as writer:
        writer.write(found)
