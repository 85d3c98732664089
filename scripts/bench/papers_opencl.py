"""Kakimoto et al. 2012, figure 3, on OpenCL: ``scripts/benchmark.py papers --part opencl``.

Of the paper's six configurations two are OpenCL: 1 on an NVIDIA GPU and 6 on an AMD one, both with
the profile in global memory and a simple reduction through local memory. Here every OpenCL device
of the machine runs that, and besides it a vote of the warp or sub-group where the device has one,
which OpenCL did not have then. On a CPU the database is a sample: there barriers become loops over
the work-items. Scores are compared with the CPU engine's first.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from bench.papers_search import repeated
from bench.papers_table import Table
from pairalign.engines.cpu.engine import CpuEngine
from pairalign.engines.opencl import engine as opencl
from pairalign.engines.opencl.devices import OpenClDevice, find_devices
from pairalign.engines.opencl.engine import OpenClEngine
from pairalign.engines.opencl.papers.striped import OpenClStriped
from pairalign.errors import DeviceError
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.reading import read_fasta
from pairalign.sequences.sets import SequenceSet

LENGTHS = (100, 150, 200, 300, 400, 500, 600, 700, 800, 900, 1015)
REDUCTIONS = {
    "LOCAL_MEMORY": "reduction (Conf. {})",
    "WARP": "warp vote",
    "SUB_GROUP": "sub-group vote",
}
CPU_SAMPLE = 200
"""Sequences of the database that a CPU aligns: it is a hundred times slower."""

SCORES = Want(Detail.SCORE)


def tables(options: argparse.Namespace) -> list[Table]:
    """Figure 3's GCUPS over the query's length, a column for each device and way to vote."""
    try:
        devices = find_devices()
    except DeviceError as error:
        return [Table("Kakimoto et al., figure 3, OpenCL", ("not run",), [[str(error)]])]
    scoring = make_scoring(
        PROTEIN, mode="local", matrix="BLOSUM50", gap_open=12, gap_extend=2
    )  # a gap of k costs 10 + 2k
    single = read_fasta(options.data, alphabet=PROTEIN)
    enough = [one for one in read_fasta(options.queries) if len(one.letters) >= max(LENGTHS)]
    long = min(enough, key=lambda one: len(one.letters))
    queries = SequenceSet.from_strings(
        {f"{length}": long.letters[:length] for length in LENGTHS}, alphabet=PROTEIN
    )
    database = repeated(single, max(1, options.times // 2), options.longest)
    sample = _sample(single, CPU_SAMPLE)
    headings, columns = ["letters"], []
    for device in devices:
        if device.why_not() is not None:
            continue
        against = sample if device.is_cpu else database
        for vote in _votes(device):
            _verify(device, vote, queries, _sample(single, 40), scoring)
            headings.append(f"{device.model}: {_name(device, vote)}")
            repeat = 2 if device.is_cpu else options.repeat
            columns.append(list(_measure(device, vote, queries, against, scoring, repeat)))
    return [
        Table(
            "Kakimoto et al., figure 3, OpenCL",
            headings,
            [[f"{length}", *row] for length, *row in zip(LENGTHS, *columns, strict=True)],
            notes=[
                f"Local, BLOSUM50, a gap of k costs 10 + 2k; {len(database):,} sequences, "
                f"{int(database.lengths.sum()) / 1e6:.0f} million residues ({len(sample)} "
                f"sequences on a CPU); the query is the first residues of {long.name}. GCUPS with "
                f"the copy of the scores: the median of {options.repeat} runs, and their range. "
                "The paper's best: 11.2 (Conf. 1, one GPU of a GTX 295), about 18 (Conf. 6, Radeon "
                "HD 5970)."
            ],
        )
    ]


def _sample(database: SequenceSet, number: int) -> SequenceSet:
    """Every so-manieth sequence."""
    chosen = np.linspace(0, len(database) - 1, min(number, len(database))).astype(int)
    return SequenceSet.from_strings(
        {database[int(k)].name: database[int(k)].letters for k in chosen}, alphabet=PROTEIN
    )


def _votes(device: OpenClDevice) -> Iterator[str]:
    """The ways to vote that a device has."""
    yield "LOCAL_MEMORY"
    if "NVIDIA" in device.platform:
        yield "WARP"
    elif device.is_cpu and "cl_khr_subgroups" in device.handle.extensions:
        yield "SUB_GROUP"  # PoCL: a work-group is one


def _name(device: OpenClDevice, vote: str) -> str:
    configuration = "6, other device" if "NVIDIA" not in device.platform else "1"
    return REDUCTIONS[vote].format(configuration)


def _open(
    device: OpenClDevice, vote: str, queries: SequenceSet, database: SequenceSet, scoring: Scoring
) -> OpenClEngine:
    opencl.OPENCL_FAMILIES["striped under test"] = partial(OpenClStriped, vote)
    return OpenClEngine(
        device, queries, database, scoring, family="striped under test", detail=Detail.SCORE
    )


def _verify(
    device: OpenClDevice, vote: str, queries: SequenceSet, part: SequenceSet, scoring: Scoring
) -> None:
    window = Window(0, 0, len(queries), 0, len(part), False)
    cpu = CpuEngine(queries, part, scoring, threads=os.cpu_count() or 1)
    engine = _open(device, vote, queries, part, scoring)
    expected, found = (one.align(window, SCORES).raw_score for one in (cpu, engine))
    cpu.close()
    engine.close()
    if not np.array_equal(expected, found):
        raise SystemExit(f"{device.name}, {vote}: scores differ from the CPU engine's")


def _measure(
    device: OpenClDevice,
    vote: str,
    queries: SequenceSet,
    database: SequenceSet,
    scoring: Scoring,
    repeat: int,
) -> Iterator[str]:
    """GCUPS of each query against the database, which is on the device before."""
    engine = _open(device, vote, queries, database, scoring)
    rows = np.argsort(queries.order)  # of the queries as given
    for query, row in enumerate(rows.tolist()):
        window = Window(0, row, row + 1, 0, len(database), False)
        gcells = float(queries.lengths[query]) * float(database.lengths.sum()) / 1e9
        seconds = []
        for _ in range(repeat + 1):  # the first to warm up
            start = time.perf_counter()
            engine.align(window, SCORES)
            seconds.append(time.perf_counter() - start)
        yield _gcups(gcells, seconds[1:])
    engine.close()


def _gcups(gcells: float, seconds: Sequence[float]) -> str:
    """At the median time, and at the slowest and the fastest; CPUs need three digits."""
    every = [gcells / one for one in (statistics.median(seconds), max(seconds), min(seconds))]
    digits = 0 if every[0] >= 20 else 3
    middle, low, high = (f"{one:.{digits}f}" for one in every)
    return f"{middle} ({low}-{high})"
