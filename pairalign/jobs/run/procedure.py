"""What the engines of a job do with its pairs, besides aligning them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from pairalign.base.choices import STRANDS
from pairalign.engines import Engine
from pairalign.pairs.want import Detail
from pairalign.pairs.windows import Window

_MOST_OF_A_PAIR = 2**20

if TYPE_CHECKING:
    from pairalign.alignments.problem import Problem
    from pairalign.alignments.thresholds import PairThresholds
    from pairalign.engines.cpu.seed_index import SeedIndex
    from pairalign.jobs.stages.threshold_engine import Requirement, Steps
    from pairalign.pairs.lists import PairList
    from pairalign.pairs.want import Demand, Want
    from pairalign.scoring.scoring import Scoring
    from pairalign.sequences.sets import SequenceSet
    from pairalign.statistics.significance import EvalueFilter


class PlannedJob(Protocol):
    """What a procedure asks of a `pairalign.jobs.run.align.AlignmentJob`."""

    queries: SequenceSet
    targets: SequenceSet | None
    scoring: Scoring
    want: Want
    threads: int
    window: int
    memory_bytes: int
    pair_thresholds: PairThresholds
    evalue_filter: EvalueFilter | None
    demand: Demand | None
    pair_list: PairList | None
    only: tuple[int, int] | None
    strand: str

    @property
    def problem(self) -> Problem:
        """What is aligned with what."""
        ...

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        ...

    @property
    def cells(self) -> int:
        """Cells of all dynamic programming matrices."""
        ...


class Procedure(Protocol):
    """What is done with the pairs of a job; a job is planned with one and asks it.

    Attributes
    ----------
    is_by_pair : bool
        Whether a pair has the same result in any sets, so that a job may be cut into several.
    most_of_pair : int
        Alignments that results may have of a pair.
    """

    is_by_pair: ClassVar[bool]
    most_of_pair: int

    def detail(self, want: Detail, thresholds: PairThresholds, mode: str) -> Detail:
        """Return the detail that engines compute where one is wanted of each pair."""
        ...

    def fills(self, job: PlannedJob) -> int:
        """Return how often the matrix of a pair is filled: once a strand that is looked at."""
        ...

    def chooses(self, job: PlannedJob) -> bool:
        """Whether all pairs are looked at, and only some of them aligned."""
        ...

    def engines_per_gpu(self, job: PlannedJob) -> int | None:
        """Return how many engines share a GPU; None: as many as keep it busy."""
        ...

    def wrap(
        self, engines: Sequence[Engine], job: PlannedJob
    ) -> tuple[Sequence[Engine], Steps | None]:
        """Have engines do what is asked of pairs; also return what counts the steps of that."""
        ...

    def join(
        self, slabs: Iterable[Window], engines: int, fits: Callable[[Window], bool], job: PlannedJob
    ) -> Iterable[Window]:
        """Join slabs of a GPU where engines put results in order, as far as joined ones fit."""
        ...

    @property
    def index(self) -> SeedIndex | None:
        """What finds pairs, after `wrap`, where all are looked at; None: nothing does."""
        ...

    def close(self) -> None:
        """Close what `wrap` has opened; the engines are closed already."""
        ...


def requirement_of(job: PlannedJob) -> Requirement:
    """Return what the pairs of a job must reach."""
    from pairalign.jobs.stages.threshold_engine import Requirement

    return Requirement(
        job.problem,
        job.pair_thresholds,
        job.want.min_raw_score,
        job.threads,
        both_strands=job.strand == STRANDS[1],
        are_all=job.pair_list is None and job.only is None,
        demand=job.demand,
    )


class PlainProcedure:
    """Strands, E-values and thresholds, as the fields of the job say."""

    is_by_pair: ClassVar[bool] = True
    most_of_pair = 1

    def __init__(self) -> None:
        self.index: SeedIndex | None = None

    def detail(self, want: Detail, thresholds: PairThresholds, mode: str) -> Detail:
        """Return what engines compute: identities need counts."""
        return max(want, thresholds.detail(mode))

    def fills(self, job: PlannedJob) -> int:
        """Return how many strands are looked at."""
        return 2 if job.strand == STRANDS[1] else 1

    def chooses(self, job: PlannedJob) -> bool:
        """Whether there are thresholds, or a least score."""
        return job.want.min_raw_score is not None or bool(job.pair_thresholds)

    def engines_per_gpu(self, job: PlannedJob) -> int | None:
        """Return None: as many as keep a GPU busy."""
        return None

    def wrap(
        self, engines: Sequence[Engine], job: PlannedJob
    ) -> tuple[Sequence[Engine], Steps | None]:
        """Wrap engines in the stages that the job asks for."""
        sets = job.queries, job.targets
        if job.strand == STRANDS[1]:
            from pairalign.jobs.stages.strand_engine import StrandEngine

            engines = [StrandEngine(engine) for engine in engines]
        if job.evalue_filter is not None:
            from pairalign.jobs.stages.evalue_engine import EvalueEngine

            threads = max(1, job.threads // len(engines))
            engines = [
                EvalueEngine(engine, job.evalue_filter, *sets, threads) for engine in engines
            ]
        steps: Steps | None = None
        if self.chooses(job):
            from pairalign.jobs.stages.threshold_engine import skip_where_it_pays

            engines, steps, self.index = skip_where_it_pays(engines, requirement_of(job))
        engines = self._give_more(engines, job)
        if self.index is not None:
            from pairalign.jobs.run.seeded_slabs import join_results

            engines = join_results(engines, sets, job.window)
        return engines, steps

    def _give_more(self, engines: Sequence[Engine], job: PlannedJob) -> Sequence[Engine]:
        """Have engines give more than the best alignment of a pair; here they do not."""
        return engines

    def join(
        self, slabs: Iterable[Window], engines: int, fits: Callable[[Window], bool], job: PlannedJob
    ) -> Iterable[Window]:
        """Return the slabs as they are: these engines give results in the order of one window."""
        return slabs

    def close(self) -> None:
        """Close nothing: engines have it all."""
        self.index = None


class SuboptimalProcedure(PlainProcedure):
    """Gives several local alignments of a pair, see `pairalign.jobs.stages.hsps_engine`.

    Parameters
    ----------
    most : int
        Of a pair.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most_of_pair = min(most, _MOST_OF_A_PAIR)

    def detail(self, want: Detail, thresholds: PairThresholds, mode: str) -> Detail:
        """Return what engines compute: the next best alignment avoids the residue pairs of all."""
        return Detail.CIGAR

    def _give_more(self, engines: Sequence[Engine], job: PlannedJob) -> Sequence[Engine]:
        from pairalign.jobs.stages.hsps_engine import add_suboptimal

        kept = job.pair_thresholds, job.evalue_filter
        return add_suboptimal(engines, self.most_of_pair, job.problem, kept, job.threads)


class AccuracyProcedure(PlainProcedure):
    """Aligns with the highest expected accuracy.

    Parameters
    ----------
    device : str
        Where posteriors are computed; the job's own engines are not used.
    """

    is_by_pair = False  # posteriors are opened for the sets as a whole

    def __init__(self, device: str) -> None:
        super().__init__()
        self._device = device

    def wrap(
        self, engines: Sequence[Engine], job: PlannedJob
    ) -> tuple[Sequence[Engine], Steps | None]:
        """Put one engine for posteriors in the place of all."""
        from pairalign.engines.posterior_engines import PairPosteriors
        from pairalign.jobs.stages.expected_accuracy import AccuracyEngine

        posteriors = PairPosteriors(
            job.queries,
            job.problem.others,
            device=self._device,
            threads=job.threads,
            memory_bytes=job.memory_bytes,
            cells=job.cells,
        )
        for engine in engines[1:]:
            engine.close()
        return [AccuracyEngine(engines[0], posteriors, job.problem, job.pair_thresholds)], None
