// Alignments from the tiles that fill.cu kept: traceback_*.
//
// Computes   for every pair its alignment's spans, and moves (moves.cuh) or, without room for these, counts.
// In         the batch's items as filled, tiles, score, end_row, end_column; chunks[blocks]: an
//            item and some of its rows.
// Out        fields[FIELDS][pairs]: the spans; COLUMNS and moves, or MATCHES to GAP_RESIDUES.
// Threads    A thread follows a path, its neighbour one in the other half of the tiles' words. It
//            fills the tile that the path is in again (refill.cuh), walks through it
//            (walk.cuh), and goes on with the next tile. Paths that are done make way for
//            those of further rows, some at a time, so that a warp's lanes all have work although
//            paths differ in length.
// Shared     per half, residue and column the score times SCALE with its code, 16 bits (in global
//            memory where that is too large: FAR); then the codes of each thread's tile.
// After      Dohi et al. 2010; Huynh et al. (block diagonals); flags as in gpu-pairAlign.
#include "refill.cuh"
#include "walk.cuh"

namespace {

// Entry [half][residue][column]: the stored score times SCALE, with the code of a diagonal move.
__device__ __forceinline__ void fill_profile(const Params& p, const int4 item, int width, int pitch,
                                             void* profile) {
    for (int half = 0; half < PAIRS; ++half) {
        const bool exists = half < item.w;
        const int padding = width - (exists ? p.column_lengths[item.x + half] : 0);
        const long long start = p.column_starts[item.x + (exists ? half : 0)];
        // A few columns more: those after a tile's last may be read.
        for (int column = threadIdx.x; column < pitch; column += blockDim.x) {
            const int at = column - padding;
            const int of_column = column_residue(p, start, at);
            for (int residue = 0; residue < p.letters; ++residue) {
                const bool match = residue == of_column && residue < p.unambiguous;
                const int entry = p.table[residue * LETTERS + of_column] * SCALE + (match ? MATCH : MISMATCH);
                const int to = (half * p.letters + residue) * pitch + column;
                if (WIDE) ((int*)profile)[to] = entry;
                else ((short*)profile)[to] = (short)entry;
            }
        }
    }
}

// An item, and its column in one of the halves.
struct Item {
    int4 item;
    int strips, width;
    int length, padding;  // of the column; length is 0 if there is none
    const uint4* tiles;
    int first_tiers;  // tiers before the item's first row
};

template <int K>
__device__ __forceinline__ Item item_of(const Params& p, int number, int half) {
    Item of;
    of.item = p.items[number];
    const int first = p.column_lengths[of.item.x];
    const int second = of.item.w == 2 ? p.column_lengths[of.item.x + 1] : 0;
    const int strip_columns = p.group * K;
    of.strips = (max(first, second) + strip_columns - 1) / strip_columns;
    of.width = of.strips * strip_columns;
    of.length = half ? second : first;
    of.padding = of.width - of.length;
    of.tiles = p.tiles + p.item_tiles[number];
    of.first_tiers = p.tiers_before[of.item.y];
    return of;
}

// End gaps: whether the gap at the end is part of the alignment, or free.
__device__ __forceinline__ bool has_end_gap(const Params& p) { return END_GAPS && p.end_open > 0; }

// The gap from the end cell to the last one: the first of a path's moves.
__device__ __forceinline__ void append_end_gap(const Params& p, const Item& of, Path& path) {
    if (!has_end_gap(p)) return;
    const int of_row = path.rows - path.end_row, of_column = of.width - 1 - path.end_column;
    const bool of_e = of_row == 0;
    for (int residues = of_row + of_column; residues > 0; residues -= 32) {
        append(p, path, 0, 0, min(residues, 32), of_e == path.row_is_query);
    }
}

// What a path that is done leaves of its columns; `leading`: residues of the gap before these.
__device__ __forceinline__ void finish_columns(const Params& p, Path& path, int leading) {
    int* const fields = p.fields + path.pair;
    if (p.moves) {
        if (path.columns & 31) path.moves[path.columns >> 5] = make_uint2(path.gaps, path.kinds);
        fields[COLUMNS * p.pairs] = path.columns;
        return;
    }
    append(p, path, 0, 0, leading, (path.i == 0) == path.row_is_query);
    fields[MATCHES * p.pairs] = path.matches;
    fields[MISMATCHES * p.pairs] = path.columns - path.gap_residues - path.matches;
    fields[GAP_OPENINGS * p.pairs] = path.gap_openings;
    fields[GAP_RESIDUES * p.pairs] = path.gap_residues;
}

// The results of a path that is done.
__device__ __forceinline__ void finish(const Params& p, const Item& of, Path& path) {
    // Global: the rest of the way is a gap along the border.
    const bool from_start = GLOBAL || (END_GAPS && p.start_open > 0), to_end = GLOBAL || has_end_gap(p);
    const int row_start = from_start ? 0 : path.i, row_end = to_end ? path.rows : path.end_row;
    const int column_start = from_start ? 0 : path.column - of.padding + 1;
    const int column_end = to_end ? of.length : path.end_column - of.padding + 1;
    int* const fields = p.fields + path.pair;
    const int spans[4] = {
        path.row_is_query ? row_start : column_start, path.row_is_query ? row_end : column_end,
        path.row_is_query ? column_start : row_start, path.row_is_query ? column_end : row_end};
    const bool empty = END_GAPS && row_start == row_end && column_start == column_end;
    for (int field = QUERY_START; field <= TARGET_END; ++field)
        fields[field * p.pairs] = empty ? 0 : spans[field - QUERY_START];
    finish_columns(p, path, from_start ? path.i + path.column - of.padding + 1 : 0);
    path.phase = IDLE;
}

// Whether a pair is transposed says its ranks. Not in local mode of one set, where no pair is: with the loads
// of ranks, ptxas 13.0 from -O2 on makes code for sm_90 that takes wrong gap lengths (on an H200, of 200 of
// 435 pairs of tandem repeats; with -O1 the same PTX is right). So local mode of two sets is compiled with
// -O1, for itself, which takes no measurable time. What was tried with -O3: it is right where all of a Path
// is set before the loop, or `walk`, `append` or `start` is no inline function, or a multiprocessor has one
// block; wrong where only what `seek` hands on of lanes without a path is set, which C++ asks for. So the
// fault is not explained by a rule that this source breaks.
#if defined(PAIRALIGN_RANKS)
constexpr bool BY_RANKS = PAIRALIGN_RANKS != 0;
#else
constexpr bool BY_RANKS = true;
#endif

// A path for the next row that has one to trace in this half, if there is any.
template <int K>
__device__ __forceinline__ void start(const Params& p, const Item& of, int half, int stop, int* next_place,
                                      Path& path) {
    for (;;) {
        const int place = atomicAdd(next_place, 1);
        if (place >= stop) return;
        const int pair = pair_at(p, of.item, place, half);
        if (pair < 0) continue;
        const int score = p.score[pair];
        if (score < p.min_score || (!GLOBAL && !END_GAPS && score <= 0)) {
            for (int field = QUERY_START; field <= COLUMNS; ++field) p.fields[field * p.pairs + pair] = 0;
            continue;
        }
        const int row = row_at(p, place), column = of.item.x + half;
        path.phase = WALKING;
        path.pair = pair;
        path.rows = p.row_lengths[row];
        path.residues = p.row_residues + p.row_starts[row];
        path.tiles = of.tiles + (long long)(p.tiers_before[place] - of.first_tiers) * of.strips *
                                    tier_stride(p.group, K);
        path.moves = p.moves ? p.moves + moves_at(p, place, path.rows, pair) : nullptr;
        path.gaps = path.kinds = 0;
        path.matches = path.gap_residues = path.gap_openings = path.last_gap = 0;
        path.columns = 0;
        path.state = IN_H;
        path.transposed = BY_RANKS ? is_transposed(p, row, column) : !p.triangular && of.length > path.rows;
        path.row_is_query = !p.triangular || p.row_order[row] < p.column_order[column];
        if (SEMIGLOBAL) {
            path.end_row = p.end_row[pair];
            path.end_column = p.end_column[pair] - 1 + of.padding;
        }
        if (LOCAL) {
            // The only tiles with the best cell, or any may have it.
            const int tier = p.end_row[pair], lane = p.end_column[pair];
            path.phase = SEARCHING;
            path.part = tier < 0 ? parts_of(K) : 0;
            path.next_tile = tier < 0 ? -1 : tier * p.group + lane;
            path.stop_tile =
                tier < 0 ? of.strips * tiers_of(path.rows, p.group) * p.group : path.next_tile + 1;
            path.end_row = path.end_column = 1 << 30;
        }
        path.i = GLOBAL ? path.rows : path.end_row;
        path.column = GLOBAL ? of.width - 1 : path.end_column;
        if (END_GAPS) {
            append_end_gap(p, of, path);
            if (path.i == 0 || path.column < of.padding) {
                finish(p, of, path);
                continue;
            }
        }
        return;
    }
}

// The tile of a padded column in a tier; returns the row of the tier's step 0, counted from 1.
template <int K, bool FAR>
__device__ __forceinline__ int place_at(const Params& p, const Path& path, int column, int tier, Tile& tile) {
    constexpr int C = tile_columns(K);
    const int overall_lane = column / K;
    const int strip = FAR ? overall_lane / 32 : 0;  // strips are of 32 lanes
    const long long overall_tier = (long long)strip * tiers_of(path.rows, p.group) + tier;
    tile.tier = (const word*)(path.tiles + overall_tier * tier_stride(p.group, K));
    tile.lane = overall_lane - strip * 32;
    tile.part = (column - overall_lane * K) / C;
    const int behind = idle_steps_of(path.rows) + ROWS * tile.lane;  // steps before the lane's row 1
    tile.residues = path.residues - behind + tier * TIER;
    tile.column = overall_lane * K + tile.part * C;
    return tier * TIER - behind + 1;
}

// Local: goes on to the next lane's tier whose best is the pair's score. The whole warp looks for
// one path at a time.
template <int K>
__device__ __forceinline__ void seek(const Params& p, bool seeking, Path& path) {
    constexpr int PARTS = parts_of(K);
    const int lane = threadIdx.x % 32;
    const int mine = seeking ? p.score[path.pair] + p.bias : 0;
    unsigned left = __ballot_sync(0xffffffffu, seeking);
    while (left) {
        const int of = __ffs(left) - 1, half = WIDE ? 0 : of & 1;
        left &= left - 1;
        const word* const tiles =
            (const word*)(uintptr_t)__shfl_sync(0xffffffffu, (unsigned long long)(uintptr_t)path.tiles, of);
        const int wanted = __shfl_sync(0xffffffffu, mine, of);
        const int stop = __shfl_sync(0xffffffffu, path.stop_tile, of);
        int tile = __shfl_sync(0xffffffffu, path.next_tile, of);
        unsigned found = 0;
        for (; tile < stop; tile += 32) {
            const int at = tile + lane, tier = at / p.group;
            found = __ballot_sync(0xffffffffu,
                                  at < stop && half_of(tiles[(long long)tier * (4 * tier_stride(p.group, K)) +
                                                             bests_at(p.group, K) + at - tier * p.group],
                                                       half) == wanted);
            if (found) break;
        }
        if (lane == of) {
            path.part = 0;
            path.next_tile = found ? tile + __ffs(found) - 1 : stop;
            if (!found) path.part = PARTS;
        }
    }
}

// Local: the next tile that may hold the cell where the alignment ends, of the lane and tier that
// `seek` has found; false if it is not to be looked at. `row`: of the tile's step 0.
template <int K, bool FAR>
__device__ __forceinline__ bool candidate(const Params& p, int half, Path& path, Tile& tile, int& row) {
    constexpr int PARTS = parts_of(K), C = tile_columns(K);
    const int tiers = tiers_of(path.rows, p.group);
    const int overall_tier = path.next_tile / p.group;
    const int lane = path.next_tile - overall_tier * p.group;
    const int strip = FAR ? overall_tier / tiers : 0, tier = overall_tier - strip * tiers;
    const int column = (strip * p.group + lane) * K + path.part * C;
    ++path.part;
    if (!path.transposed && column > path.end_column) {
        path.part = PARTS;
        return false;
    }
    row = place_at<K, FAR>(p, path, column, tier, tile);
    tile.last_step = min(TIER - 1, steps_of(path.rows, p.group) - 1 - tier * TIER);
    const int corner = half_of(tile.tier[corners_at(p.group, K) + tile.part * p.group + tile.lane], half);
    tile.wanted = p.score[path.pair] + p.bias - corner + p.tile_bias;
    tile.first_step = min(max(1 - row, 0), TIER);
    tile.stop_step = min(max(path.rows + 1 - row, 0), TIER);
    return true;
}

// Local: when all of a lane's tier has been looked at, the next one that has the best cell; after the last
// the path begins where that cell was found.
template <int K>
__device__ __forceinline__ void seek_next(const Params& p, Path& path) {
    const bool done = path.phase == SEARCHING && path.part == parts_of(K);
    if (done) ++path.next_tile;
    seek<K>(p, done && path.next_tile < path.stop_tile, path);
    if (done && path.next_tile >= path.stop_tile) {
        path.phase = WALKING;
        path.i = path.end_row;
        path.column = path.end_column;
    }
}

// The tile that a path goes on in, and the cell where it enters.
template <int K, bool FAR>
__device__ __forceinline__ void enter_tile(const Params& p, const Path& path, Tile& tile, Entry& entry) {
    const int lane = FAR ? path.column / K % 32 : path.column / K;
    const int step = path.i - 1 + idle_steps_of(path.rows) + ROWS * lane;
    place_at<K, FAR>(p, path, path.column, step / TIER, tile);
    tile.last_step = entry.step = step % TIER;
    entry.column = path.column - tile.column;
}

// Local: takes note of the best cell if a tile has it before the others; true if no other tile is to be
// looked at and the path begins in this one. `row`: of the tile's step 0.
// Ties: the end cell.
template <int K>
__device__ __forceinline__ bool take_found(int row, const Tile& tile, Path& path, Entry& entry) {
    const bool here = entry.found != NOT_FOUND;
    const int major = entry.found >> 4, minor = entry.found & 15;  // see rank_of
    const int end_row = row + (path.transposed ? major : minor);
    const int end_column = tile.column + (path.transposed ? minor : major);
    const bool better =
        path.transposed
            ? end_row < path.end_row || (end_row == path.end_row && end_column < path.end_column)
            : end_column < path.end_column || (end_column == path.end_column && end_row < path.end_row);
    if (here && better) {
        path.end_row = end_row;
        path.end_column = end_column;
        // In the usual order the columns to the right need not be looked at.
        if (!path.transposed) path.part = parts_of(K);
    }
    const bool last = path.part == parts_of(K) && path.next_tile + 1 >= path.stop_tile;
    const bool walks = here && better && last;
    if (walks) {
        path.phase = WALKING;
        path.i = path.end_row;
        path.column = path.end_column;
        entry.step = path.end_row - row;
        entry.column = path.end_column - tile.column;
    }
    return walks;
}

// A warp starts paths when so many of its lanes have none: starting them makes all its lanes wait for memory.
constexpr int STARTED_TOGETHER = 12;

template <int K, bool FAR>
__device__ void traceback(const Params& p) {
    constexpr int C = tile_columns(K);
    const int4 chunk = p.chunks[blockIdx.x];
    const int half = WIDE ? 0 : threadIdx.x & 1;
    const Item of = item_of<K>(p, chunk.x, half);
    __shared__ int next_place[2];  // of each half, the next row that no thread has taken
#if defined(PAIRALIGN_EMULATE)
    uint4* const shared = (uint4*)emulated_shared_memory();
#else
    extern __shared__ uint4 shared[];
#endif
    // Bytes from a residue's scores to the next one's, and those of this half.
    const int pitch = (WIDE ? 4 : 2) * pitch_of(C, of.width);
    const char* profile = (const char*)shared;
    unsigned char* codes = (unsigned char*)shared;
    if (FAR) {
        profile = (const char*)(p.profiles + p.item_profiles[chunk.x]);
    } else {
        fill_profile(p, of.item, of.width, pitch_of(C, of.width), (void*)shared);
        codes += 4 * p.letters * pitch_of(C, of.width);
    }
    profile += half * p.letters * pitch;
    codes += threadIdx.x * (4 * tile_words(C));
    if (threadIdx.x < 2) next_place[threadIdx.x] = chunk.y;
    __syncthreads();

    constexpr unsigned ALL = 0xffffffffu;
    Path path = {};
    path.phase = IDLE;
    bool more = true;  // places that nobody has taken
    // Before each turn a lane's path is IDLE (none), SEARCHING (local: its end is not known; next_tile and
    // part say where to look next) or WALKING (all cells after (i, column) are in its moves). A turn fills
    // one tile a lane again.
    for (;;) {
        const int idle = __popc(__ballot_sync(ALL, path.phase == IDLE));
        if (idle == 32 || (idle >= STARTED_TOGETHER && __any_sync(ALL, path.phase == IDLE && more))) {
            if (path.phase == IDLE) {
                start<K>(p, of, half, chunk.z, &next_place[half], path);
                more = path.phase != IDLE;
            }
            if (__all_sync(ALL, path.phase == IDLE)) break;
        }
        // A lane without a tile computes along, with whatever may be read.
        Tile tile = {(const word*)of.tiles, p.row_residues, 0, 0, 0, 0, 0, 0, 0};
        Entry entry = {0, 0, 0, 0, NOT_FOUND};
        bool waits = path.phase == IDLE;
        int row = 0;  // of the tile's step 0
        if (LOCAL) {
            seek_next<K>(p, path);
            if (path.phase == SEARCHING) waits = !candidate<K, FAR>(p, half, path, tile, row);
        }
        if (path.phase == WALKING) enter_tile<K, FAR>(p, path, tile, entry);
        if (__all_sync(ALL, waits)) continue;
        const bool transposed = !waits && path.transposed;
        refill<K>(p, pitch, tile, half, transposed ? F_FIRST : F_LAST, transposed, profile, codes, entry);
        if (!waits) {
            bool walks = true;
            if (LOCAL && path.phase == SEARCHING) walks = take_found<K>(row, tile, path, entry);
            if (walks && walk<C>(p, path, entry, of.padding, codes)) finish(p, of, path);
        }
    }
}

}  // namespace

// Profiles of items that are too wide for shared memory, in global memory: a block an item.
extern "C" __global__ void __launch_bounds__(256)
    build_far_profiles(const Params p, const int strip_columns) {
    const int4 item = p.items[blockIdx.x];
    const int length_a = p.column_lengths[item.x];
    const int length_b = item.w == 2 ? p.column_lengths[item.x + 1] : 0;
    const int width = (max(length_a, length_b) + strip_columns - 1) / strip_columns * strip_columns;
    const int columns = strip_columns / 32;  // of a lane
    fill_profile(p, item, width, pitch_of(tile_columns(columns), width),
                 (void*)(p.profiles + p.item_profiles[blockIdx.x]));
}

// Threads of a block, and blocks of a multiprocessor, at most; see traceback_threads in
// pairalign/engines/cuda/packed/tilings.py.
constexpr int THREADS = LOCAL ? 256 : 512, BLOCKS = LOCAL ? 2 : 1;

// Kernels of a tiling's columns and what they are called: pairalign/engines/cuda/packed/packed_kernels.py.
#define ENTRY(NAME, ...) \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) NAME(const Params p) { __VA_ARGS__(p); }

PAIRALIGN_ENTRIES
