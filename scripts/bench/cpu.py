"""The subcommands `verify` and `cpu`: the CPU engine against the peers, and against itself."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable

from bench import command, ours, verify
from bench.data import Sample, take_sample
from bench.measure import CLOCKS, Clock, alternate, gcups, ratio
from bench.peers import Parasail, Peer, available
from bench.report import Row
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.pairs.want import Detail

MODES = ("global", "semiglobal", "local")

# Goals, as ratios of two things measured in the same run.
CIGARS_AGAINST_PARASAIL = 8.0
SCORES_AGAINST_BEST = 3.0
TWO_THREADS = 1.8
AVX2_AGAINST_AVX512 = 0.8

TRIAL_SEQUENCES = 40
"""Enough to tell which of a peer's kernels is the fastest."""


def run_verify(options: Namespace) -> tuple[list[Row], list[str]]:
    """Compare scores of all pairs of a sample with parasail and Biopython; rescore all CIGARs."""
    sample = take_sample(options.data, options.sequences)
    print(sample.describe(), file=sys.stderr)
    rows = []
    parasail = Parasail()
    for mode in options.mode:
        expected = verify.expected_scores(sample, mode, parasail)
        pairs = verify.check_ours(sample, mode, expected)
        rows.append(Row(f"{mode}: scores", f"{pairs:,} pairs", "parasail scan", "equal", ""))
        rows.append(Row(f"{mode}: CIGARs rescored", f"{pairs:,}", "scores", "equal", ""))
    return rows, [sample.describe()]


def run_cpu(options: Namespace) -> tuple[list[Row], list[str]]:
    """Verify, then time: one thread against the peers, then threads, ISAs and the command."""
    peers, notes = available()
    clock = CLOCKS[options.clock]
    rows: list[Row] = []
    for number in options.sets or [options.sequences]:
        sample = take_sample(options.data, number)
        trial = take_sample(options.data, min(TRIAL_SEQUENCES, number))
        notes.append(sample.describe())
        for mode in options.mode:
            rows += _against_peers(sample, trial, mode, peers, options.repeat, clock, notes)
    if options.sets:
        return rows, notes
    larger = take_sample(options.data, 4 * options.sequences)
    for mode in options.mode:
        rows += _threads(larger, mode, options.repeat)
        rows += _instruction_sets(larger, mode, options.repeat, clock)
    if not options.no_command:
        rows += command.compare(options.data, options.threads, options.rounds_of_command, notes)
    return rows, notes


def _against_peers(
    sample: Sample,
    trial: Sample,
    mode: str,
    peers: list[Peer],
    rounds: int,
    clock: Clock,
    notes: list[str],
) -> list[Row]:
    """One thread against each peer, with CIGARs and without."""
    parasail = next((peer for peer in peers if isinstance(peer, Parasail)), None)
    if parasail is None:
        raise SystemExit("parasail is needed to verify the scores: pip install parasail")
    expected = verify.expected_scores(sample, mode, parasail)
    verify.check_ours(sample, mode, expected)
    rows = []
    for cigar in (True, False):
        jobs: dict[str, Callable[[], object]] = {}
        for peer in peers:
            kernel = _best_kernel(peer, trial, mode, cigar)
            if kernel is None:
                continue
            complaint = verify.check_peer(peer, kernel, sample, mode, cigar, expected)
            if complaint:
                notes.append(complaint)
            else:
                jobs[f"{peer.name} {kernel}"] = peer.job(kernel, sample, mode, cigar)
        detail = Detail.CIGAR if cigar else Detail.SCORE
        jobs["ours"] = ours.job(sample.sequences, mode, detail, threads=1)
        rows += _rows_of(mode, cigar, sample, alternate(jobs, rounds, clock))
    return rows


def _best_kernel(peer: Peer, trial: Sample, mode: str, cigar: bool) -> str | None:
    """The fastest of a peer's kernels for this job, on a small sample."""
    fastest: tuple[float, str] | None = None
    for kernel in peer.kernels(mode, cigar):
        run = peer.job(kernel, trial, mode, cigar)
        for _ in range(2):
            start = time.perf_counter()
            run()
            seconds = time.perf_counter() - start
            if fastest is None or seconds < fastest[0]:
                fastest = seconds, kernel
    return fastest and fastest[1]


def _rows_of(mode: str, cigar: bool, sample: Sample, seconds: dict[str, list[float]]) -> list[Row]:
    """A row for each peer; the goal stands where it counts."""
    mine = seconds.pop("ours")
    ranked = sorted(seconds, key=lambda name: sum(seconds[name]))
    rows = []
    compared = [name for name in ranked if name.startswith("parasail")] if cigar else ranked
    for name in ranked:
        counts = name == compared[0]
        goal = CIGARS_AGAINST_PARASAIL if cigar else SCORES_AGAINST_BEST
        times = ratio(seconds[name], mine)
        rows.append(
            Row(
                f"{len(sample.sequences)} proteins, {mode}, "
                f"{'scores and CIGARs' if cigar else 'scores only'}, one thread",
                f"{gcups(sample.cells, mine):.1f} GCUPS",
                name,
                f"{gcups(sample.cells, seconds[name]):.2f} GCUPS",
                str(times),
                f">= {goal:g}" if counts else "",
                times.median >= goal if counts else None,
            )
        )
    return rows


def _threads(sample: Sample, mode: str, rounds: int) -> list[Row]:
    rows = []
    for detail, what in ((Detail.CIGAR, "scores and CIGARs"), (Detail.SCORE, "scores only")):
        jobs = {
            str(threads): ours.job(sample.sequences, mode, detail, threads=threads)
            for threads in (1, 2)
        }
        seconds = alternate(jobs, rounds)
        gain = ratio(seconds["1"], seconds["2"])
        rows.append(
            Row(
                f"{mode}, {what}, two threads",
                f"{gcups(sample.cells, seconds['2']):.1f} GCUPS",
                "one thread",
                f"{gcups(sample.cells, seconds['1']):.1f} GCUPS",
                str(gain),
                f">= {TWO_THREADS:g}",
                gain.median >= TWO_THREADS,
            )
        )
    return rows


def _instruction_sets(sample: Sample, mode: str, rounds: int, clock: Clock) -> list[Row]:
    best, *others = instruction_sets()
    rows = []
    for detail, what in ((Detail.CIGAR, "scores and CIGARs"), (Detail.SCORE, "scores only")):
        jobs = {
            name: ours.job(sample.sequences, mode, detail, instruction_set=name)
            for name in (best, *others)
        }
        seconds = alternate(jobs, rounds, clock)
        for name in others:
            share = ratio(seconds[best], seconds[name])
            has_goal = (name, best) == ("avx2", "avx512")
            rows.append(
                Row(
                    f"{mode}, {what}, {name}",
                    f"{gcups(sample.cells, seconds[name]):.1f} GCUPS",
                    best,
                    f"{gcups(sample.cells, seconds[best]):.1f} GCUPS",
                    str(share),
                    f">= {AVX2_AGAINST_AVX512:g}" if has_goal else "",
                    share.median >= AVX2_AGAINST_AVX512 if has_goal else None,
                )
            )
    return rows
