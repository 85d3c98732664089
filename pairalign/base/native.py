"""The native library: one shared object behind a C ABI, loaded with ctypes.

Functions and structs are declared in words, as ``int32*3 pointer -> none`` and ``int32 row column;
pointer codes``; tests compare them with what the compiler makes of the sources. Arrays are passed
as they are, to functions and to structs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pairalign.base.error_types import MissingPackageError

PATH = Path(__file__).resolve().parents[1] / "_native.so"

SIGNATURES = {
    # cpu/align/engine.h
    "align": "pointer*4 -> int32",
    "cancel": "pointer -> none",
    "close": "pointer -> none",
    "compiled_sets": "-> text",
    "instruction_sets": "-> text",
    "open": "pointer*3 int32*5 int64 text int32 -> pointer",
    "pruned": "pointer*2 -> none",
    "set_end_gaps": "pointer*2 int32 -> none",
    "set_floors": "pointer int32 -> none",
    "set_lane_bits": "pointer int32 -> none",
    "set_own_rows": "pointer int32 -> none",
    "set_pruning": "pointer int32 int64*2 -> none",
    "set_reversed": "pointer*3 -> none",
    "take": "pointer*4 -> none",
    # cpu/bitwise/bitwise.h
    "bitwise_scores": "pointer*5 int32 text pointer*2 -> int32",
    # cpu/clusters/clusters.cpp
    "assign_greedily": "int64 pointer*7 -> none",
    "find_roots": "int64 pointer -> none",
    "join_sets": "int64 pointer*3 -> none",
    # cpu/clusters/separators.cpp
    "find_pieces": "int32 pointer*2 int32 pointer*2 -> int32",
    "find_separator": "pointer int32 pointer int32 pointer int32 pointer -> int32",
    # cpu/files/crc32.h
    "crc32": "uint32 pointer int64 -> uint32",
    "has_crc32": "-> int32",
    # cpu/filters/device_tables.cpp
    "bound_lengths": "pointer int32 pointer int32 pointer*2 -> none",
    "filter_has_subsequences": "pointer -> int32",
    "filtered_set_of": "pointer int32 pointer -> none",
    # cpu/filters/pair_filter.cpp
    "close_filter": "pointer -> none",
    "filter_gram": "pointer -> int32",
    "filter_window": "pointer*2 int32 pointer*3 -> int32",
    "find_passing": "pointer*3 -> int64",
    "open_filter": "pointer*4 int32*2 text int32 -> pointer",
    # cpu/filters/pair_list.cpp
    "mask_pairs": "int32*4 int64 pointer*2 int64 pointer -> none",
    "read_pairs": "text int64 int32 pointer*6 -> int64",
    "sort_pairs": "int64 int32 int64*2 pointer*3 -> int32",
    # cpu/filters/strand_filter.cpp
    "close_strand_filter": "pointer -> none",
    "need_other_strand": "pointer*3 int32 int64*2 pointer -> int64",
    "open_strand_filter": "pointer*2 int32*3 -> pointer",
    # cpu/suboptimal/suboptimal.h
    "band_alignment": "pointer text pointer*3 int32 -> int32",
    "suboptimal_alignments": "pointer int64 text int32 pointer*3 -> int32",
    # cpu/suboptimal/seed_pairs.h
    "close_read_seeds": "pointer -> none",
    "open_read_seeds": "pointer -> pointer",
    "seed_pairs": "pointer int32 text pointer -> int32",
    # cpu/suboptimal/screen.cpp
    "suboptimal_screen": "pointer int64 int32 pointer -> int32",
    # cpu/gpu_plan/chosen_pairs.cpp
    "cut_pairs": "pointer int64 int32 int64 -> int64",
    "place_pairs": "pointer -> int32",
    # cpu/gpu_plan/packed_plan.cpp
    "plan_packed": "pointer -> int32",
    # cpu/index/representative_index.h, lane_index.h
    "growing_residues": "pointer -> int32",
    "open_growing": "pointer int32 -> pointer",
    "open_lanes": "pointer text int32 -> pointer",
    # cpu/index/representatives.h
    "add_rows": "pointer int32 pointer -> int32",
    "close_representatives": "pointer -> none",
    "drop_rows": "pointer int32 pointer -> int32",
    "find_candidates": "pointer int32*3 pointer*2 -> int64",
    "take_candidates": "pointer*6 -> none",
    # cpu/index/seed_index.h
    "close_seed_index": "pointer -> none",
    "count_seeded": "pointer*2 int32*2 pointer -> int32",
    "find_seeded": "pointer*5 -> int32",
    "open_seed_index": "pointer int32 -> pointer",
    "seed_residues": "pointer -> int32",
    "seeded_columns": "pointer*2 -> int32",
    # cpu/msa/chain.cpp, exports.cpp
    "msa_accuracies": "pointer int32 pointer -> int32",
    "msa_align": "pointer*3 int32*2 pointer*2 -> int32",
    "msa_close": "pointer -> none",
    "msa_join": "pointer*3 int64 int32*2 pointer*2 -> int32",
    "msa_join_profiles": "pointer*6 int64*2 pointer*2 -> int32",
    "msa_open": "pointer int32 pointer*3 int64 pointer*3 -> pointer",
    "msa_relax": "pointer*2 int32*2 -> int32",
    "msa_support": "pointer*5 int64 pointer*6 -> int32",
    # cpu/near/near.h
    "count_near": "pointer -> int64",
    "find_near": "pointer*4 int32*3 text -> pointer",
    "take_near": "pointer*4 -> none",
    # cpu/near/tcrdist.h
    "near_tcrdist": "pointer int32 pointer*2 int32*2 text -> pointer",
    "tcrdist": "pointer int32 pointer*2 int32 text pointer -> int32",
    # cpu/pairs/copies.cpp
    "choose_copies": "int32*5 pointer*2 int64 pointer int32 pointer*4 -> int64",
    "spread_copies": "int32*5 pointer*2 int64 pointer int32 pointer*3 int32 pointer*3 -> int64",
    # cpu/pairs/hits.cpp
    "add_hits": "pointer int64 pointer*4 -> none",
    "sort_hits": "pointer -> none",
    # cpu/pairs/overlaps.cpp
    "choose_strands": "pointer int32 pointer*3 -> none",
    "classify_overlaps": "pointer double*2 pointer*2 -> none",
    "find_overlaps": "pointer int64*3 pointer -> int64",
    "mark_indices": "int64 pointer*2 -> none",
    "merge_strands": "int64 pointer int64 pointer*2 -> none",
    # cpu/pairs/pairs.cpp
    "find_differences": "pointer int32 pointer -> none",
    "find_extremes": "int64 pointer*4 int32 pointer -> int64",
    "place_in_triangle": "int64 pointer*3 int64 pointer -> none",
    "window_positions": "int32*5 pointer*2 -> none",
    # cpu/pairs/positions.cpp
    "positions_of_mask": "int32*5 pointer*3 -> int64",
    "positions_of_numbers": "int32*5 int64 pointer int32 pointer*2 -> int32",
    "take_fields": "int64 pointer int32 pointer*4 -> none",
    # cpu/pairs/strands.cpp
    "turn_strands": "pointer -> none",
    # cpu/posterior/cut_parts.cpp
    "posterior_join": "int64 pointer*7 -> none",
    "posterior_merge": "pointer*2 int32 pointer*3 -> int64",
    # cpu/posterior/cuts.cpp
    "posterior_cuts": "pointer int32 pointer -> pointer",
    "posterior_take_cuts": "pointer*2 -> none",
    # cpu/posterior/paths.cpp
    "posterior_marks": "pointer*7 int32 pointer -> none",
    "posterior_paths": "pointer*3 -> int32",
    # cpu/posterior/posterior.cpp
    "posterior_bytes": "int32*3 -> int64",
    "posterior_free": "pointer -> none",
    "posterior_most_growth": "-> int32",
    "posterior_offsets": "pointer*2 -> none",
    "posterior_take": "pointer*5 -> none",
    "posteriors": "pointer*2 double int32*2 text pointer*2 -> int32",
    # cpu/process.cpp
    "keep_freed_memory": "int64 -> none",
    "share_heap": "-> none",
    # cpu/pruned/words_in_place.h
    "words_in_place": "pointer int32 pointer int32*2 -> int32",
    # cpu/records/check.cpp
    "check_records": "text pointer*2 int64 pointer*2 -> int32",
    # cpu/records/findings.cpp
    "finding_line_bytes": "-> int64",
    "put_findings": "pointer*2 -> int64",
    # cpu/records/read_rows.cpp
    "read_rows": "text int64 int32 pointer*5 -> int64",
    # cpu/records/read_table.cpp
    "close_names": "pointer -> none",
    "find_names": "pointer*3 -> none",
    "open_names": "pointer -> pointer",
    "read_records": "text int64 pointer*6 -> int64",
    # cpu/sets/row_order.cpp
    "order_rows": "int64 pointer*3 -> none",
    "row_ranks": "int64 pointer*3 int64 pointer*5 -> none",
    # cpu/sets/sets.cpp
    "lay_out_residues": "int64 pointer*6 -> none",
    "sum_worth": "int64 pointer*5 -> none",
    # cpu/statistics/composition.cpp
    "pair_lambdas": "int64 pointer*6 int32 pointer*2 int32 double*2 pointer*3 -> none",
    "pair_bounds": "int64 pointer*6 int32 pointer*2 int32 double*2 pointer -> none",
    # cpu/statistics/evalues.cpp
    "log_evalues": "pointer int64 pointer*4 -> none",
    # cpu/statistics/repeats.cpp
    "masked_scores": "int64 pointer*12 int32*3 pointer -> none",
    "repeat_probabilities": "int64 pointer*2 int32 pointer int32 double*3 pointer -> none",
    # cpu/statistics/segments.cpp
    "low_complexity": "int64 pointer*2 int32 double*2 int32 pointer -> none",
    # cpu/text/numbers.cpp
    "format_numbers": "pointer int64 int32*2 pointer -> none",
    # cpu/text/runs.cpp
    "gather_runs": "int64 pointer*4 -> none",
    "offsets_of_runs": "int64 pointer*3 -> none",
    "reverse_runs": "int64 pointer*3 -> none",
    # cpu/text/text_queue.h
    "text_close": "pointer -> none",
    "text_formatted": "pointer -> int64",
    "text_give_back": "pointer*2 -> none",
    "text_open": "int32 int64*2 -> pointer",
    "text_stop": "pointer -> none",
    "text_submit": "pointer*2 -> int32",
    "text_take": "pointer int32 pointer -> int32",
    "text_trouble": "pointer -> int64",
    "text_wait": "pointer int64 int32 -> int32",
    "text_wait_written": "pointer int32 -> int32",
    "text_write_to": "pointer int32 pointer -> int32",
    # cpu/ties/ties.h
    "count_ties": "pointer*2 int32 text pointer -> int32",
    # cpu/trees/average_clusters.cpp
    "average_clusters": "int64 pointer int64*3 pointer -> int32",
    # cpu/trees/linkage.cpp
    "linkage": "int32 int64 pointer*3 -> int32",
}
"""``ARGUMENTS -> RESULT`` of each function, by the source that declares it.

A name here is that of C less ``pairalign_``. ``pointer*3`` is three pointers in a row. ``text`` is
bytes that end in 0.
"""

_TYPES: dict[str, Any] = {
    "none": None,
    "int32": ctypes.c_int32,
    "uint32": ctypes.c_uint32,
    "int64": ctypes.c_int64,
    "double": ctypes.c_double,
    "pointer": ctypes.c_void_p,
    "text": ctypes.c_char_p,
}
_DTYPES = {
    "int8": "<i1",
    "int32": "<i4",
    "uint32": "<u4",
    "int64": "<i8",
    "uint64": "<u8",
    "float": "<f4",
    "double": "<f8",
}

_BY_REFERENCE = (ctypes.Structure, ctypes.c_int32, ctypes.c_uint32)


class Pointer(ctypes.c_void_p):
    """What a function takes for a pointer: an array, some, a struct, counter, address or None."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        """Return what ctypes passes on."""
        if isinstance(value, np.ndarray):
            return ctypes.c_void_p(_address(value))
        if isinstance(value, tuple):
            return (ctypes.c_void_p * len(value))(*_address(value))
        if isinstance(value, _BY_REFERENCE):
            return ctypes.byref(value)
        return ctypes.c_void_p.from_param(value)


class Struct(ctypes.Structure):
    """A struct of native code. Its pointers take arrays, which live as long as it does."""

    def __init__(self, *values: Any, **named: Any) -> None:
        for (name, *_), value in zip(self._fields_, values, strict=False):
            named[name] = value
        vars(self).update(named)  # nobody reads that: the fields hide it
        set_field = super().__setattr__
        for name, value in named.items():
            set_field(name, _address(value))

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)[name] = value
        super().__setattr__(name, _address(value))


def _address(value: Any) -> Any:
    """Return where an array begins, of a tuple that of each; other values as they are."""
    if not isinstance(value, np.ndarray):
        return tuple(map(_address, value)) if isinstance(value, tuple) else value
    assert value.flags.c_contiguous
    if value.flags.writeable and value.size:
        return ctypes.addressof(ctypes.c_char.from_buffer(value))  # type: ignore[arg-type]
    return value.ctypes.data


def struct_fields(declaration: str, **structs: type[ctypes.Structure]) -> list[tuple[str, Any]]:
    """Return the ``_fields_`` of a `Struct`: ``int32 row column; int64*8 costs``.

    `structs` are those that the declaration names.
    """
    types = _TYPES | structs
    return [
        (name, types[word] * count if count else types[word])
        for name, word, count in _declared(declaration)
    ]


def struct_dtype(
    declaration: str, *, align: bool = False, **structs: np.dtype[Any]
) -> np.dtype[Any]:
    """Return the dtype of a declaration, see `struct_fields`; with `align` laid out as in C."""
    types: dict[str, Any] = _DTYPES | structs
    members = [
        (name, types[word], *([count] if count else ()))
        for name, word, count in _declared(declaration)
    ]
    return np.dtype(members, align=align)


def _declared(declaration: str) -> Iterator[tuple[str, str, int]]:
    for group in declaration.split(";"):
        word, *names = group.split()
        word, _, count = word.partition("*")
        yield from ((name, word, int(count or 0)) for name in names)


def words_of(signature: str) -> tuple[list[str], str]:
    """Return the types of a function's arguments, one by one, and that of its result."""
    arguments, _, result = signature.partition("->")
    words = (word.partition("*") for word in arguments.split())
    return [name for name, _, times in words for _ in range(int(times or 1))], result.strip()


def declare_all(loaded: ctypes.CDLL) -> None:
    """Tell ctypes what the functions of a library take and return."""
    types = _TYPES | {"pointer": Pointer}
    for name, signature in SIGNATURES.items():
        arguments, result = words_of(signature)
        function = getattr(loaded, f"pairalign_{name}")
        function.argtypes = [types[word] for word in arguments]
        function.restype = _TYPES[result]


def _load() -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(str(PATH))
        declare_all(loaded)
    except (OSError, AttributeError) as error:  # not there, or of another version
        raise MissingPackageError(
            f"the native library {PATH} is missing or does not load ({error}); "
            "build it with `make build` or install pairalign with `pip install .`"
        ) from error
    if not loaded.pairalign_instruction_sets():
        raise MissingPackageError(
            f"the native library {PATH} was compiled for another processor: its kernels need "
            f"{loaded.pairalign_compiled_sets().decode()}, which this one lacks; "
            "`PAIRALIGN_BUILD_SETS=all pip install -e .` compiles all"
        )
    return loaded


library = _load()
"""Functions of the library, declared as `SIGNATURES` says."""


def keep_freed_memory(memory_bytes: int) -> None:
    """Let the C library keep memory that was freed for results to come; glibc alone.

    For programs that do nothing else: it holds for the process.

    Parameters
    ----------
    memory_bytes : int
        What the program may use; a sixteenth of it may be kept.
    """
    library.pairalign_keep_freed_memory(memory_bytes // 16)


def share_heap() -> None:
    """Let all threads to come allocate from one heap; glibc alone.

    For programs that do nothing else: it holds for the process. Engines free much before a tree
    takes as much again, and the heaps of their threads would keep it.
    """
    library.pairalign_share_heap()
