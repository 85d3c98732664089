"""The process that runs mappy: the pairs of reads in a file that share seeds.

mappy holds Python while it makes an index, and takes no signal meanwhile. A process of its own can
be ended at any moment, and gives all its memory back. It ends by itself when its standard input
does, which its parent holds open.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pairalign.base.arrays import Int32s

_BLOCK_RESIDUES = 1_000_000
NO_INDEX = 3
"""The exit code where mappy makes no index of the reads."""


def find_pairs(path: str, threads: int, options: dict[str, Any]) -> Int32s | None:
    """Find pairs of reads that share seeds.

    Parameters
    ----------
    path : str
        FASTA; each read's name is its number.
    options : dict
        Arguments of ``mappy.Aligner``.

    Returns
    -------
    ndarray of int32, shape (n, 3), or None
        First read, second read, strand; ascending, each once. None: mappy makes no index.
    """
    import mappy

    index = mappy.Aligner(path, n_threads=threads, **options)
    if not index:
        return None
    reads = [read for _, read, _ in mappy.fastx_read(path)]

    def partners(numbers: range) -> set[tuple[int, int, int]]:
        buffer, hits = mappy.ThreadBuffer(), set()
        for number in numbers:
            for hit in index.map(reads[number], name=str(number), buf=buffer):
                other = int(hit.ctg)
                if other != number:
                    hits.add((min(number, other), max(number, other), int(hit.strand)))
        return hits

    with ThreadPoolExecutor(threads) as pool:
        pairs = sorted(set().union(*pool.map(partners, _blocks(reads))))
    return np.array(pairs, np.int32).reshape(-1, 3)


def _blocks(reads: Sequence[str]) -> list[range]:
    """Cut the reads into ranges with about the same number of bases."""
    ends = np.cumsum([len(read) for read in reads], dtype=np.int64)
    marks = np.arange(_BLOCK_RESIDUES, ends[-1] + _BLOCK_RESIDUES, _BLOCK_RESIDUES)
    cuts = np.unique(np.minimum(np.searchsorted(ends, marks) + 1, len(reads))).tolist()
    return [range(start, stop) for start, stop in zip([0, *cuts], cuts, strict=False)]


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def main() -> None:
    """Run on the arguments, which are JSON; write the pairs to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pairs = find_pairs(**json.loads(sys.argv[1]))
    if pairs is None:
        os._exit(NO_INDEX)
    sys.stdout.buffer.write(pairs.tobytes())
    sys.stdout.buffer.flush()
    os._exit(0)  # without waiting for what reads the input


if __name__ == "__main__":
    main()
