"""The multiple alignment of a family, from posteriors of pairs, and how sure any alignment is.

Fragments and outliers (`pairalign.jobs.msa.latecomers`) are joined to the alignment of the others
(`pairalign.jobs.msa.joining`). Up to 100 sequences:

1. Posteriors of all pairs (`pairalign.jobs.posterior`).
2. Distances: 1 minus the expected number of right columns of a pair's best alignment, by the
   length of the shorter sequence; UPGMA makes a tree of them, and the tree weights (Thompson et al.
   1994).
3. Up to 50 sequences, consistency: two rounds. More are as good without it.
4. Joins along the tree, each with the most weighted posterior on aligned residues.
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

import os
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.homologs import Homologs
from pairalign.alignments.multiple import MultipleAlignment, Unlike, unlike_of
from pairalign.alignments.posteriors import SparsePosteriors, join_posteriors
from pairalign.base.error_types import AlignmentFileError, CapacityError
from pairalign.base.spelling import spelled
from pairalign.engines.cpu.cpu_msa import PosteriorGraph
from pairalign.formats.aligned_fasta import read_aligned_fasta
from pairalign.formats.step_results import KeptResults
from pairalign.jobs.msa.confidence import Confidence, confidence_by, find_confidence
from pairalign.jobs.msa.grouping import MOST_IN_GROUP, Indices, ScoreDistances, subset
from pairalign.jobs.msa.joining import join_new
from pairalign.jobs.msa.large import align_large, residues_of
from pairalign.jobs.msa.latecomers import Latecomers, find_latecomers, graft_latecomers
from pairalign.jobs.msa.model_choice import MOST_OF_ALL_PAIRS, match_states_of
from pairalign.jobs.msa.msa_copies import FamilyCopies, find_family_copies
from pairalign.jobs.msa.outliers import find_unlike
from pairalign.jobs.msa.progressive import ENTRY_BYTES, align_graph
from pairalign.jobs.msa.word_distances import family_distances
from pairalign.jobs.posterior.posterior import PosteriorJob
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.progress import Progress
from pairalign.requests.resources import Resources
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_pruning import first_leaves

ROUNDS = 2
REFINEMENTS = 100

_MOST_RESIDUES = 5_000_000
"""Of the shorter sequences of all pairs, if they are more than a group: 2 GB of posteriors."""

_RELATED = 0.2
"""A sequence belongs to a family if this share of its residues is aligned with confidence: that of
one in 300 unrelated sequences is."""


AnyAlignment = MultipleAlignment | str | os.PathLike[str]
"""A path is of aligned FASTA, Stockholm and others, ours or another program's."""


@dataclass(frozen=True)
class Computed:
    """What posteriors are computed with."""

    device: str
    threads: int
    memory_bytes: int
    progress: Progress
    kept: KeptResults | None

    @classmethod
    def of(cls, resources: Resources, kept: KeptResults | None) -> Computed:
        """Return what there is at this time."""
        threads, memory_bytes = resources.used_threads, bytes_of(resources)
        return cls(resources.device, threads, memory_bytes, resources.progress, kept)


def align_family(
    sequences: SequenceSet,
    computed: Computed,
    *,
    tree: GuideTree | None = None,
    homologs: Homologs | None = None,
    keep_homologs: bool = False,
    confidence: bool = True,
    partners: int | None = None,
    seed: int = 0,
) -> MultipleAlignment:
    """Align a family of sequences over their whole lengths; see `pairalign.msa`."""
    if homologs is not None and len(homologs):
        drawn: dict[str, Any] = {"confidence": confidence, "partners": partners, "seed": seed}
        return _align_with(sequences, homologs, keep_homologs, computed, **drawn)
    if len(sequences) == 1:
        columns = np.arange(sequences.total_residues, dtype=np.int32)
        known = Confidence.unknown(sequences.total_residues)
        return MultipleAlignment(sequences, columns, len(columns), *known, None, (), homologs)
    copies = find_family_copies(sequences) if tree is None else None
    if copies is None:
        aligned, usual = _align_distinct(sequences, tree, computed)
    else:
        aligned, usual = _align_with_copies(copies, computed), None
    columns, posteriors = aligned.columns, aligned.posteriors
    if posteriors is not None:
        known = confidence_by([posteriors], sequences, columns)
    else:
        known = _known(sequences, columns, usual, computed, confidence, partners, seed)
    return MultipleAlignment(
        sequences, columns, aligned.width, *known, aligned.tree, aligned.unlike, homologs
    )


def _align_distinct(
    sequences: SequenceSet, tree: GuideTree | None, computed: Computed
) -> tuple[_Aligned, Indices]:
    """Return the alignment, and which sequences are of usual length and have relatives."""
    scores = family_distances(sequences, computed.threads, computed.memory_bytes)
    late = _latecomers(sequences, scores, tree)
    if len(late.added):
        return _align_in_turn(sequences, scores, late, computed), late.usual
    return _align_at_once(sequences, tree, scores, late, computed), late.usual


def _align_with_copies(copies: FamilyCopies, computed: Computed) -> _Aligned:
    """Align one of all copies each; posteriors are of these alone, and not returned."""
    distinct = copies.distinct()
    if len(distinct) == 1:
        columns = np.arange(distinct.total_residues, dtype=np.int32)
        return _Aligned(copies.tree(None), copies.columns(columns), len(columns), (), None)
    made, _ = _align_distinct(distinct, None, computed)
    return _Aligned(
        copies.tree(made.tree),
        copies.columns(made.columns),
        made.width,
        copies.unlike(made.unlike),
        None,
    )


def _latecomers(
    sequences: SequenceSet, scores: ScoreDistances, tree: GuideTree | None
) -> Latecomers:
    """Find fragments and outliers; along a tree that is given none is added later."""
    late = find_latecomers(sequences, scores)
    return late if tree is None else late.without(late.added)


def _align_with(
    sequences: SequenceSet,
    found: Homologs,
    are_kept: bool,
    computed: Computed,
    confidence: bool,
    **drawn: Any,
) -> MultipleAlignment:
    """Align a family with its homologs, which stay or are taken out again."""
    both = found.after(sequences)
    whole = align_family(both, computed, confidence=confidence and are_kept, **drawn)
    if are_kept:
        return replace(whole, homologs=found)
    count = len(sequences)
    used, places = np.unique(whole.columns[: sequences.total_residues], return_inverse=True)
    columns, width = places.astype(np.int32), len(used)
    scored = score_alignment(sequences, columns, width, computed, confidence=confidence, **drawn)
    assert whole.tree is not None
    tree = first_leaves(whole.tree, count) if count > 1 else None
    unlike = tuple(one for one in whole.unlike if one.sequence < count)
    return replace(scored, tree=tree, unlike=unlike, homologs=found)


class _Aligned(NamedTuple):
    """A family that is aligned; posteriors of all pairs, if it took them."""

    tree: GuideTree
    columns: npt.NDArray[np.int32]
    width: int
    unlike: tuple[Unlike, ...]
    posteriors: SparsePosteriors | None


def _align_at_once(
    sequences: SequenceSet,
    tree: GuideTree | None,
    scores: ScoreDistances,
    late: Latecomers,
    computed: Computed,
) -> _Aligned:
    """Align a family, in groups if it is large."""
    how, posteriors = vars(computed), None
    if _by_all_pairs(sequences):
        posteriors = _posteriors(sequences, match_states_of(sequences, late.usual), **how)
        rounds, refinements = (ROUNDS, REFINEMENTS) if len(sequences) <= MOST_IN_GROUP else (0, 0)
        with closing(PosteriorGraph(sequences.lengths, posteriors, computed.threads)) as graph:
            made = align_graph(graph, sequences, rounds=rounds, refinements=refinements, tree=tree)
    else:
        made = align_large(sequences, tree=tree, scores=scores, **how)
    unlike = find_unlike(sequences, made[1], late.strange, posteriors, scores, **how)
    return _Aligned(*made, unlike, posteriors)


def _align_in_turn(
    sequences: SequenceSet, scores: ScoreDistances, late: Latecomers, computed: Computed
) -> _Aligned:
    """Align a family without its latecomers, then join these to the alignment.

    Outliers that are aligned with confidence are none: it is made again with them among the first.
    """
    if len(late.doubtful):
        found, confident = _join_latecomers(sequences, late, computed)
        shares = confident / sequences.lengths[late.added]
        related = np.intersect1d(late.doubtful, late.added[shares >= _RELATED])
        if not len(related):
            return found
        if computed.kept is not None:
            computed.kept.begin_pass()
        late = late.without(related)
        if not len(late.added):
            return _align_at_once(sequences, None, scores, late, computed)
    return _join_latecomers(sequences, late, computed)[0]


def _join_latecomers(
    sequences: SequenceSet, late: Latecomers, computed: Computed
) -> tuple[_Aligned, Indices]:
    """Return the alignment, and how many residues of each latecomer are sure."""
    order = np.concatenate((np.setdiff1d(np.arange(len(sequences)), late.added), late.added))
    count = len(sequences) - len(late.added)
    first, both = subset(sequences, order[:count]), subset(sequences, order)
    scores = family_distances(first, computed.threads, computed.memory_bytes)
    aligned = _align_at_once(first, None, scores, late.among(order[:count]), computed)
    joined = join_new(
        both,
        aligned.columns,
        aligned.width,
        candidates=late.compared_with(first),
        **vars(computed),
    )
    columns = np.empty(sequences.total_residues, np.int32)
    columns[residues_of(sequences, order)] = joined.columns
    is_strange = np.isin(late.added, late.strange)
    unlike = [Unlike(int(order[index]), share) for index, share in aligned.unlike]
    unlike += unlike_of(sequences, late.added[is_strange], joined.confident[is_strange])
    tree = graft_latecomers(aligned.tree, sequences, order)
    made = _Aligned(tree, columns, joined.width, tuple(sorted(unlike)), None)
    return made, joined.confident


def _by_all_pairs(sequences: SequenceSet) -> bool:
    """Whether a family is aligned by all its pairs; what decides is the same on every machine."""
    count = len(sequences)
    if not MOST_IN_GROUP < count <= MOST_OF_ALL_PAIRS:
        return count <= MOST_IN_GROUP
    lengths = np.sort(sequences.lengths.astype(np.int64))
    return int((lengths * np.arange(count)[::-1]).sum()) <= _MOST_RESIDUES


def score_alignment(
    sequences: SequenceSet,
    columns: npt.NDArray[np.int32],
    width: int,
    computed: Computed,
    *,
    confidence: bool = True,
    partners: int | None = None,
    seed: int = 0,
) -> MultipleAlignment:
    """Return an alignment with how sure its residues and columns are, without a tree.

    Parameters
    ----------
    sequences : SequenceSet
    columns : ndarray of int32, shape (total_residues,)
        The column of each residue, from 0.
    width : int
        How many columns there are.
    computed : Computed
    confidence : bool
        Whether that is wanted.
    partners, seed
        See `pairalign.msa`.

    Raises
    ------
    CapacityError
        The posteriors of the two longest sequences do not fit the memory.
    """
    known = _known(sequences, columns, None, computed, confidence, partners, seed)
    return MultipleAlignment(sequences, columns, width, *known, None)


def columns_in(
    alignment: AnyAlignment, sequences: SequenceSet
) -> tuple[npt.NDArray[np.int32], int]:
    """Return the column of each residue in an alignment of some sequences, and its width.

    Raises
    ------
    FastaError, AlignmentFileError
        It is none, or of other sequences.
    ValueError
        The columns of an object are none of such sequences.
    """
    if not isinstance(alignment, MultipleAlignment):
        return read_aligned_fasta(alignment, sequences)
    own = alignment.sequences
    if own is not sequences and _content(own) != _content(sequences):
        raise AlignmentFileError(
            "the alignment is of other sequences, or has them in another order"
        )
    return _checked(alignment.columns, sequences, alignment.width), alignment.width


def _checked(columns: npt.ArrayLike, sequences: SequenceSet, width: int) -> npt.NDArray[np.int32]:
    """Return the columns of residues; ValueError unless those of each sequence rise."""
    found = np.asarray(columns)
    if found.shape != (sequences.total_residues,) or found.dtype.kind not in "iu":
        raise ValueError(
            f"columns: found an array of {found.dtype} of shape {found.shape}, expected whole "
            f"numbers of shape ({sequences.total_residues},)"
        )
    if len(found) and not 0 <= found.min() <= found.max() < width:
        raise ValueError(
            f"columns: found {found.min()} to {found.max()}, expected 0 to {width - 1}"
        )
    rises = np.diff(found.astype(np.int64)) > 0
    rises[sequences.offsets[1:-1] - 1] = True
    if not rises.all():
        index = int(np.searchsorted(sequences.offsets, rises.argmin(), "right")) - 1
        raise ValueError(f"columns: those of {sequences.record(index)} do not rise")
    return found.astype(np.int32)


def _content(sequences: SequenceSet) -> tuple[list[str], list[int], bytes]:
    residues = sequences.residues.tobytes().upper()
    return list(sequences.names), sequences.offsets.tolist(), residues


def _match_states(sequences: SequenceSet, usual: Indices | None, computed: Computed) -> int:
    """Return how many match states `msa` takes for confidence; usual: those that are, if known."""
    if usual is None and len(sequences) <= MOST_OF_ALL_PAIRS:
        scores = family_distances(sequences, computed.threads, computed.memory_bytes)
        usual = find_latecomers(sequences, scores).usual
    return match_states_of(sequences, usual)


def _known(
    sequences: SequenceSet,
    columns: npt.NDArray[np.int32],
    usual: Indices | None,
    computed: Computed,
    confidence: bool,
    partners: int | None,
    seed: int,
) -> Confidence:
    """Return the confidence of residues where it is asked for; `usual` as for `_match_states`."""
    if not confidence or len(sequences) == 1:
        return Confidence.unknown(sequences.total_residues)
    return find_confidence(
        sequences,
        columns,
        match_states=_match_states(sequences, usual, computed),
        partners=partners,
        seed=seed,
        **vars(computed),
    )


def _posteriors(
    sequences: SequenceSet,
    match_states: int,
    device: str,
    threads: int,
    memory_bytes: int,
    progress: Progress,
    kept: KeptResults | None,
) -> SparsePosteriors:
    """Compute the posteriors of all pairs; refuse more than fit."""
    job = PosteriorJob(
        sequences,
        device=device,
        threads=threads,
        memory_bytes=memory_bytes,
        progress=progress,
        kept=kept,
        match_states=match_states,
    )
    pieces, held = [], 0
    for piece in job:
        pieces.append(piece)
        held += ENTRY_BYTES * len(piece.rows)
        if held > memory_bytes:
            raise CapacityError(
                f"{sequences.source}: the posteriors of {len(sequences):,} sequences need more "
                f"than the {memory_bytes >> 20:,} MiB of memory that are allowed; allow more with "
                f"{spelled('memory')}, or align fewer sequences",
                held,
                memory_bytes,
            )
    return join_posteriors(pieces)
