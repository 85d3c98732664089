"""The subcommand `thresholds`: pairs that are alike, with and without bounds, and other programs.

Verifies first: with thresholds the rows are those of a table of all pairs that reach them. Then the
whole commands are timed in interleaved rounds, in wall and processor time, and the pairs that other
programs find are compared with ours (`bench.threshold_peers`):

- DNA, global: vsearch (``--allpairs_global --iddef 1``, which counts matches by columns as we do).
  Both have a match of 2, a mismatch of -4 and gaps of 22 and 2 a residue; vsearch's end gaps
  cost 3 and 1, and it needs not be optimal, so pairs near the threshold differ.
- Proteins, local, with a coverage of both sequences: mmseqs and diamond, both told to align every
  pair. Both have BLOSUM62 and gaps of 12 for the first residue and 1 for others, as we have here;
  which of several alignments of one score is reported differs, and so do pairs near thresholds.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

from bench.threshold_peers import SCORINGS, Peer, Setting, peers_for
from pairalign.sequences.reading import read_fasta

NAMES = (
    *("query", "target", "score", "identity", "columns", "matches", "mismatches"),
    *("gap_openings", "gap_letters", "query_length", "query_start", "query_end"),
    *("target_length", "target_start", "target_end", "cigar"),
)
"""Columns of our tables."""

PAIRALIGN = [sys.executable, "-m", "pairalign", "align"]


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Add `thresholds` to the program's subcommands."""
    parser = commands.add_parser("thresholds", help="pairs that are alike, and other programs")
    parser.add_argument("--data", type=Path, required=True, help="reads or proteins, a FASTA file")
    parser.add_argument("--sequences", type=int, default=2000, help="the first N (2000)")
    parser.add_argument("--identity", nargs="+", default=["0.99", "0.97", "0.9"])
    parser.add_argument("--coverage", default="0.8", help="of both, of proteins (0.8)")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Verify, then time; print a table."""
    with tempfile.TemporaryDirectory() as folder:
        reads = Path(folder, "reads.fa")
        some = read_fasta(options.data)
        with open(reads, "w") as file:
            for index in range(min(options.sequences, len(some))):
                file.write(f">{some.names[index]}\n{some[index].letters}\n")
        contest = Contest.of(options, some.alphabet.name, reads, Path(folder))
        every = str(contest.folder / "all.tsv")
        seconds, processor = timed([contest.ours(every)])
        print("| identity | pairs | program | its pairs | of them ours | wall s | processor s |")
        print("|---|---|---|---|---|---|---|")
        rows = rows_of(every)
        print(f"| all pairs | {len(rows):,} | ours | | | {seconds:.2f} | {processor:.1f} |")
        for identity in options.identity:
            print("\n".join(contest.compare(options.rounds, identity, rows)), flush=True)


@dataclass(frozen=True)
class Contest:
    """What is compared, on what.

    Attributes
    ----------
    reads, folder : Path
        The sequences, and where files go.
    arguments : list of str
        Of ours: the scoring, and how it runs.
    thresholds : list of str
        Of ours, besides the identity.
    coverage : Fraction
        Of both sequences, 0 for any.
    peers : dict of str to Peer
    """

    reads: Path
    folder: Path
    arguments: list[str]
    thresholds: list[str]
    coverage: Fraction
    peers: dict[str, Peer]

    @classmethod
    def of(cls, options: Namespace, alphabet: str, reads: Path, folder: Path) -> Contest:
        """Choose scoring, thresholds and peers by what the sequences are."""
        ways = ["--quiet", "--format", "tsv", "--threads", str(options.threads)]
        ways += ["--device", options.device]
        thresholds, coverage = [], Fraction(0)
        if alphabet == "protein":
            thresholds = ["--min-coverage", options.coverage, "--coverage-of", "both"]
            coverage = Fraction(options.coverage)
        setting = Setting(reads, folder, options.coverage, options.threads)
        return cls(
            reads,
            folder,
            [*SCORINGS[alphabet], *ways],
            thresholds,
            coverage,
            peers_for(alphabet, setting),
        )

    def ours(self, output: str, *more: str) -> list[str]:
        """Return our command."""
        return [*PAIRALIGN, str(self.reads), *self.arguments, "-o", output, *more]

    def compare(self, rounds: int, identity: str, every: list[str]) -> Iterator[str]:
        """Verify and time one threshold; yield rows of the table."""
        found = str(self.folder / "found.tsv")
        commands = {"ours": [self.ours(found, *self.thresholds, "--min-identity", identity)]}
        commands |= {name: peer.commands(identity) for name, peer in self.peers.items()}
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, steps in commands.items():
                times[name].append(timed(steps))
        rows = rows_of(found)
        if rows != [row for row in every if reaches(row, Fraction(identity), self.coverage)]:
            sys.exit(f"identity {identity}: not the rows that a table of all pairs has")
        pairs = {frozenset(row.split("\t")[:2]) for row in rows}
        for name, taken in times.items():
            its = pairs if name == "ours" else self.peers[name].pairs()
            wall, processor = (median(one) for one in zip(*taken, strict=True))
            yield (
                f"| {identity} | {len(rows):,} | {name} | {len(its):,} | {len(pairs & its):,} | "
                f"{wall:.2f} | {processor:.2f} |"
            )


def reaches(row: str, identity: Fraction, coverage: Fraction) -> bool:
    """Whether a row of a table has matches enough for its columns, and spans for its lengths."""
    names = "columns matches query_length query_start query_end target_length target_start"
    cells = row.split("\t")
    at = dict(zip(NAMES, cells, strict=False))
    value = {name: int(at[name]) for name in (*names.split(), "target_end")}
    return value["matches"] >= identity * value["columns"] > 0 and all(
        value[f"{side}_end"] - value[f"{side}_start"] >= coverage * value[f"{side}_length"]
        for side in ("query", "target")
    )


def rows_of(path: str) -> list[str]:
    """Rows of a table without its header."""
    return [row for row in Path(path).read_text().splitlines()[1:] if not row.startswith("#")]


def timed(steps: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Run commands one after the other; return their wall and processor seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    for command in steps:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - started, used
