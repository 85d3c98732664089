// What the residues of each sequence are worth from each position on: what the bound of the pruned kernel
// adds up.
//
// Computes   row_worth[k] = sum over residues from k on of row[residue], less k * gap_extend; column_worth[k]
//            the same with column[residue]; cheap[k] = how many from k on are cheap; 0 <= k <= length.
// In         codes, starts, lengths of a set; worth[3][32]: row and column worth of a code, 1 for cheap ones.
// Out        int32 arrays; those of sequence s begin at starts[s] + 16 s.
// Threads    a block a sequence (first + blockIdx.x), from its end on, 256 residues at a time.
#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

namespace {

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr unsigned ALL = 0xffffffffu;

struct Sums {
    int row, column, cheap;
};

__device__ __forceinline__ Sums plus(const Sums& a, const Sums& b) {
    return {a.row + b.row, a.column + b.column, a.cheap + b.cheap};
}

}  // namespace

extern "C" __global__ void sum_worth(const uint8_t* codes, const int64_t* starts, const int32_t* lengths,
                                     const int32_t* worth, int32_t* row_worth, int32_t* column_worth,
                                     int32_t* cheap, int32_t gap_extend, int32_t first) {
    __shared__ int32_t of[96];
    __shared__ int32_t totals[3 * WARPS];
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const int32_t sequence = first + (int32_t)blockIdx.x, length = lengths[sequence];
    const uint8_t* const residues = codes + starts[sequence];
    const int64_t to = starts[sequence] + 16ll * sequence;
    if (thread < 96) of[thread] = worth[thread];
    __syncthreads();
    if (thread == 0) {
        row_worth[to + length] = column_worth[to + length] = -length * gap_extend;
        cheap[to + length] = 0;
    }
    Sums before{0, 0, 0};
    for (int32_t done = 0; done < length; done += THREADS) {
        const int32_t k = length - 1 - done - thread;
        const int code = k >= 0 ? residues[k] & 31 : -1;
        Sums sum{0, 0, 0};
        if (code >= 0) sum = {of[code], of[32 + code], of[64 + code]};
        for (int lanes = 1; lanes < 32; lanes *= 2) {
            const Sums other{__shfl_up_sync(ALL, sum.row, lanes), __shfl_up_sync(ALL, sum.column, lanes),
                             __shfl_up_sync(ALL, sum.cheap, lanes)};
            if (lane >= lanes) sum = plus(sum, other);
        }
        if (lane == 31)
            totals[3 * warp] = sum.row, totals[3 * warp + 1] = sum.column, totals[3 * warp + 2] = sum.cheap;
        __syncthreads();
        Sums all{0, 0, 0};
        for (int w = 0; w < WARPS; ++w) {
            const Sums other{totals[3 * w], totals[3 * w + 1], totals[3 * w + 2]};
            if (w == warp) sum = plus(sum, all);
            all = plus(all, other);
        }
        sum = plus(sum, before);
        before = plus(before, all);
        __syncthreads();
        if (k >= 0) {
            row_worth[to + k] = sum.row - k * gap_extend;
            column_worth[to + k] = sum.column - k * gap_extend;
            cheap[to + k] = sum.cheap;
        }
    }
}
