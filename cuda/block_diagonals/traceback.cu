// Long pairs: the traceback through tiles that are filled again, with flags.
//
// Computes   CIGAR runs, counts and spans of the pairs that fill.cu filled.
// In         the borders of tiles; progress[]: where each walker is. scratch cleared, ticket = 0.
// Out        progress[], Pair::runs.
//
// A round is two launches. refill_tiles fills the tiles that the path is likely to take from where it
// is, all at a time: a diagonal of tiles, each with its upper and its left neighbour, and the tiles
// straight above and to the left, for gaps. walk_tiles follows the path until it leaves these.
//
//     slot 5 * d      tile (a - d, b - d), the walker being in (a, b)
//     slot 5 * d + 1       (a - d - 1, b - d)
//     slot 5 * d + 2       (a - d, b - d - 1)
//     slot 5 * d + 3       (a - d, b)     from d = 2 on
//     slot 5 * d + 4       (a, b - d)     from d = 2 on
//
// Flags      [slot][strip of 128 rows][step][lane] of uint16: four rows of a lane, four bits each; in
//            step t lane l is in the tile's column t - l.
// Threads    refill_tiles, locate_end: a warp a strip, by ticket. walk_tiles: a block a pair; all
//            threads bring a piece of a strip's flags to shared memory, the first warp walks in it,
//            a lane looking at one cell of the next 32 of a diagonal or gap.
#include "tiles.cuh"

namespace {

constexpr int PER_DEPTH = 5;

__device__ bool tile_of_slot(int slot, int a, int b, int& tile_row, int& tile_column) {
    const int depth = slot / PER_DEPTH, which = slot % PER_DEPTH;
    tile_row = a - (which == 4 ? 0 : depth) - (which == 1);
    tile_column = b - (which == 3 ? 0 : depth) - (which == 2);
    return tile_row >= 0 && tile_column >= 0 && (which < 3 || depth >= 2);
}

// The slot of a tile so far up and left of the walker's, or one beyond the last.
__device__ int slot_of_tile(int up, int left, int slots) {
    int slot = slots;
    if (up == left) slot = PER_DEPTH * up;
    else if (up == left + 1) slot = PER_DEPTH * left + 1;
    else if (left == up + 1) slot = PER_DEPTH * up + 2;
    else if (left == 0) slot = PER_DEPTH * up + 3;
    else if (up == 0) slot = PER_DEPTH * left + 4;
    return min(slot, slots);
}

__device__ size_t flags_of_strip(const Params& p) { return (size_t)(p.tile + 32) * 32; }

}  // namespace

#define ENTRY extern "C" __global__ void __launch_bounds__

ENTRY(128) refill_tiles(const Params p) {
    const int strips = p.tile / TILE_STRIP;
    for (;;) {
        const int ticket = take_ticket(p, p.pair_count * p.slots * strips);
        if (ticket < 0) break;
        const int strip = ticket % strips, slot = ticket / strips % p.slots,
                  number = ticket / strips / p.slots;
        Progress& progress = p.progress[number];
        if (!progress.active) continue;
        int tile_row, tile_column;
        if (!tile_of_slot(slot, (progress.row - 1) / p.tile, (progress.column - 1) / p.tile, tile_row,
                          tile_column))
            continue;
        const Pair pair = p.pairs[number];
        word* handed = p.scratch + ((long long)number * p.scratch_tiles + slot) * p.tile;
        const Piece piece = piece_of(p, pair, tile_row, tile_column, handed);
        if (strip * TILE_STRIP >= piece.rows) continue;
        uint16_t* flags =
            p.flags + (((long long)number * p.slots + slot) * strips + strip) * flags_of_strip(p);
        fill_strip<TILE_ROWS, REFILL>(p, pair, progress, piece, strip, flags);
    }
}

namespace {

enum State { IN_H, IN_E, IN_F };
constexpr int WALK_THREADS = 256;
constexpr int STEPS = 192;                       // of flags that are in shared memory at a time
constexpr int LOADS = STEPS * 4 / WALK_THREADS;  // of 16 bytes, of each thread
static_assert(LOADS * WALK_THREADS == STEPS * 4 && STEPS + 32 <= WALK_THREADS, "threads load whole stages");

// What is in shared memory: flags of a strip's steps `low` to `high`, and the residues there.
struct Stage {
    uint16_t flags[STEPS * 32];
    uint8_t row_residues[TILE_STRIP];     // from the strip's first row on
    uint8_t column_residues[STEPS + 32];  // from the tile's column low - 31 on
};

struct Walk {
    int row, column, state, operation, length, matches, diagonals, openings, runs;
};

__device__ __forceinline__ void emit(const Params& p, const Pair& pair, Walk& walk, int operation,
                                     int length) {
    if (operation != walk.operation) {
        if (walk.length > 0) {
            ++walk.runs;
            if (p.want_runs && threadIdx.x == 0)
                *(pair.runs - walk.runs) = (uint32_t)walk.length << 4 | (uint32_t)walk.operation;
        }
        walk.openings += operation == 1 || operation == 2;
        walk.operation = operation;
        walk.length = 0;
    }
    walk.length += length;
}

// The same for `count` cells of a diagonal at a time: bit k of `matches` is about cell k. A lane whose
// cell begins a run writes the run before it.
__device__ __forceinline__ void emit_diagonal(const Params& p, const Pair& pair, Walk& walk, unsigned matches,
                                              int count) {
    const int lane = threadIdx.x;
    const unsigned mask = count == 32 ? ALL : (1u << count) - 1;
    matches &= mask;
    const auto operation_of = [&](int cell) { return matches >> cell & 1 ? 7 : 8; };
    const unsigned begins =
        ((matches ^ matches << 1) & mask & ~1u) | (unsigned)(operation_of(0) != walk.operation);
    const int nothing = walk.length == 0;  // before the first run
    if (begins >> lane & 1) {
        const unsigned earlier = begins & ((1u << lane) - 1);
        const int from = 31 - __clz((int)earlier);
        const int operation = earlier ? operation_of(from) : walk.operation;
        const int length = earlier ? lane - from : walk.length + lane;
        const int runs = walk.runs + __popc(earlier) + 1 - nothing;
        if (p.want_runs && length > 0) *(pair.runs - runs) = (uint32_t)length << 4 | (uint32_t)operation;
    }
    if (begins) {
        const int last = 31 - __clz((int)begins);
        walk.runs += __popc(begins) - nothing;
        walk.operation = operation_of(last);
        walk.length = count - last;
    } else {
        walk.length += count;
    }
    walk.matches += __popc(matches);
    walk.diagonals += count;
    walk.row -= count;
    walk.column -= count;
}

// A stage: steps `low` to `high` of the strip below row `strip_top` in the tile below `top` and right of
// `left`.
struct Place {
    int top, left, strip, strip_top, low, high;
};

__device__ __forceinline__ int trailing_ones(unsigned mask) {
    return mask == ALL ? 32 : __ffs((int)~mask) - 1;
}

// Walks through one stage. Returns false when the path has come to its start.
// Ties: the walk back.
__device__ bool walk_stage(const Params& p, const Pair& pair, const Stage& stage, Walk& walk,
                           const Place& place) {
    const int lane = threadIdx.x, strip_top = place.strip_top, left = place.left, low = place.low;
    const int e_operation = pair.row_is_query ? 2 : 1, f_operation = 3 - e_operation;
    for (;;) {
        const int row = walk.state == IN_E ? walk.row : walk.row - lane;
        const int column = walk.state == IN_F ? walk.column : walk.column - lane;
        const int r = row - 1 - strip_top, c = column - 1 - left;
        const int step = c + (r >> 2);
        const bool valid = r >= 0 && c >= 0 && step >= low;
        const int cell = valid ? stage.flags[(step - low) * 32 + (r >> 2)] >> (4 * (r & 3)) & 15 : 0;
        const unsigned inside = __ballot_sync(ALL, valid);
        bool goes_on = valid, match = false;
        if (walk.state == IN_H) {
            goes_on = valid && cell / ORIGIN == FROM_DIAGONAL;
            if (valid) {
                const int a = stage.row_residues[r], b = stage.column_residues[c - low + 31];
                match = a == b && a < p.unambiguous;
            }
        } else {
            goes_on = valid && (cell & (walk.state == IN_E ? E_NEXT : F_NEXT));
        }
        const int count = trailing_ones(__ballot_sync(ALL, goes_on));
        const unsigned matches = __ballot_sync(ALL, match);
        const int origin = __shfl_sync(ALL, cell / ORIGIN, count & 31);
        if (walk.state == IN_H) {
            if (count > 0) emit_diagonal(p, pair, walk, matches, count);
        } else if (count > 0) {
            emit(p, pair, walk, walk.state == IN_E ? e_operation : f_operation, count);
            if (walk.state == IN_E) walk.column -= count;
            else walk.row -= count;
        }
        if (walk.row == 0 || walk.column == 0) return false;
        if (count == 32) continue;
        if (!(inside >> count & 1)) return true;
        if (walk.state != IN_H) {
            walk.state = IN_H;
        } else if (origin == FROM_E) {
            emit(p, pair, walk, e_operation, 1);
            --walk.column;
            walk.state = IN_E;
        } else if (origin == FROM_F) {
            emit(p, pair, walk, f_operation, 1);
            --walk.row;
            walk.state = IN_F;
        } else {
            return false;
        }
        if (walk.row == 0 || walk.column == 0) return false;
    }
}

// The stage that ends at a cell.
__device__ __forceinline__ Place place_of(const Params& p, int row, int column) {
    Place at;
    at.top = (row - 1) / p.tile * p.tile;
    at.left = (column - 1) / p.tile * p.tile;
    at.strip = (row - 1 - at.top) / TILE_STRIP;
    at.strip_top = at.top + at.strip * TILE_STRIP;
    at.high = column - 1 - at.left + (row - 1 - at.strip_top) / TILE_ROWS;
    at.low = max(0, at.high - (STEPS - 1));
    return at;
}

// Brings a stage to shared memory, all threads together. All loads come first, for the path waits for them.
__device__ __forceinline__ void load_stage(const uint16_t* flags, const Pair& pair, const Place& place,
                                           Stage& stage) {
    uint4 pieces[LOADS];
    const int thread = threadIdx.x, count = (place.high - place.low + 1) * 4;
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
        const int at = k * WALK_THREADS + thread;
        if (at < count) pieces[k] = ((const uint4*)flags)[at];
    }
    const int from_row = place.strip_top + thread, from_column = place.left + place.low - 31 + thread;
    const bool has_row = thread < TILE_STRIP && from_row < pair.rows;
    const bool has_column = thread < STEPS + 32 && from_column >= 0 && from_column < pair.columns;
    const uint8_t row_residue = has_row ? pair.row_residues[from_row] : 0;
    const uint8_t column_residue = has_column ? pair.column_residues[from_column] : 0;
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
        const int at = k * WALK_THREADS + thread;
        if (at < count) ((uint4*)stage.flags)[at] = pieces[k];
    }
    if (has_row) stage.row_residues[thread] = row_residue;
    if (has_column) stage.column_residues[thread] = column_residue;
}

// The gap along the border, and the end of the last run.
__device__ __forceinline__ void finish_walk(const Params& p, const Pair& pair, Walk& walk) {
    if (GLOBAL) {
        const int e_operation = pair.row_is_query ? 2 : 1;
        if (walk.row > 0) emit(p, pair, walk, 3 - e_operation, walk.row);
        if (walk.column > 0) emit(p, pair, walk, e_operation, walk.column);
        walk.row = walk.column = 0;
    }
    emit(p, pair, walk, 0, 0);
}

__device__ __forceinline__ void save(Progress& progress, const Walk& walk, int goes_on) {
    progress.active = goes_on;
    progress.row = walk.row;
    progress.column = walk.column;
    progress.state = walk.state;
    progress.operation = walk.operation;
    progress.length = walk.length;
    progress.matches = walk.matches;
    progress.diagonals = walk.diagonals;
    progress.openings = walk.openings;
    progress.runs = walk.runs;
}

}  // namespace

ENTRY(256) walk_tiles(const Params p) {
#if defined(PAIRALIGN_EMULATE)
    Stage& stage = *(Stage*)emulated_shared_memory();
    int* const shared = (int*)((char*)emulated_shared_memory() + 65536);
#else
    __shared__ __align__(16) Stage stage;
    __shared__ int shared[4];
#endif
    const Pair& pair = p.pairs[blockIdx.x];
    Progress& progress = p.progress[blockIdx.x];
    if (!progress.active) return;
    const int strips = p.tile / TILE_STRIP;
    const int start_row = (progress.row - 1) / p.tile, start_column = (progress.column - 1) / p.tile;
    Walk walk{progress.row,     progress.column,    progress.state,    progress.operation, progress.length,
              progress.matches, progress.diagonals, progress.openings, progress.runs};
    if (threadIdx.x == 0) {
        shared[0] = progress.row;
        shared[1] = progress.column;
        shared[2] = 1;
    }
    for (;;) {
        __syncthreads();
        const int row = shared[0], column = shared[1];
        if (!shared[2]) break;
        const int slot =
            slot_of_tile(start_row - (row - 1) / p.tile, start_column - (column - 1) / p.tile, p.slots);
        if (slot == p.slots) break;
        const Place place = place_of(p, row, column);
        const long long filled = ((long long)blockIdx.x * p.slots + slot) * strips + place.strip;
        load_stage(p.flags + filled * flags_of_strip(p) + place.low * 32, pair, place, stage);
        __syncthreads();
        if (threadIdx.x < 32) {
            const bool goes_on = walk_stage(p, pair, stage, walk, place);
            if (threadIdx.x == 0) {
                shared[0] = walk.row;
                shared[1] = walk.column;
                shared[2] = goes_on;
            }
        }
    }
    if (threadIdx.x >= 32) return;
    if (!shared[2]) finish_walk(p, pair, walk);
    if (threadIdx.x == 0) save(progress, walk, shared[2]);
}
