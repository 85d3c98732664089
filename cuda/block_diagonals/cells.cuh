// The cells of a lane: K rows of a column at a time.
//
// Computes   H, E, F of K cells below each other from the column before; with REFILL four bits of each.
// In         Lane: h[K], e[K] left of the column, f above it; Scores: K scores of the column's residue.
// Out        the same Lane a column further on: h[K], e[K] and the f that its last row hands down.
// Threads    a lane for itself; all is in registers, so indices are known when compiling: `each` calls
//            a function for k = 0 .. K - 1.
//
//     | bits | of a cell's flags (REFILL), row k's from bit 4 * k on                           |
//     |------|---------------------------------------------------------------------------------|
//     | 0    | E_NEXT: E of the next cell goes on with the gap rather than opens one           |
//     | 1    | F_NEXT: so does F                                                               |
//     | 2-3  | Origin of H; of equals the first: nothing (local, 0), diagonal, E, F            |
//
// E runs along a row and F down a column.
#pragma once

#include "block_diagonals.cuh"

namespace {

constexpr int E_NEXT = 1, F_NEXT = 2, ORIGIN = 4;
enum Origin { FROM_DIAGONAL, FROM_E, FROM_F, FROM_NOTHING };
static_assert(FROM_NOTHING * ORIGIN + E_NEXT + F_NEXT == 15, "flags of a cell are four bits");

enum Use { FILL, REFILL, LOCATE };  // what cells are computed for: see fill_strip

// The scores of K rows against a residue.
template <int K>
struct Scores {
    static constexpr int COUNT = WORDS ? K : K / 4;
    int of[COUNT];

    __device__ __forceinline__ void load(const int* at) {
        if constexpr (COUNT % 4 == 0) {
#pragma unroll
            for (int k = 0; k < COUNT; k += 4) {
                const int4 four = *(const int4*)(at + k);
                of[k] = four.x, of[k + 1] = four.y, of[k + 2] = four.z, of[k + 3] = four.w;
            }
        } else if constexpr (COUNT == 2) {
            const int2 two = *(const int2*)at;
            of[0] = two.x, of[1] = two.y;
        } else {
            of[0] = *at;
        }
    }
    template <int k>
    __device__ __forceinline__ int add(int sum) const {
        return WORDS ? sum + of[k] : __dp4a(of[k / 4], 1 << (8 * (k % 4)), sum);
    }
};

template <int K>
struct Lane {
    int h[K], e[K];  // H of the column before, E of the column to come
    int above;       // H of the row above, a column before
    int f;           // what the last row hands down
    int best;        // local: the highest score
};

template <int k, int K, class Function>
__device__ __forceinline__ void each(Function&& function) {
    if constexpr (k < K) {
        function.template operator()<k>();
        each<k + 1, K>(function);
    }
}

// One column of a lane's cells. Returns their flags, four bits a row.
template <int K, Use USE>
struct Column {
    Lane<K>& lane;
    const Scores<K>& scores;
    int diagonal, f, opening, extension;
    uint32_t flags;

    template <int k>
    __device__ __forceinline__ void operator()() {
        const int d = scores.template add<k>(diagonal);
        diagonal = lane.h[k];
        int& e = lane.e[k];
        int h;
        if constexpr (USE == REFILL) {
            h = max(max(d, e), f);
            if (LOCAL) h = max(h, 0);
            const int opened = h - opening;
            const int e_on = LOCAL ? e - extension : e, f_on = LOCAL ? f - extension : f;
            // Ties: the walk back.
            uint32_t cell = d >= h ? FROM_DIAGONAL * ORIGIN : e >= f ? FROM_E * ORIGIN : FROM_F * ORIGIN;
            if (LOCAL && h == 0) cell = FROM_NOTHING * ORIGIN;
            if (e_on >= opened) cell |= E_NEXT;
            if (f_on >= opened) cell |= F_NEXT;
            flags |= cell << (4 * k);
            e = max(e_on, opened);
            f = max(f_on, opened);
        } else if constexpr (LOCAL) {
            h = __vimax3_s32_relu(d, e, f);
            const int opened = h - opening;
            e = __viaddmax_s32(e, -extension, opened);
            f = __viaddmax_s32(f, -extension, opened);
            if constexpr (USE == FILL && k % 2 == 1) lane.best = __vimax3_s32(lane.best, lane.h[k - 1], h);
        } else if constexpr (K <= 8) {  // f's chain is one operation a cell: few warps wait for it
            const int without_f = max(d, e);
            h = max(without_f, f);
            e = __viaddmax_s32(h, -opening, e);
            f = __viaddmax_s32(without_f, -opening, f);
        } else {
            h = __vimax3_s32(d, e, f);
            e = __viaddmax_s32(h, -opening, e);
            f = __viaddmax_s32(h, -opening, f);
        }
        lane.h[k] = h;
    }
};

template <int K>
struct Selected {  // value of a register that is known at run time only
    const Lane<K>& lane;
    int wanted, h;
    template <int k>
    __device__ __forceinline__ void operator()() {
        h = k == wanted ? lane.h[k] : h;
    }
};

}  // namespace
