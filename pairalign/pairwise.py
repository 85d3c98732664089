"""The main job: every pair of a set, or of one set against another, aligned."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Union

from tqdm import tqdm

from pairalign import schedule
from pairalign.alignments import Alignments, concatenate
from pairalign.engines import Detail, Engine, Want
from pairalign.engines.selection import open_engines, usable_cores
from pairalign.errors import FastaError
from pairalign.memory import free_bytes
from pairalign.scoring import Scoring, make_scoring
from pairalign.sequences import SequenceSet, read_fasta
from pairalign.windows import (
    DEFAULT_WINDOW,
    Window,
    count_cells,
    plan_windows,
    split_rows,
)

Sequences = Union[SequenceSet, str, "os.PathLike[str]", Mapping[str, str], Iterable[str]]

# A result's columns, and CIGAR runs: unrelated sequences have about a run for each four letters.
_PAIR_BYTES = {Detail.SCORE: 16, Detail.STATS: 160, Detail.CIGAR: 180}
_LETTER_BYTES = {Detail.SCORE: 0.0, Detail.STATS: 0.0, Detail.CIGAR: 2.0}
_SLAB_BYTES = 48 << 20


@dataclass
class Run:
    """A planned run: what is aligned with what, on what; iterate over it for the results.

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
    progress : bool
        Show a bar on stderr (only on a terminal).
    """

    queries: SequenceSet
    targets: SequenceSet | None
    scoring: Scoring
    want: Want = field(default_factory=Want)
    device: str = "auto"
    threads: int = field(default_factory=usable_cores)
    window: int = DEFAULT_WINDOW
    memory_bytes: int = field(default_factory=lambda: free_bytes() // 2)
    progress: bool = False

    def __post_init__(self) -> None:
        if self.targets is None and len(self.queries) < 2:
            raise FastaError(
                f"{self.queries.source}: one sequence only, '{self.queries.names[0]}'; "
                "a pair needs two (or give a second file)"
            )
        self.scoring.check_sets(self.queries, self.targets)
        other = self.queries if self.targets is None else self.targets
        self._rows = self.queries.lengths[self.queries.order]
        self._columns = other.lengths[other.order]
        self._windows = plan_windows(
            len(self.queries), None if self.targets is None else len(self.targets), self.window
        )

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return sum(window.pairs for window in self._windows)

    @property
    def cells(self) -> int:
        """Cells of all dynamic programming matrices."""
        return sum(self._cost(window) for window in self._windows)

    def __iter__(self) -> Iterator[Alignments]:
        """Align; yield the results in the order of output, some pairs at a time."""
        engines = open_engines(
            self.device,
            self.queries,
            self.targets,
            self.scoring,
            threads=self.threads,
            memory_bytes=self.memory_bytes,
        )
        try:
            yield from self._run(engines)
        finally:
            for engine in engines:
                engine.close()

    def _run(self, engines: Iterable[Engine]) -> Iterator[Alignments]:
        engines = list(engines)
        # An eighth of the memory holds a slab; few are around at a time: in the engine (twice while
        # it is gathered), waiting, being written.
        limit = max(1 << 20, min(self.memory_bytes // 8, _SLAB_BYTES * max(1, self.threads // 4)))
        detail = self.want.detail
        slabs = [
            slab
            for window in self._windows
            for slab in split_rows(
                window,
                self._rows,
                self._columns,
                _PAIR_BYTES[detail],
                _LETTER_BYTES[detail],
                limit,
            )
        ]
        ahead = max(len(engines) + 1, min(64, self.memory_bytes // 4 // limit))
        if len(engines) == 1:
            ahead = 2
        bar = tqdm(
            total=self.cells,
            unit="cells",
            unit_scale=True,
            desc="aligning",
            dynamic_ncols=True,
            disable=None if self.progress else True,
        )
        with bar:
            for slab, result in schedule.run(engines, slabs, self.want, self._cost, ahead):
                yield result
                bar.update(self._cost(slab))

    def _cost(self, window: Window) -> int:
        return count_cells(window, self._rows, self._columns)


def align(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    scoring: Scoring | None = None,
    mode: str = "global",
    detail: str = "cigar",
    min_score: float | str | None = None,
    device: str = "auto",
    threads: int | None = None,
    window: int = DEFAULT_WINDOW,
    memory_bytes: int | None = None,
    progress: bool = False,
) -> Alignments:
    """Align every pair of a set, or every sequence of one set with every one of another.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
    targets : the same, optional
        Without it, all N(N-1)/2 pairs of `sequences`.
    scoring : Scoring, optional
        From `pairalign.make_scoring`. Default: BLOSUM62 with gaps 11/1 for proteins, 2/-3 with gaps
        5/2 for DNA, in `mode`.
    mode : {"global", "semiglobal", "local"}
        Only used without `scoring`.
    detail : {"cigar", "stats", "score"}
        What to compute: alignments; spans and counts; or scores alone.
    min_score : int, float or str, optional
        Leave out pairs with a lower score.
    device : str
        ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"cuda:0,1"``.
    threads : int, optional
        Threads of the CPU engine; default: the cores that this process may use.
    window : int
        Rows and columns of the windows that the pair matrix is cut into; decides the order.
    memory_bytes : int, optional
        What the run may use, results apart; default: half of what is free.
    progress : bool
        Show a bar on stderr.

    Returns
    -------
    Alignments
        In the order of windows; held in memory as a whole. For sets too large for that iterate
        over a `Run`, or use the command line.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
        See `pairalign.errors`.

    Notes
    -----
    The conventions (scores, ties, spans, CIGAR) are in the README. Time is proportional to the sum of
    the products of the lengths.
    """
    first, second = _as_sets(sequences, targets)
    if scoring is None:
        scoring = make_scoring(first.alphabet, mode=mode)
    message = scoring.replaced_message(*(s for s in (first, second) if s is not None))
    if message:
        warnings.warn(message, stacklevel=2)
    want = Want(Detail[detail.upper()], raw_minimum(min_score, scoring))
    run = Run(first, second, scoring, want, device=device, window=window, progress=progress)
    if threads is not None:
        run.threads = threads
    if memory_bytes is not None:
        run.memory_bytes = memory_bytes
    return concatenate(list(run))


def raw_minimum(min_score: float | str | None, scoring: Scoring) -> int | None:
    """Least raw score that reaches `min_score`, exactly; within 32 bits."""
    if min_score is None:
        return None
    least = math.ceil(Fraction(str(min_score)) * scoring.scale)
    return max(-(2**31), min(least, 2**31 - 1))


def _as_sets(
    sequences: Sequences, targets: Sequences | None
) -> tuple[SequenceSet, SequenceSet | None]:
    first = _as_set(sequences)
    if targets is None:
        return first, None
    second = _as_set(targets)
    if first.alphabet.name != second.alphabet.name:
        # A guess over one set alone can be wrong; over both it is protein as soon as one is.
        first, second = (_as_set(s, "protein") for s in (sequences, targets))
    return first, second


def _as_set(sequences: Sequences, alphabet: str | None = None) -> SequenceSet:
    if isinstance(sequences, SequenceSet):
        if alphabet is None or sequences.alphabet.name == alphabet:
            return sequences
        strings = {record.name: record.letters for record in sequences}
        return SequenceSet.from_strings(strings, alphabet=alphabet, source=sequences.source)
    if isinstance(sequences, (str, os.PathLike)):
        return read_fasta(sequences, alphabet=alphabet)
    return SequenceSet.from_strings(sequences, alphabet=alphabet)
