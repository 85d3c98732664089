"""Candidates by mappy, minimap2's library: which reads share seeds, and on which strand.

References
----------
H. Li: Minimap2: pairwise alignment for nucleotide sequences. Bioinformatics 34(18):3094-3100, 2018.
"""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pairalign.errors import MissingPackageError, PairListError
from pairalign.jobs.overlaps.presets import Preset
from pairalign.reads.candidates import Candidates
from pairalign.sequences.sets import SequenceSet

MAPPY = "mappy"
"""What ``--candidates`` calls it."""

_BAND = 100
"""mappy aligns every hit, which nobody asked for; in narrow bands that takes half as long."""
_SHORT_SEEDS, _WINDOW, _MOST_FOR_SHORT = (10, 11, 12), 3, 4_000_000
"""Seeds of so few letters, one of so many neighbours, where sets are so small that they are not
everywhere."""
_WORDS_A_LETTER = 4
"""Of so many words, as of 12 letters in sets of 4 million, few are shared by chance."""
_ACCURATE_CHAIN, _NOISY_SEED, _SEEDS, _LEAST_CHAIN = 100, 15, 3, 20
"""A candidate needs so many letters in seeds of accurate reads, as with minimap2; of noisy ones as
many as three seeds have, since an overlap of 560 letters may have no more."""
_BLOCK_LETTERS = 1_000_000


def import_mappy() -> Any:
    """Return the module.

    Raises
    ------
    MissingPackageError
        It is not installed.
    """
    try:
        import mappy
    except ImportError as error:
        raise MissingPackageError(
            "candidates by mappy need mappy, which is not installed: "
            "pip install 'pairalign[overlap]'"
        ) from error
    return mappy


def seed_candidates(
    reads: SequenceSet, preset: Preset, min_overlap: int, threads: int
) -> Candidates:
    """Find pairs of reads that share seeds.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.
    preset : Preset
        ``hifi`` takes minimap2's ``ava-pb``, others ``ava-ont``, with seeds of 10 to 12 letters,
        and more of them, in sets of up to 4 million.
    min_overlap : int
        Letters: chains of less than a fifth as many, or three seeds (``hifi``: 100), are no
        candidates.
    threads : int

    Returns
    -------
    Candidates
        By first read, second read and strand, whatever the threads.

    Raises
    ------
    MissingPackageError
        mappy is not installed.
    PairListError
        No two reads share seeds.
    """
    mappy = import_mappy()
    is_hifi = preset.name == "hifi"
    options: dict[str, Any] = {}
    chain = _ACCURATE_CHAIN if is_hifi else _SEEDS * _NOISY_SEED
    if not is_hifi and reads.total_residues <= _MOST_FOR_SHORT:
        seed = _short_seed(reads)
        options = {"k": seed, "w": _WINDOW}
        chain = _SEEDS * seed
    options["min_chain_score"] = max(_LEAST_CHAIN, min(chain, min_overlap // 5))
    with tempfile.TemporaryDirectory(prefix="pairalign-") as folder:
        path = os.path.join(folder, "reads.fa")
        _write_numbered(path, reads)
        index = mappy.Aligner(
            path, preset="ava-pb" if is_hifi else "ava-ont", bw=_BAND, n_threads=threads, **options
        )
    if not index:
        raise PairListError(f"{reads.source}: mappy cannot make an index of the reads")

    def partners(numbers: range) -> set[tuple[int, int, int]]:
        buffer, found = mappy.ThreadBuffer(), set()
        for number in numbers:
            for hit in index.map(reads[number].letters, name=str(number), buf=buffer):
                other = int(hit.ctg)
                if other != number:
                    found.add((min(number, other), max(number, other), int(hit.strand)))
        return found

    with ThreadPoolExecutor(threads) as pool:
        pairs = sorted(set().union(*pool.map(partners, _blocks(reads))))
    if not pairs:
        raise PairListError(f"{reads.source}: mappy finds no two reads that share seeds")
    table = np.array(pairs, np.int32)
    return Candidates(table[:, 0], table[:, 1], table[:, 2].astype(np.int8), MAPPY)


def _short_seed(reads: SequenceSet) -> int:
    """Letters of seeds no more frequent than in large sets: more where A and T are many."""
    counts = np.bincount(reads.codes, minlength=4)[:4]
    shares = counts / max(1, counts.sum())
    words_a_letter = 1 / max(float((shares**2).sum()), 1e-9)  # as if all letters were as frequent
    for seed in _SHORT_SEEDS[:-1]:
        if words_a_letter**seed >= _WORDS_A_LETTER * reads.total_residues:
            return seed
    return _SHORT_SEEDS[-1]


def _write_numbered(path: str, reads: SequenceSet) -> None:
    """Write reads as FASTA, with their numbers as names."""
    with open(path, "w", encoding="ascii") as file:
        for number in range(len(reads)):
            file.write(f">{number}\n{reads[number].letters}\n")


def _blocks(reads: SequenceSet) -> list[range]:
    """Cut the reads into ranges of about as many letters."""
    ends = np.cumsum(reads.lengths.astype(np.int64))
    marks = np.arange(_BLOCK_LETTERS, ends[-1] + _BLOCK_LETTERS, _BLOCK_LETTERS)
    cuts = np.unique(np.minimum(np.searchsorted(ends, marks) + 1, len(reads))).tolist()
    return [range(start, stop) for start, stop in zip([0, *cuts], cuts, strict=False)]
