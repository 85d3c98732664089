// The lanes of a window, filled a block at a time, and which of them are alive afterwards.
//
// Computes   H, E, F of the lanes of a window for the antidiagonals of a block.
// In         the lanes alive before, four numbers each, in the warp's memory.
// Out        all lanes of the window after the block, in the same form; which of them are alive.
// Threads    a warp. A tile has 32 R lanes, R next to one another in each thread, so that an antidiagonal
//            takes one exchange between threads. A window that is wider than the widest tile is made of
//            several, which overlap by what the cells of a block depend on.
#pragma once

#include "pruned.cuh"

namespace {

// Lanes in the warp's memory; those that are not alive hold nothing.
struct Lanes {
    int4* at;  // of lane `base`
    int base;
    int low, high;  // alive

    __device__ __forceinline__ int4 load(int lane) const {
        return lane < low || lane > high ? make_int4(NOTHING, NOTHING, NOTHING, NOTHING) : at[lane - base];
    }
};

template <int R>
struct Tile {
    int even[R], odd[R], e[R], f[R];  // of lanes: H of the last even and odd antidiagonal; gaps handed on
    int row[R + 3], column[R + 4];    // residues of eight antidiagonals

    __device__ __forceinline__ void load(const Lanes& lanes, int lane) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int4 one = lanes.load(lane + r);
            even[r] = one.x, odd[r] = one.y, e[r] = one.z, f[r] = one.w;
        }
    }
    __device__ __forceinline__ void store(const Lanes& lanes, int lane, int first, int last) const {
#pragma unroll
        for (int r = 0; r < R; ++r)
            if (lane + r >= first && lane + r <= last)
                lanes.at[lane + r - lanes.base] = make_int4(even[r], odd[r], e[r], f[r]);
    }

    __device__ __forceinline__ void cell(const Params& p, const int* table, int opening, int r, int& h,
                                         int left, int up, int row_residue, int column_residue) {
        h = max(__viaddmax_s32(h, score_of(p, table, row_residue, column_residue), left), up);
        e[r] = __viaddmax_s32(h, -opening, left);
        f[r] = __viaddmax_s32(h, -opening, up);
    }
    // Antidiagonal 2 k + 1 of the eight whose residues are there.
    __device__ __forceinline__ void fill_odd(const Params& p, const int* table, int opening, int k) {
        int coming = __shfl_down_sync(ALL, e[0], 1);
        if (threadIdx.x % 32 == 31) coming = NOTHING;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int left = r + 1 < R ? e[(r + 1) % R] : coming;
            cell(p, table, opening, r, odd[r], left, f[r], row[k + r], column[R - 1 - r + k]);
        }
    }
    // Antidiagonal 2 k + 2.
    __device__ __forceinline__ void fill_even(const Params& p, const int* table, int opening, int k) {
        int coming = __shfl_up_sync(ALL, f[R - 1], 1);
        if (threadIdx.x % 32 == 0) coming = NOTHING;
#pragma unroll
        for (int r = R - 1; r >= 0; --r) {
            const int up = r > 0 ? f[(r + R - 1) % R] : coming;
            cell(p, table, opening, r, even[r], e[r], up, row[k + r], column[R - r + k]);
        }
    }

    // The antidiagonals after `step`, an even one; all of a block unless it is the LAST.
    template <bool LAST>
    __device__ __forceinline__ void fill(const Params& p, const View& v, const int* table, int lane, int step,
                                         int steps) {
        const int opening = p.gap_open - p.gap_extend;
        const int first_row = step / 2 + lane, first_column = step / 2 - lane - R;
#pragma unroll
        for (int k = 0; k < R - 1; ++k) row[4 + k] = v.row.one(first_row + k);
#pragma unroll
        for (int k = 0; k < R; ++k) column[4 + k] = v.column.one(first_column + k);
        Stream rows(v.row, first_row + R - 1), columns(v.column, first_column + R);
#pragma unroll 1
        for (int done = 0; done < (LAST ? steps : STEPS); done += 8) {
#pragma unroll
            for (int k = 0; k < R - 1; ++k) row[k] = row[k + 4];
#pragma unroll
            for (int k = 0; k < R; ++k) column[k] = column[k + 4];
            const uint32_t new_rows = rows.next(), new_columns = columns.next();
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                row[R - 1 + k] = v.row.as_scored(new_rows >> (8 * k) & 255);
                column[R + k] = v.column.as_scored(new_columns >> (8 * k) & 255);
            }
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                if (LAST && done + 2 * k >= steps) break;
                fill_odd(p, table, opening, k);
                if (LAST && done + 2 * k + 1 >= steps) break;
                fill_even(p, table, opening, k);
            }
        }
    }
};

template <int R>
__device__ __forceinline__ void fill_tile(const Params& p, const View& v, const int* table, const Lanes& from,
                                          const Lanes& to, int tile, int first, int last, int step,
                                          int steps) {
    const int lane = tile + (int)(threadIdx.x % 32) * R;
    Tile<R> t;
    t.load(from, lane);
    if (steps == STEPS) t.template fill<false>(p, v, table, lane, step, steps);
    else t.template fill<true>(p, v, table, lane, step, steps);
    t.store(to, lane, first, last);
}

// Fills the window of a block: the lanes that are alive and those that they reach.
__device__ void fill_window(const Params& p, const View& v, const int* table, const Lanes& from,
                            const Lanes& to, int step, int steps) {
    const int low = from.low - MARGIN, high = from.high + MARGIN, lanes = high - low + 1;
    if (lanes <= 64) {
        fill_tile<2>(p, v, table, from, to, low, low, high, step, steps);
    } else if (lanes <= 96) {
        fill_tile<3>(p, v, table, from, to, low, low, high, step, steps);
    } else if (lanes <= 128) {
        fill_tile<4>(p, v, table, from, to, low, low, high, step, steps);
    } else {
        constexpr int R = 8, WIDTH = 32 * R;
        for (int tile = low;; tile += WIDTH - 2 * MARGIN) {
            const bool last = tile + WIDTH > high;
            fill_tile<R>(p, v, table, from, to, tile, tile == low ? low : tile + MARGIN,
                         last ? high : tile + WIDTH - 1 - MARGIN, step, steps);
            if (last) break;
        }
    }
}

// The highest score that an alignment through one of the last two cells of a lane can have; NO_REACH where
// there is none. `step` is even.
__device__ __forceinline__ int reach_of(const Params& p, const View& v, const Cheap& cheap, int4 lane_is,
                                        int lane, int step) {
    const int i = step / 2 + lane, j = step / 2 - lane;
    if (i < 0 || i > v.rows || j < 0 || j - 1 > v.columns) return NO_REACH;
    const int longer = v.rows - i - (v.columns - j);
    int reach = NO_REACH;
    if (j <= v.columns) reach = lane_is.x + v.column_worth[j] + rest_bonus(p, cheap, longer);
    if (j > 0) reach = max(reach, lane_is.y + v.column_worth[j - 1] + rest_bonus(p, cheap, longer - 1));
    return reach == NO_REACH ? reach : reach + v.row_worth[i];
}

// Of 32 lanes beside one another, the reach of this thread's. A beam is no bound: it does without what cheap
// residues might give back, and is narrower.
__device__ __forceinline__ int reach_here(const Params& p, const View& v, const Lanes& window, int low,
                                          int step, int first, int last, bool beam) {
    const int lane = low + (int)(threadIdx.x % 32);
    // For all 32 alike what cheap residues give back, at most: of the first row and the first column.
    const Cheap cheap = beam ? Cheap() : Cheap(p, v, step / 2 + low, step / 2 - low - 32);
    return lane < first || lane > last ? NO_REACH
                                       : reach_of(p, v, cheap, window.at[lane - window.base], lane, step);
}

__device__ __forceinline__ int warp_max(int value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (int lanes = 16; lanes > 0; lanes /= 2) value = max(value, __shfl_xor_sync(ALL, value, lanes));
    return value;
#else
    return __reduce_max_sync(ALL, value);
#endif
}

// The highest reach of a beam's window.
__device__ int best_reach(const Params& p, const View& v, const Lanes& window, int first, int last,
                          int step) {
    int best = NO_REACH;
    for (int low = first; low <= last; low += 32)
        best = max(best, reach_here(p, v, window, low, step, first, last, true));
    return warp_max(best);
}

// Sets which lanes of a window are alive: between the first and the last that reach `least`. False: none
// does. Both ends look at the same 32 lanes at a time: what cheap residues give back depends on them.
__device__ bool trim(const Params& p, const View& v, Lanes& window, int first, int last, int step, int least,
                     bool beam) {
    int low = first;
    unsigned alive = 0;
    for (; low <= last; low += 32) {
        alive = __ballot_sync(ALL, reach_here(p, v, window, low, step, first, last, beam) >= least);
        if (alive) break;
    }
    if (!alive) return false;
    window.low = low + __ffs((int)alive) - 1;
    for (int high = first + (last - first) / 32 * 32; high > low; high -= 32) {
        const unsigned others =
            __ballot_sync(ALL, reach_here(p, v, window, high, step, first, last, beam) >= least);
        if (!others) continue;
        low = high;
        alive = others;
        break;
    }
    window.high = low + 31 - __clz((int)alive);
    return true;
}

}  // namespace
