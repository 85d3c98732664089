"""Equal letters that the pruned kernel skips: filling them would change nothing.

What `cuda/pruned/steady.cuh` says of the lanes of a window is compared with what the kernel fills
there. Lanes begin as gaps from a diagonal leave them; then a lane is changed, letters that match
nothing (N) are passed, or the window ends among lanes that are alive.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import examples
from cuda_engines import host_device
from strategies import make_scoring, match_matrix

from pairalign.engines.cuda.pruned.pruned_plan import PAIR, PARAMETERS, RESIDUE_SET
from pairalign.engines.cuda.pruned.worth import CODES, Worth, choose_worth
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA

SOURCE = str(Path(__file__).parents[1] / "cuda_on_host" / "steady_law.cu")
SKIPPING = np.dtype([(name, "<i4") for name in ("first", "last", "step", "slack")])
N = DNA.letters.index("N")
STEP = 320  # the antidiagonal after which lanes begin
LETTERS = 400  # of each sequence
MARGIN = 16  # letters are skipped by so many

Numbers = npt.NDArray[np.int32]


@dataclass
class Start:
    """Two sequences, and the lanes of a window as they are after antidiagonal `STEP`.

    Attributes
    ----------
    rows, columns : int32 arrays
        Codes of letters.
    scoring : Scoring
    first, last : int
        Lanes of the window.
    slack : int
        By how much less than the best a lane may reach and be alive.
    lanes : int32 array, shape (last - first + 3, 4)
        H of the last even and odd antidiagonal, E, F; of a lane more on either side as well.
    """

    rows: Numbers
    columns: Numbers
    scoring: Scoring
    first: int
    last: int
    slack: int
    lanes: Numbers


def draw(rng: np.random.Generator, case: str) -> Start:
    """Residues that are equal on a diagonal from `STEP` on, for a while."""
    match, mismatch = int(rng.integers(1, 6)), -int(rng.integers(0, 25))
    if case == "scores":  # equal letters are no better than others: nothing is known of them
        mismatch = match + int(rng.integers(1, 3))
    extend = int(rng.integers(0, 4))
    open_ = extend + int(rng.integers(0, 30))
    diagonal = int(rng.integers(-9, 10))
    row, equal = (STEP + diagonal) >> 1, int(rng.integers(MARGIN, 6 * MARGIN))
    rows, columns = rng.integers(0, 4, size=(2, LETTERS)).astype(np.int32)
    rows[row : row + equal] = columns[row - diagonal : row - diagonal + equal]
    if case == "N":
        letters, here = (rows, row) if rng.integers(2) else (columns, row - diagonal)
        size = int(rng.integers(1, 13))
        at = here - size - int(rng.integers(3)) if rng.integers(2) else here + equal
        letters[at : at + size] = N
    middle, wide = diagonal // 2, int(rng.integers(1, 8)) if case == "edge" else 40
    first, last = middle - wide, middle + wide
    lanes = steady_lanes(match + 2 * extend, open_ - extend, diagonal, first - 1, last + 1)
    if case == "number":
        # Near the diagonal, where lanes are alive, or beside those that are.
        lane = wide + 1 + int(rng.integers(-6, 7))
        which = [[0], [1], [2], [3], [0, 2, 3]][rng.integers(5)]
        lanes[lane, which] += rng.choice([-1, 1]) * rng.geometric(0.2)
    return Start(
        rows,
        columns,
        make_scoring(DNA, "global", open_, extend, match_matrix(DNA, match, mismatch)),
        first,
        last,
        int(rng.integers(0, 3 * (open_ + 2 * match))),
        lanes,
    )


def steady_lanes(match: int, opening: int, best: int, low: int, high: int) -> Numbers:
    """What gaps from a diagonal leave: less `opening`, and half a (stored) match for each lane."""
    lanes = np.empty((high - low + 1, 4), np.int32)
    for lane, numbers in zip(range(low, high + 1), lanes, strict=True):
        for odd in (0, 1):
            away = abs(2 * lane + odd - best)
            doubled = 2000 + match * (best % 2 - odd - away) - (2 * opening if away else 0)
            numbers[odd] = doubled // 2
        numbers[2] = numbers[0] - (0 if 2 * lane < best else opening)
        numbers[3] = numbers[0] - (0 if 2 * lane > best else opening)
    return lanes


def worth_of(scoring: Scoring) -> Worth:
    return choose_worth(scoring, (np.arange(CODES) < len(DNA.letters)).astype(np.int64))


def hold(codes: Numbers, scoring: Scoring) -> dict[str, Any]:
    """A set of one sequence as the device holds it, with what its letters are worth."""
    worth = worth_of(scoring)

    def summed(of_code: npt.NDArray[np.int64]) -> Numbers:
        return np.append(np.cumsum(of_code[codes][::-1])[::-1], 0).astype(np.int32)

    extensions = np.arange(len(codes) + 1, dtype=np.int32) * scoring.gap_extend
    return {
        "codes": np.append(codes, np.zeros(64)).astype(np.uint8),
        "starts": np.zeros(1, np.int64),
        "lengths": np.array([len(codes)], np.int32),
        "row_worth": summed(worth.row) - extensions,
        "column_worth": summed(worth.column) - extensions,
        "cheap": summed(worth.cheap),
    }


def set_scoring(parameters: npt.NDArray[np.void], scoring: Scoring) -> None:
    worth = worth_of(scoring)
    for name in ("row_loss", "row_bonus", "column_loss", "column_bonus", "pair_bonus"):
        parameters[name] = getattr(worth, name)
    for name in ("diagonal", "plain"):
        parameters[name] = getattr(worth, name)
    parameters["match"] = worth.match + 2 * scoring.gap_extend
    parameters["mismatch"] = worth.mismatch + 2 * scoring.gap_extend
    parameters["gap_open"], parameters["gap_extend"] = scoring.gap_open, scoring.gap_extend
    parameters["unambiguous"] = scoring.alphabet.unambiguous


@pytest.fixture(scope="module")
def function() -> Any:
    module = host_device().load_module(SOURCE, {})
    return module.get_function("fill_what_is_skipped")


def fill(function: Any, start: Start) -> tuple[int, int, int, int, Numbers]:
    """Lanes alive (low, high), letters skipped, whether others came alive; all lanes, filled."""
    parameters = np.zeros((), PARAMETERS)
    held = [hold(codes, start.scoring) for codes in (start.rows, start.columns)]
    for one, arrays in zip(parameters["sets"], held, strict=True):
        for name in RESIDUE_SET.names or ():
            one[name] = arrays[name].ctypes.data
    pair = np.zeros(1, PAIR)
    parameters["pairs"] = pair.ctypes.data
    set_scoring(parameters, start.scoring)
    lanes = start.lanes.copy()
    room, found = np.zeros((len(lanes) + 2 * MARGIN, 4), np.int32), np.zeros(4, np.int32)
    asked = np.array((start.first, start.last, STEP, start.slack), SKIPPING)
    places = [np.uint64(array.ctypes.data) for array in (lanes, room, found)]
    function(parameters[()], asked[()], *places, block=(32, 1, 1))
    low, high, letters, others = (int(number) for number in found)
    return low, high, letters, others, lanes


@pytest.mark.parametrize(
    ("case", "least"), [("", 125), ("number", 10), ("N", 50), ("edge", 20), ("scores", 0)]
)
def test_filling_changes_nothing(function, case, least):
    rng = np.random.default_rng(61)
    did: Counter[bool] = Counter()
    for _ in range(examples(200)):
        start = draw(rng, case)
        low, high, letters, others_alive, lanes = fill(function, start)
        did[letters > 0] += 1
        if letters == 0:
            continue
        assert not others_alive, start
        more = letters * (start.scoring.matrix[0, 0] + 2 * start.scoring.gap_extend)
        alive = slice(low - start.first + 1, high - start.first + 2)
        np.testing.assert_array_equal(lanes[alive], start.lanes[alive] + more, str(start))
    assert did[True] >= least * examples(200) // 200
    assert case == "" or did[False] >= least * examples(200) // 200
