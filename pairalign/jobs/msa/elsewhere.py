"""Which sequences of a family are like another in another order or place than their rows.

Rows keep the order of residues and are as long as a whole family: overlapping parts of a genome,
and domains that changed places, have similar residues in other columns. A sequence is said where
its best significant local alignment, with one of some drawn members, has fewer than half of its
pairs of residues in one column. That changes no row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.multiple import Elsewhere
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s
from pairalign.base.declaration import make
from pairalign.base.error_types import ScoringError
from pairalign.jobs.msa.grouping import subset
from pairalign.jobs.msa.outliers import MOST_EVALUE, drawn_members, local_scoring
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.scoring.cigars import DELETION, INSERTION, MATCH
from pairalign.sequences.sets import SequenceSet

_COMPARED = 8
"""Sequences that all are compared with."""


def find_elsewhere(
    sequences: SequenceSet, columns: Int32s, resources: Resources
) -> tuple[Elsewhere, ...]:
    """Find what is like another in another order or place; each pair once.

    Parameters
    ----------
    sequences : SequenceSet
        Without copies.
    columns : ndarray of int32, shape (total_residues,)
        Of their residues, see `MultipleAlignment`.
    resources : Resources
        They change nothing.
    """
    if len(sequences) < 2:
        return ()
    others = drawn_members(sequences, 0)[:_COMPARED]
    problem = Problem(sequences, subset(sequences, others), local_scoring(sequences.alphabet))
    options = {"mode": "local", "max_hits": 2, "max_evalue": MOST_EVALUE}
    request = make(AlignRequest, {**options, "db_size": sequences.total_residues})
    run = RunRequest(resources=replace(resources, progress=False))
    seen: set[int] = set()
    pairs: dict[frozenset[int], Elsewhere] = {}
    try:
        job = plan_alignment(request, problem, run).job
    except ScoringError:  # X or N alone: no pair has an E-value
        return ()
    for hits in job:
        for number, (query, target) in enumerate(_ends(hits)):
            other = int(others[target])
            if other == query or query in seen:  # itself is the best hit, where it was drawn
                continue
            seen.add(query)
            pair = Elsewhere(query, other, *_placed(hits, number, sequences, columns, other))
            if 2 * pair.together < pair.aligned:
                pairs.setdefault(frozenset((query, other)), pair)
    return tuple(pairs.values())


def _ends(hits: Alignments) -> Iterator[tuple[int, int]]:
    return zip(hits.query.tolist(), hits.target.tolist(), strict=True)


def _placed(
    hits: Alignments, number: int, sequences: SequenceSet, columns: Int32s, other: int
) -> tuple[int, int]:
    """Return how many pairs of residues a local alignment has, and those in one column."""
    assert hits.cigar is not None
    assert hits.cigar_offsets is not None
    runs = hits.cigar[slice(*hits.cigar_offsets[number : number + 2].tolist())]
    lengths, operations = (runs >> 4).astype(np.int64), runs & 15
    are_pairs = operations >= MATCH
    places = []
    for index, gap, start in (
        (int(hits.query[number]), DELETION, hits.field("query_start")),
        (other, INSERTION, hits.field("target_start")),
    ):
        used = np.where(operations == gap, 0, lengths)
        firsts = int(sequences.offsets[index]) + int(start[number]) + np.cumsum(used) - used
        sizes = lengths[are_pairs]
        steps = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        places.append(columns[np.repeat(firsts[are_pairs], sizes) + steps])
    return len(places[0]), int(np.count_nonzero(places[0] == places[1]))
