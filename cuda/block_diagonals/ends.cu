// Long pairs: where the alignment of each ends, and where its traceback begins.
//
// In         what fill.cu left in progress[] and Pair::best; start_walk: what locate.cu found.
// Out        progress[]: score, end cell, whether the pair is traced and from where.
// Threads    find_end: a block a pair; start_walk: a thread a pair.
#include "strip.cuh"

namespace {

constexpr int ENDING_THREADS = 256;

}  // namespace

#define ENTRY extern "C" __global__ void __launch_bounds__

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
            // Ties: the end cell.
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
