// Pairs of short sequences whose global distance is within a limit: those that cpu/near/ finds.
//
// Computes   the recurrence of cpu/near/near_kernel.h, on the diagonals that an alignment within the limit
// can
//            be on:
//                E(i,j) = min(E(i,j-1), H(i,j-1) + open) + gap of the column's residue j
//                F(i,j) = min(F(i-1,j), H(i-1,j) + open) + gap of the row's residue i
//                H(i,j) = min(H(i-1,j-1) + opposite(i,j), E(i,j), F(i,j))
// In         NearArguments: both sets, what residues and gaps cost, the limit.
// Out        found[]: the pairs, in no order, and how many there are.
// Threads    A block for ROWS rows and COLUMNS columns, a column a thread. A warp takes a row at a time: its
//            lanes have neighbouring columns, of like lengths, and so like diagonals. It leaves a row when no
//            lane has a cell within its limit in the last row of the matrix that was filled.
// Shared     Costs; the residues of the rows, and of the columns as [place][thread]. Lanes have the same
//            residue of the row, so that a bank has what one residue of a column costs.
// Registers  A row of the matrix, by diagonals; in local memory where there are more than MOST_DIAGONALS.

#include "near.cuh"

namespace {

constexpr int MOST_DIAGONALS = 17;
constexpr uint32_t WARP = 0xffffffffu;
constexpr int32_t NONE = 1 << 29;  // what no path reaches; sums of a few costs fit besides

struct Shared {
    int32_t opposite[NEAR_CODES * NEAR_CODES], gaps[NEAR_CODES];
    uint8_t columns[NEAR_LONGEST][COLUMNS];
    uint8_t rows[ROWS][NEAR_LONGEST];
};

// The diagonals (column - row) that a path within a limit can be on.
struct Diagonals {
    int32_t low, high;
};

// A row sequence and the column of a lane.
struct Pair {
    const Shared& shared;
    const uint8_t* row;
    int32_t row_length, column_length, limit, open;

    __device__ __forceinline__ int32_t column_code(int32_t j) const {
        return shared.columns[j - 1][threadIdx.x];
    }
};

// No path on a diagonal beyond both ends costs less than two gaps, there and back.
__device__ __forceinline__ bool choose_diagonals(const NearArguments& a, const Pair& pair, Diagonals& d) {
    const int32_t end = pair.column_length - pair.row_length, away = abs(end);
    const int64_t gap = int64_t{a.least_gap} * away;
    if ((away ? a.open + gap : 0) > pair.limit) return false;
    const int64_t left = pair.limit - int64_t{2} * a.open;
    const int64_t residues = left < 0 ? 0 : left / a.least_gap;
    const int32_t beyond =
        residues <= away ? 0 : static_cast<int32_t>(min((residues - away) / 2, int64_t{2 * NEAR_LONGEST}));
    d = {max(min(0, end) - beyond, -pair.row_length), min(max(0, end) + beyond, pair.column_length)};
    return true;
}

// The distance, or more than the limit where the warp has left the row. W: diagonals from `low` on, place d
// of row i is column i + low + d.
template <int W, bool OPENS>
__device__ __forceinline__ int32_t fill(const Pair& pair, int32_t low) {
    int32_t h[W + 1], f[W + 1];
    const auto add_open = [&](int32_t cost) { return OPENS ? cost + pair.open : cost; };
    int32_t edge = pair.open;
#pragma unroll
    for (int d = 0; d <= W; d++) {
        const int32_t j = low + d;
        f[d] = NONE;
        h[d] = j == 0 && d < W ? 0 : NONE;
    }
    // Row 0: gaps alone.
    for (int32_t j = 1; j <= min(pair.column_length, low + W - 1); j++) {
        edge += pair.shared.gaps[pair.column_code(j)];
#pragma unroll
        for (int d = 0; d < W; d++)
            if (low + d == j) h[d] = edge;
    }
    int32_t border = pair.open;
    for (int32_t i = 1; i <= pair.row_length; i++) {
        const int32_t code = pair.row[i - 1], gap = pair.shared.gaps[code];
        const int32_t* const opposite = pair.shared.opposite + code * NEAR_CODES;
        border += gap;
        int32_t left = NONE, e = NONE, least = NONE;
#pragma unroll
        for (int d = 0; d < W; d++) {
            const int32_t j = i + low + d;
            int32_t here = NONE, from_above = NONE;
            if (j >= 1 && j <= pair.column_length) {
                const int32_t other = pair.column_code(j);
                const int32_t above = add_open(h[d + 1]), before = add_open(left);
                from_above = (OPENS ? min(f[d + 1], above) : above) + gap;
                e = (OPENS ? min(e, before) : before) + pair.shared.gaps[other];
                here = min(min(h[d] + opposite[other], NONE), min(e, from_above));
            } else if (j == 0) {
                here = border;
            }
            h[d] = left = here;
            f[d] = from_above;
            least = min(least, here);
        }
        if (__all_sync(WARP, least > pair.limit)) return NONE;
    }
    const int32_t last = pair.column_length - pair.row_length - low;
    int32_t distance = NONE;
#pragma unroll
    for (int d = 0; d < W; d++)
        if (d == last) distance = h[d];
    return distance;
}

// The same for any number of diagonals; a row of the matrix is in local memory, by columns.
__device__ __noinline__ int32_t fill_wide(const Pair& pair, Diagonals diagonals) {
    int32_t h[NEAR_LONGEST + 1], f[NEAR_LONGEST + 1];
    int32_t edge = pair.open;
    h[0] = 0;
    f[0] = NONE;
    for (int32_t j = 1; j <= pair.column_length; j++) {
        edge += pair.shared.gaps[pair.column_code(j)];
        h[j] = j <= diagonals.high ? edge : NONE;
        f[j] = NONE;
    }
    int32_t border = pair.open;
    for (int32_t i = 1; i <= pair.row_length; i++) {
        const int32_t code = pair.row[i - 1], gap = pair.shared.gaps[code];
        const int32_t* const opposite = pair.shared.opposite + code * NEAR_CODES;
        const int32_t from = max(1, i + diagonals.low), to = min(pair.column_length, i + diagonals.high);
        border += gap;
        // Column from - 1 is on a diagonal of the row before, or holds what that has left there.
        int32_t corner = h[min(from, pair.column_length + 1) - 1];
        int32_t left = from == 1 ? border : NONE, e = NONE, least = left;
        if (from == 1) h[0] = border;
        for (int32_t j = from; j <= to; j++) {
            const int32_t other = pair.column_code(j), up = h[j];
            f[j] = min(f[j], up + pair.open) + gap;
            e = min(e, left + pair.open) + pair.shared.gaps[other];
            left = min(min(corner + opposite[other], NONE), min(e, f[j]));
            corner = up;
            h[j] = left;
            least = min(least, left);
        }
        if (__all_sync(WARP, least > pair.limit)) return NONE;
    }
    return h[pair.column_length];
}

template <bool OPENS>
__device__ __forceinline__ int32_t distance_of(const Pair& pair, Diagonals diagonals) {
    const int32_t count = diagonals.high - diagonals.low + 1;
    if (count == 1) return fill<1, OPENS>(pair, diagonals.low);
    if (count <= 3) return fill<3, OPENS>(pair, diagonals.low);
    if (count <= 5) return fill<5, OPENS>(pair, diagonals.low);
    if (count <= 9) return fill<9, OPENS>(pair, diagonals.low);
    if (count <= MOST_DIAGONALS) return fill<MOST_DIAGONALS, OPENS>(pair, diagonals.low);
    return fill_wide(pair, diagonals);
}

__device__ __forceinline__ void stage(const NearArguments& a, int32_t first_row, int32_t column, Shared& to) {
    for (int k = threadIdx.x; k < NEAR_CODES * NEAR_CODES; k += COLUMNS) to.opposite[k] = a.opposite[k];
    if (threadIdx.x < NEAR_CODES) to.gaps[threadIdx.x] = a.gaps[threadIdx.x];
    const int32_t length = column < a.column_count ? a.columns.lengths[column] : 0;
    for (int32_t j = 0; j < length; j++)
        to.columns[j][threadIdx.x] = a.columns.codes[a.columns.starts[column] + j];
    for (int k = threadIdx.x; k < ROWS * NEAR_LONGEST; k += COLUMNS) {
        const int32_t row = first_row + k / NEAR_LONGEST, i = k % NEAR_LONGEST;
        if (row < a.row_stop && i < a.rows.lengths[row])
            to.rows[k / NEAR_LONGEST][i] = a.rows.codes[a.rows.starts[row] + i];
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(COLUMNS) find_near(const NearArguments a) {
    __shared__ Shared shared;
    const int32_t first_row = a.row_start + static_cast<int32_t>(blockIdx.y) * ROWS;
    const int32_t first_column = static_cast<int32_t>(blockIdx.x) * COLUMNS;
    if (a.triangular && min(first_column + COLUMNS, a.column_count) <= first_row + 1) return;
    const int32_t column = first_column + static_cast<int32_t>(threadIdx.x);
    stage(a, first_row, column, shared);
    __syncthreads();
    const bool is_there = column < a.column_count;
    const int32_t length = is_there ? a.columns.lengths[column] : 0;
    const int32_t weight = is_there ? a.columns.weights[column] : 0;
    const int32_t spare = is_there ? a.columns.spares[column] : 0;
    const int32_t rows = min(ROWS, a.row_stop - first_row);
    for (int32_t k = 0; k < rows; k++) {
        const int32_t row = first_row + k;
        const int32_t more = a.rows.spares[row] + spare + abs(a.rows.weights[row] - weight);
        Pair pair{shared, shared.rows[k], a.rows.lengths[row], length, min(a.limit + more, NONE - 1), a.open};
        Diagonals own{NEAR_LONGEST, -NEAR_LONGEST};
        const bool is_looked_at =
            is_there && (!a.triangular || column > row) && choose_diagonals(a, pair, own);
        if (!__any_sync(WARP, is_looked_at)) continue;
        if (!is_looked_at) pair.limit = -1;
        const Diagonals all{__reduce_min_sync(WARP, own.low), __reduce_max_sync(WARP, own.high)};
        const int32_t distance = a.open ? distance_of<true>(pair, all) : distance_of<false>(pair, all);
        if (distance > pair.limit) continue;
        const auto place = static_cast<int64_t>(atomicAdd(a.count, 1ull));
        if (place < a.capacity) a.found[place] = {row, column, distance - more};
    }
}
