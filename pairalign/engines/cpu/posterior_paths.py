"""Alignments by posteriors, and how sure the columns of any are; ``cpu/posterior/paths.cpp``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.calibration import least_posteriors
from pairalign.alignments.posteriors import SparsePosteriors
from pairalign.base.error_types import CapacityError
from pairalign.base.native import Struct, library, struct_fields
from pairalign.engines.cpu.native_structs import NO_MEMORY
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

_FIELDS = 5
"""Raw score, matches, mismatches, gap openings, gap residues."""


class PosteriorTable(Struct):
    """``pairalign_posterior_table`` of ``cpu/posterior/paths.cpp``."""

    _fields_ = struct_fields("pointer offsets rows columns values; int64 count")


class PathScoring(Struct):
    """``pairalign_path_scoring`` of ``cpu/posterior/paths.cpp``."""

    _fields_ = struct_fields("pointer matrix; int32 gap_open gap_extend unambiguous threads")


class PathPairs(Struct):
    """``pairalign_path_pairs`` of ``cpu/posterior/paths.cpp``."""

    _fields_ = struct_fields(
        "pointer query_codes target_codes query_starts target_starts query_lengths target_lengths "
        "run_starts runs run_counts fields"
    )


def align_by_posteriors(
    posteriors: SparsePosteriors,
    queries: SequenceSet,
    targets: SequenceSet,
    scoring: Scoring,
    query: npt.NDArray[np.int32],
    target: npt.NDArray[np.int32],
    threads: int,
) -> Alignments:
    """Align pairs globally with the highest expected accuracy.

    Parameters
    ----------
    posteriors : SparsePosteriors
        Of the pairs, the query's residues in the rows.
    scoring : Scoring
        What the alignments' scores are by; it decides nothing else.
    query, target : ndarray of int32, shape (n,)
        Input indices.

    Returns
    -------
    Alignments
        With CIGARs. Residues that are aligned to none are in gaps; between two aligned pairs of
        residues, those of the query come first.

    Raises
    ------
    CapacityError
        The machine is out of memory.
    """
    lengths = queries.lengths[query], targets.lengths[target]
    starts = [s.offsets[:-1][indices] for s, indices in ((queries, query), (targets, target))]
    room = np.concatenate(([0], np.cumsum(lengths[0].astype(np.int64) + lengths[1])))
    runs = np.empty(int(room[-1]), np.uint32)
    counts = np.empty(len(query), np.int32)
    fields = np.empty((_FIELDS, len(query)), np.int32)
    arrays: list[npt.NDArray[Any]] = [
        *(np.ascontiguousarray(sequences.codes, np.uint8) for sequences in (queries, targets)),
        *(np.ascontiguousarray(array, np.int64) for array in starts),
        *(np.ascontiguousarray(array, np.int32) for array in lengths),
        *(room, runs, counts, fields),
    ]
    matrix = np.ascontiguousarray(scoring.matrix, np.int32)
    costs = scoring.gap_open, scoring.gap_extend, scoring.alphabet.unambiguous, threads
    status = library.pairalign_posterior_paths(
        _table(posteriors), PathPairs(*arrays), PathScoring(matrix, *costs)
    )
    if status == NO_MEMORY:
        raise CapacityError("out of memory for alignments by posteriors; allow fewer threads")
    assert not status, status
    return Alignments(
        queries=queries,
        targets=targets,
        scoring=scoring,
        query=query,
        target=target,
        query_start=np.zeros(len(query), np.int32),
        query_end=lengths[0],
        target_start=np.zeros(len(query), np.int32),
        target_end=lengths[1],
        cigar=runs[_filled(room, counts)],
        cigar_offsets=np.concatenate(([0], np.cumsum(counts, dtype=np.int64))),
        raw_score=fields[0],
        matches=fields[1],
        mismatches=fields[2],
        gap_openings=fields[3],
        gap_residues=fields[4],
    )


def mark_columns(
    posteriors: SparsePosteriors, alignments: Alignments, threads: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return how sure each column of alignments is.

    Parameters
    ----------
    posteriors : SparsePosteriors
        Of the pairs of the alignments, in their order; the query's residues in the rows.
    alignments : Alignments
        With CIGARs, on strand plus.

    Returns
    -------
    marks : ndarray of uint8, shape (columns of all,)
        As HMMER's PP, of how likely residues are right
        (`pairalign.alignments.calibration.least_posteriors`): ``0`` for less than 0.05, ``1`` up to
        0.15, ..., ``*`` from 0.95 on; ``.`` for gaps.
    offsets : ndarray of int64, shape (n + 1,)
        Where those of each alignment begin.
    """
    assert alignments.cigar is not None
    assert alignments.cigar_offsets is not None
    offsets = np.concatenate(([0], np.cumsum(alignments.columns, dtype=np.int64)))
    marks = np.empty(int(offsets[-1]), np.uint8)
    runs = np.ascontiguousarray(alignments.cigar)
    starts = alignments.field("query_start"), alignments.field("target_start")
    least = least_posteriors(alignments.queries.alphabet)
    library.pairalign_posterior_marks(
        *(_table(posteriors), runs, alignments.cigar_offsets, *starts),
        *(offsets, least, threads, marks),
    )
    return marks, offsets


def _table(posteriors: SparsePosteriors) -> PosteriorTable:
    names = ("offsets", "rows", "columns", "values")
    arrays = [getattr(posteriors, name) for name in names]
    assert all(array.flags.c_contiguous for array in arrays)
    return PosteriorTable(*arrays, len(posteriors))


def _filled(room: npt.NDArray[np.int64], counts: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return where runs are, of pairs that had more room."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(counts.sum(dtype=np.int64))
    return np.repeat(room[:-1] - ends + counts, counts) + np.arange(total)
