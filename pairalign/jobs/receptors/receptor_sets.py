"""Immune receptors whose distances are computed: files, tables and CDR3s become sets of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.base.error_types import AlphabetError, FastaError, ScoringError
from pairalign.base.spelling import spelled
from pairalign.engines import Engine
from pairalign.jobs.commands.planning import files_of
from pairalign.jobs.receptors.receptors import (
    Loops,
    ReceptorSet,
    checked_v_genes,
    read_receptors,
    read_v_genes,
    receptors_of,
)
from pairalign.jobs.receptors.tcrdist import TcrDistances
from pairalign.jobs.run.inputs import ProblemRequest, Sequences, read_sets
from pairalign.jobs.run.procedure import PlainProcedure, PlannedJob
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window
from pairalign.requests.distance_request import DistanceOptions
from pairalign.scoring.scoring import make_scoring
from pairalign.scoring.scoring_request import ScoringRequest
from pairalign.sequences.airr import are_of_airr
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.python_sequences import is_table, titles_of

if TYPE_CHECKING:
    from pairalign.jobs.stages.threshold_engine import Steps

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

    def align(
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
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
    second = replace(
        wanted, sequences=wanted.targets, targets=None, reading=replace(wanted.reading, also=())
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
