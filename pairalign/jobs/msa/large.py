"""Large families: groups of similar sequences are aligned, then joined.

1. Groups of at most 50 and their joins: parts of the guide tree (`pairalign.jobs.msa.grouping`).
2. Each group is aligned along its part of that tree, without consistency: two sides by the
   posteriors of each sequence of the larger with two of the other.
3. Two alignments are joined by the posteriors between eight sequences of either side, which are
   evenly spaced in the order of the tree. Proteins: with the substitution scores of all sequences,
   and gaps that are cheap where others are (``cpu/msa/profiles.cpp``). DNA, and very long ones: the
   heaviest chain of pairs of columns (``cpu/msa/chain.cpp``).

Work and memory grow with the number of sequences, not with its square. Groups and joins are dealt
out to threads; what each gives depends on nothing else.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import SparsePosteriors
from pairalign.base.error_types import CapacityError
from pairalign.base.spelling import spelled
from pairalign.engines.cpu.cpu_msa import PosteriorGraph, Side, join_columns, join_profiles
from pairalign.engines.cpu.cpu_posterior import thread_bytes
from pairalign.engines.posterior_computer import PosteriorRequest
from pairalign.engines.posterior_engines import check_device, open_posterior_engine
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.grouping import Grouping, Indices, group_by_tree, tree_weights
from pairalign.jobs.run.kept_results import Arrays, KeptResults
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.progress import show_progress
from pairalign.requests.resources import Resources
from pairalign.scoring.posterior_models import profile_costs
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree

REPRESENTATIVES = 8
"""Of a side of a join."""

PARTNERS = 2
"""Sequences of the smaller side of a merge that each of the larger side is compared with."""

MOST_CELLS = 1 << 26
"""Bytes that a join as profiles may take: the product of the widths."""

ENTRY_BYTES = 10 + 2 * (8 + 8)
"""Of a posterior: as it is found; as links in both directions, old and new."""

_ENTRIES_A_RESIDUE = 20  # of unrelated sequences, rounded up


@dataclass(frozen=True)
class Part:
    """Some sequences, aligned.

    Attributes
    ----------
    members : ndarray of int64
        Input indices in the order of the tree.
    columns : ndarray of int32
        The columns of their residues, one sequence after the other.
    pairs : int
        Whose posteriors the group, or the join, took.
    places : (ndarray of int32, ndarray of int32) or None
        Of a join: where the columns of its two parts are.
    """

    members: Indices
    columns: npt.NDArray[np.int32]
    width: int
    pairs: int = 0
    places: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None = None


def align_large(
    sequences: SequenceSet, tree: GuideTree, run: FamilyRun
) -> tuple[npt.NDArray[np.int32], int]:
    """Align a large family.

    Parameters
    ----------
    sequences : SequenceSet
        More than those of one group.
    tree : GuideTree
        What to join along.

    Returns
    -------
    columns : ndarray of int32, shape (total_residues,)
    width : int

    Raises
    ------
    CapacityError
        The posteriors of a group, or of two representatives, do not fit the memory.
    """
    check_device(run.resources.device)
    with closing(Aligner(sequences, group_by_tree(tree), run.resources)) as aligner:
        return align_parts(aligner, run)


def align_parts(aligner: Aligner, run: FamilyRun) -> tuple[npt.NDArray[np.int32], int]:
    """Align groups and join them, each as soon as its parts are there.

    Returns
    -------
    columns : ndarray of int32, shape (total_residues,)
    width : int
    """
    grouping, kept = aligner.grouping, run.kept
    groups, joins = grouping.groups, grouping.joins
    parts: list[Part | None] = [None] * (len(groups) + len(joins))
    parent = {part: k for k, join in enumerate(joins) for part in (join.first, join.second)}
    before = _kept_before(kept)
    running: dict[Future[Part], int] = {}
    with (
        ThreadPoolExecutor(aligner.threads) as pool,
        show_progress(aligner.cells, run.resources.progress, doing="aligning") as meter,
    ):
        try:
            for k in sorted(range(len(groups)), key=lambda k: -aligner.group_cells(groups[k])):
                future = pool.submit(aligner.align, groups[k], grouping.trees[k], before.get(k))
                running[future] = k
            while running:
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    node = running.pop(done)
                    part = parts[node] = done.result()
                    is_group = node < len(groups)
                    if kept is not None and node not in before:
                        kept.add("groups" if is_group else "joins", *_kept_of(node, part))
                    meter.update(
                        aligner.group_cells(groups[node]) if is_group else aligner.join_cells
                    )
                    if node not in parent:
                        continue
                    join = joins[parent[node]]
                    first, second = parts[join.first], parts[join.second]
                    if first is not None and second is not None:
                        above = len(groups) + parent[node]
                        future = pool.submit(aligner.join, first, second, before.get(above))
                        running[future] = above
                        for place in (join.first, join.second):
                            parts[place] = None
        except BaseException:
            aligner.cancel()
            pool.shutdown(cancel_futures=True)
            raise
    whole = parts[-1]
    assert whole is not None
    columns = np.empty(len(whole.columns), np.int32)
    columns[residues_of(aligner.sequences, whole.members)] = whole.columns
    return columns, whole.width


def _kept_before(kept: KeptResults | None) -> dict[int, Arrays]:
    """Return what was kept of groups and joins, by their nodes."""
    if kept is None:
        return {}
    results = [*kept.before("groups"), *kept.before("joins")]
    return {int(arrays["node"]): arrays for arrays in results}


def _kept_of(node: int, part: Part) -> tuple[Arrays, int]:
    """Return what is kept of a group or a join, and how many pairs' posteriors it took."""
    arrays: Arrays = {"node": np.array(node), "width": np.array(part.width)}
    if part.places is not None:
        first, second = part.places
        return {**arrays, "first": first, "second": second}, part.pairs
    return {**arrays, "columns": part.columns}, part.pairs


class Aligner:
    """Aligns groups and joins them; from any thread.

    Parameters
    ----------
    at_once : int, optional
        Groups and joins that there may be to do at a time. Default: as many as threads.

    Attributes
    ----------
    sequences, grouping
        Its own.
    threads : int
        That may do so at the same time within the memory.
    cells : int
        About how many cells there are.
    """

    def __init__(
        self,
        sequences: SequenceSet,
        grouping: Grouping,
        resources: Resources,
        at_once: int | None = None,
    ) -> None:
        self.sequences, self.grouping = sequences, grouping
        self._memory_bytes = bytes_of(resources)
        self._lengths = sequences.lengths.astype(np.int64)
        self._costs = profile_costs(sequences.alphabet)
        threads = min(resources.used_threads, self._most_threads())
        self.threads = min(threads, at_once or threads)
        self.cells = sum(map(self.group_cells, grouping.groups))
        self.cells += self.join_cells * len(grouping.joins)
        self._engine = open_posterior_engine(
            resources.device,
            PosteriorRequest(
                sequences,
                threads=threads // self.threads,
                part_threads=resources.used_threads,
                memory_bytes=self._memory_bytes,
                cells=self.cells,
                calls=self.threads,
            ),
        )

    @cached_property
    def join_cells(self) -> int:
        """About how many cells a join takes."""
        return int(REPRESENTATIVES**2 * self._lengths.mean() ** 2)

    def group_cells(self, members: Indices) -> int:
        """About how many cells a group takes: each sequence is at one level of a tree in two."""
        pairs = PARTNERS * len(members) * len(members).bit_length() // 2
        return int(pairs * self._lengths[members].mean() ** 2)

    def _most_threads(self) -> int:
        """Return how many groups may be aligned at a time within the memory, one or more."""
        most = min(MOST_CELLS, 16 * int(self._lengths.max()) ** 2)
        most = max(most, self._join_bytes, *map(self.group_bytes, self.grouping.groups))
        return max(1, self._memory_bytes // most)

    @property
    def _join_bytes(self) -> int:
        longest = int(self._lengths.max())
        entries = REPRESENTATIVES**2 * longest * _ENTRIES_A_RESIDUE
        return entries * (ENTRY_BYTES + 16) + thread_bytes(longest, longest)

    def group_bytes(self, members: Indices) -> int:
        """About how much memory a group takes."""
        longest = int(self._lengths[members].max())
        residues = shorter_residues(self._lengths[members])
        entries = residues * _ENTRIES_A_RESIDUE * (ENTRY_BYTES + 16)
        return entries + thread_bytes(longest, longest)

    def cancel(self) -> None:
        """Stop what is going on in other threads."""
        self._engine.cancel()

    def close(self) -> None:
        """Give the engine back."""
        self._engine.close()

    def align(self, members: Indices, tree: GuideTree, before: Arrays | None = None) -> Part:
        """Align a group along its tree, or take what was kept of it."""
        leaves = np.array(tree.leaves(), np.int64)
        if before is not None:
            return Part(members[leaves], before["columns"], int(before["width"]))
        if len(members) == 1:
            width = int(self._lengths[members[0]])
            return Part(members, np.arange(width, dtype=np.int32), width)
        order = np.concatenate((leaves[::2], leaves[1::2]))  # a clade has some of either half
        place = np.append(np.argsort(order), np.arange(len(order), tree.root + 1))
        children = place[tree.children]
        first, second = pairs_along(children)
        posteriors = self._posteriors(members[order[first]], members[order[second]])
        local = replace(posteriors, queries=first, targets=second)
        lengths = self.sequences.lengths[members[order]]
        with closing(PosteriorGraph(lengths, local)) as graph:
            del posteriors, local
            columns, width = graph.align(children, tree_weights(tree)[order], 0)
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        places = _ranges(starts[place[leaves]], lengths[place[leaves]])
        return Part(members[leaves], columns[places], width, pairs=len(first))

    def join(self, one: Part, other: Part, before: Arrays | None = None) -> Part:
        """Join two parts by the posteriors between representatives, or by what was kept."""
        # Pairs with a common query are computed together: there shall be few queries.
        one, other = sorted((one, other), key=lambda part: len(part.members))
        if before is not None:
            pairs, places = 0, (before["first"], before["second"])
            width = int(before["width"])
        else:
            pairs, places, width = self._places(one, other)
        return Part(
            np.concatenate((one.members, other.members)),
            np.concatenate((places[0][one.columns], places[1][other.columns])),
            width,
            pairs=pairs,
            places=places,
        )

    def _places(
        self, one: Part, other: Part
    ) -> tuple[int, tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]], int]:
        """Return how many pairs it took, where the columns of both are in the join, its width."""
        (first, first_starts), (second, second_starts) = (
            self._representatives(part) for part in (one, other)
        )
        queries, targets = np.repeat(first, len(second)), np.tile(second, len(first))
        pair_posteriors = self._posteriors(queries, targets)
        count = np.diff(pair_posteriors.offsets)
        rows = np.repeat(np.repeat(first_starts, len(second)), count) + pair_posteriors.rows
        columns = np.repeat(np.tile(second_starts, len(first)), count) + pair_posteriors.columns
        posteriors = one.columns[rows], other.columns[columns], pair_posteriors.values
        if self._costs is None or one.width * other.width > MOST_CELLS:
            *places, width = join_columns(*posteriors, (one.width, other.width))
        else:
            sides = self._side(one), self._side(other)
            *places, width = join_profiles(*sides, self._costs, posteriors, len(queries))
        return len(queries), (places[0], places[1]), width

    def _side(self, part: Part) -> Side:
        lengths = self._lengths[part.members]
        return Side(
            self.sequences.codes[residues_of(self.sequences, part.members)],
            part.columns,
            np.concatenate(([0], np.cumsum(lengths))),
            part.width,
        )

    def _representatives(self, part: Part) -> tuple[Indices, Indices]:
        """Return some of the sequences of a part, and where their residues begin in it."""
        count = len(part.members)
        chosen_count = min(count, REPRESENTATIVES)
        places = (2 * np.arange(chosen_count) + 1) * count // (2 * chosen_count)
        starts = np.concatenate(([0], np.cumsum(self._lengths[part.members])))
        return part.members[places], starts[places]

    def _posteriors(self, queries: Indices, targets: Indices) -> SparsePosteriors:
        posteriors = self._engine.compute(queries.astype(np.int32), targets.astype(np.int32))
        needed_bytes = len(posteriors.rows) * ENTRY_BYTES
        if needed_bytes > self._memory_bytes:
            raise CapacityError(
                f"{self.sequences.source}: the posteriors of a group with "
                f"{self.sequences.record(int(queries[0]))} need {needed_bytes >> 20:,} MiB of "
                f"memory, {self._memory_bytes >> 20:,} MiB are allowed; allow more with "
                f"{spelled('memory')}",
                needed_bytes,
                self._memory_bytes,
            )
        return posteriors


def shorter_residues(lengths: npt.NDArray[np.int32 | np.int64]) -> int:
    """Return the residues of the shorter sequences of all pairs."""
    rising = np.sort(lengths.astype(np.int64))
    return int((rising * np.arange(len(rising))[::-1]).sum())


def pairs_along(
    children: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the pairs by which sequences are aligned along a tree, in ascending order.

    At a merge of one sequence with others all pairs. Else pairs of a sequence of the first half of
    all and one of the second: pairs with a common query are computed together, so there shall be
    few queries. Each sequence of the larger side has `PARTNERS` on the other.

    Parameters
    ----------
    children : ndarray of int64, shape (n-1, 2)
        As a `pairalign.trees.tree.GuideTree` has them; below each there are sequences of both
        halves.

    Returns
    -------
    first, second : ndarray of int32, shape (pairs,)
        Of each pair the earlier sequence, and the later one.
    """
    count = len(children) + 1
    half = (count + 1) // 2
    below = [[leaf] for leaf in range(count)]
    pairs: list[tuple[int, int]] = []
    for left, right in children.tolist():
        few, many = sorted((below[left], below[right]), key=len)
        below.append(below[left] + below[right])
        if len(few) == 1:
            pairs += [(few[0], sequence) for sequence in many]
            continue
        for early in (True, False):
            sequences = [s for s in many if (s < half) == early]
            pairs += _in_turn(sequences, [s for s in few if (s < half) != early])
    ends = np.sort(np.array(pairs), axis=1)
    first, second = np.divmod(np.sort(ends[:, 0] * count + ends[:, 1]), count)
    return first.astype(np.int32), second.astype(np.int32)


def _in_turn(sequences: list[int], partners: list[int]) -> list[tuple[int, int]]:
    """Return pairs of each sequence with evenly spaced partners, of which each takes its turn."""
    turns = min(PARTNERS, len(partners))
    return [
        (sequence, partners[(begin + turn * len(partners) // turns) % len(partners)])
        for place, sequence in enumerate(sequences)
        for begin in [place * len(partners) // len(sequences)]
        for turn in range(turns)
    ]


def residues_of(sequences: SequenceSet, members: Indices) -> Indices:
    """Return the places of the residues of some sequences, one after the other.

    Parameters
    ----------
    members : ndarray of int64
        Input indices.
    """
    return _ranges(sequences.offsets[members], sequences.lengths[members])


def _ranges(starts: Indices, lengths: npt.NDArray[np.int32]) -> Indices:
    """Return the numbers from each start, as many as it has, one after the other."""
    ends = np.cumsum(lengths, dtype=np.int64)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(int(ends[-1]))
