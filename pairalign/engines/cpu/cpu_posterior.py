"""Posteriors of pairs on this machine's cores; see ``cpu/posterior/model.h`` for what they are."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int32, c_int64, c_void_p
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import ARITHMETICS, SparsePosteriors
from pairalign.base.error_types import CapacityError
from pairalign.base.native import library
from pairalign.engines.cpu.cpu_engine import READ_AHEAD_BYTES, instruction_set_of
from pairalign.engines.cpu.native_structs import CANCELLED, NO_MEMORY
from pairalign.scoring.posterior_models import CODES, MOST_MATCH_STATES, PosteriorModel
from pairalign.sequences.sets import SequenceSet


class NativeModel(ctypes.Structure):
    """``pairalign_posterior_model`` of ``cpu/posterior/model.h``."""

    _fields_ = (
        ("hmm_emission", c_double * (MOST_MATCH_STATES * CODES * CODES)),
        ("partition_emission", c_double * (CODES * CODES)),
        ("start_match", c_double),
        ("start_short", c_double),
        ("start_long", c_double),
        ("stay", c_double * MOST_MATCH_STATES),
        ("leave", c_double * MOST_MATCH_STATES),
        ("enter", c_double * MOST_MATCH_STATES),
        ("open_short", c_double * MOST_MATCH_STATES),
        ("open_long", c_double * MOST_MATCH_STATES),
        ("extend_short", c_double),
        ("extend_long", c_double),
        ("close_short", c_double),
        ("close_long", c_double),
        ("gap_open", c_double),
        ("gap_extend", c_double),
        ("match_states", c_int32),
    )


class NativePairs(ctypes.Structure):
    """``pairalign_posterior_pairs`` of ``cpu/posterior/model.h``."""

    _fields_ = (
        ("codes", c_void_p),
        ("starts", c_void_p),
        ("lengths", c_void_p),
        ("rows", c_void_p),
        ("columns", c_void_p),
        ("count", c_int64),
    )


class PosteriorEngine:
    """Computes posteriors of pairs of a set.

    Parameters
    ----------
    sequences : SequenceSet
    model : PosteriorModel
    threshold : float
        Posteriors below are left out; from 2^-20 to 1.
    threads : int
    instruction_set : str, optional
        As for the CPU engine.
    arithmetic : str
        One of `pairalign.alignments.posteriors.ARITHMETICS`: the narrowest to use.

    Attributes
    ----------
    is_gpu, residues_at_once
        See `pairalign.engines.posterior_engines.PosteriorComputer`.

    Raises
    ------
    DeviceError
        The machine cannot run `instruction_set`.
    """

    is_gpu = False
    residues_at_once = 1 << 18

    def __init__(
        self,
        sequences: SequenceSet,
        model: PosteriorModel,
        *,
        threshold: float = 0.01,
        threads: int = 1,
        instruction_set: str | None = None,
        arithmetic: str = "float32",
    ) -> None:
        assert 2**-20 <= threshold <= 1
        self._codes = np.concatenate((sequences.codes, np.zeros(READ_AHEAD_BYTES, np.uint8)))
        self._starts = np.ascontiguousarray(sequences.offsets[:-1], np.int64)
        self._lengths = np.ascontiguousarray(sequences.lengths, np.int32)
        self._model = _native_model(model)
        self._threshold = threshold
        self._threads = threads
        self._set = instruction_set_of(instruction_set)
        self._arithmetic = ARITHMETICS.index(arithmetic)
        self._cancelled = c_int32(0)

    def close(self) -> None:
        """Free what it holds: nothing that would not be freed with it."""

    def cancel(self) -> None:
        """Make a running `compute`, and each to come, raise InterruptedError; from any thread."""
        self._cancelled.value = 1

    def compute(
        self, queries: npt.NDArray[np.int32], targets: npt.NDArray[np.int32]
    ) -> SparsePosteriors:
        """Compute the posteriors of some pairs.

        Parameters
        ----------
        queries, targets : ndarray of int32, shape (pairs,)
            Input indices.

        Returns
        -------
        SparsePosteriors
            Of the pairs in their order.

        Raises
        ------
        CapacityError
            The machine is out of memory.
        InterruptedError
            `cancel` was called.
        """
        queries = np.ascontiguousarray(queries, np.int32)
        targets = np.ascontiguousarray(targets, np.int32)
        pairs = NativePairs(
            self._codes.ctypes.data,
            self._starts.ctypes.data,
            self._lengths.ctypes.data,
            queries.ctypes.data,
            targets.ctypes.data,
            len(queries),
        )
        result = c_void_p()
        status = library.pairalign_posteriors(
            ctypes.byref(pairs),
            ctypes.byref(self._model),
            self._threshold,
            self._arithmetic,
            self._threads,
            self._set.encode(),
            ctypes.byref(self._cancelled),
            ctypes.byref(result),
        )
        if status == NO_MEMORY:
            raise CapacityError("out of memory for the posteriors of pairs; allow fewer threads")
        if status == CANCELLED:
            raise InterruptedError("cancelled")
        assert not status, status
        try:
            return _take(result, queries, targets)
        finally:
            library.pairalign_posterior_free(result)


def thread_bytes(rows: int, columns: int, match_states: int = 1) -> int:
    """Return the bytes that a thread needs for pairs of sequences of such lengths."""
    return int(library.pairalign_posterior_bytes(rows, columns, match_states))


def _native_model(model: PosteriorModel) -> NativeModel:
    native = NativeModel(match_states=model.match_states)
    for field in fields(model):
        value = getattr(model, field.name)
        if isinstance(value, np.ndarray):
            getattr(native, field.name)[: value.size] = value.ravel().tolist()
        else:
            setattr(native, field.name, value)
    return native


def _take(
    result: c_void_p, queries: npt.NDArray[np.int32], targets: npt.NDArray[np.int32]
) -> SparsePosteriors:
    offsets = np.empty(len(queries) + 1, np.int64)
    library.pairalign_posterior_offsets(result, offsets.ctypes.data)
    entries = int(offsets[-1])
    rows, columns = np.empty(entries, np.int32), np.empty(entries, np.int32)
    values, arithmetic = np.empty(entries, np.uint16), np.empty(len(queries), np.uint8)
    library.pairalign_posterior_take(
        result,
        rows.ctypes.data,
        columns.ctypes.data,
        values.ctypes.data,
        arithmetic.ctypes.data,
    )
    return SparsePosteriors(queries, targets, offsets, rows, columns, values, arithmetic)
