"""The multiple alignment of a family, from posteriors of pairs, and how sure any alignment is.

One of all copies is aligned (`pairalign.jobs.msa.distinct_members`). Up to 100 sequences:

1. A guide tree (`pairalign.jobs.msa.family_tree`), and weights of it (Thompson et al. 1994).
2. Posteriors of all pairs (`pairalign.jobs.posterior`).
3. Up to 50 sequences, consistency: two rounds. More are as good without it.
4. Joins along the tree, each with the most weighted posterior on aligned residues. Among more than
   50 each sequence that would have 0.1 more for a residue elsewhere is then joined anew.
5. Refinement of up to 50 distant sequences: the alignment is cut in two and joined anew, 100 times.

Larger families, and long ones of more than 50: `pairalign.jobs.msa.large`. From the posteriors on
all is integer arithmetic: the same bytes for every machine and number of threads.

References
----------
Do CB, Mahabhashyam MSP, Brudno M, Batzoglou S. ProbCons: probabilistic consistency-based multiple
sequence alignment. Genome Res 15:330-340, 2005.
Thompson JD, Higgins DG, Gibson TJ. CLUSTAL W. Nucleic Acids Res 22:4673-4680, 1994.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from math import fsum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import Homologs
from pairalign.alignments.posteriors import SparsePosteriors, join_posteriors
from pairalign.base.choices import POSTERIOR_THRESHOLD
from pairalign.base.error_types import CapacityError
from pairalign.base.spelling import spelled
from pairalign.engines.cpu.cpu_msa import PosteriorGraph
from pairalign.jobs.msa.confidence import Confidence, confidence_by, find_confidence
from pairalign.jobs.msa.distinct_members import distinct_members
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.family_tree import family_tree
from pairalign.jobs.msa.grouping import MOST_IN_GROUP, evenly, tree_weights
from pairalign.jobs.msa.large import ENTRY_BYTES, align_large, shorter_residues
from pairalign.jobs.msa.msa_result import MultipleAlignment
from pairalign.jobs.msa.relatives import placed_members
from pairalign.jobs.posterior.posterior import PosteriorJob
from pairalign.jobs.run.memory import bytes_of
from pairalign.requests.resources import Resources
from pairalign.results import tree_result
from pairalign.scoring.posterior_models import MOST_MATCH_STATES
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_joining import first_leaves

MOST_OF_ALL_PAIRS = 100
"""Sequences that are aligned by the posteriors of all their pairs, if they are not too long."""

_ALIKE = 0.9
"""Of the longer sequence of a pair, in the mean of all pairs."""

_MOST_BASES = 500
"""Of DNA and RNA, in the mean: longer sequences are taken for genes."""

_ONE = 1 << 20

ROUNDS = 2
REFINEMENTS = 100

_DISTANT_BELOW = 0.7
"""Families are distant whose pairs' best alignments have fewer right columns, as a share of the
shorter sequences: others are aligned as well without refinement, and better without homologs."""

_MOST_RESIDUES = 5_000_000
"""Of the shorter sequences of all pairs, if they are more than a group: 2 GB of posteriors."""


def align_family(
    sequences: SequenceSet,
    run: FamilyRun,
    *,
    tree: GuideTree | None = None,
    homologs: Homologs | None = None,
    keep_homologs: bool = False,
) -> MultipleAlignment:
    """Align a family of sequences over their whole lengths; see `pairalign.msa`."""
    if homologs is not None and len(homologs):
        return _align_with(sequences, homologs, keep_homologs, run)
    if len(sequences) == 1:
        columns = np.arange(sequences.total_residues, dtype=np.int32)
        return replace(score_alignment(sequences, columns, len(columns), run), homologs=homologs)
    members = distinct_members(sequences)
    aligned = _align_members(members.aligned, members.tree_of_aligned(tree), run)
    columns = aligned.columns[members.residues]
    if aligned.posteriors is None or members.has_copies:
        confidence = _confidence_of(sequences, columns, run)
    else:
        confidence = confidence_by([aligned.posteriors], members.aligned, aligned.columns)
        confidence = confidence.of(members.residues)
    unlike, elsewhere = placed_members(members, columns, run.resources)
    return MultipleAlignment(
        sequences,
        columns,
        aligned.width,
        *confidence,
        tree_result.GuideTree.of(tree or members.tree(aligned.tree)),
        unlike,
        homologs,
        elsewhere=elsewhere,
    )


def _align_with(
    sequences: SequenceSet, homologs: Homologs, are_kept: bool, run: FamilyRun
) -> MultipleAlignment:
    """Align a family with its homologs, which stay or are taken out again."""
    both = homologs.after(sequences)
    whole = align_family(both, replace(run, confidence=run.confidence and are_kept))
    if are_kept:
        return replace(whole, homologs=homologs)
    count = len(sequences)
    used, places = np.unique(whole.columns[: sequences.total_residues], return_inverse=True)
    scored = score_alignment(sequences, places.astype(np.int32), len(used), run)
    assert whole.tree is not None
    tree = tree_result.GuideTree.of(first_leaves(whole.tree, count)) if count > 1 else None
    unlike = tuple(outlier for outlier in whole.unlike if outlier.sequence < count)
    elsewhere = tuple(pair for pair in whole.elsewhere if max(pair[:2]) < count)
    return replace(scored, tree=tree, unlike=unlike, homologs=homologs, elsewhere=elsewhere)


class _Aligned(NamedTuple):
    """Distinct sequences that are aligned: their tree, posteriors if all pairs have them."""

    tree: GuideTree
    columns: npt.NDArray[np.int32]
    width: int
    posteriors: SparsePosteriors | None


def align_along(
    sequences: SequenceSet, tree: GuideTree, run: FamilyRun
) -> tuple[npt.NDArray[np.int32], int]:
    """Return the columns of some sequences, and how many there are."""
    aligned = _align_members(sequences, tree, run)
    return aligned.columns, aligned.width


def _align_members(sequences: SequenceSet, tree: GuideTree | None, run: FamilyRun) -> _Aligned:
    """Align what is distinct of a family, in groups if it is large."""
    tree = tree or family_tree(sequences, run.resources)
    if len(sequences) == 1:
        columns = np.arange(sequences.total_residues, dtype=np.int32)
        return _Aligned(tree, columns, len(columns), None)
    is_one_group = len(sequences) <= MOST_IN_GROUP
    is_small, shorter = len(sequences) <= MOST_OF_ALL_PAIRS, shorter_residues(sequences.lengths)
    if not (is_one_group or (is_small and shorter <= _MOST_RESIDUES)):
        return _Aligned(tree, *align_large(sequences, tree, run), None)
    posteriors, weights = _posteriors(sequences, run), tree_weights(tree)
    threads = run.resources.used_threads
    with closing(PosteriorGraph(sequences.lengths, posteriors, threads)) as graph:
        refinements = REFINEMENTS if is_one_group and _are_distant(graph, shorter) else 0
        for _ in range(ROUNDS if is_one_group else 0):
            graph.relax(weights, POSTERIOR_THRESHOLD)
        columns, width = graph.align(tree.children, weights, refinements, rejoins=not is_one_group)
    return _Aligned(tree, columns, width, posteriors)


def is_distant(sequences: SequenceSet, resources: Resources) -> bool:
    """Tell whether a family is aligned better with homologs, of a large one by a group of it."""
    distinct = distinct_members(sequences).aligned
    if len(distinct) > MOST_IN_GROUP:
        distinct = distinct.reordered(evenly(np.arange(len(distinct)), MOST_IN_GROUP))
    if len(distinct) == 1:
        return False
    posteriors = _posteriors(distinct, FamilyRun(resources))
    with closing(PosteriorGraph(distinct.lengths, posteriors, resources.used_threads)) as graph:
        return _are_distant(graph, shorter_residues(distinct.lengths))


def _are_distant(graph: PosteriorGraph, shorter: int) -> bool:
    return fsum(graph.accuracies()) < _DISTANT_BELOW * shorter


def judge_alignment(
    sequences: SequenceSet, columns: npt.NDArray[np.int32], width: int, run: FamilyRun
) -> MultipleAlignment:
    """Return what `score_alignment` does, with what is like no other, or in another place."""
    members = distinct_members(sequences)
    unlike, elsewhere = placed_members(members, columns, run.resources)
    scored = score_alignment(sequences, columns, width, run)
    return replace(scored, unlike=unlike, elsewhere=elsewhere)


def score_alignment(
    sequences: SequenceSet, columns: npt.NDArray[np.int32], width: int, run: FamilyRun
) -> MultipleAlignment:
    """Return an alignment with how sure its residues and columns are, without a tree.

    Parameters
    ----------
    columns : ndarray of int32, shape (total_residues,)
        The column of each residue, from 0.
    width : int
        How many columns there are.

    Raises
    ------
    CapacityError
        The posteriors of the two longest sequences do not fit the memory.
    """
    confidence = _confidence_of(sequences, columns, run)
    return MultipleAlignment(sequences, columns, width, *confidence, None)


def _confidence_of(
    sequences: SequenceSet, columns: npt.NDArray[np.int32], run: FamilyRun
) -> Confidence:
    """Return the confidence of residues where it is asked for."""
    if not run.confidence or len(sequences) == 1:
        return Confidence.unknown(sequences.total_residues)
    return find_confidence(sequences, columns, match_states_of(sequences), run)


def _posteriors(sequences: SequenceSet, run: FamilyRun) -> SparsePosteriors:
    """Compute the posteriors of all pairs; refuse more than fit."""
    states, memory_bytes = match_states_of(sequences), bytes_of(run.resources)
    pieces, total_bytes = [], 0
    for piece in PosteriorJob(sequences, run.resources, kept=run.kept, match_states=states):
        pieces.append(piece)
        total_bytes += ENTRY_BYTES * len(piece.rows)
        if total_bytes > memory_bytes:
            raise CapacityError(
                f"{sequences.source}: the posteriors of {len(sequences):,} sequences need more "
                f"than the {memory_bytes >> 20:,} MiB of memory that are allowed; allow more with "
                f"{spelled('memory')}, or align fewer sequences",
                total_bytes,
                memory_bytes,
            )
    return join_posteriors(pieces)


def match_states_of(sequences: SequenceSet) -> int:
    """Return how many match states the pair HMM of a family has.

    Parameters
    ----------
    sequences : SequenceSet
        Two or more.

    Returns
    -------
    int
        `MOST_MATCH_STATES` for up to `MOST_OF_ALL_PAIRS` proteins whose lengths are alike, and for
        as many sequences of DNA that are short; else 1.

    Notes
    -----
    Several states were trained on references, most of which are domains: they align domains better,
    the more the less similar they are, but worse whole proteins, parts of which have no counterpart
    in others. Lengths tell the two apart to some degree. Those of DNA were trained on structured
    RNAs; genes evolve otherwise, and are longer. In whole numbers: the same on every machine.
    """
    count = len(sequences)
    if count > MOST_OF_ALL_PAIRS:
        return 1
    lengths = sequences.lengths.astype(np.int64)
    if sequences.alphabet == DNA:
        is_short = int(lengths.sum()) <= _MOST_BASES * len(lengths)
        return MOST_MATCH_STATES if is_short else 1
    first, second = (lengths[index] for index in np.triu_indices(len(lengths), 1))
    alike = np.minimum(first, second) * _ONE // np.maximum(first, second)
    return MOST_MATCH_STATES if int(alike.sum()) >= int(_ALIKE * _ONE) * len(alike) else 1
