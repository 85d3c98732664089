"""The subcommand `waste`: how many of the cells that the CPU engine's lanes fill belong to no pair.

Nothing is aligned: the groups are worked out from the lengths, as ``cpu/align`` makes them. A
batch is a row sequence against a group of columns and fills ``lanes * rows * longest column``
cells. Those are wasted that stand beyond a shorter column, in lanes of pairs that the triangle
leaves out, and in lanes that a window's last group leaves empty. Pairs of rows that would leave
most lanes so are batches of their own, a row a lane, which waste what stands beyond a shorter row
or column. Pairs that are aligned one by one, on all lanes, waste the rows that fill up the last
strip, and the steps in which lanes start and stop.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.report import Row
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.reading import read_fasta

WINDOW = 1024
CLASSES = (0, 100, 200, 400, 800, 1600, 3200, 1 << 30)
"""Where classes of row lengths begin, and where the last ends."""

LANES = {"avx512": (64, 16, 8, 3), "avx2": (32, 8, 4, 4), "sse41": (16, 4, 4, 4)}
"""8-bit lanes; for one pair on all lanes: 32-bit lanes, rows of a lane, cost of a vector."""

BYTE_COST = 2.5
"""What a vector of 8-bit cells costs, in the units of ``cpu/core/plan.cpp``."""

OWN_ROWS = 2.4
"""How many times as much, where each lane has a row of its own; of proteins."""

Lengths = npt.NDArray[np.int64]


def add_command(commands: _SubParsersAction[ArgumentParser]) -> None:
    """Add the subcommand."""
    waste = commands.add_parser("waste", help="idle lanes of the CPU engine, by length class")
    waste.add_argument("--data", type=Path, required=True, help="sequences, a FASTA file")
    waste.add_argument("--isa", choices=LANES, default="avx2", help="vectors of which machine")
    waste.add_argument("--markdown", type=Path, help="write the table here as well")
    waste.set_defaults(run=run)


def run(options: Namespace) -> tuple[list[Row], list[str]]:
    """Work out a table by length of the row sequence, which is the longer one."""
    lengths = np.sort(read_fasta(options.data, alphabet=PROTEIN).lengths.astype(np.int64))[::-1]
    needed, filled = cells_of_rows(lengths, options.isa)
    rows = []
    for low, high in (*pairwise(CLASSES), (CLASSES[0], CLASSES[-1])):
        here = (lengths >= low) & (lengths < high)
        if not needed[here].sum():
            continue
        share = 1 - needed[here].sum() / filled[here].sum()
        name = "all" if high - low == CLASSES[-1] else f"rows of {low} to {high - 1}"
        if high == CLASSES[-1] and low:
            name = f"rows of {low} and more"
        rows.append(
            Row(
                f"{name}: {here.sum():,} sequences",
                f"{filled[here].sum() / 1e9:,.0f} Gcells filled",
                "needed",
                f"{needed[here].sum() / 1e9:,.0f} Gcells",
                f"{100 * share:.1f} % wasted",
                "< 5 %" if name == "all" else "",
                bool(share < 0.05) if name == "all" else None,
            )
        )
    return rows, [f"{options.data.name}: {len(lengths):,} sequences, vectors of {options.isa}"]


def cells_of_rows(lengths: Lengths, isa: str) -> tuple[Lengths, Lengths]:
    """Return the cells that each row's pairs need, and the cells that are filled for them."""
    lanes = LANES[isa][0]
    few = int(lanes / OWN_ROWS)
    count = len(lengths)
    needed, filled = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for start in range(0, count, WINDOW):
        stop = min(start + WINDOW, count)
        thin: list[tuple[int, int]] = []
        for group in range(start, stop, lanes):
            end = min(group + lanes, stop)
            columns = lengths[group:end]
            # Rows above the group have all of its pairs, those in it the ones behind themselves.
            needed[:group] += lengths[:group] * columns.sum()
            if end - group < few:
                thin += [(row, column) for row in range(group) for column in range(group, end)]
            else:
                filled[:group] += _filled(lengths[:group], columns, isa)
            for row in range(group, end - 1):
                behind = lengths[row + 1 : end]
                needed[row] += lengths[row] * behind.sum()
                if len(behind) < few:
                    thin += [(row, column) for column in range(row + 1, end)]
                else:
                    filled[row] += _filled(lengths[row : row + 1], behind, isa)[0]
        _add_own_rows(filled, lengths, np.array(thin).reshape(-1, 2), lanes)
    return needed, filled


def _add_own_rows(filled: Lengths, lengths: Lengths, pairs: Lengths, lanes: int) -> None:
    """Add what pairs fill that are batches of their own, as ``cpu/align/own_row_pairs.cpp``.

    Parameters
    ----------
    filled : ndarray
        Cells of each row, which are added to.
    lengths, pairs : ndarray
        Lengths, longest first; row and column of each pair.
    lanes : int
        Pairs of a batch.
    """
    batches = (len(pairs) + lanes - 1) // lanes
    across = max(1, round(float(np.sqrt(batches))))
    stretch = max(1, (batches + across - 1) // across * lanes)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    for begin in range(0, len(pairs), stretch):
        part = pairs[begin : begin + stretch]
        part = part[np.argsort(part[:, 1], kind="stable")]
        for first in range(0, len(part), lanes):
            batch = part[first : first + lanes]
            cells = lengths[batch].max(axis=0).prod()
            np.add.at(filled, batch[:, 0], cells * lanes // len(batch))


def _filled(rows: Lengths, columns: Lengths, isa: str) -> Lengths:
    """Return the cells filled for each of `rows` against a group of which `columns` are left.

    The longest columns are aligned one by one where that costs less, as in ``cpu/align/worker.h``.
    """
    lanes, wide, lane_rows, long_cost = LANES[isa]
    least = BYTE_COST * rows * columns[0]
    filled = lanes * rows * columns[0]
    if columns[0] < 2 * columns[-1] and len(columns) * 4 > lanes:
        return filled
    strips = (rows + wide * lane_rows - 1) // (wide * lane_rows) * lane_rows
    one_by_one, own = np.zeros(len(rows)), np.zeros(len(rows), np.int64)
    for k, column in enumerate(columns):
        vectors = strips * (column + 2 * wide)
        one_by_one += vectors * long_cost
        own += vectors * wide
        rest = columns[k + 1] if k + 1 < len(columns) else 0
        better = one_by_one + BYTE_COST * rows * rest < least
        least = np.where(better, one_by_one + BYTE_COST * rows * rest, least)
        filled = np.where(better, own + lanes * rows * rest, filled)
    return filled
