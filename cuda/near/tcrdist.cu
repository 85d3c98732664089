// Pairs of receptors whose TCRdist is within a limit: those that cpu/near/tcrdist.cpp finds.
//
// Computes   the sum over regions of what residues opposite one another cost, and of what those in the gap
//            do, which is at a fixed place or where the residues cost least (cpu/near/tcrdist_kernel.h)
// In         TcrArguments: regions of both sets, costs, the limit.
// Out        found[]: the pairs, in no order, and how many there are.
// Threads    A block for ROWS rows and COLUMNS columns, a column a thread; regions one after the other.
// Shared     Costs; the sums of all pairs; a region of the rows, and of the columns as [place][thread]. Lanes
//            have the same residue of the row, so that what they read of costs are few neighbouring words.

#include "tcrdist.cuh"

namespace {

struct Shared {
    uint16_t sums[ROWS][COLUMNS];  // a region comes to less than 2^12
    uint8_t costs[TCR_CODES * TCR_CODES];
    uint8_t columns[TCR_LONGEST][COLUMNS];
    uint8_t rows[ROWS][TCR_LONGEST];
    int32_t row_lengths[ROWS];
};

// A region of a row and of a thread's column.
struct Pair {
    const Shared& shared;
    const TcrRegion& region;
    int32_t row, row_length, column_length;

    __device__ __forceinline__ int32_t cost(int32_t i, int32_t j) const {
        return shared.costs[shared.rows[row][i] * TCR_CODES + shared.columns[j][threadIdx.x]];
    }
    __device__ __forceinline__ int32_t from_start(int32_t i) const { return cost(i, i); }
    __device__ __forceinline__ int32_t from_end(int32_t i) const {
        return cost(row_length - 1 - i, column_length - 1 - i);
    }
};

// What residues cost that are opposite one another.
__device__ __forceinline__ int32_t opposite(const Pair& p) {
    const int32_t first = p.region.left_out_first, last = p.region.left_out_last;
    const int32_t shorter = min(p.row_length, p.column_length);
    int32_t sum = 0;
    if (p.row_length == p.column_length) {
        for (int32_t i = first; i < shorter - last; i++) sum += p.from_start(i);
        return sum;
    }
    // After how many residues of the shorter region the gap may be.
    const int32_t fixed = min(6, (shorter + 1) / 2), middle = min(5, shorter / 2);
    const int32_t from = p.region.has_fixed_gap ? fixed : middle;
    const int32_t to = p.region.has_fixed_gap ? fixed : shorter - middle;
    for (int32_t i = first; i < from; i++) sum += p.from_start(i);
    for (int32_t i = last; i < shorter - from; i++) sum += p.from_end(i);
    int32_t best = sum;
    for (int32_t place = from; place < to; place++) {
        if (place >= first) sum += p.from_start(place);
        if (shorter - place - 1 >= last) sum -= p.from_end(shorter - place - 1);
        best = min(best, sum);
    }
    return best;
}

__device__ __forceinline__ void stage(const TcrArguments& a, const TcrRegion& region, int32_t first_row,
                                      int32_t column, Shared& to) {
    if (column < a.column_count) {
        const int64_t start = region.column_starts[column], end = region.column_starts[column + 1];
        for (int64_t j = start; j < end; j++) to.columns[j - start][threadIdx.x] = region.column_codes[j];
    }
    for (int k = threadIdx.x; k < ROWS * TCR_LONGEST; k += COLUMNS) {
        const int32_t own = k / TCR_LONGEST, i = k % TCR_LONGEST, row = first_row + own;
        if (row >= a.row_stop) break;
        const int64_t start = region.row_starts[row];
        const int32_t length = static_cast<int32_t>(region.row_starts[row + 1] - start);
        if (i == 0) to.row_lengths[own] = length;
        if (i < length) to.rows[own][i] = region.row_codes[start + i];
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(COLUMNS) find_near_receptors(const TcrArguments a) {
    __shared__ Shared shared;
    const int32_t first_row = a.row_start + static_cast<int32_t>(blockIdx.y) * ROWS;
    const int32_t first_column = static_cast<int32_t>(blockIdx.x) * COLUMNS;
    if (a.triangular && min(first_column + COLUMNS, a.column_count) <= first_row + 1) return;
    const int32_t column = first_column + static_cast<int32_t>(threadIdx.x);
    const bool is_there = column < a.column_count;
    const int32_t rows = min(ROWS, a.row_stop - first_row);
    for (int32_t k = 0; k < ROWS; k++) shared.sums[k][threadIdx.x] = 0;
    for (int k = threadIdx.x; k < TCR_CODES * TCR_CODES; k += COLUMNS) shared.costs[k] = a.costs[k];
    for (int32_t r = 0; r < a.region_count; r++) {
        const TcrRegion region = a.regions[r];
        __syncthreads();
        stage(a, region, first_row, column, shared);
        __syncthreads();
        if (!is_there) continue;
        const int32_t length =
            static_cast<int32_t>(region.column_starts[column + 1] - region.column_starts[column]);
        for (int32_t k = 0; k < rows; k++) {
            uint16_t& sum = shared.sums[k][threadIdx.x];
            const Pair pair{shared, region, k, shared.row_lengths[k], length};
            int32_t distance = sum + region.gap * abs(pair.row_length - length);
            if (distance <= a.limit) distance += region.weight * opposite(pair);
            sum = static_cast<uint16_t>(distance);
        }
    }
    for (int32_t k = 0; k < rows && is_there; k++) {
        const int32_t row = first_row + k, distance = shared.sums[k][threadIdx.x];
        if (distance > a.limit || (a.triangular && column <= row)) continue;
        const auto place = static_cast<int64_t>(atomicAdd(a.count, 1ull));
        if (place < a.capacity) a.found[place] = {row, column, distance};
    }
}
