"""Seconds that the engines of a device take for all pairs of a file, results dropped; as JSON."""

from __future__ import annotations

import json
import os
import sys
import time

from pairalign.base.choices import DEFAULT_WINDOW
from pairalign.engines.selection import open_engines
from pairalign.jobs.run import schedule
from pairalign.jobs.run.memory import default_bytes
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, count_cells, plan_windows, split_rows
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.reading import read_fasta

SLAB_BYTES = 256 << 20  # results that an engine gathers at a time


def main(path: str, mode: str, detail_name: str, device: str) -> None:
    """Align all pairs twice, and time the second pass."""
    sequences = read_fasta(path)
    detail = Detail[detail_name.upper()]
    lengths = sequences.lengths[sequences.order]
    slabs = [
        slab
        for window in plan_windows(len(sequences), None, DEFAULT_WINDOW)
        for slab in split_rows(window, lengths, lengths, 180, 2.0, SLAB_BYTES)
    ]

    def cost(window: Window) -> int:
        return count_cells(window, lengths, lengths)

    engines = list(
        open_engines(
            device,
            sequences,
            None,
            make_scoring(sequences.alphabet, mode=mode),
            threads=len(os.sched_getaffinity(0)),
            memory_bytes=default_bytes(),
            detail=detail,
        )
    )
    for chosen in (slabs[: 6 * len(engines)], slabs):  # the first ones load kernels
        start = time.perf_counter()
        for _ in schedule.run(engines, chosen, Want(detail), cost, 8 * len(engines) + 8):
            pass
        seconds = time.perf_counter() - start
    for engine in engines:
        engine.close()
    print(json.dumps({"seconds": seconds, "gcells": sum(map(cost, slabs)) / 1e9}))


if __name__ == "__main__":
    main(*sys.argv[1:])
