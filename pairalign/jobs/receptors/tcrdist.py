"""TCRdist of sets of receptors: ``cpu/near/tcrdist.h``, within a limit also on GPUs.

Residues opposite one another cost ``min(4, 4 - BLOSUM62)``, 0 if they are the same, and one in a
gap costs 4. CDR3 counts three times; its first 3 and last 2 residues cost nothing, and its gap is
where the distance is the least, 5 residues or more from both ends. Other loops count once; where
they have no gaps that align them, the gap comes after 6 residues at most. Residues other than the
20 amino acids, and gaps that align loops, cost nothing. These are the defaults of tcrdist3.

References
----------
Dash P, Fiore-Gartland AJ, Hertz T, et al. Quantifiable predictive features define epitope-specific
T cell receptor repertoires. Nature 547:89-93, 2017.
Mayer-Blackwell K, Schattgen S, Cohen-Lavi L, et al. TCR meta-clonotypes for biomarker discovery
with tcrdist3. eLife 10:e68605, 2021.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Bools, Int32s, UInt8s
from pairalign.base.error_types import (
    AlphabetError,
    CapacityError,
    DistanceError,
    FastaError,
    ScoringError,
)
from pairalign.base.native import Struct, library, struct_fields
from pairalign.base.spelling import spelled
from pairalign.engines import Engine
from pairalign.engines.cpu.cpu_engine import instruction_set_of
from pairalign.engines.cpu.native_structs import DONE, NativeWindow
from pairalign.engines.cpu.near_pairs import (
    PAIRS_AT_ONCE,
    NearPairs,
    Part,
    gather_pairs,
    take_pairs,
)
from pairalign.jobs.commands.planning import files_of
from pairalign.jobs.receptors.receptors import (
    CDR3,
    RESIDUES,
    Loops,
    ReceptorSet,
    Region,
    checked_v_genes,
    read_receptors,
    read_v_genes,
    receptors_of,
)
from pairalign.jobs.run.inputs import ProblemRequest, Sequences, read_sets
from pairalign.jobs.run.procedure import PlainProcedure, PlannedJob
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window
from pairalign.requests.distance_request import DistanceOptions
from pairalign.scoring.matrices import load_table
from pairalign.scoring.scoring import make_scoring
from pairalign.scoring.scoring_request import ScoringRequest
from pairalign.sequences.airr import are_of_airr
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.block_set import BlockSet
from pairalign.sequences.python_sequences import is_table, titles_of
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.engines.cuda.cuda_tcrdist import TcrKernel
    from pairalign.jobs.stages.threshold_engine import Steps

_MOST_COST = _GAP = 4
_CDR3_WEIGHT, _CDR3_FIRST, _CDR3_LAST = 3, 3, 2
_MOST_DISTANCE = 2**30


class NativeRegion(Struct):
    """A region of all receptors: ``pairalign_region``."""

    _fields_ = struct_fields(
        "pointer row_codes column_codes row_starts column_starts; int32 weight gap left_out_first "
        "left_out_last has_fixed_gap padding"
    )


@cache
def _costs() -> UInt8s:
    """Return what codes of regions cost opposite one another."""
    scores = load_table("BLOSUM62").scores
    costs = np.zeros((len(RESIDUES) + 1,) * 2, np.uint8)
    for row, first in enumerate(RESIDUES):
        for column, second in enumerate(RESIDUES):
            if row != column:
                costs[row, column] = min(_MOST_COST, _MOST_COST - int(scores[first, second]))
    return costs


class TcrDistances:
    """TCRdist of the pairs of a set of receptors, or of two.

    Parameters
    ----------
    queries, targets : ReceptorSet or BlockSet of one
        `targets` is None for every pair of `queries`.
    instruction_set : str or None
        As for `CpuEngine`.

    Raises
    ------
    DistanceError
        The receptors of one set have other regions than those of the other.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet | None,
        threads: int = 1,
        instruction_set: str | None = None,
    ) -> None:
        self._one_set = targets is None
        sets = (queries,) if targets is None else (queries, targets)
        sides = [_sorted_regions(sequences) for sequences in sets]
        if not _are_alike(sides[0], sides[-1]):
            set_sides = zip(sets, sides, strict=True)
            said = "; ".join(
                f"{sequences.source} has {_described(side)}" for sequences, side in set_sides
            )
            raise DistanceError(f"{said}: two sets of receptors have the same regions")
        self._orders = sets[0].order, sets[-1].order
        self._threads = threads
        self._set = instruction_set_of(instruction_set).encode()
        self._costs = _costs()
        pairs = [*zip(sides[0], sides[-1], strict=True)]
        self._arrays = [
            (rows.codes, columns.codes, rows.offsets, columns.offsets) for rows, columns in pairs
        ]  # what the structs point to
        regions = (
            _native(rows.name, arrays)
            for (rows, _), arrays in zip(pairs, self._arrays, strict=True)
        )
        self._regions = (NativeRegion * len(pairs))(*regions)

    def of_window(self, window: Window) -> Int32s:
        """Return the distances of the pairs of a window, in its order.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        distances = np.empty(window.pairs, np.int32)
        status = library.pairalign_tcrdist(
            *self._asked(window), self._threads, self._set, distances
        )
        if status != DONE:
            raise CapacityError("out of memory for TCRdist")
        return distances

    def within(
        self,
        limit: int,
        progress: Callable[[int], None] = lambda pairs: None,
        memory_bytes: int | None = None,
        found: Iterable[Part] | None = None,
    ) -> NearPairs:
        """Find pairs whose distance is at most `limit`, which is 0 or more.

        Parameters
        ----------
        progress, memory_bytes
            As for `pairalign.engines.cpu.near_pairs.pairs_within_drop`.
        found : iterable, optional
            The pairs, as they are found on GPUs; default: on cores.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        parts = self._near(min(limit, _MOST_DISTANCE), progress) if found is None else found
        return gather_pairs(parts, len(self._orders[0]), memory_bytes)

    def kernel(self, limit: int) -> TcrKernel:
        """Return what finds the pairs within a limit on GPUs."""
        from pairalign.engines.cuda.cuda_tcrdist import REGION, TcrKernel

        regions = np.frombuffer(memoryview(self._regions), REGION)
        most = min(limit, _MOST_DISTANCE)
        return TcrKernel(
            regions, self._arrays, self._costs, most, self._orders, one_set=self._one_set
        )

    def _near(
        self, limit: int, progress: Callable[[int], None]
    ) -> Iterator[tuple[Int32s, Int32s, Int32s]]:
        count, width = map(len, self._orders)
        at_once = max(512 * self._threads, PAIRS_AT_ONCE // max(width, 1))
        for start in range(0, count, at_once):
            stop = min(start + at_once, count)
            window = Window(0, start, stop, 0, width, triangular=self._one_set)
            handle = library.pairalign_near_tcrdist(
                *self._asked(window), limit, self._threads, self._set
            )
            yield take_pairs(handle, self._orders, one_set=self._one_set)
            progress(window.pairs)

    def _asked(self, window: Window) -> tuple[object, ...]:
        regions = self._regions, len(self._regions)
        return *regions, self._costs, NativeWindow.of(window)


def _sorted_regions(sequences: SequenceSet) -> list[Region]:
    """Return the regions of a set by sorted position."""
    order = sequences.order
    whole = sequences
    if isinstance(sequences, BlockSet):
        whole, order = sequences.whole, sequences.indices[order]
    assert isinstance(whole, ReceptorSet)
    return [region.taken(order) for region in whole.regions]


def _are_alike(first: list[Region], second: list[Region]) -> bool:
    """Whether regions are the same, of the same loci where these are known."""
    names = [[(region.chain, region.name) for region in side] for side in (first, second)]
    pairs = zip(first, second, strict=False)
    return names[0] == names[1] and all(
        region.locus == other.locus or "" in (region.locus, other.locus) for region, other in pairs
    )


def _described(regions: list[Region]) -> str:
    return ", ".join(f"{region.name.upper()} of {region.locus or 'a chain'}" for region in regions)


def _native(name: str, arrays: tuple[npt.NDArray[Any], ...]) -> NativeRegion:
    if name == CDR3:
        ends = _CDR3_FIRST, _CDR3_LAST
        return NativeRegion(*arrays, _CDR3_WEIGHT, _CDR3_WEIGHT * _GAP, *ends, 0)
    return NativeRegion(*arrays, 1, _GAP, 0, 0, 1)


GivenGenes = str | os.PathLike[str] | Loops
"""A table of loops by V gene, or the loops."""


class _ReceptorEngine(WrappedEngine):
    """Measures TCRdist, as raw scores; the engine that it wraps does nothing.

    Parameters
    ----------
    problem : Problem
        Its sets are `pairalign.jobs.receptors.receptors.ReceptorSet` or blocks of one.
    """

    def __init__(self, engine: Engine, problem: Problem, threads: int) -> None:
        super().__init__(engine)
        self._problem = problem
        self._distances = TcrDistances(problem.queries, problem.targets, threads)

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Measure the pairs of `window`; see `pairalign.engines.Engine`."""
        problem, values = self._problem, self._distances.of_window(window)
        rows, columns = window.positions()
        if pair_mask is not None:
            rows, columns, values = rows[pair_mask], columns[pair_mask], values[pair_mask]
        query, target = problem.queries.order[rows], problem.others.order[columns]
        if problem.is_one_set:
            query, target = np.minimum(query, target), np.maximum(query, target)
        return Alignments(
            queries=problem.queries,
            targets=problem.others,
            scoring=problem.scoring,
            query=query,
            target=target,
            raw_score=values,
        )


class ReceptorProcedure(PlainProcedure):
    """Measures receptors instead of aligning them."""

    def wrap(
        self, engines: Sequence[Engine], job: PlannedJob
    ) -> tuple[Sequence[Engine], Steps | None]:
        """Put one engine that measures in the place of all."""
        for engine in engines[1:]:
            engine.close()
        problem = Problem(job.queries, job.targets, job.scoring)
        return [_ReceptorEngine(engines[0], problem, job.threads)], None


def read_receptor_problem(wanted: ProblemRequest, v_genes: GivenGenes | None = None) -> Problem:
    """Read the receptors of one set, or of two.

    Parameters
    ----------
    wanted : ProblemRequest
        Its scoring says nothing; `sequences` may be a DataFrame with the columns of AIRR.
    v_genes : path or mapping, optional

    Returns
    -------
    Problem
        Of `ReceptorSet`; its scoring is not used.

    Raises
    ------
    FastaError
        A file cannot be read, or something of a receptor is not known.
    AlphabetError
        Another alphabet than that of proteins is named.
    ScoringError
        A scoring is given.
    """
    if wanted.reading.known_alphabet not in (None, PROTEIN, PROTEIN.name):
        raise AlphabetError("TCRdist is of proteins: leave alphabet out")
    if wanted.scoring not in (None, ScoringRequest()):
        raise ScoringError("TCRdist has costs of its own: leave scoring out")
    loops = None if v_genes is None else _loops_of(v_genes)
    queries = _receptors(wanted, loops)
    if wanted.targets is None:
        return Problem(queries, None, make_scoring(PROTEIN))
    second = wanted._replace(
        sequences=wanted.targets, targets=None, reading=replace(wanted.reading, also=())
    )
    return Problem(queries, _receptors(second, loops), make_scoring(PROTEIN))


def remark_on(problem: Problem) -> str:
    """Return what is to be said of the receptors that were read."""
    assert isinstance(problem.queries, ReceptorSet)
    return problem.queries.remark


def read_receptor_files(request: DistanceOptions) -> Problem:
    """Read the receptors of ``IN`` and ``IN2``; see `read_receptor_problem`."""
    wanted = ProblemRequest(*files_of(request), request.reading)
    return read_receptor_problem(wanted, request.v_genes)


def _loops_of(genes: GivenGenes) -> Loops:
    return read_v_genes(genes) if isinstance(genes, (str, os.PathLike)) else checked_v_genes(genes)


def _receptors(request: ProblemRequest, loops: Loops | None) -> ReceptorSet:
    sequences = request.sequences
    is_airr = is_table(sequences) and are_of_airr(titles_of(sequences))
    if is_airr or isinstance(sequences, (str, os.PathLike)):
        rules = request.reading
        return read_receptors([sequences, *rules.also], rules.loci, loops, rules)
    if loops is not None:
        raise FastaError(f"{spelled('v_genes')} is for AIRR tables: other sequences are CDR3s")
    plain_sequences: Sequences = sequences
    cdr3s, _ = read_sets(
        ProblemRequest(plain_sequences, reading=replace(request.reading, alphabet=PROTEIN))
    )
    return receptors_of(cdr3s)
