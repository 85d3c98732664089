"""The Python API: `align` and `Run`."""

from __future__ import annotations

import gc
import io
import math
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import reference
from Bio import SeqIO
from checks import STATS_COLUMNS, costs_of, found_alignment
from commands import BASES, PROTEINS, TIMEOUT_SECONDS, fasta, write_part

import pairalign
from pairalign.alignments import Alignments, concatenate
from pairalign.engines.cpu.engine import CpuEngine
from pairalign.errors import AlphabetError, CapacityError, DeviceError, FastaError, ScoringError
from pairalign.jobs import align as pairwise
from pairalign.jobs.align import Run, align, raw_minimum
from pairalign.scoring import make_scoring
from pairalign.sequences import DNA, PROTEIN, SequenceSet, read_fasta
from pairalign.want import Detail, Want

SCORES = ("query", "target", "raw_score")


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory, family: Path) -> Path:
    """The first dozen of the family."""
    path = tmp_path_factory.mktemp("few") / "few.fasta"
    write_part(path, family, 12)
    return path


@pytest.fixture(scope="module")
def random_set() -> SequenceSet:
    """120 random proteins of 5 to 60 letters."""
    rng = np.random.default_rng(5)
    lengths = rng.integers(5, 61, 120)
    return SequenceSet.from_strings(
        ["".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), k)) for k in lengths]
    )


def assert_equal(one: Alignments, two: Alignments, names: bool = True) -> None:
    """The same pairs, in the same order, with the same results."""
    for name in (*SCORES, *STATS_COLUMNS, "cigar", "cigar_offsets"):
        first, second = getattr(one, name), getattr(two, name)
        assert (first is None) == (second is None), name
        assert first is None or np.array_equal(first, second), name
    if names:
        for sets in ((one.queries, two.queries), (one.targets, two.targets)):
            assert sets[0].names == sets[1].names


# What can be aligned


def test_one_pair_as_the_reference_has_it() -> None:
    found = align(["MKVLAAGGWTRE", "MKVLAGGWTE"])
    assert len(found) == 1
    query, target = (found.queries.codes_of(k) for k in (0, 1))
    assert found_alignment(found, 0) == reference.align(query, target, costs_of(found.scoring))
    (one,) = found
    assert (one.query.letters, one.target.letters) == ("MKVLAAGGWTRE", "MKVLAGGWTE")
    assert isinstance(one.score, int)


def test_everything_that_holds_sequences(tmp_path: Path) -> None:
    path = tmp_path / "x.fa"
    path.write_text(fasta(PROTEINS))
    expected = align(path)
    assert len(expected) == 6
    records = list(SeqIO.parse(path, "fasta"))
    for sequences in (
        str(path),
        read_fasta(path),
        PROTEINS,
        records,
        iter(records),
        list(read_fasta(path)),
    ):
        assert_equal(align(sequences), expected)
    letters = list(PROTEINS.values())
    for unnamed in (
        letters,
        tuple(letters),
        iter(letters),
        (text for text in letters),
        [record.seq for record in records],
    ):
        found = align(unnamed)
        assert found.queries.names == ["seq1", "seq2", "seq3", "seq4"]
        assert_equal(found, expected, names=False)


def test_two_sets_of_every_kind(tmp_path: Path) -> None:
    one, two = (tmp_path / name for name in ("one.fa", "two.fa"))
    one.write_text(fasta(PROTEINS))
    two.write_text(fasta({"x": "MKVV", "y": "GGWT"}))
    expected = align(one, two)
    assert len(expected) == 8
    assert expected.queries is not expected.targets
    for first in (str(one), read_fasta(one), PROTEINS):
        for second in (two, read_fasta(two), {"x": "MKVV", "y": "GGWT"}):
            assert_equal(align(first, second), expected)
    assert_equal(align(iter(["MKVLA"]), iter(["MKVV"])), align(["MKVLA"], ["MKVV"]))


def test_a_set_against_itself() -> None:
    """Two sets, though they are one: every sequence against every one, itself included."""
    sequences = SequenceSet.from_strings(PROTEINS)
    found = align(sequences, sequences)
    assert len(found) == 16
    for one in found:
        if one.query.name == one.target.name:
            assert one.identity == 1
    scores = {(one.query.name, one.target.name): one.score for one in found}
    assert all(scores[a, b] == scores[b, a] for a, b in scores)


def test_two_guesses_become_one() -> None:
    """A set of As and Cs looks like DNA until one knows that it is aligned with proteins."""
    proteins = {"p": "MKVLAAGW"}
    looks_like_dna = {"d": "ACCAGCA"}
    for first, second in (
        (proteins, looks_like_dna),
        (looks_like_dna, proteins),
        (proteins.values(), iter(looks_like_dna.values())),
        (iter(looks_like_dna.values()), iter(proteins.values())),
    ):
        found = align(first, second)
        assert len(found) == 1
        assert found.queries.alphabet is found.targets.alphabet is PROTEIN
    # Over both together these are DNA, as they are in two files.
    found = align({"d": "ACGT" * 20}, {"e": "ACGTRYSW"})
    assert found.queries.alphabet is found.targets.alphabet is DNA


def test_a_set_that_changes_its_alphabet_keeps_all_else(tmp_path: Path) -> None:
    path = tmp_path / "x.fa"
    path.write_text(">a first of two\nACCa\n>b\nGGT\n")
    found = align(read_fasta(path), {"p": "MKV"})
    assert found.queries.alphabet is PROTEIN
    assert found.queries.descriptions == ["a first of two", "b"]
    assert [one.letters for one in found.queries] == ["ACCa", "GGT"]
    assert found.queries.source == str(path)


def test_an_alphabet_that_was_chosen_stays() -> None:
    chosen = SequenceSet.from_strings(["ACGT", "ACG"], alphabet="protein")
    assert align(chosen).scoring.matrix_name == "BLOSUM62"
    found = align(chosen, ["ACGTACGT"])
    assert found.targets.alphabet is PROTEIN


def test_the_scoring_decides_the_alphabet() -> None:
    """Unless it was chosen for the set, when that is a contradiction."""
    scoring = make_scoring("protein")
    found = align(["ACGT", "ACG"], scoring=scoring)
    assert found.queries.alphabet is PROTEIN
    assert align(["ACGT", "ACG"], iter(["ACC"]), scoring=scoring).targets.alphabet is PROTEIN
    with pytest.raises(AlphabetError, match="dna sequences, but the scoring is for protein"):
        align(SequenceSet.from_strings(["ACGT", "ACG"]), scoring=scoring)


def test_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(fasta(PROTEINS).encode())))
    assert_equal(align("-"), align(PROTEINS))


# What is computed


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_details(few: Path, mode: str) -> None:
    every = align(few, mode=mode)
    assert every.has_cigar
    stats = align(few, mode=mode, detail="stats")
    assert stats.has_stats
    assert not stats.has_cigar
    assert_equal(stats, every.without(cigar=True))
    scores = align(few, mode=mode, detail="SCORE")
    assert not scores.has_stats
    assert_equal(scores, every.without(stats=True))
    assert every.score.dtype == np.int32


@pytest.mark.parametrize("detail", ["score", "stats", "cigar"])
@pytest.mark.parametrize("least", [1000, 1000.0, "1e3", np.int64(1000), Fraction(1000), 999.01])
def test_minimum_score(few: Path, detail: str, least: object) -> None:
    every = align(few, detail=detail)
    kept = every.take(every.score >= math.ceil(float(least)))  # type: ignore[arg-type]
    assert 0 < len(kept) < len(every)
    assert_equal(align(few, detail=detail, min_score=least), kept)  # type: ignore[arg-type]


def test_minimum_score_of_decimals(few: Path) -> None:
    scoring = make_scoring("protein", gap_open="10.25", gap_extend="0.5")
    every = align(few, scoring=scoring)
    assert every.score.dtype == np.float64
    for least in (every.score[7], str(every.score[7]), Fraction(int(every.raw_score[7]), 100)):
        found = align(few, scoring=scoring, min_score=least)
        assert_equal(found, every.take(every.raw_score >= every.raw_score[7]))


@pytest.mark.parametrize(
    ("least", "scale", "raw"),
    [
        (None, 1, None),
        (7, 1, 7),
        (7.5, 1, 8),
        (-7.5, 1, -7),
        ("0.1", 10, 1),
        (0.1, 10, 1),
        ("0.11", 10, 2),
        (0.1 + 0.2, 10, 4),  # it is a little more than 0.3
        (0, 1, 0),
        ("-0", 1, 0),
        ("0e-99999999", 1, 0),
        ("1e-99999999", 1, 1),
        ("-1e-99999999", 1, 0),
        ("1e99999999", 100, 2**31 - 1),
        ("-1e99999999", 100, -(2**31)),
        (1e300, 1, 2**31 - 1),
        (2**31 - 1, 1, 2**31 - 1),
        (-(2**40), 1, -(2**31)),
    ],
)
def test_least_raw_score(least: object, scale: int, raw: int | None) -> None:
    costs = {1: "5", 10: "5.1", 100: "5.25"}
    scoring = make_scoring("dna", gap_open=costs[scale])
    assert scoring.scale == scale
    assert raw_minimum(least, scoring) == raw  # type: ignore[arg-type]


def test_warning_about_letters() -> None:
    with pytest.warns(UserWarning, match=r"U scored as C \(2\)"):
        align(["MKUUV", "MKVL"])


def test_arguments_out_of_range() -> None:
    pair = ["ACGT", "ACG"]
    for arguments, error, message in (
        ({"detail": "everything"}, ValueError, "detail 'everything': expected cigar, stats or sco"),
        ({"mode": "glocal"}, ScoringError, "mode 'glocal': expected global, semiglobal, local"),
        ({"threads": 0}, ValueError, "threads 0: expected at least 1"),
        ({"window": 0}, ValueError, "window 0: expected at least 1"),
        ({"memory_bytes": 0}, ValueError, "memory_bytes 0: expected at least 1"),
        ({"min_score": float("nan")}, ScoringError, "min_score: nan is not a finite number"),
        ({"min_score": "much"}, ScoringError, "min_score: 'much' is not a finite number"),
        ({"device": "tpu"}, DeviceError, "device 'tpu' is not known"),
    ):
        with pytest.raises(error, match=message):
            align(pair, **arguments)
    for sequences, message in (
        (["ACGT"], "one sequence only, 'seq1'; a pair needs two"),
        ([], "no sequences"),
        ({}, "no sequences"),
        (["ACGT", ""], "record 2 'seq2' has no sequence"),
        (["ACGT", "AC-T"], "record 2 'seq2': letter '-' at position 3"),
        ("no/such/file.fa", "no/such/file.fa: no such file"),
    ):
        with pytest.raises(FastaError, match=message):
            align(sequences)
    with pytest.raises(FastaError, match="no sequences"):
        align(pair, [])
    assert len(align(["ACGT"], ["ACG"])) == 1


def test_a_pair_too_large(random_set: SequenceSet) -> None:
    with pytest.raises(CapacityError) as caught:
        align(random_set, memory_bytes=1, threads=1)
    error = caught.value
    assert error.available_bytes == 1 < error.needed_bytes
    assert isinstance(error, MemoryError)
    assert_equal(align(random_set, memory_bytes=error.needed_bytes, threads=1), align(random_set))


# Runs


def run_of(sequences: SequenceSet, **options: object) -> Run:
    """A run of every pair of a set."""
    return Run(sequences, None, make_scoring(sequences.alphabet), **options)  # type: ignore[arg-type]


def test_a_run_yields_what_align_returns(random_set: SequenceSet) -> None:
    run = run_of(random_set, window=50)
    assert run.pairs == 120 * 119 // 2
    lengths = random_set.lengths.astype(int)
    assert run.cells == (lengths.sum() ** 2 - (lengths**2).sum()) // 2
    parts = list(run)
    assert len(parts) > 1
    assert all(isinstance(part, Alignments) for part in parts)
    assert_equal(concatenate(parts), align(random_set, window=50))
    assert_equal(concatenate(list(run)), concatenate(parts))  # and again


def test_two_sets_in_a_run(random_set: SequenceSet) -> None:
    other = SequenceSet.from_strings({"x": "MKVLA", "y": "WWAR"})
    run = Run(random_set, other, make_scoring("protein"), window=50)
    assert run.pairs == 240
    assert run.cells == int(random_set.lengths.sum()) * 9
    assert_equal(concatenate(list(run)), align(random_set, other, window=50))


@pytest.mark.parametrize("detail", Detail)
def test_results_come_in_slabs_that_fit_the_memory(
    random_set: SequenceSet, monkeypatch: pytest.MonkeyPatch, detail: Detail
) -> None:
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
    monkeypatch.setattr(pairwise, "_SLAB_BYTES", 100_000)
    monkeypatch.setattr(pairwise, "_LEAST_SLAB_BYTES", 1_000)
    run = run_of(random_set, want=Want(detail), memory_bytes=64 << 20, threads=1)
    seen = 0
    for part in run:
        names = [n for n in (*SCORES, *STATS_COLUMNS, "cigar") if getattr(part, n) is not None]
        largest = max(largest, sum(getattr(part, name).nbytes for name in names))
        assert np.array_equal(part.raw_score, expected.raw_score[seen : seen + len(part)])
        seen += len(part)
        del part
    assert seen == len(expected)
    assert largest <= 100_000
    # One at the engine, one waiting, one here.
    assert most <= 3


def test_memory_does_not_grow_with_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """45,000 and 180,000 pairs take about the same."""
    rng = np.random.default_rng(6)
    letters = ["".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), 12)) for _ in range(600)]
    monkeypatch.setattr(pairwise, "_SLAB_BYTES", 1 << 20)
    peaks = []
    for count in (300, 600):
        run = run_of(SequenceSet.from_strings(letters[:count]), threads=1, memory_bytes=16 << 20)
        tracemalloc.start()
        assert sum(len(part) for part in run) == count * (count - 1) // 2
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + (1 << 20)
    assert peaks[1] < 8 << 20


def test_leaving_early_ends_the_work(random_set: SequenceSet) -> None:
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

    def __init__(self, sequences: SequenceSet, scoring: pairalign.Scoring) -> None:
        self.closed = 0
        self._engine = CpuEngine(sequences, None, scoring)

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


def test_engines_are_closed_after_a_failure(
    random_set: SequenceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(random_set, window=10)
    engines = [Fake(random_set, run.scoring), Fake(random_set, run.scoring)]
    monkeypatch.setattr(pairwise, "open_engines", lambda *_, **__: engines)
    seen = []
    with pytest.raises(DeviceError, match=r"fake failed in window 3 .*RuntimeError: broken"):
        seen.extend(iter(run))
    assert [engine.closed for engine in engines] == [1, 1]
    assert len(seen) <= 3


def test_a_run_is_checked_before_it_starts(random_set: SequenceSet) -> None:
    with pytest.raises(AlphabetError):
        Run(random_set, None, make_scoring("dna"))
    long = SequenceSet.from_strings(["A" * 20_000] * 2, ["a", "b"], alphabet="dna")
    with pytest.raises(ScoringError, match="do not fit 32 bits"):
        Run(long, None, make_scoring("dna", match=100_000, mismatch=-1))
    with pytest.raises(ValueError, match="threads -1"):
        run_of(random_set, threads=-1)
    assert run_of(random_set, threads=10**12).threads < 10_000


def interrupt_soon(arguments: list[str]) -> Iterator[str]:
    """Run a Python program and interrupt it once it has printed a line."""
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline()
        process.send_signal(2)
        yield process.communicate(timeout=TIMEOUT_SECONDS)[0]


def test_ctrl_c_in_python() -> None:
    """`align` ends with KeyboardInterrupt, and Python goes on."""
    program = (
        "import pairalign, random, threading, time\n"
        "random.seed(1)\n"
        "many = [''.join(random.choices('ARNDC', k=4000)) for _ in range(300)]\n"
        "try:\n"
        "    print('starts', flush=True)\n"
        "    pairalign.align(many)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', threading.active_count(), len(pairalign.align(['ACG', 'ACGT'])))\n"
    )
    first, rest = interrupt_soon([sys.executable, "-c", program])
    assert first == "starts\n"
    assert rest == "stopped 1 1\n"


def test_progress_goes_to_a_terminal_only(capfd: pytest.CaptureFixture[str]) -> None:
    align(PROTEINS, progress=True)
    assert capfd.readouterr() == ("", "")


def test_dna_defaults() -> None:
    found = align(BASES)
    scoring = found.scoring
    assert (scoring.matrix_name, scoring.gap_open, scoring.gap_extend) == (
        "match 2, mismatch -3",
        5,
        2,
    )
    assert len(found) == 3


def test_the_public_names() -> None:
    for name in pairalign.__all__:
        assert getattr(pairalign, name).__doc__, name
