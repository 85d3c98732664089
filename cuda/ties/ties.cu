// Numbers of optimal alignments of pairs: those that cpu/ties counts, whose recurrences cpu/ties/ties.h has.
// A sum that stops at 2^32 - 1 is the same in any order.
//
// Computes   count_ties_8, count_ties_32: for pairs of short and of long sequences.
//            PAIRALIGN_LOCAL 1: mode local. PAIRALIGN_SAME 1: a gap costs as much to open as to extend.
// In         TieArguments: two sets, pairs with their best scores, costs.
// Out        counts[]: 0 where a pair has a higher score.
// Threads    8 or 32 lanes have a pair; a lane has TIE_ROWS rows, a strip of the matrix all of them. Lane
//            l is l columns behind lane 0, and lane l - 1 hands it H and F of the row above. A warp takes
//            the next pairs, one for each of its groups of lanes, until there are none.
// Memory     What a strip hands to the next, by column: of each group of lanes, in `borders`.
// Shared     Scores, also of a row beyond the last one. Lanes read the column of their residue.

#include "ties.cuh"

namespace {

constexpr uint32_t WARP = 0xffffffffu;
constexpr int BLOCK = 128;
constexpr int32_t DEAD = -(1 << 30) - (1 << 29);  // below any score, far above a wrap
constexpr bool LOCAL = PAIRALIGN_LOCAL, SAME = PAIRALIGN_SAME;

enum TieEnd { ROW_START, ROW_END, COLUMN_START, COLUMN_END };

struct Shared {
    int32_t scores[TIE_CODES + 1][TIE_CODES];
    uint8_t complement[TIE_CODES];
};

// A value, and how many paths attain it.
struct State {
    int32_t value;
    uint32_t paths;
};

__device__ __forceinline__ uint32_t sum(uint32_t a, uint32_t b) {
    const uint32_t s = a + b;
    return s < a ? 0xffffffffu : s;
}
__device__ __forceinline__ State after(State s, int32_t cost) { return {s.value - cost, s.paths}; }
__device__ __forceinline__ State best_of(State a, State b) {
    return {max(a.value, b.value), sum(a.value >= b.value ? a.paths : 0, b.value >= a.value ? b.paths : 0)};
}
__device__ __forceinline__ State best_of(State a, State b, State c) {
    const int32_t value = max(max(a.value, b.value), c.value);
    return {value, sum(sum(a.value == value ? a.paths : 0, b.value == value ? b.paths : 0),
                       c.value == value ? c.paths : 0)};
}
// What a gap of so many residues costs. Beyond the last row, where it may overflow, nothing is made of it.
__device__ __forceinline__ int32_t cost_of(const int32_t (&gap)[2], int32_t residues) {
    const uint32_t more = static_cast<uint32_t>(residues - 1) * static_cast<uint32_t>(gap[1]);
    return residues > 0 ? static_cast<int32_t>(static_cast<uint32_t>(gap[0]) + more) : 0;
}

// A pair, and a lane's rows of a strip.
template <int LANES>
struct Counter {
    static constexpr int STRIP = LANES * TIE_ROWS;

    const TieArguments& a;
    const Shared& shared;
    const TiePair pair;
    uint4* const border;
    const int lane;
    const uint8_t *row_codes, *column_codes;
    int32_t height, width;
    uint32_t total = 0;
    bool is_more = false;  // whether an alignment scores more than `pair.best`
    int32_t above;         // rows before those of the lane
    int32_t codes[TIE_ROWS];
    State diagonal[TIE_ROWS], e[TIE_ROWS];
    State h{}, f{};  // H of the lane's last row, F of the next one

    __device__ __forceinline__ Counter(const TieArguments& arguments, const Shared& s, const TiePair& p,
                                       uint4* own_border)
        : a(arguments), shared(s), pair(p), border(own_border), lane(threadIdx.x % LANES) {
        row_codes = codes_of(pair.row_set, pair.row, height);
        column_codes = codes_of(1 - pair.row_set, pair.column, width);
    }
    __device__ __forceinline__ const uint8_t* codes_of(int set, int32_t index, int32_t& length) const {
        const int64_t* const at = a.offsets[set] + index;
        length = static_cast<int32_t>(at[1] - at[0]);
        return a.codes[set] + at[0];
    }

    __device__ __forceinline__ uint32_t count() {
        const int32_t strips = most_of_warp((height + STRIP - 1) / STRIP);
        const int32_t steps = most_of_warp(width) + LANES - 1;
        for (int32_t strip = 0; strip < strips; strip++) {
            begin_rows(strip * STRIP + lane * TIE_ROWS);
            const bool has_ends = !LOCAL && (strip + 1) * STRIP >= height;
            for (int32_t step = 0; step < steps; step++) {
                const int32_t j = step - lane + 1;
                h = from_lane_before(h);
                f = from_lane_before(f);
                if (j < 1 || j > width) continue;
                if (lane == 0) begin_column(j);
                !LOCAL && (has_ends || j == width) ? fill_column<true>(j) : fill_column<false>(j);
                if (lane == LANES - 1 && strip + 1 < strips)
                    border[j - 1] = {static_cast<uint32_t>(h.value), h.paths, static_cast<uint32_t>(f.value),
                                     f.paths};
            }
            __syncwarp();
        }
        for (int distance = LANES / 2; distance > 0; distance /= 2) {
            total = sum(total, __shfl_xor_sync(WARP, total, distance));
            is_more = __shfl_xor_sync(WARP, static_cast<int>(is_more), distance) != 0 || is_more;
        }
        return is_more ? 0 : LOCAL ? total : with_unpaired();
    }
    __device__ __forceinline__ static int32_t most_of_warp(int32_t x) {
        for (int distance = LANES; distance < 32; distance *= 2)
            x = max(x, __shfl_xor_sync(WARP, x, distance));
        return x;
    }
    __device__ __forceinline__ static State from_lane_before(State s) {
        return {__shfl_up_sync(WARP, s.value, 1, LANES), __shfl_up_sync(WARP, s.paths, 1, LANES)};
    }

    __device__ __forceinline__ int32_t cost_at(TieEnd end, int32_t residues) const {
        return cost_of(a.end_costs[pair.row_set][end], residues);
    }
    // H of row 0 or column 0.
    __device__ __forceinline__ State start(TieEnd end, int32_t residues) const {
        return {LOCAL ? 0 : -cost_at(end, residues), 1};
    }
    __device__ __forceinline__ State gap_after(State s) const {
        return LOCAL ? State{DEAD, 0} : after(s, a.open);
    }

    __device__ __forceinline__ void begin_rows(int32_t rows_before) {
        above = rows_before;
#pragma unroll
        for (int r = 0; r < TIE_ROWS; r++) {
            codes[r] = above + r < height ? row_codes[above + r] : TIE_CODES;
            diagonal[r] = start(ROW_START, above + r);
            e[r] = gap_after(start(ROW_START, above + r + 1));
        }
    }
    // What the first lane has of the strip above.
    __device__ __forceinline__ void begin_column(int32_t j) {
        if (above == 0) {
            h = start(COLUMN_START, j);
            f = gap_after(h);
        } else {
            const uint4 kept = border[j - 1];
            h = {static_cast<int32_t>(kept.x), kept.y};
            f = {static_cast<int32_t>(kept.z), kept.w};
        }
    }

    // ENDS: where paths may end.
    template <bool ENDS>
    __device__ __forceinline__ void fill_column(int32_t j) {
        int32_t code = column_codes[pair.turned ? width - j : j - 1];
        if (pair.turned) code = shared.complement[code];
#pragma unroll
        for (int r = 0; r < TIE_ROWS; r++) {
            State m = {diagonal[r].value + shared.scores[codes[r]][code], diagonal[r].paths};
            State gap = f, left = e[r];
            if (LOCAL) {
                is_more |= m.value > pair.best;
                if (m.value == pair.best) {
                    total = sum(total, m.paths);
                    m.paths = 0;
                }
            }
            if (ENDS) {
                const int32_t rows_left = height - (above + r + 1), columns_left = width - j;
                if (rows_left == 0) left = {DEAD, 0};
                if (columns_left == 0) gap = {DEAD, 0};
                if (rows_left == 0 || (columns_left == 0 && rows_left > 0))
                    count_ends(best_of(m, left, gap), rows_left, columns_left);
            }
            State best = best_of(m, left, gap);
            const State for_e = SAME ? best_of(m, gap) : best, for_f = SAME ? best_of(m, left) : best;
            // A gap that is worth nothing adds to nothing.
            if (LOCAL && best.value <= 0) best = {0, 1};
            diagonal[r] = h;
            e[r] = best_of(after(left, a.extend), after(for_e, a.open));
            f = best_of(after(gap, a.extend), after(for_f, a.open));
            h = best;
        }
    }
    // Paths with the best score that end in a cell.
    __device__ __forceinline__ void count_ends(State best, int32_t rows_left, int32_t columns_left) {
        const int32_t cost = rows_left == 0 ? cost_at(COLUMN_END, columns_left) : cost_at(ROW_END, rows_left);
        const int32_t value = pair.best + cost;
        is_more |= best.value > value;
        if (best.value == value) total = sum(total, best.paths);
    }

    // Also alignments of end gaps alone: one after the other, with at least one column.
    __device__ __forceinline__ uint32_t with_unpaired() const {
        return sum(sum(total, are_best(ROW_START, height, COLUMN_END, width)),
                   are_best(COLUMN_START, width, ROW_END, height));
    }
    __device__ __forceinline__ uint32_t are_best(TieEnd first, int32_t first_residues, TieEnd second,
                                                 int32_t second_residues) const {
        const int32_t (&costs)[4][2] = a.end_costs[pair.row_set];
        const bool has_columns = a.whole || costs[first][0] > 0 || costs[second][0] > 0;
        const int64_t cost = int64_t{cost_at(first, first_residues)} + cost_at(second, second_residues);
        return has_columns && cost == -int64_t{pair.best};
    }
};

// A warp takes the next pairs until there are none.
template <int LANES>
__device__ __forceinline__ void count_pairs(const TieArguments& a, Shared& shared) {
    constexpr int GROUPS = 32 / LANES;
    for (int32_t k = threadIdx.x; k < (TIE_CODES + 1) * TIE_CODES; k += BLOCK) {
        const int32_t beyond = LOCAL ? -(1 << 30) : 0;
        (&shared.scores[0][0])[k] = k < TIE_CODES * TIE_CODES ? a.matrix[k] : beyond;
    }
    if (threadIdx.x < TIE_CODES) shared.complement[threadIdx.x] = a.complement[threadIdx.x];
    __syncthreads();
    const int32_t group = static_cast<int32_t>((blockIdx.x * BLOCK + threadIdx.x) / LANES);
    uint4* const border = a.borders + int64_t{group} * a.border;
    for (;;) {
        int32_t k = threadIdx.x % 32 == 0 ? atomicAdd(a.next, GROUPS) : 0;
        k = __shfl_sync(WARP, k, 0);
        if (k >= a.count) return;
        k += group % GROUPS;
        Counter<LANES> counter(a, shared, a.pairs[min(k, a.count - 1)], border);
        const uint32_t paths = counter.count();
        if (counter.lane == 0 && k < a.count) a.counts[k] = paths;
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(BLOCK) count_ties_8(const TieArguments a) {
    __shared__ Shared shared;
    count_pairs<8>(a, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK) count_ties_32(const TieArguments a) {
    __shared__ Shared shared;
    count_pairs<32>(a, shared);
}
