"""Simulated pairs of many lengths and identities: does `auto` choose the faster way?

`--kernel lanes` (full matrices), `auto` and `pruned` on one core, and WFA2-lib (pywfa). Bytes of
ours and the scores of WFA2-lib are compared first.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bench import report
from bench.families import family
from bench.measure import CLOCKS, alternate, ratio
from bench.similar import Job, pairs_of, pruned_job, verify, wfa_job
from pairalign.alignments.alignments import Alignments
from pairalign.sequences.sets import SequenceSet

IDENTITIES = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)
SEQUENCES = {500: 33, 1000: 24, 2000: 16, 5000: 9, 10000: 5, 30000: 3}
"""Sequences of each length, all pairs of which are aligned: of short ones enough for lanes."""
UNRELATED = 0.25
LEAST_SECONDS = 0.01
"""The faster way is repeated until it takes as long."""
HOPELESS = 3
"""WFA2-lib gets one pair only, once, where that takes this factor longer than a full matrix."""
WFA_BYTES = 1 << 30
"""Where it would take more, it has to do with little memory."""
HEADINGS = (
    "letters", "pairs", "identity", "full, ms", "auto, ms", "pruned, ms", "WFA2-lib, ms",
    "auto / faster of full and WFA2-lib", "auto / pruned",
)  # fmt: skip


def add_command(commands: Any) -> None:
    parser = commands.add_parser(
        "similar-grid", help="simulated pairs, lengths by identities: auto, full, pruned, WFA2-lib"
    )
    parser.add_argument("--lengths", type=int, nargs="+", default=list(SEQUENCES))
    parser.add_argument(
        "--identities", type=float, nargs="+", default=[UNRELATED, *IDENTITIES],
        help=f"{UNRELATED}: unrelated",
    )  # fmt: skip
    parser.add_argument("--few", action="store_true", help="three pairs of each, not many")
    parser.add_argument("--repeat", type=int, default=3, help="rounds (3)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    print(report.machine() + "\n")
    print("| " + " | ".join(HEADINGS) + " |")
    print("|---" * len(HEADINGS) + "|")
    for length in options.lengths:
        number = 3 if options.few else SEQUENCES.get(length, 3)
        for identity in options.identities:
            letters = family(number, length, identity)
            print(line(letters, length, identity, options.repeat), flush=True)


def line(letters: list[str], length: int, identity: float, rounds: int) -> str:
    """Milliseconds a pair of the median round, and ratios of the same rounds."""
    sequences = SequenceSet.from_strings(letters, alphabet="dna")
    jobs: dict[str, Callable[[], Alignments]] = {
        use: pruned_job(sequences, use) for use in ("never", "auto", "always")
    }
    full = jobs["never"]()
    for use in ("auto", "always"):
        verify(full, jobs[use]())
    pairs = len(full.raw_score)
    seconds = _timed(jobs, rounds)
    full_ms = _milliseconds(seconds["never"], pairs)
    wfa, wfa_ms = _wfa(full, length, identity, full_ms)
    if wfa is not None:
        seconds = _timed({**jobs, "WFA2-lib": wfa}, rounds)
        wfa_ms = _milliseconds(seconds["WFA2-lib"], pairs)
    others = seconds.get("WFA2-lib", seconds["never"])
    quicker = [min(both) for both in zip(seconds["never"], others, strict=True)]
    ours = [f"{_milliseconds(seconds[use], pairs):.3g}" for use in jobs]
    name = "unrelated" if identity == UNRELATED else f"{identity:.0%}"
    return "| " + " | ".join((
        f"{length:,}", str(pairs), name, *ours,
        f"{wfa_ms:.3g}" + ("" if wfa else "*"),
        str(ratio(seconds["auto"], quicker)), str(ratio(seconds["auto"], seconds["always"])),
    )) + " |"  # fmt: skip


def _milliseconds(seconds: list[float], pairs: int) -> float:
    return float(np.median(seconds)) / pairs * 1e3


def _timed(jobs: dict[str, Any], rounds: int) -> dict[str, list[float]]:
    """Seconds of each job, once."""
    once = alternate(jobs, 1, CLOCKS["cpu"])
    times = {name: max(1, math.ceil(LEAST_SECONDS / once[name][0])) for name in jobs}
    found = alternate(
        {name: _repeated(job, times[name]) for name, job in jobs.items()}, rounds, CLOCKS["cpu"]
    )
    return {name: [t / times[name] for t in found[name]] for name in jobs}


def _repeated(job: Job, times: int) -> Job:
    def run() -> None:
        for _ in range(times):
            job()

    return run


def _wfa(
    full: Alignments, length: int, identity: float, full_ms: float
) -> tuple[Job | None, float]:
    """WFA2-lib, unless it is hopeless or not installed; milliseconds that its first pair took."""
    cost = 5 * (1 - max(identity, 0.55)) * length
    mode = "biwfa" if 4 * cost**2 > WFA_BYTES else "high"
    pairs = pairs_of(full)
    try:
        one = wfa_job(pairs[:1], full.raw_score[:1], mode)
    except ImportError:
        return None, math.nan
    once = alternate({"": one}, 1, CLOCKS["cpu"])[""][0] * 1e3
    if once > HOPELESS * full_ms:
        return None, once
    return wfa_job(pairs, full.raw_score, mode), once
