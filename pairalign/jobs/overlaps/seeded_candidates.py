"""Candidates by seeds, pairalign's own or those of mappy, minimap2's library: pairs and strands.

Own seeds are words of equal residues. Where thresholds force a run of them, each pair that has such
a run is a candidate, so that no overlap is missed. Elsewhere several seeds must be near a diagonal,
and an alignment near them must score 0.7 of what an overlap must.

References
----------
H. Li: Minimap2: pairwise alignment for nucleotide sequences. Bioinformatics 34(18):3094-3100, 2018.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from pairalign.base.arrays import Int32s
from pairalign.base.error_types import DeviceError, PairListError
from pairalign.base.packages import check_package
from pairalign.base.spelling import spelled
from pairalign.engines.cpu.seed_index import pairs_with_seeds
from pairalign.jobs.overlaps import seed_worker
from pairalign.jobs.overlaps.overlap_plan import OverlapPlan
from pairalign.jobs.overlaps.overlap_request import OverlapRequest
from pairalign.jobs.overlaps.presets import Preset
from pairalign.jobs.overlaps.stages import OverlapThresholds
from pairalign.reads.candidates import Candidates, Seeds
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

MAPPY, SEEDS = "mappy", "seeds"
"""What ``--candidates`` calls them."""

_RESIDUES_A_WORD = 256
"""Own seeds have as many bases as leaves no more residues of the set for each word."""
_FORCED_WORDS, _WORDS, _POINTS = range(11, 13), range(8, 13), 13
"""Their lengths where runs are forced, and where they are not; what seeds near each other must
have, see ``cpu/suboptimal/seed_pairs.cpp``. Chosen by the lambda reads, like the rest."""
_NOISY, _NOISY_WORDS, _NOISY_POINTS = Fraction(64, 100), range(7, 12), 22
"""Least identity below which more words are looked at, and what is taken then."""
_SCORE = Fraction(7, 10)
"""Share of an overlap's least score that an alignment near seeds must reach."""
_SURE = 3
"""Times an overlap's least score, from which on it has seeds: of 6,733 overlaps of the lambda reads
32 have none, which score 2.2 times as much at most."""
_SAMPLE = "a sample: "
_RECALL = "99.5% of overlaps were found of nanopore reads with the defaults, 93% at 30% errors"
_NO_RECALL = (
    "how many overlaps are found was measured with the defaults, and not with what is asked"
)

_BAND = 100
"""mappy aligns every hit, which nobody asked for; in narrow bands that takes half as long."""
_SHORT_SEEDS, _WINDOW, _MOST_FOR_SHORT = (10, 11, 12), 3, 4_000_000
"""Lengths of short seeds and the window of neighbours, for sets so small that short seeds are
specific."""
_WORDS_A_RESIDUE = 4
"""Words a residue of the set, as of 12 residues in sets of 4 million: few are shared by chance."""
_ACCURATE_CHAIN, _NOISY_SEED, _SEEDS, _LEAST_CHAIN = 100, 15, 3, 20
"""Residues in seeds that a candidate of accurate reads needs, as with minimap2; noisy reads need
three seeds, since an overlap of 560 residues may have no more."""
_ACCURATE_SEED, _ACCURATE_WINDOW = 19, 10
"""Seeds of accurate reads, not compressed: where A and T are many, reads without their runs of a
base look alike everywhere."""
_SHOWN_BYTES = 2000


def find_candidates(name: str, reads: SequenceSet, plan: OverlapPlan, threads: int) -> Candidates:
    """Find pairs of reads that share seeds, by the name that ``--candidates`` has for how.

    Parameters
    ----------
    name : {"seeds", "mappy"}
    reads : SequenceSet
        Of DNA.
    plan : OverlapPlan
        Scoring and thresholds.

    Returns
    -------
    Candidates
        By first read, second read and strand, whatever the threads.

    Raises
    ------
    MissingPackageError
        mappy is not installed.
    PairListError
        No two reads share seeds of mappy.
    CapacityError
        Out of memory.
    """
    if name == MAPPY:
        return seed_candidates(reads, plan.preset, plan.thresholds.min_overlap, threads)
    candidates = own_candidates(reads, plan.scoring, plan.thresholds, threads)
    if candidates.seeds is None or plan.scoring != plan.preset.scoring(plan.scoring.mode):
        return candidates
    least = max(plan.thresholds.min_raw_score, plan.preset.min_score * plan.scoring.scale)
    return replace(candidates, sure_score=_SURE * least)


def own_candidates(
    reads: SequenceSet, scoring: Scoring, thresholds: OverlapThresholds, threads: int
) -> Candidates:
    """Find pairs of reads that share pairalign's own seeds; see `find_candidates`."""
    started = time.perf_counter()
    word, points, score = _own_seeds(reads, thresholds)
    table = pairs_with_seeds(
        reads, scoring, word=word, least_seeds=points, least_score=score, threads=threads
    )
    seeds = Seeds(word, points, score) if score else None
    candidates = _found_by(SEEDS, reads, table, started)
    return replace(candidates, seeds=seeds, may_lack_strands=True)


def _own_seeds(reads: SequenceSet, thresholds: OverlapThresholds) -> tuple[int, int, int]:
    """Choose residues of a seed, points that are needed, and the score near them, 0: any."""
    run = thresholds.forced_run
    if run:
        word = min(run, _shortest_rare(reads, _FORCED_WORDS, _RESIDUES_A_WORD))
        return word, run - word + 1, 0
    is_noisy = thresholds.min_identity < _NOISY
    words, points = (_NOISY_WORDS, _NOISY_POINTS) if is_noisy else (_WORDS, _POINTS)
    score = math.ceil(_SCORE * thresholds.min_raw_score)
    return _shortest_rare(reads, words, _RESIDUES_A_WORD), points, score


def recall_of(thresholds: OverlapThresholds, request: OverlapRequest) -> str:
    """Say how many of all overlaps own seeds find, and with which thresholds that was measured."""
    if thresholds.forced_run:
        return "no overlap is missed"
    others = (
        request.min_overlap,
        request.min_identity,
        request.min_score,
        request.max_false,
        request.costs_instead,
    )
    is_usual = all(option is None for option in others) and not request.costs
    return _SAMPLE + (_RECALL if is_usual else _NO_RECALL)


def check_mappy() -> None:
    """Raise MissingPackageError where mappy is not installed."""
    check_package("mappy", spelled("candidates", MAPPY), "mappy", "'pairalign[overlap]'")


def seed_candidates(
    reads: SequenceSet, preset: Preset, min_overlap: int, threads: int
) -> Candidates:
    """Find pairs of reads that share seeds of mappy; see `find_candidates`.

    Parameters
    ----------
    preset : Preset
        minimap2's ``ava-ont``: of ``hifi`` with seeds of 19 bases; of others, in sets of up to 4
        million bases, with seeds of 10 to 12 and more of them.
    min_overlap : int
        Residues: chains of less than a fifth as many, or three seeds (``hifi``: 100), are no
        candidates.
    """
    check_mappy()
    started = time.perf_counter()
    options = _seed_options(reads, preset, min_overlap)
    with tempfile.TemporaryDirectory(prefix="pairalign-") as folder:
        path = os.path.join(folder, "reads.fa")
        _write_numbered(path, reads)
        table = _run_worker(reads.source, {"path": path, "threads": threads, "options": options})
    return _found_by(MAPPY, reads, table, started)


def _found_by(name: str, reads: SequenceSet, table: Int32s, started: float) -> Candidates:
    """Return candidates from a table of first read, second read and strand."""
    if not len(table) and name == MAPPY:
        raise PairListError(f"{reads.source}: {name} finds no two reads that share seeds")
    strands = table[:, 2].astype(np.int8)
    return Candidates(table[:, 0], table[:, 1], strands, name, time.perf_counter() - started)


def _seed_options(reads: SequenceSet, preset: Preset, min_overlap: int) -> dict[str, Any]:
    """Choose what mappy is asked for: seeds, and how many bases of them make a candidate."""
    options: dict[str, Any] = {"preset": "ava-ont", "bw": _BAND}
    chain = _SEEDS * _NOISY_SEED
    if preset.name == "hifi":
        chain = _ACCURATE_CHAIN
        options.update(k=_ACCURATE_SEED, w=_ACCURATE_WINDOW)
    elif reads.total_residues <= _MOST_FOR_SHORT:
        seed = _short_seed(reads)
        chain = _SEEDS * seed
        options.update(k=seed, w=_WINDOW)
    return {**options, "min_chain_score": max(_LEAST_CHAIN, min(chain, min_overlap // 5))}


def _run_worker(source: str, request: dict[str, Any]) -> Int32s:
    """Run mappy in a process of its own, which a signal ends; return its table of pairs."""
    run = f"import sys; sys.path[:] = {sys.path!r}; from {seed_worker.__name__} import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", run, json.dumps(request)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as worker:
        try:
            assert worker.stdout is not None
            assert worker.stderr is not None
            data, said = worker.stdout.read(), worker.stderr.read()  # what it says fits a pipe
            code = worker.wait()
        finally:
            worker.kill()
    if code == seed_worker.NO_INDEX:
        raise PairListError(f"{source}: mappy cannot make an index of the reads")
    if code:
        last = said.decode(errors="replace").strip()[-_SHOWN_BYTES:]
        raise DeviceError(f"{source}: mappy failed (exit code {code}): {last}")
    return np.frombuffer(data, np.int32).reshape(-1, 3)


def _short_seed(reads: SequenceSet) -> int:
    """Residues of seeds no more frequent than in large sets: more where A and T are many."""
    return _shortest_rare(reads, _SHORT_SEEDS, 1 / _WORDS_A_RESIDUE)


def _shortest_rare(reads: SequenceSet, sizes: Sequence[int], residues_a_word: float) -> int:
    """Return the least size of which words are rare, as the residues are distributed."""
    counts = np.bincount(reads.codes, minlength=4)[:4]
    shares = counts / max(1, counts.sum())
    words_a_residue = 1 / max(float((shares**2).sum()), 1e-9)  # as if all residues were as frequent
    for size in sizes[:-1]:
        if words_a_residue**size * residues_a_word >= reads.total_residues:
            return size
    return sizes[-1]


def _write_numbered(path: str, reads: SequenceSet) -> None:
    """Write reads as FASTA, with their numbers as names."""
    with open(path, "w", encoding="ascii") as file:
        for number in range(len(reads)):
            file.write(f">{number}\n{reads[number].residues}\n")
