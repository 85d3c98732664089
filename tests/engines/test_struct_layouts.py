"""Structs that cross a language boundary lie the same on both sides, field by field."""

import functools
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from opencl_engines import opencl_device
from struct_layouts import (
    ROOT,
    SHIM,
    Declaration,
    cpp_values,
    declared_layout,
    layout_expressions,
    layout_of,
    opencl_layout,
)

from pairalign.alignments import alignment_records, best_hits, strands, tie_counts
from pairalign.alignments import passes as pair_fields
from pairalign.engines.cpu import cpu_pair_filter, cpu_posterior, near_pairs, seed_index, suboptimal
from pairalign.engines.cpu import native_structs as cpu
from pairalign.engines.cuda import bitwise, cuda_near, cuda_tcrdist, cuda_ties, posterior_plan
from pairalign.engines.cuda import cuda_pair_filter as cuda_filter
from pairalign.engines.cuda.block_diagonals import block_diagonals_family
from pairalign.engines.cuda.block_diagonals import block_diagonals_plan as block_diagonals
from pairalign.engines.cuda.cuda_engine import FAMILIES
from pairalign.engines.cuda.packed import batches, parameters, tilings
from pairalign.engines.cuda.papers import scores
from pairalign.engines.cuda.pruned import pruned_plan as pruned
from pairalign.engines.device import device_sets, tile_plan
from pairalign.engines.opencl import opencl_pair_per_thread, opencl_striped
from pairalign.engines.opencl.opencl_devices import read_source
from pairalign.formats import text, text_queue
from pairalign.jobs.receptors import tcrdist
from pairalign.jobs.verify import verify
from pairalign.pairs import lists as pair_lists
from pairalign.pairs import want
from pairalign.reads import overlap_kinds
from pairalign.sequences import residues

COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ to ask")


@dataclass(frozen=True)
class Source:
    """A C++ source, and how it is compiled: a CUDA one as the first variant of a family is."""

    path: str
    family: str = ""
    other: tuple[str, ...] = field(default=())

    def includes(self) -> list[Path]:
        shim = [SHIM] if self.path.startswith("cuda/") else []
        return [*shim, ROOT / self.path, *(ROOT / one for one in self.other)]

    def defines(self) -> Mapping[str, int | str]:
        if not self.family:
            return {}
        return next(iter(FAMILIES[self.family]().variants()))[1]


PACKED = Source("cuda/packed/tile.cuh", "packed", ("cuda/packed/moves.cuh",))
RUNS = Source("cuda/packed/runs.cu")
TILES = Source("cuda/pair_per_thread/tiles.cuh", "pair-per-thread")
SCORES = Source("cuda/papers/score_pairs.cuh")
SEED_PAIRS = Source("cpu/suboptimal/seed_pairs.h")
SUBOPTIMAL = Source("cpu/suboptimal/suboptimal.h")
POSTERIOR = Source("cpu/posterior/model.h")
POSTERIOR_CUTS = Source("cpu/posterior/cuts.h")
TIES = Source("cpu/ties/ties.h")
POSTERIOR_PATHS = Source("cpu/posterior/paths.cpp")
CUDA_POSTERIOR = Source("cuda/posterior/posterior.cuh")
FILTER = Source("cpu/filters/passing.cpp")
DEVICE_TABLES = Source("cpu/filters/device_tables.cpp")
PAIR_FILTER = Source("cuda/pair_filter/pair_filter.cuh")
CUDA_NEAR = Source("cuda/near/near.cuh")
CUDA_TCRDIST = Source("cuda/near/tcrdist.cuh")
CUDA_TIES = Source("cuda/ties/ties.cuh")
LISTS = Source("cpu/filters/pair_list.cpp")
BITWISE = Source("cuda/bitwise/score.cu", "bitwise")
BLOCK_DIAGONALS = Source("cuda/block_diagonals/block_diagonals.cuh", "block-diagonals")
PRUNED = Source("cuda/pruned/pruned.cuh", "pruned")
PLAN = Source("cpu/gpu_plan/packed_plan.cpp")
CHOSEN = Source("cpu/gpu_plan/chosen_pairs.cpp")
CPU = Source("cpu/bitwise/bitwise.h", other=("cpu/core/batch.h", "cpu/align/engine.h"))
NEAR = Source("cpu/near/near.h")
TCRDIST = Source("cpu/near/tcrdist.h")
WORDS = Source("common/words_in_place.h")
TEXT = Source("cpu/text/text.h")
TEXT_QUEUE = Source("cpu/text/text_queue.h")
PAIRS = Source("cpu/pairs/pairs.cpp")
STRANDS = Source("cpu/pairs/strands.cpp")
HITS = Source("cpu/pairs/hits.cpp")
OVERLAPS = Source("cpu/pairs/overlaps.cpp")
TABLES = Source("cpu/records/read_table.cpp")
CHECK = Source("cpu/records/check.cpp")
FINDINGS = Source("cpu/records/findings.cpp")

STRUCTS: list[tuple[Declaration, str, Source]] = [
    (parameters.PARAMETERS, "Params", PACKED),
    (batches.KIND, "pairalign::Kind", PLAN),
    (batches.NativeLaunch, "Launch", PLAN),
    (batches.NativePlan, "pairalign_packed_plan", PLAN),
    (batches.WORD, "pairalign::Word", CHOSEN),
    (batches.NativeChosenPairs, "pairalign_chosen_pairs", CHOSEN),
    (tile_plan.TILE, "Tile", TILES),
    (tile_plan.ARGUMENTS, "Arguments", TILES),
    (scores.ARGUMENTS, "ScoreArguments", SCORES),
    (bitwise.ARGUMENTS, "RowsArguments", BITWISE),
    (block_diagonals.PAIR, "Pair", BLOCK_DIAGONALS),
    (block_diagonals.PROGRESS, "Progress", BLOCK_DIAGONALS),
    (block_diagonals.PARAMETERS, "Params", BLOCK_DIAGONALS),
    (pruned.RESIDUE_SET, "ResidueSet", PRUNED),
    (pruned.PAIR, "PrunedPair", PRUNED),
    (pruned.RESULT, "PrunedResult", PRUNED),
    (pruned.PARAMETERS, "Params", PRUNED),
    (seed_index.NativeSeedReads, "pairalign_seed_reads", SEED_PAIRS),
    (suboptimal.NativePair, "pairalign_suboptimal_pair", SUBOPTIMAL),
    (suboptimal.NativeFound, "pairalign_suboptimal_found", SUBOPTIMAL),
    (near_pairs.NativeCosts, "pairalign_costs", NEAR),
    (near_pairs.NativeNear, "pairalign_near", NEAR),
    (cpu_posterior.NativeModel, "pairalign_posterior_model", POSTERIOR),
    (cpu_posterior.NativePairs, "pairalign_posterior_pairs", POSTERIOR),
    (cpu_posterior.PART, "pairalign_posterior_cut", POSTERIOR_CUTS),
    (cpu_posterior.NativeCutEntries, "pairalign_posterior_cut_entries", POSTERIOR_CUTS),
    (tcrdist.NativeRegion, "pairalign_region", TCRDIST),
    (tie_counts.NativeTiePairs, "pairalign_tie_pairs", TIES),
    (tie_counts.NativeTieCosts, "pairalign_tie_costs", TIES),
    (cpu.NativeSet, "pairalign_set", CPU),
    (cpu.NativeWindow, "pairalign_window", CPU),
    (cpu.NativeWant, "pairalign_want", CPU),
    (cpu.NativeTrouble, "pairalign_trouble", CPU),
    (cpu.NativeFound, "pairalign_found", CPU),
    (pair_lists.NativeNames, "pairalign_names", LISTS),
    (pair_lists.NativeListTrouble, "pairalign_list_trouble", LISTS),
    (pair_fields.NativeThresholds, "pairalign_thresholds", FILTER),
    (pair_fields.NativeAligned, "pairalign_aligned", FILTER),
    (cpu_pair_filter.NativeColumnScores, "pairalign_column_scores", FILTER),
    (want.NativeDemand, "pairalign_demand", Source("cpu/filters/pair_filter.h")),
    (cpu_pair_filter.NativeFilteredSet, "pairalign_filtered_set", DEVICE_TABLES),
    (cpu_pair_filter.GRAM_SET, "pairalign::GramSet", DEVICE_TABLES),
    (cpu_pair_filter.LENGTH_BOUND, "pairalign_length_bound", DEVICE_TABLES),
    (cpu_pair_filter.GRAM_SET, "GramSet", PAIR_FILTER),
    (cpu_pair_filter.LENGTH_BOUND, "LengthBound", PAIR_FILTER),
    (cuda_filter.COUNTS, "FilterCounts", PAIR_FILTER),
    (cuda_filter.ARGUMENTS, "FilterArguments", PAIR_FILTER),
    (cuda_near.SIDE, "NearSide", CUDA_NEAR),
    (cuda_near.FOUND, "NearFound", CUDA_NEAR),
    (cuda_near.ARGUMENTS, "NearArguments", CUDA_NEAR),
    (cuda_tcrdist.REGION, "TcrRegion", CUDA_TCRDIST),
    (cuda_tcrdist.ARGUMENTS, "TcrArguments", CUDA_TCRDIST),
    (cuda_ties.PAIR, "TiePair", CUDA_TIES),
    (cuda_ties.ARGUMENTS, "TieArguments", CUDA_TIES),
    (cpu_posterior.PosteriorTable, "pairalign_posterior_table", POSTERIOR_PATHS),
    (cpu_posterior.PathScoring, "pairalign_path_scoring", POSTERIOR_PATHS),
    (cpu_posterior.PathPairs, "pairalign_path_pairs", POSTERIOR_PATHS),
    (posterior_plan.TASK, "PosteriorTask", CUDA_POSTERIOR),
    (posterior_plan.FOUND, "PosteriorFound", CUDA_POSTERIOR),
    (posterior_plan.ARGUMENTS, "PosteriorArguments", CUDA_POSTERIOR),
    (posterior_plan.EXPAND, "ExpandArguments", CUDA_POSTERIOR),
    *(
        (
            posterior_plan.Kernel(states, size).numbers,
            f"PosteriorNumbers<{number}, {states}>",
            CUDA_POSTERIOR,
        )
        for states in (1, 4)
        for number, size in (("float", 4), ("double", 8))
    ),
    (cpu.NativeLinear, "pairalign_linear", CPU),
    (text.NativeSet, "pairalign_text_set", TEXT),
    (text.NativeText, "pairalign_text", TEXT),
    (text_queue.NativePiece, "pairalign_text_piece", TEXT_QUEUE),
    (pair_fields.NativeCounts, "pairalign_counts", PAIRS),
    (best_hits.HIT, "pairalign_hit", HITS),
    (best_hits.NativeBestHits, "pairalign_best_hits", HITS),
    (strands.NativeTurned, "pairalign_turned_fields", STRANDS),
    (overlap_kinds.NativeFields, "pairalign_overlap_fields", OVERLAPS),
    (overlap_kinds.NativeReaching, "pairalign_reaching", OVERLAPS),
    (alignment_records.RECORD, "pairalign_record", TABLES),
    (alignment_records.FINDING, "pairalign_finding", CHECK),
    (alignment_records.NativeLayout, "pairalign_layout", TABLES),
    (alignment_records.NativeCheckedSet, "pairalign_checked_set", CHECK),
    (alignment_records.NativeCheck, "pairalign_check", CHECK),
    (verify.NativeFindingLines, "pairalign_finding_lines", FINDINGS),
]

OPENCL_STRUCTS: list[tuple[Declaration, str, str, dict[str, int]]] = [
    (tile_plan.TILE, "Tile", "tiles.clh", {"BLOCK": opencl_pair_per_thread.BLOCK}),
    (opencl_pair_per_thread.BATCH, "Batch", "tiles.clh", {"BLOCK": opencl_pair_per_thread.BLOCK}),
    (opencl_striped.RECTANGLE, "Rectangle", "papers/score_striped.cl", {"VOTE": 0, "MODE": 0}),
]

NUMBERS: list[tuple[Source, dict[str, int]]] = [
    (
        TABLES,
        {
            "PAIRALIGN_CLAIMS": len(alignment_records.CLAIMS),
            "PAIRALIGN_SAYS_TARGET_COVERAGE": alignment_records.CLAIMS.index("target_coverage"),
            "PAIRALIGN_SAYS_EDITS": alignment_records.CLAIMS.index("edits"),
            "PAIRALIGN_FAULT_MODE": alignment_records.FAULTS.index("mode"),
            "PAIRALIGN_FAULT_CLAIM + PAIRALIGN_SAYS_SCORE": alignment_records.FAULTS.index("score"),
            "PAIRALIGN_ROLE_CLAIM": alignment_records.ROLES.index("says_query_length"),
            "PAIRALIGN_ROLE_SAM_SEQUENCE": alignment_records.ROLES.index("sam_sequence"),
        },
    ),
    (
        PACKED,
        {
            "TIER": tilings.TIER,
            "MOST_COLUMNS": tilings.MOST_COLUMNS,
            "LETTERS": parameters.LETTERS,
            "SCALE": parameters.SCALE,
            "E_CODES": parameters.E_CODES,
            "FIELDS": parameters.FIELDS,
            **{
                f"16 * tier_stride({one.group}, {one.columns})": one.tier_bytes
                for one in tilings.TILINGS
            },
            **{
                f"4 * tile_words({one.columns // one.parts})": one.code_bytes
                for one in tilings.TILINGS
            },
        },
    ),
    (RUNS, {"THREADS": parameters.PAIRS_OF_BLOCK, "PLACING_THREADS": parameters.PLACING_THREADS}),
    (PLAN, {"pairalign::GROUPS": len(batches.GROUPS), "MOST_LAUNCHES": batches.MOST_LAUNCHES}),
    (
        TILES,
        {"TIER": tile_plan.TIER, "WARP": tile_plan.WARP, "END_COLUMN + 1": tile_plan.RESULT_FIELDS},
    ),
    (
        OVERLAPS,
        {
            "PAIRALIGN_DOVETAIL": overlap_kinds.DOVETAIL,
            "PAIRALIGN_CONTAINED": overlap_kinds.CONTAINED,
            "PAIRALIGN_CONTAINS": overlap_kinds.CONTAINS,
            "PAIRALIGN_INTERNAL": overlap_kinds.INTERNAL,
            "PAIRALIGN_INTERNAL + 1": overlap_kinds.KINDS,
        },
    ),
    (
        WORDS,
        {
            "WordsInPlace::WORDS": residues.WORDS,
            "WordsInPlace::RESIDUES": residues.WORD,
            "WordsInPlace::SIMILAR": residues.SIMILAR,
            "WordsInPlace::NEAR": residues.NEAR,
            "WordsInPlace::NEAR_AFTER_END": residues.NEAR_AFTER_END,
        },
    ),
    (SCORES, {"WARP": scores.WARP, "PADDING_CODE": device_sets.PADDING_CODE}),
    (
        BLOCK_DIAGONALS,
        {
            "TILE_STRIP": block_diagonals.TILE_STRIP,
            "1 << GAP_BITS": block_diagonals_family.OPEN_LIMIT,
        },
    ),
    (
        PRUNED,
        {
            "STEPS": pruned.STEPS,
            "2 * MARGIN": pruned.MARGIN,
            "WORTH_PADDING": pruned.WORTH_PADDING,
            "DONE": pruned.DONE,
            "GIVEN_UP": pruned.GIVEN_UP,
            "NO_ROOM": pruned.NO_ROOM,
            "LOST": pruned.LOST,
        },
    ),
    (
        CPU,
        {
            "PAIRALIGN_DONE": cpu.DONE,
            "PAIRALIGN_CANCELLED": cpu.CANCELLED,
            "PAIRALIGN_CAPACITY": cpu.CAPACITY,
            "PAIRALIGN_NO_MEMORY": cpu.NO_MEMORY,
            "PAIRALIGN_SCORES": cpu.SCORES,
            **{
                f"pairalign::{name.upper().replace('-', '_')}": n
                for n, name in enumerate(cpu.MODES)
            },
        },
    ),
]


Values = Callable[[Source, str], int]
PITCHES = [f"pitch_of({one.columns // one.parts}, {one.width})" for one in tilings.TILINGS]
LENGTHS = [(1, 1), (31, 1), (16, 16), (1000, 37)]
MOVES = [f"move_words({rows}, {columns})" for rows, columns in LENGTHS]


@pytest.fixture(scope="module")
def value_of(tmp_path_factory: pytest.TempPathFactory) -> Values:
    """What an expression is in a source, which is compiled once with all that is asked of it."""
    asked: dict[Source, list[str]] = {PACKED: [*PITCHES, *MOVES]}
    for declaration, struct, source in STRUCTS:
        asked.setdefault(source, []).extend(layout_expressions(declaration, struct))
    for source, numbers in NUMBERS:
        asked.setdefault(source, []).extend(numbers)

    @functools.cache
    def values(source: Source) -> dict[str, int]:
        folder = tmp_path_factory.mktemp("values")
        found = cpp_values(source.includes(), asked[source], folder, source.defines())
        return dict(zip(asked[source], found, strict=True))

    return lambda source, expression: values(source)[expression]


def name_of(value: object) -> str | None:
    return value.path if isinstance(value, Source) else value if isinstance(value, str) else ""


@COMPILER
@pytest.mark.parametrize("source", {source: None for *_, source in STRUCTS}, ids=name_of)
def test_cpp_layouts(source, value_of):
    for declaration, struct, of in STRUCTS:
        if of == source:
            found = layout_of(declaration, struct, partial(value_of, source))
            assert found == declared_layout(declaration), struct


@pytest.mark.parametrize(
    ("declaration", "struct", "source", "defines"), OPENCL_STRUCTS, ids=name_of
)
def test_opencl_layouts(declaration, struct, source, defines):
    lines = "".join(f"#define {name} {value}\n" for name, value in defines.items())
    if source == opencl_striped.SOURCE:
        lines += "#define ENTRY char4\n#define STORE local\n"
    found = opencl_layout(declaration, struct, lines + read_source(source), opencl_device())
    assert found == declared_layout(declaration)


@COMPILER
@pytest.mark.parametrize(("source", "numbers"), NUMBERS, ids=name_of)
def test_numbers_known_on_both_sides(source, numbers, value_of):
    assert {name: value_of(source, name) for name in numbers} == numbers


@COMPILER
def test_room_for_profiles_and_moves(value_of):
    """Formulas that Python needs to plan memory, and the kernels to find their way in it."""
    for tiling, pitch in zip(tilings.TILINGS, PITCHES, strict=True):
        assert tiling.width < value_of(PACKED, pitch) <= tiling.profile_bytes(1) // 4
    rows, columns = np.array(LENGTHS, np.int32).T
    moves = [value_of(PACKED, one) for one in MOVES]
    assert moves == tilings.move_words(rows, columns).tolist()
