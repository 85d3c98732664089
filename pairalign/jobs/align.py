"""The main job: every pair of a set, or of one set against another, aligned."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from pairalign.alignments import Alignments, concatenate
from pairalign.arguments import Shard, check_shard
from pairalign.choices import DEFAULT_WINDOW
from pairalign.engines import Engine
from pairalign.engines.selection import open_engines, usable_cores
from pairalign.errors import FastaError
from pairalign.inputs import AnyScoring, Sequences, as_inputs
from pairalign.jobs import schedule
from pairalign.jobs.all_pairs import AllPairs, PlannedPairs
from pairalign.jobs.handing_out import HandingEngine, Users
from pairalign.jobs.limits import check_lengths, check_top, whole_number
from pairalign.jobs.listed_pairs import ListedEngine, ListedPairs
from pairalign.jobs.memory import default_bytes
from pairalign.jobs.progress import Progress, show_progress
from pairalign.jobs.slabs import result_bytes, share_of_letters, slab_bytes, slabs_ahead
from pairalign.jobs.spread import align_on
from pairalign.pair_lists import PairList, Pairs, as_pair_list, sort_pairs
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet
from pairalign.thresholds import PairThresholds, make_pair_thresholds, raw_minimum
from pairalign.want import Detail, Want
from pairalign.windows import Lengths, Window, default_window, plan_windows

if TYPE_CHECKING:
    from pairalign.jobs.threshold_engine import Steps
    from pairalign.significance import EvalueFilter

_MOST_THREADS = 4096
_MOST_ROWS = 2**31 - 1
_MOST_BYTES = 1 << 60


@dataclass
class AlignmentJob:
    """A planned job: what is aligned with what, on what; iterate over it for the results.

    Attributes
    ----------
    queries, targets : SequenceSet
        `targets` is None for every pair of `queries`.
    scoring : Scoring
    want : Want
    device : str
        See `pairalign.engines.selection.open_engines`.
    threads : int
    window : int
        Rows and columns of a window; it decides the order of the results.
    memory_bytes : int
        Host memory that engines and waiting results may use.
    progress : bool or "lines"
        Show on stderr how far it is: a bar on a terminal, else (or with ``"lines"``) a line every
        30 seconds.
    kernel : str or None
        A kernel instead of ``"auto"``, the best that can, see `open_engines`.
    pair_list : PairList or None
        Only these pairs are aligned.
    shard : (int, int) or None
        ``(3, 64)``: only the third of 64 parts of the order of output, which take about the same
        time; one after the other they are the whole.
    first_pair : int
        Pairs of the whole that come before the shard's, in the order of output.
    pairs_done : int
        Pairs of those planned whose results have been given.
    pair_thresholds : PairThresholds
        Identity and coverage that a pair must reach.
    steps : Steps or None
        How many pairs each step has left, of a job with thresholds or a least score.
    evalue_filter : EvalueFilter or None
        Only pairs that pass are given; to be set before the job is opened.
    top : int
        Local alignments of a pair, see `pairalign.jobs.top_engine`.

    Raises
    ------
    FastaError
        There is no pair.
    PairListError
        `pair_list` has a pair twice, or a sequence with itself.
    AlphabetError, ScoringError
        The sequences cannot be scored, or their scores would not fit; or `top` without mode local.
    ValueError
        `threads`, `window`, `memory_bytes` or `top` is not positive, or there is no such shard;
        TypeError: it is no whole number.

    Notes
    -----
    Leaving a ``for`` loop over a run early stops the work as soon as Python deletes the loop's
    iterator; ``with run.open() as results`` says when.
    """

    queries: SequenceSet
    targets: SequenceSet | None
    scoring: Scoring
    want: Want = field(default_factory=Want)
    device: str = "auto"
    threads: int = field(default_factory=usable_cores)
    window: int = DEFAULT_WINDOW
    memory_bytes: int = field(default_factory=default_bytes)
    progress: Progress = False
    kernel: str | None = None
    pair_list: PairList | None = None
    shard: Shard | None = None
    pair_thresholds: PairThresholds = field(default_factory=PairThresholds)
    top: int = 1
    steps: Steps | None = field(default=None, init=False)
    evalue_filter: EvalueFilter | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.targets is None and len(self.queries) < 2:
            raise FastaError(
                f"{self.queries.source}: one sequence only, '{self.queries.names[0]}'; "
                "a pair needs two (or give a second file)"
            )
        self.threads = whole_number("threads", self.threads, _MOST_THREADS)
        self.window = whole_number("window", self.window, _MOST_ROWS)
        self.memory_bytes = whole_number("memory_bytes", self.memory_bytes, _MOST_BYTES)
        self.top = check_top(self.top, self.scoring)
        for sequences in (self.queries, self.queries if self.targets is None else self.targets):
            check_lengths(sequences, self._detail)
        self.scoring.check_sets(self.queries, self.targets)
        other = self.queries if self.targets is None else self.targets
        self._planned = self._plan(
            self.queries.lengths[self.queries.order], other.lengths[other.order]
        )
        self.first_pair = 0
        self.pairs_done = 0
        if self.shard is not None:
            self.first_pair, stop = self._planned.shard_range(check_shard(self.shard))
            self._planned = self._planned.part(self.first_pair, stop)

    def _plan(self, rows: Lengths, columns: Lengths) -> PlannedPairs:
        """Return the pairs of the list, or all; lengths are by sorted position."""
        if self.pair_list is not None:
            pairs = sort_pairs(self.pair_list, self.queries, self.targets, self.window)
            return ListedPairs(pairs, rows, columns, triangular=self.targets is None)
        targets = None if self.targets is None else len(self.targets)
        return AllPairs(plan_windows(len(self.queries), targets, self.window), rows, columns)

    def skip(self, pairs: int) -> None:
        """Begin after so many pairs of those that were planned: they have been done before."""
        self._planned = self._planned.part(pairs, self.pairs)
        self.pairs_done = pairs

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self._planned)

    @property
    def left_out(self) -> int:
        """Pairs of the list that came again, and sequences with themselves."""
        return self._planned.left_out

    @property
    def cells(self) -> int:
        """Cells of all dynamic programming matrices."""
        return self._fills * self._planned.cells

    def __iter__(self) -> Iterator[Alignments]:
        """Align; yield the results in the order of output, some pairs at a time."""
        with self.open() as results:
            yield from results

    @contextmanager
    def open(self) -> Iterator[Iterator[Alignments]]:
        """Open the engines for a ``with`` block, in which the results come as from `__iter__`.

        Leaving the block, by an error too, ends the work and closes the engines.

        Yields
        ------
        iterator of Alignments
            The results in the order of output, some pairs at a time.
        """
        engines = self._open_engines()
        try:
            with closing(self._run(list(engines))) as results:
                yield results
        finally:
            self._close_engines(engines)

    def hand_out(self, use: Callable[[Alignments], None]) -> None:
        """Align; hand all results to `use`, on threads beside those of the engines.

        Parameters
        ----------
        use : callable
            Takes some pairs at a time, each pair once, in any order and from several threads at
            once. What it raises ends the work and is raised here.
        """
        engines = self._open_engines()
        try:
            with Users(use) as users:
                handing = [HandingEngine(engine, users) for engine in engines]
                with closing(self._run(list(handing), in_order=False)) as results:
                    for _ in results:
                        pass
        finally:
            self._close_engines(engines)

    def _close_engines(self, engines: Iterable[Engine]) -> None:
        for engine in engines:
            engine.close()

    def _open_engines(self) -> Sequence[Engine]:
        engines = open_engines(
            self.device,
            self.queries,
            self.targets,
            self.scoring,
            threads=self.threads,
            memory_bytes=self.memory_bytes,
            kernel=self.kernel,
            detail=self._detail,
        )
        try:
            return self._wrap_engines(engines)
        except BaseException:
            for engine in engines:
                engine.close()
            raise

    def _wrap_engines(self, engines: Sequence[Engine]) -> Sequence[Engine]:
        """Have engines do what is asked of pairs: E-values, thresholds, only those of a list."""
        if self.evalue_filter is not None:
            from pairalign.jobs.evalue_engine import EvalueEngine

            sets = self.queries, self.targets
            engines = [EvalueEngine(one, self.evalue_filter, *sets) for one in engines]
        engines = self._with_thresholds(engines)
        if self.top > 1:
            from pairalign.jobs.top_engine import add_further

            sets, kept = (self.queries, self.targets), (self.pair_thresholds, self.evalue_filter)
            engines = add_further(engines, self.top, sets, self.scoring, kept, self.threads)
        if not isinstance(self._planned, ListedPairs):
            return engines
        return [ListedEngine(engine, self._planned) for engine in engines]

    def _with_thresholds(self, engines: Sequence[Engine]) -> Sequence[Engine]:
        """Wrap engines so that they skip pairs which cannot reach what is asked for."""
        from pairalign.jobs.threshold_engine import skip_where_it_pays

        engines, self.steps = skip_where_it_pays(
            engines,
            (self.queries, self.targets),
            self.scoring,
            self.pair_thresholds,
            self.want.min_raw_score,
            self.threads,
        )
        return engines

    @property
    def _detail(self) -> Detail:
        """What engines compute: identities need counts, further alignments CIGARs."""
        if self.top > 1:
            return Detail.CIGAR
        return max(self.want.detail, self.pair_thresholds.detail(self.scoring.mode))

    @property
    def _chooses(self) -> bool:
        """Whether all pairs are looked at, and only some of them aligned."""
        return self.want.min_raw_score is not None or bool(self.pair_thresholds)

    def _run(
        self, engines: list[Engine], *, in_order: bool = True
    ) -> Generator[Alignments, None, None]:
        on_gpu = any(one.is_gpu for one in engines)
        limit = slab_bytes(on_gpu, self.threads, self.memory_bytes, self._chooses)
        slabs = self._slabs(limit)
        ahead = slabs_ahead(len(engines), self.memory_bytes, limit)
        if not in_order:  # then nothing waits
            ahead = len(slabs)
        with (
            show_progress(self.cells, self.progress) as meter,
            closing(schedule.run(engines, slabs, self.want, self._cost, ahead)) as results,
        ):
            for slab, result in results:
                self.pairs_done += self._planned.pairs_of(slab)
                yield result
                del result  # or it would stay in memory while the next one is waited for
                meter.update(self._cost(slab))

    def _slabs(self, limit: int) -> list[Window]:
        """Cut the pairs into slabs whose results take at most `limit` bytes."""
        pair_bytes, letter_bytes = result_bytes(self._detail, self.top)
        slabs = self._planned.split(pair_bytes, letter_bytes, limit)
        if self.pair_list is not None or not letter_bytes or len(slabs) == 1:
            return slabs
        letter_bytes *= share_of_letters(self.queries, self.targets)  # which takes a while
        return self._planned.split(pair_bytes, letter_bytes, limit)

    def _cost(self, slab: Window) -> int:
        return self._fills * self._planned.cells_of(slab)

    @property
    def _fills(self) -> int:
        """How often the matrix of a pair is filled."""
        return 1


def align(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    detail: str = "cigar",
    min_score: float | str | None = None,
    min_identity: float | str | Fraction | None = None,
    identity_of: str = "columns",
    min_coverage: float | str | Fraction | None = None,
    coverage_of: str = "both",
    pairs: Pairs | None = None,
    top: int = 1,
    device: str = "auto",
    threads: int | None = None,
    window: int | None = None,
    memory_bytes: int | None = None,
    progress: Progress = False,
    executor: Executor | None = None,
) -> Alignments:
    """Align every pair of a set, or every sequence of one set with every one of another.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        An iterable may also give records with a name (``.id`` or ``.name``) and letters
        (``.seq`` or ``.letters``), such as Biopython's. Unless it is a SequenceSet, its alphabet
        is that of `scoring`, or guessed.
    targets : the same, optional
        Without it, all N(N-1)/2 pairs of `sequences`.
    scoring : Scoring, or name or path of a matrix, optional
        From `pairalign.make_scoring`. Default: BLOSUM62 with gaps 11/1 for proteins, 2/-3 with gaps
        5/2 for DNA; a matrix has the same gaps.
    mode : {"global", "semiglobal", "local"}, optional
        Default: that of `scoring`, else global; one that is not that of `scoring` is an error.
    detail : {"cigar", "stats", "score"}
        What to compute: alignments; spans and counts; or scores alone.
    min_score : int, float or str, optional
        Leave out pairs with a lower score.
    min_identity : float, str or Fraction, optional
        Leave out pairs with a lower identity, from 0 to 1 or as ``"97%"``; exactly as written.
    identity_of : {"columns", "aligned", "shorter", "internal", "mbl"}
        What the identity is, see `pairalign.choices.IDENTITIES`.
    min_coverage : float, str or Fraction, optional
        Leave out pairs of which less is aligned.
    coverage_of : {"both", "query", "target", "shorter", "aligned"}
        What the coverage is, see `pairalign.choices.COVERAGES`.
    pairs : PairList, path, array_like of int with shape (n, 2), or iterable of twos, optional
        Align just these, in the order of windows: names or input indices, or a file, see
        `pairalign.pair_lists`. With `targets`, the first is of `sequences`, the second of them.
    top : int
        Local alignments of a pair: the best, then the best that puts no two letters together which
        one before did, and so on, while they score more than 0 and pass what is asked for.
    device : str
        ``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:0,1"``, ``"opencl"`` or ``"opencl:0,1"``.
    threads : int, optional
        Threads of the CPU engine; default: the cores that this process may use.
    window : int, optional
        Rows and columns of the windows that the pair matrix is cut into; decides the order.
        Default: 1,024; with `pairs` 65,536.
    memory_bytes : int, optional
        What the run may use, results apart; default: half of what is free.
    progress : bool or "lines"
        Show on stderr how far it is: a bar on a terminal, else (or with ``"lines"``) a line every
        30 seconds.
    executor : concurrent.futures.Executor, optional
        Where to align, in tasks that are shards: threads, processes, or those of a cluster. Then
        `threads` (default: 1) and `memory_bytes` are those of a task; no progress is shown.

    Returns
    -------
    Alignments
        In the order of windows; held in memory as a whole. For sets too large for that iterate
        over an `AlignmentJob`, or use the command line.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, PairListError, CapacityError, DeviceError
        See `pairalign.errors`.
    TypeError
        Something is no sequence, no pair, or no scoring; the message says which.
    ValueError
        An argument out of its range.

    Notes
    -----
    The conventions (scores, ties, spans, CIGAR) are in docs/conventions.md. Time is proportional
    to the sum of the products of the lengths.

    Examples
    --------
    >>> import pairalign
    >>> globins = {
    ...     "HBB": "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPK",
    ...     "HBD": "MVHLTPEEKTAVNALWGKVNVDAVGGEALGRLLVVYPWTQRFFESFGDLSSPDAVMGNPK",
    ...     "HBZ": "MSLTKTERTIIVSMWAKISTQADTIGTETLERLFLSHPQTKTYFPHFDLHPGSAQLRAHG",
    ... }
    >>> found = pairalign.align(globins)
    >>> found
    <Alignments: 3 pairs, global, with CIGARs>
    >>> found.score.tolist()
    [300, 64, 66]
    >>> best = found[0]
    >>> best.query.name, best.target.name, best.cigar
    ('HBB', 'HBD', '9=1X2=1X9=1X27=1X9=')
    >>> len(pairalign.align(globins, min_identity="90%"))
    1
    """
    if not isinstance(detail, str) or detail.upper() not in Detail.__members__:
        raise ValueError(f"detail {detail!r}: expected cigar, stats or score")
    first, second, chosen = as_inputs(sequences, targets, scoring, mode)
    message = chosen.replaced_message(*(s for s in (first, second) if s is not None))
    if message:
        warnings.warn(message, stacklevel=2)
    run = AlignmentJob(
        first,
        second,
        chosen,
        Want(Detail[detail.upper()], raw_minimum(min_score, chosen)),
        device=device,
        threads=(usable_cores() if executor is None else 1) if threads is None else threads,
        window=default_window(pairs is not None) if window is None else window,
        memory_bytes=default_bytes() if memory_bytes is None else memory_bytes,
        progress=progress and executor is None,
        pair_list=None if pairs is None else as_pair_list(pairs, first, second),
        pair_thresholds=make_pair_thresholds(min_identity, identity_of, min_coverage, coverage_of),
        top=top,
    )
    return concatenate(list(run) if executor is None else align_on(executor, run))
