"""The subcommand `chosen`: pairs chosen at random on the CPU engine, against all pairs of a window.

Scores and CIGARs of both must agree before anything is timed. The time is that of one thread, on a
core, and the ratio is of cells a second: 1 would mean that few pairs of many rows are aligned as
quickly as whole windows are.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.measure import CLOCKS, alternate, gcups, ratio
from bench.report import Row
from pairalign.engines.cpu.engine import CpuEngine
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.reading import read_fasta
from pairalign.sequences.sets import SequenceSet

GOALS = {"dna": 0.7, "protein": 0.4}
"""Cells a second of a hundredth of the pairs, of those of full windows."""


def add_command(commands: _SubParsersAction[ArgumentParser]) -> None:
    """Add the subcommand."""
    chosen = commands.add_parser("chosen", help="few pairs of each row, against full windows")
    chosen.add_argument("--data", type=Path, required=True, help="sequences, a FASTA file")
    chosen.add_argument("--alphabet", choices=GOALS, default="protein")
    chosen.add_argument("--mode", action="append", choices=("global", "semiglobal", "local"))
    chosen.add_argument("--sequences", type=int, default=1024, help="of the window (1024)")
    chosen.add_argument(
        "--share", type=float, action="append", help="of the pairs; may be repeated (0.1, 0.01)"
    )
    chosen.add_argument("--isa", help="an instruction set (the best)")
    chosen.add_argument("--repeat", type=int, default=5, help="rounds (5)")
    chosen.add_argument("--markdown", type=Path, help="write the table here as well")
    chosen.add_argument("--json", type=Path, help="and its figures here, for `draw`")
    chosen.set_defaults(run=run)


def run(options: Namespace) -> tuple[list[Row], list[str]]:
    """Compare shares of a window with all of it, in each mode and detail."""
    sequences = _sample(options)
    window = Window(0, 0, len(sequences), 0, len(sequences), True)
    rows = [
        row
        for mode in options.mode
        for detail in (Detail.SCORE, Detail.CIGAR)
        for row in _compare(sequences, window, mode, detail, options)
    ]
    return rows, [f"{options.data.name}: a window of {len(sequences)} sequences, one thread"]


def _sample(options: Namespace) -> SequenceSet:
    all_of_them = read_fasta(options.data, alphabet=options.alphabet)
    count = min(options.sequences, len(all_of_them))
    numbers = np.random.default_rng(1).choice(len(all_of_them), count, replace=False)
    letters = [all_of_them[int(k)].letters for k in np.sort(numbers)]
    return SequenceSet.from_strings(letters, alphabet=options.alphabet)


def _compare(
    sequences: SequenceSet, window: Window, mode: str, detail: Detail, options: Namespace
) -> list[Row]:
    """Verify, then time all pairs and each share of them in interleaved rounds."""
    shares = options.share or [0.1, 0.01]
    engine = CpuEngine(
        sequences, None, make_scoring(options.alphabet, mode=mode), instruction_set=options.isa
    )
    masks = {share: _mask(window, share) for share in shares}
    everything = engine.align(window, Want(detail))
    for mask in masks.values():
        found, expected = engine.align(window, Want(detail), mask), everything.take(mask)
        if not np.array_equal(found.raw_score, expected.raw_score) or not np.array_equal(
            found.cigar, expected.cigar
        ):
            raise SystemExit("chosen pairs have other alignments than those of a whole window")
    jobs = {share: _job(engine, window, detail, mask) for share, mask in masks.items()}
    seconds = alternate(
        {"all": _job(engine, window, detail, None), **{str(k): v for k, v in jobs.items()}},
        options.repeat,
        CLOCKS["cpu"],
    )
    lengths = sequences.lengths[sequences.order].astype(np.int64)
    cells = np.multiply(*(lengths[side] for side in window.positions()))
    total = int(cells.sum())
    rows = []
    for share, mask in masks.items():
        own = int(cells[mask].sum())
        # As if both had as many cells: seconds a cell.
        each = ratio(
            [one / total for one in seconds["all"]], [one / own for one in seconds[str(share)]]
        )
        goal = GOALS[options.alphabet]
        rows.append(
            Row(
                f"{mode}, {detail.name.lower()}: {100 * share:g} % of the pairs",
                f"{gcups(own, seconds[str(share)]):.1f} GCUPS",
                "all pairs",
                f"{gcups(total, seconds['all']):.1f} GCUPS",
                str(each),
                f"> {goal}",
                each.median > goal,
            )
        )
    engine.close()
    return rows


def _mask(window: Window, share: float) -> npt.NDArray[np.bool_]:
    return np.asarray(np.random.default_rng(2).random(window.pairs) < share)


def _job(
    engine: CpuEngine, window: Window, detail: Detail, mask: npt.NDArray[np.bool_] | None
) -> Callable[[], object]:
    return lambda: engine.align(window, Want(detail), mask)
