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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.homologs import Homologs
from pairalign.alignments.multiple import MultipleAlignment, Unlike, unlike_of
from pairalign.alignments.posteriors import SparsePosteriors, join_posteriors
from pairalign.base.choices import HOMOLOGS_PER_FAMILY
from pairalign.base.declaration import check, check_arguments
from pairalign.base.error_types import CapacityError, FormatError, UsageError
from pairalign.base.function_options import refuse_unknown, takes
from pairalign.base.spelling import spelled
from pairalign.engines.cpu.cpu_msa import PosteriorGraph
from pairalign.engines.selection import usable_cores
from pairalign.formats.step_results import KeptResults
from pairalign.jobs.msa.confidence import confidence_by, find_confidence
from pairalign.jobs.msa.grouping import MOST_IN_GROUP, Indices, ScoreDistances, subset
from pairalign.jobs.msa.homolog_search import find_homologs
from pairalign.jobs.msa.joining import join_new
from pairalign.jobs.msa.large import align_large, residues_of
from pairalign.jobs.msa.latecomers import Latecomers, find_latecomers, graft_latecomers
from pairalign.jobs.msa.model_choice import MOST_OF_ALL_PAIRS, match_states_of
from pairalign.jobs.msa.msa_copies import FamilyCopies, find_family_copies
from pairalign.jobs.msa.outliers import find_unlike
from pairalign.jobs.msa.progressive import ENTRY_BYTES, align_graph
from pairalign.jobs.posterior.posterior import PosteriorJob
from pairalign.jobs.run.inputs import Sequences, read_one_set
from pairalign.jobs.run.memory import default_bytes, given_bytes
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.resources import Resources
from pairalign.requests.msa_request import ConfidenceOptions, HomologsOptions
from pairalign.requests.resource_options import CoreResources
from pairalign.requests.shared import InputArguments, InputOptions
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_pruning import first_leaves
from pairalign.trees.tree_reading import read_newick

if TYPE_CHECKING:
    from typing_extensions import Unpack

ARGUMENTS = (ConfidenceOptions, CoreResources)
"""What has arguments in functions of multiple alignments."""

ROUNDS = 2
REFINEMENTS = 100

_MOST_RESIDUES = 5_000_000
"""Of the shorter sequences of all pairs, if they are more than a group: 2 GB of posteriors."""

_RELATED = 0.2
"""A sequence belongs to a family if this share of its residues is aligned with confidence: that of
one in 300 unrelated sequences is."""


@takes(InputArguments, InputOptions)
def msa(
    sequences: Sequences,
    *,
    tree_in: GuideTree | str | os.PathLike[str] | None = None,
    homologs: Sequences | Homologs | None = None,
    homologs_per_family: int = HOMOLOGS_PER_FAMILY,
    keep_homologs: bool = False,
    confidence: bool = True,
    partners: int | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress = False,
    kept: KeptResults | None = None,
    **more: Unpack[InputArguments],
) -> MultipleAlignment:
    """Align a family of sequences over their whole lengths.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        Proteins or DNA, as `pairalign.align` takes them.
    tree_in : GuideTree or path, optional
        What to join along, of the names of `sequences`: from `pairalign.tree`, or a file in
        Newick format. Default: one that is made of the sequences.
    homologs : SequenceSet, path or others as of `sequences`, or Homologs, optional
        A database: the family is aligned together with homologs from it, local hits with an
        E-value of at most 0.001, which are taken out again. A set that is mapped from a store
        serves for many calls.
    homologs_per_family : int
        Sequences that the family has with its homologs.
    keep_homologs : bool
        Leave them in, after the sequences, with names ``homolog_NAME/FIRST-LAST``.
    confidence : bool
        Of a family in groups, for which it takes posteriors of its own: whether to compute it.
    partners, seed
        Of a family in groups: see `score_multiple`.
    device : str
        See `pairalign.posterior`: the same bytes on all.
    threads : int, optional
        Default: all cores.
    memory : int or str, optional
        Default: half of what is free.
    progress : bool or "lines"
        Show how far it is.
    kept : KeptResults, optional
        Posteriors, or alignments of groups, that were kept are taken from there, others are kept.

    Returns
    -------
    MultipleAlignment

    Raises
    ------
    FormatError
        `tree` is not of these sequences, or no Newick.
    UsageError, AlphabetError
        Homologs and a tree that is given; homologs of another alphabet.
    PartsError
        What was kept is damaged.
    CapacityError
        The posteriors of all pairs, or of a group, do not fit the memory.

    Notes
    -----
    Up to 100 sequences time grows with the products of the lengths of all pairs, that of
    consistency with the cube of the number of sequences; of a family in groups, with the number of
    sequences. Memory: about 40 bytes for each posterior of 0.01 or more of up to 100 sequences, of
    which a residue has 3 to 13 in each other sequence.
    """
    refuse_unknown("msa", more, InputArguments.__annotations__)
    wanted = HomologsOptions(
        homologs=homologs, homologs_per_family=homologs_per_family, keep_homologs=keep_homologs
    )
    check(wanted)
    check_arguments(ARGUMENTS, {"partners": partners, "seed": seed, "threads": threads})
    sequences, memory = read_one_set(sequences, more), given_bytes(memory)
    given = _read_tree(tree_in, sequences)
    if homologs is not None:
        resources = Resources(device, None, threads, memory, progress)
        found = _homologs_of(sequences, given, wanted, resources)
        how: dict[str, Any] = {"partners": partners, "seed": seed, "device": device}
        how |= {"threads": threads, "memory": memory, "progress": progress, "kept": kept}
        return _align_with(sequences, found, keep_homologs, confidence, how)
    if len(sequences) == 1:
        columns = np.arange(sequences.total_residues, dtype=np.int32)
        return MultipleAlignment(sequences, columns, len(columns), *_nothing(sequences), None)
    threads = usable_cores() if threads is None else threads
    memory_bytes = default_bytes() if memory is None else memory
    computed = _Computed(device, threads, memory_bytes, progress, kept)
    copies = find_family_copies(sequences) if given is None else None
    if copies is None:
        aligned, usual = _align_distinct(sequences, given, computed)
    else:
        aligned, usual = _align_with_copies(copies, computed), None
    columns, posteriors = aligned.columns, aligned.posteriors
    if posteriors is not None:
        known = confidence_by([posteriors], sequences, columns)
    elif confidence:
        known = find_confidence(
            sequences,
            columns,
            match_states=_match_states(sequences, usual, threads, memory_bytes),
            partners=partners,
            seed=seed,
            **vars(computed),
        )
    else:
        known = _nothing(sequences)
    return MultipleAlignment(
        sequences, columns, aligned.width, *known, aligned.tree, aligned.unlike
    )


def _align_distinct(
    sequences: SequenceSet, tree: GuideTree | None, computed: _Computed
) -> tuple[_Aligned, Indices]:
    """Return the alignment, and which sequences are of usual length and have relatives."""
    scores = ScoreDistances(sequences, computed.threads, computed.memory_bytes)
    late = _latecomers(sequences, scores, tree)
    if len(late.added):
        return _align_in_turn(sequences, scores, late, computed), late.usual
    return _align_at_once(sequences, tree, scores, late, computed), late.usual


def _align_with_copies(copies: FamilyCopies, computed: _Computed) -> _Aligned:
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


def _homologs_of(
    sequences: SequenceSet, tree: GuideTree | None, wanted: HomologsOptions, resources: Resources
) -> Homologs:
    """Return homologs of a family, if they are not found already."""
    if tree is not None:
        raise UsageError(f"{spelled('tree_in')} is of the sequences alone: give no homologs")
    if isinstance(wanted.homologs, Homologs):
        return wanted.homologs
    most, database = wanted.homologs_per_family, read_one_set(wanted.homologs)
    return find_homologs({"": sequences}, database, most=most, resources=resources)[""]


def _align_with(
    sequences: SequenceSet,
    found: Homologs,
    are_kept: bool,
    confidence: bool,
    how: dict[str, Any],
) -> MultipleAlignment:
    """Align a family with its homologs, which stay or are taken out again."""
    both = found.after(sequences)
    whole = msa(both, confidence=confidence and (are_kept or not len(found)), **how)
    if are_kept or not len(found):
        return replace(whole, homologs=found)
    count = len(sequences)
    used, places = np.unique(whole.columns[: sequences.total_residues], return_inverse=True)
    columns, width = places.astype(np.int32), len(used)
    known = _nothing(sequences)
    if confidence and count > 1:
        scored = score_multiple(sequences, columns, width, **how)
        known = scored.support, scored.compared
    assert whole.tree is not None
    tree = first_leaves(whole.tree, count) if count > 1 else None
    unlike = tuple(one for one in whole.unlike if one.sequence < count)
    return MultipleAlignment(sequences, columns, width, *known, tree, unlike, found)


@dataclass(frozen=True)
class _Computed:
    """What posteriors are computed with."""

    device: str
    threads: int
    memory_bytes: int
    progress: Progress
    kept: KeptResults | None


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
    computed: _Computed,
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
    unlike = find_unlike(sequences, made[1], late.lonely, posteriors, scores, **how)
    return _Aligned(*made, unlike, posteriors)


def _align_in_turn(
    sequences: SequenceSet, scores: ScoreDistances, late: Latecomers, computed: _Computed
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
    sequences: SequenceSet, late: Latecomers, computed: _Computed
) -> tuple[_Aligned, Indices]:
    """Return the alignment, and how many residues of each latecomer are sure."""
    order = np.concatenate((np.setdiff1d(np.arange(len(sequences)), late.added), late.added))
    count = len(sequences) - len(late.added)
    first, both = subset(sequences, order[:count]), subset(sequences, order)
    scores = ScoreDistances(first, computed.threads, computed.memory_bytes)
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
    is_lonely = np.isin(late.added, late.lonely)
    unlike = [Unlike(int(order[index]), share) for index, share in aligned.unlike]
    unlike += unlike_of(sequences, late.added[is_lonely], joined.confident[is_lonely])
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


def _read_tree(
    tree: GuideTree | str | os.PathLike[str] | None, sequences: SequenceSet
) -> GuideTree | None:
    """Return the guide tree that is given; its sequences have to be these."""
    if tree is None or isinstance(tree, GuideTree):
        if tree is not None and tree.names != sequences.names:
            raise FormatError("the guide tree is of other sequences, or has them in another order")
        return tree
    return read_newick(tree, sequences.names)


def score_multiple(
    sequences: Sequences,
    columns: npt.NDArray[np.int32],
    width: int,
    *,
    partners: int | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress = False,
    kept: KeptResults | None = None,
) -> MultipleAlignment:
    """Compute how sure each residue and column of any multiple alignment is.

    Parameters
    ----------
    sequences : the same as of `msa`
        What is aligned.
    columns : ndarray of int32, shape (total_residues,)
        The column of each residue, from 0.
    width : int
        How many columns there are.
    partners : int, optional
        Compare each sequence with this number of others, drawn by chance. Default: with all others,
        20 of more than 200 sequences.
    seed : int
        What is drawn follows from it.
    device, threads, memory, progress, kept
        See `msa`.

    Returns
    -------
    MultipleAlignment
        Without a tree.

    Raises
    ------
    CapacityError
        The posteriors of the two longest sequences do not fit the memory.
    """
    check_arguments(ARGUMENTS, {"partners": partners, "seed": seed, "threads": threads})
    sequences, memory = read_one_set(sequences), given_bytes(memory)
    columns = _checked(columns, sequences, width)
    known = _nothing(sequences)
    if len(sequences) > 1:
        known = find_confidence(
            sequences,
            columns,
            match_states=_match_states(sequences, None, threads, memory),
            partners=partners,
            seed=seed,
            device=device,
            threads=threads,
            memory_bytes=memory,
            progress=progress,
            kept=kept,
        )
    return MultipleAlignment(sequences, columns, width, *known, None)


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


def _match_states(
    sequences: SequenceSet, usual: Indices | None, threads: int | None, memory: int | None
) -> int:
    """Return how many match states `msa` takes for confidence; usual: those that are, if known."""
    if usual is None and len(sequences) <= MOST_OF_ALL_PAIRS:
        threads = usable_cores() if threads is None else threads
        memory_bytes = default_bytes() if memory is None else memory
        scores = ScoreDistances(sequences, threads, memory_bytes)
        usual = find_latecomers(sequences, scores).usual
    return match_states_of(sequences, usual)


def _nothing(sequences: SequenceSet) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Return the confidence of residues that are compared with none."""
    count = sequences.total_residues
    return np.zeros(count), np.zeros(count, np.int32)


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
