"""What receptor programs compute, in an environment of their own; called by `commands`.

    python receptors_peer.py METHOD IN.fa LIMIT OUT.npz

Prints CPU seconds of the call alone, without imports and without what is compiled before. OUT.npz
has row, column and distance of the pairs within the limit.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import scipy.sparse


def read(path: str) -> list[str]:
    """Sequences of a FASTA file of a line a sequence."""
    with open(path) as file:
        return [line.strip() for line in file if line[0] != ">"]


def scirpy(name: str, limit: int, sequences: list[str]) -> Any:
    """A distance of scirpy: CSR of distance + 1."""
    from scirpy.ir_dist import metrics

    kind = getattr(metrics, name)
    kind(cutoff=limit, n_jobs=1).calc_dist_mat(np.array(sequences[:50]))
    start = time.process_time()
    found = kind(cutoff=limit, n_jobs=1).calc_dist_mat(np.array(sequences))
    return time.process_time() - start, scipy.sparse.triu(found, 1).tocoo()


def rapidfuzz(name: str, limit: int, sequences: list[str]) -> Any:
    """Levenshtein's distance, some rows at a time."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    start = time.process_time()
    parts = []
    for first in range(0, len(sequences), 1000):
        rows = sequences[first : first + 1000]
        block = cdist(
            rows, sequences, scorer=Levenshtein.distance, score_cutoff=limit, dtype=np.uint8
        )
        near = np.argwhere(block <= limit)
        values = block[near[:, 0], near[:, 1]]
        parts.append(np.column_stack((near[:, 0] + first, near[:, 1], values)))
    rows, columns, values = np.concatenate(parts).T
    seconds = time.process_time() - start
    kept = rows < columns
    shape = (len(sequences), len(sequences))
    return seconds, scipy.sparse.coo_matrix(
        (values[kept].astype(int) + 1, (rows[kept], columns[kept])), shape=shape
    )


METHODS: dict[str, tuple[Any, str]] = {
    "scirpy-alignment": (scirpy, "AlignmentDistanceCalculator"),
    "scirpy-fastalignment": (scirpy, "FastAlignmentDistanceCalculator"),
    "scirpy-tcrdist": (scirpy, "TCRdistDistanceCalculator"),
    "rapidfuzz": (rapidfuzz, ""),
}


def main() -> None:
    method, path, limit, output = sys.argv[1:]
    call, name = METHODS[method]
    seconds, found = call(name, int(limit), read(path))
    np.savez(output, rows=found.row, columns=found.col, values=found.data.astype(int) - 1)
    print(seconds)


if __name__ == "__main__":
    main()
