// CIGAR runs and counts from the moves that traceback.cu leaves.
//
// Computes   count_runs: of every pair matches, mismatches, gaps and how many runs it has;
//            place_runs: where the runs of each block of pairs begin; write_runs: where those of
//            each pair begin, and the runs themselves, first run first, pairs in order.
// In         moves (see moves.cuh); fields: the spans and COLUMNS of each pair.
// Out        fields: MATCHES to GAP_RESIDUES, LEADING and RUNS; block_runs[blocks],
//            block_starts[blocks + 1]; offsets[pairs + 1], runs[total] if there is room for them.
// Threads    A block for 256 pairs, 8 lanes for each at a time, a word of 32 columns a lane.
//            place_runs: one block.
// Shared     count_runs: sums; write_runs: runs, so that they are stored side by side.
#include "moves.cuh"
#include "sums.cuh"

namespace {

constexpr int THREADS = 256;  // and pairs of a block
constexpr int LANES = 8;      // that take a pair together
constexpr int GROUPS = THREADS / LANES;
constexpr int PLACING_THREADS = 1024;

// Where the moves of a pair begin.
__device__ __forceinline__ const uint2* moves_of(const Params& p, int pair) {
    if (p.moves_of_pair) return p.moves + p.moves_of_pair[pair];
    int place = 0, after = p.places;  // the last row that begins at the pair or before
    while (after - place > 1) {
        const int middle = (place + after) / 2;
        if (p.first_pair_of_row[middle] <= pair) place = middle;
        else after = middle;
    }
    return p.moves + moves_at(p, place, p.row_lengths[p.first_row + place], pair);
}

// A word of moves with, for each column, whether a run ends there on the way to the last column.
struct Columns {
    word gaps, kinds, ends;
};

__device__ __forceinline__ Columns columns_at(const uint2* moves, int columns, int number) {
    const uint2 here = moves[number];
    const uint2 later = number > 0 ? moves[number - 1] : make_uint2(0, 0);
    const word valid = 0xffffffffu >> max(32 * number + 32 - columns, 0);
    Columns of;
    of.gaps = here.x & valid;
    of.kinds = here.y & valid;
    of.ends = (here.x ^ __funnelshift_l(later.x, here.x, 1)) | (here.y ^ __funnelshift_l(later.y, here.y, 1));
    if (number == 0) of.ends |= 1;
    of.ends &= valid;
    return of;
}

// Whether the first column in the moves continues the leading gap, so that both are one run.
__device__ __forceinline__ bool continues(const uint2* moves, int columns, int leading) {
    if (leading == 0 || columns == 0) return false;
    const uint2 first = moves[(columns - 1) / 32];
    const int bit = (columns - 1) % 32;
    return (first.x >> bit & 1) && (int)(first.y >> bit & 1) == (leading > 0);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS) count_runs(const Params p, int* block_runs) {
    __shared__ const uint2* moves_of_pair[THREADS];
    __shared__ int columns_of_pair[THREADS];
    __shared__ int counts[5][THREADS];
    const long long first = (long long)blockIdx.x * THREADS, pair = first + threadIdx.x;
    int* const fields = p.fields + pair;
    const bool exists = pair < p.pairs;
    const int columns = exists ? fields[COLUMNS * p.pairs] : 0;
    const uint2* const moves = exists ? moves_of(p, (int)pair) : nullptr;
    columns_of_pair[threadIdx.x] = columns;
    moves_of_pair[threadIdx.x] = moves;
    __syncthreads();

    const int lane = threadIdx.x % LANES;
    for (int of = threadIdx.x / LANES; of < THREADS; of += GROUPS) {
        int sums[5] = {0, 0, 0, 0, 0};
        const int end = columns_of_pair[of];
        for (int number = lane; number * 32 < end; number += LANES) {
            const Columns here = columns_at(moves_of_pair[of], end, number);
            sums[0] += __popc(~here.gaps & here.kinds);
            sums[1] += __popc(here.gaps);
            sums[2] += __popc(here.gaps & here.kinds);
            sums[3] += __popc(here.ends);
            sums[4] += __popc(here.ends & here.gaps);
        }
#pragma unroll
        for (int n = 0; n < 5; ++n) {
#pragma unroll
            for (int away = 1; away < LANES; away *= 2) sums[n] += __shfl_xor_sync(WARP, sums[n], away);
            if (lane == 0) counts[n][of] = sums[n];
        }
    }
    __syncthreads();

    int runs = 0;
    if (exists) {
        const int matches = counts[0][threadIdx.x], gaps = counts[1][threadIdx.x];
        const int deletions = counts[2][threadIdx.x];
        const int query = fields[QUERY_END * p.pairs] - fields[QUERY_START * p.pairs];
        const int target = fields[TARGET_END * p.pairs] - fields[TARGET_START * p.pairs];
        // What the columns leave of the spans is a gap before them, of one kind.
        const int leading = target - (columns - gaps + deletions) - (query - (columns - deletions));
        const bool more = leading != 0 && !continues(moves, columns, leading);
        fields[MATCHES * p.pairs] = matches;
        fields[MISMATCHES * p.pairs] = columns - gaps - matches;
        fields[GAP_OPENINGS * p.pairs] = counts[4][threadIdx.x] + more;
        fields[GAP_RESIDUES * p.pairs] = gaps + max(leading, -leading);
        fields[LEADING * p.pairs] = leading;
        runs = counts[3][threadIdx.x] + more;
    }
    long long all;
    const int before = (int)sum_before(runs, all);
    if (exists) fields[RUNS * p.pairs] = before;
    if (threadIdx.x == 0) block_runs[blockIdx.x] = (int)all;
}

extern "C" __global__ void __launch_bounds__(PLACING_THREADS)
    place_runs(const int* block_runs, const int blocks, long long* block_starts) {
    long long before = 0;
    for (int first = 0; first < blocks; first += PLACING_THREADS) {
        const int at = first + threadIdx.x;
        long long all;
        const long long here = sum_before(at < blocks ? block_runs[at] : 0, all);
        if (at < blocks) block_starts[at] = before + here;
        before += all;
    }
    if (threadIdx.x == 0) block_starts[blocks] = before;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    write_runs(const Params p, const long long* block_starts, long long* offsets, unsigned int* runs,
               const long long capacity) {
    __shared__ const uint2* moves_of_pair[THREADS];
    __shared__ int columns_of_pair[THREADS];
    __shared__ int leading_of_pair[THREADS];
    __shared__ int runs_before[THREADS];
    __shared__ unsigned int gathered[GROUPS][LANES * 32];
    const long long pair = (long long)blockIdx.x * THREADS + threadIdx.x;
    const int* const fields = p.fields + pair;
    const bool exists = pair < p.pairs;
    const long long start = block_starts[blockIdx.x], total = block_starts[gridDim.x];
    if (exists) {
        const int before = fields[RUNS * p.pairs];
        offsets[pair] = start + before;
        runs_before[threadIdx.x] = before;
    }
    if (pair == p.pairs - 1) offsets[p.pairs] = total;
    if (total > capacity) return;
    columns_of_pair[threadIdx.x] = exists ? fields[COLUMNS * p.pairs] : 0;
    leading_of_pair[threadIdx.x] = exists ? fields[LEADING * p.pairs] : 0;
    moves_of_pair[threadIdx.x] = exists ? moves_of(p, (int)pair) : nullptr;
    __syncthreads();

    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const int group_lanes = threadIdx.x % 32 / LANES * LANES;  // lanes of the warp before the group
    unsigned int* const mine = gathered[group];
    for (int of = group; of < THREADS; of += GROUPS) {
        const uint2* const moves = moves_of_pair[of];
        const int columns = columns_of_pair[of], leading = leading_of_pair[of];
        const int residues = max(leading, -leading);
        unsigned int* to = runs + start + (columns > 0 || residues > 0 ? runs_before[of] : 0);
        int end = columns;  // of the run to come: the columns up to its first, from the last one
        if (continues(moves, columns, leading)) {
            end += residues;
        } else if (residues > 0) {
            if (lane == 0) *to = (unsigned)residues << 4 | (leading > 0 ? DELETION : INSERTION);
            ++to;
        }
        // From the first columns on: they are in the last word.
        int number = (columns - 1 + 32) / 32 - 1 - lane;
        while (__any_sync(WARP, number + lane >= 0)) {
            Columns here = {0, 0, 0};
            if (number >= 0) here = columns_at(moves, columns, number);
            int count = __popc(here.ends);
#pragma unroll
            for (int away = 1; away < LANES; away *= 2) {
                const int other = __shfl_up_sync(WARP, count, away, LANES);
                if (lane >= away) count += other;
            }
            const int all = __shfl_sync(WARP, count, LANES - 1, LANES);
            // A run begins where the one before it ends, maybe several words ago.
            const int last_end = 32 * number + __ffs(here.ends) - 1;
            const unsigned some = __ballot_sync(WARP, here.ends != 0) >> group_lanes & ((1u << LANES) - 1);
            const unsigned before = some & ((1u << lane) - 1);
            const int last_before = before ? 31 - __clz(before) : 0;
            const int before_end = __shfl_sync(WARP, last_end, last_before, LANES);
            int from = before ? before_end : end;
            const int very_last = __shfl_sync(WARP, last_end, some ? 31 - __clz(some) : 0, LANES);
            if (some) end = very_last;
            unsigned int* next = mine + count - __popc(here.ends);
            while (here.ends) {
                const int bit = 31 - __clz(here.ends);
                const int kind = here.kinds >> bit & 1;
                const int operation = here.gaps >> bit & 1 ? INSERTION + kind : DIFFERENT - kind;
                const int at = 32 * number + bit;
                *next++ = (unsigned)(from - at) << 4 | (unsigned)operation;
                from = at;
                here.ends ^= 1u << bit;
            }
            __syncwarp();
            for (int n = lane; n < all; n += LANES) to[n] = mine[n];
            __syncwarp();
            to += all;
            number -= LANES;
        }
    }
}
