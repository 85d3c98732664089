"""Posteriors of all pairs of a set, as a stream of pieces in the order of the pairs.

Pairs (i, j), i < j, come row by row in the order of the input; i is the query. A piece is whole
pairs, and where it ends follows from the lengths of the sequences alone: neither threads nor
memory change what is written.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments import posteriors
from pairalign.alignments.posteriors import join_posteriors, posteriors_of
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.choices import LEAST_POSTERIOR_THRESHOLD, POSTERIOR_THRESHOLD
from pairalign.base.error_types import CapacityError, FastaError, ScoringError
from pairalign.base.function_options import takes
from pairalign.base.spelling import spelled
from pairalign.engines.cpu.cpu_posterior import thread_bytes
from pairalign.engines.posterior_computer import PosteriorComputer, PosteriorRequest
from pairalign.engines.posterior_engines import (
    BATCHES,
    CALLS,
    Pairs,
    check_device,
    compute_pieces,
    open_posterior_engine,
)
from pairalign.jobs.posterior.posterior_request import PosteriorArguments, PosteriorOptions
from pairalign.jobs.posterior.posteriors_result import SparsePosteriors
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import Sequences, read_one_set
from pairalign.jobs.run.kept_results import KeptResults
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.progress import Progress, show_progress
from pairalign.pairs.windows import cells_of_all
from pairalign.requests.resources import Resources
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from typing_extensions import Unpack

PIECE_RESIDUES = 1 << 15
"""Residues of queries in a piece, at most: with 20 entries a residue, 7 MB of arrays."""

_ENTRY_BYTES = 40  # as it is found, in arrays, and in those of the call before
_ARRAYS_BYTES = 10  # in arrays alone: what a GPU hands over
_ENTRIES_A_RESIDUE = 20  # with the threshold below
_MORE_ENTRIES = 0.6  # power of the threshold with which they become more below it


class PosteriorJob:
    """A planned computation of the posteriors of all pairs of a set.

    Parameters
    ----------
    sequences : SequenceSet
        Two or more.
    resources : Resources
        Fewer threads are used where memory does not allow as many.
    threshold : float
        Posteriors below are left out; from 0.001 to 1.
    pairs : (ndarray of int32, ndarray of int32), optional
        Input indices of the sequences of each pair. Default: all (i, j), i < j.
    kept : KeptResults, optional
        What was computed before comes from there, and what is computed is kept there.
    phase : str
        What it is kept as.
    match_states : int
        Of the pair HMM of proteins; see `posterior_model`.

    Raises
    ------
    FastaError
        There are less than two sequences.
    ScoringError
        The threshold is out of bounds.
    DeviceError
        Posteriors are not computed on such a device.
    CapacityError
        The pair of the two longest sequences needs more memory than allowed.
    """

    def __init__(
        self,
        sequences: SequenceSet,
        resources: Resources,
        *,
        threshold: float = POSTERIOR_THRESHOLD,
        pairs: Pairs | None = None,
        kept: KeptResults | None = None,
        phase: str = "posteriors",
        match_states: int = 1,
    ) -> None:
        if len(sequences) < 2:
            raise FastaError(
                f"{sequences.source}: {len(sequences)} sequence, expected two or more: posteriors "
                "are of pairs"
            )
        if not LEAST_POSTERIOR_THRESHOLD <= threshold <= 1:
            raise ScoringError(
                f"threshold of posteriors {threshold:g}, expected "
                f"{LEAST_POSTERIOR_THRESHOLD:g} to 1"
            )
        check_device(resources.device)
        self.sequences = sequences
        self.threshold = threshold
        self._resources = resources
        self._chosen = pairs
        self._kept, self._phase = kept, phase
        self._match_states = match_states
        self._memory_bytes = bytes_of(resources)
        self._entries = (
            _ENTRIES_A_RESIDUE * max(1, POSTERIOR_THRESHOLD / threshold) ** _MORE_ENTRIES
        )
        self._piece_residues = max(1, int(PIECE_RESIDUES * _ENTRIES_A_RESIDUE / self._entries))
        self._threads, self._left = self._divide_memory(resources.used_threads)

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        if self._chosen is not None:
            return len(self._chosen[0])
        return len(self.sequences) * (len(self.sequences) - 1) // 2

    @property
    def cells(self) -> int:
        """Cells of the matrices of all pairs."""
        if self._chosen is None:
            return cells_of_all(self.sequences.lengths, None)
        lengths = self.sequences.lengths.astype(np.int64)
        return int((lengths[self._chosen[0]] * lengths[self._chosen[1]]).sum())

    def __iter__(self) -> Iterator[posteriors.SparsePosteriors]:
        """Compute; yield pieces in the order of the pairs.

        Raises
        ------
        DeviceError, KernelBuildError
        PartsError
            What was kept is damaged.
        """
        lengths = self.sequences.lengths.astype(np.int64)
        pieces = self._pieces(lengths)
        with show_progress(self.cells, self._resources.progress, doing="computing") as progress:

            def count(computed: posteriors.SparsePosteriors) -> None:
                cells = lengths[computed.queries] * lengths[computed.targets]
                progress.update(int(cells.sum()))

            for piece in self._before(pieces):
                yield piece
                count(piece)
            yield from self._computed(pieces, count)

    def _pieces(self, lengths: Int64s) -> Iterator[Pairs]:
        if self._chosen is None:
            return all_pieces(lengths, self._piece_residues)
        return _cut(lengths, self._chosen, self._piece_residues)

    def _before(self, pieces: Iterator[Pairs]) -> Iterator[posteriors.SparsePosteriors]:
        """Yield what was kept, and take the same pieces from those that there are to compute."""
        if self._kept is None:
            return
        for arrays in self._kept.before(self._phase):
            piece, pairs = posteriors_of(arrays), next(pieces, ())
            if not np.array_equal(pairs, (piece.queries, piece.targets)):
                raise self._kept.damaged("posteriors of other pairs")
            yield piece

    def _computed(
        self, pieces: Iterator[Pairs], count: Callable[[posteriors.SparsePosteriors], None]
    ) -> Iterator[posteriors.SparsePosteriors]:
        """Compute pieces, if any are left, and keep them."""
        first = next(pieces, None)
        if first is None:
            return
        pieces = itertools.chain([first], pieces)
        with closing(self._open()) as engine:
            for piece in compute_pieces(engine, pieces, self._most_at_once(engine), count):
                if self._kept is not None:
                    self._kept.add(self._phase, piece.arrays, len(piece))
                yield piece

    def _open(self) -> PosteriorComputer:
        request = PosteriorRequest(
            self.sequences,
            threshold=self.threshold,
            threads=self._threads,
            memory_bytes=self._memory_bytes,
            cells=self.cells,
            calls=CALLS,
            match_states=self._match_states,
            part_threads=self._resources.used_threads,
        )
        return open_posterior_engine(self._resources.device, request)

    def _most_at_once(self, engine: PosteriorComputer) -> int:
        """Return how many pieces to compute at a time, while those before are used."""
        piece = self._piece_residues * self._entries
        if engine.is_gpu:
            most = self._memory_bytes // (BATCHES * _ARRAYS_BYTES * piece)
        else:
            most = self._left // ((_ENTRY_BYTES + _ARRAYS_BYTES) * piece)  # and as it is written
        return max(1, min(engine.residues_at_once // self._piece_residues, int(most)))

    def _divide_memory(self, threads: int) -> tuple[int, int]:
        """Return how many threads fit the memory beside a piece, and the bytes that they leave."""
        sequences, memory_bytes = self.sequences, self._memory_bytes
        first, second = (int(index) for index in sequences.order[:2])
        longest, next_longest = (int(sequences.lengths[index]) for index in (first, second))
        residues = max(longest, min(self._residues_of_queries(), self._piece_residues))
        results = int(_ENTRY_BYTES * self._entries * residues)
        each = thread_bytes(longest, next_longest, self._match_states)
        if results + each > memory_bytes:
            pair = f"{sequences.record(first)} and {sequences.record(second)}"
            needed = results + each
            mebibytes = -(-needed >> 20)
            raise CapacityError(
                f"{sequences.source}: the posteriors of {pair} ({longest:,} and {next_longest:,} "
                f"residues) need {mebibytes:,} MiB of memory, {memory_bytes >> 20:,} MiB are "
                f"allowed; allow more with {spelled('memory')}",
                needed,
                memory_bytes,
            )
        fitting = max(1, min(threads, (memory_bytes - results) // each))
        return fitting, memory_bytes - fitting * each

    def _residues_of_queries(self) -> int:
        """Count the residues of the queries of all pairs."""
        lengths = self.sequences.lengths.astype(np.int64)
        if self._chosen is not None:
            return int(lengths[self._chosen[0]].sum())
        return int((lengths * np.arange(len(lengths))[::-1]).sum())


def _cut(lengths: Int64s, pairs: Pairs, piece_residues: int) -> Iterator[Pairs]:
    """Cut chosen pairs into pieces; a piece ends with the pair that fills it."""
    filled = np.cumsum(lengths[pairs[0]]) // piece_residues
    bounds = np.concatenate(([0], np.flatnonzero(np.diff(filled)) + 1, [len(filled)]))
    for start, stop in itertools.pairwise(bounds.tolist()):
        yield pairs[0][start:stop], pairs[1][start:stop]


def all_pieces(lengths: Int64s, piece_residues: int) -> Iterator[Pairs]:
    """Yield all pairs (i, j), i < j, of sequences of these lengths, cut into pieces."""
    count = len(lengths)
    queries: list[Int32s] = []
    targets: list[Int32s] = []
    residues = 0
    for query, length in enumerate(lengths[:-1].tolist()):
        start = query + 1
        while start < count:
            stop = min(count, start + max(1, (piece_residues - residues) // length))
            queries.append(np.full(stop - start, query, np.int32))
            targets.append(np.arange(start, stop, dtype=np.int32))
            residues += length * (stop - start)
            start = stop
            if residues + length > piece_residues:
                yield np.concatenate(queries), np.concatenate(targets)
                queries, targets, residues = [], [], 0
    if queries:
        yield np.concatenate(queries), np.concatenate(targets)


@takes(PosteriorArguments, PosteriorOptions)
def posterior(
    sequences: Sequences, *, progress: Progress = False, **options: Unpack[PosteriorArguments]
) -> SparsePosteriors:
    """Compute how likely each two residues of each pair are to be aligned.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        Two or more, as `pairalign.align` takes them.
    progress : bool or "lines"
        Show how far it is.

    Returns
    -------
    SparsePosteriors
        Of the pairs (0, 1), (0, 2), ..., (1, 2), ...

    Raises
    ------
    FastaError, ScoringError, DeviceError, CapacityError

    Notes
    -----
    The posterior of two residues is the root of the mean of the squares of two models' (see
    `pairalign.scoring.posterior_models`). The same bytes on every machine and for every number of
    threads. Time grows with the product of the lengths, memory of a thread with the longer times
    the root of the shorter one.

    References
    ----------
    Do CB, Mahabhashyam MSP, Brudno M, Batzoglou S. ProbCons: probabilistic consistency-based
    multiple sequence alignment. Genome Res 15:330-340, 2005.
    Liu Y, Schmidt B, Maskell DL. MSAProbs. Bioinformatics 26:1958-1964, 2010.
    """
    call = Call(posterior, options, sequences, progress=progress)
    request = call.request(PosteriorOptions, input="", alphabet="auto")
    job = PosteriorJob(
        read_one_set(sequences, options),
        replace(request.resources, progress=progress),
        threshold=request.threshold,
    )
    all_posteriors = join_posteriors(list(job))
    all_posteriors = replace(all_posteriors, sequences=job.sequences, threshold=job.threshold)
    return SparsePosteriors.of(all_posteriors)
