"""Similar sequences: pruned against full matrices, WFA2-lib (pywfa) and edlib, on one core.

Bytes of pruned and full alignments are compared, and WFA2-lib's scores, before anything is timed.
edlib computes edit distances: it is there for its speed alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench import ours, report
from bench.families import family, with_one_gap
from bench.measure import CLOCKS, alternate, ratio
from pairalign import make_scoring, read_fasta
from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.engines.cpu.cpu_engine import CpuEngine, Pruning
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.sets import SequenceSet

Job = Callable[[], Any]
COLUMNS = (
    "raw_score", "query_start", "target_start", "matches", "gap_openings", "gap_residues", "cigar",
    "cigar_offsets",
)  # fmt: skip
MODES = ("global", "semiglobal", "local")


def add_command(commands: Any) -> None:
    parser = commands.add_parser("similar", help="similar sequences: pruned, full, WFA2-lib, edlib")
    parser.add_argument("--data", type=Path, nargs="+", default=[], help="DNA, FASTA files")
    parser.add_argument(
        "--simulated", nargs="+", default=[], metavar="LENGTH:IDENTITY[:GAP]",
        help="simulated genomes, as 9700:0.83 (bench/families.py); every other one lacks GAP bases",
    )  # fmt: skip
    parser.add_argument("--sequences", type=int, default=9, help="the first N (9)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds (3)")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=["global"], help="(global)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    print(report.machine() + "\n")
    print("| set | mode | pairs | identity | full, s | pruned, s | ratios |")
    print("|---|---|---|---|---|---|---|")
    for name, letters in _sets(options):
        for mode in options.modes:
            print(measure(name, letters, options.repeat, mode), flush=True)


def _sets(options: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    for path in options.data:
        sequences = read_fasta(path, alphabet="dna")
        count = min(options.sequences, len(sequences))
        yield path.name, [str(sequences[k].residues) for k in range(count)]
    for name in options.simulated:
        length, identity, *gap = name.split(":")
        letters = family(options.sequences, int(length), float(identity))
        yield name, with_one_gap(letters, int(gap[0])) if gap else letters


def measure(name: str, letters: list[str], rounds: int, mode: str = "global") -> str:
    """One line of the table: CPU seconds of the median round, ratios of the same rounds.

    Other programs are measured in global mode, WFA2-lib with its fronts in memory, and as BiWFA,
    which keeps hardly any.
    """
    sequences = SequenceSet.from_strings(letters, alphabet="dna")
    jobs: dict[str, Job] = {use: pruned_job(sequences, use, mode) for use in ("never", "auto")}
    full, pruned = jobs["never"](), jobs["auto"]()
    verify(full, pruned)
    pairs = pairs_of(full)
    for other, peer in PEERS if mode == "global" else ():
        try:
            jobs[other] = peer(pairs, full.raw_score)
        except ImportError:
            print(f"<!-- {other} is not installed -->")
    seconds = alternate(jobs, rounds, CLOCKS["cpu"])
    ratios = [f"{job} {ratio(seconds[job], seconds['auto'])}" for job in seconds if job != "auto"]
    times = [f"{np.median(seconds[job]):.4f}" for job in ("never", "auto")]
    identity = float(np.median(full.identity))
    return "| " + " | ".join(
        (name, mode, str(len(pairs)), f"{identity:.3f}", *times, ", ".join(ratios))
    ) + " |"  # fmt: skip


def verify(full: Alignments, pruned: Alignments) -> None:
    """Every byte of what is compared is the same."""
    for name in COLUMNS:
        if getattr(full, name).tobytes() != getattr(pruned, name).tobytes():
            raise SystemExit(f"pruned and full alignments differ in {name}")


def pairs_of(found: Alignments) -> list[tuple[str, str]]:
    """The residues of query and target of each pair."""
    letters = [str(found.queries[k].residues) for k in range(len(found.queries))]
    return [
        (letters[a], letters[b])
        for a, b in zip(found.query.tolist(), found.target.tolist(), strict=True)
    ]


def pruned_job(sequences: SequenceSet, use: str, mode: str = "global") -> Callable[[], Alignments]:
    """All pairs of a set with CIGARs, by the CPU engine."""
    scoring = make_scoring("dna", mode=mode)
    engine = CpuEngine(
        Problem(sequences, None, scoring), pruning=Pruning(use), memory_bytes=4 << 30
    )
    (window,) = ours.windows_of(sequences)
    return lambda: engine.align(window, Want(Detail.CIGAR))


def wfa_job(pairs: list[tuple[str, str]], scores: np.ndarray, memory_mode: str = "high") -> Job:
    """WFA2-lib with the same costs as penalties, once its scores were compared.

    With M matches, X mismatches, g gaps of G residues in all, a pair has 2 M + 2 X + G residues and
    the score S = 2 M - 3 X - 3 g - 2 G, so that S - residues = -(5 X + 3 g + 3 G).
    """
    from pywfa import WavefrontAligner

    aligner = WavefrontAligner(
        mismatch=5, gap_opening=3, gap_extension=3, distance="affine", span="end-to-end",
        heuristic=None, memory_mode=memory_mode,
    )  # fmt: skip

    def job() -> list[int]:
        return [aligner.wavefront_align(a, b) for a, b in pairs]

    letters = np.array([len(a) + len(b) for a, b in pairs])
    # N is equal to N there: pairs with bases other than ACGT can differ.
    clean = np.array([not set(a + b) - set("ACGT") for a, b in pairs])
    if not np.array_equal(np.array(job())[clean], (scores - letters)[clean]):
        raise SystemExit("WFA2-lib has other scores")
    return job


def _edlib(pairs: list[tuple[str, str]], scores: np.ndarray) -> Job:
    import edlib

    return lambda: [edlib.align(a, b, mode="NW", task="path") for a, b in pairs]


PEERS: tuple[tuple[str, Callable[[list[tuple[str, str]], np.ndarray], Job]], ...] = (
    ("WFA2-lib", wfa_job),
    ("BiWFA", partial(wfa_job, memory_mode="biwfa")),
    ("edlib", _edlib),
)
