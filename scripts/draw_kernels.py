"""Draw how each kernel walks through its matrices: the SVG files ``docs/images/kernel-*.svg``.

    python scripts/draw_kernels.py                 # into docs/images
    python scripts/draw_kernels.py -o elsewhere

Needs matplotlib. Sizes are smaller than the kernels' own, so that cells can be seen.
"""

from __future__ import annotations

from collections.abc import Callable

from drawing import (
    DARK,
    INK,
    MARK,
    PALE,
    PATH,
    SHADES,
    arrow,
    box,
    canvas,
    draw_all,
    fit,
    grid,
    path,
    say,
)
from matplotlib.axes import Axes


def windows() -> None:
    """Pairs, windows, slabs: what every kernel gets."""
    (axes,) = canvas("All pairs of a set: a triangle, cut into windows", 6.4, 4.2)
    size, window = 12, 3
    for row in range(0, size, window):
        for column in range(0, size, window):
            if column + window <= row:
                continue
            for r in range(row, row + window):
                for c in range(column, column + window):
                    if c > r:
                        box(axes, c, r, 1, 1, PALE, 0.2)
            points = [(max(column, row), row), (column + window, row)]
            if column == row:
                points = [(row + 1, row), (row + window, row), (row + window, row + window - 1)]
                axes.plot(*zip(*points, strict=True), color=INK, linewidth=1.4)
            else:
                box(axes, column, row, window, window, line=1.4)
    for c in range(9, 12):
        box(axes, c, 3, 1, 1, MARK, 0.3)
        box(axes, c, 4, 1, 1, MARK, 0.3)
    box(axes, 9, 3, 3, 3, line=1.4)
    say(axes, 6, -0.7, "sequences, longest first")
    say(axes, -0.7, 6, "sequences, longest first", rotation=90)
    say(axes, 3.2, 9.6, "a cell is one pair: a matrix of its own", 8)
    say(
        axes,
        13.2,
        4,
        "slab: whole rows of a\nwindow, what an engine\nis given at a time",
        8,
        ha="left",
    )
    arrow(axes, (13, 4), (11.6, 4))
    say(axes, 13.2, 7.5, "window: the order\nof results", 8, ha="left")
    arrow(axes, (13, 7.5), (12.1, 7.5))
    fit(axes, -1.2, 19, -1.3, 12.4)


def packed() -> None:
    """Two pairs a word, columns over lanes, tiles that are parallelograms."""
    left, right = canvas(
        "packed: a group of lanes fills two matrices at once, and keeps borders of tiles", 9, 4, 2
    )
    lanes, per_lane, rows = 4, 3, 12
    draw_step(left, lanes, per_lane, rows)
    draw_tiles(right, lanes, per_lane, rows)


def draw_step(axes: Axes, lanes: int, per_lane: int, rows: int) -> None:
    """Rows that the lanes of a group fill in one step."""
    for lane in range(lanes):
        grid(axes, lane * per_lane, 0, per_lane, rows, SHADES[lane])
        box(axes, lane * per_lane, 0, per_lane, rows, line=1.2)
        say(axes, lane * per_lane + per_lane / 2, -0.6, f"lane {lane}", 7)
        step = 7 - lane
        box(axes, lane * per_lane, step, per_lane, 1, MARK, 0.8)
        if lane:
            arrow(
                axes, (lane * per_lane - 0.5, step + 1.5), (lane * per_lane + 0.6, step + 0.6), PATH
            )
    say(axes, 6, rows + 0.8, "one step: each lane takes one row of its K columns (H and F in", 7)
    say(axes, 6, rows + 1.6, "registers); (H, E) goes to the next lane by shuffle, a row later", 7)
    say(axes, -1.7, 6, "row sequence,\nfor both pairs", 7, rotation=90)
    say(
        axes, 6, -1.7, "two column sequences: pair A in the low 16 bits of a word, B in the high", 7
    )
    fit(axes, -2.6, 13.4, -2.4, rows + 2.4)


def draw_tiles(axes: Axes, lanes: int, per_lane: int, rows: int) -> None:
    """Tiles of the same matrix, and those that a path crosses."""
    tier = 4
    for lane in range(lanes):
        for start in range(-1, 5):
            top = start * tier - lane
            low, high = max(0, top), min(rows + 3, top + tier)
            if high <= low:
                continue
            filled = (lane, start) in {
                (3, 4),
                (3, 3),
                (2, 3),
                (2, 2),
                (1, 2),
                (1, 1),
                (0, 1),
                (0, 0),
            }
            box(axes, lane * per_lane, low, per_lane, high - low, MARK if filled else PALE, 0.9)
    path(
        axes,
        [
            (0, 0.2),
            (1, 1),
            (2, 2.6),
            (3, 4),
            (5, 6),
            (6, 6.4),
            (8, 9),
            (9, 10.4),
            (11, 12.4),
            (12, 15),
        ],
    )
    say(
        axes,
        6,
        rows + 3.8,
        "tiles: K columns x 16 steps. Only their borders are kept, 8 bits a",
        7,
    )
    say(axes, 6, rows + 4.6, "value; the tiles on the path are filled again, each by one thread", 7)
    fit(axes, -1, 13.4, -2.4, rows + 5.2)


def pair_per_thread() -> None:
    """A block of pairs, and tiers of eight rows."""
    left, right = canvas(
        "pair-per-thread: a thread a pair, all flags kept (Blazewicz et al.)", 9, 3.9, 2
    )
    grid(left, 0, 0, 16, 16, PALE)
    grid(left, 0, 4, 16, 2, MARK)
    for row in range(0, 16, 2):
        box(left, 0, row, 16, 2, line=0.9)
    say(left, 8, -0.9, "16 column sequences", 7)
    say(left, -0.9, 8, "16 row sequences", 7, rotation=90)
    say(left, 8, 17, "a block of 256 pairs; a warp (32 threads) has two rows of them", 7)
    fit(left, -2, 17, -1.8, 18)

    columns, tier = 14, 4
    grid(right, 0, 0, columns, 12, PALE)
    grid(right, 0, 0, columns, tier, DARK)
    grid(right, 0, tier, 8, tier, DARK)
    box(right, 8, tier, 1, tier, MARK, 1.2)
    for row in range(0, 12, tier):
        box(right, 0, row, columns, tier, line=1.2)
    arrow(right, (9.2, 6), (11.4, 6), PATH)
    say(right, 7, -0.9, "the matrix of one thread's pair", 7)
    say(
        right,
        7,
        13,
        "tiers of 8 rows (here 4), column by column: 8 cells of 4 flags fill a word.",
        7,
    )
    say(
        right,
        7,
        13.9,
        "H and F of a tier's last row go through memory; the traceback reads flags",
        7,
    )
    fit(right, -1, columns + 1, -1.8, 15)


def block_diagonals() -> None:
    """Strips, a warp each, that follow each other."""
    left, right = canvas("block-diagonals: one pair on the whole GPU (Huynh et al.)", 9, 3.9, 2)
    strips, chunks = 5, 8
    for strip in range(strips):
        for chunk in range(chunks):
            wave = strip + chunk
            color = DARK if wave < 6 else MARK if wave == 6 else PALE
            box(left, chunk, strip, 1, 1, color, 0.4)
            if wave == 6 and strip < strips - 1:
                arrow(left, (chunk - 0.5, strip + 0.75), (chunk - 0.5, strip + 1.25), PATH)
        say(left, -0.9, strip + 0.5, f"warp {strip}", 7)
    say(left, 4, -0.5, "columns, 32 at a time", 7)
    say(left, 4, 5.6, "strips of 128 to 512 rows; the row between two strips goes through", 7)
    say(left, 4, 6.1, "global memory in words that say which strip may read them.", 7)
    say(left, 4, 6.6, "Blocks of one diagonal (orange) run at the same time", 7)
    fit(left, -1.8, 8.6, -1, 7)

    for row in range(6):
        for column in range(8):
            on_path = (row, column) in {
                (5, 7),
                (5, 6),
                (4, 6),
                (4, 5),
                (3, 4),
                (3, 3),
                (2, 3),
                (2, 2),
                (1, 1),
                (1, 2),
                (0, 0),
                (0, 1),
            }
            box(right, column, row, 1, 1, MARK if on_path else PALE, 0.9)
    path(
        right,
        [
            (0, 0),
            (0.8, 0.7),
            (1.2, 1),
            (2, 1.7),
            (2.4, 2),
            (3, 2.6),
            (3.5, 3),
            (4, 3.4),
            (5, 4),
            (6, 4.6),
            (6.4, 5),
            (7, 5.6),
            (8, 6),
        ],
    )
    say(right, 4, -0.5, "the traceback", 7)
    say(right, 4, 6.5, "borders of tiles stay in memory; tiles near the path are", 7)
    say(right, 4, 7.0, "filled again, with flags, many at a time, before a warp walks", 7)
    fit(right, -0.6, 8.6, -1, 7.4)


def pair_per_warp() -> None:
    """Parallelograms of 32 columns."""
    (axes,) = canvas("pair-per-warp: parallelograms of a warp (Dohi et al.)", 6.4, 4)
    lanes, steps, strips = 5, 4, 3
    rows = 3 * steps
    for strip in range(strips):
        for part in range(4):
            top = part * steps
            points = []
            for lane in range(lanes):
                x = strip * lanes + lane
                for row in range(top - lane, top - lane + steps):
                    if 0 <= row < rows:
                        color = SHADES[(part + strip) % 2 * 2]
                        box(axes, x, row, 1, 1, color, 0.15)
                points.append(x)
        box(axes, strip * lanes, 0, lanes, rows, line=1.3)
        say(axes, strip * lanes + lanes / 2, -0.5, f"strip {strip}", 7)
    for lane in range(lanes):
        row = 7 - lane
        box(axes, lanes + lane, row, 1, 1, MARK, 0.8)
        if lane:
            arrow(axes, (lanes + lane - 0.4, row + 1.4), (lanes + lane + 0.4, row + 0.6), PATH)
    say(
        axes,
        7.5,
        rows + 0.7,
        "a strip has 32 columns (here 5), a lane each; a parallelogram is 32 steps (here 4).",
        7,
    )
    say(
        axes,
        7.5,
        rows + 1.4,
        "H and E go from lane to lane through shared memory, from strip to strip through global",
        7,
    )
    say(
        axes,
        7.5,
        rows + 2.1,
        "memory. Eight warps a block, each with a pair of its own; no barrier of the block",
        7,
    )
    fit(axes, -0.6, 15.6, -1, rows + 2.6)


def striped() -> None:
    """Farrar's layout, and the lazy loop."""
    (axes,) = canvas(
        "striped: a column in segments, F put right afterwards (Farrar; Kakimoto et al.)", 6.8, 4.2
    )
    lanes, segments = 4, 3
    names = []
    for lane in range(lanes):
        for s in range(segments):
            row = lane * segments + s
            for column in range(6):
                box(axes, column, row, 1, 1, SHADES[lane] if column <= 3 else "white", 0.15)
            names.append((lane, s))
        box(axes, 0, lane * segments, 6, segments, line=1.2)
        say(axes, -1.5, lane * segments + segments / 2, f"rows of\nlane {lane}", 7)
        box(axes, 3, lane * segments + 1, 1, 1, MARK, 1)
        if lane:
            arrow(axes, (3.5, lane * segments - 0.6), (3.5, lane * segments + 0.5), PATH)
    say(axes, 3, -0.6, "columns: residues of the target", 7)
    say(
        axes,
        10.6,
        2.2,
        "orange: segment 1, which all\nlanes do in one step; a column\n"
        "takes s = rows / lanes steps",
        7,
    )
    say(
        axes,
        10.6,
        6.2,
        "No lane waits for another, since F\nfrom the lane above is left out ...",
        7,
    )
    say(
        axes,
        10.6,
        9.6,
        "... and put right afterwards (arrows)\nby a loop that ends when the\n"
        "warp's vote says that no F matters",
        7,
    )
    fit(axes, -2.8, 14.4, -1.2, lanes * segments + 0.4)


def bitwise() -> None:
    """Scores as bit planes."""
    left, right = canvas("bitwise: a pair in each bit of a word (Nishimura et al.)", 9, 3.6, 2)
    values = [3, 5, 0, 6, 2, 7, 1, 4]
    for k, value in enumerate(values):
        say(left, k + 0.5, -0.5, f"{value}", 8)
        for bit in range(3):
            on = value >> (2 - bit) & 1
            box(left, k, bit, 1, 1, DARK if on else "white", 0.5)
            say(left, k + 0.5, bit + 0.5, f"{on}", 7)
    for bit in range(3):
        box(left, 0, bit, 8, 1, line=1.4)
        say(left, 9.7, bit + 0.5, f"word of bit {2 - bit}", 7)
    say(left, 4, -1.2, "the same cell of 32 pairs (here 8): their scores", 7)
    say(left, 4, 3.7, "one logical operation on a word is an operation on a bit", 7)
    say(left, 4, 4.3, "of every pair's score: maxima, additions and comparisons", 7)
    say(left, 4, 4.9, "are circuits; neighbours are compared on a few low bits", 7)
    fit(left, -0.6, 11.4, -1.8, 5.4)

    for row in range(6):
        for column in range(6):
            box(right, column, row, 1, 1, DARK if row + column < 5 else PALE, 0.15)
        box(right, row, 0, 1, 6, line=0.9)
    for lane in range(6):
        row = 5 - lane
        box(right, lane, row, 1, 1, MARK, 0.9)
        if lane:
            arrow(right, (lane - 0.4, row + 1.4), (lane + 0.4, row + 0.6), PATH)
    say(right, 3, -0.5, "columns: 4 to 16 a lane, 16 or 32 lanes", 7)
    say(right, 3, 6.6, "every cell is a few words; the column at a lane's", 7)
    say(right, 3, 7.2, "right border goes to the next lane by shuffle", 7)
    fit(right, -1, 7, -1.3, 7.8)


def pruned() -> None:
    """The band."""
    left, right = canvas("pruned: only the cells that can be on an optimal path", 9, 4, 2)
    size = 16

    def half_width(k: float) -> float:
        return 1.2 + 0.55 * abs(((k * 1.7) % 7) - 3.5)

    grid(left, 0, 0, size, size, "white")
    for row in range(size):
        inside = [
            column
            for column in range(size)
            if abs(row - column) / 1.4 <= half_width((row + column) / 2) * 0.9
        ]
        grid(left, inside[0], row, len(inside), 1, DARK)
    box(left, 0, 0, size, size, line=1.2)
    path(left, [(0, 0), (4, 4.2), (5, 5), (7, 7.6), (9, 9), (11, 10.6), (13, 13.2), (16, 16)])
    say(left, 8, -0.8, "a beam finds a score L that some alignment has", 7)
    say(left, 8, 17, "a cell stays if H, what was won up to it, and h, the most that the rest", 7)
    say(left, 8, 17.9, "can add, come to L: everything that any optimal alignment touches", 7)
    fit(left, -1, 17, -1.6, 18.6)

    for block in range(4):
        for step in range(4):
            k = block * 4 + step
            for lane in range(-4, 5):
                width = 4 if block in (0, 3) else 3 if block == 1 else 2
                if abs(lane) <= width:
                    box(right, lane + 5, k, 1, 1, SHADES[block], 0.15)
        if block:
            right.plot([0, 10], [block * 4, block * 4], color=PATH, linewidth=1.3, linestyle="--")
    say(right, 5, -0.8, "diagonals of the matrix: a lane each", 7)
    say(right, -0.6, 8, "antidiagonals", 7, rotation=90)
    say(right, 5, 17, "after every 16 or 32 antidiagonals the window is laid anew, and saved", 7)
    say(right, 5, 17.9, "(dashed); the way back fills what the path depends on once more", 7)
    fit(right, -4, 14, -1.6, 18.6)


DRAWINGS: dict[str, Callable[[], None]] = {
    "kernel-windows": windows,
    "kernel-packed": packed,
    "kernel-pair-per-thread": pair_per_thread,
    "kernel-block-diagonals": block_diagonals,
    "kernel-pair-per-warp": pair_per_warp,
    "kernel-striped": striped,
    "kernel-bitwise": bitwise,
    "kernel-pruned": pruned,
}


def main(arguments: list[str] | None = None) -> None:
    draw_all(DRAWINGS, __doc__.splitlines()[0], arguments)


if __name__ == "__main__":
    main()
