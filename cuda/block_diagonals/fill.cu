// Long pairs, each on the whole device: fill_k4, fill_k8, fill_k16, and where the alignment ends.
//
// Computes   H, E, F of affine-gap global, semiglobal or local alignment in 32 bits; the score and the
//            end cell of each pair, and with Params::traced the borders of tiles for a traceback.
// In         pairs[]; items[first_item .. items_stop): strips of 32 * K rows, a pair's in their order;
//            ticket = 0; Pair::handed without a valid word, or as the launch before left it.
// Out        progress[], kept_rows, kept_columns, best.
// Threads    Up to four warps a block; each for itself takes strips until there are none. A strip is
//            swept 32 columns at a time (see strip.cuh); between strips words in
//            global memory hand H and F on (see block_diagonals.cuh).
// Shared     the scores of the strip's rows against each letter: [letters][32 * K] of 8 or 32 bits,
//            then letters and words of 64 columns.
// After      Huynh et al.: blocks along diagonals, sequence pieces in shared memory, borders in global
//            memory. One launch for all diagonals instead of one each.
#include "strip.cuh"

namespace {

template <int K>
__device__ void fill_block_diagonals(const Params& p) {
    for (;;) {
        uint32_t ticket = 0;
        if (threadIdx.x % 32 == 0) ticket = atomicAdd(p.ticket, 1u);
        const int item = p.first_item + (int)__shfl_sync(ALL, ticket, 0);
        if (item >= p.items_stop) break;
        const int2 of = p.items[item];
        const Pair pair = p.pairs[of.x];
        const Piece piece{0, 0, pair.rows, pair.columns, nullptr, nullptr, pair.handed};
        fill_strip<K, FILL>(p, pair, p.progress[of.x], piece, of.y, nullptr);
    }
}

constexpr int ENDING_THREADS = 256;

}  // namespace

#define ENTRY extern "C" __global__ void __launch_bounds__

ENTRY(128) fill_k4(const Params p) { fill_block_diagonals<4>(p); }
ENTRY(128) fill_k8(const Params p) { fill_block_diagonals<8>(p); }
ENTRY(128) fill_k16(const Params p) { fill_block_diagonals<16>(p); }

// Score and end cell of each pair from what fill left: a block a pair. Of local pairs only which column
// of tiles the end cell is in; locate_end finds the cell.
ENTRY(256) find_end(const Params p) {
    const Pair& pair = p.pairs[blockIdx.x];
    Progress& progress = p.progress[blockIdx.x];
    if (!LOCAL) {
        if (threadIdx.x != 0) return;
        progress.end_row = pair.rows;
        progress.end_column = pair.columns;
        if (SEMIGLOBAL) {
            const word in_row = progress.row_key, in_column = progress.column_key;
            const bool row = in_row >> 32 >= in_column >> 32;  // its columns are smaller
            progress.score = (int)((row ? in_row : in_column) >> 32);
            if (row) progress.end_column = (int)~(uint32_t)in_row;
            else progress.end_row = (int)~(uint32_t)in_column;
        }
        return;
    }
    if (!p.traced) return;
#if defined(PAIRALIGN_EMULATE)
    int* const first = (int*)emulated_shared_memory();
#else
    __shared__ int first[ENDING_THREADS];
#endif
    const int across = (pair.columns - 1) / p.tile + 1;
    int found = across;
    for (int at = threadIdx.x; at < pair.strips * across; at += ENDING_THREADS)
        if (pair.best[at] == progress.score) found = min(found, at % across);
    first[threadIdx.x] = found;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int thread = 1; thread < ENDING_THREADS; ++thread) found = min(found, first[thread]);
    progress.tile_column = found;
}

// Whether a pair is traced, and from where: a thread a pair.
ENTRY(256) start_walk(const Params p) {
    const int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= p.pair_count) return;
    Progress& progress = p.progress[number];
    if (LOCAL && progress.place) {
        progress.end_column = (int)(~progress.place >> 32);
        progress.end_row = (int)(uint32_t)~progress.place;
    }
    progress.active = progress.score >= p.min_score && (GLOBAL || progress.score > 0);
    progress.row = progress.end_row;
    progress.column = progress.end_column;
}
