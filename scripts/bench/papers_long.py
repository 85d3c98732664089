"""Long pairs on a GPU, in the shape of the table and figure 7 of Huynh et al., and 1 Mb pairs.

Every alignment is compared byte for byte with the CPU engine's, or rescored where that would take
minutes, before anything is timed. `print_tables` is what ``benchmark.py papers`` calls.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.choices import MODES
from pairalign.engines.cpu.engine import CpuEngine
from pairalign.engines.cuda.block_diagonals.family import BlockDiagonals
from pairalign.engines.cuda.cuda_device import CudaDevice
from pairalign.engines.cuda.devices import find_devices
from pairalign.engines.cuda.engine import CudaEngine
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.reading import read_fasta
from pairalign.sequences.sets import SequenceSet

LAUNCHES = Path(__file__).with_name("score_diagonals_by_launch.cu")

PAPER_BLOCKS = (8, 16, 32)
PAPER_LENGTHS = (10_000, 20_000, 37_000, 45_000)
PAPER_SECONDS = {  # GTX 1080; its Table 1, and its text for 37,000
    (10_000, 8): 0.0580139,
    (10_000, 16): 0.0581879,
    (10_000, 32): 0.0887748,
    (20_000, 8): 0.1960025,
    (20_000, 16): 0.1915364,
    (20_000, 32): 0.3177149,
    (37_000, 32): 1.1,
}
PAPER_CPU_SECONDS = {10_000: 3.72, 20_000: 14.875}
PAPER_SPEEDUP = {37_000: 48}  # figure 7, 32 x 32
ROUND_LENGTHS = (2_000, 3_000, 5_000, 10_000, 20_000, 37_000, 45_000, 50_000)
GOAL_45K, GOAL_1M = 300, 500  # GCUPS with the alignment
MEMORY_1M = 4 << 30
ONE_PAIR = Window(0, 0, 2, 0, 2, True)


class DiagonalsByLaunch:
    """The paper's way: one launch for each diagonal of blocks; global scores only.

    Parameters
    ----------
    device : CudaDevice
    block : int
        8, 16 or 32 rows and columns a block.
    scoring : Scoring
    """

    def __init__(self, device: Any, block: int, scoring: Scoring) -> None:
        self._driver = device.driver
        self._block = block
        self._scoring = scoring
        module = device.load_module(str(LAUNCHES), {"PAIRALIGN_BLOCK": block})
        self._start = module.get_function("start_diagonals")
        self._score = module.get_function("score_diagonal")

    def score(self, rows: npt.NDArray[np.uint8], columns: npt.NDArray[np.uint8]) -> int:
        """Upload two sequences of codes and score them; the CUDA context must be current."""
        driver, block, costs = self._driver, self._block, self._scoring
        table = np.ascontiguousarray(costs.matrix, np.int32)
        inputs = [np.ascontiguousarray(one) for one in (rows, columns, table)]
        buffers = [driver.mem_alloc(one.nbytes) for one in inputs]
        for buffer, array in zip(buffers, inputs, strict=True):
            driver.memcpy_htod(buffer, array)
        m, n = len(rows), len(columns)
        down, across = -(-m // block), -(-n // block)
        buffers += [driver.mem_alloc(8 * n), driver.mem_alloc(8 * m)]
        buffers.append(driver.mem_alloc(4 * (down + across)))
        sizes = [np.int32(x) for x in (m, n, costs.gap_open, costs.gap_extend)]
        most = max(m, n, down + across)
        try:
            self._start(*buffers[3:], *sizes, block=(256, 1, 1), grid=(-(-most // 256), 1))
            for diagonal in range(down + across - 1):
                first = max(0, diagonal - (across - 1))
                blocks = min(diagonal, down - 1) - first + 1
                self._score(
                    *buffers,
                    *sizes,
                    np.int32(diagonal),
                    block=(block, block, 1),
                    grid=(blocks, 1),
                )
            last = np.empty(2, np.int32)
            driver.memcpy_dtoh(last, int(buffers[3]) + 8 * (n - 1))
        finally:
            for buffer in buffers:
                buffer.free()
        return int(last[0])


def make_pair(letters: int, changed: float = 0.1, seed: int = 1) -> SequenceSet:
    """Two DNA sequences of a given length, the second the first with changes and gaps."""
    rng = np.random.default_rng(seed)
    first = rng.integers(4, size=letters)
    second = np.where(rng.random(letters) < changed, rng.integers(4, size=letters), first)
    pieces, at = [], 0
    for cut in np.sort(rng.integers(letters, size=max(1, letters // 500))).tolist():
        pieces.append(second[at:cut])
        if rng.integers(2):
            pieces.append(rng.integers(4, size=int(rng.geometric(0.1))))
            at = cut
        else:
            at = min(letters, cut + int(rng.geometric(0.1)))
    pieces.append(second[at:])
    second = np.concatenate([*pieces, rng.integers(4, size=letters)])[:letters]
    text = ["".join(np.array(list("ACGT"))[one]) for one in (first, second)]
    return SequenceSet.from_strings(text, alphabet="dna")


def first_letters(paths: Iterable[Path], letters: int | None) -> SequenceSet:
    """The first residues of the first sequence of each of some files."""
    whole = [read_fasta(path, alphabet="dna")[0].letters for path in paths]
    return SequenceSet.from_strings([one[:letters] for one in whole], alphabet="dna")


def open_gpu(
    device: CudaDevice, sequences: SequenceSet, scoring: Scoring, memory_bytes: int | None = None
) -> CudaEngine:
    """The CUDA engine with the kernel of block diagonals."""
    return CudaEngine(
        device, sequences, None, scoring, family=BlockDiagonals.name, memory_bytes=memory_bytes
    )


def check_same(expected: Alignments, found: Alignments) -> None:
    """Raise when two engines' alignments differ in any byte."""
    for name, column in vars(expected).items():
        if isinstance(column, np.ndarray) and not np.array_equal(column, getattr(found, name)):
            raise SystemExit(
                f"engines differ in '{name}': {column[:3]}, {getattr(found, name)[:3]}"
            )


def check_rescored(found: Alignments) -> None:
    """Raise when residues and CIGAR do not add up to the score."""
    spans = {
        name: int(getattr(found, name)[0])
        for name in ("query_start", "query_end", "target_start", "target_end")
    }
    query = found.queries.codes_of(int(found.query[0]))
    target = found.targets.codes_of(int(found.target[0]))
    assert found.cigar is not None
    score = found.scoring.rescore(query, target, found.cigar, **spans)
    if score != int(found.raw_score[0]):
        raise SystemExit(f"rescored {score}, found {int(found.raw_score[0])}")


def timed(job: Callable[[], object], rounds: int) -> list[float]:
    """Seconds of each round."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return seconds


def show(seconds: list[float]) -> str:
    """Median and range in milliseconds."""
    ordered = sorted(1e3 * one for one in seconds)
    return f"{statistics.median(ordered):.2f} ({ordered[0]:.2f}-{ordered[-1]:.2f})"


def table_of_lengths(device: CudaDevice, rounds: int) -> list[str]:
    """The paper's table and figure 7, and what lies around them: global, affine gaps."""
    scoring = make_scoring("dna", mode="global")
    lines = [
        "| residues | CPU engine, 1 core, ms | by launch 8 / 16 / 32, ms | paper 8 / 16 / 32, ms | "
        "scores, ms | GCUPS | alignment, ms | GCUPS | times the CPU engine | paper's |",
        "|" + " --- |" * 10,
    ]
    for letters in ROUND_LENGTHS:
        sequences = make_pair(letters)
        codes = [sequences.codes_of(k) for k in (0, 1)]
        cells = len(codes[0]) * len(codes[1])
        cpu = CpuEngine(sequences, None, scoring, memory_bytes=8 << 30)
        expected = cpu.align(ONE_PAIR, Want())
        on_cpu = timed(partial(cpu.align, ONE_PAIR, Want()), 3 if letters > 20_000 else rounds)
        by_launch = []
        if letters in PAPER_LENGTHS:
            with device.current():
                for block in PAPER_BLOCKS:
                    paper = DiagonalsByLaunch(device, block, scoring)
                    if paper.score(*codes) != int(expected.raw_score[0]):
                        raise SystemExit(f"block {block}: another score than the CPU engine's")
                    by_launch.append(timed(partial(paper.score, *codes), 3))
        engine = open_gpu(device, sequences, scoring)
        try:
            check_same(expected, engine.align(ONE_PAIR, Want()))
            scores = timed(partial(engine.align, ONE_PAIR, Want(Detail.SCORE)), rounds)
            aligned = timed(partial(engine.align, ONE_PAIR, Want()), rounds)
        finally:
            engine.close()
        theirs = [PAPER_SECONDS.get((letters, block)) for block in PAPER_BLOCKS]
        in_paper = PAPER_SPEEDUP.get(letters)
        if letters in PAPER_CPU_SECONDS:
            in_paper = round(PAPER_CPU_SECONDS[letters] / PAPER_SECONDS[letters, 32])
        cells_of = [cells / statistics.median(one) / 1e9 for one in (scores, aligned)]
        columns = (
            f"{letters:,}",
            show(on_cpu),
            " / ".join(f"{1e3 * statistics.median(one):.1f}" for one in by_launch) or "-",
            " / ".join("-" if one is None else f"{1e3 * one:.0f}" for one in theirs),
            show(scores),
            f"{cells_of[0]:.0f}",
            show(aligned),
            f"{cells_of[1]:.0f}",
            f"{statistics.median(on_cpu) / statistics.median(aligned):.1f}",
            "-" if in_paper is None else str(in_paper),
        )
        lines.append("| " + " | ".join(columns) + " |")
        print(lines[-1], file=sys.stderr)
    return lines


def table_of_genomes(
    device: CudaDevice, pairs: dict[str, SequenceSet], rounds: int, memory_bytes: int
) -> list[str]:
    """Pairs of genomes in each mode: with `memory_bytes` of the device, CIGARs rescored."""
    lines = [
        "| pair | mode | seconds | GCUPS | score | identity | columns | CIGAR runs |",
        "|" + " --- |" * 8,
    ]
    for name, sequences in pairs.items():
        cells = int(np.prod(sequences.lengths.astype(object)))
        for mode in MODES:
            scoring = make_scoring("dna", mode=mode)
            engine = open_gpu(device, sequences, scoring, memory_bytes)
            try:
                found = engine.align(ONE_PAIR, Want())
                check_rescored(found)
                if cells < 1e10:
                    cpu = CpuEngine(sequences, None, scoring, memory_bytes=8 << 30)
                    check_same(cpu.align(ONE_PAIR, Want()), found)
                seconds = timed(
                    partial(engine.align, ONE_PAIR, Want()), rounds if cells < 2e12 else 1
                )
            finally:
                engine.close()
            ordered = sorted(seconds)
            median = statistics.median(ordered)
            assert found.cigar is not None
            columns = (
                name,
                mode,
                f"{median:.3f} ({ordered[0]:.3f}-{ordered[-1]:.3f})",
                f"{cells / median / 1e9:.0f}",
                str(int(found.raw_score[0])),
                f"{100 * float(found.identity[0]):.2f}%",
                f"{int(found.columns[0]):,}",
                f"{len(found.cigar):,}",
            )
            lines.append("| " + " | ".join(columns) + " |")
            print(lines[-1], file=sys.stderr)
    return lines


def print_tables(genomes: list[Path], pair: Path | None, rounds: int = 5) -> list[str]:
    """Measure everything on the first GPU; return the tables' lines in Markdown.

    Parameters
    ----------
    genomes : list of Path
        Two files, whose first 1,000,000 residues and whole first sequences are aligned; or none.
    pair : Path or None
        A file with two sequences.
    rounds : int
    """
    device = find_devices()[0]
    lines = table_of_lengths(device, rounds)
    pairs: dict[str, SequenceSet] = {}
    if pair is not None:
        pairs[pair.name.split(".")[0]] = read_fasta(pair, alphabet="dna")
    if genomes:
        pairs["1 Mb"] = first_letters(genomes, 1_000_000)
        pairs["whole genomes"] = first_letters(genomes, None)
    if pairs:
        lines += ["", *table_of_genomes(device, pairs, 3, MEMORY_1M)]
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--genomes", type=Path, nargs=2, default=[], help="two FASTA files")
    parser.add_argument("--pair", type=Path, help="a FASTA file with two sequences")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    lines = print_tables(options.genomes, options.pair, options.rounds)
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
