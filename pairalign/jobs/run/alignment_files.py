"""Files of alignments that are in memory: what `Alignments.write` does."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.tie_counts import TieCounter
from pairalign.pairs.want import Detail


def write_alignments(
    found: Alignments, path: str | os.PathLike[str], format: str | None = None
) -> None:
    """Write alignments into a file; see `Alignments.write`."""
    from pairalign.formats import open_writer
    from pairalign.formats.writer import Shown

    detail = Detail.CIGAR if found.has_cigar else Detail.STATS if found.has_stats else Detail.SCORE
    significance: Any = found.significance
    with open_writer(
        os.fspath(path),
        format,
        found.queries,
        found.targets,
        found.scoring,
        detail,
        shown=Shown(strands=found.strand is not None),
        significance=significance,
    ) as writer:
        writer.write(found)


def mark_confidence(found: Alignments) -> list[str]:
    """Return how sure each column is; see `Selectable.confidence`."""
    from pairalign.base.cores import usable_cores
    from pairalign.jobs.run.memory import default_bytes
    from pairalign.jobs.stages.expected_accuracy import ColumnConfidence

    if not found.has_cigar:
        raise ValueError("how sure columns are needs CIGARs: align with detail='cigar'")
    if found.strand is not None and (found.strand < 0).any():
        raise ValueError("how sure columns are is known of alignments on strand plus")
    marks, offsets = ColumnConfidence("auto", usable_cores(), default_bytes()).marks(found)
    text, bounds = marks.tobytes().decode(), offsets.tolist()
    return [text[start:stop] for start, stop in itertools.pairwise(bounds)]


def count_ties(found: Alignments) -> npt.NDArray[np.uint32]:
    """Return how many optimal alignments each pair has; see `Selectable.ties`."""
    from pairalign.base.cores import usable_cores

    return TieCounter(found.queries, found.targets, found.scoring, usable_cores()).count(found)
