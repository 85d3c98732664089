"""`AlignmentJob`: results as they come, memory that is bounded, leaving early, failures."""

import gc
import threading
import weakref

import numpy as np
import pytest
from checks import SCORE_FIELDS, STATS_FIELDS

import pairalign
from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.engines.cpu.cpu_engine import CpuEngine
from pairalign.errors import AlphabetError, DeviceError, ScoringError
from pairalign.jobs.run import align as pairwise
from pairalign.jobs.run import schedule
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.align_all import align
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import plan_windows
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet


def run_of(sequences: SequenceSet, **options: object) -> AlignmentJob:
    """A run of every pair of a set."""
    return AlignmentJob(sequences, None, make_scoring(sequences.alphabet), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("detail", Detail)
def test_results_come_in_slabs_that_fit_the_memory(random_set, monkeypatch, detail):
    """However many pairs there are, some thousand of them are around at a time."""
    waiting: weakref.WeakSet[Alignments] = weakref.WeakSet()
    most, largest = 0, 0
    expected = align(random_set, detail=detail.name)
    original = CpuEngine.align

    def watched(engine: CpuEngine, window, want: Want) -> Alignments:
        nonlocal most
        found = original(engine, window, want)
        waiting.add(found)
        most = max(most, len(waiting))
        return found

    monkeypatch.setattr(CpuEngine, "align", watched)
    monkeypatch.setattr("pairalign.jobs.run.slabs._SLAB_BYTES", 100_000)
    monkeypatch.setattr("pairalign.jobs.run.slabs._LEAST_SLAB_BYTES", 1_000)
    run = run_of(random_set, want=Want(detail), resources=Resources(memory=64 << 20, threads=1))
    seen = 0
    for part in run:
        fields = (getattr(part, n) for n in (*SCORE_FIELDS, *STATS_FIELDS, "cigar"))
        largest = max(largest, sum(field.nbytes for field in fields if field is not None))
        assert np.array_equal(part.raw_score, expected.raw_score[seen : seen + len(part)])
        seen += len(part)
        del part
    assert seen == len(expected)
    assert largest <= 100_000
    # One at the engine, one waiting, one here.
    assert most <= 3


@pytest.mark.parametrize(
    ("engines", "want", "expected"),
    [
        (1, Want(), None),
        (2, Want(), 4 << 30),
        (4, Want(Detail.SCORE), 6 << 30),
        (2, Want(Detail.SCORE, 50), None),
    ],
)
def test_results_that_wait_have_room_that_is_bounded(
    random_set, monkeypatch, engines, want, expected
):
    """Of several engines, where it is known what results take; a fourth of the memory."""
    rooms = []
    original = schedule.run

    def watched(*args):  # type: ignore[no-untyped-def]
        rooms.append(args[-1])
        return original(*args)

    def open_some(run: AlignmentJob, per_gpu: int | None = None) -> list[CpuEngine]:
        return [CpuEngine(run.problem, threads=1, memory_bytes=1 << 26) for _ in range(engines)]

    monkeypatch.setattr(schedule, "run", watched)
    monkeypatch.setattr(AlignmentJob, "_open_engines", open_some)
    run = run_of(random_set, want=want, resources=Resources(memory=24 << 30), window=50)
    found = list(run)
    (room,) = rooms
    assert (None if room is None else room.size_bytes) == expected
    if room is None:
        return
    windows = plan_windows(len(random_set), window=50)
    for window, one in zip(windows, found, strict=True):
        fields = (getattr(one, name) for name in (*SCORE_FIELDS, *STATS_FIELDS, "cigar"))
        taken = sum(field.nbytes for field in fields if field is not None)
        assert taken <= room.needed_by(window)


def test_leaving_early_ends_the_work(random_set):
    before = set(threading.enumerate())
    run = run_of(random_set, window=10)
    with run.open() as results:
        first = next(results)
        assert len(first) == 45
    assert set(threading.enumerate()) <= before
    assert list(results) == []
    for part in run:
        assert np.array_equal(part.query, first.query)
        break
    gc.collect()
    assert set(threading.enumerate()) <= before

    def fail() -> None:
        with run.open() as results:
            next(results)
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert set(threading.enumerate()) <= before


class Fake:
    """An engine that remembers whether it was closed."""

    name = "fake"
    is_gpu = False
    on_device = None

    def __init__(self, sequences: SequenceSet, scoring: pairalign.Scoring) -> None:
        self.closed = 0
        self._engine = CpuEngine(Problem(sequences, None, scoring))

    def align(self, window, want: Want) -> Alignments:
        """Fail at the third window."""
        if window.index == 3:
            raise RuntimeError("broken")
        return self._engine.align(window, want)

    def cancel(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Remember."""
        self.closed += 1


def test_engines_are_closed_after_a_failure(random_set, monkeypatch):
    run = run_of(random_set, window=10)
    engines = [Fake(random_set, run.scoring), Fake(random_set, run.scoring)]
    monkeypatch.setattr(pairwise, "open_engines", lambda *_, **__: engines)
    seen = []
    with pytest.raises(DeviceError, match=r"fake failed in window 3 .*RuntimeError: broken"):
        seen.extend(iter(run))
    assert [engine.closed for engine in engines] == [1, 1]
    assert len(seen) <= 3


def test_a_run_is_checked_before_it_starts(random_set):
    with pytest.raises(AlphabetError):
        AlignmentJob(random_set, None, make_scoring("dna"))
    long = SequenceSet.from_strings(["A" * 20_000] * 2, ["a", "b"], alphabet="dna")
    with pytest.raises(ScoringError, match="do not fit 32 bits"):
        AlignmentJob(long, None, make_scoring("dna", match=100_000, mismatch=-1))
    with pytest.raises(ValueError, match="threads -1"):
        run_of(random_set, resources=Resources(threads=-1))
    assert run_of(random_set, resources=Resources(threads=10**12)).threads < 10_000
