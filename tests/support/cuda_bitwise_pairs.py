"""Bitwise scores of independent pairs, as in the paper's Table IV: ``score_pairs`` of the kernels.

Every pair has a row and a column sequence of its own, so that residues of both are bit-transposed;
where a set is compared with itself, `pairalign.engines.cuda.bitwise` needs to do less.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.engines.bitwise_scoring import linear_scores
from pairalign.engines.cuda.bitwise import BLOCK_THREADS, SOURCE, WORD, Shape, round_bits
from pairalign.scoring.scoring import Scoring

PITCH = 64
"""Rooms for residues are multiples of this."""

_NAMES = ("row_codes", "column_codes", "row_planes", "column_planes", "scores")
_LENGTHS = ("row_lengths", "column_lengths")
_ARGUMENTS: Any = np.dtype(
    [
        *((name, "<u8") for name in (*_NAMES, *_LENGTHS)),
        *((name, "<i4") for name in ("pairs", "words", "row_pitch", "column_pitch", "factor")),
    ],
    align=True,
)
"""As PairsArguments in cuda/bitwise/score.cu."""


class BitwisePairs:
    """Scores many pairs of about the same two lengths on one device, step by step.

    Parameters
    ----------
    device : CudaDevice
        Its context must be current whenever a method runs.
    scoring : Scoring
        See `pairalign.engines.bitwise_scoring.why_not`.
    pairs : int
    row_pitch, column_pitch : int
        Rooms for the residues of a pair's two sequences, multiples of `PITCH`; the columns' at most
        512.

    Notes
    -----
    `upload`, `transpose`, `score` and `download` queue their work on `stream` and return.
    """

    def __init__(
        self, device: Any, scoring: Scoring, pairs: int, row_pitch: int, column_pitch: int
    ) -> None:
        assert row_pitch % PITCH == column_pitch % PITCH == 0
        self._driver = device.driver
        self.stream = self._driver.Stream()
        scores = linear_scores(scoring)
        bits = round_bits(scores, scores.bits(row_pitch, column_pitch))
        columns = next(c for c in (4, 8, 12, 16) if 32 * c >= column_pitch)
        self.shape = Shape(bits, columns, 32)
        module = device.load_module(SOURCE, self.shape.defines(scores))
        self._transpose = module.get_function("transpose_pairs")
        self._score = module.get_function("score_pairs")
        words = -(-pairs // WORD)
        sizes = {
            "row_codes": pairs * row_pitch,
            "column_codes": pairs * column_pitch,
            "row_planes": words * 12 * row_pitch,
            "column_planes": words * 12 * column_pitch,
            "scores": 4 * pairs,
            "row_lengths": 4 * pairs,
            "column_lengths": 4 * pairs,
        }
        self._buffers = {name: self._driver.mem_alloc(size) for name, size in sizes.items()}
        arguments = np.zeros((), _ARGUMENTS)
        for name, buffer in self._buffers.items():
            arguments[name] = int(buffer)
        arguments["pairs"], arguments["words"] = pairs, words
        arguments["row_pitch"], arguments["column_pitch"] = row_pitch, column_pitch
        arguments["factor"] = scores.factor
        self._arguments: Any = arguments[()]

    def upload(self, **arrays: npt.NDArray[Any]) -> None:
        """Copy the sequences, a byte a residue.

        Parameters
        ----------
        row_codes, column_codes : ndarray of uint8, shape (pairs, row_pitch or column_pitch)
        row_lengths, column_lengths : ndarray of int32, shape (pairs,)
        """
        for name, array in arrays.items():
            assert name in (*_NAMES[:2], *_LENGTHS)
            self._driver.memcpy_htod_async(int(self._buffers[name]), array, self.stream)

    def transpose(self) -> None:
        """Turn residues into bit planes."""
        for of_columns, name in enumerate(("row_pitch", "column_pitch")):
            grid = (-(-int(self._arguments[name]) // PITCH), int(self._arguments["words"]))
            self._launch(self._transpose, grid, np.int32(of_columns))

    def score(self) -> None:
        """Score all pairs."""
        teams = BLOCK_THREADS // self.shape.lanes
        self._launch(self._score, (-(-int(self._arguments["words"]) // teams), 1))

    def download(self, scores: npt.NDArray[np.int32]) -> None:
        """Copy the raw scores, int32 of shape (pairs,)."""
        self._driver.memcpy_dtoh_async(scores, int(self._buffers["scores"]), self.stream)

    def close(self) -> None:
        """Free everything."""
        self.stream.synchronize()
        for buffer in self._buffers.values():
            buffer.free()
        self._buffers = {}

    def _launch(self, function: Any, grid: tuple[int, int], *more: object) -> None:
        block = (BLOCK_THREADS, 1, 1)
        function(self._arguments, *more, block=block, grid=grid, stream=self.stream)
