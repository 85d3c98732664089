"""Distances of circular sequences: genomes of which each file begins somewhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pairalign.alignments.passes import place_in_triangle
from pairalign.alignments.problem import Problem
from pairalign.jobs.circular.circular import align_circular
from pairalign.jobs.distances.measures import Measure, check_alphabet, self_scores
from pairalign.jobs.run.progress import show_progress
from pairalign.pairs.want import Detail
from pairalign.requests.resources import Resources
from pairalign.results.distances_result import DistanceMatrix
from pairalign.trees.distance_matrix import check_names, check_words, number_of_pairs


def measure_circular(
    problem: Problem, measure: Measure, *, both_strands: bool, resources: Resources
) -> tuple[DistanceMatrix, int]:
    """Align every pair of a set of circles, see `pairalign.jobs.circular.circular`.

    The query of a pair is the sequence that runs along the rows of their matrix
    (docs/conventions.md), so distances do not depend on the order of the input.

    Parameters
    ----------
    problem : Problem
        Of one set; mode global.

    Returns
    -------
    matrix : DistanceMatrix
    best : int
        Of how many pairs it is known that no rotation scores more.

    Raises
    ------
    AlphabetError, ScoringError, CapacityError, DistanceError
    """
    sequences = problem.queries
    check_alphabet(measure, sequences)
    check_names(sequences.names, sequences.source)
    check_words(sequences.names, sequences.source)
    count, best = len(sequences), 0
    condensed = np.full(number_of_pairs(count), np.nan, np.float32)
    own_scores = self_scores(sequences, problem.scoring)
    rows, columns = np.triu_indices(count, 1)
    pairs = sequences.order[rows], sequences.order[columns]
    needed = measure.detail_of(problem)
    detail = max(needed, Detail.STATS)
    with show_progress(len(rows), resources.progress, "pairs") as meter:
        done = 0
        for part in align_circular(
            problem, *pairs, both_strands=both_strands, detail=detail, resources=resources
        ):
            alignments, stop = part.found, done + len(part.reversed)
            query, target = (side[done:stop] for side in pairs)
            shown = alignments
            if needed < Detail.CIGAR:  # a rotation is as long, and scores as much
                shown = replace(
                    alignments, queries=sequences, targets=sequences, query=query, target=target
                )
            values = measure.compute(shown, own_scores)
            ends = np.minimum(query, target), np.maximum(query, target)
            place_in_triangle(*ends, values, count, condensed)
            meter.update(stop - done)
            best += int(part.is_best.sum())
            done = stop
    return DistanceMatrix(list(sequences.names), condensed, measure.name), best
