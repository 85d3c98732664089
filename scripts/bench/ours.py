"""pairalign itself, as a job to be timed and as something to be verified."""

from __future__ import annotations

from collections.abc import Callable

from bench.peers import GAP_EXTEND, GAP_OPEN, MATRIX
from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.engines.cpu.cpu_engine import CpuEngine
from pairalign.jobs.run import slabs
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.sets import SequenceSet

WINDOW = 1024
MEMORY_BYTES = 1 << 30


def scoring_of(mode: str) -> Scoring:
    """What everybody is measured with."""
    return make_scoring(PROTEIN, mode=mode, matrix=MATRIX, gap_open=GAP_OPEN, gap_extend=GAP_EXTEND)


def windows_of(sequences: SequenceSet) -> list[Window]:
    """The windows that the command line would make, before it cuts them into slabs."""
    count = len(sequences)
    corners = [
        (row, column) for row in range(0, count, WINDOW) for column in range(row, count, WINDOW)
    ]
    return [
        Window(k, row, min(row + WINDOW, count), column, min(column + WINDOW, count), True)
        for k, (row, column) in enumerate(corners)
    ]


def slabs_of(sequences: SequenceSet, detail: Detail, threads: int) -> list[Window]:
    """What the command line would give an engine at a time: their results stay small."""
    pair_bytes, residue_bytes = slabs.result_bytes(detail)
    lengths = sequences.lengths[sequences.order]
    limit = slabs.slab_bytes(False, threads, MEMORY_BYTES)
    return list(
        slabs.cut_windows(windows_of(sequences), lengths, lengths, pair_bytes, residue_bytes, limit)
    )


def align(
    sequences: SequenceSet, scoring: Scoring, detail: Detail, **options: object
) -> list[Alignments]:
    """Open the CPU engine, align every pair, a window at a time, and close it."""
    engine = CpuEngine(Problem(sequences, None, scoring), **options)  # type: ignore[arg-type]
    try:
        return [engine.align(window, Want(detail)) for window in windows_of(sequences)]
    finally:
        engine.close()


def job(
    sequences: SequenceSet, mode: str, detail: Detail, threads: int = 1, **options: object
) -> Callable[[], object]:
    """The same as something to time; like the peers and the command it keeps few results."""
    scoring = scoring_of(mode)
    windows = slabs_of(sequences, detail, threads)

    def run() -> None:
        engine = CpuEngine(Problem(sequences, None, scoring), threads=threads, **options)  # type: ignore[arg-type]
        pairs = sum(len(engine.align(window, Want(detail))) for window in windows)
        engine.close()
        if 2 * pairs != len(sequences) * (len(sequences) - 1):
            raise RuntimeError(f"aligned {pairs:,} pairs of {len(sequences):,} sequences")

    return run
