"""Words that sequences of DNA have in common; see ``cpu/msa/words.cpp``."""

from __future__ import annotations

from ctypes import Structure, byref, c_int32, c_void_p

import numpy as np
import numpy.typing as npt

from pairalign.base.error_types import CapacityError
from pairalign.base.native import library
from pairalign.sequences.sets import SequenceSet

Indices = npt.NDArray[np.int64]


class NativeWords(Structure):
    """``pairalign_msa_words`` of ``cpu/msa/words.cpp``."""

    _fields_ = (
        ("words", c_void_p),
        ("starts", c_void_p),
        ("counts", c_void_p),
        ("bases", c_int32),
    )


class CommonWords:
    """The distinct words of each sequence of a set, and how many two have in common.

    Parameters
    ----------
    sequences : SequenceSet
        DNA.
    bases : int
        Of a word, up to 15; words with other letters do not count.
    threads : int

    Attributes
    ----------
    counts : ndarray of int32, shape (n,)
        How many words each sequence has.

    Raises
    ------
    CapacityError
        Here and in methods: the machine is out of memory.
    """

    def __init__(self, sequences: SequenceSet, bases: int, threads: int) -> None:
        self._starts = np.ascontiguousarray(sequences.offsets[:-1], np.int64)
        self._words = np.empty(sequences.total_residues, np.uint32)
        self._threads = threads
        self._bases = bases
        self.counts = np.empty(len(sequences), np.int32)
        codes = np.ascontiguousarray(sequences.codes)
        lengths = np.ascontiguousarray(sequences.lengths, np.int32)
        _check(
            library.pairalign_msa_find_words(
                codes.ctypes.data,
                self._starts.ctypes.data,
                lengths.ctypes.data,
                len(sequences),
                bases,
                threads,
                self._words.ctypes.data,
                self.counts.ctypes.data,
            )
        )

    def of_pairs(self, indices: Indices) -> npt.NDArray[np.int32]:
        """Return how many words each two of some sequences have in common, condensed."""
        common = np.empty(len(indices) * (len(indices) - 1) // 2, np.int32)
        self._count(indices, None, common)
        return common

    def between(self, first: Indices, second: Indices) -> npt.NDArray[np.int32]:
        """Return how many words each of some sequences has in common with each of others."""
        common = np.empty((len(first), len(second)), np.int32)
        self._count(first, second, common)
        return common

    def _count(self, first: Indices, second: Indices | None, common: npt.NDArray[np.int32]) -> None:
        first = np.ascontiguousarray(first, np.int64)
        others = None if second is None else np.ascontiguousarray(second, np.int64)
        arrays = (self._words, self._starts, self.counts)
        words = NativeWords(*(array.ctypes.data for array in arrays), self._bases)
        _check(
            library.pairalign_msa_common_words(
                byref(words),
                first.ctypes.data,
                len(first),
                None if others is None else others.ctypes.data,
                0 if others is None else len(others),
                self._threads,
                common.ctypes.data,
            )
        )


def _check(status: int) -> None:
    if status:
        raise CapacityError("out of memory for the words of sequences")
